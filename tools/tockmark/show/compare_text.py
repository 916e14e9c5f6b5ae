# SPDX-License-Identifier: Apache-2.0 OR MIT
"""How comparisons are shown: as text at 100 columns, and as JSON."""

import math
from dataclasses import asdict

from tockmark.judge import factors
from tockmark.judge.compare import Comparison, Mean, Pair
from tockmark.judge.factors import Factor
from tockmark.judge.verdict import Change, Verdict, Z
from tockmark.result.model import Result
from tockmark.show import colour, text
from tockmark.show.headline import headline
from tockmark.suite.catalogue import aside

SIDE_BY_SIDE = 3  # as many contenders go beside a baseline in one table

MARKS = {
    Verdict.EQUIVALENT: "=",
    Verdict.TRIVIAL: "~",
    Verdict.LAYOUT: "l",
    Verdict.INDETERMINATE: "?",
    None: "a",
}
MEANING = {
    Verdict.EQUIVALENT: "inside the margin, and perhaps no difference at all",
    Verdict.TRIVIAL: "a difference, surely inside the margin",
    Verdict.RELEVANT: "a difference, surely beyond the margin",
    Verdict.LAYOUT: "inside what links of one kernel differ by; more links would tell",
    Verdict.INDETERMINATE: "the interval lies across the edge of the margin",
    None: "no kernel touches it, so it has no verdict",
}
APP = "app"  # in the place of a verdict


def render(named: list[tuple[str, Result]], comparisons: list[Comparison]) -> str:
    """All comparisons with the first of the named results."""
    letters = text.letters(len(named))
    lines: list[str] = []
    for letter, comparison in zip(letters[1:], comparisons, strict=True):
        lines += text.wrap(f"{letter}: {told(comparison)}")
    lines.append("")
    for i, (letter, (name, result)) in enumerate(zip(letters, named, strict=True)):
        lines.append(f"{letter} = {name}{', the baseline' if i == 0 else ''}")
        if i == 0:
            known = factors.of(result)
            lines += [f"    {factor:<9} {known[factor]}" for factor in TOLD if factor in known]
        else:
            lines += [
                f"    {line}" for line in differing(comparisons[i - 1].factors, text.LINE - 4)
            ]
        why = result.incomplete
        lines += [f"    {colour.bad('INCOMPLETE')}: {why[0]} ({len(why)} in all)"] if why else []
    lines += ["", *_legend(comparisons), ""]
    if len(comparisons) == 1:
        lines += _detailed(comparisons[0])
    else:
        for at in range(0, len(comparisons), SIDE_BY_SIDE):
            lines += _columns(
                comparisons[at : at + SIDE_BY_SIDE], letters[at + 1 : at + 1 + SIDE_BY_SIDE]
            )
    for letter, comparison in zip(letters[1:], comparisons, strict=True):
        lines += summed(comparison, letter)
    return "\n".join(lines).rstrip() + "\n"


def told(comparison: Comparison) -> str:
    """What happened, in one line."""
    judged = [pair.row for pair in comparison.pairs() if pair.judged]
    return headline(comparison.moved(), judged, comparison.links)


# What a reader must know of the baseline.
TOLD = ("kernel", "opt-level", "flags", "ABI", "compiler", "machine", "clock", "timing")


def differing(found: list[Factor], width: int = text.LINE) -> list[str]:
    """The factors that differ; one that is too long for a line takes two."""
    out = []
    for factor in found:
        values = f"{factor.base} -> {factor.new}"
        head = f"differs: {factor.name:<10}"
        if len(head) + len(values) <= width:
            out.append(head + values)
        else:
            out += [head + factor.base, f"{'-> ':>{len(head)}}{factor.new}"]
    return out


