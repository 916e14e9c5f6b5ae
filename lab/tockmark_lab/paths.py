# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Walks machine code statically: which paths can it take, from one entry on?

The code is disassembled with binutils. A walk carries, for each register, the few values that it
can have (or none: any), so that branches on known words fall away, jump tables resolve, and calls
find their function. A function is walked anew for each set of known arguments. What comes out is a
graph of blocks, with its loops; what cannot be told is an error that names the place.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from heapq import heappop, heappush
from pathlib import Path

from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from tockmark import paths, processes
from tockmark.errors import TockmarkError
from tockmark.paths import shown
from tockmark.profile.symbols import Program

MOST_VALUES = 40  # that a register is known to have; more are any
MOST_MET = 4  # likewise, by ways that meet
WORD = 0xFFFF_FFFF
NAMES = (
    *("zero", "ra", "sp", "gp", "tp", "t0", "t1", "t2", "s0", "s1"),
    *(f"a{number}" for number in range(8)),
    *(f"s{number}" for number in range(2, 12)),
    *("t3", "t4", "t5", "t6"),
)
NUMBER = {name: number for number, name in enumerate(NAMES)}
RA, A0 = NUMBER["ra"], NUMBER["a0"]
ARGUMENTS = range(A0, A0 + 6)
KEPT = tuple(n for n, name in enumerate(NAMES) if name[0] == "s" or name == "zero")
_LINE = re.compile(r"^\s*([0-9a-f]+):\t\s*([0-9a-f ]+?)\s*\t(\S+)\s*([^#<]*)")
_PLACE = re.compile(r"(-?\w*)\((\w+)\)")
BRANCHES = {"beq", "bne", "blt", "bge", "bltu", "bgeu"}
LOADS = {"lb": 1, "lh": 2, "lw": 4, "lbu": 1, "lhu": 2}
STORES = {"sb": 1, "sh": 2, "sw": 4}
CSR = 0x73  # the opcode of ecall, mret, wfi too, which binutils names

Values = frozenset[int] | None  # None: any
State = tuple[Values, ...]  # by register
ANY: State = (frozenset({0}), *[None] * 31)


@dataclass(frozen=True, slots=True)
class Insn:
    """One instruction. `rd` is 0 where it writes no register; `at` is the base and the offset of a
    load or store, or of a jump by register; `target` is where it may go besides the next."""

    pc: int
    size: int
    op: str
    rd: int = 0
    sources: tuple[int | str, ...] = ()  # a register's name, or a number
    at: tuple[str, int] | None = None
    target: int = 0

    @property
    def next(self) -> int:
        """Return the address behind it."""
        return self.pc + self.size


def _number(text: str) -> int:
    return int(text, 0)


