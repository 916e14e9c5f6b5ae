# SPDX-License-Identifier: Apache-2.0 OR MIT
"""How the answer of `judge` and `gate` looks: the verdict in one line, then what a change costs by
operation in a table, as text, Markdown and JSON.
"""

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from statistics import median

from tockmark.compare.answer import Answer, Certainty, Line
from tockmark.compare.gate import BY_CONTROL
from tockmark.compare.limits import SERIES_WORDS, Level
from tockmark.compare.pairs import Comparison, Moved
from tockmark.result.model import Row
from tockmark.show import text
from tockmark.show.text import Table, TableColumn
from tockmark.suite.catalogue import ICACHE, LANGS

MOST = 40  # lines of the table, unless all are asked for
MOST_IN_COMMENT = 30  # of the table that a comment shows, which folds the whole one
NAME = 18  # columns of an operation, at least
NAMES = 34  # and at most
WHERE = 12  # columns of where, at least, with the blanks before it; else there is no room for it
WIDE = 10  # a ratio, beyond which an interval says nothing
BEYOND = {Level.HARD: "!!", Level.SOFT: "!"}  # marks a figure that is beyond a limit
TONES: dict[Level, Callable[[str], str]] = {
    Level.HARD: text.bad,
    Level.SOFT: text.doubtful,
    Level.BETTER: text.good,
    Level.PASS: str,
}
LEGEND = (
    "base → head: medians over links; the estimate is of their means. sure: the whole range is"
    " beyond a limit, or in paired links is not 0. unsure: it is not, so it may be the layout."
    " unchanged: cycles as before. instr: instructions more or fewer, which no layout changes. !!:"
    " beyond the hard limit, !: the soft one."
)


def first_line(answer: Answer) -> str:
    """Say the verdict, and what it is of: instructions first, for they are sure."""
    gated = answer.gated
    judged, many = len(gated.comparison.judged), gated.comparison.links_said
    gone = len(gated.gone)
    found = [f"{gone} row{'s' if gone > 1 else ''} not there"] if gone else []
    counted = _instructions(answer)
    costs = [of for of in (counted, _cycles(answer)) if of]
    if not answer.moved:
        still = "for certain" if costs else "beyond its layout spread"
        found.append(f"nothing moved {still} ({judged} rows, {many})")
    found += costs
    if answer.moved:
        found.append(f"{judged} row{'s' if judged > 1 else ''}, {many}")
    return f"{gated.level.words.title}: {'; '.join(found)}"


def _instructions(answer: Answer) -> str:
    """Say on how many rows there are more instructions, and on how many fewer."""
    said: list[str] = []
    for sign in (1, -1):
        counts = [round(line.more) for line in answer.lines if line.more * sign > 0]
        if counts:
            low, high = sorted((min(counts), max(counts)), key=abs)
            ((usual, often),) = Counter(counts).most_common(1)
            span = f"{low:+d} … {high:+d}" if 2 * often < len(counts) else f"{usual:+d}"
            said.append(f"{span}{'' if said else ' instructions'} on {_rows(len(counts), answer)}")
    return ", ".join(said)


def _cycles(answer: Answer) -> str:
    """Say on how many rows the cycles are surely more, surely fewer, and unsure."""
    sure = answer.that_are(Certainty.SURE)
    said = [
        f"{words} on {_rows(len(found), answer)} ({_span(found)})"
        for words, found in (
            ("surely more", [line for line in sure if line.dearer]),
            ("surely fewer", [line for line in sure if not line.dearer]),
            ("unsure", [line for line in answer.that_are(Certainty.UNSURE) if line.is_news]),
        )
        if found
    ]
    return f"cycles {', '.join(said)}" if said else ""


def _rows(count: int, answer: Answer) -> str:
    if count == len(answer.gated.comparison.judged):
        return f"all {count} rows" if count > 1 else "the one row"
    return f"{count} row{'s' if count > 1 else ''}"


CACHE_WORDS = {False: " with the cache off", True: " with the cache on", None: ""}
NAMED = 3  # parts of the suite in which only some rows moved; of more, how many there are is said


