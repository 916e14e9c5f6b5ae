# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Follow an instruction trace from call to call, and count what each call costs, exclusive and
inclusive. Control flow alone shows the calls, so the kernel needs no instrumentation.

- A call is a jump that saves a return address. It ends with the jump back to that address.
- A jump to the first instruction of another function is a tail call. It counts as a call of its own
  that ends with its caller, whose inclusive cost contains it.
- A trap is no call. The interrupted function continues after it and is not charged for it. Each app
  has a stack of its own; so has the kernel. An upcall is a call by the kernel.
- An inlined function is called where execution enters it. It is called again where execution enters
  it from outside at an instruction that the call has already executed. Compilers mix the
  instructions of both functions, so leaving and entering alone is no new call.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from statistics import median_low

from tockmark.profile.sample import Step, charge_cycles
from tockmark.profile.symbols import LIBRARIES, Program, Scope
from tockmark.target.rv32 import Kind

KERNEL = -1  # the kernel's stack; apps have their numbers
DEEPEST = 1000  # nested calls; if more never return, the outermost are dropped
FIGURES = ("own_cycles", "own_instructions", "whole_cycles", "whole_instructions")


@dataclass(slots=True)
class Cost:
    """Cycles, and instructions as counted by `minstret`."""

    cycles: int = 0
    instructions: int = 0

    def add(self, other: "Cost") -> None:
        self.cycles += other.cycles
        self.instructions += other.instructions


Line = tuple[str, int]  # a source file and a line in it; "" and 0 if unknown
Node = tuple[Program, str]  # a function: its program and its path


@dataclass(slots=True)
class Call:
    """A call of a function."""

    scope: Scope
    code: Program
    cut: bool  # whether it began before the trace
    inlined: bool = False
    caller: "Call | None" = None  # if it is in the trace
    called_at: Line = ("", 0)  # in the caller
    around: tuple[int, ...] = ()  # sites of the inlined functions around it
    ran: set[int] = field(default_factory=set)  # executed addresses, if it is inlined
    own: Cost = field(default_factory=Cost)
    whole: Cost = field(default_factory=Cost)  # with its callees

    @property
    def node(self) -> Node:
        return self.code, self.scope.path


@dataclass(frozen=True)
class CostSpread:
    """The least, median and greatest cost of the calls of a function. The median is the cost of a
    real call: the lower one of two in the middle."""

    least: int
    median: int
    most: int

    def __str__(self) -> str:
        same = self.least == self.most
        return str(self.least) if same else f"{self.least}-{self.median}-{self.most}"


@dataclass
class Function:
    """The calls of a function."""

    path: str
    calls: int = 0
    inlined: int = 0  # how many of them are inlined
    cut: int = 0  # further calls that an end of the trace cuts off
    cycles: int = 0  # own cycles of all calls, also cut ones
    in_library: bool = False  # in one of Rust's libraries or a crate
    counts: dict[str, Counter[int]] = field(  # number of calls by cost, per figure
        default_factory=lambda: {figure: Counter() for figure in FIGURES}
    )

    def add(self, call: Call, cut: bool) -> None:
        """Count a call. The cost of a call that is cut does not enter the spreads."""
        self.in_library = any(library in call.scope.frame.file for library in LIBRARIES)
        self.cycles += call.own.cycles
        if cut:
            self.cut += 1
            return
        self.calls += 1
        self.inlined += call.inlined
        costs = [call.own.cycles, call.own.instructions]
        costs += [call.whole.cycles, call.whole.instructions]
        for counts, cost in zip(self.counts.values(), costs, strict=True):
            counts[cost] += 1

    @property
    def spreads(self) -> dict[str, CostSpread | None]:
        """The spread of each figure over the calls; None if there was no whole call."""
        return {figure: spread(counts) for figure, counts in self.counts.items()}


def spread(counts: Counter[int]) -> CostSpread | None:
    """Return the spread of some costs, or None without costs."""
    costs = sorted(counts.elements())
    return CostSpread(costs[0], median_low(costs), costs[-1]) if costs else None