def _read(pc: int, size: int, word: int, op: str, text: str) -> Insn:
    """Return an instruction from its disassembly; aliases become what they stand for."""
    args = [part.strip() for part in text.split(",")] if text.strip() else []
    place = _PLACE.match(args[-1]) if args else None
    at = (place[2], _number(place[1] or "0")) if place else None
    first = NUMBER.get(args[0], 0) if args else 0
    if op in (".4byte", ".word", "csrr", "csrw") or op.startswith("csr"):
        if word & 0x7F != CSR or word >> 12 & 3 == 0:
            raise TockmarkError(f"{pc:#x}: an instruction that is unknown: {word:#x}")
        return Insn(pc, size, "csr", word >> 7 & 31)
    if op.startswith("b"):
        if op.endswith("z"):
            swapped = {"bgtz": "blt", "blez": "bge"}
            op2 = swapped.get(op, op[:-1])
            pair = ("zero", args[0]) if op in swapped else (args[0], "zero")
        else:
            turned = {"bgt": "blt", "ble": "bge", "bgtu": "bltu", "bleu": "bgeu"}
            op2 = turned.get(op, op)
            pair = (args[1], args[0]) if op in turned else (args[0], args[1])
        return Insn(pc, size, op2, 0, pair, None, int(args[-1], 16))
    if op in ("j", "jal"):
        link = 0 if op == "j" else first if len(args) > 1 else RA
        return Insn(pc, size, "jal", link, target=int(args[-1], 16))
    if op in ("jr", "jalr", "ret"):
        at = at or ((args[-1], 0) if args else ("ra", 0))
        link = RA if op == "jalr" else 0
        if op == "jalr" and len(args) > 1:
            link = first
        return Insn(pc, size, "jalr", link, at=at)
    if op in LOADS:
        return Insn(pc, size, op, first, at=at)
    if op in STORES:
        return Insn(pc, size, op, 0, (args[0],), at)
    values = tuple(arg if arg in NUMBER else _number(arg) for arg in args[1:])
    if op in ("auipc", "lui"):
        base = (_number(args[1]) & 0xFFFFF) << 12
        return Insn(pc, size, "li", first, ((base + (pc if op == "auipc" else 0)) & WORD,))
    alias: dict[str, tuple[str, tuple[int | str, ...]]] = {
        "mv": ("add", (*values, 0)),
        "li": ("li", values),
        "neg": ("sub", ("zero", *values)),
        "not": ("xor", (*values, WORD)),
        "zext.b": ("and", (*values, 255)),
        "seqz": ("sltu", (*values, 1)),
        "snez": ("sltu", ("zero", *values)),
        "sltiu": ("sltu", values),
        "slti": ("slt", values),
        "sltz": ("slt", (*values, "zero")),
        "sgtz": ("slt", ("zero", *values)),
    }
    plain = {"addi": "add", "andi": "and", "ori": "or", "xori": "xor"}
    plain |= {"slli": "sll", "srli": "srl", "srai": "sra"}
    name, sources = alias.get(op, (plain.get(op, op), values))
    return Insn(pc, size, name, first, sources)


def disassemble(path: Path) -> dict[int, Insn]:
    """Return all instructions of an ELF file, by address."""
    setup = paths.by_make("setup")
    done = processes.run([paths.OBJDUMP, "-d", path], doing="reading machine code", todo=setup)
    if done.code:
        raise TockmarkError(f"objdump cannot read {shown(path)}", setup)
    code = {}
    for line in done.text.splitlines():
        if found := _LINE.match(line):
            word = found[2].replace(" ", "")
            pc, size = int(found[1], 16), len(word) // 2
            if size in (2, 4) and int(word, 16):
                code[pc] = _read(pc, size, int(word, 16), found[3], found[4])
    return code


def _signed(word: int) -> int:
    return word - (1 << 32) if word >> 31 else word


_ALU: Mapping[str, Callable[[int, int], int]] = {
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "and": lambda a, b: a & b,
    "or": lambda a, b: a | b,
    "xor": lambda a, b: a ^ b,
    "sll": lambda a, b: a << (b & 31),
    "srl": lambda a, b: a >> (b & 31),
    "sra": lambda a, b: _signed(a) >> (b & 31),
    "sltu": lambda a, b: int(a < b),
    "slt": lambda a, b: int(_signed(a) < _signed(b)),
    "mul": lambda a, b: a * b,
}
_HOLDS: Mapping[str, Callable[[int, int], bool]] = {
    "beq": lambda a, b: a == b,
    "bne": lambda a, b: a != b,
    "bltu": lambda a, b: a < b,
    "bgeu": lambda a, b: a >= b,
    "blt": lambda a, b: _signed(a) < _signed(b),
    "bge": lambda a, b: _signed(a) >= _signed(b),
}
_OPPOSITE = {"beq": "bne", "bne": "beq", "bltu": "bgeu", "bgeu": "bltu", "blt": "bge", "bge": "blt"}


def _few(values: Iterable[int]) -> Values:
    found = frozenset(value & WORD for value in values)
    return found if len(found) <= MOST_VALUES else None


def computed(op: str, one: Values, other: Values) -> Values:
    """Return what an operation can give."""
    if op not in _ALU:
        return None
    if one is not None and other is not None:
        return _few(_ALU[op](a, b) for a in one for b in other)
    if op in ("slt", "sltu"):
        return frozenset({0, 1})
    if op == "and":
        for known in (one, other):
            if known is not None and max(known) < MOST_VALUES:
                return _few(a & b for a in range(max(known) + 1) for b in known)
    if (
        op == "srl"
        and one is None
        and other is not None
        and min(shift & 31 for shift in other) >= 27
    ):
        return _few(range(1 << (32 - min(shift & 31 for shift in other))))
    return None


