# SPDX-License-Identifier: Apache-2.0 OR MIT
"""How a judgement looks: one line that says what moved, then what a change costs by operation in a
table, as text, Markdown and JSON.
"""

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from tockmark.compare.limits import SERIES_WORDS, Limit
from tockmark.compare.verdict import JUDGED, Judgement, RowVerdict, Verdict
from tockmark.show import text
from tockmark.show.text import Table, TableColumn
from tockmark.suite.catalogue import ICACHE, LANGS

MOST = 40  # lines of the table, unless all are asked for
MOST_IN_COMMENT = 30  # of the table that a comment shows, which folds the whole one
NAME = 18  # columns of an operation, at least
NAMES = 34  # and at most
WHERE = 12  # columns of where, at least, with the blanks before it; else there is no room for it
WIDE = 10  # a ratio, beyond which an interval says nothing
IDENTITY = ("id", "params", "icache", "lang")  # what names a row in JSON
BEYOND = {Limit.HARD: "!!", Limit.SOFT: "!", Limit.NONE: ""}  # marks a figure beyond a limit
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
    "base → head: medians over links; the estimate is of their means. worse, better: the whole"
    " range is beyond the margin, or a limit. unsure: it is not, so it may be the layout. same: it"
    " is inside the margin. instr: instructions more or fewer, which no layout changes. !!: beyond"
    " the hard limit, !: the soft one."
)


def coloured(word: str, verdict: Verdict) -> str:
    """Colour a word that is said of a row with this verdict."""
    return COLOURS.get(verdict, str)(word)


def first_line(judgement: Judgement) -> str:
    """Say how a judgement by limits ended, and what moved."""
    return f"{TITLES[judgement.limit]}: {headline(judgement)}"


def headline(judgement: Judgement) -> str:
    """Say what moved, and of how many rows: instructions first, for they are sure."""
    gone, judged = judgement.rows_with(Verdict.GONE), len(judgement.rows_with(*JUDGED))
    moved = [f"{_rows(len(gone))} gone"] if gone else []
    moved += filter(None, (_instructions(judgement, judged), _cycles(judgement, judged)))
    of_all = [_rows(judged), *([judgement.links] if judgement.links else [])]
    if not judgement.moved:
        moved.insert(len(gone) > 0, f"nothing surely moved ({', '.join(of_all)})")
        return "; ".join(moved)
    return "; ".join([*moved, ", ".join(of_all)])


def _instructions(judgement: Judgement, judged: int) -> str:
    """Say on how many rows there are more instructions, and on how many fewer."""
    said: list[str] = []
    for sign in (1, -1):
        counts = [round(row.moved) for row in judgement.rows_with(*JUDGED) if row.moved * sign > 0]
        if counts:
            low, high = sorted((min(counts), max(counts)), key=abs)
            ((usual, often),) = Counter(counts).most_common(1)
            span = f"{low:+d} … {high:+d}" if 2 * often < len(counts) else f"{usual:+d}"
            unit = "" if said else " instructions"
            said.append(f"{span}{unit} on {_rows(len(counts), judged)}")
    return ", ".join(said)


def _cycles(judgement: Judgement, judged: int) -> str:
    """Say on how many rows the cycles are worse, better, and perhaps worse."""
    doubtful = [row for row in judgement.rows_with(Verdict.UNSURE) if row.in_doubt]
    said = [
        f"{words} on {_rows(len(rows), judged)}{_behind(rows, '(', ')')}"
        for words, rows in (
            ("worse", judgement.rows_with(Verdict.WORSE)),
            ("better", judgement.rows_with(Verdict.BETTER)),
            ("perhaps worse", doubtful),
        )
        if rows
    ]
    return f"cycles {', '.join(said)}" if said else ""


def _rows(count: int, judged: int = 0) -> str:
    if count == judged:
        return f"all {count} rows" if count > 1 else "the one row"
    return f"{count} row{'s' if count != 1 else ''}"


def limits_line(judgement: Judgement) -> str:
    """Count the figures that are beyond each limit."""
    counts = Counter((row.limit, "cycles") for row in judgement.rows_with(Verdict.WORSE))
    counts += Counter(
        (row.instructions.limit, "instret") for row in judgement.rows if row.instructions
    )
    said = []
    for limit in (Limit.HARD, Limit.SOFT):
        found = [
            f"{counts[limit, series]} of {word}"
            for series, word in SERIES_WORDS.items()
            if counts[limit, series]
        ]
        if found:
            said.append(f"beyond the {limit.word} limit: {', '.join(found)}")
    return f"figures {'; '.join(said)}." if said else "no figure is beyond a limit."


@dataclass(frozen=True)
class GroupShown:
    """What a table shows of a group: rows with a line of their own, and all others in one line."""

    shown: list[RowVerdict]
    folded: list[RowVerdict]


