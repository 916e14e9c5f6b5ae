# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Bounds what the baseline kernel does with interrupts off, from its machine code: in instructions,
and in cycles with the instruction cache off.

tockmark_lab.paths says which ways the code can go; kernel/bounds.toml says how often its loops
run. From both comes a linear program, how often each block can run at most (implicit path
enumeration), whose greatest weight is the bound. kernel/README.md has what it assumes.
"""

import ast
import operator
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
from scipy.optimize import linprog
from scipy.sparse import csr_array

from tockmark import paths as places
from tockmark.errors import TockmarkError
from tockmark.profile.symbols import Program
from tockmark.rig.elf import read_elf
from tockmark_lab.paths import (
    NAMES,
    NUMBER,
    STORES,
    WORD,
    Block,
    Insn,
    Loop,
    State,
    Values,
    Walked,
    Walker,
)

NOTES = places.ROOT / "kernel" / "bounds.toml"
SOURCE = places.ROOT / "kernel" / "src"
CRATE = "tockmark_kernel::"
PATCHED = ("TOCKMARK_SLICE_US", "TOCKMARK_FAULT_RESTARTS")  # words of the image that tools set
START, FAULT, PANIC = "start", "fault", "panic"
SWITCH, AFTER_SLEEP = "switch to another process", "after sleep"
OTHERS = "other classes"
INTERRUPTS = {  # by whether the timer or the UART is served
    (False, False): "interrupt, nothing is there",
    (True, False): "timer interrupt",
    (False, True): "UART interrupt",
}
LOOP, INLINED = "loop ", "in "  # what names in facts begin with that are no functions' symbols
SCHEDULE = "kernel::Kernel::schedule"
TIMER, UART = "alarm::expire", "plic::claim"  # what is run for each interrupt alone
MOST_CYCLES = 10_000  # of a stretch that has no bound of its own

# The dearest that each kind of instruction was found by, cache off, on the CW310.
FETCH = 2  # a word of flash, in sequence
TIMER_LINE, EXTERNAL_LINE = 7, 11  # of the vector
TRAP = 22  # from the last instruction before it to the vector's first
JUMP = 10  # until the first instruction at a new place is there
ACROSS = 2  # more, if that one lies in two words
RAM_READ, RAM_WRITE, PART_WRITE, FLASH_READ, REGISTER, PERIPHERAL = 4, 3, 5, 8, 7, 22
ARGUMENTS = ("a0", "a1", "a2", "a3")
DEAR = {"csr": 4, "mret": 4, **dict.fromkeys(("mul", "mulh", "mulhu", "mulhsu"), 3)}
DEAR |= dict.fromkeys(("div", "divu", "rem", "remu"), 38)
FLASH, DEVICES, PERIPHERALS = 0x2000_0000, 0x4000_0000, 0x4020_0000


class LoopNote(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """How often the header of a loop runs each time that the loop is entered."""

    at: str  # a function that the loop is written in; the innermost that is named counts
    most: str
    within: str = ""  # only in this compiled function
    why: str = ""

    @property
    def name(self) -> str:
        """Return what facts call it."""
        return f"{LOOP}{self.at}"


class Pointer(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """What is called by a pointer that was loaded from so far behind another one."""

    offset: int
    levels: list[list[str]]
    within: str = ""


class Fact(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """How often functions, code at labels, or headers of loops run in all of a stretch."""

    runs: list[str]
    most: str
    why: str
    per: list[str] = []  # each time that one of these runs
    but: list[str] = []  # kinds of stretches in which it need not be so
    only: list[str] = []  # those in which it is so; none: all

    @property
    def name(self) -> str:
        """Return what it says."""
        return " or ".join(self.runs) + (f" for each {' or '.join(self.per)}" if self.per else "")


class Notes(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """All of kernel/bounds.toml."""

    constants: list[str]
    deepening: str
    panics: list[str]
    flash: frozenset[str]  # functions that read flash by addresses that are not known
    others: dict[str, list[str]]  # functions that a kind of system call does not come to
    own: dict[str, str]  # kinds of stretches whose bounds are over MOST_CYCLES, and why
    explained: dict[str, str]  # kinds whose bounds are over twice what was found, and why
    pointer: list[Pointer]
    loop: list[LoopNote]
    fact: list[Fact] = []


@dataclass(frozen=True)
class Root:
    """A kind of stretch: where it begins, what is known then, and what it does not run.

    `starts` are entered one after the other; of several in a group, one."""

    name: str
    starts: tuple[tuple[int, ...], ...]
    known: tuple[tuple[str, int], ...] = ()
    avoids: tuple[str, ...] = ()  # functions, wherever the compiler has put them


@dataclass(frozen=True)
class PathBound:
    """The most that a stretch can take."""

    instructions: int
    cycles: int


def load_notes(path: Path = NOTES) -> Notes:
    """Return what is written down about the kernel's loops."""
    try:
        return msgspec.toml.decode(path.read_bytes(), type=Notes)
    except (OSError, msgspec.MsgspecError) as error:
        raise TockmarkError(f"{places.shown(path)}: {error}", "take it from git again") from error


