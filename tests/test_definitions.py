# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Each benchmark has an entry in apps/catalogue.toml and a definition in apps/c and in
apps/rust.

apps/generate.py makes code from the entry, and the definitions use it. An entry without a
definition does not compile, nor does the reverse. The generator refuses an entry that breaks a
rule.

Needs the products of `make build`.
"""

import re
import shutil
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest
import scratch
from products import called

from tockmark.base import paths
from tockmark.suite import catalogue

ABIS = (1, 2)
KNOWN = catalogue.load()

# A small valid catalogue, with a benchmark in a boot of its own.
GOOD = """
budget = 2
sections = ["Loops", "Calls"]

[[benchmark]]
id = "loop.empty"
section = "Loops"
touches = "app"
params = { offset = [0, 2], to = ["near", "far"] }
samples = 32
inner = 1000
unit = "iteration"
bytes = "offset"
bodies = ["tm_loop_empty", "tm_loop_at_2"]
skip_v1 = "version 1 has no loops"
budget = 0.5
what = "a loop"
counts = "the loop"

[[boot]]
name = "loop-1"
group = "loop"
measures = ["loop.empty"]
slots = ["loop", "idle"]
scene = 3

[[boot]]
name = "loop-2"
group = "loop"
measures = ["loop.empty"]
slots = ["loop", "idle", "idle"]
scene = 4
slice_us = 0
panics = "never"
"""
ENTRY = GOOD[GOOD.index("[[benchmark]]") : GOOD.index("[[boot]]")]


def generated(folder: Path, text: str, *assembly: str) -> subprocess.CompletedProcess[str]:
    """Run the generator on a catalogue with this text; its output goes to rows.h."""
    (folder / "catalogue.toml").write_text(text)
    generator = str(paths.ROOT / "apps" / "generate.py")
    command = [sys.executable, generator, "catalogue.toml", "rows.h", *assembly]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)


@pytest.mark.parametrize("abi", ABIS)
def test_each_benchmark_is_defined_once(abi: int) -> None:
    """Count the definitions in the objects of the apps."""
    folder = paths.APPS / f"c-abi{abi}"
    objects = [*folder.glob("*.o"), *(folder / "runtime").glob("*.o")]
    command = ["riscv64-unknown-elf-nm", *map(str, objects)]
    symbols = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    defined = Counter(re.findall(r" [rR] tm_bench_(\w+)$", symbols, re.M))
    assert defined == {id_.replace(".", "_"): 1 for id_ in KNOWN.benchmarks}


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("TM_BENCH(loop_taken, .body = tm_loop_taken, .setup = setup);\n", "", "tm_bench_loop_tak"),
        ("TM_BENCH(loop_taken", "TM_BENCH(loop_empty", "'tm_bench_loop_empty'"),
        ("TM_BENCH(loop_taken", "TM_BENCH(loop_token", "TM_ROW_loop_token"),
        ("TM_APP", "TM_BENCH(call_void, .expect = 0);\nTM_APP", "tm_bench_call_void"),
        (".body = tm_loop_taken", ".samples = 1", "initialized field overwritten"),
    ],
    ids=["missing", "twice", "unknown", "of another group", "repeated value"],
)
def test_a_definition_that_differs_from_the_catalogue_does_not_compile(
    tmp_path: Path, old: str, new: str, message: str
) -> None:
    shutil.copytree(paths.ROOT / "apps", tmp_path / "apps")
    source = tmp_path / "apps" / "c" / "loop.c"
    text = source.read_text()
    assert text.count(old) == 1
    source.write_text(text.replace(old, new))
    made = ("-s", "-f", "apps/build.mk", "ABI=2", "OUT=out", "out/loop.o")
    done = called(*made, cwd=tmp_path, LC_ALL="C")
    assert done.returncode != 0
    assert message in done.stderr


LOOP_TAKEN = "bench!(loop_taken, setup: |run| iterate(run, bodies::tm_loop_taken));\n"


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (LOOP_TAKEN, "", "`loop_taken`"),
        ("bench!(loop_taken", "bench!(loop_empty", "`loop_empty`"),
        ("bench!(loop_taken", "bench!(loop_token", "`loop_token`"),
        ("bench!(loop_taken, ", "bench!(loop_taken, samples: 1, ", "`samples`"),
    ],
    ids=["missing", "twice", "unknown", "repeated value"],
)
def test_a_rust_definition_that_differs_does_not_compile(
    old: str, new: str, message: str, copied: Path
) -> None:
    source = copied / "apps" / "rust" / "suite" / "src" / "bin" / "loop.rs"
    text = source.read_text()
    assert text.count(old) == 1
    source.write_text(text.replace(old, new))
    try:
        assert message in rustc(copied)
    finally:
        source.write_text(text)


def rustc(root: Path) -> str:
    """Return the errors of the compiler for the app loop."""
    command = ["cargo", "check", "--quiet", "--package", "tockmark-suite", "--bin", "loop"]
    command += ["--target", "riscv32imc-unknown-none-elf", "--target-dir", str(root / "target")]
    done = subprocess.run(command, cwd=root, capture_output=True, text=True, check=False)
    assert done.returncode != 0
    return done.stderr


@pytest.fixture(scope="module")
def copied(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("copied")
    scratch.copy_to(root)
    return root


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('sections = ["Loops", "Calls"]\n', "", "'sections'"),
        ("budget = 2\n", "budget = \n", "Invalid value"),
        ('section = "Loops"', 'section = "Lops"', "'Lops'"),
        ('what = "a loop"', "what = '''a\nloop'''", "'what'"),
        (ENTRY, ENTRY + ENTRY, "twice"),
        ('id = "loop.empty"', 'id = "loop"', "group.operation"),
        ("samples = 32", "sample = 32", "'sample'"),
        ("samples = 32", "samples = true", "'samples'"),
        ("inner = 1000", "inner = 0", "'inner'"),
        ('"app"', '"both"', "'touches'"),
        ("[0, 2]", '[0, "a"]', "'offset'"),
        ("[0, 2]", "[0, 2, 4]", "2 boots"),
        (' to = ["near", "far"]', " a = [1], b = [2]", "more than 2"),
        ('bytes = "offset"', 'bytes = "size"', "'bytes'"),
        ("has no loops", "has no „loops“", "'skip_v1'"),
        ("scene = 4", "scene = 3", "scene 3"),
        ('name = "loop-2"', f'name = "{"l" * 24}"', "23"),
        ('measures = ["loop.empty"]', 'measures = ["a.b"]', "a.b"),
    ],
)
def test_a_catalogue_that_breaks_a_rule_is_refused_in_one_line(
    tmp_path: Path, old: str, new: str, message: str
) -> None:
    assert old in GOOD
    done = generated(tmp_path, GOOD.replace(old, new, 1))
    assert done.returncode == 1
    assert done.stderr.startswith("catalogue.toml: ")
    assert message in done.stderr
    assert done.stderr.count("\n") == 1
    assert not (tmp_path / "rows.h").exists()


def test_boots_divide_the_rows() -> None:
    """Each row of the catalogue comes from one boot; rows of the harness come from every boot."""
    given = [(row[0], *row[1].items()) for b in KNOWN.boots() for row in KNOWN.measured_rows(b)]
    own = [id_ for id_ in KNOWN.benchmarks if id_ not in catalogue.HARNESS_ROWS]
    assert Counter(given) == Counter((id_, *params.items()) for id_, params in KNOWN.rows(own))
    boots = {boot.name: boot for boot in KNOWN.boots()}
    shared = [(id_, params) for id_, params in KNOWN.measured_rows(boots["by_processes-3"])]
    assert shared == [
        ("syscall.by_processes", {"processes": 3}),
        ("syscall.by_regions", {"regions": 0}),
    ]
    assert boots["syscall"].measures[0] == "syscall.command"


def test_the_page_has_exactly_the_benchmarks() -> None:
    text = (paths.ROOT / "docs" / "benchmarks.md").read_text()
    named = set(re.findall(rf"`((?:{'|'.join([*KNOWN.groups(), 'null'])})\.[a-z_]+)`", text))
    assert named == set(KNOWN.benchmarks)
