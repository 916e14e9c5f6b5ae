# SPDX-License-Identifier: Apache-2.0 OR MIT
"""This counts the calls in an instruction trace and what each costs, by itself and with what it
calls: `profile --functions`, of a steady sample or of all of its app's run, from the kernel's first
instruction on. The kernel needs no line of code for it: control flow tells.

- A call is a jump that leaves its return address behind; it ends at the jump back to it.
- A jump to the first instruction of another function is a tail call: one more call, which ends
  with the one that it was made from. What it costs counts with that one, as of any callee.
- A trap is no call: what it interrupts goes on behind it, and its cycles count with neither. Each
  app has a stack of its own beside the kernel's. An upcall is a call by the kernel.
- A function that the compiler put into another is called where execution comes to it, and called
  again where it comes, from outside of it, to an instruction that the call has executed already:
  compilers mix the instructions of both, so going out and in again tells nothing.
"""

import re
import tempfile
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path
from statistics import median_low

from tockmark.errors import TockmarkError
from tockmark.profile.file import hashed_title
from tockmark.profile.report import RULE, NamedTable
from tockmark.profile.run import KERNEL, Codes, ProfileOptions, kept_lines, kernel_of, traced
from tockmark.profile.sample import MODE, MRET, PC, Step, calls, charged, jumps_by_register, parse
from tockmark.profile.symbols import LIBRARIES, Program, Scope
from tockmark.show import text
from tockmark.suite.catalogue import ICACHE, Catalogue

DEEPEST = 1000  # calls within one another; what never returns leaves the first of them behind
COUNTS = ("path", "calls", "inlined", "cut", "cycles")  # of a function, in JSON
FIGURES = ("own_cycles", "own_instructions", "whole_cycles", "whole_instructions")

COLUMNS = (
    ("", "calls", 6),
    ("", "cut", 5),
    ("cycles", "of its own", 12),
    ("instr.", "of its own", 11),
    ("with callees:", "cycles", 14),
    ("", "instr.", 13),
)
SHOWN = 40  # functions, where no name chooses them


@dataclass(slots=True)
class Cost:
    """Cycles, and instructions as `minstret` counts them."""

    cycles: int = 0
    instructions: int = 0

    def add(self, other: "Cost") -> None:
        self.cycles += other.cycles
        self.instructions += other.instructions


@dataclass(slots=True)
class Call:
    """One call of a function."""

    scope: Scope
    cut: bool  # it began before the trace did
    inlined: bool = False
    around: tuple[int, ...] = ()  # the places of those between it and the function that it is in
    ran: set[int] = field(default_factory=set)  # addresses of it, where it is inlined
    own: Cost = field(default_factory=Cost)
    whole: Cost = field(default_factory=Cost)  # with what it called


@dataclass(frozen=True)
class CostSpread:
    """What the calls of a function cost; the median is a real call: of two in the middle the
    lower."""

    least: int
    median: int
    most: int

    def __str__(self) -> str:
        same = self.least == self.most
        return str(self.least) if same else f"{self.least}-{self.median}-{self.most}"


@dataclass
class Function:
    """The calls of one function."""

    path: str
    calls: int = 0
    inlined: int = 0  # of them, those that the compiler put into other functions
    cut: int = 0  # further calls, which began before the trace or had not ended behind it
    cycles: int = 0  # of its own, in all calls, cut ones too
    in_library: bool = False  # of Rust's own libraries or a crate
    counts: dict[str, Counter[int]] = field(  # how many calls cost so much, by figure
        default_factory=lambda: {figure: Counter() for figure in FIGURES}
    )

    def add(self, call: Call, cut: bool) -> None:
        """Count a call. The cost of one that is not whole is in no spread."""
        self.in_library = any(library in call.scope.frame.file for library in LIBRARIES)
        self.cycles += call.own.cycles
        if cut:
            self.cut += 1
            return
        self.calls += 1
        self.inlined += call.inlined
        costs = [cost for of in (call.own, call.whole) for cost in (of.cycles, of.instructions)]
        for counts, cost in zip(self.counts.values(), costs, strict=True):
            counts[cost] += 1

    @property
    def spreads(self) -> dict[str, CostSpread | None]:
        """Return what its calls cost, by figure; None where there was no whole call."""
        return {figure: spread(counts) for figure, counts in self.counts.items()}


