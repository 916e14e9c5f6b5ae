# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Profile a small synthetic run: trace lines become charges, stacks and a flame graph."""

import itertools
from pathlib import Path

import pytest

from tockmark.base.errors import TockmarkError
from tockmark.profile import file, sample
from tockmark.profile.sample import Sample, Sampler, Step, parse, phase_of
from tockmark.profile.symbols import Frame
from tockmark.result.provenance import Kernel
from tockmark.suite.catalogue import Lang
from tockmark.target.rv32 import MRET

SAMPLER = Sampler(0x1000, (0x1004, 0x1014))

# A run of tm_sample: mode, address, instruction, cycles, waits, effects. The body at 0x1100 loads
# and divides; the kernel at 0x2000 reads mcycle and returns.
RUN = (
    ("U", 0x1000, 0x7179, 2, "f1", ""),  # outside the sample
    ("U", 0x1004, 0x73, 1, "-", "trap"),
    ("M", 0x2000, 0x6F, 3, "f1o1", "handler"),
    ("M", 0x2080, 0xB0002573, 2, "f1", "x10={first:08x}"),  # the sample begins
    ("M", 0x2084, 0x8082, 1, "-", ""),  # a jump without a call before it
    ("M", 0x2088, 0x30200073, 2, "f1", ""),
    ("U", 0x1008, 0x8A2E, 3, "f1o1", "x20={first:08x}"),
    ("U", 0x100A, 0x480E7, 1, "-", "x1=0000100e"),  # calls the body
    ("U", 0x1100, 0x4501, 4, "f3", "x10=00000000"),
    ("U", 0x1102, 0x4108, 1, "-", "x10=00000001 00003000</4"),
    ("U", 0x1104, 0x2A50533, 40, "w3x36", "x10=00000001"),
    ("U", 0x1108, 0x8082, 1, "-", ""),
    ("U", 0x100E, 0x4501, 2, "f1", "x10=00000000"),
    ("U", 0x1014, 0x73, 1, "-", "trap"),
    ("M", 0x2000, 0x6F, 4, "f2o1", "handler"),
    ("M", 0x2080, 0xB0002573, 2, "f1", "x10={last:08x}"),  # the sample ends
    ("M", 0x2088, 0x30200073, 2, "f1", ""),
    ("U", 0x1018, 0x41458A33, 3, "f1o1", "x20={cycles:08x}"),
)
ENDS = list(itertools.accumulate(line[3] for line in RUN))
FIRST, LAST = 100 + ENDS[3], 100 + ENDS[15]
CYCLES = LAST - FIRST


def lines() -> list[str]:
    made = []
    for (mode, pc, insn, cycles, waits, effects), end in zip(RUN, ENDS, strict=True):
        now = 100 + end
        effects_text = effects.format(first=FIRST, last=LAST, cycles=CYCLES)
        made.append(
            f"{now - 1:10} {now:10} {mode} {pc:08x} {insn:8x} {cycles:3} {waits:8} {effects_text}"
        )
    return made


NAMES = {0x1000: "tm_sample", 0x1100: "body", 0x2000: "trap_vector", 0x2080: "read"}


def where(step: Step) -> tuple[Frame, ...]:
    start = max(address for address in NAMES if address <= step.pc)
    file = "/x/capsules/perf/src/lib.rs" if start == 0x2080 else ""
    return (Frame(NAMES[start], file),)


def owner(step: Step) -> int:
    return 0 if step.user else -1


@pytest.fixture
def run() -> Sample:
    return SAMPLER.sample(lines())


def test_sampler_windows_are_found() -> None:
    other = f"{1:10} {2:10} U 00001044     4501   1 -        x20=00000007"
    windows = list(SAMPLER.windows([other, *lines(), other, *lines(), *lines()[:5]]))
    assert windows == [lines(), lines()]
    assert parse(windows[0][-1]).value == CYCLES


def test_a_trace_with_inconsistent_cycles_is_refused() -> None:
    torn = lines()
    del torn[9]
    with pytest.raises(TockmarkError, match="does not add up"):
        SAMPLER.sample(torn)