def headline(
    comparison: Comparison,
    moved: Sequence[Moved] | None = None,
    gone: int = 0,
) -> str:
    """Say in one line what moved of the rows that were judged, and how many are gone. Without
    `moved` that is what is relevant."""
    moved = comparison.moved() if moved is None else moved
    judged = [pair.row for pair in comparison.judged]
    still = f"({len(judged)} rows, {comparison.links_said})"
    lost = f"{gone} row{'s' if gone > 1 else ''} not there; " if gone else ""
    if not moved:
        return f"{lost}nothing moved beyond its layout spread {still}"
    parts = [_part(moved, judged, "instret", lower) for lower in (False, True)]
    for icache in CACHE_WORDS:
        found = [one for one in moved if one.row.icache is icache]
        there = [row for row in judged if row.icache is icache]
        parts += [_part(found, there, "cycles", lower) for lower in (False, True)]
    return lost + "; ".join([*filter(None, parts), f"nothing else moved {still}"])


def _part(moved: Sequence[Moved], judged: Sequence[Row], series: str, lower: bool) -> str:
    """Say what moved in one direction, and where; cycles are of one cache setting."""
    same = [one for one in moved if one.series == series and one.change.lower is lower]
    if not same:
        return ""
    ratios = [one.change.ratio for one in same if one.change.ratio]
    typical = text.percent(median(ratios) - 1, sign="+") if ratios else "from or to none"
    if series == "cycles":
        return f"cycles{CACHE_WORDS[same[0].row.icache]} {typical}{_where(same, judged)}"
    counts = [round(one.change.new - one.change.base) for one in same]
    ((count, many),) = Counter(counts).most_common(1)
    change = f"{count:+d} instructions"
    if 2 * many < len(counts):
        change = f"{min(counts, key=abs):+d} instructions or more"
    return f"{change} ({typical}){_where(same, [row for row in judged if row.instret])}"


def _where(same: Sequence[Moved], judged: Sequence[Row]) -> str:
    """Say which rows moved of those that could have: whole groups, or how many."""
    keys = {one.row.key for one in same}
    groups: dict[str, list[bool]] = {}
    for row in judged:
        groups.setdefault(row.id.partition(".")[0], []).append(row.key in keys)
    whole = [name for name, found in groups.items() if all(found)]
    some = [
        f"{sum(found)} of {len(found)} rows of {name}"
        for name, found in groups.items()
        if any(found) and not all(found)
    ]
    if len(whole) == len(groups):
        return " on every row"
    if len(some) > NAMED:
        many = sum(sum(found) for found in groups.values() if not all(found))
        some = [f"{many} other rows" if whole else f"{many} rows"]
    groups_named = [f"all of {', '.join(whole)}"] if whole else []
    return f" on {' and '.join([*groups_named, ', '.join(some)] if some else groups_named)}"


def limits_line(answer: Answer) -> str:
    """Count what is beyond each limit, and what moved within all."""
    counts = Counter((one.level, one.series) for one in answer.moved)
    said = []
    for level in (Level.HARD, Level.SOFT, Level.BETTER, Level.PASS):
        found = [
            f"{counts[level, series]} of {word}"
            for series, word in SERIES_WORDS.items()
            if counts[level, series]
        ]
        if found:
            said.append(f"{LIMIT_WORDS[level]}: {', '.join(found)}")
    return f"figures {'; '.join(said)}." if said else "no figure is beyond a limit."


LIMIT_WORDS = {
    Level.HARD: "beyond the hard limit",
    Level.SOFT: "beyond the soft limit",
    Level.BETTER: "lower by more than the soft limit",
    Level.PASS: "moved within the limits",
}


@dataclass(frozen=True)
class GroupShown:
    """What a table shows of a group: lines of their own, and all others in one."""

    shown: list[Line]
    folded: list[Line]


def parts(answer: Answer, most: int | None) -> dict[str, GroupShown]:
    """Divide the lines by group so that at most so many are shown, folded ones included; None:
    all, and none is folded. Each group has its worst before any has its second."""
    if most is None:
        return {group: GroupShown(lines, []) for group, lines in answer.groups.items()}
    news = sorted(
        (rank, line.place, group)
        for group, lines in answer.groups.items()
        for rank, line in enumerate(line for line in lines if line.is_news)
    )
    for count in range(len(news), -1, -1):
        taken = Counter(group for _, _, group in news[:count])
        found = {
            group: GroupShown(*_split([one for one in lines if one.is_news], taken[group], lines))
            for group, lines in answer.groups.items()
        }
        if sum(len(one.shown) + bool(one.folded) for one in found.values()) <= most:
            break
    return found


