# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Check the catalogue and convert it to a header for C and assembly, or to a module for Rust.

    python3 apps/generate.py apps/catalogue.toml OUT/rows.h [ASSEMBLY]

The makefiles and build scripts call it. ASSEMBLY is the folder of another architecture's bodies: a
row is skipped there if the folder lacks one of its bodies. The output's suffix selects the
language. In names, the id has "_" instead of its dot. The header (.h) has these macros, and
declares the bodies:

    TM_ROW_x        the fields of a benchmark's definition that come from the catalogue
    TM_INNER_x      operations per sample
    TM_VALUES_x_p   the values of its parameter p; TM_MAX_x_p is the largest of them
    TM_INDEX_x_p_v  the index of the value v, if the values are names
    TM_BENCHES_g    the definitions of a group, in order: without one of them it does not compile
    TM_SAMPLES_MAX  the most samples of any benchmark
    TM_ABSENT       the bodies that ASSEMBLY lacks

The Rust module (.rs) needs `tock::runtime`:

    x::ROW          the fields of a benchmark's definition that come from the catalogue
    x::INNER        operations per sample
    x::p::VALUES    the values of its parameter p; x::p::MAX is the largest of them
    x::p::V         the index of the value v, if the values are names
    benches_g!()    the definitions of a group, in order: without one of them it does not compile
    bodies::b       the bodies
