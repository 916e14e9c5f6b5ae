# SPDX-License-Identifier: Apache-2.0 OR MIT
"""An oracle for results: every kind of forgery is refused, fails `gate`, or fails `verify`.

It shares no code with what it tests: a kind changes the JSON of an honest result by what it means,
by this file alone, and the command line has to see it. Which of the three does stands in a table of
docs/contributing.md, which is held to what happens here. A kind that nobody sees fails.

The victims are honest, and pass: `head` are links of Tock 2.2 with a change that no benchmark runs,
judged by other links; `costly` are those of a change that costs; `pull` is a pull request that no
benchmark sees, with rows of the apps' own; `stored` is the baseline, with all
rows in two languages; `small` has two boots of it, measured here, so that verify is quick.
"""

import copy
import hashlib
import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from tockmark import paths
from tockmark.cli.app import app
from tockmark.errors import TockmarkError
from tockmark.result import file
from tockmark_lab import verify

Json = dict[str, Any]
LINKS = paths.RESULTS / "links"
BASE = LINKS / "tock-2.2.json"
BASES = {"head": BASE, "costly": BASE, "pull": LINKS / "pr-4923-base.json"}
KERNEL = paths.ROOT / "build/cargo/riscv32imc-unknown-none-elf/release/tockmark-kernel"
PAGE = paths.ROOT / "docs" / "contributing.md"
HASH = "c" * 64


def rows(data: Json, pattern: str, **fields: object) -> list[Json]:
    """The rows whose id matches, and that have these fields; `lang` is c where it is left out."""
    found = [
        row
        for row in data["rows"]
        if re.fullmatch(pattern, row["id"])
        and all(row.get(name, "c" if name == "lang" else None) == v for name, v in fields.items())
    ]
    assert found, (pattern, fields)
    return found


def counts(runs: str) -> list[int]:
    """The samples of an encoded series: n, n*times, or (n,m)*times."""
    found: list[int] = []
    for group, number, times in re.findall(r"(?:\(([\d,]+)\)|(\d+))(?:\*(\d+))?", runs):
        found += [int(one) for one in (group or number).split(",")] * int(times or 1)
    return found


def encoded(samples: list[int]) -> str:
    return " ".join(map(str, samples))


def change(one: Json, series: str, by: Callable[[int], float]) -> None:
    """Change all samples of a series, in all layouts that the entry holds."""
    for held in (one, *one.get("further", ())):
        if series in held:
            held[series] = encoded([round(by(n)) for n in counts(held[series])])


def more(data: Json, boot: str, series: tuple[str, ...], settings: tuple[bool, ...]) -> None:
    """Let the readings and controls of a boot seem to cost 36 more."""
    for row in rows(data, r"time\.read(ing)?|null\..*", boot=boot, lang="c"):
        if row["icache"] in settings and "clock" not in row:
            for name in series:
                change(row, name, lambda n: n + 36)


def drop(data: Json, gone: list[Json], into: str | None = None) -> None:
    data["rows"] = [row for row in data["rows"] if not any(row is one for one in gone)]
    if into:
        kept = ("id", "boot", "params", "icache", "lang")
        named = [{name: row[name] for name in kept if name in row} for row in gone]
        data[into] = [*data.get(into, ()), *(one | {"why": "no such driver"} for one in named)]


COUNTS = ("cycles", "instret")
BOTH = (True, False)
SOME = r"syscall\.(command|memop)"


def base_layouts(data: Json) -> None:
    other = {key(row): row for row in json.loads(BASE.read_text())["rows"]}
    for row in data["rows"]:
        there = other.get(key(row))
        if row.get("further") and there:
            row["further"] = there["further"][: len(row["further"])]


def key(row: Json) -> str:
    return json.dumps([row["id"], row.get("params"), row["icache"], row["boot"]])


def one_layout(data: Json) -> None:
    for row in rows(data, r"syscall\..*", icache=False):
        row["further"][1]["instret"] = encoded(
            [n - 33 for n in counts(row["further"][1]["instret"])]
        )


