# SPDX-License-Identifier: Apache-2.0 OR MIT
"""This compares two kernels: by two profiles of one row, where instructions were added or saved,
where cycles, and which cycles only moved with the code; and by two ELF files, which functions and
objects came, went, grew or shrank.

Instructions tell what the code does. A function that retires as many of them on both sides does
the same; if it takes other cycles, then because it or its data lie elsewhere: layout.
"""

import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from tockmark.base.errors import TockmarkError
from tockmark.profile.file import Share, StoredProfile, hashed_title, sum_shares
from tockmark.profile.report import RULE, NamedTable, first_rows
from tockmark.profile.run import ProfileOptions, profile
from tockmark.profile.symbols import readable, without_types
from tockmark.show import text
from tockmark.suite.catalogue import ICACHE, Catalogue
from tockmark.target.elf import Elf, Piece, pieces, read_elf

COLUMNS = (
    ("instr.", "base", 7),
    ("", "new", 7),
    ("", "+/-", 7),
    ("cycles", "base", 7),
    ("", "new", 7),
    ("", "+/-", 7),
    ("in body", "+/-", 7),
)
SIZE_COLUMNS = (("bytes of", "base", 8), ("flash", "new", 8), ("", "+/-", 8), ("RAM", "+/-", 8))
SHOWN = 12  # lines of a table; the rest in one
NOTHING = Share("", {})

UNNAMED = "what has no symbol"
# Names that number what they stand for; another build numbers it otherwise.
_NUMBERED = (
    (re.compile(r"^\.Lanon\.|^\.L__unnamed_"), "constants"),
    (re.compile(r"^OUTLINED_FUNCTION_"), "OUTLINED_FUNCTION_*"),
    (re.compile(r"^\.Lswitch\.table\."), "switch tables"),
)


class TwoSides:
    """What takes instructions and cycles on two sides."""

    base: Share | StoredProfile
    new: Share | StoredProfile

    @property
    def instructions(self) -> int:
        return self.new.instructions - self.base.instructions

    @property
    def cycles(self) -> int:
        return self.new.cycles - self.base.cycles

    @property
    def in_body(self) -> int:
        """Return those cycles that the benchmark's body takes: they make the row's net."""
        return self.new.in_body - self.base.in_body

    @property
    def is_layout(self) -> bool:
        """Return whether it does the same, and takes other cycles."""
        return self.cycles != 0 and self.instructions == 0


@dataclass(frozen=True)
class ShareChange(TwoSides):
    """One phase or function on both sides; it took nothing on a side that has none."""

    name: str
    base: Share
    new: Share


@dataclass(frozen=True)
class Diff(TwoSides):
    """What is other in the new kernel. Phases and functions are the same cycles; those with the
    largest change in instructions first, then those in cycles."""

    base: StoredProfile
    new: StoredProfile
    phases: tuple[ShareChange, ...]
    functions: tuple[ShareChange, ...]

    @property
    def changed(self) -> tuple[ShareChange, ...]:
        """Return the functions that retire more or fewer instructions."""
        return tuple(change for change in self.functions if change.instructions)

    @property
    def moved(self) -> tuple[ShareChange, ...]:
        """Return the functions that do the same in other cycles."""
        return tuple(change for change in self.functions if change.is_layout)

    @property
    def layout(self) -> int:
        """Return the cycles of functions that do the same."""
        return sum(change.cycles for change in self.moved)


@dataclass(frozen=True)
class SymbolSize:
    """What all pieces of one name take, in bytes; a function has one for each set of types."""

    pieces: int = 0
    flash: int = 0
    ram: int = 0


@dataclass(frozen=True)
class Growth:
    """One name on both sides; None: there is none of it."""

    name: str
    base: SymbolSize | None
    new: SymbolSize | None

    @property
    def flash(self) -> int:
        """Return the bytes of flash that it takes more."""
        return (self.new or SymbolSize()).flash - (self.base or SymbolSize()).flash

    @property
    def ram(self) -> int:
        """Return the bytes of RAM that it takes more."""
        return (self.new or SymbolSize()).ram - (self.base or SymbolSize()).ram


