# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Calls in a trace begin and end where control flow does, and no cycle is lost."""

import random
from collections.abc import Iterable

import pytest

from tockmark.profile.follow import KERNEL, Call, Function, Graph, follow
from tockmark.profile.sample import Step
from tockmark.profile.symbols import Frame, Program, Scope
from tockmark.target.rv32 import ECALL, MRET, decode

JAL, J, NOP, BEQ = 0xEF, 0x6F, 0x13, 0x63  # jumps to the next step
RET, JR, JALR = 0x8082, 0x8782, 0x780E7  # to ra; to a5, by c.jr and by jalr
F, G, H, K, APP, TRAP = range(0x1000, 0x7000, 0x1000)  # starts of functions
STARTS = {F: "f", G: "g", H: "h", K: "k", APP: "app", TRAP: "trap"}


class FakeProgram(Program):
    """A program with known function starts. `inner` has the inlined functions at an address: names
    and call sites, outermost first."""

    def __init__(self, inner: dict[int, tuple[tuple[str, int], ...]] | None = None) -> None:
        self._inner = inner or {}

    def start_of(self, address: int) -> int:
        return max(start for start in STARTS if start <= address)

    def scopes(self, address: int) -> tuple[Scope, ...]:
        start = self.start_of(address)
        own = Scope(Frame(STARTS[start]), STARTS[start], start)
        inside = self._inner.get(address, ())
        return (own, *(Scope(Frame(name), name, place) for name, place in inside))


def at(pc: int, insn: int = NOP, user: bool = False, **flags: bool) -> Step:
    return Step(0, user, pc, insn, 1, (), **flags)


def count_calls(steps: Iterable[Step], code: Program | None = None) -> dict[str, Function]:
    program = code or FakeProgram()
    return follow(steps, lambda step: (0 if step.user else KERNEL, program))


def calls_and_costs(
    functions: dict[str, Function],
) -> dict[str, tuple[int, int, dict[int, int], dict[int, int]]]:
    """Return per function: calls, cut calls, and the number of calls by exclusive and by inclusive
    cycles."""
    return {
        name: (
            function.calls,
            function.cut,
            dict(function.counts["own_cycles"]),
            dict(function.counts["whole_cycles"]),
        )
        for name, function in functions.items()
    }


def test_calls_are_counted_with_inclusive_costs() -> None:
    """An inlined function counts as a callee, and as the caller of the functions that it calls."""
    code, graph = FakeProgram({G: (("in", 1),), G + 4: (("in", 1),)}), Graph()
    steps = [at(F, JAL), at(G, JAL), at(H, RET), at(G + 4), at(G + 8, RET), at(F + 4, JAL)]
    steps += [at(H), at(H + 4)]  # the end cuts this call
    follow(steps, lambda _: (KERNEL, code), graph)
    calls = {
        (edge[0][1], edge[2][1]): (calls, graph.whole[edge].cycles)
        for edge, calls in graph.calls.items()
    }
    assert calls == {
        ("f", "g"): (1, 4),
        ("g", "in"): (1, 3),
        ("in", "h"): (1, 1),
        ("f", "h"): (1, 2),
    }
    own = {path: sum(cost.cycles for cost in of.values()) for (_, path), of in graph.own.items()}
    assert own == {"f": 2, "g": 1, "in": 2, "h": 3}


@pytest.mark.parametrize("jump", [J, BEQ, JR])
def test_a_tail_call_is_a_call_and_ends_with_its_caller(jump: int) -> None:
    steps = [at(F, JAL), at(G), at(G + 4, jump), at(H), at(H + 4, RET), at(F + 4)]
    costs = calls_and_costs(count_calls(steps))
    assert costs["g"] == (1, 0, {2: 1}, {4: 1})
    assert costs["h"] == (1, 0, {2: 1}, {2: 1})


def test_falling_through_to_the_next_function_is_a_call() -> None:
    steps = [at(F, JAL), at(H - 4), at(H), at(H + 4, RET), at(F + 4)]
    assert calls_and_costs(count_calls(steps))["h"] == (1, 0, {2: 1}, {2: 1})


@pytest.mark.parametrize("last", [NOP, JAL, RET])
def test_an_interrupt_is_not_charged_to_the_interrupted_function(last: int) -> None:
    """The same holds between a call or a return and the next instruction."""
    trap = [at(TRAP, JAL, handler=True), at(K, RET), at(TRAP + 4, MRET)]
    steps = {
        NOP: [at(F, JAL), at(G), *trap, at(G + 4, RET), at(F + 4)],
        JAL: [at(F, JAL), *trap, at(G), at(G + 4, RET), at(F + 4)],
        RET: [at(F, JAL), at(G), at(G + 4, RET), *trap, at(F + 4)],
    }[last]
    costs = calls_and_costs(count_calls(steps))
    assert costs["g"] == (1, 0, {2: 1}, {2: 1})
    assert costs["k"] == (1, 0, {1: 1}, {1: 1})
    assert costs["trap"] == (1, 0, {2: 1}, {3: 1})


