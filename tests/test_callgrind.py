# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The Callgrind file of a profile, read back by a reader of our own, which follows the format's
page only, and by callgrind_annotate: both find what the profile says."""

import json
import os
import re
import shutil
import subprocess
import sys
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from products import make

from tockmark.base import paths

TOCKMARK = str(Path(sys.executable).with_name("tockmark"))
ANNOTATE = shutil.which("callgrind_annotate")
NAMES = {"ob": "ob", "fl": "fl", "fi": "fl", "fe": "fl", "fn": "fn"}
NAMES |= {"cob": "ob", "cfi": "fl", "cfn": "fn"}  # of which list of names each is


@dataclass
class Read:
    """What a file says: by the names of functions, and of those who call with those called."""

    heads: dict[str, str] = field(default_factory=dict)
    own: Counter[str] = field(default_factory=Counter)
    instructions: Counter[str] = field(default_factory=Counter)
    lines: Counter[tuple[str, int]] = field(default_factory=Counter)
    whole: Counter[tuple[str, str]] = field(default_factory=Counter)
    calls: Counter[tuple[str, str]] = field(default_factory=Counter)


def read(text: str) -> Read:
    """Cycles stand first, as the line of the events says."""
    found, known, now, called = Read(), dict[tuple[str, str], str](), dict[str, str](), 0
    for line in text.splitlines():
        if head := re.fullmatch(r"(\w+): (.*)", line):
            found.heads[head[1]] = head[2]
        elif name := re.fullmatch(r"(\w+)=(\(\d+\))(?: (.+))?", line):
            key, number = (NAMES[name[1]], name[2]), name[3]
            assert (key in known) is (number is None), "a name is said in full once"
            now[name[1] if name[1].startswith("c") else key[0]] = known.setdefault(key, number)
        elif call := re.fullmatch(r"calls=(\d+) (\d+)", line):
            called = int(call[1])
        elif cost := re.fullmatch(r"(\d+) (\d+) (\d+)", line):
            number, cycles, instructions = map(int, cost.groups())
            if called:
                found.calls[now["fn"], now["cfn"]] += called
                found.whole[now["fn"], now["cfn"]] += cycles
                called = 0
            else:
                found.own[now["fn"]] += cycles
                found.instructions[now["fn"]] += instructions
                found.lines[now["fl"], number] += cycles
        else:
            assert line in ("", "# callgrind format"), line
    return found


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, int], int]:
    """A file; and the cycles of each function that ran, and of the sample, as the tool prints."""
    make("profile")
    folder = tmp_path_factory.mktemp("callgrind")
    row = [TOCKMARK, "profile", "syscall.sbrk", "--icache", "off", "-o", str(folder)]
    file = folder / "sbrk.callgrind"
    counted = [*row, "--functions", "*", "--json", "--callgrind", str(file)]
    done = subprocess.run(counted, capture_output=True, text=True, check=True, cwd=paths.ROOT)
    told = json.loads(done.stdout)
    return file, {one["path"]: one["cycles"] for one in told["functions"]}, told["cycles"]


def test_every_function_has_its_cycles(written: tuple[Path, dict[str, int], int]) -> None:
    file, functions, cycles = written
    found = read(file.read_text())
    assert found.heads["events"] == "Cycles Instructions"
    assert {name: n for name, n in functions.items() if n} == found.own
    total = f"{cycles} {found.instructions.total()}"
    assert (found.heads["summary"], found.heads["totals"]) == (total, total)
    assert sum(found.own.values()) == cycles
    of_source = [n for (name, line), n in found.lines.items() if name.endswith(".rs") and line]
    assert sum(of_source) > cycles / 3  # assembly and apps have no lines


def test_a_call_costs_what_the_callee_did(written: tuple[Path, dict[str, int], int]) -> None:
    """Whoever is called, and by nobody but those in the file, costs its callers all that it and its
    callees cost: what is called here calls nobody back."""
    found = read(written[0].read_text())
    called = Counter[str]()
    for (_, callee), cycles in found.whole.items():
        called[callee] += cycles
    calling = Counter(found.own)
    for (caller, _), cycles in found.whole.items():
        calling[caller] += cycles
    roots = {name: calling[name] - called[name] for name in calling if calling[name] > called[name]}
    assert not [name for name in called if called[name] > calling[name]]
    assert roots.keys() >= {"tm_sample"}
    assert sum(roots.values()) == sum(found.own.values())
    assert found.calls["tm_sample", "tm_syscall_sbrk"] == 1


def test_the_profile_writes_it_beside_its_tables(tmp_path: Path) -> None:
    file = tmp_path / "x.callgrind"
    command = [TOCKMARK, "profile", "syscall.command", "--icache", "off", "--json"]
    command += ["-o", str(tmp_path), "--callgrind", str(file)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    told, found = json.loads(done.stdout), read(file.read_text())
    assert found.own.total() == sum(sum(one["causes"].values()) for one in told["functions"])
    assert found.instructions.total() == sum(one["instructions"] for one in told["functions"])
    own = {one["name"]: sum(one["causes"].values()) for one in told["functions"]}
    assert own["exception"] == found.own["exception"] > 0


def test_callgrind_annotate_reads_it(written: tuple[Path, dict[str, int], int]) -> None:
    if ANNOTATE is None:
        why = "no callgrind_annotate here: run `make setup-browser`"
        if os.environ.get("TOCKMARK_BROWSER") == "required":
            pytest.fail(why)
        pytest.skip(why)
    file, functions, cycles = written
    command = [ANNOTATE, "--threshold=100", "--auto=no", "--show-percs=no", str(file)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stderr == ""
    said = {
        line.split()[-1]: int(line.split()[0].replace(",", ""))
        for line in done.stdout.splitlines()
        if re.match(r"\s*[\d,]+ ", line)
    }
    assert said.pop("TOTALS") == cycles
    found = Counter[str]()
    for line in done.stdout.splitlines():
        if named := re.match(r"\s*([\d,]+)\s+[\d,]+\s+(?:\S*?):(.+?)(?: \[.*\])?$", line):
            found[named[2]] += int(named[1].replace(",", ""))
    assert found == {name: n for name, n in functions.items() if n}
