# SPDX-License-Identifier: Apache-2.0 OR MIT
"""A verdict as text, as JSON, and as a comment on a pull request: the answer (show/answer.py), then
what a change consists of, what the kernels hold, and what a reader must know besides.
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from itertools import repeat
from pathlib import Path

from tockmark.compare.pairs import Pair as ComparedPair
from tockmark.compare.verdict import Answer, RowVerdict
from tockmark.errors import TockmarkError
from tockmark.judge import evidence
from tockmark.judge.engine import Judged
from tockmark.judge.evidence import Depth, Sizes, sizes, where_lines, where_words
from tockmark.paths import shown
from tockmark.processes import side_by_side
from tockmark.profile import diff
from tockmark.profile.diff import Diff, Growth
from tockmark.profile.run import ProfileOptions, simulators
from tockmark.profile.symbols import readable
from tockmark.rig.kernel import KernelElf
from tockmark.rig.progress import task
from tockmark.rig.run import RunOptions
from tockmark.show import text
from tockmark.show.answer import answer_json, comment, folded, heading, screen
from tockmark.show.comparison import differing_lines
from tockmark.show.text import escaped
from tockmark.suite.catalogue import RowName
from tockmark.trees.builds import Pairs

DETAILED = 2  # profiles whose functions are listed, unless all rows are shown
NAMED = 8  # symbols
NAME = 38  # columns of a symbol


@dataclass(frozen=True)
class Report:
    """All that is said."""

    judged: Judged
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
    def answer(self) -> Answer:
        """Return what the change costs, operation by operation, and how long alarms wait."""
        where = {one.base.label: where_words(one) for one in reversed(self.where.values())}
        return self.judged.answer.with_places(where).with_rows(self.waits)

    @property
    def exit_code(self) -> int:
        return self.answer.exit_code

    @property
    def caveats(self) -> list[str]:
        """Return what a reader must know besides."""
        answer, found = self.judged.answer, []
        if any(row.in_doubt for row in answer.rows) and not self.judged.paired:
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
        return [*found, *answer.notes, *self.paired, *self.notes]


def of_pairs(pairs: Pairs, judged: Judged) -> list[str]:
    """Say what is known of paired links: what has changed, what lies elsewhere all the same, and
    which rows differ although they execute as much."""
    links, made = pairs.links, pairs.made
    code = [slot for slot in links.slots if slot.is_code]
    moved = dict.fromkeys(name for pair in made for name in pair.moved)
    astray = dict.fromkeys(name for pair in made for name in pair.elsewhere if name not in moved)
    changed = [slot.title for slot in links.changed if slot.is_code]
    found = [
        f"paired links: {sum(slot.shared for slot in code) - len(moved)} of {len(code)} functions"
        f" begin at the same address on both sides; {_named(changed)} changed"
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
    judged, found = report.judged, report.answer
    lines = screen(found, width, every)
    for row, diff_ in list(report.where.items())[: None if every else DETAILED]:
        lines += [*where_lines(row, diff_, width), ""]
    lines += [*held(report, width), ""]
    for warning in found.warnings:
        lines += text.wrap(f"warning: {warning}", width=width)
    for note in report.caveats:
        lines += text.wrap(f"note: {note}", width=width)
    lines += [f"{side:8}{name}" for side, name in zip(judged.names, report.names, strict=True)]
    lines += differing_lines(judged.comparison.factors)
    known = judged.comparison.rule.known.title
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
        **answer_json(report.answer),
        "notes": report.caveats,
        "looked_again": list(judged.looked_again),
        "where": [{"of": row, **diff.diff_json(one)} for row, one in report.where.items()],
        "sizes": asdict(report.sizes),
        "stacks": [asdict(one) for one in report.stacks],
        "factors": text.as_json(judged.comparison.factors),
        "links": judged.comparison.links,
        "spread": judged.comparison.rule.known.title,
        "folder": str(report.folder),
    }


def markdown(report: Report) -> str:
    """Return the report as a comment on a pull request: one screen, and the rest folded."""
    judged, found = report.judged, report.answer
    lines = [heading(found), "", *comment(found)]
    lines += [f"- Warning: {escaped(warning)}" for warning in found.warnings]
    for row, diff_ in report.where.items():
        lines += folded(f"Where: {escaped(row)}", _block(where_lines(row, diff_)))
    lines += folded("Flash, RAM and stack", _block(held(report)))
    said = [f"{side}: {name}" for side, name in zip(judged.names, report.names, strict=True)]
    said += [*report.caveats, f"spread over links: {judged.comparison.rule.known.title}"]
    said += [f"{one.name} differs: {one.base} → {one.new}" for one in judged.comparison.factors]
    lines += folded("Notes", [f"- {escaped(one)}" for one in said])
    return "\n".join(lines).rstrip() + "\n"


def _block(lines: list[str]) -> list[str]:
    """Set lines in columns. No blank line may be in it, for it would end the block."""
    return ["<pre>", *(escaped(line) or " " for line in lines), "</pre>"]


def explain(
    judged: Judged,
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
        rows = evidence.rows_to_profile(judged.answer.moved, options.catalogue)
        found.unprofiled.extend(rows[most:])
        for row in rows[:most]:
            try:
                with task(f"where {row.name} moved"):
                    found.where[row.name] = evidence.between(row, sides, options.catalogue)
            except TockmarkError as error:
                found.notes.append(f"no profile of {row.name}: {error}")
        with task("how deep the stacks get"), side_by_side(options.jobs) as pool:
            found.stacks.extend(pool.map(evidence.depth, sides, repeat(options.catalogue)))
    except TockmarkError as error:
        found.notes.append(f"neither profiles nor stacks: {error}")
    except KeyboardInterrupt:
        found.notes.append("interrupted behind the verdict: it has no profiles and stacks, or few")
    return found
