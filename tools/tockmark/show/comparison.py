# SPDX-License-Identifier: Apache-2.0 OR MIT
"""What happened, in one line: what moved, in the order of trust, and that nothing else did."""

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from statistics import median

from tockmark.compare import factors, limits, rule
from tockmark.compare.agree import Agreement, AgreePair, Standing
from tockmark.compare.factors import Factor
from tockmark.compare.gate import Gated
from tockmark.compare.limits import Level, SimulatorBound
from tockmark.compare.pairs import Comparison, Finding, Lone, Mean, Moved, Pair, tables
from tockmark.compare.rule import Change, Verdict, Z
from tockmark.result.model import Result, Row
from tockmark.show import text
from tockmark.suite.catalogue import Catalogue, aside

CACHE = {False: " with the cache off", True: " with the cache on", None: ""}
NAMED = 3  # parts of the suite in which only some rows moved; of more, how many there are is said


def headline(comparison: Comparison, moved: Sequence[Moved], gone: int = 0) -> str:
    """What moved, of the rows that were judged, and how many of them are gone."""
    judged, links = [pair.row for pair in comparison.judged], comparison.links
    lost = f"{gone} row{'s' if gone > 1 else ''} not there; " if gone else ""
    if not moved:
        return f"{lost}nothing moved beyond its layout spread ({len(judged)} rows, {_links(links)})"
    parts = []
    for lower in (False, True):
        same = [one for one in moved if one.series == "instret" and one.change.lower is lower]
        if same:
            parts.append(_instructions(same, judged))
    for setting, cache in CACHE.items():
        for lower in (False, True):
            same = [
                one
                for one in moved
                if one.series == "cycles"
                and one.row.icache is setting
                and one.change.lower is lower
            ]
            if same:
                there = [row for row in judged if row.icache is setting]
                parts.append(f"cycles{cache} {_typical(same)}{_where(same, there)}")
    parts.append(f"nothing else moved ({len(judged)} rows, {_links(links)})")
    return lost + "; ".join(parts)


def _links(links: tuple[int, int]) -> str:
    base, new = (f"{many} link{'s' if many > 1 else ''}" for many in links)
    return f"{base} a side" if base == new else f"{base} against {new}"


def _instructions(same: Sequence[Moved], judged: Sequence[Row]) -> str:
    """Of one operation: what most have, or the least that any has."""
    counts = [round(one.change.new - one.change.base) for one in same]
    ((common, many),) = Counter(counts).most_common(1)
    if 2 * many >= len(counts):
        told = f"{common:+d} instructions"
    else:
        told = f"{min(counts, key=abs):+d} instructions or more"
    where = _where(same, [row for row in judged if row.instret])
    return f"{told} ({_typical(same)}){where}"


def _typical(same: Sequence[Moved]) -> str:
    """The median change in percent."""
    ratios = [one.change.ratio for one in same if one.change.ratio]
    return text.percent(median(ratios) - 1, sign="+") if ratios else "from or to none"


def _where(same: Sequence[Moved], judged: Sequence[Row]) -> str:
    """On which rows of those that could have moved so: whole groups, or how many."""
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
    told = [f"all of {', '.join(whole)}"] if whole else []
    return f" on {' and '.join([*told, ', '.join(some)] if some else told)}"


# How comparisons are shown: as text at 100 columns, and as JSON.


SIDE_BY_SIDE = 3  # as many contenders go beside a baseline in one table

TONES = {"good": text.good, "doubtful": text.doubtful, "bad": text.bad}
APP = "app"  # in the place of a verdict


def compare_text(named: list[tuple[str, Result]], comparisons: list[Comparison]) -> str:
    """All comparisons with the first of the named results."""
    letters = text.letters(len(named))
    lines: list[str] = []
    for letter, comparison in zip(letters[1:], comparisons, strict=True):
        lines += text.wrap(f"{letter}: {factor_told(comparison)}")
    lines.append("")
    for i, (letter, (name, result)) in enumerate(zip(letters, named, strict=True)):
        lines.append(f"{letter} = {name}{', the baseline' if i == 0 else ''}")
        if i == 0:
            known = factors.factors_of(result)
            lines += [f"    {factor:<9} {known[factor]}" for factor in TOLD if factor in known]
        else:
            lines += [
                f"    {line}" for line in differing(comparisons[i - 1].factors, text.LINE - 4)
            ]
        why = result.incomplete
        lines += [f"    {text.bad('INCOMPLETE')}: {why[0]} ({len(why)} in all)"] if why else []
    lines += ["", *_legend(comparisons), ""]
    if len(comparisons) == 1:
        lines += _detailed(comparisons[0])
    else:
        for at in range(0, len(comparisons), SIDE_BY_SIDE):
            lines += _compare_columns(
                comparisons[at : at + SIDE_BY_SIDE], letters[at + 1 : at + 1 + SIDE_BY_SIDE]
            )
    for letter, comparison in zip(letters[1:], comparisons, strict=True):
        lines += summed(comparison, letter)
    return "\n".join(lines).rstrip() + "\n"