def test_a_system_call_is_charged_to_the_kernel_and_an_upcall_is_a_call() -> None:
    call = at(G, ECALL, user=True, trap=True)
    kernel = [at(TRAP, JAL, handler=True), at(K, RET), at(TRAP + 4, MRET)]
    steps = [
        *[at(F, JAL, user=True), call, *kernel, at(G + 4, RET, user=True)],
        *[at(F + 4, JAL, user=True), call, *kernel, at(H, RET, user=True)],
        *[at(G + 4, RET, user=True), at(F + 8, user=True)],
    ]
    assert calls_and_costs(count_calls(steps)) == {
        "k": (2, 0, {1: 2}, {1: 2}),
        "trap": (2, 0, {2: 2}, {3: 2}),
        "g": (2, 0, {2: 2}, {2: 1, 3: 1}),
        "h": (1, 0, {1: 1}, {1: 1}),
        "f": (0, 1, {}, {}),
    }


@pytest.mark.parametrize("back", [MRET, JR])
def test_a_kernel_that_runs_the_app_from_a_function(back: int) -> None:
    """As in Tock, where the handler continues in the function that started the app."""
    handler = [at(TRAP, handler=True), at(TRAP + 4, back)]
    steps = [
        *[at(F, JAL), at(G, MRET), at(APP, user=True), at(APP + 4, ECALL, user=True, trap=True)],
        *[*handler, at(G + 4, MRET), at(APP + 8, ECALL, user=True, trap=True)],
        *[*handler, at(G + 8, JAL), at(H, RET), at(G + 12, RET), at(F + 4)],
    ]
    costs = calls_and_costs(count_calls(steps))
    assert costs["g"] == (1, 0, {4: 1}, {5: 1})
    assert costs["trap"] == (2, 0, {2: 2}, {2: 2})
    assert costs["h"] == (1, 0, {1: 1}, {1: 1})


def test_calls_that_began_before_the_trace_are_cut() -> None:
    steps = [at(H + 4, RET), at(G + 8, JAL), at(K, RET), at(G + 12, RET), at(F + 4, JAL), at(G)]
    assert calls_and_costs(count_calls(steps)) == {
        "h": (0, 1, {}, {}),
        "k": (1, 0, {1: 1}, {1: 1}),
        "g": (0, 2, {}, {}),
        "f": (0, 1, {}, {}),
    }


# o is inlined in f, and i in o. One instruction of f is between two instructions of o.
OUTER, INNER = ("o", 1), ("i", 2)
INSIDE = FakeProgram({0x1004: (OUTER,), 0x1008: (OUTER, INNER), 0x1010: (OUTER,)})


def test_no_cycle_is_lost_in_random_traces() -> None:
    """Impossible steps do not crash the analysis."""
    for seed in range(200):
        rng = random.Random(seed)
        insns = (JAL, J, NOP, BEQ, RET, JR, JALR, MRET, ECALL)
        steps = [
            at(
                rng.choice([*STARTS]) + rng.choice([0, 4, 8, 12, 16]),
                rng.choice(insns),
                rng.random() < 0.3,
                trap=rng.random() < 0.1,
                handler=rng.random() < 0.1,
            )
            for _ in range(rng.randrange(200))
        ]
        functions = count_calls(steps, INSIDE)
        assert sum(function.cycles for function in functions.values()) == len(steps), f"seed {seed}"


@pytest.mark.parametrize(
    ("insn", "does"),
    [
        (0x0000_00EF, "calls"),  # jal ra
        (0x0000_02EF, "calls"),  # jal t0, as outlined code is called
        (0x0007_80E7, "calls"),  # jalr ra, a5
        (0x2001, "calls"),  # c.jal
        (0x9782, "calls"),  # c.jalr a5
        (0x8082, "returns"),  # ret
        (0x8282, "returns"),  # c.jr t0
        (0x0000_8067, "returns"),  # jalr zero, ra
        (0x0000_006F, None),  # j
        (0xA001, None),  # c.j
        (0x9002, None),  # c.ebreak
        (0x852E, None),  # c.mv
        (0x0000_0073, None),  # ecall
    ],
)
def test_calls_and_returns_are_recognised(insn: int, does: str | None) -> None:
    jump = decode(insn)
    assert (jump.calls, jump.jumps_by_register) == (does == "calls", does == "returns")


def call(path: str, cycles: int, file: str = "") -> Call:
    made = Call(Scope(Frame(path, file), path, 0), FakeProgram(), cut=False)
    made.own.cycles = made.whole.cycles = cycles
    return made