def refined(op: str, one: Values, other: Values) -> tuple[Values, Values] | None:
    """Return what two registers can be where this branch is taken; None: it never is."""
    if one is not None and other is not None:
        pairs = [(a, b) for a in one for b in other if _HOLDS[op](a, b)]
        return (_few(a for a, _ in pairs), _few(b for _, b in pairs)) if pairs else None
    if op == "beq":
        both = one if other is None else other
        return both, both
    if one is None and other is not None and op == "bltu":
        return (None if max(other) > MOST_VALUES else _few(range(max(other)))), other
    if one is not None and other is None and op == "bgeu":
        return one, None if max(one) >= MOST_VALUES else _few(range(max(one) + 1))
    return one, other


@dataclass
class Block:
    """A straight piece of code in a walked function, and where it goes. An edge says whether it is
    a jump; a call comes last in its block, and `calls` are what it may be of."""

    insns: list[Insn]
    states: list[State]
    edges: dict[int, bool] = field(default_factory=dict)
    calls: list["Walked"] = field(default_factory=list)
    leaves: bool = False  # returns, or ends the stretch

    @property
    def start(self) -> int:
        """Return its address."""
        return self.insns[0].pc


@dataclass
class Loop:
    """A loop: where it is entered, and all its blocks."""

    doors: set[int]
    blocks: set[int]

    @property
    def header(self) -> int:
        """Return the first place where it is entered."""
        return min(self.doors)


@dataclass(eq=False)
class Walked:
    """One function with what is known of its arguments."""

    name: str
    entry: int
    state: State
    blocks: dict[int, Block] = field(default_factory=dict)
    loops: list[Loop] = field(default_factory=list)
    states: dict[int, State] = field(default_factory=dict)
    result: Values = frozenset()
    returns: bool = False
    never: bool = False  # called deeper than it ever is

    def all(self) -> Iterator["Walked"]:
        """Yield it and what it calls, once each."""
        seen: set[Walked] = set()
        waiting = [self]
        while waiting:
            one = waiting.pop()
            if one not in seen:
                seen.add(one)
                yield one
                waiting += [callee for block in one.blocks.values() for callee in block.calls]