def factor_told(comparison: Comparison) -> str:
    """What happened, in one line."""
    return headline(comparison, comparison.moved())


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
        return [*found, *(f"{v or APP} ({w.mark}): {w.meaning}" for v, w in rule.VERDICTS.items())]
    return [
        *found,
        *(f"{verdict or APP}: {words.meaning}" for verdict, words in rule.VERDICTS.items()),
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
            *values, verdict = compare_cells(pair)
            verdict = text.left(_coloured(verdict, pair.cycles, pair.verdict), 16)
            line = f"{text.cells(values, widths.values())}  {verdict}"
            lines.append(text.row(pair.row.label, line))
        lines.append("")
    return lines


def compare_cells(pair: Pair) -> tuple[str, str, str, str, str, str]:
    """What is said of a row: cycles of both sides, the change with its interval, the change of the
    instructions, and the verdict."""
    cycles = pair.cycles
    return (
        text.trimmed(cycles.base),
        text.trimmed(cycles.new),
        _change(cycles),
        _interval(pair),
        _retired(pair),
        _verdict_word(pair),
    )


def _compare_columns(comparisons: list[Comparison], letters: list[str]) -> list[str]:
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
    relevant = [p for p in comparison.pairs if p.verdict is Verdict.RELEVANT]
    lower = sum(pair.cycles.lower for pair in relevant)
    own = len(comparison.pairs) - len(comparison.judged)
    lines = text.wrap(
        f"{letter} against A, {sum(counts.values())} rows: {counts[Verdict.EQUIVALENT]} equivalent,"
        f" {counts[Verdict.TRIVIAL]} trivial, {len(relevant)} relevant ({lower} lower,"
        f" {len(relevant) - lower} higher), {counts[Verdict.LAYOUT]} layout?,"
        f" {counts[Verdict.INDETERMINATE]} indeterminate; and {own} of the apps"
    )
    moved = [row.name for row in comparison.rule.moved]
    lines += text.listed("warning: apps or machine differ; what no kernel touches moved", moved)
    lines += _mean(comparison, letter)
    lines += text.listed("only in A", [one.name for one in comparison.only_base])
    lines += text.listed(f"only in {letter}", [one.name for one in comparison.only_new])
    lines += [f"not compared: {one.name}: {one.why}" for one in comparison.unusable]
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


def compare_json(baseline: str, comparisons: list[Comparison]) -> dict[str, object]:
    """The same for other programs."""
    return {
        "baseline": baseline,
        "comparisons": [
            {
                "name": comparison.name,
                "told": factor_told(comparison),
                "factors": [asdict(factor) for factor in comparison.factors],
                "margin": comparison.margin,
                "rows": [
                    _compare_row_json(section, pair)
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
                "only_baseline": [one.name for one in comparison.only_base],
                "only_this": [one.name for one in comparison.only_new],
                "not_compared": [f"{one.name}: {one.why}" for one in comparison.unusable],
            }
            for comparison in comparisons
        ],
    }


def _compare_row_json(section: str, pair: Pair) -> dict[str, object]:
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


def _verdict_word(pair: Pair) -> str:
    if pair.verdict in (Verdict.TRIVIAL, Verdict.RELEVANT):
        return f"{pair.verdict}, {'lower' if pair.cycles.lower else 'higher'}"
    return pair.verdict or APP


def _coloured(word: str, changed: Change | None, verdict: Verdict | None) -> str:
    """A word or a mark for a verdict, in its colour."""
    if verdict is Verdict.RELEVANT and changed:
        return text.good(word) if changed.lower else text.bad(word)
    if verdict in (Verdict.LAYOUT, Verdict.INDETERMINATE):
        return text.doubtful(word)
    return word


def _mark(changed: Change | None, verdict: Verdict | None) -> str:
    if verdict is Verdict.RELEVANT and changed:
        return _coloured("<" if changed.lower else ">", changed, verdict)
    return _coloured(rule.VERDICTS[verdict].mark, changed, verdict)


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


# How a gate's judgement is shown: as text, as JSON, and in Markdown for a pull request.


SHOWN = 25  # findings of a kind; --json and the Markdown have them all


def gate_text(names: list[str], new: str, gated: Gated) -> str:
    """The judgement as text."""
    lines = [*text.wrap(finding_told(gated)), ""]
    lines += [f"base    {name}" for name in names] + [f"new     {new}"]
    lines += differing(gated.comparison.factors)
    for level in reversed(Level):
        lines += _findings(level, [one for one in gated.findings if one.level is level])
    lines.append("")
    for warning in gated.warnings:
        lines += text.wrap(f"warning: {warning}")
    for note in _notes(gated):
        lines += text.wrap(f"note: {note}")
    lines.append(f"spread over links: {gated.comparison.rule.known.title}")
    coloured = TONES[gated.level.words.tone]
    return "\n".join([*lines, coloured(_gate_verdict(gated))]) + "\n"


def _findings(level: Level, found: list[Finding]) -> list[str]:
    """Those of one level under a heading that counts them; nothing if there are none."""
    if not found:
        return []
    words = level.words
    title = f"{TONES[words.tone](text.sentence(words.word))}: {len(found)} {words.of_findings}"
    lines = ["", *text.heading(title, _gate_columns("base", "new", "change", "limit"))]
    for one in found[:SHOWN]:
        if isinstance(one, Moved):
            columns = _gate_columns(*_gate_cells(one), one.why)
            lines.append(text.row(f"{one.row.name} {limits.SERIES_WORDS[one.series]}", columns))
        else:
            lines.append(f"{one.row.name}: {one.why}")
    return [*lines, *([f"and {len(found) - SHOWN} more; --json has all"] * (len(found) > SHOWN))]


def finding_told(gated: Gated) -> str:
    """What happened, in one line."""
    moved = sorted(gated.moved, key=lambda finding: finding.place)
    return headline(gated.comparison, moved, len(gated.gone))


def _notes(gated: Gated) -> list[str]:
    """Those of the judgement, and how many rows it could not tell of."""
    many = len(gated.unsure)
    told = f"{many} figure{'s' if many > 1 else ''} may be beyond a limit, or it is the layout"
    return [*gated.notes, *([f"{told}; --json names them"] if many else [])]


def gate_markdown(names: list[str], new: str, gated: Gated) -> str:
    """A summary for a pull request."""
    lines = [f"### tockmark: {_gate_verdict(gated)}", "", finding_told(gated), ""]
    lines += [f"`{new}` against {', '.join(f'`{name}`' for name in names)}.", ""]
    shown = [finding for finding in gated.findings if finding.level > Level.BETTER]
    lines += _gate_table(shown)
    better = [finding for finding in gated.findings if finding.level is Level.BETTER]
    if better:
        summary = f"<details><summary>{len(better)} better</summary>"
        lines += [summary, "", *_gate_table(better), "</details>", ""]
    lines += [f"- Warning: {warning}" for warning in gated.warnings]
    lines += [f"- {note}" for note in _notes(gated)]
    lines += [f"- {f.name} differs: {f.base} → {f.new}" for f in gated.comparison.factors]
    return "\n".join(lines).rstrip() + "\n"


def gate_json(names: list[str], new: str, gated: Gated) -> dict[str, object]:
    """The same for other programs."""
    return {
        "base": names,
        "new": new,
        "told": finding_told(gated),
        "verdict": gated.level.words.word,
        "exit_code": gated.exit_code,
        "rows": gated.checked,
        "findings": [
            {
                "level": finding.level.words.word,
                "row": finding.row.name,
                "series": _series_word(finding),
                "why": finding.why,
                "change": finite(finding.change) if isinstance(finding, Moved) else None,
            }
            for finding in gated.findings
        ],
        "notes": gated.notes,
        "perhaps_beyond": [f"{one.row.name} {_series_word(one)}" for one in gated.unsure],
        "links": gated.comparison.links,
        "spread": gated.comparison.rule.known.title,
        "warnings": gated.warnings,
        "factors": [asdict(factor) for factor in gated.comparison.factors],
    }


def _series_word(finding: Finding) -> str | None:
    """What users call the series that moved; None if the whole row is gone."""
    return limits.SERIES_WORDS[finding.series] if isinstance(finding, Moved) else None


def _gate_verdict(gated: Gated) -> str:
    return f"{gated.level.words.title}: of {gated.checked} rows, {counted(gated)}"


def counted(gated: Gated, unit: str = "") -> str:
    """How many findings there are of each level."""
    counts = Counter(finding.level for finding in gated.findings)
    return (
        f"{counts[Level.HARD]}{unit} beyond a hard limit, {counts[Level.SOFT]} beyond a soft one,"
        f" {counts[Level.BETTER]} better"
    )


def _gate_table(findings: list[Finding]) -> list[str]:
    if not findings:
        return []
    lines = ["| row | | base | new | change | |", "|---|---|---:|---:|---:|---|"]
    for finding in findings:
        base, new, change = _gate_cells(finding)
        why = f"{finding.level.words.word}: {finding.why}".replace("|", "\\|")
        cells = [f"`{finding.row.name}`", _series_word(finding) or "", base, new, change, why]
        lines.append(f"| {' | '.join(cells)} |")
    return [*lines, ""]


def _gate_columns(base: str, new: str, change: str, why: str) -> str:
    return f"{base:>8}{new:>9}{change:>10}  {why:<12}"


def _gate_cells(finding: Finding) -> tuple[str, str, str]:
    """Counts of one operation, and the change."""
    if not isinstance(finding, Moved):
        return text.NONE, text.NONE, text.NONE
    found = finding.change
    return text.number(found.base), text.number(found.new), text.change(found.base, found.new)


# How the agreement of a board with the simulator is shown: the counts first, then what is outside,
# then every row if it is wanted; and as JSON.


WIDTHS = {"sim": 9, "board": 9, "board/sim": 10, "off": 8, "bound": 8, "instr": 6}
STANDING_WORDS = {
    Standing.EQUAL: "=",
    Standing.WITHIN: "within",
    Standing.OUTSIDE: "OUTSIDE",
    Standing.UNSTATED: "no bound",
}
COLOURS = {Standing.OUTSIDE: text.bad, Standing.UNSTATED: text.doubtful}
WORD = max(map(len, STANDING_WORDS.values()))
NOT_SHOWN = ("timing", "simulator", "board", "tool")  # differ by nature


def agree_text(
    names: Sequence[str],
    results: Sequence[Result],
    found: Agreement,
    catalogue: Catalogue,
    every: bool,
) -> str:
    """The agreement as text; `every`: with all rows."""
    lines = [*text.wrap(standing_told(found)), ""]
    for side, name, result in zip(("sim  ", "board"), names, results, strict=True):
        lines.append(f"{side}  {name}")
        lines += text.wrap(f"       {result.provenance.line}", indent="       ")
    lines += differing([one for one in found.factors if one.name not in NOT_SHOWN])
    if found.layouts:
        lines += text.wrap(
            f"layouts may differ: {found.layouts}. Layout moves rows by itself, so this is"
            " indicative only"
        )
    lines += [line for note in found.notes for line in text.wrap(f"note: {note}")]
    for reason in found.incomplete[:1]:
        lines += text.wrap(f"INCOMPLETE: {reason} ({len(found.incomplete)} in all)")
    lines.append("")
    for standing, title in (
        (Standing.OUTSIDE, "Outside the bound, the farthest first"),
        (Standing.UNSTATED, "Different, and no bound is stated"),
    ):
        if some := found.that_are(standing):
            lines += [
                *_agree_heading(title),
                *(_agree_line(pair, pair.sim.name) for pair in some),
                "",
            ]
    if every:
        for title, pairs in tables(found.pairs, catalogue, lambda pair: pair.sim):
            lines += [
                *_agree_heading(title),
                *(_agree_line(pair, pair.sim.label) for pair in pairs),
                "",
            ]
    lines += _alone("only on the simulator", found.only_sim)
    lines += _alone("only on the board", found.only_board)
    lines += _alone("not compared", found.unusable)
    lines += _alone("skipped", found.skipped)
    lines += _reasons(found)
    return "\n".join(lines).rstrip() + "\n"


def standing_told(found: Agreement) -> str:
    """The counts, in one line."""
    equal = found.that_are(Standing.EQUAL)
    exact = sum(pair.same_samples for pair in equal)
    alone = len(found.only_sim) + len(found.only_board)
    parts = [
        f"{len(equal)} equal to the cycle ({exact} in every sample)",
        f"{len(found.that_are(Standing.WITHIN))} within the bound",
        f"{len(found.that_are(Standing.OUTSIDE))} outside",
    ]
    if unstated := found.that_are(Standing.UNSTATED):
        parts.append(f"{len(unstated)} different without a stated bound")
    rest = f"{alone} only on one side"
    rest += f", {len(found.unusable)} not compared" if found.unusable else ""
    rest += f", {len(found.skipped)} skipped" if found.skipped else ""
    return f"{found.machine}: {len(found.pairs)} rows compared: {', '.join(parts)}; {rest}"


def _agree_heading(title: str) -> list[str]:
    return text.heading(title, f"{text.cells(WIDTHS, WIDTHS.values())}  {'':<{WORD}}")


def _agree_line(pair: AgreePair, label: str) -> str:
    sim, board = pair.cycles
    instr = pair.instructions
    values = (
        text.trimmed(sim),
        text.trimmed(board),
        text.NONE if pair.ratio is None else f"{pair.ratio:.4f}",
        f"{'+' * (pair.off > 0)}{text.trimmed(pair.off)}",
        text.NONE if pair.allowed is None else text.trimmed(pair.allowed, 1),
        text.NONE if instr is None else f"{'+' * (instr > 0)}{text.trimmed(instr)}",
    )
    cells = text.cells(values, WIDTHS.values())
    coloured = COLOURS.get(pair.standing, str)
    return text.row(label, f"{cells}  {text.left(coloured(STANDING_WORDS[pair.standing]), WORD)}")


def _alone(what: str, some: Iterable[Lone]) -> list[str]:
    """By their reasons, the rows that have each."""
    reasons: dict[str, list[str]] = {}
    for one in some:
        reasons.setdefault(one.why, []).append(one.name)
    return [line for why, names in reasons.items() for line in text.listed(f"{what}, {why}", names)]


def _reasons(found: Agreement) -> list[str]:
    """The bounds that were used: what they allow, and where that comes from."""
    used: dict[SimulatorBound, int] = {}
    for pair in found.pairs:
        if pair.bound is not None:
            used[pair.bound] = used.get(pair.bound, 0) + 1
    lines = ["", "Bounds (validation/bounds.toml); the board's own spread is added"] if used else []
    for bound, many in used.items():
        rows = ", ".join(bound.rows)
        lines += text.wrap(
            f"{rows} ({many} rows), {bound_allows(bound)}: {' '.join(bound.why.split())}"
        )
    return lines


def bound_allows(bound: SimulatorBound) -> str:
    """What a bound allows, and on what ground."""
    if bound.tolerance is None:
        return "none stated"
    stated = bound.tolerance
    relative = f"{text.percent(stated.relative)} or " if stated.relative else ""
    instr = f", {bound.instructions} instructions" if bound.instructions else ""
    return f"{bound.basis}, {relative}{text.trimmed(stated.cycles)} cycles{instr}"


def agree_json(names: Sequence[str], found: Agreement) -> dict[str, object]:
    """The same for other programs."""
    return {
        "sim": names[0],
        "board": names[1],
        "machine": found.machine,
        "exit_code": found.exit_code,
        "counts": {
            "compared": len(found.pairs),
            **{str(standing): len(found.that_are(standing)) for standing in Standing},
            "every_sample": sum(pair.same_samples for pair in found.pairs),
            "only_sim": len(found.only_sim),
            "only_board": len(found.only_board),
            "unusable": len(found.unusable),
            "skipped": len(found.skipped),
        },
        "layouts": found.layouts,
        "notes": found.notes,
        "incomplete": found.incomplete,
        "factors": {one.name: {"sim": one.base, "board": one.new} for one in found.factors},
        "rows": [_agree_row_json(pair) for pair in found.pairs],
        **{
            name: [{"row": one.name, "why": one.why} for one in getattr(found, name)]
            for name in ("only_sim", "only_board", "unusable", "skipped")
        },
    }


def _agree_row_json(pair: AgreePair) -> dict[str, object]:
    sim, board = pair.cycles
    return {
        "id": pair.sim.id,
        "params": pair.sim.params,
        "icache": pair.sim.icache,
        "lang": pair.sim.lang,
        "sim": sim,
        "board": board,
        "ratio": pair.ratio,
        "allowed": pair.allowed,
        "unsure": pair.unsure,
        "instructions": pair.instructions,
        "same_samples": pair.same_samples,
        "standing": str(pair.standing),
        "basis": pair.bound.basis if pair.bound and pair.bound.tolerance else None,
    }
