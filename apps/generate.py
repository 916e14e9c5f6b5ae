# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Checks the catalogue and makes from it what the apps are compiled with; build.mk calls it.

    python3 apps/generate.py apps/catalogue.toml OUT/rows.h

The suffix of the output says in which language. Everywhere the id has "_" for its dot. For C and
assembly (.h):

    TM_ROW_x        the fields of a benchmark's definition that the catalogue gives
    TM_INNER_x      operations in a sample
    TM_VALUES_x_p   the values of its parameter p, TM_MAX_x_p the largest of them;
    TM_INDEX_x_p_v  where its values are names, the index of the value v
    TM_BENCHES_g    the definitions of a group, in order: one that is missing does not compile
    TM_SAMPLES_MAX  the most samples that a benchmark has

and the declarations of the bodies. For Rust (.rs), to be included where `tock::runtime` is there:

    x::ROW          the fields of a benchmark's definition that the catalogue gives
    x::INNER        operations in a sample
    x::p::VALUES    the values of its parameter p, x::p::MAX the largest of them; or
    x::p::V         where they are names, the index of the value v
    benches_g!()    the definitions of a group, in order: one that is missing does not compile
    bodies::b       the bodies
"""

import json
import re
import sys
import tomllib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

NUMBER = (int, float)
TOP: dict[str, Any] = {"budget": NUMBER, "sections": list, "benchmark": list, "boot": list}
BENCHMARK: dict[str, Any] = {
    "id": str,
    "section": str,
    "touches": str,
    "samples": int,
    "inner": int,
    "budget": NUMBER,
    "what": str,
    "counts": str,
    "params": dict,
    "unit": str,
    "bytes": str,
    "bodies": list,
    "skip_v1": str,
    "skip_c": str,
    "skip_rust": str,
    "skip_libtock_rs": str,
    "waits": bool,
    "by": str,
    "passes": int,
    "distribution": str,
}
BOOT: dict[str, Any] = {
    "name": str,
    "group": str,
    "measures": list,
    "slots": list,
    "scene": int,
    "slice_us": int,
    "panics": str,
}
OPTIONAL = {
    "boot",
    "params",
    "unit",
    "bytes",
    "bodies",
    "skip_v1",
    "skip_c",
    "skip_rust",
    "skip_libtock_rs",
    "by",
    "passes",
    "distribution",
    "waits",
    "slice_us",
    "panics",
}
TOUCHES = ("kernel", "app", "control")
BY = ("sampler", "reading", "mark")  # TM_BY_x of runtime/bench.h
NAMES = {
    str: "a text",
    int: "a whole number",
    NUMBER: "a number",
    list: "a list",
    dict: "a table",
    bool: "true or false",
}
SKIPS = ("skip_v1", "skip_c", "skip_rust", "skip_libtock_rs")
PARAMS_MAX = 2  # as in runtime/bench.h
WORD = 1 << 32
BITS = 32
BOOT_NAME = "[A-Za-z0-9_-]{1,23}"  # what tm_link of runtime/bench.h holds


class MalformedError(Exception):
    """The catalogue is not as it should be: where, and what is wrong."""


def require(good: bool, where: str, wrong: str) -> None:
    if not good:
        raise MalformedError(f"{where}: {wrong}")


@dataclass(frozen=True)
class SuiteRow:
    """What the apps need of a benchmark."""

    id: str
    samples: int
    inner: int
    params: dict[str, list[int] | list[str]]
    bodies: list[str]
    skip: dict[str, str]  # why it is not tried: on "v1" of the interface, in "c", in "rust"
    by: str
    passes: int
    scenes: int  # where it runs, a bit each: one, or one for each value of its first parameter

    @property
    def group(self) -> str:
        return self.id.partition(".")[0]

    @property
    def name(self) -> str:
        return self.id.replace(".", "_")


def is_list_of(kind: type, values: Any) -> bool:
    """Values of this type, each once."""
    return (
        isinstance(values, list)
        and bool(values)
        and all(type(value) is kind for value in values)
        and len(set(values)) == len(values)
    )


def called(entry: Any, number: int) -> str:
    """How a message names an entry that may be anything."""
    id_ = entry.get("id") if isinstance(entry, dict) else None
    return id_ if isinstance(id_, str) else f"benchmark {number}"


def checked(table: Any, keys: dict[str, Any], where: str) -> dict[str, Any]:
    """The table, which has all the keys it needs, no others, and of the right types."""
    require(isinstance(table, dict), where, "must be a table")
    for key, value in table.items():
        require(key in keys, where, f"there is no key '{key}'")
        right = isinstance(value, keys[key]) and isinstance(value, bool) == (keys[key] is bool)
        require(right, where, f"'{key}' must be {NAMES[keys[key]]}")
        if isinstance(value, str):
            require(value.isprintable(), where, f"'{key}' must be one line of text")
    for key in keys:
        require(key in table or key in OPTIONAL, where, f"'{key}' is missing")
    return dict(table)


def check_benchmark(entry: dict[str, Any], sections: list[str]) -> None:
    where, params = entry["id"], entry.get("params", {})
    section = entry["section"]
    require(section in sections, where, f"'{section}' is none of the sections at the top")
    require(
        bool(re.fullmatch(r"[a-z]+\.[a-z][a-z0-9_]*", where)), where, "an id is group.operation"
    )
    require(entry["touches"] in TOUCHES, where, "'touches' must be kernel, app or control")
    require(entry.get("by", BY[0]) in BY, where, "'by' must be sampler, reading or mark")
    for key in ("samples", "inner", "budget", "passes"):
        require(0 < entry.get(key, 1) < WORD, where, f"'{key}' must be more than 0")
    require(entry.get("distribution", "cached") == "cached", where, "'distribution' must be cached")
    sampled = entry.get("by", BY[0]) == BY[0]
    require(sampled or "passes" not in entry, where, "'passes' are the sampler's to take")
    require(len(params) <= PARAMS_MAX, where, f"more than {PARAMS_MAX} parameters")
    for name, values in params.items():
        words = [name, *values] if is_list_of(str, values) else [name]
        require(all(re.fullmatch("[a-z][a-z0-9_]*", w) for w in words), where, f"bad name: {words}")
        numbers = is_list_of(int, values) and all(0 <= value < WORD for value in values)
        right = numbers or is_list_of(str, values)
        require(right, where, f"'{name}' must be different numbers, or different names")
    sizes = params.get(entry.get("bytes"), [0])
    right = "bytes" not in entry or (entry["bytes"] in params and is_list_of(int, sizes))
    require(right, where, "'bytes' must be a parameter whose values are numbers")
    bodies = entry.get("bodies", ["x"])
    right = is_list_of(str, bodies) and all(re.fullmatch("[a-z][a-z0-9_]*", b) for b in bodies)
    require(right, where, "'bodies' must be names of procedures")
    for key in SKIPS:
        require(entry.get(key, "x").isascii(), where, f"'{key}' must be ASCII: an app says it")


def check_boots(boots: list[dict[str, Any]], ids: list[str]) -> None:
    for boot in boots:
        where = f"boot {boot['name']}"
        fits = re.fullmatch(BOOT_NAME, boot["name"])
        require(bool(fits), where, "a name has up to 23 letters, digits, '_' and '-'")
        for key in ("measures", "slots"):
            right = bool(boot[key]) and all(isinstance(value, str) for value in boot[key])
            require(right, where, f"'{key}' must be a list of names")
        twice = len(set(boot["measures"])) < len(boot["measures"])
        require(not twice, where, "'measures' has a name twice")
        for id_ in boot["measures"]:
            require(id_ in ids, where, f"there is no benchmark {id_}")
            own = id_.partition(".")[0] == boot["group"]
            require(own, where, f"{id_} is not of its group {boot['group']}")
        require(0 <= boot["scene"] < BITS, where, f"'scene' must be 0 to {BITS - 1}")
        alone = boot["slots"] == [boot["group"]]
        require(alone or boot["scene"] > 0, where, "'scene' is 0 only where an app stands alone")
    seen: dict[Any, str] = {}
    for boot in [*boots, *alone_besides(boots, ids)]:
        where, name = f"boot {boot['name']}", boot["name"]
        scene = (boot["group"], boot["scene"])
        needs = (*boot["slots"], boot.get("slice_us"), boot.get("panics"))
        first = seen.setdefault(needs, name)
        require(name not in seen, where, "is there twice")
        require(scene not in seen, where, f"another boot of {scene[0]} has scene {scene[1]}")
        require(first == name, where, f"could be one with the boot {first}: it needs the same")
        seen |= {name: name, scene: name}


def alone_besides(boots: list[dict[str, Any]], ids: list[str]) -> list[dict[str, Any]]:
    """The boots of an app alone that have no entry: of each group with a benchmark that no boot
    measures."""
    measured = {id_ for boot in boots for id_ in boot["measures"]}
    known = {boot["group"] for boot in boots if boot["scene"] == 0}
    groups = dict.fromkeys(id_.partition(".")[0] for id_ in ids if id_ not in measured)
    return [
        {"name": group, "group": group, "slots": [group], "scene": 0}
        for group in groups
        if group not in known
    ]


def scenes(entry: dict[str, Any], boots: list[dict[str, Any]]) -> int:
    """In which scenes a benchmark runs, a bit each."""
    own = [boot["scene"] for boot in boots if entry["id"] in boot["measures"]] or [0]
    values: list[Any] = next(iter(entry.get("params", {}).values()), [])
    require(
        len(own) in (1, len(values)),
        entry["id"],
        f"it has {len(own)} boots; it needs one, or one for each of {values}",
    )
    return sum(1 << scene for scene in own)


def read(text: str) -> list[SuiteRow]:
    """The benchmarks of a catalogue, which follows all rules."""
    top = checked(tomllib.loads(text), TOP, "at the top")
    require(bool(top["benchmark"]), "at the top", "there is no benchmark")
    sections = top["sections"]
    require(is_list_of(str, sections), "at the top", "'sections' must be different texts")
    entries = [checked(b, BENCHMARK, called(b, i)) for i, b in enumerate(top["benchmark"], 1)]
    boots = [checked(b, BOOT, f"boot {i}") for i, b in enumerate(top.get("boot", []), 1)]
    seen: set[str] = set()
    for entry in entries:
        check_benchmark(entry, sections)
        require(entry["id"] not in seen, entry["id"], "is there twice")
        seen.add(entry["id"])
    check_boots(boots, [entry["id"] for entry in entries])
    return [
        SuiteRow(
            entry["id"],
            entry["samples"],
            entry["inner"],
            entry.get("params", {}),
            entry.get("bodies", []),
            {key.removeprefix("skip_"): entry[key] for key in SKIPS if key in entry},
            entry.get("by", BY[0]),
            entry.get("passes", 0),
            scenes(entry, boots),
        )
        for entry in entries
    ]


def groups(rows: list[SuiteRow]) -> dict[str, list[str]]:
    """The names of each group's rows."""
    found: dict[str, list[str]] = {}
    for row in rows:
        found.setdefault(row.group, []).append(row.name)
    return found


