# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The report of `tockmark judge`, as text, as JSON and as a comment on a pull request.

It shows the judgement (show/judgement.py), the functions in which the rows that moved most changed,
the flash, RAM and stack of both kernels, and notes. It decides nothing.
"""

import re
import time
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from itertools import repeat
from pathlib import Path

from tockmark.base import paths
from tockmark.base.errors import TockmarkError, file_name
from tockmark.base.paths import shown
from tockmark.base.processes import thread_pool
from tockmark.compare.limits import Limits
from tockmark.compare.pairs import Pair as ComparedPair
from tockmark.compare.verdict import Judgement, RowVerdict
from tockmark.judge.engine import LINKS, PAIRS, JudgeRun, Simulated, compared_waits, judge, loads_of
from tockmark.profile import diff
from tockmark.profile.diff import UNNAMED, Diff, Growth, diff_profiles, growth
from tockmark.profile.run import ProfileOptions, profile, program_with_lines, simulators
from tockmark.profile.symbols import Program, readable
from tockmark.show import text
from tockmark.show.comparison import differing_lines
from tockmark.show.judgement import (
    comment_lines,
    folded_section,
    heading,
    judgement_json,
    screen_lines,
)
from tockmark.show.text import escaped
from tockmark.suite.catalogue import Catalogue, RowName
from tockmark.suite.selection import Selection
from tockmark.target.elf import Elf, pieces, read_elf
from tockmark.target.image import build_image
from tockmark.target.kernel import KernelElf, exceeds_limits, read_kernel
from tockmark.target.progress import task
from tockmark.target.protocol import Start
from tockmark.target.run import RunOptions
from tockmark.trees.builds import KernelPair, Pairs

LINKED = (16, 16)  # bytes, or one part in so many, by which a linker alone may make a symbol differ
BOOTS = ("syscall", "ipc-server_first")  # which between them come through most of the kernel
KERNELS = (("_sstack", "_estack"), ("_stack_bottom", "_stack_top"))  # Tock's, the baseline's
APP_TOP = "_stack_top"
SAMPLES = 9
INSN = slice(33, 41)  # where the instruction stands in a line of the trace, right-aligned
UPPER = ("17", "37")  # how auipc and lui to x2 end: the sp that they set lacks its lower bits
ROWS = 4  # that are profiled on both sides, unless told otherwise
NAMES = 3  # functions in which a row changed, in a table
FUNCTIONS = 8  # of a row; the rest in one line
DETAILED = 2  # profiles whose functions are listed, unless all rows are shown
NAMED = 8  # symbols
NAME = 38  # columns of a symbol
DIGITS = 12  # of a kernel's hash in a folder's name


@dataclass(frozen=True)
class SectionChange:
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
    sections: dict[str, list[SectionChange]]  # those of each that are not as large
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
    return Sizes(whole, sections, tuple(filter(exceeds_linker_noise, growth(*elves))))


def _by_section(elf: Elf, place: str) -> Counter[str]:
    """Return the bytes of each section that lie in flash (`in_flash`) or in RAM (`in_ram`)."""
    found: Counter[str] = Counter()
    for piece in pieces(elf):
        found[piece.section] += piece.size if getattr(piece, place) else 0
    return +found


def exceeds_linker_noise(one: Growth) -> bool:
    """Return whether a symbol changed by more than another link would change it."""
    if one.base is None or one.new is None:
        return True
    if one.base.pieces != one.new.pieces and one.name != UNNAMED:
        return True
    sides = (one.base.flash, one.new.flash), (one.base.ram, one.new.ram)
    return any(exceeds_limits(side, LINKED) for side in sides)


def grown(base: Mapping[str, int], head: Mapping[str, int]) -> list[SectionChange]:
    """Return the sections that are not as large, the largest change first."""
    found = [
        SectionChange(name, base.get(name, 0), head.get(name, 0))
        for name in dict.fromkeys([*base, *head])
        if base.get(name) != head.get(name)
    ]
    return sorted(found, key=lambda one: (-abs(one.change), one.name))


@dataclass(frozen=True)
class Depth:
    """How many bytes of stack are in use at most, in any of the boots."""

    kernel: int | None  # None: its symbols do not say where its stack is
    app: int


def depth(options: ProfileOptions, catalogue: Catalogue) -> Depth:
    """Return how deep the stacks of a kernel and of the apps on it get: the least stack pointer in
    the trace of every instruction of some boots. The kernel's stack is what its symbols say; a
    process's ends where its app's stack begins. RISC-V programs keep nothing below the stack
    pointer. TockmarkError if the simulator with the retirement port is not built."""
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
    known = [program_with_lines(one.kernel, Program(one.kernel.path)) is not None for one in sides]
    wanted = [
        replace(one, id=row.id, params=row.params, icache=cached, by_symbol=not all(known))
        for one in sides
    ]
    base, head = (
        profile(replace(one, out=one.out / file_name(row.name)), catalogue)[0] for one in wanted
    )
    return diff_profiles(base, head)


@dataclass(frozen=True)
class Report:
    """All that is said."""

    judged: JudgeRun
    names: tuple[str, str]  # of the kernels
    folder: Path  # where all is kept
    sizes: Sizes
    where: dict[str, Diff] = field(default_factory=dict)  # by the rows that moved most
    stacks: list[Depth] = field(default_factory=list)  # of both, or of none
    notes: list[str] = field(default_factory=list)
    paired: list[str] = field(default_factory=list)  # what is said of paired links
    unprofiled: list[RowName] = field(default_factory=list)  # of each further benchmark that moved
    waits: list[RowVerdict] = field(default_factory=list)

    @property
    def judgement(self) -> Judgement:
        """Return what the change costs, operation by operation, and how long alarms wait."""
        where = {one.base.label: where_words(one) for one in reversed(self.where.values())}
        return self.judged.judgement.with_functions(where).with_rows(self.waits)

    @property
    def exit_code(self) -> int:
        return self.judgement.exit_code

    @property
    def caveats(self) -> list[str]:
        """Return what a reader must know besides."""
        judgement, found = self.judged.judgement, []
        if any(row.in_doubt for row in judgement.rows) and not self.judged.paired:
            found.append(
                "of what is unsure, further links tell more, or commits, which are linked in pairs"
            )
        if self.judged.looked_again:
            steps = ", then ".join(map(str, self.judged.looked_again))
            found.append(f"rows in doubt, which were measured in further links: {steps}")
        if left := len(self.unprofiled):
            found.append(
                f"{left} more benchmark{'s' if left > 1 else ''} moved, of which no profile says"
                f" where: --profiles {len(self.where) + left}"
            )
        return [*found, *judgement.notes, *self.paired, *self.notes]


def of_pairs(pairs: Pairs, judged: JudgeRun) -> list[str]:
    """Say what is known of paired links: what has changed, what lies elsewhere all the same, and
    which rows differ although they execute as much."""
    links, made = pairs.links, pairs.made
    code = [slot for slot in links.slots if slot.is_code]
    moved = dict.fromkeys(name for pair in made for name in pair.moved)
    astray = dict.fromkeys(name for pair in made for name in pair.retargeted if name not in moved)
    changed = [slot.title for slot in links.changed if slot.is_code]
    found = [
        f"paired links: {sum(slot.is_shared for slot in code) - len(moved)} of {len(code)}"
        f" functions begin at the same address on both sides; {_named(changed)} changed"
    ]
    if moved:
        found.append(f"not at the same address: {_named(list(moved))}")
    if astray:
        found.append(f"unchanged, but leading into what has changed: {_named(list(astray))}")
    if pairs.ended:
        found.append(f"no more than {len(made)} pairs: {pairs.ended}")
    if alone := [pair.row.name for pair in judged.comparison.judged if _cycles_alone(pair)]:
        where = (
            "what has changed lies otherwise inside" if changed else "though no code has changed"
        )
        more = f" and {len(alone) - NAMED} more" * (len(alone) > NAMED)
        found.append(
            "other cycles for as many instructions, with the cache off:"
            f" {', '.join(alone[:NAMED])}{more}; {where}"
        )
    return found


def _cycles_alone(pair: ComparedPair) -> bool:
    """Whether a row takes other cycles for as many instructions, where the cache has no part."""
    counts = pair.values.get("instret")
    cycles = pair.values["cycles"]
    return (
        pair.row.icache is False
        and counts is not None
        and max(abs(a - b) for a, b in zip(counts[0].nets, counts[1].nets, strict=False)) <= 1
        and cycles[0].nets != cycles[1].nets
    )


def _named(symbols: Sequence[str]) -> str:
    """Name symbols as people read them, the first of many."""
    if not symbols:
        return "none"
    known = readable(symbols)
    shown_ = [text.shortened(known.get(one, one), NAME) for one in symbols[:NAMED]]
    return ", ".join(shown_) + f" and {len(symbols) - NAMED} more" * (len(symbols) > NAMED)


def render(report: Report, width: int = text.LINE, every: bool = False) -> str:
    """Return the report as text of so many columns, with all rows if `every` is true."""
    judged, found = report.judged, report.judgement
    lines = screen_lines(found, width, every)
    for row, diff_ in list(report.where.items())[: None if every else DETAILED]:
        lines += [*where_lines(row, diff_, width), ""]
    lines += [*held(report, width), ""]
    for warning in found.warnings:
        lines += text.wrap(f"warning: {warning}", width=width)
    for note in report.caveats:
        lines += text.wrap(f"note: {note}", width=width)
    lines += [f"{side:8}{name}" for side, name in zip(judged.names, report.names, strict=True)]
    lines += differing_lines(judged.comparison.factors)
    known = judged.comparison.rule.spread.title
    lines += [
        *text.wrap(f"spread over links: {known}", width=width),
        f"kept    {shown(report.folder)}",
    ]
    return "\n".join(lines) + "\n"


def held(report: Report, width: int = text.LINE) -> list[str]:
    """Return what is in flash and RAM, by section and symbol, and the stacks, as lines."""
    lines, sizes = [], report.sizes
    for memory, ends in sizes.whole.items():
        sections = ", ".join(f"{one.name} {one.change:+d}" for one in sizes.sections[memory])
        lines += text.wrap(
            f"{memory:8}{_from_to(*ends)}{': ' if sections else ''}{sections}", width=width
        )
    for one in sizes.symbols[:NAMED]:
        lines.append(f"symbol  {text.shortened(symbol_line(one), width - 8)}")
    if len(sizes.symbols) > NAMED:
        lines.append(f"        and {len(sizes.symbols) - NAMED} more symbols; --json has all")
    if len(report.stacks) == 2:
        base, head = report.stacks
        kernel = _from_to(base.kernel, head.kernel)
        lines.append(f"stack   the kernel's {kernel}; the apps' {_from_to(base.app, head.app)}")
    return lines


def _from_to(before: int | None, after: int | None) -> str:
    if before is None or after is None:
        return "is not known"
    return f"{before} bytes, as before" if before == after else f"{before} -> {after} bytes"


def symbol_line(grown: Growth) -> str:
    """Say that a symbol came, went, or has another size."""
    sides = (("", grown.flash), (" of RAM", grown.ram))
    sizes = ", ".join(f"{change:+d} bytes{of}" for of, change in sides if change) or "as large"
    came, went = " came" * (grown.base is None), " went" * (grown.new is None)
    return f"{grown.name}{came}{went}: {sizes}"


def as_json(report: Report) -> dict[str, object]:
    """Return the report for other programs."""
    judged = report.judged
    base, head = report.names
    return {
        "base": base,
        "head": head,
        **judgement_json(report.judgement),
        "notes": report.caveats,
        "looked_again": list(judged.looked_again),
        "where": [{"of": row, **diff.diff_json(one)} for row, one in report.where.items()],
        "sizes": asdict(report.sizes),
        "stacks": [asdict(one) for one in report.stacks],
        "factors": text.as_json(judged.comparison.factors),
        "links": judged.comparison.links,
        "spread": judged.comparison.rule.spread.title,
        "folder": str(report.folder),
    }


def markdown(report: Report) -> str:
    """Return the report as a comment on a pull request: one screen, and the rest folded."""
    judged, found = report.judged, report.judgement
    lines = [heading(found), "", *comment_lines(found)]
    lines += [f"- Warning: {escaped(warning)}" for warning in found.warnings]
    for row, diff_ in report.where.items():
        lines += folded_section(f"Where: {escaped(row)}", _block(where_lines(row, diff_)))
    lines += folded_section("Flash, RAM and stack", _block(held(report)))
    said = [f"{side}: {name}" for side, name in zip(judged.names, report.names, strict=True)]
    said += [*report.caveats, f"spread over links: {judged.comparison.rule.spread.title}"]
    said += [f"{one.name} differs: {one.base} → {one.new}" for one in judged.comparison.factors]
    lines += folded_section("Notes", [f"- {escaped(one)}" for one in said])
    return "\n".join(lines).rstrip() + "\n"


def _block(lines: list[str]) -> list[str]:
    """Set lines in columns. No blank line may be in it, for it would end the block."""
    return ["<pre>", *(escaped(line) or " " for line in lines), "</pre>"]


def explain(
    judged: JudgeRun,
    titles: tuple[str, str],
    kernels: Sequence[KernelElf],
    plain: tuple[Path, Path],
    options: RunOptions,
    folder: Path,
    most: int,
) -> Report:
    """Report on a verdict, with its evidence: the sizes of the kernels as they are linked without
    us (`plain`), and profiles of their links; `most` rows are profiled, and with 0 there are no
    depths of stacks either. What cannot be had is a note, and after Ctrl-C what is there is
    kept."""
    found = Report(judged, titles, folder, sizes(*plain))
    if not most:
        return found
    apps = options.suites[0].apps
    sides = [
        ProfileOptions(kernel, options.board, apps, True, "", {}, folder / name)
        for kernel, name in zip(kernels, judged.names, strict=True)
    ]
    try:
        simulators(options.board)
        rows = rows_to_profile(judged.judgement.moved, options.catalogue)
        found.unprofiled.extend(rows[most:])
        for row in rows[:most]:
            try:
                with task(f"where {row.name} moved"):
                    found.where[row.name] = between(row, sides, options.catalogue)
            except TockmarkError as error:
                found.notes.append(f"no profile of {row.name}: {error}")
        with task("how deep the stacks get"), thread_pool(options.jobs) as pool:
            found.stacks.extend(pool.map(depth, sides, repeat(options.catalogue)))
    except TockmarkError as error:
        found.notes.append(f"neither profiles nor stacks: {error}")
    except KeyboardInterrupt:
        found.notes.append("interrupted behind the verdict: it has no profiles and stacks, or few")
    return found


@dataclass(frozen=True)
class JudgeOptions:
    """How a change is judged, as the user asked for it."""

    run: RunOptions  # of both sides, whatever the layouts
    wanted: Selection
    limits: Limits
    most: int | None = None  # links of a side; None: the usual number
    profiles: int = ROWS
    waits: str | None = None  # beside these loads alarms are timed, too
    folder: Path | None = None  # for what is kept; None: one of the two kernels' own


def judge_change(pair: KernelPair, options: JudgeOptions, start: float) -> Report:
    """Judge a change, and report on it. `start` is when that began, by time.monotonic."""
    # A build that fails shall do so before anything is simulated.
    kernels = [read_kernel(links.up_to(1)[0]) for links in pair.links]
    loads = loads_of(kernels, options.waits)
    hashes = "-".join(kernel.sha256[:DIGITS] for kernel in kernels)
    folder = options.folder or paths.JUDGED / hashes
    base, head = (
        Simulated(name, links, options.run, folder)
        for name, links in zip(("base", "head"), pair.links, strict=True)
    )
    most, paired = options.most or (PAIRS if pair.pairs else LINKS), pair.pairs is not None
    judged = judge(base, head, options.wanted, options.limits, most, paired=paired)
    for side, result in zip((base, head), judged.results, strict=True):
        side.keep(result)
    seconds, building = time.monotonic() - start, sum(one.seconds for one in pair.builders)
    plain = (pair.links[0].plain, pair.links[1].plain)
    found = explain(judged, pair.titles, kernels, plain, options.run, folder, options.profiles)
    found.waits.extend(compared_waits(kernels, loads, options.run, folder))
    found.paired.extend(of_pairs(pair.pairs, judged) if pair.pairs else [])
    if pair.unpaired:
        found.notes.append(f"the links are not paired: {pair.unpaired}")
    found.notes.extend(f"{side.name}: {side.effort}" for side in (base, head))
    found.notes.append(f"it took {seconds:.0f} s, building {building:.0f} of them")
    return found