_CONSTANT = re.compile(r"\bconst (\w+): \w+ = ([^;]+);")
# Bounds are of the kernel as it is built by default: without a feature that a constant depends on.
_FEATURE = re.compile(r'if cfg!\(feature = "[\w-]+"\) \{[^}]*\} else \{([^}]*)\}')
_OPERATORS = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.floordiv,
    ast.LShift: operator.lshift,
}


class Constants:
    """The numbers that the kernel's source and symbols give names to, and arithmetic with them."""

    def __init__(self, files: Iterable[Path], symbols: Mapping[str, int]) -> None:
        self._known: dict[str, str | int] = dict(symbols)
        for file in files:
            for name, text in _CONSTANT.findall(file.read_text(encoding="utf-8")):
                self._known[name] = text

    def value(self, text: str, told: Mapping[str, int] | None = None) -> int:
        """Return what an expression comes to. TockmarkError if it is none."""
        plain = re.sub(r"\b\w+::| as \w+", "", _FEATURE.sub(r"\1", text)).strip()
        try:
            return self._value(ast.parse(plain, mode="eval").body, told or {})
        except (SyntaxError, KeyError, RecursionError) as error:
            raise TockmarkError(
                f"kernel/bounds.toml: `{text}` is no number that the kernel has",
                "name constants of its source that are there",
            ) from error

    def _value(self, node: ast.expr, told: Mapping[str, int]) -> int:
        if isinstance(node, ast.Constant) and isinstance(node.value, int):
            return node.value
        if isinstance(node, ast.Name):
            known = told[node.id] if node.id in told else self._known[node.id]
            return known if isinstance(known, int) else self.value(known)
        if isinstance(node, ast.BinOp):
            sides = self._value(node.left, told), self._value(node.right, told)
            return int(_OPERATORS[type(node.op)](*sides))
        raise KeyError(ast.dump(node))