@dataclass
class Graph:
    """A call graph: callers, callees, the line of each call, and the cost of each line."""

    begins: dict[Node, Line] = field(default_factory=dict)
    own: defaultdict[Node, defaultdict[Line, Cost]] = field(
        default_factory=lambda: defaultdict(lambda: defaultdict(Cost))
    )
    calls: Counter[tuple[Node, Line, Node]] = field(default_factory=Counter)
    whole: defaultdict[tuple[Node, Line, Node], Cost] = field(
        default_factory=lambda: defaultdict(Cost)
    )

    def charge(self, code: Program, scope: Scope, cost: Cost) -> None:
        """Charge an instruction to its innermost function."""
        self.own[code, scope.path][_line(scope)].add(cost)

    def count(self, call: Call) -> None:
        """Count a call that has ended or that the end of the trace cuts off."""
        self.begins.setdefault(call.node, _line(call.scope))
        if call.caller is None:
            return
        edge = call.caller.node, call.called_at, call.node
        self.calls[edge] += 1
        self.whole[edge].add(call.whole)


def _line(scope: Scope) -> Line:
    return scope.frame.file, scope.line


CodeOf = Callable[[Step], tuple[int, Program]]  # the stack of an instruction, and its code


@dataclass(slots=True)
class _Active:
    """A running call, and the running functions that are inlined in it."""

    call: Call
    start: int  # address of its function
    returns_to: int | None  # None: a tail call, or a call before the trace
    inner: dict[int, Call] = field(default_factory=dict)  # by site, outermost first
    at: tuple[int, ...] = ()  # sites of its last instruction
    line: Line = ("", 0)  # of its last instruction

    @property
    def innermost(self) -> Call:
        """The call that contains the last instruction."""
        return self.inner[self.at[-1]] if self.at else self.call


@dataclass(slots=True)
class _Trap:
    """A trap, with the instruction before it if that was the kernel's."""

    before: Step | None


def follow(
    steps: Iterable[Step], code_of: CodeOf, graph: Graph | None = None
) -> dict[str, Function]:
    """Return the functions in a trace with their calls, by path. Add the calls and costs to `graph`
    if it is given."""
    tracker = _Tracker(code_of, graph)
    for step, charges in charge_cycles(steps):
        tracker.follow(step, sum(cycles for _, cycles in charges))
    tracker.close()
    return tracker.functions


