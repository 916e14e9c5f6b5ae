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
from tockmark.compare.verdict import SAME_KERNEL, Judgement, RowVerdict, sorted_verdicts
from tockmark.judge.engine import (
    MAX_LINKS,
    MAX_PAIRS,
    SAMPLES,
    JudgeRun,
    Simulated,
    compared_waits,
    loads_of,
    measure_and_judge,
)
from tockmark.profile import diff
from tockmark.profile.diff import UNNAMED, Diff, Growth, diff_profiles, growth
from tockmark.profile.report import last_folder
from tockmark.profile.run import (
    ProfileOptions,
    profile,
    program_with_lines,
    simulators,
    traced_boot,
)
from tockmark.profile.symbols import readable
from tockmark.show import text
from tockmark.show.comparison import differing_lines
from tockmark.show.judgement import (
    comment_lines,
    folded_section,
    heading,
    judgement_json,
    next_steps,
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

LINKED = (16, 16)  # bytes, or one part in N: a linker alone may change a symbol's size by as much
BOOTS = ("syscall", "ipc-server_first")  # together they run most of the kernel
KERNELS = (("_sstack", "_estack"), ("_stack_bottom", "_stack_top"))  # Tock's, the baseline's
APP_TOP = "_stack_top"
INSN = slice(33, 41)  # columns of the instruction in a line of the trace, right-aligned
UPPER = ("17", "37")  # the ends of auipc and lui to x2, which do not set the lower bits of sp
ROWS = 4  # that are profiled on both sides, by default
NAMES = 3  # functions in which a row changed, in a table
FUNCTIONS = 8  # per row; the rest share one line
DETAILED = 2  # profiles whose functions are listed, unless all rows are shown
NAMED = 8  # symbols that are listed
DIGITS = 12  # of a kernel's hash, in the name of a folder


@dataclass(frozen=True)
class SectionChange:
    """A section whose size changed; 0: the side does not have it."""

    name: str
    base: int
    head: int

    @property
    def change(self) -> int:
        return self.head - self.base


@dataclass(frozen=True)
class Sizes:
    """The contents of the kernels of both sides, in bytes."""

    whole: dict[str, tuple[int, int]]  # flash and RAM
    sections: dict[str, list[SectionChange]]  # whose size changed, by memory
    # Symbols that appeared, disappeared or grew by more than the linker alone causes (which may
    # replace a near call by a shorter instruction). The largest change first.
    symbols: tuple[Growth, ...] = ()


def sizes(base: Path, head: Path) -> Sizes:
    """Return the sizes of two kernels. TockmarkError if one cannot be read."""
    elves = read_elf(base), read_elf(head)
    whole, sections = {}, {}
    for memory, place in (("flash", "in_flash"), ("RAM", "in_ram")):
        before, after = (_by_section(elf, place) for elf in elves)
        whole[memory] = (before.total(), after.total())
        sections[memory] = section_changes(before, after)
    return Sizes(whole, sections, tuple(filter(exceeds_linker_noise, growth(*elves))))


def _by_section(elf: Elf, place: str) -> Counter[str]:
    """Return the bytes of each section in flash (`in_flash`) or in RAM (`in_ram`)."""
    bytes_by_section: Counter[str] = Counter()
    for piece in pieces(elf):
        bytes_by_section[piece.section] += piece.size if getattr(piece, place) else 0
    return +bytes_by_section


def exceeds_linker_noise(symbol: Growth) -> bool:
    """Return whether a symbol changed by more than a new link would cause."""
    if symbol.base is None or symbol.new is None:
        return True
    if symbol.base.pieces != symbol.new.pieces and symbol.name != UNNAMED:
        return True
    sides = (symbol.base.flash, symbol.new.flash), (symbol.base.ram, symbol.new.ram)
    return any(exceeds_limits(side, LINKED) for side in sides)


def section_changes(base: Mapping[str, int], head: Mapping[str, int]) -> list[SectionChange]:
    """Return the sections whose size changed, the largest change first."""
    changes = [
        SectionChange(name, base.get(name, 0), head.get(name, 0))
        for name in dict.fromkeys([*base, *head])
        if base.get(name) != head.get(name)
    ]
    return sorted(changes, key=lambda section: (-abs(section.change), section.name))


@dataclass(frozen=True)
class Depth:
    """The maximum bytes of stack seen in any of the boots."""

    kernel: int | None  # None: its symbols do not give the address of its stack
    app: int


def stack_depth(options: ProfileOptions, catalogue: Catalogue) -> Depth:
    """Return the maximum stack depth of a kernel and its apps, by the lowest stack pointer in the
    instruction trace of some boots. RISC-V programs store nothing below the stack pointer.

    Symbols give the stack of the kernel and of each app. TockmarkError if no simulator that traces
    instructions is built."""
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
        stacks = [(slot.ram_start, slot.symbols[APP_TOP]) for slot in image.slots]
        with traced_boot(tracing, start) as (simulation, _):
            deepest |= deepest_stacks(simulation.lines(), own, stacks)
    return Depth(deepest["kernel"] if own else None, deepest["app"])


def deepest_stacks(
    lines: Iterable[str], kernel: tuple[int, int] | None, apps: Sequence[tuple[int, int]]
) -> Counter[str]:
    """Return the maximum bytes of stack used by the kernel and by an app in the lines of a trace. A
    stack is given by its lowest address and its top; other values of sp are ignored."""
    depths: Counter[str] = Counter()
    for line in lines:
        _, set_, value = line.partition(" x2=")
        if not set_ or line[INSN][-2:] in UPPER:  # the latter sets half of an address
            continue
        pointer = int(value[:8], 16)
        whose, stacks = ("app", apps) if line[22:23] == "U" else ("kernel", [kernel or (0, 0)])
        for bottom, top in stacks:
            if bottom <= pointer < top:
                depths[whose] = max(depths[whose], top - pointer)
    return depths


def where_lines(row: str, diff_: Diff, width: int | None = None) -> list[str]:
    """Return lines on where a row changed, from the difference of its two profiles."""
    lines = text.wrap(
        f"where   {row}: {diff_.instructions:+d} instructions, {diff_.cycles:+d} cycles"
        " of a whole sample, including the counter reads",
        " " * 8,
        width,
    )
    phases = [f"{p.name} {p.instructions:+d}" for p in diff_.phases if p.instructions]
    if phases:
        lines += text.wrap(f"        instructions by phase: {', '.join(phases)}", " " * 8, width)
    shown, rest = diff_.changed[:FUNCTIONS], diff_.changed[FUNCTIONS:]
    rows = [(change.instructions, change.cycles, change.name) for change in shown]
    if rest:
        sums = sum(change.instructions for change in rest), sum(change.cycles for change in rest)
        rows.append((*sums, f"{len(rest)} more"))
    if diff_.layout:
        rows.append((0, diff_.layout, "same code at another address: layout"))
    for instructions, cycles, name in rows:
        line = f"        {instructions:+6d} instructions {cycles:+6d} cycles  "
        lines += text.wrap(line + last_folder(name), " " * 12, width)
    return lines


def where_text(diff_: Diff) -> str:
    """Return the names of the functions in which a row changed, the largest change first, or
    "layout"."""
    if not diff_.changed:
        return "layout" if diff_.layout else ""
    names = list(dict.fromkeys(_short(change.name) for change in diff_.changed))
    more = len(names) - NAMES
    return ", ".join(names[:NAMES]) + (f", {more} more" if more > 0 else "")


def _short(name: str) -> str:
    """Return a function's own name, without its path, types and file; for a closure its file."""
    own, _, place = name.partition(" (")
    short = re.sub(r"<[^<>]*>", "", own).rpartition("::")[2] or name
    return f"closure in {Path(place.rstrip(')')).name}" if short.startswith("{closure") else short


def rows_to_profile(moved: Sequence[RowVerdict], catalogue: Catalogue) -> list[RowName]:
    """Return the rows to profile: one per benchmark, those that changed most first. Rows that the
    simulator's clock times have no profile."""
    row_by_id: dict[str, RowName] = {}
    for verdict in moved:
        benchmark = catalogue.benchmarks.get(verdict.row.id)
        if benchmark is not None and benchmark.by != "mark":
            row_by_id.setdefault(verdict.row.id, verdict.row)
    return list(row_by_id.values())


def profile_difference(row: RowName, sides: Sequence[ProfileOptions], catalogue: Catalogue) -> Diff:
    """Profile a row on both sides, and compare the profiles. TockmarkError if one side fails."""
    cached = row.icache is not False
    # Only line tables name inlined functions, so use them if both sides have them.
    with_lines = [program_with_lines(side.kernel) is not None for side in sides]
    options_by_side = [
        replace(side, id=row.id, params=row.params, icache=cached, by_symbol=not all(with_lines))
        for side in sides
    ]
    base, head = (
        profile(replace(side, out=side.out / file_name(row.name)), catalogue)[0]
        for side in options_by_side
    )
    return diff_profiles(base, head)


@dataclass(frozen=True)
class Report:
    """The report on a judgement, with its evidence."""

    judged: JudgeRun
    names: tuple[str, str]  # of the kernels
    folder: Path  # with all files
    sizes: Sizes
    where: dict[str, Diff] = field(default_factory=dict)  # by row, for those that changed most
    stacks: list[Depth] = field(default_factory=list)  # of both, or of none
    notes: list[str] = field(default_factory=list)
    paired: list[str] = field(default_factory=list)  # notes on paired links
    unprofiled: list[RowName] = field(default_factory=list)  # one per further benchmark
    waits: list[RowVerdict] = field(default_factory=list)
    identical: bool = False  # both kernels have the same bytes in flash and RAM

    @property
    def judgement(self) -> Judgement:
        """The verdicts on all rows, and on how long alarms wait."""
        where = {diff_.base.label: where_text(diff_) for diff_ in reversed(self.where.values())}
        judged = self.judged.judgement
        rows = [replace(row, where=where.get(row.row.label, row.where)) for row in judged.rows]
        same = self.identical and SAME_KERNEL not in judged.cautions
        return replace(
            judged,
            rows=sorted_verdicts([*rows, *self.waits]),
            cautions=(*[SAME_KERNEL] * same, *judged.cautions),
        )

    @property
    def next_steps(self) -> str:
        """The user's next step."""
        links = 2 * max(map(int, self.judged.comparison.links))
        paired = "" if self.judged.paired else ", or commits, which are linked in pairs"
        return next_steps(self.judgement, f"give --links {links}{paired}")

    @property
    def caveats(self) -> list[str]:
        """Notes for the reader."""
        judgement, caveats = self.judged.judgement, list[str]()
        if self.judged.rows_remeasured:
            steps = ", then ".join(map(str, self.judged.rows_remeasured))
            caveats.append(f"rows in doubt, measured in further links: {steps}")
        if left := len(self.unprofiled):
            caveats.append(
                f"{left} more benchmark{'s' if left > 1 else ''} changed; to profile all, give"
                f" --profiles {len(self.where) + left}"
            )
        return [*caveats, *judgement.notes, *self.paired, *self.notes]


def pairing_notes(pairs: Pairs, judged: JudgeRun) -> list[str]:
    """Return notes on paired links: the changed functions, unchanged functions that moved, and rows
    whose cycles differ although they execute as many instructions."""
    links, made = pairs.links, pairs.made
    code = [slot for slot in links.slots if slot.is_code]
    moved = dict.fromkeys(name for pair in made for name in pair.moved)
    retargeted = dict.fromkeys(
        name for pair in made for name in pair.retargeted if name not in moved
    )
    changed = [slot.title for slot in links.changed if slot.is_code]
    notes = [
        f"paired links: {sum(slot.is_shared for slot in code) - len(moved)} of {len(code)}"
        f" functions begin at the same address on both sides; {_named(changed)} changed"
    ]
    if moved:
        notes.append(f"not at the same address: {_named(list(moved))}")
    if retargeted:
        notes.append(
            f"unchanged, but now calls or points to a moved function: {_named(list(retargeted))}"
        )
    if pairs.ended:
        notes.append(f"only {len(made)} pairs: {pairs.ended}")
    if alone := [pair.row.name for pair in judged.comparison.judged if _cycles_alone(pair)]:
        reason = "code inside the changed function moved" if changed else "though no code changed"
        more = f" and {len(alone) - NAMED} more" * (len(alone) > NAMED)
        notes.append(
            "same instructions, different cycles (i-cache off):"
            f" {', '.join(alone[:NAMED])}{more}; {reason}"
        )
    return notes


def _cycles_alone(pair: ComparedPair) -> bool:
    """Return whether a row has other cycles for as many instructions with the cache off."""
    same = [name for name, (base, head) in pair.values.items() if base.nets == head.nets]
    return pair.row.icache is False and same == ["instret"]


def _named(symbols: Sequence[str]) -> str:
    """Return the readable names of symbols, the first NAMED of them."""
    if not symbols:
        return "none"
    readable_names = readable(symbols)
    shown_ = [readable_names.get(symbol, symbol) for symbol in symbols[:NAMED]]
    return ", ".join(shown_) + f" and {len(symbols) - NAMED} more" * (len(symbols) > NAMED)


def render(report: Report, every: bool = False) -> str:
    """Return the report as text, with all rows if `every` is true."""
    judged, judgement = report.judged, report.judgement
    lines = screen_lines(judgement, every)
    for row, diff_ in list(report.where.items())[: None if every else DETAILED]:
        lines += [*where_lines(row, diff_), ""]
    lines += [*size_lines(report), ""]
    for warning in judgement.warnings:
        lines += text.wrap(f"warning: {warning}")
    for note in report.caveats:
        lines += text.wrap(f"note: {note}")
    lines += [f"{side:8}{name}" for side, name in zip(judged.names, report.names, strict=True)]
    lines += differing_lines(judged.comparison.factors)
    spread = judged.comparison.rule.spread.title
    lines += [*text.wrap(f"spread over links: {spread}"), f"kept    {shown(report.folder)}"]
    lines += ["", *text.wrap(report.next_steps)]
    return "\n".join(lines) + "\n"


def size_lines(report: Report, width: int | None = None) -> list[str]:
    """Return lines on flash and RAM, by section and symbol, and on the stacks."""
    lines, sizes = [], report.sizes
    for memory, ends in sizes.whole.items():
        sections = ", ".join(
            f"{section.name} {section.change:+d}" for section in sizes.sections[memory]
        )
        lines += text.wrap(
            f"{memory:8}{_from_to(*ends)}{': ' if sections else ''}{sections}", width=width
        )
    for symbol in sizes.symbols[:NAMED]:
        lines += text.wrap(f"symbol  {symbol_line(symbol)}", " " * 8, width)
    if len(sizes.symbols) > NAMED:
        lines.append(f"        and {len(sizes.symbols) - NAMED} more symbols; --json lists all")
    if len(report.stacks) == 2:
        base, head = report.stacks
        kernel = _from_to(base.kernel, head.kernel)
        lines.append(f"stack   the kernel's {kernel}; the apps' {_from_to(base.app, head.app)}")
    return lines


def _from_to(before: int | None, after: int | None) -> str:
    if before is None or after is None:
        return "unknown"
    return f"{before} bytes, as before" if before == after else f"{before} -> {after} bytes"


def symbol_line(symbol: Growth) -> str:
    """Format a symbol that was added, removed or resized."""
    sides = (("", symbol.flash), (" of RAM", symbol.ram))
    sizes = ", ".join(f"{change:+d} bytes{of}" for of, change in sides if change) or "same size"
    appeared = " added" * (symbol.base is None)
    disappeared = " removed" * (symbol.new is None)
    return f"{symbol.name}{appeared}{disappeared}: {sizes}"


def as_json(report: Report) -> dict[str, object]:
    """Return the report as JSON."""
    judged = report.judged
    base, head = report.names
    return {
        "base": base,
        "head": head,
        **judgement_json(report.judgement),
        "notes": report.caveats,
        "next": report.next_steps,
        "looked_again": list(judged.rows_remeasured),
        "where": [{"of": row, **diff.diff_json(diff_)} for row, diff_ in report.where.items()],
        "sizes": asdict(report.sizes),
        "stacks": [asdict(depth) for depth in report.stacks],
        "factors": text.as_json(judged.comparison.factors),
        "links": judged.comparison.links,
        "spread": judged.comparison.rule.spread.title,
        "identical": report.identical,
        "folder": str(report.folder),
    }


def markdown(report: Report) -> str:
    """Return the report as a comment on a pull request: one screen, the rest folded."""
    judged, judgement = report.judged, report.judgement
    lines = [heading(judgement), "", *comment_lines(judgement)]
    lines += [f"**Next:** {text.prose(report.next_steps.removeprefix('Next: '))}", ""]
    lines += [f"- Warning: {escaped(warning)}" for warning in judgement.warnings]
    for row, diff_ in report.where.items():
        lines += folded_section(
            f"Where: {escaped(row)}", text.preformatted(where_lines(row, diff_, text.LINE))
        )
    lines += folded_section(
        "Flash, RAM and stack", text.preformatted(size_lines(report, text.LINE))
    )
    notes = [f"{side}: {name}" for side, name in zip(judged.names, report.names, strict=True)]
    notes += [*report.caveats, f"spread over links: {judged.comparison.rule.spread.title}"]
    notes += [
        f"{factor.name} differs: {factor.base} → {factor.new}"
        for factor in judged.comparison.factors
    ]
    lines += folded_section("Notes", [f"- {escaped(note)}" for note in notes])
    return "\n".join(lines).rstrip() + "\n"


def build_report(
    judged: JudgeRun,
    titles: tuple[str, str],
    kernels: Sequence[KernelElf],
    plain: tuple[Path, Path],
    options: RunOptions,
    folder: Path,
    most: int,
) -> Report:
    """Return the report on a judgement, with the sizes of the kernels as their own build links them
    (`plain`), profiles of `most` rows and the stack depths (neither if `most` is 0).

    What fails becomes a note. After Ctrl-C the report has what is there."""
    base, head = map(read_elf, plain)
    same = base.segments == head.segments
    report = Report(judged, titles, folder, sizes(*plain), identical=same)
    if not most:
        return report
    apps = options.suites[0].apps
    sides = [
        ProfileOptions(kernel, options.board, apps, True, "", {}, folder / name)
        for kernel, name in zip(kernels, judged.names, strict=True)
    ]
    try:
        simulators(options.board)
        rows = rows_to_profile(judged.judgement.moved, options.catalogue)
        report.unprofiled.extend(rows[most:])
        for row in rows[:most]:
            try:
                with task(f"profiling {row.name}"):
                    report.where[row.name] = profile_difference(row, sides, options.catalogue)
            except TockmarkError as error:
                report.notes.append(f"no profile of {row.name}: {error}")
        with task("measuring stack depths"), thread_pool(options.jobs) as pool:
            report.stacks.extend(pool.map(stack_depth, sides, repeat(options.catalogue)))
    except TockmarkError as error:
        report.notes.append(f"neither profiles nor stacks: {error}")
    except KeyboardInterrupt:
        report.notes.append("interrupted after the verdict: profiles or stacks are missing")
    return report


@dataclass(frozen=True)
class JudgeOptions:
    """The user's options for judging a change."""

    run: RunOptions  # of both sides; its layouts are ignored
    wanted: Selection
    limits: Limits
    max_links: int | None = None  # per side; None: the default
    profiles: int = ROWS
    waits: str | None = None  # loads under which alarms are timed
    folder: Path | None = None  # for all files; None: one per pair of kernels


def judge_change(pair: KernelPair, options: JudgeOptions, start: float) -> Report:
    """Judge a change, and return the report. `start` is the start time, by time.monotonic."""
    # Build first, so that a build fails before anything is simulated.
    kernels = [read_kernel(links.up_to(1)[0]) for links in pair.links]
    loads = loads_of(kernels, options.waits)
    hashes = "-".join(kernel.sha256[:DIGITS] for kernel in kernels)
    folder = options.folder or paths.JUDGED / hashes
    base, head = (
        Simulated(name, links, options.run, folder)
        for name, links in zip(("base", "head"), pair.links, strict=True)
    )
    paired = pair.pairs is not None
    max_links = options.max_links or (MAX_PAIRS if paired else MAX_LINKS)
    judged = measure_and_judge(base, head, options.wanted, options.limits, max_links, paired=paired)
    for side, result in zip((base, head), judged.results, strict=True):
        side.write(result)
    seconds, building = time.monotonic() - start, sum(builder.seconds for builder in pair.builders)
    plain = (pair.links[0].plain, pair.links[1].plain)
    report = build_report(
        judged, pair.titles, kernels, plain, options.run, folder, options.profiles
    )
    report.waits.extend(compared_waits(kernels, loads, options.run, folder))
    report.paired.extend(pairing_notes(pair.pairs, judged) if pair.pairs else [])
    if pair.unpaired:
        report.notes.append(f"the links are not paired: {pair.unpaired}")
    for side in (base, head):
        boots = f"{side.boots} boots, {side.reused} of them simulated before"
        report.notes.append(f"{side.name}: {boots}")
    report.notes.append(f"it took {seconds:.0f} s, building {building:.0f} of them")
    return report
