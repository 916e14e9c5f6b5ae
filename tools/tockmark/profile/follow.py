# SPDX-License-Identifier: Apache-2.0 OR MIT
"""This follows an instruction trace from call to call, and counts what each costs, by itself and
with what it calls. The kernel needs no line of code for it: control flow tells.

- A call is a jump that leaves its return address behind; it ends at the jump back to it.
- A jump to the first instruction of another function is a tail call: one more call, which ends
  with the one that it was made from. What it costs counts with that one, as of any callee.
- A trap is no call: what it interrupts goes on behind it, and its cycles count with neither. Each
  app has a stack of its own beside the kernel's. An upcall is a call by the kernel.
- A function that the compiler put into another is called where execution comes to it, and called
  again where it comes, from outside of it, to an instruction that the call has executed already:
  compilers mix the instructions of both, so going out and in again tells nothing.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from statistics import median_low

from tockmark.profile.sample import Step, charge_cycles
from tockmark.profile.symbols import LIBRARIES, Program, Scope
from tockmark.target.rv32 import Kind

KERNEL = -1  # whose stack it is, beside the apps' by number
DEEPEST = 1000  # calls within one another; what never returns leaves the first of them behind
FIGURES = ("own_cycles", "own_instructions", "whole_cycles", "whole_instructions")


@dataclass(slots=True)
class Cost:
    """Cycles, and instructions as `minstret` counts them."""

    cycles: int = 0
    instructions: int = 0

    def add(self, other: "Cost") -> None:
        self.cycles += other.cycles
        self.instructions += other.instructions


Line = tuple[str, int]  # a source file and a line of it; empty and 0 where they are not known
Node = tuple[Program, str]  # a function: the program that it is in, and its path


@dataclass(slots=True)
class Call:
    """One call of a function."""

    scope: Scope
    code: Program
    cut: bool  # it began before the trace did
    inlined: bool = False
    caller: "Call | None" = None  # in the trace
    called_at: Line = ("", 0)  # of the caller
    around: tuple[int, ...] = ()  # the places of those between it and the function that it is in
    ran: set[int] = field(default_factory=set)  # addresses of it, where it is inlined
    own: Cost = field(default_factory=Cost)
    whole: Cost = field(default_factory=Cost)  # with what it called

    @property
    def node(self) -> Node:
        return self.code, self.scope.path


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


@dataclass
class Graph:
    """Who called whom from which line, and what each line cost."""

    begins: dict[Node, Line] = field(default_factory=dict)
    own: defaultdict[Node, defaultdict[Line, Cost]] = field(
        default_factory=lambda: defaultdict(lambda: defaultdict(Cost))
    )
    calls: Counter[tuple[Node, Line, Node]] = field(default_factory=Counter)
    whole: defaultdict[tuple[Node, Line, Node], Cost] = field(
        default_factory=lambda: defaultdict(Cost)
    )

    def charge(self, code: Program, scope: Scope, cost: Cost) -> None:
        """Charge an instruction to the innermost function that it is in."""
        self.own[code, scope.path][_line(scope)].add(cost)

    def count(self, call: Call) -> None:
        """Count a call that has ended, or that the end of the trace cuts."""
        self.begins.setdefault(call.node, _line(call.scope))
        if call.caller is None:
            return
        edge = call.caller.node, call.called_at, call.node
        self.calls[edge] += 1
        self.whole[edge].add(call.whole)


def _line(scope: Scope) -> Line:
    return scope.frame.file, scope.line


CodeOf = Callable[[Step], tuple[int, Program]]  # whose stack an instruction is of, and its code


@dataclass(slots=True)
class _Active:
    """A call that runs, and the functions put into it that do."""

    call: Call
    start: int  # of its function
    returns_to: int | None  # None: a tail call, or one that the trace does not show
    inner: dict[int, Call] = field(default_factory=dict)  # by their places, the outer ones first
    at: tuple[int, ...] = ()  # the places of its last instruction
    line: Line = ("", 0)  # of that instruction

    @property
    def innermost(self) -> Call:
        """The call that the last instruction was of."""
        return self.inner[self.at[-1]] if self.at else self.call


@dataclass(slots=True)
class _Trap:
    """What a trap interrupted: the last instruction before it, if that was the kernel's own."""

    before: Step | None


def follow(
    steps: Iterable[Step], code_of: CodeOf, graph: Graph | None = None
) -> dict[str, Function]:
    """Follow a trace, and return the functions that ran, by their paths, with their calls; `graph`
    takes who called whom."""
    tracker = _Tracker(code_of, graph)
    for step, charges in charge_cycles(steps):
        tracker.follow(step, sum(cycles for _, cycles in charges))
    tracker.close()
    return tracker.functions


class _Tracker:
    """What runs, while a trace is followed. A call is counted at its end."""

    def __init__(self, code_of: CodeOf, graph: Graph | None) -> None:
        self.functions: dict[str, Function] = {}
        self._graph = graph
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
            self._stack = stack
            self._end(0, cut=True)

    def _count(self, one: _Active | _Trap, cut: bool = False) -> None:
        for call in (*one.inner.values(), one.call) if isinstance(one, _Active) else ():
            self._count_call(call, cut)

    def _count_call(self, call: Call, cut: bool = False) -> None:
        path = call.scope.path
        self.functions.setdefault(path, Function(path)).add(call, cut or call.cut)
        if self._graph is not None:
            self._graph.count(call)

    def _go(self, last: Step, step: Step, owner: int, code: Program) -> None:
        if step.handler:
            if last.user:
                self._left[self._code_of(last)[0]] = last
            self._stack = self._stacks[KERNEL]
            self._stack.append(_Trap(None if last.user else last))
            self._enter(step, code, None)
        elif last.instruction.kind == Kind.RETURN and not last.trap:
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
        elif last.instruction.calls:
            self._enter(step, code, behind)
        elif last.instruction.jumps_by_register and self._back_to(step.pc):
            caller = self._running()
            if caller is not None and begins and step.pc != caller.start:
                self._tail_call(step, code)  # its call was its last instruction: it runs into this
        elif last.instruction.jumps_by_register and self._lost(last, step, code):
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
        call, before = Call(code.scopes(step.pc)[0], code, cut), self._running()
        if before is not None:
            call.caller, call.called_at = before.innermost, before.line
        entered = _Active(call, code.start_of(step.pc), returns_to)
        self._stack.append(entered)
        return entered

    def _end(self, depth: int, cut: bool = False) -> None:
        """End the calls from this depth on; each costs its caller what it cost."""
        while len(self._stack) > depth:
            one = self._stack.pop()
            self._count(one, cut)
            caller = self._running()
            if isinstance(one, _Active) and caller is not None:
                for call in (caller.call, *(caller.inner[place] for place in caller.at)):
                    call.whole.add(one.call.whole)

    def _charge(self, step: Step, code: Program, cost: Cost) -> None:
        # A trace begins within a call, and may go on where it does not tell how it came there.
        active = self._running() or self._enter(step, code, None, cut=True)
        outer, *inner = code.scopes(step.pc)
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
                call = active.inner[scope.place] = Call(scope, code, new, True, around=around)
                call.caller = active.inner[around[-1]] if around else active.call
                call.called_at = _line(inner[depth - 1] if depth else outer)
            call.ran.add(step.pc)
            call.whole.add(cost)
        active.call.whole.add(cost)
        (active.inner[inner[-1].place] if inner else active.call).own.add(cost)
        active.at = tuple(scope.place for scope in inner)
        active.line = _line(inner[-1] if inner else outer)
        if self._graph is not None:
            self._graph.charge(code, inner[-1] if inner else outer, cost)