def _legend(comparisons: list[Comparison]) -> list[str]:
    margin = text.percent(comparisons[0].margin)
    known = comparisons[0].rule.known
    found = [
        "Net cycles of one operation: median, less time.read of the same boot; that as measured.",
        f"Lower is better. Margin: {margin}, unless a row has its own; instructions have half.",
        f"Spread over links: {known.title}; z = {Z:g}",
        "",
    ]
    if len(comparisons) > 1:  # whose table has marks in the place of words
        shown = {**MARKS, Verdict.RELEVANT: "< lower, > higher"}
        return [*found, *(f"{v or APP} ({shown[v]}): {said}" for v, said in MEANING.items())]
    return [
        *found,
        *(f"{verdict or APP}: {said}" for verdict, said in MEANING.items()),
        "interval: of the change, over layouts",
        "instr: change of the instructions; < lower or > higher behind it if that is relevant",
    ]


def _detailed(comparison: Comparison) -> list[str]:
    """One contender: all columns."""
    widths = {"A": 7, "B": 7, "change": 8, "interval": 15, "instr": 8}
    lines = []
    for section, pairs in comparison.sections:
        heads = text.cells(widths, widths.values())
        lines += text.heading(section, f"{heads}  {'verdict':<16}")
        for pair in pairs:
            *values, verdict = cells(pair)
            verdict = text.left(_coloured(verdict, pair.cycles, pair.verdict), 16)
            line = f"{text.cells(values, widths.values())}  {verdict}"
            lines.append(text.row(pair.row.label, line))
        lines.append("")
    return lines


def cells(pair: Pair) -> tuple[str, str, str, str, str, str]:
    """What is said of a row: cycles of both sides, the change with its interval, the change of the
    instructions, and the verdict."""
    cycles = pair.cycles
    return (
        text.trimmed(cycles.base),
        text.trimmed(cycles.new),
        _change(cycles),
        _interval(pair),
        _retired(pair),
        _verdict(pair),
    )


def _columns(comparisons: list[Comparison], letters: list[str]) -> list[str]:
    """Several contenders: each beside the baseline, its change and the mark of its verdict."""
    widths = [8, *([8, 8, 1] * len(comparisons))]
    heads = ["A", *(text for letter in letters for text in (letter, f"{letter}/A", ""))]
    found: dict[str, dict[str, dict[str, Pair]]] = {}
    for letter, comparison in zip(letters, comparisons, strict=True):
        for section, pairs in comparison.sections:
            for pair in pairs:
                row = found.setdefault(section, {}).setdefault(pair.row.label, {})
                row[letter] = pair
    lines = []
    for section, rows in found.items():
        lines += text.heading(section, text.cells(heads, widths))
        for label, there in rows.items():
            values = [text.trimmed(next(iter(there.values())).cycles.base)]
            for letter in letters:
                one = there.get(letter)
                values += (
                    [
                        text.trimmed(one.cycles.new),
                        _change(one.cycles),
                        _mark(one.cycles, one.verdict),
                    ]
                    if one
                    else [text.NONE, text.NONE, ""]
                )
            lines.append(text.row(label, text.cells(values, widths)))
        lines.append("")
    return lines


def summed(comparison: Comparison, letter: str) -> list[str]:
    """The counts of the verdicts, the mean, and what was left out of a comparison with A."""
    counts = comparison.counts()
    relevant = [p for p in comparison.pairs() if p.verdict is Verdict.RELEVANT]
    lower = sum(pair.cycles.lower for pair in relevant)
    own = sum(not pair.judged for pair in comparison.pairs())
    lines = text.wrap(
        f"{letter} against A, {sum(counts.values())} rows: {counts[Verdict.EQUIVALENT]} equivalent,"
        f" {counts[Verdict.TRIVIAL]} trivial, {len(relevant)} relevant ({lower} lower,"
        f" {len(relevant) - lower} higher), {counts[Verdict.LAYOUT]} layout?,"
        f" {counts[Verdict.INDETERMINATE]} indeterminate; and {own} of the apps"
    )
    moved = [row.name for row in comparison.rule.moved]
    lines += text.listed("warning: apps or machine differ; what no kernel touches moved", moved)
    lines += _mean(comparison, letter)
    lines += text.listed("only in A", comparison.only_base)
    lines += text.listed(f"only in {letter}", comparison.only_new)
    lines += [f"not compared: {why}" for why in comparison.unusable]
    return [*lines, ""]