class BoundedKernel:
    """A kernel's machine code with what is noted about it."""

    def __init__(self, program: Program, abi: int, source: Path = SOURCE) -> None:
        self.program = program
        self.abi = abi
        self.notes = load_notes()
        pointers = [(p.within, p.offset, p.levels) for p in self.notes.pointer]
        named = read_elf(program.path).addresses
        self.constants = Constants((source / name for name in self.notes.constants), named)
        patched = [named[name] for name in PATCHED]
        self.walker = Walker(program, pointers, self.notes.deepening, patched, CRATE)
        self.program.study(self.walker.code)
        self._scopes: dict[int, list[str]] = {}
        self._places: dict[str, set[int]] = {}  # of inlined functions
        self._begun: dict[tuple[str, Walked], set[int]] = {}  # the blocks that those begin with
        if not program.lines:
            raise TockmarkError(
                f"{program.path.name} has no line tables", places.by_make("profile")
            )

    def scopes(self, pc: int) -> list[str]:
        """Return the functions that code at an address was written in, the innermost first."""
        if pc not in self._scopes:
            paths = [scope.path for scope in self.program.scopes(pc)][::-1]
            self._scopes[pc] = [path.removeprefix(CRATE) for path in paths]
        return self._scopes[pc]

    def note_of(self, walked: Walked, loop: Loop) -> LoopNote:
        """Return what is noted of a loop. TockmarkError if nothing is."""
        scopes = self.scopes(loop.header)
        inside = walked.name
        for scope in [*scopes, inside]:
            notes = [n for n in self.notes.loop if n.at == scope and n.within in ("", inside)]
            if notes:
                return max(notes, key=lambda note: len(note.within))
        raise TockmarkError(
            f"the loop at {loop.header:#x} in {inside} ({' in '.join(scopes)}) has no bound",
            "give it one in kernel/bounds.toml",
        )

    def cycles(self, block: Block) -> list[int]:
        """Return the most that each instruction takes if the one before it stands before it."""
        behind = [*(set(i.sources) | {(i.at or ("",))[0]} for i in block.insns[1:]), None]
        found = []
        for insn, state, used in zip(block.insns, block.states, behind, strict=True):
            dearest = self._cycles(insn, state)
            # What was read is there a cycle later than what comes behind can go on without it.
            waits = used is None or NAMES[insn.rd] in used
            found.append(dearest - (insn.op == "lw" and dearest == RAM_READ and not waits))
        return found

    def _cycles(self, insn: Insn, state: State) -> int:
        fetched = FETCH * (insn.pc % 4 == 0 or insn.size == 4)
        if insn.at is None or insn.op == "jalr":
            return max(fetched, 1, DEAR.get(insn.op, 1))
        register, offset = insn.at
        base = state[NUMBER[register]]
        address = None if base is None else max(value + offset & WORD for value in base)
        if address is not None and address >= DEVICES:
            return PERIPHERAL if address < PERIPHERALS else REGISTER
        if insn.op in STORES:
            return max(fetched, RAM_WRITE if insn.op == "sw" else PART_WRITE)
        if address is None:
            reads = register != "sp" and not self.notes.flash.isdisjoint(self.scopes(insn.pc))
            return FLASH_READ if reads else RAM_READ
        return FLASH_READ if address >= FLASH else RAM_READ

    def facts(self, kind: str) -> list[Fact]:
        """Return what is noted of all of such a stretch."""
        return [
            fact
            for fact in self.notes.fact
            if kind not in fact.but and (not fact.only or kind in fact.only)
        ]

    def entries(self, names: Iterable[str]) -> set[int]:
        """Return the addresses where functions, inlined ones or labels begin."""
        named = set(self.walker.names.values())
        found: set[int] = set()
        for name in names:
            if name.startswith(INLINED):
                found |= self._inlined(name.removeprefix(INLINED))
            elif name in named:
                found.update(self.walker.entries(name))
            elif not name.startswith(LOOP):
                found.add(self.program.symbol(name)[0])
        return found

    def _inlined(self, name: str) -> set[int]:
        """Return the blocks by which control comes into what the compiler made of a function."""
        if name not in self._places:
            self._places[name] = {pc for pc in self.walker.code if name in self.scopes(pc)}
        inside = self._places[name]
        for walked in self.walker.all():
            if (name, walked) not in self._begun:
                own = {
                    start
                    for start, block in walked.blocks.items()
                    if any(insn.pc in inside for insn in block.insns)
                }
                behind = {at for start in own for at in walked.blocks[start].edges}
                self._begun[name, walked] = own - behind
        return {at for (one, _), begun in self._begun.items() if one == name for at in begun}

    def most(self, walked: Walked, note: LoopNote) -> int:
        """Return how often a loop runs where its function was called as here."""
        known = {name: walked.state[NUMBER[name]] for name in ARGUMENTS}
        told = {name: max(values) for name, values in known.items() if values}
        return self.constants.value(note.most, told)

    @cached_property
    def roots(self) -> list[Root]:
        """All kinds of stretches."""
        return list(_roots(self))


