# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Compare two kernels: by two profiles of a row, or by the sizes of functions and objects in two
ELF files.

The instruction count shows what the code does. A function that retires the same number of
instructions on both sides does the same work. If its cycles differ, only layout has changed: the
function or its data moved to another address.
"""

import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from tockmark.base.errors import TockmarkError
from tockmark.profile.file import Share, StoredProfile, hashed_title, sum_shares
from tockmark.profile.report import figure_cells, first_rows, last_folder, named_table
from tockmark.profile.run import ProfileOptions, profile
from tockmark.profile.symbols import readable, without_types
from tockmark.show import text
from tockmark.suite.catalogue import ICACHE, Catalogue
from tockmark.target.elf import Elf, Piece, pieces, read_elf

SIDES = ("\nbase", "\nnew")
COLUMNS = (*SIDES, "instr.\n+/-", *SIDES, "cycles\n+/-", "in body\n+/-")
SIZE_COLUMNS = (*SIDES, "flash\n+/-", "RAM\n+/-")
SHOWN = 12  # lines of a table; the last sums up the rest
NOTHING = Share("", {})

UNNAMED = "no symbol"
# Names with a number that changes from build to build, and the name of the group.
_NUMBERED = (
    (re.compile(r"^\.Lanon\.|^\.L__unnamed_"), "constants"),
    (re.compile(r"^OUTLINED_FUNCTION_"), "OUTLINED_FUNCTION_*"),
    (re.compile(r"^\.Lswitch\.table\."), "switch tables"),
)


class TwoSides:
    """The instructions and cycles of two sides."""

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
        """The change of the cycles of the benchmark's body, which make up the row's net."""
        return self.new.in_body - self.base.in_body

    @property
    def is_layout(self) -> bool:
        """Whether the instructions are the same and the cycles are not."""
        return self.cycles != 0 and self.instructions == 0


@dataclass(frozen=True)
class ShareChange(TwoSides):
    """A phase or function on both sides; NOTHING if a side does not have it."""

    name: str
    base: Share
    new: Share


@dataclass(frozen=True)
class Diff(TwoSides):
    """The differences of two profiles.

    Phases and functions are two views of the same cycles, sorted by the change of instructions,
    then of cycles, the largest first."""

    base: StoredProfile
    new: StoredProfile
    phases: tuple[ShareChange, ...]
    functions: tuple[ShareChange, ...]

    @property
    def changed(self) -> tuple[ShareChange, ...]:
        """The functions that retire more or fewer instructions."""
        return tuple(change for change in self.functions if change.instructions)

    @property
    def moved(self) -> tuple[ShareChange, ...]:
        """The functions with the same instructions and other cycles."""
        return tuple(change for change in self.functions if change.is_layout)

    @property
    def layout(self) -> int:
        """The change of cycles that is due to layout alone."""
        return sum(change.cycles for change in self.moved)


@dataclass(frozen=True)
class SymbolSize:
    """The total size of all pieces with one name, in bytes; a generic function has a piece per
    instance."""

    pieces: int = 0
    flash: int = 0
    ram: int = 0


@dataclass(frozen=True)
class Growth:
    """The sizes of a name on both sides; None where a side does not have it."""

    name: str
    base: SymbolSize | None
    new: SymbolSize | None

    @property
    def flash(self) -> int:
        """The additional bytes of flash."""
        return (self.new or SymbolSize()).flash - (self.base or SymbolSize()).flash

    @property
    def ram(self) -> int:
        """The additional bytes of RAM."""
        return (self.new or SymbolSize()).ram - (self.base or SymbolSize()).ram


def are_profiles(files: Sequence[Path], benchmark: str | None) -> bool:
    """Return whether files are profiles rather than kernels. Raise TockmarkError if they are a
    mixture, or if a benchmark is given for profiles."""
    stored = [path.suffix == ".json" for path in files]
    if len(set(stored)) > 1:
        raise TockmarkError("--diff got a profile and a kernel", "give two profiles or two kernels")
    if stored[0] and benchmark is not None:
        raise TockmarkError("--diff of two profiles takes no benchmark", f"omit {benchmark}")
    return stored[0]


def diff_kernels(
    base: ProfileOptions, new: ProfileOptions, catalogue: Catalogue
) -> tuple[Diff, tuple[Growth, ...]]:
    """Profile a row on two kernels and compare the profiles and the sizes.

    Each side has a folder of its own in base.out. Raise TockmarkError as `profile` does."""
    sides = replace(base, out=base.out / "base"), replace(new, out=base.out / "new")
    diff = diff_profiles(*(profile(side, catalogue)[0] for side in sides))
    return diff, growth(*(read_elf(side.kernel.path) for side in sides))


def diff_profiles(base: StoredProfile, new: StoredProfile) -> Diff:
    """Compare two profiles. Raise TockmarkError if their rows, languages, boards or cache settings
    differ."""
    for subject, base_value, new_value in (
        ("", base.label, new.label),
        ("i-cache ", ICACHE[base.icache], ICACHE[new.icache]),
        ("board ", base.board, new.board),
    ):
        if base_value != new_value:
            raise TockmarkError(
                f"the profiles are of {subject}{base_value} and of {subject}{new_value}",
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
    added = after.keys() - set(names.values())
    changes += [ShareChange(name, NOTHING, after[name]) for name in added]
    return tuple(sorted(changes, key=lambda c: (-abs(c.instructions), -abs(c.cycles), c.name)))


def _moved(before: Collection[str], after: Collection[str]) -> dict[str, str]:
    """Pair functions of the same name whose files have the same name in another folder, where each
    side has exactly one such function: the kernels were built in different folders, or the file was
    moved."""
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
    """Return all names whose sizes differ, the largest change first. Their sum is the change of the
    kernel's `flash_bytes`."""
    sides = [list(pieces(elf)) for elf in (base, new)]
    names = readable(piece.name for side in sides for piece in side)
    before, after = (_symbol_sizes(side, names) for side in sides)
    growths = [
        Growth(name, before.get(name), after.get(name)) for name in before.keys() | after.keys()
    ]
    changed = [grown for grown in growths if grown.flash or grown.ram]
    return tuple(sorted(changed, key=lambda g: (-abs(g.flash) - abs(g.ram), g.name)))