def without_series(data: Json, pattern: str) -> None:
    for row in rows(data, pattern):
        for held in (row, *row.get("further", ())):
            for name in [name for name in held if name.endswith("instret")]:
                del held[name]


def set_all(data: Json, pattern: str, fields: Json, **where: object) -> None:
    for row in rows(data, pattern, **where):
        row.update(fields)


def five_cycles(data: Json) -> None:
    data["provenance"]["boots"][3]["cycles"] = {"on": 5, "off": 5}


def slower_slope(data: Json) -> None:
    for row in rows(data, r"loop\.taken", icache=True):
        for name in ("short_cycles", "long_cycles"):
            change(row, name, lambda n: 1.3 * n)


def base_kernel(data: Json) -> None:
    other = json.loads(BASE.read_text())["provenance"]
    data["provenance"]["kernel"] = other["kernel"]
    data["provenance"]["layouts"] = other["layouts"][: len(data["provenance"]["layouts"])]


def no_origin(data: Json) -> None:
    del data["provenance"]["boots"], data["provenance"]["layouts"]
    for row in data["rows"]:
        row.pop("further", None)


def said_c(data: Json) -> None:
    """A row that only Rust has."""
    ids = {row["id"] for row in data["rows"] if row.get("lang") == "rust"}
    ids -= {row["id"] for row in data["rows"] if "lang" not in row}
    (id_,) = ids
    data["skipped"] = [one for one in data["skipped"] if one["id"] != id_]
    for row in rows(data, re.escape(id_)):
        del row["lang"]


def other_boot(data: Json) -> None:
    """Its readings are others."""
    set_all(data, r"syscall\.command", {"boot": "by_regions-2", "app": "syscall"}, lang="c")


def fewer(data: Json) -> None:
    for row in rows(data, r"syscall\.command"):
        row["asked"] = 5
        for name in [*COUNTS]:
            row[name] = encoded(counts(row[name])[:5])


def a_board(data: Json) -> None:
    del data["provenance"]["board"]["simulator_sha256"]


def board_with_layouts(data: Json) -> None:
    a_board(data)
    base_layouts(data)


def first_sample(row: Json, at: int) -> None:
    samples = counts(row["cycles"])
    samples[at] += 1
    row["cycles"] = encoded(samples)


def an_event(data: Json) -> None:
    row = next(row for row in data["rows"] if "events" in row)
    runs = row["events"].split(" ")
    number, _, times = runs[0].partition("*")
    row["events"] = " ".join([f"{int(number) + 1}*{times}", *runs[1:]])


def otherwise(field: str) -> Callable[[Json], None]:
    """Two where the catalogue has one, by a result that names another catalogue."""

    def changed(data: Json) -> None:
        set_all(data, SOME, {field: 2})
        data["provenance"]["catalogue_sha256"] = HASH

    return changed


def put(*where: str | int, value: object) -> Callable[[Json], None]:
    """What sets one field of provenance."""

    def do(data: Json) -> None:
        at = data["provenance"]
        for name in where[:-1]:
            at = at[name]
        at[where[-1]] = value

    return do


@dataclass(frozen=True)
class Kind:
    """One way to forge a victim."""

    name: str
    victim: str
    by: str  # load, gate or verify
    do: Callable[[Json], None]


