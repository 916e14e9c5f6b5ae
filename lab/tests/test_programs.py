# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Whole programs, bare and as apps: the small ones. Builds them with `make programs`.

The apps check their answers after each sample; the tests check that a wrong answer fails."""

import hashlib
import json
import os
import re
import subprocess
import sys
import tomllib
import zlib
from pathlib import Path

import products
import pytest

from tockmark.base import paths
from tockmark.result import file
from tockmark.result.model import Result, Row
from tockmark.suite import catalogue
from tockmark.suite.catalogue import HARNESS_ROWS, Lang
from tockmark.target import board as boards
from tockmark.target.image import GRANTS, RAM_ALIGN, RECORD, AppBuild, build_image
from tockmark.target.kernel import read_kernel
from tockmark.target.protocol import Start
from tockmark_lab.folders import STUDIES
from tockmark_lab.studies import isolation, programs

SMALL = "towers,qsort,aes,sha2"
CATALOGUE = STUDIES / "programs" / "catalogue.toml"
KNOWN = catalogue.load(CATALOGUE)
FOLDER = STUDIES / "programs" / "apps"
BARE = paths.APPS / "bare.elf"  # used instead of a kernel
ON_BARE = ("--kernel", BARE, "--counter", "csr")
# Not programs: test_crypto.py tests some, and some are measured by size.
OTHERS = {"crypto", "crypto_server", "crypto_relay", "size", "pad", "length"}


def test_clippy_has_no_warnings() -> None:
    """`make test` checks the other crates: these have many dependencies."""
    command = ["cargo", "clippy", "--quiet", "--manifest-path", str(FOLDER / "Cargo.toml")]
    options = ["--target", "riscv32imc-unknown-none-elf", "--", "-D", "warnings"]
    own = os.environ | {"CARGO_TARGET_DIR": str(paths.ROOT / "build" / "cargo-test")}
    done = subprocess.run([*command, *options], env=own, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


@pytest.fixture(scope="module")
def built() -> None:
    products.make("programs", f"ONLY={SMALL.replace(',', ' ')}")


def run(*options: object) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "tockmark", "run", "--catalogue", str(CATALOGUE)]
    command += map(str, options)
    return subprocess.run(command, capture_output=True, text=True, check=False, cwd=paths.ROOT)


def rows(result: Result) -> dict[tuple[object, ...], Row]:
    """Return the rows of programs by everything that distinguishes them."""
    return {row.key: row for row in result.rows if row.id not in HARNESS_ROWS}


@pytest.fixture(scope="module")
def both(built: None, tmp_path_factory: pytest.TempPathFactory) -> tuple[Result, Result, str]:
    """Run bare and on the baseline, with the cache off. Return both results and the output."""
    folder = tmp_path_factory.mktemp("programs")
    bare, isolated = folder / "bare.json", folder / "isolated.json"
    options = ("--icache", "off", "--lang", "c,rust")
    alone = ",".join(f"{name}:beside=none" for name in SMALL.split(","))
    done = run(*options, *ON_BARE, "--only", alone, "-o", bare)
    assert done.returncode == 0, done.stdout + done.stderr
    done = run(*options, "--only", SMALL, "-o", isolated)
    assert done.returncode == 0, done.stdout + done.stderr
    named = [(path.stem, file.load(path)) for path in (isolated, bare)]
    return named[1][1], named[0][1], programs.screen(named)


def test_isolation_adds_no_instruction_to_a_program_alone(
    both: tuple[Result, Result, str],
) -> None:
    """User mode and machine mode retire the same instructions. Only an interrupt could add some,
    and none occurs."""
    bare, isolated = map(rows, both[:2])
    assert len(bare) == 6
    assert {row.lang for row in bare.values()} == {"c", "rust"}
    for key, row in bare.items():
        assert isolated[key].instructions == row.instructions, row.name
        assert row.stack is not None
        assert isolated[key].stack == pytest.approx(row.stack, abs=64)  # the harness's stack
        own, base = isolated[key].net, row.net
        assert own is not None
        assert base is not None
        assert 0.999 < own / base < 1.01, row.name


def test_an_alarm_of_another_app_costs(both: tuple[Result, Result, str]) -> None:
    isolated = rows(both[1])
    with_alarm = [row for row in isolated.values() if row.params["beside"] == "alarm"]
    assert len(with_alarm) == 6
    for row in with_alarm:
        (alone,) = (
            stored
            for stored in isolated.values()
            if (stored.id, stored.params) == (row.id, row.params | {"beside": "none"})
        )
        assert row.net is not None
        assert alone.net is not None
        assert alone.instructions is not None
        assert row.net > alone.net, row.name
        assert (row.instructions or 0) > alone.instructions, row.name


def test_events_of_isolation_are_counted(both: tuple[Result, Result, str]) -> None:
    """A program alone has no events. An alarm is one interrupt, then the other app sets the next
    alarm and yields: three traps, two switches, and PMP writes for both apps."""
    products.make("profile")
    command = [sys.executable, "-m", "tockmark_lab", "isolation", "--only", "towers"]
    command += ["--icache", "off", "--json"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=paths.ROOT)
    assert done.returncode == 0, done.stderr
    alone, with_alarm = json.loads(done.stdout)
    names = ("interrupts", "traps", "switches", "upcalls", "pmp_writes")
    assert [alone[name] for name in names] == [0] * 5
    assert (alone["others"], alone["kernel"], alone["phases"]) == (0, 0, {})
    alarms = with_alarm["interrupts"]
    assert alarms >= 1
    assert [with_alarm[name] for name in names] == [n * alarms for n in (1, 3, 2, 1, 8)]
    assert sum(with_alarm["phases"].values()) == with_alarm["kernel"]
    assert with_alarm["phases"]["PMP"] > 0
    for run in (alone, with_alarm):
        (row,) = (
            row
            for row in rows(both[1]).values()
            if (row.id, row.params) == (run["id"], run["params"])
        )
        assert row.net == pytest.approx(run["program"] + run["others"] + run["kernel"], abs=64)


def test_the_committed_counts_of_isolation_are_consistent() -> None:
    stored = [
        isolation.load(path) for path in sorted((STUDIES / "isolation" / "data").glob("*.json"))
    ]
    assert stored
    for kernel in stored:
        for row in kernel.rows:
            counts = [getattr(row, name) for name in isolation.COUNTED]
            assert sum(row.phases.values()) == row.kernel
            if row.params["beside"] == "none":
                assert (counts, row.others, row.kernel) == ([0] * 5, 0, 0)
            elif kernel.kernel.is_baseline:
                assert counts == [n * row.upcalls for n in (3, 1, 2, 1, 8)]
            else:
                assert row.traps >= 2 * row.interrupts  # zero if the alarm came late
                assert row.switches == 2 * row.upcalls


def test_the_output_has_both_and_their_ratio(both: tuple[Result, Result, str]) -> None:
    screen = both[2]
    line, _ = re.findall(r"^towers\.solve, C .*$", screen, re.M)  # tables of cycles and of sizes
    bare = next(row for row in rows(both[0]).values() if row.id == "towers.solve")
    assert line.split()[2] == f"{bare.net:,.0f}"
    assert "!" not in screen.partition("Cycles of one whole run")[0]


@pytest.mark.parametrize(("app", "lang"), [("towers", "c"), ("aes", "rust")])
def test_a_wrong_answer_is_an_error_of_the_row(
    built: None, tmp_path: Path, app: str, lang: Lang
) -> None:
    """One bit of the program's input, or of the known answer, is changed in flash."""
    board = boards.load(boards.DEFAULT)
    (boot,) = (each for each in KNOWN.boots() if each.name == app)
    apps = AppBuild.built(2, lang, "csr", KNOWN.name)
    image = build_image(boot, apps, read_kernel(BARE), board, tmp_path)
    flash = bytearray(image.flash.read_bytes())
    if app == "aes":  # a block by NIST that the cipher must produce
        at = flash.index(bytes.fromhex("3ad77bb40d7a3660a89ecaf32466ef97")[::-1])  # little-endian
        flash[at] ^= 1
    else:  # setStats, which counts the solutions, returns at once
        at = image.slots[0].symbols["setStats"] - board.flash.base
        flash[at : at + 2] = bytes.fromhex("8280")  # c.ret
    image.flash.write_bytes(flash)
    session = board.target.start(Start(app, image.flash, icache=False, marks=(), reporter=app))
    lines = [line.split(" *")[0].rstrip() for line in session.lines()]
    session.ending()
    text = " ".join(re.sub(r"^#tm \d+ \w+ (?:\+ )?", "", line) for line in lines)
    assert re.search(rf"fail {app}\.\w+ .*?call=answer err=WRONG_RESULT", text), text