"""

import json
import re
import sys
import tomllib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

NUMBER = (int, float)
# The keys of a table, by the type of their values. A key with a "?" may be missing.
TOP = {str: "name?", int: "silence?", NUMBER: "budget?", list: "sections benchmark boot?"}
BENCHMARK = {
    str: "id section touches what counts unit? bytes? by? distribution?"
    " skip_v1? skip_c? skip_rust? skip_libtock_rs?",
    int: "samples inner passes?",
    NUMBER: "budget",
    dict: "params?",
    list: "bodies?",
    bool: "waits? timed? alike?",
}
BOOT = {
    str: "name group panics?",
    list: "measures slots",
    int: "scene slice_us?",
    bool: "controls?",
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
BOOT_NAME = "[A-Za-z0-9_-]{1,23}"  # fits into tm_link of runtime/bench.h


Rules = Iterator[tuple[bool, str]]  # whether a rule is kept, and the error if not


class MalformedError(Exception):
    """The catalogue breaks a rule. The message has the entry and the error."""


def require(condition: bool, where: str, error: str) -> None:
    if not condition:
        raise MalformedError(f"{where}: {error}")


@dataclass(frozen=True)
class SuiteRow:
    """The fields of a benchmark that the apps need."""

    id: str
    samples: int
    inner: int
    params: dict[str, list[int] | list[str]]
    bodies: list[str]
    skip: dict[str, str]  # why it does not run: in "v1" of the interface, in "c", in "rust"
    by: str
    passes: int
    scenes: int  # one bit per scene: one, or one for each value of the first parameter

    @property
    def group(self) -> str:
        return self.id.partition(".")[0]

    @property
    def name(self) -> str:
        return self.id.replace(".", "_")

    def reason(self, where: str, form: str, otherwise: str) -> str:
        """Return why it does not run there, as a string in this form, or `otherwise`."""
        return form.format(json.dumps(self.skip[where])) if where in self.skip else otherwise


def is_list_of(kind: type, values: Any) -> bool:
    """Return whether this is a list of different values of this type."""
    return (
        isinstance(values, list)
        and bool(values)
        and all(type(value) is kind for value in values)
        and len(set(values)) == len(values)
    )


def are_names(words: list[str]) -> bool:
    """Return whether all words are identifiers of C and Rust."""
    return all(re.fullmatch("[a-z][a-z0-9_]*", word) for word in words)


def entry_name(entry: Any, number: int) -> str:
    """Return the name of an entry for messages. The entry may be malformed."""
    id_ = entry.get("id") if isinstance(entry, dict) else None
    return id_ if isinstance(id_, str) else f"benchmark {number}"


def checked_table(table: Any, keys: Mapping[Any, str], where: str) -> dict[str, Any]:
    """Return the table after checking its keys and their types."""
    require(isinstance(table, dict), where, "must be a table")
    named = [(key, kind) for kind, names in keys.items() for key in names.split()]
    kinds = {key.rstrip("?"): kind for key, kind in named}
    for key, value in table.items():
        require(key in kinds, where, f"there is no key '{key}'")
        right = isinstance(value, kinds[key]) and isinstance(value, bool) == (kinds[key] is bool)
        require(right, where, f"'{key}' must be {NAMES[kinds[key]]}")
        one_line = not isinstance(value, str) or value.isprintable()
        require(one_line, where, f"'{key}' must be one line of text")
    for key, _ in named:
        require(key.endswith("?") or key in table, where, f"'{key}' is missing")
    return dict(table)


def benchmark_rules(entry: dict[str, Any], sections: list[str], ids: list[str]) -> Rules:
    """Yield the rules for a benchmark, in order."""
    params, section, by = entry.get("params", {}), entry["section"], entry.get("by", BY[0])
    yield section in sections, f"the section '{section}' is not in 'sections' at the top"
    right = bool(re.fullmatch(r"[a-z][a-z0-9]*\.[a-z][a-z0-9_]*", entry["id"]))
    yield right, "an id must be group.operation"
    yield entry["touches"] in TOUCHES, "'touches' must be kernel, app or control"
    yield by in BY, "'by' must be sampler, reading or mark"
    for key in ("samples", "inner", "budget", "passes"):
        yield 0 < entry.get(key, 1) < WORD, f"'{key}' must be more than 0"
    yield entry.get("distribution", "cached") == "cached", "'distribution' must be cached"
    yield (
        by == BY[0] or "passes" not in entry,
        "'passes' needs the sampler, so 'by' must be sampler",
    )
    yield len(params) <= PARAMS_MAX, f"there are more than {PARAMS_MAX} parameters"
    for name, values in params.items():
        words = [name, *values] if is_list_of(str, values) else [name]
        yield (
            are_names(words),
            f"names of parameters and values must be lower-case identifiers: {words}",
        )
        numbers = is_list_of(int, values) and all(0 <= value < WORD for value in values)
        right = numbers or is_list_of(str, values)
        yield right, f"'{name}' must be different numbers, or different names"
    right = "bytes" not in entry or is_list_of(int, params.get(entry["bytes"]))
    yield right, "'bytes' must be a parameter whose values are numbers"
    bodies = entry.get("bodies", ["x"])
    yield is_list_of(str, bodies) and are_names(bodies), "'bodies' must be names of procedures"
    for key in SKIPS:
        yield entry.get(key, "x").isascii(), f"'{key}' must be ASCII: an app prints it"
    yield ids.count(entry["id"]) == 1, "the id is there twice"


def boot_rules(boot: dict[str, Any], ids: list[str]) -> Rules:
    """Yield the rules for a single boot, in order."""
    fits = bool(re.fullmatch(BOOT_NAME, boot["name"]))
    yield fits, "a name must have 1 to 23 letters, digits, '_' and '-'"
    for key in ("measures", "slots"):
        right = bool(boot[key]) and all(isinstance(value, str) for value in boot[key])
        yield right, f"'{key}' must be a list of names"
    yield len(set(boot["measures"])) == len(boot["measures"]), "'measures' has a benchmark twice"
    for id_ in boot["measures"]:
        yield id_ in ids, f"there is no benchmark {id_}"
        own = id_.partition(".")[0] == boot["group"]
        yield own, f"{id_} is not in the boot's group, {boot['group']}"
    yield 0 <= boot["scene"] < BITS, f"'scene' must be 0 to {BITS - 1}"
    alone = boot["slots"] == [boot["group"]]
    yield alone or boot["scene"] > 0, "'scene' may be 0 only if the app is alone"


def check_boots(boots: list[dict[str, Any]], ids: list[str]) -> None:
    for boot in boots:
        for is_kept, error in boot_rules(boot, ids):
            require(is_kept, f"boot {boot['name']}", error)
    seen: dict[Any, str] = {}
    for boot in [*boots, *implicit_boots(boots, ids)]:
        where, name = f"boot {boot['name']}", boot["name"]
        scene = (boot["group"], boot["scene"])
        needs = (*boot["slots"], boot.get("slice_us"), boot.get("panics"), boot.get("controls"))
        first = seen.setdefault(needs, name)
        require(name not in seen, where, "the name is there twice")
        require(scene not in seen, where, f"another boot of {scene[0]} has scene {scene[1]}")
        require(
            first == name,
            where,
            f"merge it with the boot {first}, which has the same slots and settings",
        )
        seen |= {name: name, scene: name}


def implicit_boots(boots: list[dict[str, Any]], ids: list[str]) -> list[dict[str, Any]]:
    """Return the boots of single apps without an entry: one per group with a benchmark that no
    entry measures."""
    measured = {id_ for boot in boots for id_ in boot["measures"]}
    single = {boot["group"] for boot in boots if boot["scene"] == 0}
    groups = dict.fromkeys(id_.partition(".")[0] for id_ in ids if id_ not in measured)
    return [
        {"name": group, "group": group, "slots": [group], "scene": 0}
        for group in groups
        if group not in single
    ]


def scenes(entry: dict[str, Any], boots: list[dict[str, Any]]) -> int:
    """Return the scenes of a benchmark, one bit each."""
    own = [boot["scene"] for boot in boots if entry["id"] in boot["measures"]] or [0]
    values: list[Any] = next(iter(entry.get("params", {}).values()), [])
    require(
        len(own) in (1, len(values)),
        entry["id"],
        f"it has {len(own)} boots; it needs one, or one for each value of {values}",
    )
    return sum(1 << scene for scene in own)


def read_catalogue(text: str) -> list[SuiteRow]:
    """Return the benchmarks of a catalogue.

    Raises MalformedError if the catalogue breaks a rule.
    """
    top = checked_table(tomllib.loads(text), TOP, "at the top")
    require(bool(top["benchmark"]), "at the top", "there is no benchmark")
    sections = top["sections"]
    require(is_list_of(str, sections), "at the top", "'sections' must be different texts")
    entries = [
        checked_table(b, BENCHMARK, entry_name(b, i)) for i, b in enumerate(top["benchmark"], 1)
    ]
    boots = [checked_table(b, BOOT, f"boot {i}") for i, b in enumerate(top.get("boot", []), 1)]
    ids = [entry["id"] for entry in entries]
    for entry in entries:
        for is_kept, error in benchmark_rules(entry, sections, ids):
            require(is_kept, entry["id"], error)
    check_boots(boots, ids)
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
    """Return the names of the rows, by group."""
    names_by_group: dict[str, list[str]] = {}
    for row in rows:
        names_by_group.setdefault(row.group, []).append(row.name)
    return names_by_group


def bodies(rows: list[SuiteRow]) -> list[str]:
    """Return the names of the bodies in assembly, each once."""
    return list(dict.fromkeys(body for row in rows for body in row.bodies))


def absent_bodies(bodies: list[str], assembly: Path | None) -> list[str]:
    """Return the bodies that a folder of assembly lacks; none if there is no folder."""
    if assembly is None:
        return []
    text = "".join(path.read_text(encoding="utf-8") for path in sorted(assembly.glob("*.S")))
    return [body for body in bodies if not re.search(rf"\b{body}\b", text)]


def with_skips(row: SuiteRow, absent: list[str]) -> SuiteRow:
    """Return the row, skipped if it needs one of the absent bodies."""
    why = next((f"{body} is in RISC-V assembly alone" for body in row.bodies if body in absent), "")
    return replace(row, skip={"c": why, "rust": why, **row.skip}) if why else row


def header(rows: list[SuiteRow], absent: list[str]) -> str:
    """Return the header for C and assembly."""
    lines = [
        "/* Made from the catalogue by apps/generate.py, which describes the contents. */",
        "#pragma once",
        # A second catalogue's header follows the usual one, with which the harness is built.
        "#ifndef TM_SAMPLES_MAX",
        f"#define TM_SAMPLES_MAX {max(row.samples for row in rows)}",
        "#endif",
    ]
    for row in rows:
        lines += ["", *header_row(row)]
    for group, names in groups(rows).items():
        lines += [f"#define TM_BENCHES_{group} {', '.join(f'&tm_bench_{n}' for n in names)}"]
    lines += ["", "#ifndef __ASSEMBLER__", *(f"tm_body {body};" for body in bodies(rows))]
    if absent:
        lines += ["#else", f"#define TM_ABSENT {', '.join(absent)}"]
    return "\n".join([*lines, "#endif", ""])


def header_row(row: SuiteRow) -> list[str]:
    lines = [f"#define TM_INNER_{row.name} {row.inner}"]
    fields = [f'.id = "{row.id}", .samples = {row.samples}, .inner = {row.inner}']
    fields += [f".by = TM_BY_{row.by.upper()}, .passes = {row.passes}"]
    fields += [f".scenes = {row.scenes:#x}"]
    if row.skip:
        always = row.reason("c", "{}", "0")
        fields += [f".skip = TM_BY_ABI({row.reason('v1', '{}', always)}, {always})"]
    params = []
    for name, values in row.params.items():
        suffix = f"{row.name}_{name}"
        lines += [f"#define TM_VALUES_{suffix} {', '.join(map(json.dumps, values))}"]
        if isinstance(values[0], int):
            kind = ".numbers = (const uint32_t[])"
            lines += [f"#define TM_MAX_{suffix} {max(values)}"]
        else:
            kind = ".names = (const char *const[])"
            lines += [f"#define TM_INDEX_{suffix}_{value} {i}" for i, value in enumerate(values)]
        params += [f'{{.name = "{name}", {kind}{{TM_VALUES_{suffix}}}, .count = {len(values)}}}']
    if params:
        fields += [f".params = {{{', '.join(params)}}}"]
    return [*lines, f"#define TM_ROW_{row.name} {', '.join(fields)}"]


def rust(rows: list[SuiteRow], _: list[str]) -> str:
    """Return the module for Rust."""
    lines = ["// Made from the catalogue by apps/generate.py, which describes the contents."]
    for row in rows:
        lines += ["", *rust_row(row)]
    for group, names in groups(rows).items():
        own = " ".join(f"&{name}," for name in names)
        lines += ["", "#[macro_export]", f"macro_rules! benches_{group} {{"]
        lines += [f"    () => {{ [{own}] }};", "}"]
    lines += ["", f"tock::bodies!({', '.join(bodies(rows))});", ""]
    return "\n".join(lines)


def rust_row(row: SuiteRow) -> list[str]:
    """Return the lines of a benchmark's module."""
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
    always = row.reason("rust", "Some(c{})", "None")
    v1 = row.reason("v1", "Some(c{})", always)
    if "libtock_rs" in row.skip:
        library = row.reason("libtock_rs", "Some(c{})", "")
        choice = f'if cfg!(feature = "libtock-rs") {{ {library} }} else {{ {always} }}'
        lines += [f"    const SKIP: Option<&core::ffi::CStr> = {choice};"]
        always = "SKIP"
    lines += [
        f"    pub const ROW: Bench = Bench::of(c{json.dumps(row.id)}, {row.samples}, INNER)",
        f"        .taken(By::{row.by.capitalize()}, {row.passes})",
        f"        .in_scenes({row.scenes:#x})",
        f"        .skipped({v1}, {always}).with([{', '.join(params)}]);",
        "}",
    ]
    return lines


OUTPUTS: dict[str, Callable[[list[SuiteRow], list[str]], str]] = {".h": header, ".rs": rust}


def main(catalogue: Path, output: Path, assembly: Path | None = None) -> None:
    """Write the output for the bodies in `assembly`; without it for RISC-V, which has all
    bodies."""
    if output.suffix not in OUTPUTS:
        sys.exit(f"{output}: the suffix must be one of {', '.join(OUTPUTS)}")
    try:
        rows = read_catalogue(catalogue.read_text(encoding="utf-8"))
    except (UnicodeDecodeError, tomllib.TOMLDecodeError, MalformedError) as error:
        sys.exit(f"{catalogue}: {error}")
    except OSError as error:
        sys.exit(f"cannot read {catalogue}: {error.strerror}")
    try:
        absent = absent_bodies(bodies(rows), assembly)
        rows = [with_skips(row, absent) for row in rows]
        output.write_text(OUTPUTS[output.suffix](rows, absent), encoding="utf-8")
    except OSError as error:
        sys.exit(f"cannot write {output}: {error.strerror}")


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:]))
