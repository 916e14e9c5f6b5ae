# SPDX-License-Identifier: Apache-2.0 OR MIT
"""How comparisons are shown: as text at 100 columns, and as JSON."""

import textwrap
from collections.abc import Iterable
from dataclasses import asdict

from tockmark.judge import factors
from tockmark.judge.compare import Comparison, Judged, Pair, Verdict
from tockmark.result.result import Json, incomplete

LINE = 100
SHOWN = 12  # names of rows that only one result has; --json has them all
SIDE_BY_SIDE = 3  # as many contenders go beside a baseline in one table

MARKS = {Verdict.EQUIVALENT: "=", Verdict.TRIVIAL: "~", Verdict.INDETERMINATE: "?"}
MEANING = {
    Verdict.EQUIVALENT: "equivalent (=): inside the margin, and perhaps no difference at all",
    Verdict.TRIVIAL: "trivial (~): a difference, surely inside the margin",
    Verdict.RELEVANT: "relevant (< lower, > higher): a difference, surely beyond the margin",
    Verdict.INDETERMINATE: "indeterminate (?): the interval lies across the edge of the margin",
}


def render(named: list[tuple[str, Json]], comparisons: list[Comparison]) -> str:
    """All comparisons with the first of the named results."""
    letters = [chr(ord("A") + i % 26) for i in range(len(named))]
    lines: list[str] = []
    for i, (letter, (name, result)) in enumerate(zip(letters, named, strict=True)):
        lines.append(f"{letter} = {name}{', the baseline' if i == 0 else ''}")
        if i == 0:
            lines += [f"    {name_:<9} {text}" for name_, text in _told(result)]
        else:
            lines += [f"    {line}" for line in factors.lines(comparisons[i - 1].factors, LINE - 4)]
        why = incomplete(result)
        lines += [f"    INCOMPLETE: {why[0]} ({len(why)} in all)"] if why else []
    lines += ["", *_legend(comparisons), ""]
    if len(comparisons) == 1:
        lines += _detailed(comparisons[0])
    else:
        for at in range(0, len(comparisons), SIDE_BY_SIDE):
            lines += _columns(
                comparisons[at : at + SIDE_BY_SIDE], letters[at + 1 : at + 1 + SIDE_BY_SIDE]
            )
    for letter, comparison in zip(letters[1:], comparisons, strict=True):
        lines += _summary(comparison, letter)
    return "\n".join(lines).rstrip() + "\n"


def _told(result: Json) -> list[tuple[str, str]]:
    """What a reader must know of the baseline."""
    found = factors.of(result)
    return [
        (name, found[name]) for name in ("kernel", "ABI", "compiler", "machine", "clock", "timing")
    ]


def _legend(comparisons: list[Comparison]) -> list[str]:
    tests = [comparison.tests for comparison in comparisons if comparison.tests]
    text = [
        "Net cycles of one operation: median, less time.read of the same boot; that as measured.",
        f"Lower is better. Margin: {_percent(comparisons[0].margin)}, unless a row has its own.",
        "",
        *(MEANING[verdict] for verdict in Verdict),
    ]
    if len(comparisons) == 1:
        exact = "exact: both sides come out the same each time"
        noisy = _noisy(comparisons[0])
        text.append(
            f"interval: of the change, 95 % (bootstrap); {exact}" if noisy else f"all {exact}"
        )
        text.append("instr: change of the net instructions")
    if tests:
        text.append(f"p: Mann-Whitney, corrected by Holm for {', '.join(map(str, tests))} tests")
    return text


def _detailed(comparison: Comparison) -> list[str]:
    """One contender: all columns."""
    widths = {"A": 7, "B": 7, "change": 8, "interval": 13, "p": 6, "instr": 7}
    if not comparison.tests:
        del widths["p"]
    if not _noisy(comparison):
        del widths["interval"]
    lines = []
    for section, pairs in comparison.sections:
        lines += _heading(section, f"{_cells(widths, widths)}  {'verdict':<16}")
        for pair in pairs:
            cycles = pair.cycles
            texts = {
                "A": _number(cycles.base),
                "B": _number(cycles.new),
                "change": _change(cycles),
                "interval": _interval(cycles),
                "p": _p(pair.p),
                "instr": _change(pair.instret),
            }
            cells = _cells([texts[name] for name in widths], widths)
            lines.append(_row(pair.entry.label, f"{cells}  {_verdict(cycles):<16}"))
        lines.append("")
    return lines


def _noisy(comparison: Comparison) -> bool:
    return not all(pair.cycles.exact for pair in comparison.pairs())


def _columns(comparisons: list[Comparison], letters: list[str]) -> list[str]:
    """Several contenders: each beside the baseline, its change and the mark of its verdict."""
    widths = [8, *([8, 8, 1] * len(comparisons))]
    heads = ["A", *(text for letter in letters for text in (letter, f"{letter}/A", ""))]
    found: dict[str, dict[str, dict[str, Judged]]] = {}
    for letter, comparison in zip(letters, comparisons, strict=True):
        for section, pairs in comparison.sections:
            for pair in pairs:
                row = found.setdefault(section, {}).setdefault(pair.entry.label, {})
                row[letter] = pair.cycles
    lines = []
    for section, rows in found.items():
        lines += _heading(section, _cells(heads, widths))
        for label, judged in rows.items():
            texts = [_number(next(iter(judged.values())).base)]
            for letter in letters:
                cycles = judged.get(letter)
                texts += (
                    [_number(cycles.new), _change(cycles), _mark(cycles)]
                    if cycles
                    else ["-", "-", ""]
                )
            lines.append(_row(label, _cells(texts, widths)))
        lines.append("")
    return lines