def bodies(rows: list[SuiteRow]) -> list[str]:
    """The bodies in assembly, each once."""
    return list(dict.fromkeys(body for row in rows for body in row.bodies))


def header(rows: list[SuiteRow]) -> str:
    """For C and assembly."""
    lines = [
        "/* Made by apps/generate.py, which says what is here, from the catalogue. */",
        "#ifndef TM_ROWS_H",
        "#define TM_ROWS_H",
        f"#define TM_SAMPLES_MAX {max(row.samples for row in rows)}",
    ]
    for row in rows:
        lines += ["", *header_row(row)]
    for group, names in groups(rows).items():
        lines += [f"#define TM_BENCHES_{group} {', '.join(f'&tm_bench_{n}' for n in names)}"]
    lines += ["", "#ifndef __ASSEMBLER__", *(f"tm_body {body};" for body in bodies(rows)), "#endif"]
    return "\n".join([*lines, "#endif", ""])


def header_row(row: SuiteRow) -> list[str]:
    lines = [f"#define TM_INNER_{row.name} {row.inner}"]
    fields = [f'.id = "{row.id}", .samples = {row.samples}, .inner = {row.inner}']
    fields += [f".by = TM_BY_{row.by.upper()}, .passes = {row.passes}"]
    fields += [f".scenes = {row.scenes:#x}"]
    always = json.dumps(row.skip["c"]) if "c" in row.skip else "0"
    if row.skip:
        v1 = json.dumps(row.skip["v1"]) if "v1" in row.skip else always
        fields += [f".skip = TM_BY_ABI({v1}, {always})"]
    params = []
    for name, values in row.params.items():
        of = f"{row.name}_{name}"
        lines += [f"#define TM_VALUES_{of} {', '.join(map(json.dumps, values))}"]
        if isinstance(values[0], int):
            kind = ".numbers = (const uint32_t[])"
            lines += [f"#define TM_MAX_{of} {max(values)}"]
        else:
            kind = ".names = (const char *const[])"
            lines += [f"#define TM_INDEX_{of}_{value} {i}" for i, value in enumerate(values)]
        params += [f'{{.name = "{name}", {kind}{{TM_VALUES_{of}}}, .count = {len(values)}}}']
    if params:
        fields += [f".params = {{{', '.join(params)}}}"]
    return [*lines, f"#define TM_ROW_{row.name} {', '.join(fields)}"]