def parts(judgement: Judgement, most: int | None) -> dict[str, GroupShown]:
    """Divide the lines by group so that at most so many are shown, folded ones included; None:
    all, and none is folded. Each group has its worst before any has its second."""
    if most is None:
        return {group: GroupShown(lines, []) for group, lines in judgement.groups.items()}
    news = sorted(
        (rank, line.sort_key, group)
        for group, lines in judgement.groups.items()
        for rank, line in enumerate(line for line in lines if line.is_news)
    )
    for count in range(len(news), -1, -1):
        taken = Counter(group for _, _, group in news[:count])
        found = {
            group: GroupShown(*_split([one for one in lines if one.is_news], taken[group], lines))
            for group, lines in judgement.groups.items()
        }
        if sum(len(one.shown) + bool(one.folded) for one in found.values()) <= most:
            break
    return found


def _split(
    news: list[RowVerdict], count: int, lines: list[RowVerdict]
) -> tuple[list[RowVerdict], list[RowVerdict]]:
    shown = {id(line) for line in news[:count]}
    return news[:count], [line for line in lines if id(line) not in shown]


def lines_of(judgement: Judgement, width: int, every: bool = False) -> list[str]:
    """Return the table as lines of text of at most so many columns."""
    if every:
        return _lines(parts(judgement, None), judgement, width)
    for most in range(MOST, 0, -1):  # a folded line may be too long for one
        lines = _lines(parts(judgement, most), judgement, width)
        if len(lines) <= MOST:
            break
    return lines


def _lines(found: Mapping[str, GroupShown], judgement: Judgement, width: int) -> list[str]:
    shown = [line for part in found.values() for line in part.shown]
    table = _table(shown, width)
    lines = table.heading() if shown else []
    for group, part in found.items():
        lines += [_line(line, table, width) for line in part.shown]
        if part.folded:
            lines += text.wrap(f"  {_in_one(group, part)}", width=width)
    if count := sum(len(part.folded) for part in found.values()):
        lines.append(f"{count} of {len(judgement.rows)} rows are folded; --all shows them")
    return lines


def screen(judgement: Judgement, width: int, every: bool = False) -> list[str]:
    """Return the verdict, the table, and how to read it, as lines of text."""
    lines = [
        *text.wrap(first_line(judgement), width=width),
        "",
        *lines_of(judgement, width, every),
        "",
    ]
    lines += text.wrap(text.sentence(limits_line(judgement)), width=width)
    if any(line.is_news for line in judgement.rows):
        lines += text.wrap(LEGEND, width=width)
    return [*lines, ""]


def _in_one(group: str, part: GroupShown) -> str:
    """Say of a group in one line what has no line of its own."""
    said = []
    for verdict in Verdict:
        found = [line for line in part.folded if line.verdict is verdict]
        if found:
            said.append(f"{len(found)} {verdict}{_behind(found)}")
    return f"{'further rows of ' if part.shown else ''}{group}: {', '.join(said)}"


def _behind(lines: Sequence[RowVerdict], left: str = "", right: str = "") -> str:
    span = _span(lines)
    return f" {left}{span}{right}" if span else ""


def _span(lines: Sequence[RowVerdict]) -> str:
    """Say from where to where estimates go."""
    known = [line.estimate for line in lines if line.estimate is not None]
    if not known:
        return ""
    low, high = _points(min(known)), _points(max(known))
    return f"{high} %" if low == high else f"{low} … {high} %"


def _points(share: float) -> str:
    """Write a share in percent, without its unit: with two digits where it is below one."""
    said = text.percentage(share, "+", 2 if abs(share) < 0.00995 else 1)
    return "0" if not float(said) else said


# The cells of a line, wherever it is shown.

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


def from_to(line: RowVerdict) -> str:
    """Write the cycles of both sides: whole ones from 100 up, unless these are equal."""
    if line.before is None or line.after is None:
        return text.NONE
    ends = (line.before, line.after)
    said = [f"{end:.0f}" if end >= 100 else text.number(end) for end in ends]
    if said[0] == said[1] and line.before != line.after:
        said = [text.number(end) for end in ends]
    return " → ".join(said)


def estimate(line: RowVerdict) -> tuple[str, str]:
    """Write by how much the cycles changed, and in which range this may lie."""
    if line.estimate is None:
        return text.NONE if line.before is None else "no ratio", ""
    said = f"{_points(line.estimate)} %"
    if line.range is None or line.range == (line.estimate, line.estimate):
        return said, ""
    low, high = line.range
    if not math.isfinite(high):
        return said, "(range unknown)"
    if high + 1 > WIDE:
        return said, "(range too wide)"
    return said, f"({_points(low)} … {_points(high)})"


def operation(line: RowVerdict) -> str:
    """Return what a row is called, without its cache setting."""
    lang = "" if line.row.lang == "c" else f" {LANGS[line.row.lang]}"
    return line.row.label + lang