def _summary(comparison: Comparison, letter: str) -> list[str]:
    counts = comparison.counts()
    relevant = [p for p in comparison.pairs() if p.cycles.verdict is Verdict.RELEVANT]
    lower = sum(pair.cycles.lower for pair in relevant)
    lines = textwrap.wrap(
        f"{letter} against A, {sum(counts.values())} rows: {counts[Verdict.EQUIVALENT]} equivalent,"
        f" {counts[Verdict.TRIVIAL]} trivial, {len(relevant)} relevant ({lower} lower,"
        f" {len(relevant) - lower} higher), {counts[Verdict.INDETERMINATE]} indeterminate",
        LINE,
        subsequent_indent="    ",
    )
    if comparison.mean:
        mean = comparison.mean
        span = "exact" if mean.exact else f"{mean.low:.4f} to {mean.high:.4f}"
        lines.append(
            f"geometric mean of {letter}/A over {mean.rows} rows: {mean.ratio:.4f} ({span}):"
            f" {mean.verdict}"
        )
    lines += _list("only in A", comparison.only_base)
    lines += _list(f"only in {letter}", comparison.only_new)
    lines += [f"not compared: {why}" for why in comparison.unusable]
    return [*lines, ""]


def as_json(baseline: str, comparisons: list[Comparison]) -> Json:
    """The same for other programs."""
    return {
        "baseline": baseline,
        "comparisons": [
            {
                "name": comparison.name,
                "factors": [asdict(factor) for factor in comparison.factors],
                "margin": comparison.margin,
                "rows": [_row_json(section, pair) for section, pair in _all(comparison)],
                "geometric_mean": asdict(comparison.mean) if comparison.mean else None,
                "tests": comparison.tests,
                "only_baseline": comparison.only_base,
                "only_this": comparison.only_new,
                "not_compared": comparison.unusable,
            }
            for comparison in comparisons
        ],
    }


def _all(comparison: Comparison) -> list[tuple[str, Pair]]:
    return [(section, pair) for section, pairs in comparison.sections for pair in pairs]


def _row_json(section: str, pair: Pair) -> Json:
    entry = pair.entry
    return {
        "section": section,
        "id": entry.id,
        "params": entry.params,
        "icache": entry.icache,
        "margin": pair.margin,
        "cycles": asdict(pair.cycles),
        "instret": asdict(pair.instret) if pair.instret else None,
        "p": pair.p,
    }


def _heading(section: str, columns: str) -> list[str]:
    return [section, _row("", columns), "-" * LINE]


def _row(label: str, cells: str) -> str:
    room = LINE - len(label) - 1  # a long label takes what its first figure leaves free
    return f"{label} {cells.lstrip():>{min(room, LINE - 1)}}".rstrip()


def _cells(values: Iterable[str], widths: dict[str, int] | list[int]) -> str:
    sizes = widths.values() if isinstance(widths, dict) else widths
    return "".join(f" {value:>{width}}" for value, width in zip(values, sizes, strict=True))


def _list(what: str, labels: list[str]) -> list[str]:
    more = f", and {len(labels) - SHOWN} more" if len(labels) > SHOWN else ""
    text = f"{what} ({len(labels)}): {', '.join(labels[:SHOWN])}{more}"
    return textwrap.wrap(text, LINE, subsequent_indent="    ") if labels else []


def _verdict(judged: Judged) -> str:
    word = judged.verdict.partition(" ")[0]
    if judged.verdict in (Verdict.TRIVIAL, Verdict.RELEVANT):
        return f"{word}, {'lower' if judged.lower else 'higher'}"
    return word


def _mark(judged: Judged) -> str:
    if judged.verdict is Verdict.RELEVANT:
        return "<" if judged.lower else ">"
    return MARKS[judged.verdict]


def _change(judged: Judged | None) -> str:
    if judged is None:
        return "-"
    if judged.ratio is None:
        return "0 %" if judged.base == judged.new else "no ratio"
    return _percent(judged.ratio - 1, sign="+") if judged.ratio != 1 else "0 %"


def _interval(judged: Judged) -> str:
    if judged.low is None or judged.high is None:
        return "exact" if judged.exact else "no ratio"
    if judged.exact:
        return "exact"
    ends = [(end - 1) * 100 for end in (judged.low, judged.high)]
    return " … ".join(f"{end:+.{2 if abs(end) < 10 else 1}f}" for end in ends)


def _p(p: float | None) -> str:
    if p is None:
        return "-"
    return "<0.001" if p < 0.001 else f"{p:.3f}"


def _percent(value: float, sign: str = "") -> str:
    """Three digits, or two behind the point of what is small."""
    return f"{value * 100:{sign}.{2 if abs(value) < 0.1 else 1 if abs(value) < 1 else 0}f} %"


def _number(value: float) -> str:
    return f"{value:.3f}".rstrip("0").rstrip(".")