def _split(news: list[Line], count: int, lines: list[Line]) -> tuple[list[Line], list[Line]]:
    shown = news[:count]
    return shown, [line for line in lines if line not in shown]


def lines_of(answer: Answer, width: int, every: bool = False) -> list[str]:
    """Return the table as lines of text of at most so many columns."""
    if every:
        return _lines(parts(answer, None), answer, width)
    for most in range(MOST, 0, -1):  # a folded line may be too long for one
        lines = _lines(parts(answer, most), answer, width)
        if len(lines) <= MOST:
            break
    return lines


def _lines(found: Mapping[str, GroupShown], answer: Answer, width: int) -> list[str]:
    shown = [line for part in found.values() for line in part.shown]
    table = _table(shown, width)
    lines = table.heading() if shown else []
    for group, part in found.items():
        lines += [_line(line, table, width) for line in part.shown]
        if part.folded:
            lines += text.wrap(f"  {_in_one(group, part)}", width=width)
    if count := sum(len(part.folded) for part in found.values()):
        lines.append(f"{count} of {len(answer.lines)} rows are folded; --all shows them")
    return lines


def screen(answer: Answer, width: int, every: bool = False) -> list[str]:
    """Return the verdict, the table, and how to read it, as lines of text."""
    lines = [*text.wrap(first_line(answer), width=width), "", *lines_of(answer, width, every), ""]
    lines += text.wrap(text.sentence(limits_line(answer)), width=width)
    if any(line.is_news for line in answer.lines):
        lines += text.wrap(LEGEND, width=width)
    return [*lines, ""]


def _in_one(group: str, part: GroupShown) -> str:
    """Say of a group in one line what has no line of its own."""
    said = []
    for certainty in Certainty:
        found = [line for line in part.folded if line.certainty is certainty]
        if found:
            said.append(f"{len(found)} {certainty}{_behind(found)}")
    return f"{'further rows of ' if part.shown else ''}{group}: {', '.join(said)}"


def _behind(lines: Sequence[Line]) -> str:
    span = _span(lines)
    return f" {span}" if span else ""


def _span(lines: Sequence[Line]) -> str:
    """Say from where to where estimates go."""
    found = [0 if line.is_stray else line.estimate for line in lines]
    known = [share for share in found if share is not None]
    if not known:
        return ""
    low, high = _points(min(known)), _points(max(known))
    return f"{high} %" if low == high else f"{low} … {high} %"


def _points(share: float) -> str:
    """Write a share in percent, without its unit: with two digits where it is below one."""
    said = text.points(share, "+", 2 if abs(share) < 0.00995 else 1)
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


def from_to(line: Line) -> str:
    """Write the cycles of both sides: whole ones from 100 up, unless these are equal."""
    if line.cycles is None:
        return text.NONE
    ends = line.cycles.base, line.cycles.new
    said = [f"{end:.0f}" if end >= 100 else text.number(end) for end in ends]
    if said[0] == said[1] and ends[0] != ends[1]:
        said = [text.number(end) for end in ends]
    return " → ".join(said)


def estimate(line: Line) -> tuple[str, str]:
    """Write by how much the cycles changed, and in which range this may lie."""
    change, share = line.cycles, line.estimate
    if change is None or share is None:
        return text.NONE if change is None else "no ratio", ""
    said = f"{_points(share)} %"
    if change.low == change.high == change.ratio:
        return said, ""
    if not math.isfinite(change.high):
        return said, "(range unknown)"
    if change.high > WIDE:
        return said, "(range too wide)"
    return said, f"({_points(change.low - 1)} … {_points(change.high - 1)})"


def operation(line: Line) -> str:
    """Return what a row is called, without its cache setting."""
    lang = "" if line.row.lang == "c" else f" {LANGS[line.row.lang]}"
    return line.row.label + lang


