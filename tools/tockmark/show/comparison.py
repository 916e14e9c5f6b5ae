# SPDX-License-Identifier: Apache-2.0 OR MIT
"""What the verbs `compare`, `gate` and `agree` show: text, JSON, and Markdown for a pull request.
Each begins with what happened in one line: what moved, in the order of trust, and that nothing else
did.
"""

import math
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict

from tockmark.compare import limits, rule
from tockmark.compare.agree import LONE, Agreement, AgreePair, Standing
from tockmark.compare.answer import Answer, Certainty
from tockmark.compare.pairs import Comparison, Factor, Finding, Moved, Pair, factors_of, tables
from tockmark.compare.rule import Change, Verdict
from tockmark.result.model import Result
from tockmark.show import text
from tockmark.show.answer import (
    comment,
    first_line,
    heading,
    headline,
    records,
    screen,
)
from tockmark.show.text import Table, TableColumn, figures
from tockmark.suite.catalogue import Catalogue, aside

# How comparisons are shown.


SIDE_BY_SIDE = 3  # as many contenders go beside a baseline in one table

TONES = {"good": text.good, "doubtful": text.doubtful, "bad": text.bad}
APP = "app"  # in the place of a verdict
LABEL = TableColumn(left=True)
IDENTITY = ("id", "params", "icache", "lang")  # what names a row in JSON
# What a reader must know of the baseline.
BASELINE_FACTS = ("kernel", "opt-level", "flags", "ABI", "compiler", "machine", "clock", "timing")


def compare_text(named: Sequence[tuple[str, Result]], comparisons: list[Comparison]) -> str:
    """Show all comparisons with the first of the named results."""
    base, *letters = text.letters(len(named))
    lines: list[str] = []
    for letter, comparison in zip(letters, comparisons, strict=True):
        lines += text.wrap(f"{letter}: {headline(comparison)}")
    known = factors_of(named[0][1])
    facts = [[f"{factor:<9} {known[factor]}" for factor in BASELINE_FACTS if factor in known]]
    facts += [differing_lines(comparison.factors, text.LINE - 4) for comparison in comparisons]
    lines.append("")
    for letter, (name, result), said in zip([base, *letters], named, facts, strict=True):
        lines.append(f"{letter} = {name}{', the baseline' if letter == base else ''}")
        if why := result.incomplete:
            said.append(f"{text.bad('INCOMPLETE')}: {why[0]} ({len(why)} in all)")
        lines += [f"    {line}" for line in said]
    lines += ["", *_legend(comparisons), ""]
    if len(comparisons) == 1:
        lines += _detailed(comparisons[0])
    else:
        for at in range(0, len(comparisons), SIDE_BY_SIDE):
            some = slice(at, at + SIDE_BY_SIDE)
            lines += _side_by_side(dict(zip(letters[some], comparisons[some], strict=True)))
    for letter, comparison in zip(letters, comparisons, strict=True):
        lines += totals(comparison, letter)
    return "\n".join(lines).rstrip() + "\n"


def differing_lines(found: list[Factor], width: int = text.LINE) -> list[str]:
    """Name the factors that differ; one that is too long for a line takes two."""
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
    first = comparisons[0]
    found = [
        "Net cycles of one operation: median, less time.read of the same boot; that as measured.",
        f"Lower is better. Margin: {text.percent(first.margin)}, unless a row has its own;"
        " instructions have half.",
        f"Spread over links: {first.rule.known.title}",
        "",
    ]
    said = rule.VERDICTS.items()
    if len(comparisons) > 1:  # whose table has marks in the place of words
        return [*found, *(f"{v or APP} ({w.mark}): {w.meaning}" for v, w in said)]
    found += [f"{verdict or APP}: {words.meaning}" for verdict, words in said]
    found.append("interval: of the change, over layouts")
    relevant = "< lower or > higher behind it if that is relevant"
    return [*found, f"instr: change of the instructions; {relevant}"]