@pytest.mark.parametrize(
    ("end", "at", "full"),
    [("_eappmem", 0x10002000 + 0x6000, "RAM"), ("_eapps", 0x20030000 + 0x5000, "flash")],
)
def test_a_program_that_does_not_fit_is_refused_with_its_sizes_and_others_run(
    built: None, tmp_path: Path, end: str, at: int, full: str
) -> None:
    """Uses the baseline with symbols that claim less memory for apps."""
    kernel, output = tmp_path / "small.elf", tmp_path / "small.json"
    arguments = ["--strip-symbol", end, "--add-symbol", f"{end}={at:#x},global"]
    whole = str(boards.load(boards.DEFAULT).kernels[2])
    subprocess.run([paths.OBJCOPY, *arguments, whole, str(kernel)], check=True)
    options = ("--only", "towers:beside=none,qsort:beside=none", "--lang", "c", "--icache", "off")
    done = run(*options, "--kernel", kernel, "-o", output)
    assert done.returncode == 0, done.stderr
    result = file.load(output)
    assert {row.id for row in result.rows} - HARNESS_ROWS == {"towers.solve"}
    (refused,) = result.skipped
    assert refused.id == "qsort.sort"
    assert refused.why is not None
    takes, left = map(int, re.findall(r"\d+", refused.why.replace(",", "")))
    assert refused.why.startswith(f"qsort does not fit in the {full} that the kernel leaves: ")
    assert takes > left
    if full == "RAM":  # minus the kernel's part of each process
        room = read_kernel(Path(whole)).room
        assert room
        start = -(-room.ram_start // RAM_ALIGN) * RAM_ALIGN
        assert left == at - start - GRANTS - RECORD
    screen = programs.screen([("small", result)])
    assert f"skipped qsort.sort: {refused.why}" in " ".join(screen.split())


def test_the_default_catalogue_has_no_program() -> None:
    usual = catalogue.load()
    assert not {boot.group for boot in usual.boots()} & {boot.group for boot in KNOWN.boots()}
    assert set(usual.benchmarks) & set(KNOWN.benchmarks) == HARNESS_ROWS


def test_the_answers_by_size_match_python() -> None:
    source = (FOLDER / "src" / "bin" / "length.rs").read_text(encoding="utf-8")
    text = zlib.decompress((FOLDER / "src" / "text.z").read_bytes())
    answers = {
        name: [
            (int(size), int(answer.replace("_", ""), 16))
            for size, answer in re.findall(r"\((\d+), 0x([0-9a-f_]+)\)", table)
        ]
        for name, table in re.findall(r"const (DIGESTS|TEXTS): .*? = \[(.*?)\];", source, re.S)
    }
    sizes = [int(size) for size in KNOWN.benchmarks["length.aes"].params["size"]]
    message = bytes(range(256)) * 16
    digests = [int(hashlib.sha256(message[:size]).hexdigest()[:16], 16) for size in sizes]
    assert answers["DIGESTS"] == [*zip(sizes, digests, strict=True)]
    assert answers["TEXTS"] == [(size, zlib.crc32(text[:size])) for size in sizes]


def test_every_program_runs_alone_and_with_an_alarm() -> None:
    sources = {
        "c": {path.stem for path in (FOLDER / "c").glob("*.c")} - {"ticker"} - OTHERS,
        "rust": {path.stem for path in (FOLDER / "src" / "bin").glob("*.rs")} - OTHERS,
    }
    groups: dict[str, set[str]] = {"c": set(), "rust": set()}
    langs: tuple[Lang, Lang] = ("c", "rust")
    for benchmark in KNOWN.benchmarks.values():
        if benchmark.id not in HARNESS_ROWS and benchmark.group not in OTHERS:
            for lang in langs:
                groups[lang] |= {benchmark.group} if benchmark.skipped_in(lang) is None else set()
            assert next(iter(benchmark.params)) == "beside"
    assert groups == sources
    slots = {boot.name: boot.slots for boot in KNOWN.boots()}
    for group in groups["c"] | groups["rust"]:
        assert slots[group] == (group,)
        assert slots[f"{group}-alarm"] == ("ticker", group)


def test_crates_are_pinned_and_listed_with_licence() -> None:
    manifest = tomllib.loads((FOLDER / "Cargo.toml").read_text(encoding="utf-8"))
    asked = manifest["dependencies"] | manifest["target"]["cfg(any())"]["dependencies"]
    crates = {name: crate["version"] for name, crate in asked.items() if "version" in crate}
    assert all(version.startswith("=") for version in crates.values())
    assert all(asked[name]["default-features"] is False for name in crates)
    listed = tomllib.loads((FOLDER.parent / "sources.toml").read_text(encoding="utf-8"))["source"]
    assert {
        source["name"]: f"={source['version']}" for source in listed if source["kind"] == "crate"
    } == crates
    assert all(source["licence"] for source in listed)
