# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The Callgrind file of a profile, read by a parser of our own that follows the specification, and
by callgrind_annotate: both agree with the profile.
"""

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
NAMES |= {"cob": "ob", "cfi": "fl", "cfn": "fn"}  # the list of names of each


@dataclass
class CallgrindCosts:
    """The costs in a file, by function, and by caller and callee."""

    heads: dict[str, str] = field(default_factory=dict)
    own: Counter[str] = field(default_factory=Counter)
    instructions: Counter[str] = field(default_factory=Counter)
    lines: Counter[tuple[str, int]] = field(default_factory=Counter)
    whole: Counter[tuple[str, str]] = field(default_factory=Counter)
    calls: Counter[tuple[str, str]] = field(default_factory=Counter)


def read(text: str) -> CallgrindCosts:
    """Parse a file; as its `events` line says, cycles come first."""
    result, names, now, called = CallgrindCosts(), dict[tuple[str, str], str](), dict[str, str](), 0
    for line in text.splitlines():
        if head := re.fullmatch(r"(\w+): (.*)", line):
            result.heads[head[1]] = head[2]
        elif name := re.fullmatch(r"(\w+)=(\(\d+\))(?: (.+))?", line):
            key, number = (NAMES[name[1]], name[2]), name[3]
            assert (key in names) is (number is None), "a name is written in full once"
            now[name[1] if name[1].startswith("c") else key[0]] = names.setdefault(key, number)
        elif call := re.fullmatch(r"calls=(\d+) (\d+)", line):
            called = int(call[1])
        elif cost := re.fullmatch(r"(\d+) (\d+) (\d+)", line):
            number, cycles, instructions = map(int, cost.groups())
            if called:
                result.calls[now["fn"], now["cfn"]] += called
                result.whole[now["fn"], now["cfn"]] += cycles
                called = 0
            else:
                result.own[now["fn"]] += cycles
                result.instructions[now["fn"]] += instructions
                result.lines[now["fl"], number] += cycles
        else:
            assert line in ("", "# callgrind format"), line
    return result


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, int], int]:
    """Return a file, and the cycles of each function that ran and of the sample, as printed by the
    tool."""
    make("profile")
    folder = tmp_path_factory.mktemp("callgrind")
    row = [TOCKMARK, "profile", "syscall.sbrk", "--icache", "off", "-o", str(folder)]
    file = folder / "sbrk.callgrind"
    counted = [*row, "--functions", "*", "--json", "--callgrind", str(file)]
    done = subprocess.run(counted, capture_output=True, text=True, check=True, cwd=paths.ROOT)
    document = json.loads(done.stdout)
    return (
        file,
        {function["path"]: function["cycles"] for function in document["functions"]},
        document["cycles"],
    )


def test_the_callgrind_file_has_the_cycles_of_every_function(
    written: tuple[Path, dict[str, int], int],
) -> None:
    file, functions, cycles = written
    costs = read(file.read_text())
    assert costs.heads["events"] == "Cycles Instructions"
    assert {name: n for name, n in functions.items() if n} == costs.own
    total = f"{cycles} {costs.instructions.total()}"
    assert (costs.heads["summary"], costs.heads["totals"]) == (total, total)
    assert sum(costs.own.values()) == cycles
    of_source = [n for (name, line), n in costs.lines.items() if name.endswith(".rs") and line]
    assert sum(of_source) > cycles / 3  # assembly and apps have no lines


def test_a_call_costs_as_much_as_its_callee(
    written: tuple[Path, dict[str, int], int],
) -> None:
    """Only for functions without recursion and with all callers in the file."""
    costs = read(written[0].read_text())
    called = Counter[str]()
    for (_, callee), cycles in costs.whole.items():
        called[callee] += cycles
    calling = Counter(costs.own)
    for (caller, _), cycles in costs.whole.items():
        calling[caller] += cycles
    roots = {name: calling[name] - called[name] for name in calling if calling[name] > called[name]}
    assert not [name for name in called if called[name] > calling[name]]
    assert roots.keys() >= {"tm_sample"}
    assert sum(roots.values()) == sum(costs.own.values())
    assert costs.calls["tm_sample", "tm_syscall_sbrk"] == 1


def test_profile_also_writes_a_callgrind_file(tmp_path: Path) -> None:
    file = tmp_path / "x.callgrind"
    command = [TOCKMARK, "profile", "syscall.command", "--icache", "off", "--json"]
    command += ["-o", str(tmp_path), "--callgrind", str(file)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    document, costs = json.loads(done.stdout), read(file.read_text())
    assert costs.own.total() == sum(
        sum(function["causes"].values()) for function in document["functions"]
    )
    assert costs.instructions.total() == sum(
        function["instructions"] for function in document["functions"]
    )
    own = {function["name"]: sum(function["causes"].values()) for function in document["functions"]}
    assert own["exception"] == costs.own["exception"] > 0


def test_callgrind_annotate_reads_the_file(written: tuple[Path, dict[str, int], int]) -> None:
    if ANNOTATE is None:
        why = "no callgrind_annotate here: run `make setup-browser`"
        if os.environ.get("TOCKMARK_BROWSER") == "required":
            pytest.fail(why)
        pytest.skip(why)
    file, functions, cycles = written
    command = [ANNOTATE, "--threshold=100", "--auto=no", "--show-percs=no", str(file)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stderr == ""
    printed = {
        line.split()[-1]: int(line.split()[0].replace(",", ""))
        for line in done.stdout.splitlines()
        if re.match(r"\s*[\d,]+ ", line)
    }
    assert printed.pop("TOTALS") == cycles
    annotated = Counter[str]()
    for line in done.stdout.splitlines():
        if named := re.match(r"\s*([\d,]+)\s+[\d,]+\s+(?:\S*?):(.+?)(?: \[.*\])?$", line):
            annotated[named[2]] += int(named[1].replace(",", ""))
    assert annotated == {name: n for name, n in functions.items() if n}