class _Tracker:
    """The running calls while a trace is followed. A call is counted at its end."""

    def __init__(self, code_of: CodeOf, graph: Graph | None) -> None:
        self.functions: dict[str, Function] = {}
        self._graph = graph
        self._code_of = code_of
        self._stacks: defaultdict[int, list[_Active | _Trap]] = defaultdict(list)
        self._stack: list[_Active | _Trap] = []
        self._left: dict[int, Step] = {}  # an app's last instruction before a trap
        self._last: Step | None = None

    def follow(self, step: Step, cycles: int) -> None:
        """Follow the next instruction, which is charged `cycles`."""
        owner, code = self._code_of(step)
        if self._last is None:
            self._stack = self._stacks[owner]
        else:
            self._go(self._last, step, owner, code)
        self._charge(step, code, Cost(cycles, int(not step.trapped)))
        self._last = step

    def close(self) -> None:
        """End the trace; all running calls are cut."""
        for stack in self._stacks.values():
            self._stack = stack
            self._end(0, cut=True)

    def _count(self, frame: _Active | _Trap, cut: bool = False) -> None:
        for call in (*frame.inner.values(), frame.call) if isinstance(frame, _Active) else ():
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
            if step.pc not in (last.pc, behind):  # an upcall returns after the system call
                self._enter(step, code, behind)
        elif last.instruction.calls:
            self._enter(step, code, behind)
        elif last.instruction.jumps_by_register and self._back_to(step.pc):
            caller = self._running()
            if caller is not None and begins and step.pc != caller.start:
                self._tail_call(step, code)  # the call was its last instruction: it falls through
        elif last.instruction.jumps_by_register and self._lost(last, step, code):
            return
        elif begins and step.pc != code.start_of(last.pc):
            self._tail_call(step, code)

    def _frames(self) -> Iterator[tuple[int, _Active]]:
        """Yield the calls after the last trap with their depths, innermost first."""
        for depth in range(len(self._stack) - 1, -1, -1):
            frame = self._stack[depth]
            if isinstance(frame, _Trap):
                return
            yield depth, frame

    def _running(self) -> _Active | None:
        top = self._stack[-1] if self._stack else None
        return top if isinstance(top, _Active) else None

    def _back_to(self, address: int) -> bool:
        """End the calls down to the one that returns to `address`; return whether there is one."""
        for depth, frame in self._frames():
            if frame.returns_to == address:
                self._end(depth)
                return True
        return False

    def _lost(self, last: Step, step: Step, code: Program) -> bool:
        """Follow a return without a call in the trace, if this is one: to a function that was
        called before the trace, or from the handling of a trap to the function that started the
        app."""
        start = code.start_of(step.pc)
        if start in (step.pc, code.start_of(last.pc)):
            return False  # a call through a pointer, or a jump by a table
        bottom = len(self._stack) - sum(1 for _ in self._frames())
        below = self._stack[bottom - 2] if bottom >= 2 else None
        resumed = isinstance(below, _Active) and below.start == start
        self._end(bottom - 1 if resumed else bottom)
        return True

    def _tail_call(self, step: Step, code: Program) -> None:
        # A jump to a function that is already in the chain is a loop, no nested call.
        site, returns_to = code.scopes(step.pc)[0].site, None
        for depth, frame in self._frames():
            if frame.call.scope.site == site:
                returns_to = frame.returns_to
                self._end(depth)
            if frame.returns_to is not None:
                break
        self._enter(step, code, returns_to)

    def _leave_trap(self, to_app: bool) -> _Trap | None:
        """End a trap and its calls; return it, or None if there was none.

        On the way to an app, end the last trap that came from an app: a kernel that slept may never
        return to the interrupted instruction."""
        self._stack = stack = self._stacks[KERNEL]
        traps = [(depth, frame) for depth, frame in enumerate(stack) if isinstance(frame, _Trap)]
        if not traps:
            return None  # the kernel starts an app
        from_app = [trap for trap in traps if trap[1].before is None]
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
        """End the calls from this depth on and add their costs to their callers."""
        while len(self._stack) > depth:
            ended = self._stack.pop()
            self._count(ended, cut)
            caller = self._running()
            if isinstance(ended, _Active) and caller is not None:
                for call in (caller.call, *(caller.inner[site] for site in caller.at)):
                    call.whole.add(ended.call.whole)

    def _charge(self, step: Step, code: Program, cost: Cost) -> None:
        # A trace begins inside a call and may continue at an address without a visible jump.
        active = self._running() or self._enter(step, code, None, cut=True)
        outer, *inner = code.scopes(step.pc)
        # At the start of a cut call, the inlined calls in it are also cut.
        new = active.call.cut and not active.call.whole.cycles
        for depth, scope in enumerate(inner):
            call = active.inner.get(scope.site)
            if call is not None and step.pc in call.ran and scope.site not in active.at:
                # It is called again: end the previous call and those inside it.
                for site, inner_call in list(active.inner.items()):
                    if scope.site in (site, *inner_call.around):
                        self._count_call(active.inner.pop(site))
                call = None
            if call is None:
                around = tuple(scope.site for scope in inner[:depth])
                call = active.inner[scope.site] = Call(scope, code, new, True, around=around)
                call.caller = active.inner[around[-1]] if around else active.call
                call.called_at = _line(inner[depth - 1] if depth else outer)
            call.ran.add(step.pc)
            call.whole.add(cost)
        active.call.whole.add(cost)
        (active.inner[inner[-1].site] if inner else active.call).own.add(cost)
        active.at = tuple(scope.site for scope in inner)
        active.line = _line(inner[-1] if inner else outer)
        if self._graph is not None:
            self._graph.charge(code, inner[-1] if inner else outer, cost)
