# SPDX-License-Identifier: Apache-2.0 OR MIT
"""How comparisons are shown: as text at 100 columns, and as JSON."""

from dataclasses import asdict

from tockmark.judge import factors
from tockmark.judge.compare import Comparison, Judged, Pair, Verdict
from tockmark.judge.factors import Factor
from tockmark.result.model import Result
from tockmark.show import text

SIDE_BY_SIDE = 3  # as many contenders go beside a baseline in one table

MARKS = {Verdict.EQUIVALENT: "=", Verdict.TRIVIAL: "~", Verdict.INDETERMINATE: "?"}
MEANING = {
    Verdict.EQUIVALENT: "equivalent (=): inside the margin, and perhaps no difference at all",
    Verdict.TRIVIAL: "trivial (~): a difference, surely inside the margin",
    Verdict.RELEVANT: "relevant (< lower, > higher): a difference, surely beyond the margin",
    Verdict.INDETERMINATE: "indeterminate (?): the interval lies across the edge of the margin",
}


def render(named: list[tuple[str, Result]], comparisons: list[Comparison]) -> str:
    """All comparisons with the first of the named results."""
    letters = text.letters(len(named))
    lines: list[str] = []
    for i, (letter, (name, result)) in enumerate(zip(letters, named, strict=True)):
        lines.append(f"{letter} = {name}{', the baseline' if i == 0 else ''}")
        if i == 0:
            told = factors.of(result)
            lines += [f"    {factor:<9} {told[factor]}" for factor in TOLD if factor in told]
        else:
            lines += [
                f"    {line}" for line in differing(comparisons[i - 1].factors, text.LINE - 4)
            ]
        why = result.incomplete
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
    tests = [comparison.tests for comparison in comparisons if comparison.tests]
    margin = text.percent(comparisons[0].margin)
    told = [
        "Net cycles of one operation: median, less time.read of the same boot; that as measured.",
        f"Lower is better. Margin: {margin}, unless a row has its own.",
        "",
        *(MEANING[verdict] for verdict in Verdict),
    ]
    if len(comparisons) == 1:
        exact = "exact: both sides come out the same each time"
        noisy = _noisy(comparisons[0])
        told.append(
            f"interval: of the change, 95 % (bootstrap); {exact}" if noisy else f"all {exact}"
        )
        told.append("instr: change of the net instructions")
    if tests:
        told.append(f"p: Mann-Whitney, corrected by Holm for {', '.join(map(str, tests))} tests")
    return told


def _detailed(comparison: Comparison) -> list[str]:
    """One contender: all columns."""
    widths = {"A": 7, "B": 7, "change": 8, "interval": 13, "p": 6, "instr": 7}
    if not comparison.tests:
        del widths["p"]
    if not _noisy(comparison):
        del widths["interval"]
    lines = []
    for section, pairs in comparison.sections:
        heads = text.cells(widths, widths.values())
        lines += text.heading(section, f"{heads}  {'verdict':<16}")
        for pair in pairs:
            cycles = pair.cycles
            values = {
                "A": text.trimmed(cycles.base),
                "B": text.trimmed(cycles.new),
                "change": _change(cycles),
                "interval": _interval(cycles),
                "p": _p(pair.p),
                "instr": _change(pair.instret),
            }
            cells = text.cells([values[name] for name in widths], widths.values())
            lines.append(text.row(pair.row.label, f"{cells}  {_verdict(cycles):<16}"))
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
                row = found.setdefault(section, {}).setdefault(pair.row.label, {})
                row[letter] = pair.cycles
    lines = []
    for section, rows in found.items():
        lines += text.heading(section, text.cells(heads, widths))
        for label, judged in rows.items():
            values = [text.trimmed(next(iter(judged.values())).base)]
            for letter in letters:
                cycles = judged.get(letter)
                values += (
                    [text.trimmed(cycles.new), _change(cycles), _mark(cycles)]
                    if cycles
                    else [text.NONE, text.NONE, ""]
                )
            lines.append(text.row(label, text.cells(values, widths)))
        lines.append("")
    return lines


def _summary(comparison: Comparison, letter: str) -> list[str]:
    counts = comparison.counts()
    relevant = [p for p in comparison.pairs() if p.cycles.verdict is Verdict.RELEVANT]
    lower = sum(pair.cycles.lower for pair in relevant)
    lines = text.wrap(
        f"{letter} against A, {sum(counts.values())} rows: {counts[Verdict.EQUIVALENT]} equivalent,"
        f" {counts[Verdict.TRIVIAL]} trivial, {len(relevant)} relevant ({lower} lower,"
        f" {len(relevant) - lower} higher), {counts[Verdict.INDETERMINATE]} indeterminate"
    )
    lines += _mean(comparison, letter)
    lines += text.listed("only in A", comparison.only_base)
    lines += text.listed(f"only in {letter}", comparison.only_new)
    lines += [f"not compared: {why}" for why in comparison.unusable]
    return [*lines, ""]


def _mean(comparison: Comparison, letter: str) -> list[str]:
    mean = comparison.mean
    if mean is None:
        return ["no geometric mean: no row with a ratio is of a benchmark that touches the kernel"]
    span = "exact" if mean.exact else f"{mean.low:.4f} to {mean.high:.4f}"
    many = (
        f"{mean.benchmarks} benchmarks that touch"
        if mean.benchmarks > 1
        else "the one that touches"
    )
    return text.wrap(
        f"geometric mean of {letter}/A over {many} the kernel, each weighing as one whatever its"
        f" rows: {mean.ratio:.4f} ({span}): {mean.verdict}"
    )


def as_json(baseline: str, comparisons: list[Comparison]) -> dict[str, object]:
    """The same for other programs."""
    return {
        "baseline": baseline,
        "comparisons": [
            {
                "name": comparison.name,
                "factors": [asdict(factor) for factor in comparison.factors],
                "margin": comparison.margin,
                "rows": [
                    _row_json(section, pair)
                    for section, pairs in comparison.sections
                    for pair in pairs
                ],
                "geometric_mean": asdict(comparison.mean) if comparison.mean else None,
                "tests": comparison.tests,
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
        "margin": pair.margin,
        "cycles": asdict(pair.cycles),
        "instret": asdict(pair.instret) if pair.instret else None,
        "p": pair.p,
    }


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
        return text.NONE
    if judged.ratio is None and judged.base != judged.new:
        return "no ratio"
    return text.change(judged.base, judged.new)


def _interval(judged: Judged) -> str:
    if judged.low is None or judged.high is None:
        return "exact" if judged.exact else "no ratio"
    if judged.exact:
        return "exact"
    return " … ".join(text.points(end - 1, "+") for end in (judged.low, judged.high))


def _p(p: float | None) -> str:
    if p is None:
        return text.NONE
    return "<0.001" if p < 0.001 else f"{p:.3f}"