NEWER_IPC: dict[str, tuple[int, Iterable[int]]] = {  # of version 2: drivers, and their commands
    "by string": (0xA_0000, range(3)),
    "by package": (0xA_0001, range(3)),
    "relay": (0xA_0010, (0, 0x10, 0x11, 0x20, 0x21, 0x22, 0x23, 0x24)),
}


def calls_of(abi: int) -> dict[str, dict[str, int]]:
    """Return each system call by name, with the registers that tell it."""
    perf = {2: 0x9_0010, 1: 0x9_0004}[abi]
    drivers: dict[str, tuple[int, Iterable[int]]] = {
        "alarm": (0, (0, 1, 2, 3, 5, 6) if abi == 2 else (0, 1, 2, 3, 4, 5, 6)),
        "console": (1, (0, 1)),
        "debug": (8, (0, 1, 2, 3)),
        "perf": (perf, range(9) if abi == 2 else (0, 1, 2, 8)),
    }
    known: dict[str, dict[str, int]] = {}
    if abi == 2:
        known |= {"yield-no-wait": {"a4": 0, "a0": 0}, "yield-wait": {"a4": 0, "a0": 1}}
        known |= {"yield-wait-for": {"a4": 0, "a0": 2}, "subscribe": {"a4": 1}}
        for name, (driver, numbers) in drivers.items():
            known |= {f"{name} {n}": {"a4": 2, "a0": driver, "a1": n} for n in numbers}
        known |= {f"IPC {n}": {"a4": 2, "a0": 0x1_0000, "a1": n} for n in range(4)}
        for name, (driver, numbers) in NEWER_IPC.items():
            known |= {f"{name} {n:#x}": {"a4": 2, "a0": driver, "a1": n} for n in numbers}
        known |= {"command, others": {"a4": 2}}
        known |= {"read-write allow": {"a4": 3}, "read-only allow": {"a4": 4}}
        known |= {f"memop {n}": {"a4": 5, "a0": n} for n in range(12)}
        known |= {"memop, others": {"a4": 5}}
        known |= {"exit-terminate": {"a4": 6, "a0": 0}, "exit-restart": {"a4": 6, "a0": 1}}
        known |= {"yield, others": {"a4": 0}, "exit, others": {"a4": 6}}
        known |= {"readable allow": {"a4": 7}}
    else:
        known |= {"yield": {"a0": 0}, "subscribe": {"a0": 1}}
        for name, (driver, numbers) in drivers.items():
            known |= {f"{name} {n}": {"a0": 2, "a1": driver, "a2": n} for n in numbers}
        known |= {"IPC": {"a0": 2, "a1": 0x1_0000}, "command, others": {"a0": 2}}
        known |= {"allow, discover": {"a0": 3, "a1": 0x1_0000, "a2": 0}, "allow": {"a0": 3}}
        known |= {f"memop {n}": {"a0": 4, "a1": n} for n in range(12)}
        known |= {"memop, others": {"a0": 4}}
    return known