def cells(line: RowVerdict) -> tuple[str, ...]:
    """Write a line by the columns of HEADS."""
    verdict = f"{line.verdict} {BEYOND[line.limit]}".rstrip()
    count = line.instructions
    more = text.NONE
    if count:
        more = f"{count.moved:+.0f}{BEYOND[count.limit]}" if count.moved else "0"
    cache = "" if line.row.icache is None else ICACHE[line.row.icache]
    behind = "; ".join(filter(None, (line.where, line.why)))
    return operation(line), cache, from_to(line), *estimate(line), verdict, more, behind


def _table(lines: Sequence[RowVerdict], width: int) -> Table:
    """Make a table whose columns are as wide as these lines need; the operation takes what is left,
    and so does where, if that is enough."""
    there = [cells(line) for line in lines if line.before is not None]
    wide = [max(map(len, column)) for column in zip(*there, strict=True)] or [0] * len(HEADS)
    wide[0] = max((len(operation(line)) for line in lines), default=0)
    wide[1:-1] = [max(a, len(b)) for a, b in zip(wide[1:-1], HEADS[1:-1], strict=True)]
    gaps = len(HEADS) - 2
    left = width - sum(wide[1:-1]) - gaps
    if wide[-1] and left >= len(HEADS[0]) + WHERE:
        left -= WHERE
    name = max(NAME, min(max(wide[0], len(HEADS[0])), NAMES, left))
    room = width - sum(wide[1:-1]) - gaps - name - 2
    columns = [
        TableColumn(text.shortened(HEADS[0], name), name, 0, left=True),
        TableColumn(HEADS[1], wide[1]),
        TableColumn(HEADS[2], wide[2]),
        TableColumn(HEADS[3], wide[3]),
        TableColumn(HEADS[4], wide[4], left=True),
        TableColumn(HEADS[5], wide[5], left=True),
        TableColumn(HEADS[6], wide[6]),
    ]
    if wide[-1] and room >= WHERE - 2:
        columns.append(TableColumn(HEADS[7], min(room, max(wide[-1], len(HEADS[7]))), 2, left=True))
    return Table(columns)


def _line(line: RowVerdict, table: Table, width: int) -> str:
    """Write a line in the columns of a table of text, coloured by its limits. A row without figures
    has the reason in their place."""
    if line.before is None:
        name, cache, *_, verdict, _, why = cells(line)
        first, second = table.columns[:2]
        known = first.padded(text.shortened(name, first.width)) + second.padded(cache)
        said = f"{verdict}: {why}" if why else verdict
        return f"{known} {TONES[line.limit](text.shortened(said, width - len(known) - 1))}"
    found = [
        SHORTENED[n](cell, column.width) if n in SHORTENED else cell
        for n, (cell, column) in enumerate(zip(cells(line), table.columns, strict=False))
    ]
    counted = line.instructions.limit if line.instructions else Limit.NONE
    for at, limit in ((3, line.limit), (5, line.limit), (6, counted)):
        found[at] = TONES[limit](found[at])
    return table.line(found)


def _first_of(names: str, width: int) -> str:
    """Return the first of several names, as many as there is room for."""
    first = names
    while len(first) > width and ", " in first.removesuffix(", …"):
        first = f"{first.removesuffix(', …').rpartition(', ')[0]}, …"
    return text.shortened(first if len(first) <= width else first.removesuffix(", …"), width)


SHORTENED = {0: text.shortened, 7: _first_of}  # cells that may be longer than their column


def heading(judgement: Judgement) -> str:
    """Return the first line of a comment on a pull request."""
    return f"### {SIGNS[judgement.limit]} tockmark: {text.prose(first_line(judgement))}"


def comment(judgement: Judgement) -> list[str]:
    """Return the table in Markdown for a comment: all rows are folded if not all are shown."""
    found = parts(judgement, MOST_IN_COMMENT)
    lines = _markdown([line for part in found.values() for line in part.shown])
    rest = [text.prose(_in_one(name, part)) for name, part in found.items() if part.folded]
    lines += [*(f"- {one}" for one in rest), *([""] if rest else [])]
    lines += [f"{text.prose(text.sentence(limits_line(judgement)))} {text.prose(LEGEND)}", ""]
    if rest:
        lines += folded(f"All {len(judgement.rows)} rows", _markdown(judgement.rows))
    return lines


def folded(summary: str, lines: list[str]) -> list[str]:
    """Fold lines, so that they are shown when somebody asks for them."""
    end = [] if lines and not lines[-1] else [""]
    return ["<details>", f"<summary>{summary}</summary>", "", *lines, *end, "</details>", ""]


def _markdown(lines: Sequence[RowVerdict]) -> list[str]:
    words = (HEADS[0], "(range)", "verdict", "where")
    columns = [TableColumn(head, left=head in words, names=head == HEADS[0]) for head in HEADS]
    return Table(columns, [cells(line) for line in lines]).markdown()


def judgement_json(judgement: Judgement) -> dict[str, object]:
    """Return a judgement for other programs, as docs/command-line.md has it."""
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
