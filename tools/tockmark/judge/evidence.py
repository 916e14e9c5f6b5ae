# SPDX-License-Identifier: Apache-2.0 OR MIT
"""What is said beside a verdict: what both kernels hold in flash and in RAM, how deep the stacks
get, and where the rows that moved most did. Nothing of it decides.
"""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from tockmark.compare.verdict import RowVerdict
from tockmark.errors import file_name
from tockmark.profile.diff import UNNAMED, Diff, Growth, growth, profile_diff
from tockmark.profile.run import ProfileOptions, lines_of, profile, simulators
from tockmark.profile.symbols import Program
from tockmark.rig.elf import Elf, pieces, read_elf
from tockmark.rig.image import build_image
from tockmark.rig.kernel import beyond
from tockmark.rig.protocol import Start
from tockmark.show import text
from tockmark.suite.catalogue import Catalogue, RowName

LINKED = (16, 16)  # bytes, or one part in so many, by which a linker alone may make a symbol differ

# What kernels hold: bytes by section and by symbol, without what only fills up


@dataclass(frozen=True)
class Grown:
    """A section whose size is another; 0: it is not there."""

    name: str
    base: int
    head: int

    @property
    def change(self) -> int:
        return self.head - self.base


@dataclass(frozen=True)
class Sizes:
    """What the kernels of both sides hold."""

    whole: dict[str, tuple[int, int]]  # flash and RAM
    sections: dict[str, list[Grown]]  # those of each that are not as large
    # Symbols that came or went, and those that grew by more than a linker does by itself, which
    # takes a shorter instruction for a near call. The largest change first.
    symbols: tuple[Growth, ...] = ()


def sizes(base: Path, head: Path) -> Sizes:
    """Return what two kernels hold. TockmarkError if one cannot be read."""
    elves = read_elf(base), read_elf(head)
    whole, sections = {}, {}
    for memory, place in (("flash", "in_flash"), ("RAM", "in_ram")):
        before, after = (_by_section(elf, place) for elf in elves)
        whole[memory] = (before.total(), after.total())
        sections[memory] = grown(before, after)
    return Sizes(whole, sections, tuple(filter(is_more, growth(*elves))))


def _by_section(elf: Elf, place: str) -> Counter[str]:
    """Return the bytes of each section that lie in flash (`in_flash`) or in RAM (`in_ram`)."""
    found: Counter[str] = Counter()
    for piece in pieces(elf):
        found[piece.section] += piece.size if getattr(piece, place) else 0
    return +found


def is_more(one: Growth) -> bool:
    """Return whether a symbol changed by more than another link would change it."""
    if one.base is None or one.new is None:
        return True
    if one.base.pieces != one.new.pieces and one.name != UNNAMED:
        return True
    sides = (one.base.flash, one.new.flash), (one.base.ram, one.new.ram)
    return any(beyond(side, LINKED) for side in sides)


def grown(base: Mapping[str, int], head: Mapping[str, int]) -> list[Grown]:
    """Return the sections that are not as large, the largest change first."""
    found = [
        Grown(name, base.get(name, 0), head.get(name, 0))
        for name in dict.fromkeys([*base, *head])
        if base.get(name) != head.get(name)
    ]
    return sorted(found, key=lambda one: (-abs(one.change), one.name))


# How deep the stacks get: the least stack pointer in the trace of every instruction of a boot,
# which only the simulator with the retirement port has. The kernel's stack is what its symbols say;
# a process's ends where its app's stack begins. RISC-V programs keep nothing below the stack
# pointer, so it tells all.


BOOTS = ("syscall", "ipc-server_first")  # which between them come through most of the kernel
KERNELS = (("_sstack", "_estack"), ("_stack_bottom", "_stack_top"))  # Tock's, the baseline's
APP_TOP = "_stack_top"
SAMPLES = 9
INSN = slice(33, 41)  # where the instruction stands in a line of the trace, right-aligned
UPPER = ("17", "37")  # how auipc and lui to x2 end: the sp that they set lacks its lower bits


@dataclass(frozen=True)
class Depth:
    """How many bytes of stack are in use at most, in any of the boots."""

    kernel: int | None  # None: its symbols do not say where its stack is
    app: int