def are_profiles(files: Sequence[Path], benchmark: str | None) -> bool:
    """Return whether files are profiles, not kernels. TockmarkError if they are of both kinds, or
    profiles and a benchmark are given."""
    stored = [path.suffix == ".json" for path in files]
    if len(set(stored)) > 1:
        raise TockmarkError("--diff has a profile and a kernel", "give two of one kind")
    if stored[0] and benchmark is not None:
        raise TockmarkError("profiles say what they are of", f"leave out {benchmark}")
    return stored[0]


def diff_kernels(
    base: ProfileOptions, new: ProfileOptions, catalogue: Catalogue
) -> tuple[Diff, tuple[Growth, ...]]:
    """Profile a row on two kernels, in folders of their own below the first one's, and compare the
    profiles and the sizes. TockmarkError as for a profile."""
    sides = replace(base, out=base.out / "base"), replace(new, out=base.out / "new")
    found = diff_profiles(*(profile(side, catalogue)[0] for side in sides))
    return found, growth(*(read_elf(side.kernel.path) for side in sides))


def diff_profiles(base: StoredProfile, new: StoredProfile) -> Diff:
    """Compare two profiles. TockmarkError if they are of different rows, languages or cache
    settings."""
    for what, one, other in (
        ("", base.label, new.label),
        ("i-cache ", ICACHE[base.icache], ICACHE[new.icache]),
        ("board ", base.board, new.board),
    ):
        if one != other:
            raise TockmarkError(
                f"the profiles are of {what}{one} and of {what}{other}",
                "give two of the same row, board and cache setting",
            )
    phases, functions = _changes(base.phases, new.phases), _changes(base.functions, new.functions)
    return Diff(base, new, phases, functions)


def _changes(base: Sequence[Share], new: Sequence[Share]) -> tuple[ShareChange, ...]:
    before = {share.name: share for share in base}
    after = {share.name: share for share in new}
    names = {name: name for name in before if name in after} | _moved(before, after)
    changes = [
        ShareChange(names.get(name, name), share, after[names[name]] if name in names else NOTHING)
        for name, share in before.items()
    ]
    came = after.keys() - set(names.values())
    changes += [ShareChange(name, NOTHING, after[name]) for name in came]
    return tuple(sorted(changes, key=lambda c: (-abs(c.instructions), -abs(c.cycles), c.name)))


def _moved(before: Collection[str], after: Collection[str]) -> dict[str, str]:
    """Pair functions of the same name in a file of the same name, where each side has but one that
    the other lacks: the two kernels were built in different folders, or the file was moved."""
    sides: list[dict[tuple[str, str], list[str]]] = []
    for own, other in ((before, after), (after, before)):
        lacking: dict[tuple[str, str], list[str]] = {}
        for name in own:
            if name not in other:
                function, _, file = name.rpartition(" (")
                lacking.setdefault((function, file.rpartition("/")[2]), []).append(name)
        sides.append({key: names for key, names in lacking.items() if key[0] and len(names) == 1})
    return {names[0]: sides[1][key][0] for key, names in sides[0].items() if key in sides[1]}


def growth(base: Elf, new: Elf) -> tuple[Growth, ...]:
    """Return all names whose sizes differ, the largest change first. They add up to the change of
    the kernel's `flash_bytes`."""
    sides = [list(pieces(elf)) for elf in (base, new)]
    known = readable(piece.name for side in sides for piece in side)
    before, after = (_symbol_sizes(side, known) for side in sides)
    found = [
        Growth(name, before.get(name), after.get(name)) for name in before.keys() | after.keys()
    ]
    changed = [one for one in found if one.flash or one.ram]
    return tuple(sorted(changed, key=lambda one: (-abs(one.flash) - abs(one.ram), one.name)))


