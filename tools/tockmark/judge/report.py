# SPDX-License-Identifier: Apache-2.0 OR MIT
"""A verdict as text and as JSON: what happened in one line, then the rows that moved, what their
change consists of, and what the kernels hold.
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path

from tockmark.compare.limits import Level
from tockmark.compare.pairs import Moved
from tockmark.errors import TockmarkError
from tockmark.judge import evidence
from tockmark.judge.engine import How, Judged
from tockmark.judge.evidence import Depth, Sizes, Where, sizes
from tockmark.paths import shown
from tockmark.profile import diff
from tockmark.profile.diff import Growth
from tockmark.profile.run import ProfileOptions, simulators
from tockmark.rig.kernel import KernelElf
from tockmark.show import comparison, text
from tockmark.show.comparison import counted, differing, headline
from tockmark.show.text import Table, TableColumn, code, escaped, figures
from tockmark.suite.catalogue import named

SHOWN = 24  # rows that moved; --json and the Markdown have them all
NAMED = 8  # symbols
NAME = 45  # columns of a row
COUNTED = {"instret": "instr", "cycles": "cycles"}


@dataclass(frozen=True)
class Report:
    """All that is said."""

    judged: Judged
    names: tuple[str, str]  # of the kernels
    folder: Path  # where all is kept
    sizes: Sizes
    where: list[Where] = field(default_factory=list)
    stacks: list[Depth] = field(default_factory=list)  # of both, or of none
    notes: list[str] = field(default_factory=list)

    @property
    def exit_code(self) -> int:
        return self.judged.gated.exit_code

    @property
    def told(self) -> str:
        """What happened, in one line."""
        gated = self.judged.gated
        many = len(gated.unsure)
        doubt = f"; {many} figure{'s' if many > 1 else ''} in doubt" if many else ""
        return headline(gated.comparison, self.judged.moved, len(gated.gone)) + doubt

    @property
    def verdict(self) -> str:
        """The verdict by the limits, and what it counts."""
        gated = self.judged.gated
        within = sum(one.level is Level.PASS for one in self.judged.moved)
        return f"{gated.level.words.title}: {counted(gated, ' figures')}, {within} within"

    @property
    def caveats(self) -> list[str]:
        """What a reader must know besides."""
        gated, found = self.judged.gated, []
        if many := len(gated.unsure):
            found.append(
                f"in doubt, {many} of cycles: beyond a limit, or it is the layout; more links would"
                " tell; --json names them"
            )
        if self.judged.looked_again:
            steps = ", then ".join(map(str, self.judged.looked_again))
            found.append(f"rows in doubt, which were measured in further links: {steps}")
        found += [
            f"{one.row.name}: {one.why}" for one in sorted(gated.gone, key=lambda one: one.place)
        ]
        return [*found, *gated.notes, *self.notes]


def render(report: Report) -> str:
    """The report as text."""
    judged = report.judged
    lines = [*text.wrap(report.told), "", report.verdict, ""]
    lines += [f"{side:8}{name}" for side, name in zip(judged.names, report.names, strict=True)]
    lines += differing(judged.gated.comparison.factors)
    lines += [*_moved(judged.moved), ""]
    for one in report.where:
        lines += [*one.lines(), ""]
    lines += [*held(report), ""]
    for warning in judged.gated.warnings:
        lines += text.wrap(f"warning: {warning}")
    for note in report.caveats:
        lines += text.wrap(f"note: {note}")
    lines += [
        f"spread over links: {judged.gated.comparison.rule.known.title}",
        f"kept    {shown(report.folder)}",
    ]
    return "\n".join(lines) + "\n"


def _moved(moved: list[Moved]) -> list[str]:
    """The rows that moved for certain."""
    if not moved:
        return []
    told = once(moved)
    table = Table(
        [
            TableColumn("", 11, 0, left=True),
            TableColumn("of one operation", NAME, 0, left=True),
            *figures({"base": 9, "head": 9, "change": 9, "range": 17}, gap=0),
        ]
    )
    for name, one in told[:SHOWN]:
        table.add(one.level.words.of_row, text.shortened(name, NAME), *cells(one))
    if len(told) > SHOWN:
        table.add(f"and {len(told) - SHOWN} more; --json has all")
    return table.text("")


def once(moved: list[Moved]) -> list[tuple[str, Moved]]:
    """The rows that moved, by name and quantity; where as many instructions came or went with the
    cache on and off, the row stands there once."""
    found: dict[tuple[str, int], tuple[str, Moved]] = {}
    for number, one in enumerate(moved):
        counted = one.series == "instret"
        name = named(one.row.id, one.row.params, None if counted else one.row.icache)
        key = (name, round(one.change.new - one.change.base)) if counted else (name, -number - 1)
        found.setdefault(key, (f"{name} {COUNTED[one.series]}", one))
    return list(found.values())


def cells(one: Moved) -> tuple[str, str, str, str]:
    """Counts of one operation, by how much that is another, and where this may lie."""
    change = one.change
    if one.series == "instret":
        moved, span = f"{change.new - change.base:+.0f}", text.change(change.base, change.new)
    else:
        moved = text.change(change.base, change.new)
        span = f"{text.points(change.low - 1, '+')} to {text.percent(change.high - 1, '+')}"
    return text.number(change.base), text.number(change.new), moved, span


def held(report: Report) -> list[str]:
    """Flash and RAM, by section and symbol, and the stacks."""
    lines, sizes = [], report.sizes
    for name, (before, after) in sizes.whole.items():
        told = _from_to(before, after)
        sections = [f"{one.name} {one.change:+d}" for one in sizes.sections[name]]
        lines += text.wrap(f"{name:8}{told}{': ' if sections else ''}{', '.join(sections)}")
    for one in sizes.symbols[:NAMED]:
        lines.append(f"symbol  {text.shortened(told_of(one), text.LINE - 8)}")
    if len(sizes.symbols) > NAMED:
        lines.append(f"        and {len(sizes.symbols) - NAMED} more symbols; --json has all")
    if len(report.stacks) == 2:
        base, head = report.stacks
        kernel = _deep("the kernel's", base.kernel, head.kernel)
        apps = _deep("the apps'", base.app, head.app)
        lines.append(f"stack   {kernel}; {apps}")
    return lines


def _deep(whose: str, before: int | None, after: int | None) -> str:
    if before is None or after is None:
        return f"{whose} is not known"
    return f"{whose} {_from_to(before, after)}"


def _from_to(before: int, after: int) -> str:
    return f"{before} bytes, as before" if before == after else f"{before} -> {after} bytes"


def told_of(grown: Growth) -> str:
    """One symbol that came, went, or has another size."""
    if grown.base is None:
        return f"{grown.name} came: {_bytes(grown)}"
    if grown.new is None:
        return f"{grown.name} went: {_bytes(grown)}"
    return f"{grown.name}: {_bytes(grown)}"


def _bytes(grown: Growth) -> str:
    sides = (("", grown.flash), (" of RAM", grown.ram))
    return ", ".join(f"{change:+d} bytes{of}" for of, change in sides if change) or "as large"


def as_json(report: Report) -> dict[str, object]:
    """The same for other programs."""
    judged = report.judged
    base, head = report.names
    return {
        "base": base,
        "head": head,
        "told": report.told,
        "verdict": judged.gated.level.words.word,
        "exit_code": report.exit_code,
        "moved": [
            {
                "row": one.row.name,
                "series": one.series,
                "level": one.level.words.of_row,
                "change": text.as_json(one.change),
            }
            for one in judged.moved
        ],
        "in_doubt": list(judged.looked_again),
        "where": [{"of": one.row, **diff.diff_json(one.diff)} for one in report.where],
        "sizes": asdict(report.sizes),
        "stacks": [asdict(one) for one in report.stacks],
        "notes": report.caveats,
        "gate": comparison.gate_json([base], head, judged.gated),
        "folder": str(report.folder),
    }


# A verdict as a comment on a pull request: one screen, and the rest folded.


SHOWN_IN_COMMENT = 8  # rows on the first screen


def markdown(report: Report) -> str:
    """The comment."""
    judged = report.judged
    level = judged.gated.level
    lines = [
        f"### {level.words.sign} tockmark: {escaped(report.told)}",
        "",
        f"{escaped(report.verdict)}.",
    ]
    lines += [f"Base {code(report.names[0])}, head {code(report.names[1])}.", ""]
    moved = once(judged.moved)
    lines += _table(moved[:SHOWN_IN_COMMENT])
    for warning in judged.gated.warnings:
        lines += [f"- Warning: {escaped(warning)}"]
    rest = moved[SHOWN_IN_COMMENT:]
    if rest:
        lines += _folded(f"{len(rest)} more rows that moved", _table(rest))
    for one in report.where:
        lines += _folded(f"Where: {escaped(one.row)}", _block(one.lines()))
    lines += _folded("Flash, RAM and stack", _block(held(report)))
    said = [*report.caveats, f"spread over links: {judged.gated.comparison.rule.known.title}"]
    said += [
        f"{one.name} differs: {one.base} → {one.new}" for one in judged.gated.comparison.factors
    ]
    lines += _folded("Notes", [f"- {escaped(one)}" for one in said])
    return "\n".join(lines).rstrip() + "\n"


def _table(moved: list[tuple[str, Moved]]) -> list[str]:
    heads = ("base", "head", "change", "range")
    columns = [TableColumn("row", left=True), *map(TableColumn, heads), TableColumn(left=True)]
    rows = [(code(name), *cells(one), one.level.words.of_row) for name, one in moved]
    return Table(columns, rows).markdown()


def _folded(summary: str, lines: list[str]) -> list[str]:
    """What is shown when somebody asks for it."""
    return ["<details>", f"<summary>{summary}</summary>", "", *lines, "", "</details>", ""]


def _block(lines: list[str]) -> list[str]:
    """Lines in columns. No blank line may be in it, for it would end the block."""
    return ["<pre>", *(escaped(line) or " " for line in lines), "</pre>"]


# What is said beside a verdict: where the rows that moved most did, what the kernels hold, how
# deep their stacks get. Nothing of it decides, so what cannot be had is a note.


def explained(
    judged: Judged,
    titles: tuple[str, str],
    kernels: Sequence[KernelElf],
    how: How,
    folder: Path,
    most: int,
) -> Report:
    """The report on a verdict; `most` rows are profiled; with 0 there are no
    depths of stacks either. After Ctrl-C what is there is kept."""
    base, head = kernels
    found = Report(
        judged,
        titles,
        folder,
        sizes(base.path, head.path),
    )
    if not most:
        return found
    sides = [
        ProfileOptions(kernel, how.board, how.apps, True, "", {}, folder / name)
        for kernel, name in zip(kernels, judged.names, strict=True)
    ]
    try:
        simulators(how.board)
        for row in evidence.dearest(judged.moved, most, how.catalogue):
            try:
                found.where.append(evidence.between(row, sides, how.catalogue))
            except TockmarkError as error:
                found.notes.append(f"no profile of {row.name}: {error}")
        depths = [evidence.depth(options, how.catalogue) for options in sides]
        found.stacks.extend(depths)
    except TockmarkError as error:
        found.notes.append(f"neither profiles nor stacks: {error}")
    except KeyboardInterrupt:
        found.notes.append("interrupted behind the verdict: it has no profiles and stacks, or few")
    return found