def spread(counts: Counter[int]) -> CostSpread | None:
    """Return None where there was no call."""
    costs = sorted(counts.elements())
    return CostSpread(costs[0], median_low(costs), costs[-1]) if costs else None


CodeOf = Callable[[Step], tuple[int, Program]]  # whose stack an instruction is of, and its code


@dataclass(slots=True)
class _Active:
    """A call that runs, and the functions put into it that do."""

    call: Call
    start: int  # of its function
    returns_to: int | None  # None: a tail call, or one that the trace does not show
    inner: dict[int, Call] = field(default_factory=dict)  # by their places, the outer ones first
    at: tuple[int, ...] = ()  # the places of its last instruction


@dataclass(slots=True)
class _Trap:
    """What a trap interrupted: the last instruction before it, if that was the kernel's own."""

    before: Step | None


def follow(steps: Iterable[Step], code_of: CodeOf) -> dict[str, Function]:
    """Follow a trace, and return the functions that ran, by their paths, with their calls."""
    tracker = _Tracker(code_of)
    for step, charges in charged(steps):
        tracker.follow(step, sum(cycles for _, cycles in charges))
    tracker.close()
    return tracker.functions


class _Tracker:
    """What runs, while a trace is followed. A call is counted at its end."""

    def __init__(self, code_of: CodeOf) -> None:
        self.functions: dict[str, Function] = {}
        self._code_of = code_of
        self._stacks: defaultdict[int, list[_Active | _Trap]] = defaultdict(list)
        self._stack: list[_Active | _Trap] = []
        self._left: dict[int, Step] = {}  # an app's last instruction before the trap
        self._last: Step | None = None

    def follow(self, step: Step, cycles: int) -> None:
        """Go on to the next instruction, which is charged these cycles."""
        owner, code = self._code_of(step)
        if self._last is None:
            self._stack = self._stacks[owner]
        else:
            self._go(self._last, step, owner, code)
        self._charge(step, code, Cost(cycles, int(not step.trapped)))
        self._last = step

    def close(self) -> None:
        """End the trace: every call that still runs is cut."""
        for stack in self._stacks.values():
            for one in stack:
                self._count(one, cut=True)

    def _count(self, one: _Active | _Trap, cut: bool = False) -> None:
        for call in (*one.inner.values(), one.call) if isinstance(one, _Active) else ():
            self._count_call(call, cut)

    def _count_call(self, call: Call, cut: bool = False) -> None:
        path = call.scope.path
        self.functions.setdefault(path, Function(path)).add(call, cut or call.cut)

    def _go(self, last: Step, step: Step, owner: int, code: Program) -> None:
        if step.handler:
            if last.user:
                self._left[self._code_of(last)[0]] = last
            self._stack = self._stacks[KERNEL]
            self._stack.append(_Trap(None if last.user else last))
            self._enter(step, code, None)
        elif last.insn == MRET and not last.trap:
            trap = self._leave_trap(step.user)
            self._stack = self._stacks[owner]
            before = trap.before if trap else None
            if step.user:
                before = self._left.pop(owner, None)
            if before is not None:
                self._transfer(before, step, code)
            elif step.user:
                self._enter(step, code, None)
        else:
            self._transfer(last, step, code)

    def _transfer(self, last: Step, step: Step, code: Program) -> None:
        """Go from one instruction of a stack to the next."""
        behind = last.pc + last.size
        begins = step.pc == code.start_of(step.pc)
        if last.trapped:
            if step.pc not in (last.pc, behind):  # an upcall, which returns behind the system call
                self._enter(step, code, behind)
        elif calls(last):
            self._enter(step, code, behind)
        elif jumps_by_register(last) and self._back_to(step.pc):
            caller = self._running()
            if caller is not None and begins and step.pc != caller.start:
                self._tail_call(step, code)  # its call was its last instruction: it runs into this
        elif jumps_by_register(last) and self._lost(last, step, code):
            return
        elif begins and step.pc != code.start_of(last.pc):
            self._tail_call(step, code)

    def _frames(self) -> Iterator[tuple[int, _Active]]:
        """Yield the calls behind the last trap, the innermost first, with their depths."""
        for depth in range(len(self._stack) - 1, -1, -1):
            one = self._stack[depth]
            if isinstance(one, _Trap):
                return
            yield depth, one

    def _running(self) -> _Active | None:
        top = self._stack[-1] if self._stack else None
        return top if isinstance(top, _Active) else None

    def _back_to(self, address: int) -> bool:
        """End the calls up to the one that returns here, if there is one."""
        for depth, one in self._frames():
            if one.returns_to == address:
                self._end(depth)
                return True
        return False

    def _lost(self, last: Step, step: Step, code: Program) -> bool:
        """Follow a return without a call: to one that began before the trace, or out of the
        handling of a trap to the function that started the app."""
        start = code.start_of(step.pc)
        if start in (step.pc, code.start_of(last.pc)):
            return False  # a call through a pointer, or a jump by a table
        bottom = len(self._stack) - sum(1 for _ in self._frames())
        below = self._stack[bottom - 2] if bottom >= 2 else None
        resumed = isinstance(below, _Active) and below.start == start
        self._end(bottom - 1 if resumed else bottom)
        return True

    def _tail_call(self, step: Step, code: Program) -> None:
        # A function that is already in the chain is not called within itself: it goes round.
        place, returns_to = code.scopes(step.pc)[0].place, None
        for depth, one in self._frames():
            if one.call.scope.place == place:
                returns_to = one.returns_to
                self._end(depth)
            if one.returns_to is not None:
                break
        self._enter(step, code, returns_to)

    def _leave_trap(self, to_app: bool) -> _Trap | None:
        """End a trap, and what it called; None if there was none. On the way to an app it is the
        last one that came from an app: a kernel that slept may never go back to where it did."""
        self._stack = stack = self._stacks[KERNEL]
        traps = [(depth, one) for depth, one in enumerate(stack) if isinstance(one, _Trap)]
        if not traps:
            return None  # the kernel starts an app, and waits for it
        from_app = [found for found in traps if found[1].before is None]
        depth, trap = (from_app if to_app and from_app else traps)[-1]
        self._end(depth)
        return trap

    def _enter(
        self, step: Step, code: Program, returns_to: int | None, cut: bool = False
    ) -> _Active:
        if len(self._stack) >= DEEPEST:
            self._count(self._stack.pop(0), cut=True)
        entered = _Active(Call(code.scopes(step.pc)[0], cut), code.start_of(step.pc), returns_to)
        self._stack.append(entered)
        return entered

    def _end(self, depth: int) -> None:
        """End the calls from this depth on; each costs its caller what it cost."""
        while len(self._stack) > depth:
            one = self._stack.pop()
            self._count(one)
            caller = self._running()
            if isinstance(one, _Active) and caller is not None:
                for call in (caller.call, *(caller.inner[place] for place in caller.at)):
                    call.whole.add(one.call.whole)

    def _charge(self, step: Step, code: Program, cost: Cost) -> None:
        # A trace begins within a call, and may go on where it does not tell how it came there.
        active = self._running() or self._enter(step, code, None, cut=True)
        inner = code.scopes(step.pc)[1:]
        new = active.call.cut and not active.call.whole.cycles  # then those inside were cut, too
        for depth, scope in enumerate(inner):
            call = active.inner.get(scope.place)
            if call is not None and step.pc in call.ran and scope.place not in active.at:
                # It is called again: the call before ends, with those inside of it.
                for place, one in list(active.inner.items()):
                    if scope.place in (place, *one.around):
                        self._count_call(active.inner.pop(place))
                call = None
            if call is None:
                around = tuple(one.place for one in inner[:depth])
                call = active.inner[scope.place] = Call(scope, new, True, around)
            call.ran.add(step.pc)
            call.whole.add(cost)
        active.call.whole.add(cost)
        (active.inner[inner[-1].place] if inner else active.call).own.add(cost)
        active.at = tuple(scope.place for scope in inner)


