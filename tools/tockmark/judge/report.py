# SPDX-License-Identifier: Apache-2.0 OR MIT
"""A verdict as text, as JSON, and as a comment on a pull request: what happened in one line, then
the rows that moved, what their change consists of, and what the kernels hold.
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path

from tockmark.compare.gate import BY_CONTROL
from tockmark.compare.limits import Level
from tockmark.compare.pairs import Moved
from tockmark.compare.pairs import Pair as ComparedPair
from tockmark.errors import TockmarkError
from tockmark.judge import evidence
from tockmark.judge.engine import Judged
from tockmark.judge.evidence import Depth, Sizes, sizes, where_lines
from tockmark.paths import shown
from tockmark.profile import diff
from tockmark.profile.diff import Diff, Growth
from tockmark.profile.run import ProfileOptions, simulators
from tockmark.profile.symbols import readable
from tockmark.rig.kernel import KernelElf
from tockmark.rig.run import RunOptions
from tockmark.show import comparison, text
from tockmark.show.comparison import counted, differing_lines, headline
from tockmark.show.text import Table, TableColumn, code, escaped, figures
from tockmark.suite.catalogue import named
from tockmark.trees.builds import Pairs

SHOWN = 24  # rows that moved; --json and the Markdown have them all
SHOWN_IN_COMMENT = 8  # of them, on the first screen of a comment
NAMED = 8  # symbols
NAME = 38  # columns of a row
COUNTED = {"instret": "instr", "cycles": "cycles"}


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

    @property
    def exit_code(self) -> int:
        return self.judged.gated.exit_code

    @property
    def headline(self) -> str:
        """Say what happened in one line."""
        gated = self.judged.gated
        many = len(gated.unsure)
        doubt = f"; {many} figure{'s' if many > 1 else ''} in doubt" if many else ""
        return headline(gated.comparison, self.judged.moved, len(gated.gone)) + doubt

    @property
    def verdict(self) -> str:
        """Say the verdict by the limits, and what it counts."""
        gated = self.judged.gated
        within = sum(one.level is Level.PASS for one in self.judged.moved)
        return f"{gated.level.words.title}: {counted(gated, ' figures')}, {within} within"

    @property
    def caveats(self) -> list[str]:
        """Return what a reader must know besides."""
        gated, found = self.judged.gated, []
        if many := len(gated.unsure):
            found.append(
                f"in doubt, {many} of cycles: beyond a limit, or it is the layout; more links would"
                " tell; --json names them"
            )
        if self.judged.looked_again:
            steps = ", then ".join(map(str, self.judged.looked_again))
            found.append(f"rows in doubt, which were measured in further links: {steps}")
        found += [f"{one.row.name}: {one.why}" for one in gated.gone]
        return [*found, *gated.notes, *self.paired, *self.notes]


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
    if alone := [pair.row.name for pair in judged.gated.comparison.judged if _cycles_alone(pair)]:
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


def render(report: Report) -> str:
    """Return the report as text."""
    judged = report.judged
    lines = [*text.wrap(report.headline), "", report.verdict, ""]
    lines += [f"{side:8}{name}" for side, name in zip(judged.names, report.names, strict=True)]
    lines += differing_lines(judged.gated.comparison.factors)
    lines += [*_moved(judged.moved), ""]
    for row, found in report.where.items():
        lines += [*where_lines(row, found), ""]
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
    """Return the rows that moved for certain, as lines."""
    if not moved:
        return []
    rows = once(moved)
    table = Table(
        [
            TableColumn("", 11, 0, left=True),
            TableColumn("of one operation", NAME, 0, left=True),
            *figures({"base": 9, "head": 9, "change": 9, "range, or time": 21}, gap=0),
        ]
    )
    for name, one in rows[:SHOWN]:
        table.add(one.level.words.of_row, text.shortened(name, NAME), *cells(one))
    if len(rows) > SHOWN:
        table.add(f"and {len(rows) - SHOWN} more; --json has all")
    return table.text("")


def once(moved: list[Moved]) -> list[tuple[str, Moved]]:
    """Return the rows that moved, by name and series; where as many instructions came or went with
    the cache on and off, the row stands there once."""
    found: dict[tuple[str, int], tuple[str, Moved]] = {}
    for number, one in enumerate(moved):
        counted = one.series == "instret"
        name = named(one.row.id, one.row.params, None if counted else one.row.icache)
        key = (name, round(one.change.new - one.change.base)) if counted else (name, -number - 1)
        control = ", by control" if BY_CONTROL in one.why else ""
        found.setdefault(key, (f"{name} {COUNTED[one.series]}{control}", one))
    return list(found.values())


def cells(one: Moved) -> tuple[str, str, str, str]:
    """Return the counts of one operation, by how much they differ, and where this may lie."""
    change = one.change
    if one.series == "instret":
        moved = f"{change.new - change.base:+.0f}"
        span = f"{text.change(change.base, change.new)}; {one.time.words if one.time else '-'}"
    else:
        moved = text.change(change.base, change.new)
        span = f"{text.points(change.low - 1, '+')} to {text.percent(change.high - 1, '+')}"
    return text.number(change.base), text.number(change.new), moved, span


def held(report: Report) -> list[str]:
    """Return what is in flash and RAM, by section and symbol, and the stacks, as lines."""
    lines, sizes = [], report.sizes
    for memory, ends in sizes.whole.items():
        sections = ", ".join(f"{one.name} {one.change:+d}" for one in sizes.sections[memory])
        lines += text.wrap(f"{memory:8}{_from_to(*ends)}{': ' if sections else ''}{sections}")
    for one in sizes.symbols[:NAMED]:
        lines.append(f"symbol  {text.shortened(symbol_line(one), text.LINE - 8)}")
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
        "told": report.headline,
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
        "where": [{"of": row, **diff.diff_json(one)} for row, one in report.where.items()],
        "sizes": asdict(report.sizes),
        "stacks": [asdict(one) for one in report.stacks],
        "notes": report.caveats,
        "gate": comparison.gate_json([base], head, judged.gated),
        "folder": str(report.folder),
    }


def markdown(report: Report) -> str:
    """Return the report as a comment on a pull request: one screen, and the rest folded."""
    judged = report.judged
    level = judged.gated.level
    lines = [
        f"### {level.words.sign} tockmark: {escaped(report.headline)}",
        "",
        f"{escaped(report.verdict)}.",
    ]
    lines += [f"Base {code(report.names[0])}, head {code(report.names[1])}.", ""]
    moved = once(judged.moved)
    lines += _table(moved[:SHOWN_IN_COMMENT])
    lines += [f"- Warning: {escaped(warning)}" for warning in judged.gated.warnings]
    rest = moved[SHOWN_IN_COMMENT:]
    if rest:
        lines += _folded(f"{len(rest)} more rows that moved", _table(rest))
    for row, found in report.where.items():
        lines += _folded(f"Where: {escaped(row)}", _block(where_lines(row, found)))
    lines += _folded("Flash, RAM and stack", _block(held(report)))
    said = [*report.caveats, f"spread over links: {judged.gated.comparison.rule.known.title}"]
    said += [
        f"{one.name} differs: {one.base} → {one.new}" for one in judged.gated.comparison.factors
    ]
    lines += _folded("Notes", [f"- {escaped(one)}" for one in said])
    return "\n".join(lines).rstrip() + "\n"


def _table(moved: list[tuple[str, Moved]]) -> list[str]:
    heads = ("base", "head", "change", "range, or time")
    columns = [TableColumn("row", left=True), *map(TableColumn, heads), TableColumn(left=True)]
    rows = [(code(name), *cells(one), one.level.words.of_row) for name, one in moved]
    return Table(columns, rows).markdown()


def _folded(summary: str, lines: list[str]) -> list[str]:
    """Fold lines, so that they are shown when somebody asks for them."""
    return ["<details>", f"<summary>{summary}</summary>", "", *lines, "", "</details>", ""]


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
        for row in evidence.dearest(judged.moved, most, options.catalogue):
            try:
                found.where[row.name] = evidence.between(row, sides, options.catalogue)
            except TockmarkError as error:
                found.notes.append(f"no profile of {row.name}: {error}")
        found.stacks.extend([evidence.depth(side, options.catalogue) for side in sides])
    except TockmarkError as error:
        found.notes.append(f"neither profiles nor stacks: {error}")
    except KeyboardInterrupt:
        found.notes.append("interrupted behind the verdict: it has no profiles and stacks, or few")
    return found