def _symbol_sizes(all_pieces: Iterable[Piece], known: dict[str, str]) -> dict[str, SymbolSize]:
    found: dict[str, SymbolSize] = {}
    for piece in all_pieces:
        name = known[piece.name]
        numbered = (together for pattern, together in _NUMBERED if pattern.search(name))
        name = next(numbered, without_types(name) if name else UNNAMED)
        size = found.get(name, SymbolSize())
        found[name] = SymbolSize(
            size.pieces + 1,
            size.flash + piece.in_flash * piece.size,
            size.ram + piece.in_ram * piece.size,
        )
    return found


def diff_text(diff: Diff, growth: Sequence[Growth] | None = None) -> str:
    """Show what moved, and by how much; sizes where `growth` is known."""
    lines = [
        f"{diff.base.label}, i-cache {ICACHE[diff.base.icache]}:"
        f" {diff.instructions:+} instructions, {diff.cycles:+} cycles,"
        f" {diff.layout:+} of them by layout alone",
        f"base    {hashed_title(diff.base.kernel)}",
        f"new     {hashed_title(diff.new.kernel)}",
    ]
    for what, changes, total in (
        ("phase", diff.phases, "sum"),
        ("function that does more, or less", diff.changed, "sum of these"),
        ("function that does the same elsewhere", diff.moved, "layout alone"),
    ):
        lines += ["", *_table(what, changes, total)]
    if growth is not None:
        lines += ["", *_sizes(growth)]
    return "\n".join(lines)


def diff_json(diff: Diff, growth: Sequence[Growth] | None = None) -> dict[str, object]:
    """Return what diff_text shows for other programs: both sides of each phase and function, and of
    each name whose size changed (null: that side has none of it), in bytes."""

    def both_sides(changes: Sequence[ShareChange]) -> list[dict[str, object]]:
        figures = ("instructions", "cycles", "in_body")
        return [
            {
                "name": one.name,
                **{of: [getattr(one.base, of), getattr(one.new, of)] for of in figures},
                "layout": one.is_layout,
            }
            for one in changes
        ]

    found: dict[str, object] = {
        "row": diff.base.label,
        "icache": diff.base.icache,
        "kernels": [hashed_title(diff.base.kernel), hashed_title(diff.new.kernel)],
        "instructions": diff.instructions,
        "cycles": diff.cycles,
        "layout_cycles": diff.layout,
        "phases": both_sides(diff.phases),
        "functions": both_sides(diff.functions),
    }
    if growth is not None:
        found["sizes"] = [asdict(one) for one in growth]
    return found


def _table(what: str, changes: Sequence[ShareChange], total: str) -> list[str]:
    def together(some: Sequence[ShareChange], name: str) -> ShareChange:
        sides = (
            sum_shares((one.base for one in some), name),
            sum_shares((one.new for one in some), name),
        )
        return ShareChange(name, *sides)

    table = NamedTable(what, COLUMNS)
    whole = together(changes, total)
    for one in (*first_rows(changes, SHOWN, together), whole):
        if one is whole:
            table.add(RULE)
        table.add_named(
            one.name,
            *(one.base.instructions, one.new.instructions, _signed(one.instructions)),
            *(one.base.cycles, one.new.cycles, _signed(one.cycles)),
            _signed(one.in_body),
        )
    return table.text()


def _sizes(growth: Sequence[Growth]) -> list[str]:
    if not growth:
        return ["No function or object came, went or changed its size."]
    table = NamedTable("function or object", SIZE_COLUMNS, text.shortened)

    def together(some: Sequence[Growth], name: str) -> Growth:
        grown = sum(one.flash for one in some), sum(one.ram for one in some)
        return Growth(name, SymbolSize(), SymbolSize(0, *grown))

    whole = together(growth, "sum")
    for one in (*first_rows(growth, SHOWN, together), whole):
        if one is whole:
            table.add(RULE)
        # Only one name has sizes; what several have together is by how much they grew.
        base, new = (side and side.pieces and side.flash for side in (one.base, one.new))
        went = " (went)" if one.new is None else " (came)" if one.base is None else ""
        table.add_named(one.name, base, new, _signed(one.flash), _signed(one.ram), behind=went)
    return table.text()


def _signed(value: int) -> str:
    return f"{value:+}" if value else ""