def _detailed(comparison: Comparison) -> list[str]:
    """Show one contender with all columns."""
    widths = {"A": 7, "B": 7, "change": 8, "interval": 15, "instr": 8}
    columns = [LABEL, *figures(widths), TableColumn("verdict", 16, 2, left=True)]
    lines: list[str] = []
    for section, pairs in comparison.sections:
        table = Table(columns, ends_at=text.LINE)
        for pair in pairs:
            *values, verdict = pair_cells(pair)
            coloured = _coloured(verdict, pair.cycles, pair.verdict)
            table.add(pair.row.label, *values, coloured)
        lines += [*table.text(section), ""]
    return lines


def pair_cells(pair: Pair) -> tuple[str, ...]:
    """Write what is said of a row: cycles of both sides, their change and its interval, that of the
    instructions, and the verdict."""
    cycles, instret, verdict = pair.cycles, _change(pair.instret), pair.verdict or APP
    interval = text.NONE
    if pair.judged and cycles.ratio is not None and math.isfinite(cycles.high):
        interval = " … ".join(text.points(end - 1, "+") for end in (cycles.low, cycles.high))
    relevant = pair.retired is Verdict.RELEVANT
    instret += _mark(pair.instret, pair.retired) if relevant else " "
    if verdict in (Verdict.TRIVIAL, Verdict.RELEVANT):
        verdict = f"{verdict}, {'lower' if cycles.lower else 'higher'}"
    sides = map(text.trimmed, (cycles.base, cycles.new))
    return (*sides, _change(cycles), interval, instret, verdict)


def _side_by_side(comparisons: dict[str, Comparison]) -> list[str]:
    """Show several contenders by their letters, each beside the baseline with its change and
    the mark of its verdict."""
    columns = [LABEL, TableColumn("A", 8)]
    found: dict[str, dict[str, dict[str, Pair]]] = {}
    for letter, comparison in comparisons.items():
        columns += [*figures({letter: 8, f"{letter}/A": 8}), TableColumn(width=1)]
        for section, pairs in comparison.sections:
            for pair in pairs:
                there = found.setdefault(section, {}).setdefault(pair.row.label, {})
                there[letter] = pair
    lines: list[str] = []
    for section, rows in found.items():
        table = Table(columns, ends_at=text.LINE)
        for label, there in rows.items():
            cells = [label, text.trimmed(next(iter(there.values())).cycles.base)]
            for letter in comparisons:
                if one := there.get(letter):
                    cells += [text.trimmed(one.cycles.new), _change(one.cycles)]
                    cells.append(_mark(one.cycles, one.verdict))
                else:
                    cells += [text.NONE, text.NONE, ""]
            table.add(*cells)
        lines += [*table.text(section), ""]
    return lines


def totals(comparison: Comparison, letter: str) -> list[str]:
    """Count the verdicts, and say the mean and what was left out of a comparison with A."""
    counts = Counter(pair.verdict for pair in comparison.judged)
    said = {verdict: f"{counts[verdict]} {verdict}" for verdict in Verdict}
    lower = sum(p.cycles.lower for p in comparison.judged if p.verdict is Verdict.RELEVANT)
    said[Verdict.RELEVANT] += f" ({lower} lower, {counts[Verdict.RELEVANT] - lower} higher)"
    own = len(comparison.pairs) - len(comparison.judged)
    lines = text.wrap(
        f"{letter} against A, {counts.total()} rows: {', '.join(said.values())}; and {own} of the"
        " apps"
    )
    moved = [row.name for row in comparison.rule.moved]
    lines += text.listed("warning: apps or machine differ; what no kernel touches moved", moved)
    built = next((one for one in comparison.factors if one.name == "opt-level"), None)
    levels = f", opt-level {built.new} by {built.base}" if built else ""
    for lang, mean in comparison.means.items():
        known = math.isfinite(mean.high)
        span = f"{mean.low:.4f} to {mean.high:.4f}" if known else "spread unknown"
        several = f"{mean.benchmarks} benchmarks that touch"
        many = several if mean.benchmarks > 1 else "the one that touches"
        lines += text.wrap(
            f"geometric mean of {letter}/A over {many} the kernel, each counted once{aside(lang)}"
            f"{levels}: {mean.ratio:.4f} ({span}): {mean.verdict}"
        )
    if not comparison.means:
        lines.append(
            "no geometric mean: no row with a ratio is of a benchmark that touches the kernel"
        )
    lines += text.listed("only in A", [one.name for one in comparison.only_base])
    lines += text.listed(f"only in {letter}", [one.name for one in comparison.only_new])
    for why in dict.fromkeys(one.why for one in comparison.unusable):
        same = [one.name for one in comparison.unusable if one.why == why]
        lines += text.wrap(f"not compared: {', '.join(same)}: {why}")
    return [*lines, ""]