def cells(line: Line) -> tuple[str, ...]:
    """Write a line by the columns of HEADS."""
    certainty = f"{line.certainty} {BEYOND.get(line.level, '')}".rstrip()
    more = f"{line.more:+.0f}{BEYOND.get(line.level_of_more, '')}" if line.more else "0"
    if line.instret is None:
        more = text.NONE
    cache = "" if line.row.icache is None else ICACHE[line.row.icache]
    behind = "; ".join(filter(None, (line.where, line.why.replace(BY_CONTROL, "by control"))))
    return operation(line), cache, from_to(line), *estimate(line), certainty, more, behind


def _table(lines: Sequence[Line], width: int) -> Table:
    """Make a table whose columns are as wide as these lines need; the operation takes what is left,
    and so does where, if that is enough."""
    there = [cells(line) for line in lines if line.certainty is not Certainty.GONE]
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


def _line(line: Line, table: Table, width: int) -> str:
    """Write a line in the columns of a table of text, coloured by its limits. Of what is gone the
    reason stands in the place of figures."""
    if line.certainty is Certainty.GONE:
        name, cache, *_, certainty, _, why = cells(line)
        first, second = table.columns[:2]
        known = first.padded(text.shortened(name, first.width)) + second.padded(cache)
        tone = TONES[line.level]
        return f"{known} {tone(text.shortened(f'{certainty}: {why}', width - len(known) - 1))}"
    found = [
        SHORTENED[n](cell, column.width) if n in SHORTENED else cell
        for n, (cell, column) in enumerate(zip(cells(line), table.columns, strict=False))
    ]
    for at, level in ((3, line.level), (5, line.level), (6, line.level_of_more)):
        found[at] = TONES[level](found[at])
    return table.line(found)


def _first_of(names: str, width: int) -> str:
    """Return the first of several names, as many as there is room for."""
    first = names
    while len(first) > width and ", " in first.removesuffix(", …"):
        first = f"{first.removesuffix(', …').rpartition(', ')[0]}, …"
    return text.shortened(first if len(first) <= width else first.removesuffix(", …"), width)


SHORTENED = {0: text.shortened, 7: _first_of}  # cells that may be longer than their column


def heading(answer: Answer) -> str:
    """Return the first line of a comment on a pull request."""
    sign = answer.gated.level.words.sign
    return f"### {sign} tockmark: {text.prose(first_line(answer))}"


def comment(answer: Answer) -> list[str]:
    """Return the table in Markdown for a comment: all rows are folded if not all are shown."""
    found = parts(answer, MOST_IN_COMMENT)
    lines = _markdown([line for part in found.values() for line in part.shown])
    rest = [text.prose(_in_one(name, part)) for name, part in found.items() if part.folded]
    lines += [*(f"- {one}" for one in rest), *([""] if rest else [])]
    lines += [f"{text.prose(text.sentence(limits_line(answer)))} {text.prose(LEGEND)}", ""]
    if rest:
        lines += folded(f"All {len(answer.lines)} rows", _markdown(answer.lines))
    return lines


def folded(summary: str, lines: list[str]) -> list[str]:
    """Fold lines, so that they are shown when somebody asks for them."""
    end = [] if lines and not lines[-1] else [""]
    return ["<details>", f"<summary>{summary}</summary>", "", *lines, *end, "</details>", ""]


def _markdown(lines: Sequence[Line]) -> list[str]:
    words = (HEADS[0], "(range)", "verdict", "where")
    columns = [TableColumn(head, left=head in words, names=head == HEADS[0]) for head in HEADS]
    return Table(columns, [cells(line) for line in lines]).markdown()


def records(lines: Sequence[Line]) -> object:
    """Return lines for other programs, as docs/command-line.md has them."""
    return text.as_json([_record(line) for line in lines])


def _record(line: Line) -> dict[str, object]:
    change, count = line.cycles, line.instret
    share = line.estimate
    known = change is not None and share is not None
    return {
        "row": line.row.name,
        "group": line.group,
        "verdict": line.certainty,
        "level": line.level.words.word,
        "base": change and change.base,
        "head": change and change.new,
        "estimate": share,
        "low": change.low - 1 if change and known else None,
        "high": change.high - 1 if change and known else None,
        "instructions": count
        and {
            "base": count.base,
            "head": count.new,
            "moved": line.more,
            "level": line.level_of_more.words.word,
        },
        "where": line.where,
        "why": line.why,
    }