KINDS = [
    Kind("three of four layouts are the base's", "costly", "load", base_layouts),
    Kind("one layout has fewer instructions", "head", "load", one_layout),
    Kind(
        "readings and controls of a boot +36",
        "costly",
        "load",
        lambda d: more(d, "upcall", COUNTS, BOTH),
    ),
    Kind(
        "the same, with the cache on only",
        "costly",
        "load",
        lambda d: more(d, "upcall", COUNTS, (True,)),
    ),
    Kind(
        "the same, cycles only, with the cache off",
        "costly",
        "load",
        lambda d: more(d, "upcall", ("cycles",), (False,)),
    ),
    Kind("a boot of 5 cycles", "head", "load", five_cycles),
    Kind(
        "a boot is missing from provenance",
        "head",
        "load",
        lambda d: d["provenance"]["boots"].pop(3),
    ),
    Kind("no boots, but layouts", "head", "load", put("boots", value=[])),
    Kind(
        "all rows of a boot are dropped",
        "head",
        "load",
        lambda d: drop(d, rows(d, ".*", boot="console")),
    ),
    Kind(
        "two rows are said to be Rust", "head", "load", lambda d: set_all(d, SOME, {"lang": "rust"})
    ),
    Kind("a row of Rust is said to be C", "stored", "load", said_c),
    Kind("a row is said to be of another boot", "stored", "load", other_boot),
    Kind("another `inner`", "stored", "load", lambda d: set_all(d, SOME, {"inner": 2})),
    Kind("2 `reads`", "stored", "load", lambda d: set_all(d, SOME, {"reads": 2})),
    Kind("the other reader", "stored", "load", lambda d: set_all(d, SOME, {"by": "reading"})),
    Kind(
        "another number of passes",
        "stored",
        "load",
        lambda d: set_all(d, r"loop\.taken", {"passes": 64}, icache=True),
    ),
    Kind("fewer samples, and fewer asked", "stored", "load", fewer),
    Kind("another `inner`, and another catalogue", "head", "load", otherwise("inner")),
    Kind("2 `reads`, and another catalogue", "head", "load", otherwise("reads")),
    Kind(
        "all series of instructions are removed", "head", "gate", lambda d: without_series(d, ".*")
    ),
    Kind("those of two rows are removed", "head", "gate", lambda d: without_series(d, SOME)),
    Kind("two rows are dropped", "head", "gate", lambda d: drop(d, rows(d, SOME))),
    Kind("two rows are skipped", "head", "gate", lambda d: drop(d, rows(d, SOME), "skipped")),
    Kind("two rows failed", "head", "gate", lambda d: drop(d, rows(d, SOME), "failed")),
    Kind(
        "the controls of a boot are dropped",
        "head",
        "gate",
        lambda d: drop(d, rows(d, r"null\..*", boot="upcall")),
    ),
    Kind(
        "the readings of a boot are dropped",
        "head",
        "gate",
        lambda d: drop(d, rows(d, r"time\..*", boot="upcall")),
    ),
    Kind("a cached slope of loop.taken is 1.3 times", "pull", "gate", slower_slope),
    Kind("the base's kernel, with other counts", "head", "gate", base_kernel),
    Kind("neither boots nor layouts", "head", "gate", no_origin),
    Kind("it is said to be of a board", "head", "gate", a_board),
    Kind("the same, and layouts are the base's", "costly", "gate", board_with_layouts),
    Kind("one sample +1", "small", "verify", lambda d: first_sample(rows(d, SOME)[0], 3)),
    Kind("a cold sample +1", "small", "verify", lambda d: first_sample(rows(d, SOME)[0], 0)),
    Kind(
        "the cycles of a row -1 %",
        "small",
        "verify",
        lambda d: change(rows(d, SOME)[0], "cycles", lambda n: 0.99 * n),
    ),
    Kind("one event more", "small", "verify", an_event),
    Kind(
        "a row is said to be skipped",
        "small",
        "verify",
        lambda d: drop(d, rows(d, SOME), "skipped"),
    ),
    Kind(
        "a boot took longer", "small", "verify", put("boots", 0, "cycles", "off", value=9_999_999)
    ),
    Kind("another kernel's hash", "small", "verify", put("layouts", 0, "sha256", value=HASH)),
    Kind(
        "another simulator's hash", "small", "verify", put("board", "simulator_sha256", value=HASH)
    ),
    Kind(
        "another app's hash",
        "small",
        "verify",
        put("boots", 0, "slots", 0, "elf_sha256", value=HASH),
    ),
]


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Json:
    out = tmp_path_factory.mktemp("small") / "r.json"
    words = ["run", "--only", "syscall.memop", "--icache", "off", "--samples", "9", "--kernel"]
    done = CliRunner().invoke(app, [*words, str(KERNEL), "-o", str(out)])
    assert done.exit_code == 0, done.output
    found: Json = json.loads(out.read_text())
    return found