def depth(options: ProfileOptions, catalogue: Catalogue) -> Depth:
    """Return how deep the stacks of a kernel and of the apps on it get. TockmarkError if the
    simulator for that is not built."""
    _, tracing = simulators(options.board)
    symbols = read_elf(options.kernel.path).addresses
    ends = [(symbols.get(low), symbols.get(high)) for low, high in KERNELS]
    own = next(((low, high) for low, high in ends if low is not None and high is not None), None)
    deepest: Counter[str] = Counter()
    out = options.out / "stack"
    boots = {boot.name: boot for boot in catalogue.boots()}
    for name in BOOTS:
        patches = {"tm_most_samples": SAMPLES}
        image = build_image(boots[name], options.apps, options.kernel, options.board, out, patches)
        start = Start(name, image.flash, options.icache, panics=options.kernel.panics)
        session = tracing.start_here(start, "--uart", str(out / "uart.log"), "--itrace", "-")
        stacks = [(slot.ram_start, slot.symbols[APP_TOP]) for slot in image.slots]
        try:
            deepest |= deepest_in(session.lines(), own, stacks)
        finally:
            session.stop()
    return Depth(deepest["kernel"] if own else None, deepest["app"])


def deepest_in(
    lines: Iterable[str], kernel: tuple[int, int] | None, apps: Sequence[tuple[int, int]]
) -> Counter[str]:
    """Return the bytes of stack in use at most, by the kernel and by an app, by the lines of a
    trace. A stack is its least address and its top; what lies in none is no stack."""
    found: Counter[str] = Counter()
    for line in lines:
        _, set_, value = line.partition(" x2=")
        if not set_ or line[INSN][-2:] in UPPER:  # or half of an address on its way
            continue
        pointer = int(value[:8], 16)
        whose, stacks = ("app", apps) if line[22:23] == "U" else ("kernel", [kernel or (0, 0)])
        for bottom, top in stacks:
            if bottom <= pointer < top:
                found[whose] = max(found[whose], top - pointer)
    return found


# Where a change is: the rows that moved most, profiled on both sides


ROWS = 4  # that are profiled on both sides, unless told otherwise
NAMES = 3  # functions in which a row changed, in a table
FUNCTIONS = 8  # of a row; the rest in one line


def where_lines(row: str, found: Diff, width: int = text.LINE) -> list[str]:
    """Say where a row changed, by the difference of its two profiles."""
    lines = text.wrap(
        f"where   {row}: {found.instructions:+d} instructions, {found.cycles:+d} cycles"
        " of a whole sample, readings included",
        " " * 8,
        width,
    )
    phases = [f"{p.name} {p.instructions:+d}" for p in found.phases if p.instructions]
    if phases:
        lines += text.wrap(f"        instructions by phase: {', '.join(phases)}", " " * 8, width)
    shown, rest = found.changed[:FUNCTIONS], found.changed[FUNCTIONS:]
    said = [(one.instructions, one.cycles, one.name) for one in shown]
    if rest:
        sums = sum(one.instructions for one in rest), sum(one.cycles for one in rest)
        said.append((*sums, f"{len(rest)} more"))
    if found.layout:
        said.append((0, found.layout, "elsewhere, but the same: layout"))
    for instructions, cycles, name in said:
        line = f"        {instructions:+6d} instructions {cycles:+6d} cycles  "
        lines.append(line + text.shortened(name, width - len(line)))
    return lines


def where_words(found: Diff) -> str:
    """Name the functions that a row changed in, the largest change first, or say that it is the
    layout."""
    if not found.changed:
        return "layout" if found.layout else ""
    names = list(dict.fromkeys(_short(one.name) for one in found.changed))
    more = len(names) - NAMES
    return ", ".join(names[:NAMES]) + (f", {more} more" if more > 0 else "")


def _short(name: str) -> str:
    """Return a function's own name, without its path, types and file; of a closure the file."""
    own, _, place = name.partition(" (")
    short = re.sub(r"<[^<>]*>", "", own).rpartition("::")[2] or name
    return f"closure in {Path(place.rstrip(')')).name}" if short.startswith("{closure") else short


def rows_to_profile(moved: Sequence[RowVerdict], catalogue: Catalogue) -> list[RowName]:
    """Return the rows to look into: of different benchmarks, those that moved most in instructions,
    else in cycles. Of what the simulator times there is no profile."""
    found: dict[str, RowName] = {}
    for one in moved:
        known = catalogue.benchmarks.get(one.row.id)
        if known is not None and known.by != "mark":
            found.setdefault(one.row.id, one.row)
    return list(found.values())


def between(row: RowName, sides: Sequence[ProfileOptions], catalogue: Catalogue) -> Diff:
    """Profile a row on both sides, and compare the profiles. TockmarkError if one side has none."""
    cached = row.icache is not False
    # Functions that are inlined have a name by line tables alone: these count if both sides have
    # them.
    known = [lines_of(one.kernel, Program(one.kernel.path)) is not None for one in sides]
    wanted = [
        replace(one, id=row.id, params=row.params, icache=cached, by_symbol=not all(known))
        for one in sides
    ]
    base, head = (
        profile(replace(one, out=one.out / file_name(row.name)), catalogue)[0] for one in wanted
    )
    return profile_diff(base, head)
