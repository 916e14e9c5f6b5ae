# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Read the function of Verilator's C++ that evaluates a clock, and guard logic in it with tests, so
that it is skipped while its inputs are unchanged.

The function is straight-line code: one block per clock, of assignments and `if`s. A piece of logic
is a statement and all earlier statements whose values nothing else reads. Its statements move to
the last one. A statement may move if no statement in between reads or writes its results, or writes
its inputs; other statements do not become part of the piece. The results then depend only on the
inputs: the values that the piece reads before it writes them.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import count

from cpp_statements import DECLARATION, Effects, closing, gather, parsed, sink, statements

FUNCTION = "void Vcore___024root___eval_nba(Vcore___024root* vlSelf) {"
BLOCK = 20_000  # characters of an `if` that is the logic of a clock
FEW = 12  # inputs whose test is worth it
ELEMENT = re.compile(r"^(?:vlSelfRef\.)?(\w+)\s*\[(\d+)U\]\s*=(?!=)")
ZERO = re.compile(r"^(\w+) = 0;$")
OPERATORS = re.compile(r"[&|^?+<>~*-]|==")


@dataclass(frozen=True)
class SkippableLogic:
    """Logic that may be skipped: the places of its statements; the last place is its end."""

    places: tuple[int, ...]
    ends: frozenset[int]  # the places whose values other logic reads
    inputs: tuple[str, ...]
    writes: frozenset[str]