@dataclass(frozen=True)
class Costs:
    """What functions cost in a trace."""

    options: ProfileOptions
    whole: bool  # of the run, else of a steady sample
    cycles: int  # of the trace
    lines: bool  # whether the kernel's inlined functions are known
    functions: Sequence[Function]


def costs(
    options: ProfileOptions, catalogue: Catalogue, names: Sequence[str] = (), whole: bool = False
) -> Costs:
    """Count the calls of all functions, and choose those that `names` mean. TockmarkError as for a
    profile, or if a name means no function that ran."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "trace.gz" if whole else None
        run = traced(options, catalogue, file)
        kernel = kernel_of(options.kernel)
        codes = Codes(kernel, run.image)
        steps: Iterable[Step] = run.sample.steps[run.sample.first + 1 : run.sample.last + 1]
        if file is None:
            codes.study((step.user, step.pc) for step in steps)
        else:
            codes.study({(line[MODE] == "U", int(line[PC], 16)) for line in kept_lines(file)})
            steps = map(parse, kept_lines(file))
        found = follow(steps, codes.code_of).values()
    cycles = sum(function.cycles for function in found)
    return Costs(options, whole, cycles, kernel.lines, chosen(found, names))


def chosen(functions: Iterable[Function], names: Sequence[str]) -> list[Function]:
    """Return those that a name means, the costly ones first; without names all but those of
    libraries. TockmarkError if a name means none."""
    everything = sorted(functions, key=lambda one: (-one.cycles, one.path))
    if not names:
        return [one for one in everything if not one.in_library]
    for name in names:
        if not any(means(name, one.path) for one in everything):
            raise TockmarkError(
                f"no function that ran is called {name!r}",
                "names are paths or parts of them, as grant or '*::enter'; without one all are"
                " shown",
            )
    return [one for one in everything if any(means(name, one.path) for name in names)]


def means(name: str, path: str) -> bool:
    """Return whether a name means a path: as a pattern of all of it, or as some of its parts that
    follow one another."""
    if re.search(r"[*?\[]", name):
        return fnmatchcase(path, name)
    return f"::{name}::" in f"::{path}::"


def costs_text(found: Costs) -> str:
    """Show a function a line, those with the most cycles of their own first."""
    options = found.options
    of = "the whole run" if found.whole else "one steady sample"
    unknown = "" if found.lines else ", by symbol: what was inlined is not known"
    table = NamedTable("function", COLUMNS, _fitting)
    for one in found.functions[:SHOWN]:
        called = f"{one.calls}{'~' if one.inlined else ''}"
        table.add_named(one.path, called, one.cut, *one.spreads.values())
    lines = [
        f"{options.label}, i-cache {ICACHE[options.icache]}: calls in {of}, {found.cycles} cycles",
        f"kernel  {hashed_title(options.measured)}{unknown}",
        "",
        *table.text(),
        RULE,
        *text.wrap(
            "Of calls that differ: least-median-most. ~: put into other functions by the compiler."
            " Calls that are cut by the ends have no part in the figures.",
            "",
        ),
    ]
    if len(found.functions) > SHOWN:
        lines.append(f"{len(found.functions) - SHOWN} more; a name behind --functions chooses.")
    return "\n".join(lines)


def _fitting(path: str, room: int) -> str:
    return path if len(path) <= room else f"…{path[1 - room :]}"


def costs_json(found: Costs) -> dict[str, object]:
    """Return what costs_text shows for other programs, without a limit."""
    return {
        "row": found.options.label,
        "icache": found.options.icache,
        "kernel": found.options.measured.title,
        "sha256": found.options.kernel.sha256,
        "of": "run" if found.whole else "sample",
        "cycles": found.cycles,
        "functions": [
            {
                **{name: getattr(one, name) for name in COUNTS},
                **{name: of and asdict(of) for name, of in one.spreads.items()},
            }
            for one in found.functions
        ],
    }