class Walker:
    """Walks the functions of one ELF file.

    `pointers` says what a pointer may be of: in which function (empty: in any), how far behind
    another pointer it was loaded from, and names of functions: a list for each level at which
    `deepening` is being called, which alone may call itself. `unknown` are addresses of
    words that need not be what the file has; `crate` goes from the front of names."""

    def __init__(
        self,
        program: Program,
        pointers: Iterable[tuple[str, int, list[list[str]]]] = (),
        deepening: str = "",
        unknown: Iterable[int] = (),
        crate: str = "",
    ) -> None:
        self.program = program
        self.code = disassemble(program.path)
        self.pointers = list(pointers)
        self.deepening = deepening
        named = program.functions().items()
        self.names = {address: name.removeprefix(crate) for address, name in named}
        self.unknown = set(unknown)
        self._done: dict[tuple[object, ...], Walked] = {}
        self._under_way: list[tuple[int, int]] = []
        self.most_levels = max((len(levels) for _, _, levels in self.pointers), default=0)

    def walk(self, entry: int, known: Mapping[int, Values] | None = None) -> Walked:
        """Return a function, or code at a label, walked from its entry, of whose registers this
        is known."""
        state = list(ANY)
        for register, values in (known or {}).items():
            state[register] = values
        return self._walked(entry, tuple(state))

    @property
    def level(self) -> int:
        """Return how often the one function that may call itself is being called."""
        return sum(self.name_of(entry) == self.deepening for entry, _ in self._under_way)

    def name_of(self, entry: int) -> str:
        """Return a function's readable name, without types."""
        start = self.program.start_of(entry)
        return self.names.get(start) or self.program.name_at(entry)

    def all(self) -> Iterable[Walked]:
        """Return all functions that were walked so far."""
        return self._done.values()

    def entries(self, name: str) -> list[int]:
        """Return the functions of this name: of a generic one there may be several."""
        found = [entry for entry, known in self.names.items() if known == name]
        if not found:
            raise TockmarkError(f"{self.program.path.name} has no function {name}")
        return found

    def _walked(self, entry: int, state: State) -> Walked:
        name = self.name_of(entry)
        level = self.level
        key = (entry, state, level)
        if key in self._done:
            return self._done[key]
        if (entry, level) in self._under_way:
            chain = " calls ".join(self.name_of(at) for at, _ in [*self._under_way, (entry, 0)])
            raise TockmarkError(f"{name} is recursive: {chain}")
        done = Walked(name, entry, state)
        if name == self.deepening and level == self.most_levels:
            done.never = True
            return done
        self._under_way.append((entry, level))
        try:
            self._follow(done)
        finally:
            self._under_way.pop()
        done.loops = list(loops(done))
        self._done[key] = done
        return done

    def _follow(self, done: Walked) -> None:
        """Find the states of all instructions, and make blocks of them."""
        states = done.states
        states[done.entry] = done.state
        ways: dict[int, list[tuple[int, bool]]] = {}
        calls: dict[int, list[Walked]] = {}
        waiting = [done.entry]  # the first in the code is next: mostly it is before the others
        results: list[Values] = []
        while waiting:
            pc = heappop(waiting)
            if pc not in self.code:
                raise TockmarkError(f"{done.name} runs to {pc:#x}, where no code is")
            insn, state = self.code[pc], states[pc]
            out, callees, left = self._step(done, insn, state)
            calls[pc] = callees
            results += left
            ways[pc] = [(at, at != insn.next) for at, _ in out]
            for at, new in out:
                old = states.get(at)
                joined = new if old is None else _joined(old, new)
                if joined != old:
                    states[at] = joined
                    if at not in waiting:
                        heappush(waiting, at)
        # What was found on the way to a fixed point may be wider than what holds there.
        results = []
        for pc, state in states.items():
            out, calls[pc], left = self._step(done, self.code[pc], state)
            ways[pc] = [(at, at != self.code[pc].next) for at, _ in out]
            results += left
        done.returns = bool(results)
        known = [result for result in results if result is not None]
        union = frozenset().union(*known) if len(known) == len(results) else None
        done.result = union if union is None or len(union) <= MOST_VALUES else None
        reached = {done.entry}
        waiting = [done.entry]
        while waiting:
            further = {at for at, _ in ways[waiting.pop()]} - reached
            reached |= further
            waiting += further
        self._divide(done, {pc: ways[pc] for pc in reached}, calls)

    def _divide(
        self,
        done: Walked,
        ways: Mapping[int, list[tuple[int, bool]]],
        calls: Mapping[int, list[Walked]],
    ) -> None:
        starts = {done.entry}
        for pc, out in ways.items():
            if len(out) != 1 or out[0][1] or calls[pc] or _ends(self.code[pc]):
                starts.update(at for at, _ in out)
        for start in sorted(starts):
            block = Block([], [])
            pc = start
            while True:
                block.insns.append(self.code[pc])
                block.states.append(done.states[pc])
                out = ways[pc]
                last = len(out) != 1 or out[0][0] in starts or calls[pc]
                if last:
                    break
                pc = out[0][0]
            block.edges = dict(out)
            block.calls = calls[pc]
            block.leaves = not out
            done.blocks[start] = block

    def _step(
        self, done: Walked, insn: Insn, state: State
    ) -> tuple[list[tuple[int, State]], list[Walked], list[Values]]:
        """Return where an instruction goes, with which state, what it calls, a0 if it returns."""
        op = insn.op
        if op in BRANCHES:
            return self._branch(insn, state), [], []
        if op in ("mret", "wfi", "ecall", "ebreak", "unimp"):
            return [], [], []
        if op == "jal":
            return self._jump(done, insn, state, [insn.target])
        if op == "jalr":
            assert insn.at is not None
            base = state[NUMBER[insn.at[0]]]
            if base is None and insn.rd == 0 and insn.at == ("ra", 0):
                return [], [], [state[A0]]
            if base is None:
                return self._by_pointer(done, insn, state)
            return self._jump(done, insn, state, sorted(a + insn.at[1] & WORD for a in base))
        return [(insn.next, self._after(insn, state))], [], []

    def _after(self, insn: Insn, state: State) -> State:
        if insn.rd == 0:
            return state
        values = [
            state[NUMBER[source]] if isinstance(source, str) else frozenset({source & WORD})
            for source in insn.sources
        ]
        new: Values = None
        if insn.op == "li":
            new = values[0]
        elif insn.op in LOADS:
            new = self._loaded(insn, state)
        elif len(values) == 2:
            new = computed(insn.op, *values)
        return _with(state, insn.rd, new)

    def _loaded(self, insn: Insn, state: State) -> Values:
        """Return what a load from the program's constants gives."""
        assert insn.at is not None
        base, size = state[NUMBER[insn.at[0]]], LOADS[insn.op]
        if base is None:
            return None
        found = []
        for address in base:
            place = address + insn.at[1] & WORD
            if place in self.unknown or not self.program.is_constant(place):
                return None
            held = self.program.bytes_at(place, size)
            found.append(int.from_bytes(held, "little", signed=insn.op in ("lb", "lh")))
        return _few(found)

    @staticmethod
    def _branch(insn: Insn, state: State) -> list[tuple[int, State]]:
        first, second = (NUMBER[str(source)] for source in insn.sources)
        out = []
        for op, at in ((_OPPOSITE[insn.op], insn.next), (insn.op, insn.target)):
            if found := refined(op, state[first], state[second]):
                out.append((at, _with(_with(state, first, found[0]), second, found[1])))
        return out

    def _jump(
        self, done: Walked, insn: Insn, state: State, targets: list[int]
    ) -> tuple[list[tuple[int, State]], list[Walked], list[Values]]:
        own = self.program.start_of(insn.pc)
        outside = [at for at in targets if (at in self.names and at != own) or insn.rd]
        if not outside:
            return [(at, state) for at in targets], [], []
        if len(outside) != len(targets):
            raise TockmarkError(f"{done.name} jumps at {insn.pc:#x} both in itself and elsewhere")
        return self._call(insn, state, [self._walked(at, _arguments(state)) for at in targets])

    def _call(
        self, insn: Insn, state: State, callees: list[Walked]
    ) -> tuple[list[tuple[int, State]], list[Walked], list[Values]]:
        back = [callee.result for callee in callees if callee.returns]
        if not insn.rd:  # a call in the last place: its return is this function's
            return [], callees, back
        if not back:
            return [], callees, []
        kept = [state[n] if n in KEPT else None for n in range(32)]
        known = [result for result in back if result is not None]
        kept[A0] = frozenset().union(*known) if len(known) == len(back) else None
        return [(insn.next, tuple(kept))], callees, []

    def _by_pointer(
        self, done: Walked, insn: Insn, state: State
    ) -> tuple[list[tuple[int, State]], list[Walked], list[Values]]:
        """Follow a jump by a table of the function's own, or a call by a loaded pointer."""
        assert insn.at is not None
        load = self._giving(insn.at[0], insn.pc, "lw")
        if load is not None and not insn.rd and (targets := self._table(done, load)):
            return [(at, state) for at in targets], [], []
        names = None if load is None or load.at is None else self.pointed(done.name, load.at[1])
        if names is None:
            kind = "calls" if insn.rd else "jumps"
            raise TockmarkError(
                f"{done.name} {kind} by an unknown pointer at {insn.pc:#x}",
                "name in kernel/bounds.toml what it may be",
            )
        entries = [entry for name in names for entry in self.entries(name)]
        return self._call(insn, state, [self._walked(at, _arguments(state)) for at in entries])

    def pointed(self, name: str, offset: int) -> list[str] | None:
        """Return what a pointer is of that this function loads from so far behind another one."""
        level = max(self.level, 1)
        for where, at, levels in self.pointers:
            if at == offset and where in ("", name):
                return levels[min(level, len(levels)) - 1]
        return None

    def _giving(self, register: str, pc: int, op: str) -> Insn | None:
        """Return the instruction before this place that gives a register its value, if it is such
        a one."""
        start = self.program.start_of(pc)
        before = (self.code[at] for at in range(pc - 2, start - 1, -2) if at in self.code)
        found = next((one for one in before if one.rd == NUMBER[register]), None)
        return found if found is not None and found.op == op else None

    def _table(self, done: Walked, load: Insn) -> list[int]:
        """Return the targets in a jump table whose index nothing is known of: the words from its
        start on that are addresses of the function."""
        assert load.at is not None
        add = self._giving(load.at[0], load.pc, "add")
        if add is None or add.pc not in done.states:
            return []
        state = done.states[add.pc]
        known = [state[NUMBER[str(s)]] for s in add.sources if isinstance(s, str)]
        bases = [values for values in known if values is not None and len(values) == 1]
        if len(bases) != 1 or len(known) != 2:
            return []
        at, own, targets = min(bases[0]) + load.at[1], self.program.start_of(load.pc), []
        while self.program.is_constant(at):
            target = int.from_bytes(self.program.bytes_at(at, 4), "little")
            if target not in self.code or self.program.start_of(target) != own:
                break
            targets.append(target)
            at += 4
        return sorted(set(targets))