class ClockLogic:
    """The statements of the function, with their blocks."""

    def __init__(self, source: str) -> None:
        if "___eval_ico" in source:
            raise ValueError("logic hangs on an input of the core: it is evaluated elsewhere too")
        start = source.index("{", source.index(FUNCTION)) + 1
        end = closing(source, start - 1)
        self.before, self.after = source[:start], source[end:]
        self.code: list[str] = []
        self.block: list[int] = []  # of each statement; -1: in none
        for number, statement in enumerate(statements(source[start:end])):
            text = statement.strip()
            if text.startswith("if ") and len(text) > BLOCK:
                opens = statement.index("{", closing(statement, statement.index("(")))
                closes = closing(statement, opens)
                self._add(-1, statement[: opens + 1])
                for inner in statements(statement[opens + 1 : closes]):
                    self._add(number, inner)
                self._add(-1, statement[closes:])
            else:
                self._add(-1, statement)
        self.types = {m[2]: m[1] for statement in self.code if (m := DECLARATION.match(statement))}
        self.types["seldom_number"] = "QData"  # of guard_logic.py
        self.effects = [
            Effects() if self._opens_or_closes(i) else parsed(statement).effects
            for i, statement in enumerate(self.code)
        ]
        self.elements = {
            place: (match[1], match[2])
            for place, statement in enumerate(self.code)
            if (match := ELEMENT.match(statement.strip()))
        }
        self.seldom: set[str] = set()
        self._numbers = count()  # of guards
        self._declared: list[str] = []
        self._kept: set[str] = set()
        self._index()

    def _add(self, block: int, code: str) -> None:
        self.code.append(code)
        self.block.append(block)

    def _opens_or_closes(self, place: int) -> bool:
        return self.block[place] == -1 and (
            self.code[place].endswith("{") or self.code[place].startswith("}")
        )

    def _index(self) -> None:
        self.readers: dict[str, set[int]] = {}
        self.writers: dict[str, set[int]] = {}
        for place, effects in enumerate(self.effects):
            for name in effects.reads:
                self.readers.setdefault(name, set()).add(place)
            if self.block[place] == -1 and ZERO.match(self.code[place].strip()):
                continue  # a local, before anything happens
            for name in effects.writes:
                self.writers.setdefault(name, set()).add(place)

    # --- registers that are compared once ---------------------------------------------------------

    def compare_once(self, pattern: re.Pattern[str], costs: int) -> None:
        """Compare the registers of a pattern once, after the last statement that writes one, and
        only if one was written. Compute long expressions of these registers alone only if one
        has changed. Statements that write nothing else must write them, all in one block."""
        registers = sorted(name for name in self.writers if pattern.fullmatch(name))
        blocks = {self.block[place] for name in registers for place in self.writers[name]}
        if len(blocks) != 1 or -1 in blocks:
            return
        last = max(place for name in registers for place in self.writers[name])
        self.seldom = set(registers)
        grown = True
        while grown:  # and all values computed from them alone, later in the same cycle
            more = {
                name
                for name, places in self.writers.items()
                if name not in self.seldom
                and all(place > last and self.block[place] != -1 for place in places)
                and all(self.effects[place].reads - {name} <= self.seldom for place in places)
                and (self.effects[min(places)].sets >= {name} or len(places) > 1)
                and self.effects[min(places)].plain
            }
            self.seldom |= more
            grown = bool(more)
        for place in range(last + 1, len(self.code)):
            effects = self.effects[place]
            if (
                self.block[place] == self.block[last]
                and effects.writes
                and effects.reads | effects.writes <= self.seldom
                and all(self.writers.get(name) == {place} for name in effects.writes)
                and len(OPERATORS.findall(self.code[place])) >= costs
            ):
                self._keep(effects.writes)
                self.code[place] = (
                    f"\n        if (VL_UNLIKELY(seldom_changed)) {{{self.code[place]}}}"
                )
        for place in {place for name in registers for place in self.writers[name]}:
            block = [parsed(self.code[place])]
            gather(block, set(registers), "seldom_written")
            self.code[place] = "".join(statement.text() for statement in block)
        test = self._changed("seldom_registers", registers)
        self._declared.append(f"static Numbers<{self._types(registers)}> seldom_numbers;\n")
        number = f"seldom_numbers.of({self._given(registers)})"
        self.code[last] += f"""
        if (VL_UNLIKELY(seldom_written)) {{
            seldom_written = false;
            seldom_changed = {test};
            if (seldom_changed) seldom_number = {number};
        }}"""
        self.before += "\n    bool seldom_changed = false;"

    # --- pieces -----------------------------------------------------------------------------------

    def guard_ends(self, end: re.Pattern[str]) -> None:
        """Guard the logic that ends in a variable of this name, where it may be skipped."""
        firsts: list[set[int]] = []
        for name in sorted(name for name in self.writers if end.fullmatch(name)):
            places = self.writers[name]
            if any(self.block[i] == -1 or not self.effects[i].plain for i in places):
                continue
            elements = all(self.elements.get(i, ("",))[0] == name for i in places)
            firsts += [{i} for i in sorted(places)] if elements else [set(places)]
        for first in firsts:
            piece = self._piece(first)
            if piece is not None:
                self._guard(piece)

    def guard_of_one_input(self, costs: int) -> None:
        """Guard statements that read only the same variable, if they are many or long."""
        by_input: dict[tuple[int, str], list[int]] = {}
        for place, effects in enumerate(self.effects):
            inputs = effects.reads - self.seldom
            alone = all(self.writers.get(name) == {place} for name in effects.writes)
            if self.block[place] == -1 or len(inputs) != 1 or not effects.plain or not alone:
                continue
            if effects.writes == effects.sets and not effects.writes & effects.reads:
                by_input.setdefault((self.block[place], min(inputs)), []).append(place)
        for places in by_input.values():
            if sum(len(OPERATORS.findall(self.code[place])) for place in places) >= costs:
                piece = self._piece(set(places))
                if piece is not None and len(piece.inputs) <= FEW:
                    self._guard(piece)

    def _piece(self, first: set[int]) -> SkippableLogic | None:
        end = max(first)
        if {self.block[place] for place in first} != {self.block[end]}:
            return None
        taken = self._that_may_stand_at(end, self._read_here_only(first, end))
        sum_ = Effects.of_all(self.effects[place] for place in sorted(taken))
        for name in sum_.writes:
            others = self.writers[name] - taken
            read = self.readers.get(name, set()) - taken
            if others and not self._other_elements(name, end, others, taken):
                return None
            element = self.elements.get(end, ("", ""))[0] == name
            if read and name not in sum_.sets and not element:
                return None  # a part of it keeps an older value
        constant = {name for name in sum_.reads if "__DOT__" in name and name not in self.writers}
        inputs = sorted(sum_.reads - self.seldom - constant)
        ends = frozenset(
            place
            for place in taken
            if any(self.readers.get(name, set()) - taken for name in self.effects[place].writes)
        )
        return SkippableLogic(tuple(sorted(taken)), ends, tuple(inputs), frozenset(sum_.writes))

    def _other_elements(self, name: str, end: int, others: set[int], taken: set[int]) -> bool:
        """Return whether the name is an array and each statement sets a different element."""
        set_ = [self.elements.get(place, ("", "")) for place in {end, *others}]
        return (
            self.writers[name] & taken == {end}
            and all(array == name for array, _ in set_)
            and len({index for _, index in set_}) == len(set_)
        )

    def _read_here_only(self, first: set[int], end: int) -> set[int]:
        """Return these statements, and the statements of their block before the end whose values
        nothing else reads."""
        taken, grown = set(first), True
        while grown:
            grown = False
            inputs = Effects.of_all(self.effects[place] for place in sorted(taken)).reads
            for name in sorted(inputs - self.seldom):
                places = self.writers.get(name, set()) - taken
                if not places or any(
                    self.block[place] != self.block[end]
                    or place > end
                    or not self.effects[place].plain
                    for place in places
                ):
                    continue
                written = {other for place in places for other in self.effects[place].writes}
                if all(self.readers.get(other, set()) <= taken | places for other in written):
                    taken |= places
                    grown = True
        return taken

    def _that_may_stand_at(self, end: int, taken: set[int]) -> set[int]:
        left, shrunk = set(taken), True
        while shrunk:
            shrunk = False
            for place in sorted(left - {end}):
                mine = self.effects[place]
                for between in range(place + 1, end):
                    other = self.effects[between]
                    if between not in left and (
                        other.writes & (mine.reads | mine.writes) or other.reads & mine.writes
                    ):
                        left.discard(place)
                        shrunk = True
                        break
        return left

    def _guard(self, piece: SkippableLogic) -> None:
        """Move the statements of a piece to its end, behind a test of its inputs, each to where
        its value is used."""
        *others, end = piece.places
        sum_ = Effects.of_all(self.effects[place] for place in piece.places)
        body = [parsed(self.code[end])]
        for place in reversed(others):
            if place in piece.ends:
                body.insert(0, parsed(self.code[place]))
            else:
                sink(parsed(self.code[place]), body, several=True)
            self.code[place], self.effects[place] = "", Effects()
        text = "".join(statement.text() for statement in body)
        number = next(self._numbers)
        out = self._only_value(piece)
        if out is not None and self.seldom:
            types, given = self._types(piece.inputs), self._given(piece.inputs)
            self._declared.append(f"static Known<CData, {types}> known_{number};\n")
            test = f"!known_{number}.find(seldom_number, {out}, {given})"
            text += f"\n            known_{number}.keep({out});"
        else:
            test = self._changed(f"inputs_{number}", ("seldom_number", *piece.inputs))
        self.code[end] = f"\n        if (VL_UNLIKELY({test})) {{{text}\n        }}"
        self.effects[end] = sum_
        self._keep(piece.writes.union(piece.inputs))
        self._index()

    def _only_value(self, piece: SkippableLogic) -> str | None:
        """Return the result of a piece if it is one element of an array of bits, else None. Several
        such results are remembered."""
        array, index = self.elements.get(piece.places[-1], ("", ""))
        read = {name for name in piece.writes if self.readers.get(name, set()) - set(piece.places)}
        alone = read == {array} and not set(piece.inputs) & piece.writes
        return f"vlSelfRef.{array}[{index}U]" if alone else None

    def _keep(self, written: Iterable[str]) -> None:
        self._kept |= {name for name in written if name in self.types}

    def _changed(self, name: str, inputs: Sequence[str]) -> str:
        """Declare a variable that keeps these inputs. Return the test whether one has changed."""
        self._declared.append(f"static Inputs<{self._types(inputs)}> {name};\n")
        return f"{name}.changed({self._given(inputs)})"

    def _types(self, inputs: Iterable[str]) -> str:
        types = (self.types.get(name) or f"decltype(Vcore___024root::{name})" for name in inputs)
        return ", ".join(types)

    def _given(self, inputs: Iterable[str]) -> str:
        return ", ".join(name if name in self.types else f"vlSelfRef.{name}" for name in inputs)

    # --- the output -------------------------------------------------------------------------------

    def declarations(self) -> str:
        """Return the declarations that precede all code."""
        return "".join(self._declared)

    def text(self) -> str:
        """Return the whole source, changed."""
        code = []
        for place, statement in enumerate(self.code):
            if self.block[place] == -1:
                match = DECLARATION.match(statement)
                if match and match[2] in self._kept:
                    statement = statement.replace(match[1], f"static {match[1]}", 1)
                zero = ZERO.match(statement.strip())
                if zero and zero[1] in self._kept:
                    continue
            code.append(statement)
        return self.before + "".join(code) + self.after