def _symbol_sizes(all_pieces: Iterable[Piece], names: dict[str, str]) -> dict[str, SymbolSize]:
    sizes: dict[str, SymbolSize] = {}
    for piece in all_pieces:
        name = names[piece.name]
        numbered = (group for pattern, group in _NUMBERED if pattern.search(name))
        name = next(numbered, without_types(name) if name else UNNAMED)
        size = sizes.get(name, SymbolSize())
        sizes[name] = SymbolSize(
            size.pieces + 1,
            size.flash + piece.in_flash * piece.size,
            size.ram + piece.in_ram * piece.size,
        )
    return sizes


def diff_text(diff: Diff, growth: Sequence[Growth] | None = None) -> str:
    """Format the changes of phases and functions, and of sizes if `growth` is given."""
    lines = [
        f"{diff.base.label}, i-cache {ICACHE[diff.base.icache]}:"
        f" {diff.instructions:+} instructions, {diff.cycles:+} cycles,"
        f" {diff.layout:+} of them by layout alone",
        f"base    {hashed_title(diff.base.kernel)}",
        f"new     {hashed_title(diff.new.kernel)}",
    ]
    for subject, changes, total in (
        ("phase", diff.phases, "sum"),
        ("function with other instructions", diff.changed, "sum"),
        ("function that only moved", diff.moved, "layout alone"),
    ):
        lines += ["", *_table(subject, changes, total)]
    if growth is not None:
        lines += ["", *_sizes(growth)]
    return "\n".join(lines)


def diff_json(diff: Diff, growth: Sequence[Growth] | None = None) -> dict[str, object]:
    """Return the comparison as JSON values: both sides of each phase and function, and of each name
    whose size changed in bytes (null: the side does not have it)."""

    def both_sides(changes: Sequence[ShareChange]) -> list[dict[str, object]]:
        figures = ("instructions", "cycles", "in_body")
        return [
            {
                "name": change.name,
                **{name: [getattr(s, name) for s in (change.base, change.new)] for name in figures},
                "layout": change.is_layout,
            }
            for change in changes
        ]

    fields: dict[str, object] = {
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
        fields["sizes"] = [asdict(grown) for grown in growth]
    return fields


def _table(subject: str, changes: Sequence[ShareChange], total: str) -> list[str]:
    def summed(group: Sequence[ShareChange], name: str) -> ShareChange:
        sides = sum_shares((c.base for c in group), name), sum_shares((c.new for c in group), name)
        return ShareChange(name, *sides)

    table = named_table(subject, COLUMNS)
    whole = summed(changes, total)
    for change in (*first_rows(changes, SHOWN, summed), whole):
        if change is whole:
            table.add(text.RULE)
        counts = (change.base.instructions, change.new.instructions, _signed(change.instructions))
        cycles = (change.base.cycles, change.new.cycles, _signed(change.cycles))
        table.add(
            *figure_cells(*counts, *cycles, _signed(change.in_body)), last_folder(change.name)
        )
    return table.text()


def _sizes(growth: Sequence[Growth]) -> list[str]:
    if not growth:
        return ["No function or object was added, removed or resized."]
    table = named_table("function or object", SIZE_COLUMNS)

    def summed(growths: Sequence[Growth], name: str) -> Growth:
        grown = sum(grown.flash for grown in growths), sum(grown.ram for grown in growths)
        return Growth(name, SymbolSize(), SymbolSize(0, *grown))

    whole = summed(growth, "sum")
    for grown in (*first_rows(growth, SHOWN, summed), whole):
        if grown is whole:
            table.add(text.RULE)
        # A line that sums up several names shows only the change.
        base, new = (side and side.pieces and side.flash for side in (grown.base, grown.new))
        note = " (removed)" if grown.new is None else " (new)" if grown.base is None else ""
        changes = _signed(grown.flash), _signed(grown.ram)
        table.add(*figure_cells(base, new, *changes), grown.name + note)
    return table.text()


def _signed(value: int) -> str:
    return f"{value:+}" if value else ""