def _ends(insn: Insn) -> bool:
    return insn.op in ("mret", "wfi", "jalr", "jal") or insn.op in BRANCHES


def _with(state: State, register: int, values: Values) -> State:
    if register == 0:
        return state
    return (*state[:register], values, *state[register + 1 :])


def _joined(one: State, other: State) -> State:
    """Return what holds where two ways meet. A register that counts, and so has ever more values,
    soon has any."""
    return tuple(a if a is b else _met(a, b) for a, b in zip(one, other, strict=True))


def _met(one: Values, other: Values) -> Values:
    if one is None or other is None:
        return None
    both = one | other
    return both if both in (one, other) or len(both) <= MOST_MET else None


def _arguments(state: State) -> State:
    """Return what a callee is told: arguments that are known for sure."""
    told = list(ANY)
    for register in ARGUMENTS:
        values = state[register]
        told[register] = values if values is not None and len(values) == 1 else None
    return tuple(told)


def loops(walked: Walked) -> Iterator[Loop]:
    """Yield the loops of a walked function, outer ones before those inside them.

    A loop is a part of the graph in which each block can be reached from each; its doors are where
    it is entered, which is mostly one place. Without them nothing is left but the loops inside,
    which are found likewise."""
    reached = _reached(walked)
    waiting = [reached]
    while waiting:
        for part in _knots(walked, waiting.pop()):
            ways = (walked.blocks[start].edges for start in reached - part)
            doors = part & ({walked.entry} | {at for edges in ways for at in edges})
            yield Loop(doors, part)
            waiting.append(part - doors)


def _reached(walked: Walked) -> set[int]:
    found, waiting = {walked.entry}, [walked.entry]
    while waiting:
        new = walked.blocks[waiting.pop()].edges.keys() - found
        found |= new
        waiting += new
    return found


def _knots(walked: Walked, region: set[int]) -> Iterator[set[int]]:
    """Yield the parts of a region in which each block can be reached from each."""
    starts = sorted(region)
    place = {start: number for number, start in enumerate(starts)}
    pairs = [(place[s], place[at]) for s in starts for at in walked.blocks[s].edges if at in region]
    if not pairs:
        return
    rows, columns = zip(*pairs, strict=True)
    size = len(starts), len(starts)
    count, labels = connected_components(
        coo_array(([1] * len(pairs), (rows, columns)), shape=size), connection="strong"
    )
    parts: list[set[int]] = [set() for _ in range(count)]
    for start, label in zip(starts, labels, strict=True):
        parts[label].add(start)
    for part in parts:
        if len(part) > 1 or any(at in part for start in part for at in walked.blocks[start].edges):
            yield part
