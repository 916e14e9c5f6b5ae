# SPDX-License-Identifier: Apache-2.0 OR MIT
"""A trace of every instruction changes no count; `tockmark profile` adds up to what was measured.

Builds the products of `make profile`.
"""

import itertools
import json
import re
import subprocess
import sys
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest
from products import make

from tockmark.base import paths
from tockmark.profile.follow import KERNEL, CostSpread, Function, follow
from tockmark.profile.sample import Step, parse
from tockmark.profile.symbols import Program
from tockmark.result import file

TOCKMARK = str(Path(sys.executable).with_name("tockmark"))
SIMULATOR = paths.ROOT / "build" / "sim" / "cw310" / "earlgrey-sim"
CC = ["riscv64-unknown-elf-gcc", "-march=rv32imc_zicsr", "-mabi=ilp32", "-mno-relax"]
LINK = ["-nostdlib", "-nostartfiles", "-Wl,-Ttext=0x20000000,--omagic,--build-id=none"]

# Traps, divides, loads from flash and from a device, and ends through the mailbox.
PROGRAM = """
    .option norelax
    .globl _start
    .org 0x400
_start:
    la   t1, trap
    csrw mtvec, t1
    li   gp, 0x41140000
    li   tp, 0x41150000
    li   s0, 5
1:  csrr a0, mcycle
    div  a2, a0, s0
    lw   a3, 0(t1)
    lw   a3, 0(tp)
    ecall
    csrr a1, mcycle
    sub  a1, a1, a0
    sw   a1, 0(gp)
    addi s0, s0, -1
    bnez s0, 1b
    sw   zero, 4(gp)
2:  j    2b
    .balign 256
trap:
    csrr t0, mepc
    addi t0, t0, 4
    csrw mepc, t0
    mret
"""
# fib is recursive: 41 calls, 21 of them for a number below 2. `last` ends with a jump.
RECURSIVE = """
    .option norelax
    .globl _start
    .org 0x400
_start:
    li   sp, 0x10001000
    li   a0, 7
    jal  fib
    jal  last
    .rept 8  # the trace lacks the last instructions of a run
    nop
    .endr
    sw   zero, 4(gp)
2:  j    2b
fib:
    sltiu t0, a0, 2
    bnez t0, 1f
    addi sp, sp, -16
    sw   ra, 0(sp)
    sw   a0, 4(sp)
    addi a0, a0, -1
    jal  fib
    sw   a0, 8(sp)
    lw   a0, 4(sp)
    addi a0, a0, -2
    jal  fib
    lw   t0, 8(sp)
    add  a0, a0, t0
    lw   ra, 0(sp)
    addi sp, sp, 16
1:  ret
last:
    li   gp, 0x41140000
    j    leaf
leaf:
    addi a0, a0, 1
    ret
"""
# 100 cache lines, four times.
LONG_LOOP = """
    .globl _start
    .org 0x400
_start:
    li   gp, 0x41140000
    li   s0, 4
1:  .rept 400
    c.nop
    .endr
    addi s0, s0, -1
    bnez s0, 1b
    sw   zero, 4(gp)
2:  j    2b
"""


@pytest.fixture(scope="session", autouse=True)
def built() -> None:
    make("profile")


def program(folder: Path, text: str) -> str:
    source = folder / "program.S"
    source.write_text(text)
    elf = str(folder / "program.elf")
    subprocess.run([*CC, *LINK, "-o", elf, str(source)], check=True, capture_output=True)
    return elf


def functions(elf: str, file: Path) -> tuple[dict[str, Function], list[Step]]:
    """Return the calls in a program's run, and its trace."""
    simulate("--elf", elf, "--itrace", str(file))
    steps, code = trace(file), Program(Path(elf))
    code.look_up(step.pc for step in steps)
    return follow(steps, lambda step: (KERNEL, code)), steps


def test_calls_match_those_of_the_program(tmp_path: Path) -> None:
    calls, steps = functions(program(tmp_path, RECURSIVE), tmp_path / "trace")
    fib, last, leaf = calls["fib"], calls["last"], calls["leaf"]
    assert (fib.calls, last.calls, leaf.calls) == (41, 1, 1)
    assert fib.counts["own_instructions"] == {3: 21, 16: 20}
    assert fib.spreads["whole_instructions"] == CostSpread(3, 3, 21 * 3 + 20 * 16)
    assert (last.counts["own_instructions"], last.counts["whole_instructions"]) == ({2: 1}, {4: 1})
    assert sum(function.cycles for function in calls.values()) == sum(step.cycles for step in steps)