def _roots(kernel: BoundedKernel) -> Iterator[Root]:
    program, walker = kernel.program, kernel.walker
    names = ("trap_vector", "enter_user", "_start", "on_system_call", "on_interrupt", "on_fault")
    label = {name: program.symbol(name)[0] for name in names}
    call = (label["trap_vector"],)
    interrupt = tuple(label["trap_vector"] + 4 * line for line in (TIMER_LINE, EXTERNAL_LINE))
    others = kernel.notes.others
    for name, known in calls_of(kernel.abi).items():
        yield Root(name, (call,), tuple(known.items()), ("on_fault", *others.get(name, ())))
    yield Root(OTHERS, (call,), (), ("on_fault", *others[OTHERS]))
    for (timer, uart), name in INTERRUPTS.items():
        avoids = [what for what, runs in ((TIMER, timer), (UART, uart)) if not runs]
        yield Root(name, (interrupt,), (), tuple(avoids))
    (schedule,) = walker.entries(SCHEDULE)
    tails = []
    for entry in (label["on_system_call"], label["on_interrupt"], label["on_fault"]):
        for block in walker.walk(entry).blocks.values():
            if any(callee.entry == schedule for callee in block.calls):
                tails += list(block.edges)
    own = range(schedule, schedule + program.symbol(program.name_at(schedule))[1], 2)
    insns = (walker.code[pc] for pc in own if pc in walker.code)
    awake = tuple(insn.next for insn in insns if insn.op == "wfi")
    trap = (walker.code.get(pc) for pc in range(label["trap_vector"], label["enter_user"], 2))
    resumes = tuple(insn.next for insn in trap if insn and insn.op == "jalr" and insn.rd)
    behind = tuple(tails), resumes
    yield Root(SWITCH, ((schedule,), *behind))
    yield Root(AFTER_SLEEP, (awake, *behind))
    yield Root(FAULT, (call,), (), ("on_system_call",))
    yield Root(START, ((label["_start"],),))
    yield Root(PANIC, ((program.address_of("rust_begin_unwind"),),))


Place = tuple[Walked, int]  # a block of a walked function
Row = tuple[dict[int, float], float]  # a sum of variables, and what it is compared with