def _mean(comparison: Comparison, letter: str) -> list[str]:
    if not comparison.means:
        return ["no geometric mean: no row with a ratio is of a benchmark that touches the kernel"]
    return [
        line
        for lang, mean in comparison.means.items()
        for line in _mean_of(mean, letter, aside(lang))
    ]


def _mean_of(mean: Mean, letter: str, told: str) -> list[str]:
    """That of one language."""
    span = f"{mean.low:.4f} to {mean.high:.4f}" if math.isfinite(mean.high) else "spread unknown"
    many = (
        f"{mean.benchmarks} benchmarks that touch"
        if mean.benchmarks > 1
        else "the one that touches"
    )
    return text.wrap(
        f"geometric mean of {letter}/A over {many} the kernel, each weighing as one whatever its"
        f" rows{told}: {mean.ratio:.4f} ({span}): {mean.verdict}"
    )


def as_json(baseline: str, comparisons: list[Comparison]) -> dict[str, object]:
    """The same for other programs."""
    return {
        "baseline": baseline,
        "comparisons": [
            {
                "name": comparison.name,
                "told": told(comparison),
                "factors": [asdict(factor) for factor in comparison.factors],
                "margin": comparison.margin,
                "rows": [
                    _row_json(section, pair)
                    for section, pairs in comparison.sections
                    for pair in pairs
                ],
                "geometric_mean": None,
                **{
                    "geometric_mean" + ("" if lang == "c" else f"_{lang}"): finite(mean)
                    for lang, mean in comparison.means.items()
                },
                "spread": comparison.rule.known.title,
                "links": comparison.links,
                "apps_moved": [row.name for row in comparison.rule.moved],
                "only_baseline": comparison.only_base,
                "only_this": comparison.only_new,
                "not_compared": comparison.unusable,
            }
            for comparison in comparisons
        ],
    }


def _row_json(section: str, pair: Pair) -> dict[str, object]:
    return {
        "section": section,
        "id": pair.row.id,
        "params": pair.row.params,
        "icache": pair.row.icache,
        "lang": pair.row.lang,
        "margin": pair.margin,
        "cycles": {**finite(pair.cycles), "verdict": pair.verdict},
        "instret": {**finite(pair.instret), "verdict": pair.retired} if pair.instret else None,
    }


def finite(part: Change | Mean) -> dict[str, object]:
    """Its fields; what is not bounded is null."""
    return {
        name: None if isinstance(value, float) and not math.isfinite(value) else value
        for name, value in asdict(part).items()
    }


def _verdict(pair: Pair) -> str:
    if pair.verdict in (Verdict.TRIVIAL, Verdict.RELEVANT):
        return f"{pair.verdict}, {'lower' if pair.cycles.lower else 'higher'}"
    return pair.verdict or APP


def _coloured(word: str, changed: Change | None, verdict: Verdict | None) -> str:
    """A word or a mark for a verdict, in its colour."""
    if verdict is Verdict.RELEVANT and changed:
        return colour.good(word) if changed.lower else colour.bad(word)
    if verdict in (Verdict.LAYOUT, Verdict.INDETERMINATE):
        return colour.doubtful(word)
    return word


def _mark(changed: Change | None, verdict: Verdict | None) -> str:
    if verdict is Verdict.RELEVANT and changed:
        return _coloured("<" if changed.lower else ">", changed, verdict)
    return _coloured(MARKS[verdict], changed, verdict)


def _change(changed: Change | None) -> str:
    if changed is None:
        return text.NONE
    if changed.ratio is None:
        return "0 %" if changed.base == changed.new else "no ratio"
    return "0 %" if changed.ratio == 1 else text.percent(changed.ratio - 1, sign="+")


def _retired(pair: Pair) -> str:
    relevant = pair.retired is Verdict.RELEVANT
    return _change(pair.instret) + (_mark(pair.instret, pair.retired) if relevant else " ")


def _interval(pair: Pair) -> str:
    cycles = pair.cycles
    if not pair.judged or cycles.ratio is None or not math.isfinite(cycles.high):
        return text.NONE
    return " … ".join(text.points(end - 1, "+") for end in (cycles.low, cycles.high))