def simulate(*options: str, code: int = 0) -> tuple[str, str]:
    """Return the output of a run and its messages, without the time it took."""
    command = [str(SIMULATOR), *options, "--mailbox", "0x41140000"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == code, done.stderr
    return done.stdout, re.sub(r" wall=\S+", "", done.stderr)


def trace(path: Path) -> list[Step]:
    return [parse(line) for line in path.read_text().splitlines()[1:]]


@pytest.mark.parametrize("icache", ["on", "off"])
def test_a_trace_changes_no_count(tmp_path: Path, icache: str) -> None:
    elf = program(tmp_path, PROGRAM)
    run = ("--elf", elf, "--icache", icache)
    file = tmp_path / "trace"
    assert simulate(*run, "--itrace", str(file)) == simulate(*run)
    steps = trace(file)
    reads = [step for step in steps if step.reads_mcycle()]
    assert len(reads) == 10
    assert [step.value for step in reads] == [step.mcycle for step in reads]
    for before, step in itertools.pairwise(steps):
        assert step.mcycle - before.mcycle == step.cycles == 1 + sum(n for _, n in step.waits)


def test_the_cache_fills_each_line_once(tmp_path: Path) -> None:
    """With the cache off, it fills none."""
    elf, file = program(tmp_path, LONG_LOOP), tmp_path / "trace"
    fills = {}
    for icache in ("on", "off"):
        simulate("--elf", elf, "--icache", icache, "--itrace", str(file))
        passes, left = [0], 4
        for step in trace(file):
            passes[-1] += step.fills
            if step.rd == 8 and step.value == left - 1:
                left = step.value
                passes.append(0)
        fills[icache] = passes
    assert fills["off"] == [0] * 5
    assert 100 <= sum(fills["on"][:3]) < 150  # prefetching also fills lines beyond the end
    assert fills["on"][3] == 0


def test_a_profile_adds_up_to_the_sample_of_the_unprofiled_run(tmp_path: Path) -> None:
    def tockmark(*arguments: str) -> str:
        command = [TOCKMARK, *arguments]
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout

    result = tmp_path / "result.json"
    # With the cache on, earlier code may leave the cache in another state permanently.
    tockmark("run", "--only", "syscall", "--icache", "off", "-o", str(result))
    (row,) = (row for row in file.load(result).rows if row.id == "syscall.command")
    assert row.cycles is not None
    assert row.instret is not None
    sample = row.cycles.median

    output = tockmark("profile", "syscall.command", "--icache", "off", "-o", str(tmp_path))
    sums = [line.split()[:3] for line in output.splitlines() if line.endswith("  sum")]
    assert sums == [[str(sample), "100.0", str(row.instret.median)]] * 2
    assert (tmp_path / "profile.txt").read_text().strip() in output

    folded = (tmp_path / "stacks.folded").read_text().splitlines()
    assert sum(int(line.rsplit(" ", 1)[1]) for line in folded) == sample
    assert any("exception;on_system_call" in line for line in folded)
    listed = (tmp_path / "sample.txt").read_text().splitlines()[1:]
    assert sum(int(line.split()[0]) for line in listed) == sample

    picture = ET.parse(tmp_path / "flame.svg").getroot()
    assert picture.tag == "{http://www.w3.org/2000/svg}svg"


def test_the_committed_flame_graph_is_reproduced(tmp_path: Path) -> None:
    """The file is equal byte for byte."""
    command = [TOCKMARK, "profile", "syscall.command", "-o", str(tmp_path)]
    subprocess.run(command, capture_output=True, check=True, cwd=paths.ROOT)
    committed = paths.ROOT / "docs" / "profile-syscall.command.svg"
    assert (tmp_path / "flame.svg").read_bytes() == committed.read_bytes()


def test_functions_are_counted_in_a_sample_and_in_a_run(tmp_path: Path) -> None:
    """The body's command enters the kernel once; the run starts the kernel once."""

    def functions_json(*arguments: str) -> tuple[dict[str, object], dict[str, dict[str, object]]]:
        command = [TOCKMARK, "profile", "syscall.command", *arguments, "--functions", "--json"]
        command += ["--icache", "off", "-o", str(tmp_path)]
        done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=paths.ROOT)
        document = json.loads(done.stdout)
        return document, {function["path"]: function for function in document["functions"]}

    sample, of_sample = functions_json("trap_vector", "tm_syscall_command", "tm_sample")
    assert [of_sample[name]["calls"] for name in ("trap_vector", "tm_syscall_command")] == [1, 1]
    assert of_sample["trap_vector"]["cut"] == 1  # of the counter read that ends the sample
    body = of_sample["tm_syscall_command"]["own_instructions"]
    assert body == {"least": 7, "median": 7, "most": 7}

    run, of_run = functions_json("--whole", "trap_vector", "tm_syscall_command", "_start")
    assert run["of"] == "run"
    assert int(str(run["cycles"])) > 100 * int(str(sample["cycles"]))
    assert of_run["tm_syscall_command"]["own_instructions"] == body
    # Each sample has a call of the body, and counter reads, which are also system calls.
    calls = int(str(of_run["tm_syscall_command"]["calls"]))
    assert calls > 1
    assert int(str(of_run["trap_vector"]["calls"])) > 3 * calls
    assert (of_run["_start"]["calls"], of_run["_start"]["cut"]) == (
        0,
        2,
    )  # one each of kernel and app