def rust(rows: list[SuiteRow]) -> str:
    """For Rust."""
    lines = ["// Made by apps/generate.py, which says what is here, from the catalogue."]
    for row in rows:
        lines += ["", *rust_row(row)]
    for group, names in groups(rows).items():
        own = " ".join(f"&{name}," for name in names)
        lines += ["", "#[macro_export]", f"macro_rules! benches_{group} {{"]
        lines += [f"    () => {{ [{own}] }};", "}"]
    lines += ["", f"tock::bodies!({', '.join(bodies(rows))});", ""]
    return "\n".join(lines)


def rust_row(row: SuiteRow) -> list[str]:
    """The module of a benchmark."""
    lines = [f"pub mod {row.name} {{", "    use tock::runtime::{Bench, By, Param};"]
    lines += [f"    pub const INNER: u32 = {row.inner};"]
    params = []
    for name, values in row.params.items():
        if isinstance(values[0], int):
            consts = [f"pub const MAX: u32 = {max(values)};"]
            consts += [f"pub const VALUES: [u32; {len(values)}] = {values};"]
            texts = f"Param::numbers(c{json.dumps(name)}, &{name}::VALUES)"
        else:
            consts = [f"pub const {v.upper()}: u32 = {i};" for i, v in enumerate(map(str, values))]
            names = ", ".join(f"tock::runtime::Text::new(c{json.dumps(v)})" for v in values)
            texts = f"Param::names(c{json.dumps(name)}, &[{names}])"
        lines += [f"    pub mod {name} {{ {' '.join(consts)} }}"]
        params += [texts]
    params += ["Param::NONE"] * (PARAMS_MAX - len(params))
    always = f"Some(c{json.dumps(row.skip['rust'])})" if "rust" in row.skip else "None"
    v1 = f"Some(c{json.dumps(row.skip['v1'])})" if "v1" in row.skip else always
    if "libtock_rs" in row.skip:
        library = f"Some(c{json.dumps(row.skip['libtock_rs'])})"
        which = f'if cfg!(feature = "libtock-rs") {{ {library} }} else {{ {always} }}'
        lines += [f"    const SKIP: Option<&core::ffi::CStr> = {which};"]
        always = "SKIP"
    lines += [
        f"    pub const ROW: Bench = Bench::of(c{json.dumps(row.id)}, {row.samples}, INNER)",
        f"        .taken(By::{row.by.capitalize()}, {row.passes})",
        f"        .in_scenes({row.scenes:#x})",
        f"        .skipped({v1}, {always}).with([{', '.join(params)}]);",
        "}",
    ]
    return lines


OUTPUTS: dict[str, Callable[[list[SuiteRow]], str]] = {".h": header, ".rs": rust}


def main(catalogue: Path, output: Path) -> None:
    if output.suffix not in OUTPUTS:
        sys.exit(f"{output}: the suffix must be one of {', '.join(OUTPUTS)}")
    try:
        rows = read(catalogue.read_text(encoding="utf-8"))
    except (UnicodeDecodeError, tomllib.TOMLDecodeError, MalformedError) as error:
        sys.exit(f"{catalogue}: {error}")
    except OSError as error:
        sys.exit(f"cannot read {catalogue}: {error.strerror}")
    try:
        output.write_text(OUTPUTS[output.suffix](rows), encoding="utf-8")
    except OSError as error:
        sys.exit(f"cannot write {output}: {error.strerror}")


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