class Model:
    """The linear program of one kind of stretch.

    Its variables are how often each way from one block to the next is taken. What enters a block
    leaves it; a function is entered as often as it is called."""

    def __init__(self, kernel: BoundedKernel, root: Root) -> None:
        self.kernel = kernel
        self.root = root
        known: Mapping[int, Values] = {NUMBER[n]: frozenset({v}) for n, v in root.known}
        self.groups = [
            [kernel.walker.walk(start, known if number == 0 else {}) for start in group]
            for number, group in enumerate(root.starts)
        ]
        self.reached = self._reach()
        self.walks = list({walked: None for walked, _ in self.reached})
        self.weights: list[tuple[int, int]] = []  # of each variable: instructions, cycles
        self._out: dict[Place, list[int]] = defaultdict(list)
        self._in: dict[Place, list[int]] = defaultdict(list)
        self._from: dict[int, int] = {}  # the block that a way to the next comes from
        self._equal: list[Row] = []
        self._most: list[Row] = []
        for (walked, _), block in self.reached.items():
            self._add_block(walked, block)
        self._add_calls()
        for place in self.reached:
            into, out = self._in[place], self._out[place]
            self._equal.append((_sum((into, 1), (out, -1)), 0))
        self._add_bounds()

    def _reach(self) -> dict[Place, Block]:
        """Return the blocks that the stretch can come to."""
        found: dict[Place, Block] = {}
        waiting = [(first, first.entry) for group in self.groups for first in group]
        panics = self.kernel.notes.panics if self.root.name != PANIC else ()
        while waiting:
            walked, start = place = waiting.pop()
            block = walked.blocks[start]
            never = any(callee.never or callee.name in panics for callee in block.calls)
            if place in found or never or self._avoided(block):
                continue
            found[place] = block
            waiting += [(walked, at) for at in block.edges]
            waiting += [(callee, callee.entry) for callee in block.calls]
        return found

    def _avoided(self, block: Block) -> bool:
        avoids = self.root.avoids
        if not avoids:
            return False
        inside = (scope for insn in block.insns for scope in self.kernel.scopes(insn.pc))
        return any(callee.name in avoids for callee in block.calls) or any(
            scope in avoids for scope in inside
        )

    def _variable(self, instructions: int, cycles: int) -> int:
        self.weights.append((instructions, cycles))
        return len(self.weights) - 1

    def _add_block(self, walked: Walked, block: Block) -> None:
        place = walked, block.start
        instructions = len(block.insns)
        cycles = sum(self.kernel.cycles(block))
        if block.calls:
            cycles += JUMP * (1 + bool(block.insns[-1].rd))
        for at, jumps in block.edges.items():
            if (walked, at) not in self.reached:
                continue
            more = JUMP + across(walked.blocks[at].insns[0]) if jumps else 0
            number = self._variable(instructions, cycles + more)
            self._out[place].append(number)
            self._in[walked, at].append(number)
            self._from[number] = block.start
        if block.leaves:
            self._out[place].append(self._variable(instructions, cycles))

    def _add_calls(self) -> None:
        """Let functions be entered as often as they are called, or as the stretch begins there."""
        for place, block in self.reached.items():
            shares = [self._variable(0, 0) for _ in block.calls]
            if shares:
                self._equal.append((_sum((shares, 1), (self._out[place], -1)), 0))
            for callee, share in zip(block.calls, shares, strict=True):
                self._in[callee, callee.entry].append(share)
        for number, group in enumerate(self.groups):
            begun = [self._variable(0, TRAP if number == 0 else JUMP) for _ in group]
            self._equal.append((_sum((begun, 1)), 1))
            for first, share in zip(group, begun, strict=True):
                self._in[first, first.entry].append(share)

    def _add_bounds(self) -> None:
        """Let loops run as often as is noted, and what is noted of stretches hold."""
        sums: dict[str, list[int]] = defaultdict(list)
        for walked in self.walks:
            for loop in walked.loops:
                note = self.kernel.note_of(walked, loop)
                ways = (n for door in loop.doors for n in self._in[walked, door])
                entered = [n for n in ways if self._from.get(n) not in loop.blocks]
                for door in loop.doors:
                    into = self._in[walked, door]
                    row = _sum((into, 1), (entered, -self.kernel.most(walked, note)))
                    self._most.append((row, 0))
                    sums[note.name] += into
        for fact in self.kernel.facts(self.root.name):
            runs, per = (
                [*self._into(names), *(n for name in names for n in sums[name])]
                for names in (fact.runs, fact.per)
            )
            most = self.kernel.constants.value(fact.most)
            row = _sum((runs, 1), (per, -most))
            self._most.append((row, 0 if fact.per else most))

    def _into(self, names: list[str]) -> list[int]:
        """Return the variables of which the sum is how often functions or labels run."""
        entries = self.kernel.entries(names)
        return [n for place in self.reached if place[1] in entries for n in self._in[place]]

    def bound(self) -> PathBound:
        """Return the greatest weight. TockmarkError if there is none."""
        found = []
        for weights in zip(*self.weights, strict=True):
            done = linprog(
                -np.array(weights, dtype=float),
                A_ub=self._matrix(self._most),
                b_ub=[right for _, right in self._most] or None,
                A_eq=self._matrix(self._equal),
                b_eq=[right for _, right in self._equal],
                method="highs",
            )
            if done.status != 0:
                raise TockmarkError(f"{self.root.name} has no bound: {done.message}")
            found.append(int(1e-6 - (done.fun or 0)))
            self.solution = done.x
        return PathBound(*found)

    def _matrix(self, rows: list[Row]) -> Any:  # scipy's stubs know no sparse ones here
        if not rows:
            return None
        values = [value for row, _ in rows for value in row.values()]
        columns = [column for row, _ in rows for column in row]
        starts = np.cumsum([0, *(len(row) for row, _ in rows)])
        return csr_array((values, columns, starts), shape=(len(rows), len(self.weights)))


def _sum(*parts: tuple[Iterable[int], float]) -> dict[int, float]:
    """Return the coefficients of a sum of variables."""
    row: dict[int, float] = defaultdict(float)
    for numbers, factor in parts:
        for number in numbers:
            row[number] += factor
    return row


def across(insn: Insn) -> int:
    return ACROSS if insn.pc % 4 and insn.size == 4 else 0