def compare_json(baseline: str, comparisons: list[Comparison]) -> object:
    """Return the comparisons as JSON has them."""
    found = [
        {
            "name": comparison.name,
            "told": headline(comparison),
            "factors": comparison.factors,
            "margin": comparison.margin,
            "rows": [
                {
                    "section": section,
                    **{name: getattr(pair.row, name) for name in IDENTITY},
                    "margin": pair.margin,
                    "cycles": {**asdict(pair.cycles), "verdict": pair.verdict},
                    "instret": pair.instret and {**asdict(pair.instret), "verdict": pair.retired},
                }
                for section, pairs in comparison.sections
                for pair in pairs
            ],
            "geometric_mean": None,
            **{
                "geometric_mean" + ("" if lang == "c" else f"_{lang}"): mean
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
    ]
    return text.as_json({"baseline": baseline, "comparisons": found})


def _coloured(word: str, changed: Change | None, verdict: Verdict | None) -> str:
    """Colour a word or a mark for a verdict."""
    if verdict is Verdict.RELEVANT and changed:
        return text.good(word) if changed.lower else text.bad(word)
    return text.doubtful(word) if rule.VERDICTS[verdict].doubtful else word


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


# How a gate's judgement is shown.


def gate_text(names: list[str], new: str, found: Answer, width: int, every: bool) -> str:
    """Show the judgement as text of so many columns, with all rows if `every` is true."""
    gated = found.gated
    lines = screen(found, width, every)
    lines += [f"base    {name}" for name in names] + [f"new     {new}"]
    lines += differing_lines(gated.comparison.factors)
    for warning in gated.warnings:
        lines += text.wrap(f"warning: {warning}")
    for note in gated.notes:
        lines += text.wrap(f"note: {note}")
    lines += text.wrap(f"spread over links: {gated.comparison.rule.known.title}")
    return "\n".join(lines) + "\n"


def gate_markdown(names: list[str], new: str, found: Answer) -> str:
    """Write a summary for a pull request. Whoever opened that gave the names: all are escaped."""
    gated = found.gated
    bases = ", ".join(map(text.quoted, names))
    lines = [heading(found), "", f"{text.quoted(new)} against {bases}.", "", *comment(found)]
    said = [*(f"Warning: {warning}" for warning in gated.warnings), *gated.notes]
    said += [f"{one.name} differs: {one.base} → {one.new}" for one in gated.comparison.factors]
    return "\n".join([*lines, *(f"- {text.prose(one)}" for one in said)]).rstrip() + "\n"


def gate_json(names: list[str], new: str, found: Answer) -> object:
    """Return the judgement as JSON has it."""
    gated = found.gated
    return text.as_json(
        {
            "base": names,
            "new": new,
            "told": first_line(found),
            "verdict": gated.level.words.word,
            "exit_code": gated.exit_code,
            "rows": gated.checked,
            "answer": records(found.lines),
            "in_doubt": records(found.that_are(Certainty.UNSURE)),
            "findings": [
                {
                    "level": finding.level.words.word,
                    "row": finding.row.name,
                    "series": _series_word(finding),
                    "why": finding.why,
                    "change": finding.change if isinstance(finding, Moved) else None,
                }
                for finding in gated.findings
            ],
            "notes": gated.notes,
            "perhaps_beyond": [f"{one.row.name} {_series_word(one)}" for one in gated.unsure],
            "links": gated.comparison.links,
            "spread": gated.comparison.rule.known.title,
            "warnings": gated.warnings,
            "factors": gated.comparison.factors,
        }
    )


def _series_word(finding: Finding) -> str | None:
    """Return what users call the series that moved; None if the whole row is gone."""
    return limits.SERIES_WORDS[finding.series] if isinstance(finding, Moved) else None


# How the agreement of a board with the simulator is shown: the counts first, then what is outside,
# then every row if it is wanted.


WIDTHS = {"sim": 9, "board": 9, "board/sim": 10, "off": 8, "bound": 8, "instr": 6}
# The word in the table, and its colour.
STANDINGS: dict[Standing, tuple[str, Callable[[str], str]]] = {
    Standing.EQUAL: ("=", str),
    Standing.WITHIN: ("within", str),
    Standing.OUTSIDE: ("OUTSIDE", text.bad),
    Standing.UNSTATED: ("no bound", text.doubtful),
}
WORD = max(len(word) for word, _ in STANDINGS.values())
FIGURES_OF_PAIR = ("ratio", "allowed", "unsure", "instructions", "same_samples", "standing")
NOT_SHOWN = ("timing", "simulator", "board", "tool")  # differ by nature


def agree_text(
    names: Sequence[str],
    results: Sequence[Result],
    found: Agreement,
    catalogue: Catalogue,
    every: bool,
) -> str:
    """Show the agreement as text, with all rows if `every` is true."""
    lines = [*text.wrap(agreement_headline(found)), ""]
    for side, name, result in zip(("sim  ", "board"), names, results, strict=True):
        lines.append(f"{side}  {name}")
        lines += text.wrap(f"       {result.provenance.line}", indent="       ")
    lines += differing_lines([one for one in found.factors if one.name not in NOT_SHOWN])
    if found.layouts:
        lines += text.wrap(
            f"layouts may differ: {found.layouts}. Layout moves rows by itself, so this is"
            " indicative only"
        )
    lines += [line for note in found.notes() for line in text.wrap(f"note: {note}")]
    for reason in found.incomplete[:1]:
        lines += text.wrap(f"INCOMPLETE: {reason} ({len(found.incomplete)} in all)")
    lines.append("")
    for standing, title in (
        (Standing.OUTSIDE, "Outside the bound, the farthest first"),
        (Standing.UNSTATED, "Different, and no bound is stated"),
    ):
        if some := found.that_are(standing):
            lines += _agree_table(title, ((pair.sim.name, pair) for pair in some))
    if every:
        for title, pairs in tables(found.pairs, catalogue, lambda pair: pair.sim):
            lines += _agree_table(title, ((pair.sim.label, pair) for pair in pairs))
    for where, what in LONE.items():
        reasons: dict[str, list[str]] = {}
        for one in found.lone[where]:
            reasons.setdefault(one.why, []).append(one.name)
        for why, rows in reasons.items():
            lines += text.listed(f"{what}, {why}", rows)
    lines += _reasons(found)
    return "\n".join(lines).rstrip() + "\n"


def agreement_headline(found: Agreement) -> str:
    """Count in one line how the rows agree."""
    equal = found.that_are(Standing.EQUAL)
    exact = sum(pair.same_samples for pair in equal)
    only_sim, only_board, unusable, skipped = map(len, found.lone.values())
    parts = [
        f"{len(equal)} equal to the cycle ({exact} in every sample)",
        f"{len(found.that_are(Standing.WITHIN))} within the bound",
        f"{len(found.that_are(Standing.OUTSIDE))} outside",
    ]
    if unstated := found.that_are(Standing.UNSTATED):
        parts.append(f"{len(unstated)} different without a stated bound")
    rest = f"{only_sim + only_board} only on one side"
    rest += f", {unusable} not compared" if unusable else ""
    rest += f", {skipped} skipped" if skipped else ""
    return f"{found.machine}: {len(found.pairs)} rows compared: {', '.join(parts)}; {rest}"


def _agree_table(title: str, rows: Iterable[tuple[str, AgreePair]]) -> list[str]:
    return [*agree_table(rows).text(title), ""]


def agree_table(rows: Iterable[tuple[str, AgreePair]]) -> Table:
    """Put rows, each with its label, beside each other as the simulator and the board have them."""
    table = Table([LABEL, *figures(WIDTHS), TableColumn("", WORD, 2, left=True)], ends_at=text.LINE)
    for label, pair in rows:
        word, coloured = STANDINGS[pair.standing]
        table.add(
            label,
            *map(text.trimmed, pair.cycles),
            text.NONE if pair.ratio is None else f"{pair.ratio:.4f}",
            _signed(pair.off),
            text.NONE if pair.allowed is None else text.trimmed(pair.allowed, 1),
            text.NONE if pair.instructions is None else _signed(pair.instructions),
            coloured(word),
        )
    return table


def _signed(value: float) -> str:
    return f"{'+' * (value > 0)}{text.trimmed(value)}"


def _reasons(found: Agreement) -> list[str]:
    """Name the bounds that were used, below a heading."""
    used = bounds_used(found)
    lines = (
        ["", "Bounds (boards/earlgrey-sim/bounds.toml); the board's own spread is added"]
        if used
        else []
    )
    return [*lines, *(line for one in used for line in text.wrap(one))]


def bounds_used(found: Agreement) -> list[str]:
    """Say of each bound that was used what it allows, and where that comes from."""
    lines = []
    for bound, many in Counter(pair.bound for pair in found.pairs).items():
        if bound is None:
            continue
        allows = "none stated"
        if bound.cycles is not None:
            relative = f"{text.percent(bound.relative)} or " if bound.relative else ""
            instr = f", {bound.instructions} instructions" if bound.instructions else ""
            allows = f"{bound.basis}, {relative}{text.trimmed(bound.cycles)} cycles{instr}"
        why = " ".join(bound.why.split())
        lines.append(f"{', '.join(bound.rows)} ({many} rows), {allows}: {why}")
    return lines


def agree_json(names: Sequence[str], found: Agreement) -> object:
    """Return the agreement as JSON has it."""
    said = {
        "sim": names[0],
        "board": names[1],
        "machine": found.machine,
        "exit_code": found.exit_code,
        "counts": {
            "compared": len(found.pairs),
            **{str(standing): len(found.that_are(standing)) for standing in Standing},
            "every_sample": sum(pair.same_samples for pair in found.pairs),
            **{name: len(some) for name, some in found.lone.items()},
        },
        "layouts": found.layouts,
        "notes": list(found.notes()),
        "incomplete": found.incomplete,
        "factors": {one.name: {"sim": one.base, "board": one.new} for one in found.factors},
        "rows": [
            {
                **{name: getattr(pair.sim, name) for name in IDENTITY},
                "sim": pair.cycles[0],
                "board": pair.cycles[1],
                **{name: getattr(pair, name) for name in FIGURES_OF_PAIR},
                "basis": pair.bound.basis if pair.bound and pair.allowed is not None else None,
            }
            for pair in found.pairs
        ],
        **{
            name: [{"row": one.name, "why": one.why} for one in some]
            for name, some in found.lone.items()
        },
    }
    return text.as_json(said)
