# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Show a judgement as text, Markdown and JSON: a headline, then a table of operations with the cost
of the change.

A terminal shows at most MOST lines of the table and a comment MOST_IN_COMMENT. Further
rows share one line per group, and a comment ends with the whole table, folded.
"""

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from tockmark.base.errors import OK, REGRESSION
from tockmark.compare.limits import SERIES_WORDS, Limit
from tockmark.compare.verdict import JUDGED, MEANING, Judgement, RowVerdict, Verdict
from tockmark.show import text
from tockmark.show.text import Table, TableColumn
from tockmark.suite.catalogue import ICACHE, LANGS

MOST = 40  # lines of the table without --all
MOST_IN_COMMENT = 30  # lines of the table above the folded one
WIDE = 10  # the largest ratio whose range is shown
LONGEST_WHERE = 30  # characters
IDENTITY = ("id", "params", "icache", "lang")  # the fields that identify a row in JSON
BEYOND = {Limit.HARD: "!!", Limit.SOFT: "!", Limit.NONE: ""}  # behind a figure beyond a limit
TITLES = {Limit.NONE: "Pass", Limit.SOFT: "Warning", Limit.HARD: "Regression"}
SIGNS = {Limit.NONE: "✅", Limit.SOFT: "⚠️", Limit.HARD: "❌"}  # in a comment on a pull request
TONES: dict[Limit, Callable[[str], str]] = {
    Limit.HARD: text.bad,
    Limit.SOFT: text.doubtful,
    Limit.NONE: str,
}
COLOURS: dict[Verdict, Callable[[str], str]] = {
    Verdict.WORSE: text.bad,
    Verdict.BETTER: text.good,
    Verdict.UNSURE: text.doubtful,
}
LEGEND = (
    "base → head: median cycles over links. estimate (range): change of the mean, and its interval."
    " worse, better: the whole range is beyond the margin or a limit. same: it is within both."
    " unsure: neither, so code layout may explain the change. instr: change in instructions; layout"
    " does not affect it."
)
LEGEND_OF_LIMITS = " !!: beyond the hard limit. !: beyond the soft limit."


def first_line(judgement: Judgement) -> str:
    """Return the outcome of a judgement by limits, with its headline."""
    return f"{TITLES[judgement.limit]}: {headline(judgement)}"


def headline(judgement: Judgement) -> str:
    """Return in one line how many rows changed and by how much: instructions first, since these are
    certain."""
    judged = len(judgement.rows_with(*JUDGED))
    counts = Counter(row.verdict for row in judgement.rows)
    lone = [f"{counts[one]} {one}" for one in (Verdict.GONE, Verdict.NEW) if counts[one]]
    common = len(judgement.rows) - counts[Verdict.GONE] - counts[Verdict.NEW]
    only = f"only {common} of {_rows(len(judgement.rows))} in common ({', '.join(lone)})"
    first = [*judgement.cautions, *[only] * bool(lone)]
    moved = filter(None, (_instructions(judgement, judged), _cycles(judgement, judged)))
    of_all = ", ".join(filter(None, (_rows(judged), judgement.links)))
    if not judgement.moved:
        return "; ".join([*first, f"no certain change ({of_all})", *moved])
    return "; ".join([*first, *moved, of_all])


def _instructions(judgement: Judgement, judged: int) -> str:
    """Count the rows with more and with fewer instructions."""
    counted: list[str] = []
    for sign in (1, -1):
        counts = [_count(row.moved) for row in judgement.rows_with(*JUDGED) if row.moved * sign > 0]
        if counts:
            low, *_, high = sorted(counts * 2, key=lambda count: abs(float(count)))
            ((usual, often),) = Counter(counts).most_common(1)
            span = f"{low} … {high}" if 2 * often < len(counts) else usual
            unit = "" if counted else " instructions"
            counted.append(f"{span}{unit} on {_rows(len(counts), judged)}")
    return ", ".join(counted)


def _count(moved: float) -> str:
    """Format a change in the instructions of an operation."""
    return f"{moved:+.0f}" if abs(moved) >= 1 else f"{moved:+.1g}"


def _cycles(judgement: Judgement, judged: int) -> str:
    """Count the rows whose cycles are worse, better or perhaps worse."""
    doubtful = [row for row in judgement.rows_with(Verdict.UNSURE) if row.in_doubt]
    counted = [
        f"{words} on {_rows(len(rows), judged)}{_format_span(rows, '(', ')')}"
        for words, rows in (
            ("worse", judgement.rows_with(Verdict.WORSE)),
            ("better", judgement.rows_with(Verdict.BETTER)),
            ("perhaps worse", doubtful),
        )
        if rows
    ]
    return f"cycles {', '.join(counted)}" if counted else ""


def _rows(count: int, judged: int = 0) -> str:
    if count == judged:
        return f"all {count} rows" if count > 1 else "the one row"
    return text.counted(count)


def limits_line(judgement: Judgement) -> str:
    """Count the rows beyond each limit, in cycles and in instructions."""
    counts = Counter((row.limit, "cycles") for row in judgement.rows_with(Verdict.WORSE))
    counts += Counter(
        (row.instructions.limit, "instret") for row in judgement.rows if row.instructions
    )
    counted = []
    for limit in (Limit.HARD, Limit.SOFT):
        counts_text = [
            f"{_rows(counts[limit, series])} in {word}"
            for series, word in SERIES_WORDS.items()
            if counts[limit, series]
        ]
        if counts_text:
            counted.append(f"beyond the {limit.word} limit: {', '.join(counts_text)}")
    return f"{'; '.join(counted)}." if counted else "no row is beyond a limit."


@dataclass(frozen=True)
class GroupShown:
    """The rows of a group that have their own line in the table, and the rows that share one."""

    shown: list[RowVerdict]
    folded: list[RowVerdict]


def rows_by_group(judgement: Judgement, most: int | None) -> dict[str, GroupShown]:
    """Return the rows of each group so that the table has at most `most` lines, shared ones
    included; None: every row has its own line. Every group's worst row has priority over
    second-worst rows."""
    if most is None:
        return {group: GroupShown(lines, []) for group, lines in judgement.groups.items()}
    news = sorted(
        (rank, line.sort_key, group)
        for group, lines in judgement.groups.items()
        for rank, line in enumerate(line for line in lines if line.is_news)
    )
    for count in range(len(news), -1, -1):
        counts = Counter(group for _, _, group in news[:count])
        by_group = {
            group: GroupShown(
                *_split([line for line in lines if line.is_news], counts[group], lines)
            )
            for group, lines in judgement.groups.items()
        }
        if sum(len(part.shown) + bool(part.folded) for part in by_group.values()) <= most:
            break
    return by_group


def _split(
    news: list[RowVerdict], count: int, lines: list[RowVerdict]
) -> tuple[list[RowVerdict], list[RowVerdict]]:
    shown = {id(line) for line in news[:count]}
    return news[:count], [line for line in lines if id(line) not in shown]


def table_lines(judgement: Judgement, width: int | None = None, every: bool = False) -> list[str]:
    """Return the table as lines of text, at most `width` columns wide (default: the output's)."""
    if every:
        return _lines(rows_by_group(judgement, None), judgement, width)
    for most in range(MOST, 0, -1):  # a shared line may wrap
        lines = _lines(rows_by_group(judgement, most), judgement, width)
        if len(lines) <= MOST:
            break
    return lines


def _lines(
    by_group: Mapping[str, GroupShown], judgement: Judgement, width: int | None
) -> list[str]:
    table = Table(COLUMNS)
    for group, part in by_group.items():
        for line in part.shown:
            table.add(*_coloured_cells(line))
        if part.folded:
            table.add(f"  {_shared_line(group, part)}")
    if count := sum(len(part.folded) for part in by_group.values()):
        table.add(f"{count} of {len(judgement.rows)} rows are folded; --all shows them")
    lines = table.text(width=width)
    return lines if any(part.shown for part in by_group.values()) else lines[2:]


def screen_lines(judgement: Judgement, every: bool = False, limits: bool = True) -> list[str]:
    """Return the outcome, the table and its legend, as lines of text. `limits`: it was judged by
    limits."""
    title = first_line(judgement) if limits else headline(judgement)
    lines = [*text.wrap(text.sentence(title)), "", *table_lines(judgement, every=every), ""]
    lines += text.wrap(text.sentence(limits_line(judgement))) if limits else []
    return [*lines, *text.wrap(legend(judgement)), ""]


def legend(judgement: Judgement) -> str:
    """Explain the columns of a table with rows of their own, and its verdicts and signs."""
    words = LEGEND if any(line.is_news for line in judgement.rows) else ""
    words += LEGEND_OF_LIMITS if judgement.limit else ""
    if judgement.rows_with(Verdict.NOT_JUDGED):
        words += f" {Verdict.NOT_JUDGED}: {MEANING[Verdict.NOT_JUDGED]}."
    return words.strip()


def _shared_line(group: str, part: GroupShown) -> str:
    """Return the line that the folded rows of a group share."""
    counted = []
    for verdict in Verdict:
        lines = [line for line in part.folded if line.verdict is verdict]
        if lines:
            counted.append(f"{len(lines)} {verdict}{_format_span(lines)}")
    return f"{'further rows of ' if part.shown else ''}{group}: {', '.join(counted)}"


def _format_span(lines: Sequence[RowVerdict], left: str = "", right: str = "") -> str:
    span = _span(lines)
    return f" {left}{span}{right}" if span else ""


def _span(lines: Sequence[RowVerdict]) -> str:
    """Return the span of the rows' estimates."""
    estimates = [line.estimate for line in lines if line.estimate is not None]
    if not estimates:
        return ""
    low, high = _points(min(estimates)), _points(max(estimates))
    return f"{high} %" if low == high else f"{low} … {high} %"


def _points(share: float) -> str:
    """Format a share in percent, without the sign: two decimals below 1 %, else one."""
    percent = text.percentage(share, "+", 2 if abs(share) < 0.00995 else 1)
    return "0" if not float(percent) else percent


# The cells of a line, in text and Markdown.

HEADS = (
    "cycles of one operation",
    "i$",
    "base → head",
    "estimate",
    "(range)",
    "verdict",
    "instr",
    "where",
)


def format_sides(line: RowVerdict) -> str:
    """Format the cycles of both sides, rounded from 100 up unless this makes them equal."""
    if line.before is None or line.after is None:
        return text.NONE
    sides = (line.before, line.after)
    cycles = [f"{side:.0f}" if side >= 100 else text.number(side) for side in sides]
    if cycles[0] == cycles[1] and line.before != line.after:
        cycles = [text.number(side) for side in sides]
    return " → ".join(cycles)


def format_estimate(line: RowVerdict) -> tuple[str, str]:
    """Format the estimated change of the cycles, and its range."""
    if line.estimate is None:
        return text.NONE if line.before is None else "no ratio", ""
    percent = f"{_points(line.estimate)} %"
    if line.range is None or line.range == (line.estimate, line.estimate):
        return percent, ""
    low, high = line.range
    if not math.isfinite(high):
        return percent, "(range unknown)"
    if high + 1 > WIDE:
        return percent, "(range too wide)"
    return percent, f"({_points(low)} … {_points(high)})"


def operation_name(line: RowVerdict) -> str:
    """Return a row's name without its cache setting."""
    lang = "" if line.row.lang == "c" else f" {LANGS[line.row.lang]}"
    return line.row.label + lang


def cells(line: RowVerdict) -> tuple[str, ...]:
    """Return the cells of a row, by the columns of HEADS."""
    verdict = f"{line.verdict} {BEYOND[line.limit]}".rstrip()
    count = line.instructions
    more = text.NONE
    if count:
        more = f"{_count(count.moved)}{BEYOND[count.limit]}" if count.moved else "0"
    cache = "" if line.row.icache is None else ICACHE[line.row.icache]
    behind = "; ".join(filter(None, (line.where, line.why)))
    return (
        operation_name(line),
        cache,
        format_sides(line),
        *format_estimate(line),
        verdict,
        more,
        behind,
    )


def _coloured_cells(line: RowVerdict) -> tuple[str, ...]:
    """Return the cells of a row, coloured by its limits, or else its verdict. A long list of
    functions where it changed is cut to the first. A row without figures has its verdict and the
    reason instead."""
    if len(line.where) > LONGEST_WHERE:
        line = replace(line, where=f"{line.where.partition(', ')[0]}, …")
    tone = TONES[line.limit] if line.limit else COLOURS.get(line.verdict, str)
    name, cache, sides, estimate, span, verdict, count, behind = cells(line)
    if line.before is None:
        return name, cache, tone(f"{verdict}: {behind}" if behind else verdict)
    counted = TONES[line.instructions.limit if line.instructions else Limit.NONE]
    return name, cache, sides, tone(estimate), span, tone(verdict), counted(count), behind


COLUMNS = (
    TableColumn(HEADS[0], 16, 0, left=True),
    TableColumn(HEADS[1]),
    TableColumn(HEADS[2], spare=1),
    TableColumn(HEADS[3]),
    TableColumn(HEADS[4], left=True, spare=2),
    TableColumn(HEADS[5], left=True),
    TableColumn(HEADS[6]),
    TableColumn(HEADS[7], len(HEADS[7]), 2, left=True, spare=3),
)


def next_steps(judgement: Judgement, settle: str) -> str:
    """Return whether a judgement by limits blocks a change, what to look at, and how to settle rows
    in doubt, in words."""
    blocks = {OK: "this does not block the change", REGRESSION: "this blocks the change"}
    code = judgement.exit_code
    steps = [
        f"Next: {blocks.get(code, 'settle the warnings, then judge again')} (exit code {code})"
    ]
    worst = next((line for line in judgement.rows if line.is_news), None)
    if worst is not None:
        how = f"which changed in {worst.where}" if worst.where else worst.why
        command = f"by tockmark profile '{worst.row.label}' --diff BASE.elf NEW.elf"
        how = how or (command if worst.instructions else worst.verdict)
        steps.append(f"look first at {worst.row.name}, {how}")
    if doubtful := sum(line.in_doubt for line in judgement.rows):
        steps.append(f"to settle {_rows(doubtful)} in doubt, {settle}")
    return f"{'; '.join(steps)}."


def heading(judgement: Judgement) -> str:
    """Return the first line of a comment on a pull request."""
    return f"### {SIGNS[judgement.limit]} tockmark: {text.prose(first_line(judgement))}"


def comment_lines(judgement: Judgement) -> list[str]:
    """Return the table in Markdown for a comment; if it leaves rows out, a folded table has all."""
    by_group = rows_by_group(judgement, MOST_IN_COMMENT)
    lines = _markdown([line for part in by_group.values() for line in part.shown])
    rest = [text.prose(_shared_line(name, part)) for name, part in by_group.items() if part.folded]
    lines += [*(f"- {entry}" for entry in rest), *([""] if rest else [])]
    lines += [
        f"{text.prose(text.sentence(limits_line(judgement)))} {text.prose(legend(judgement))}",
        "",
    ]
    if rest:
        lines += folded_section(f"All {len(judgement.rows)} rows", _markdown(judgement.rows))
    return lines


def folded_section(summary: str, lines: list[str]) -> list[str]:
    """Fold lines of Markdown below a summary."""
    end = [] if lines and not lines[-1] else [""]
    return ["<details>", f"<summary>{summary}</summary>", "", *lines, *end, "</details>", ""]


def _markdown(lines: Sequence[RowVerdict]) -> list[str]:
    words = (HEADS[0], "(range)", "verdict", "where")
    columns = [TableColumn(head, left=head in words, names=head == HEADS[0]) for head in HEADS]
    return Table(columns, [cells(line) for line in lines]).markdown()


def judgement_json(judgement: Judgement) -> dict[str, object]:
    """Return a judgement as JSON; docs/command-line.md explains the keys."""
    return {
        "told": headline(judgement),
        "limit": judgement.limit.word,
        "exit_code": judgement.exit_code,
        "rows": text.as_json([_record(row) for row in judgement.rows]),
        "warnings": judgement.warnings,
        "notes": judgement.notes,
    }


def _record(line: RowVerdict) -> dict[str, object]:
    row, count = line.row, line.instructions
    low, high = line.range or (None, None)
    return {
        "row": row.name,
        **{name: getattr(row, name) for name in IDENTITY},
        "verdict": line.verdict,
        "limit": line.limit.word,
        "before": line.before,
        "after": line.after,
        "estimate": line.estimate,
        "low": low,
        "high": high,
        "in_doubt": line.in_doubt,
        "instructions": count
        and {
            "before": count.before,
            "after": count.after,
            "moved": count.moved,
            "limit": count.limit.word,
        },
        "where": line.where,
        "why": line.why,
    }