def test_every_cycle_is_charged_to_its_cause(run: Sample) -> None:
    charges = {
        (step, cause): cycles
        for step, charged in enumerate(sample.attribute_cycles(run, where, owner), run.first + 1)
        for cause, cycles in charged.charges
    }
    assert sum(charges.values()) == CYCLES
    assert {key: n for key, n in charges.items() if key[1] != sample.EXECUTE} == {
        (4, "branch"): 1,  # the mret waits for this jump
        (5, "trap/CSR"): 2,  # flush and refill of this instruction
        (7, "branch"): 1,  # the minimum cost of the call,
        (8, "fetch"): 2,  # and two more to fetch the body
        (9, "load/store"): 3,  # the next instruction waits for it
        (10, "mul/div"): 36,
        (11, "branch"): 1,
        (14, "trap/CSR"): 2,  # flush and refill of the trap, charged to the handler
        (14, "fetch"): 1,
        (14, "branch"): 1,
    }


def test_contexts_follow_calls_and_traps(run: Sample) -> None:
    places = sample.find_contexts(run.steps, where, owner)
    assert [".".join(f.name for f in place.stack) for place in places[3:16]] == [
        *["tm_sample.read"] * 3,
        *["tm_sample"] * 2,
        *["tm_sample.body"] * 4,
        *["tm_sample"] * 2,
        "tm_sample.trap_vector",
        "tm_sample.read",
    ]
    made = kept(run)
    by_phase = {share.name: (share.cycles, share.in_body) for share in made.phases}
    assert by_phase == {"capsule": (6, 0), "app": (51, 46), "trap entry": (5, 0)}
    assert made.instructions == 11  # the ecall does not retire


def kept(run: Sample, lang: Lang = "c") -> file.StoredProfile:
    made = sample.attribute_cycles(run, where, owner)
    return file.stored_profile(
        made, "call.args", {"n": 3}, True, Kernel("made-up"), "a-board", lang
    )


def test_a_profile_file_round_trips(run: Sample, tmp_path: Path) -> None:
    path, made = tmp_path / "profile.json", kept(run)
    path.write_text(file.text(made), encoding="utf-8")
    assert file.load(path) == made
    assert (made.label, made.cycles, made.instructions) == ("call.args n=3", CYCLES, 11)
    assert sum(phase.causes.get("mul/div", 0) for phase in made.phases) == 36
    assert [(share.name, share.cycles, share.in_body) for share in made.phases] == [
        ("app", 51, 46),
        ("capsule", 6, 0),
        ("trap entry", 5, 0),
    ]
    rows = [line for line in path.read_text().splitlines() if line.startswith('{"name"')]
    assert len(rows) == len(made.phases) + len(made.functions)


@pytest.mark.parametrize(
    ("phase", "name", "file"),
    [
        ("PMP", "protect", "/k/kernel/src/arch/riscv/pmp.rs"),
        ("PMP", "configure_mpu", "/tock/arch/rv32i/src/epmp.rs"),
        ("scheduler", "schedule", "/k/kernel/src/kernel.rs"),
        ("scheduler", "next", "/tock/kernel/src/scheduler/cooperative.rs"),
        ("capsule", "command", "/tock/capsules/core/src/console.rs"),
        ("capsule", "command", "/k/kernel/src/drivers/console.rs"),
        ("trap entry", "_start_trap", ""),
        ("return", "restore", ""),
        ("kernel", "restore", "/tock/kernel/src/process.rs"),
        ("kernel", "system_call", "/k/kernel/src/syscall.rs"),
    ],
)
def test_phase_of_a_function(phase: str, name: str, file: str) -> None:
    assert phase_of((Frame("outer", "/k/outer.rs"), Frame(name, file)), False, ()) == phase
    assert phase_of((Frame(name, file),), True, ()) == "app"


def test_each_app_has_its_own_stack() -> None:
    """App 0 calls and traps, app 1 traps, and app 0 returns to its caller."""

    def step(user: bool, pc: int, insn: int, handler: bool = False) -> Step:
        return Step(0, user, pc, insn, 1, (), handler=handler)

    call, back = 0x480E7, 0x8082
    steps = [
        step(True, 0x1000, call),
        step(True, 0x1010, 0x73),
        step(False, 0x9000, MRET, handler=True),
        step(True, 0x2000, 0x73),
        step(False, 0x9000, MRET, handler=True),
        step(True, 0x1014, back),
        step(True, 0x1004, 0x1),
    ]
    names = {0x1000: "main", 0x1010: "ask", 0x1014: "ask", 0x1004: "main", 0x2000: "server"}
    made = sample.find_contexts(
        steps,
        lambda step: (Frame(names.get(step.pc, "kernel")),),
        lambda step: step.pc >> 12 if step.user else -1,
    )
    assert [[frame.name for frame in place.stack] for place in made] == [
        ["main"],
        ["main", "ask"],
        ["main", "ask", "kernel"],
        ["server"],
        ["server", "kernel"],
        ["main", "ask"],
        ["main"],
    ]