def victim(name: str, small: Json) -> Json:
    """An honest result; one by the catalogue of today says so, since its constants are the same."""
    files = {"head": LINKS / "lay1.json", "costly": LINKS / "cost.json"}
    files["pull"] = LINKS / "pr-4923-head.json"
    files |= {"stored": paths.RESULTS / "baseline-cw310.json"}
    data: Json = copy.deepcopy(small) if name == "small" else json.loads(files[name].read_text())
    if name == "stored":
        today = hashlib.sha256(paths.CATALOGUE.read_bytes()).hexdigest()
        data["provenance"]["catalogue_sha256"] = today
    return data


def seen_by(data: Json, name: str, folder: Path) -> str | None:
    """Who sees that a result is forged: load, gate, verify or nobody."""
    path = folder / "r.json"
    path.write_text(json.dumps(data))

    def code(*words: object) -> int:
        done = CliRunner().invoke(app, [*map(str, words)])
        if isinstance(done.exception, TockmarkError):
            return done.exception.code
        assert done.exception is None or isinstance(done.exception, SystemExit), done.exception
        return done.exit_code

    if code("ci", "export", path, "--format", "csv") == 2:
        return "load"
    if name in BASES and code("ci", "gate", BASES[name], path) in (2, 3):
        return "gate"
    if name == "small" and code("ci", "verify", path, "--kernel", KERNEL, "--boots", "all") in (
        2,
        3,
    ):
        return "verify"
    return None


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
def test_a_forgery_is_seen(kind: Kind, small: Json, tmp_path: Path) -> None:
    data = victim(kind.victim, small)
    kind.do(data)
    assert seen_by(data, kind.victim, tmp_path) == kind.by


@pytest.mark.parametrize("name", ["head", "pull", "stored", "small"])
def test_an_honest_result_passes(name: str, small: Json, tmp_path: Path) -> None:
    assert seen_by(victim(name, small), name, tmp_path) is None


def test_the_honest_change_that_costs_loads(small: Json, tmp_path: Path) -> None:
    assert seen_by(victim("costly", small), "costly", tmp_path) == "gate"


def test_boots_are_drawn_by_the_seed_and_the_chance_is_said(small: Json, tmp_path: Path) -> None:
    path = tmp_path / "r.json"
    path.write_text(json.dumps(victim("stored", small)))
    found = file.load(path)
    every = verify.places(found)
    assert len(every) == 102
    drawn = [verify.draw(every, 4, seed) for seed in ("a", "a", "b")]
    assert drawn[0] == drawn[1] != drawn[2]
    assert len(set(drawn[0])) == 4
    assert set(verify.draw(every, None, "a")) == set(every)
    assert verify.Verified("a", drawn[0], 94, 0, ()).missed == 1 - 4 / 94


def test_verify_says_what_is_not_the_results_own(small: Json, tmp_path: Path) -> None:
    path = tmp_path / "r.json"
    path.write_text(json.dumps(small))
    other = paths.ROOT / "build/cargo-v1/riscv32imc-unknown-none-elf/release/tockmark-kernel"
    done = CliRunner().invoke(app, ["ci", "verify", str(path), "--kernel", str(other)])
    assert isinstance(done.exception, TockmarkError)
    assert "is none of the result's kernels; it has " in str(done.exception)
    small = copy.deepcopy(small)
    small["provenance"]["boots"][0]["slots"][0]["elf_sha256"] = HASH
    path.write_text(json.dumps(small))
    done = CliRunner().invoke(app, ["ci", "verify", str(path), "--kernel", str(KERNEL)])
    assert isinstance(done.exception, TockmarkError)
    assert str(done.exception).startswith("the app syscall of the boot syscall")


def test_the_page_says_who_sees_what() -> None:
    table = re.findall(
        r"^\| (.+) \| (load|gate|verify) \|$", PAGE.read_text(encoding="utf-8"), re.M
    )
    assert [tuple(found) for found in table] == [(kind.name, kind.by) for kind in KINDS]
    assert len(table) == len({kind.name for kind in KINDS}) >= 25
