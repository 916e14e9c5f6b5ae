# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The output of the verbs `compare` and `board agree`: text, JSON, and Markdown for a pull request.
Each text begins with a headline.
"""

import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence

from tockmark.compare.agree import LONE, Agreement, AgreePair, Standing
from tockmark.compare.pairs import Comparison, Factor, Mean, factors_of, tables
from tockmark.compare.verdict import (
    JUDGED,
    Judgement,
    RowVerdict,
    verdict_of,
)
from tockmark.result.model import Result
from tockmark.show import text
from tockmark.show.judgement import (
    IDENTITY,
    comment_lines,
    heading,
    judgement_json,
    next_steps,
    screen_lines,
)
from tockmark.show.table import unlike
from tockmark.show.text import Table, TableColumn, figures
from tockmark.suite.catalogue import Catalogue, Lang, lang_suffix

# Comparisons.


LABEL = TableColumn(gap=0, left=True)
# The facts of the base that are shown.
BASE_FACTS = ("kernel", "opt-level", "flags", "ABI", "compiler", "machine", "clock", "timing")
Compared = Sequence[tuple[Comparison, Judgement]]


def compare_text(
    named: Sequence[tuple[str, Result]], compared: Compared, every: bool = False
) -> str:
    """Return the comparisons of all named results with the first; `every`: with all rows."""
    base_name, base = named[0]
    factors = factors_of(base) | {"machine": base.provenance.board.title}
    lines: list[str] = []
    for comparison, judgement in compared:
        lines += screen_lines(judgement, every, limits=False)
        lines += totals_lines(comparison, judgement)
        lines += [f"new     {comparison.name}", *_incomplete_lines(comparison.new)]
        lines += [*differing_lines(comparison.factors), ""]
    first, _ = compared[0]
    lines += [f"base    {base_name}", *_incomplete_lines(base)]
    lines += [f"        {name:<9} {factors[name]}" for name in BASE_FACTS if name in factors]
    lines += [
        f"margin  of cycles: {text.percent(first.margin)}, or a row's own",
        f"spread  over links: {first.rule.spread.title}",
    ]
    return "\n".join(lines) + "\n"


def _incomplete_lines(result: Result) -> list[str]:
    why = result.incomplete
    more = f" (and {len(why) - 1} more)" if len(why) > 1 else ""
    return [f"        {text.bad('INCOMPLETE')}: {why[0]}{more}"] if why else []


def _listed(title: str, names: Sequence[str], most: int = 12) -> list[str]:
    """Format a title with the number of names and the first of them; nothing without names."""
    more = f", and {len(names) - most} more" if len(names) > most else ""
    return text.wrap(f"{title} ({len(names)}): {', '.join(names[:most])}{more}") if names else []


def differing_lines(factors: list[Factor]) -> list[str]:
    """Return a line for each factor that differs, or two if it is too long for one."""
    out = []
    for factor in factors:
        values = f"{factor.base} -> {factor.new}"
        head = f"differs: {factor.name:<10}"
        if len(head) + len(values) <= text.columns():
            out.append(head + values)
        else:
            out += [head + factor.base, f"{'-> ':>{len(head)}}{factor.new}"]
    return out


def verdict_cells(row: RowVerdict) -> tuple[str, ...]:
    """Format a row: cycles of both sides, their change and its range, change in instructions, and
    the verdict."""
    interval, instret = text.NONE, text.NONE
    if row.verdict in JUDGED and row.range and math.isfinite(row.range[1]):
        interval = " … ".join(text.percentage(end, "+") for end in row.range)
    if count := row.instructions:
        share = count.after / count.before - 1 if min(count.before, count.after) > 0 else None
        instret = _change(share, count.before, count.after)
        instret += ("<" if count.moved < 0 else ">") if count.moved else " "
    sides = map(_count, (row.before, row.after))
    return (*sides, _change(row.estimate, row.before, row.after), interval, instret, row.verdict)


def shown_means(comparison: Comparison) -> tuple[Mapping[Lang, Mean], str]:
    """Return the geometric means by language, and why there are none: the sides are too unlike, or
    no row has a ratio."""
    if other := unlike(comparison.base, comparison.new):
        return {}, f"other {other}"
    return comparison.means, "no benchmark that touches the kernel has a ratio"


def totals_lines(comparison: Comparison, judgement: Judgement) -> list[str]:
    """Return the means, the apps' rows that differ, and why rows have no verdict."""
    lines = _listed(
        "warning: apps or machine differ: rows that run no kernel code changed",
        [row.name for row in comparison.rule.changed_apps],
    )
    built = next((factor for factor in comparison.factors if factor.name == "opt-level"), None)
    levels = f", opt-level {built.new} against {built.base}" if built else ""
    means, why_none = shown_means(comparison)
    for lang, mean in means.items():
        several = f"{mean.benchmarks} benchmarks that touch"
        many = several if mean.benchmarks > 1 else "the one that touches"
        is_bounded = math.isfinite(mean.change.high)
        span = (
            f"{mean.change.low:.4f} to {mean.change.high:.4f}" if is_bounded else "spread unknown"
        )
        lines += text.wrap(
            f"geometric mean of new/base over {many} the kernel, each counted once"
            f"{lang_suffix(lang)}{levels}: {mean.ratio:.4f} ({span}):"
            f" {verdict_of(mean.change, comparison.margin)}"
        )
    if not means:
        lines.append(f"no geometric mean: {why_none}")
    without = [row for row in judgement.rows if row.before is None]
    for verdict, why in dict.fromkeys((row.verdict, row.why) for row in without):
        names = [row.row.name for row in without if (row.verdict, row.why) == (verdict, why)]
        lines += _listed(f"{verdict}, {why}" if why else verdict, names)
    return [*lines, ""]


def compare_json(baseline: str, compared: Compared) -> object:
    """Return the comparisons as JSON."""
    return text.as_json(
        {"baseline": baseline, "comparisons": [_comparison_json(*pair) for pair in compared]}
    )


def _comparison_json(comparison: Comparison, judgement: Judgement) -> dict[str, object]:
    return {
        "name": comparison.name,
        **judgement_json(judgement),
        "factors": comparison.factors,
        "margin": comparison.margin,
        "spread": comparison.rule.spread.title,
        "links": comparison.links,
        "apps_moved": [row.name for row in comparison.rule.changed_apps],
        "geometric_mean": {
            lang: {
                **{"ratio": mean.ratio, "low": mean.change.low, "high": mean.change.high},
                "benchmarks": mean.benchmarks,
                "verdict": verdict_of(mean.change, comparison.margin),
            }
            for lang, mean in shown_means(comparison)[0].items()
        },
    }


def _count(value: float | None) -> str:
    return text.NONE if value is None else text.trimmed(value)


def _change(share: float | None, before: float | None, after: float | None) -> str:
    if before is None:
        return text.NONE
    if share is None:
        return "0 %" if before == after else "no ratio"
    return "0 %" if share == 0 else text.percent(share, sign="+")


# Comparisons judged by limits.


MORE = "measure more links of each side"  # settles rows in doubt


def judged_text(baseline: str, compared: Compared, every: bool) -> str:
    """Return judgements by limits as text; `every`: with all rows."""
    lines = []
    for comparison, judgement in compared:
        lines += screen_lines(judgement, every)
        lines += [f"base    {baseline}", f"new     {comparison.name}"]
        lines += differing_lines(comparison.factors)
        lines += [f"warning: {warning}" for warning in judgement.warnings]
        lines += [f"note: {note}" for note in judgement.notes]
        lines += [f"spread over links: {comparison.rule.spread.title}"]
        lines += ["", *text.wrap(next_steps(judgement, MORE)), ""]
    return "\n".join(lines).rstrip() + "\n"


def judged_markdown(baseline: str, compared: Compared) -> str:
    """Return a summary for a pull request. Its author chose the names, so all are escaped."""
    lines = []
    for comparison, judgement in compared:
        names = f"{text.quoted(comparison.name)} against {text.quoted(baseline)}."
        lines += [heading(judgement), "", names, "", *comment_lines(judgement)]
        lines += [text.prose(next_steps(judgement, MORE)), ""]
        remarks = [*(f"Warning: {warning}" for warning in judgement.warnings), *judgement.notes]
        remarks += [
            f"{factor.name} differs: {factor.base} → {factor.new}" for factor in comparison.factors
        ]
        lines += [*(f"- {text.prose(remark)}" for remark in remarks), ""]
    return "\n".join(lines).rstrip() + "\n"


# The agreement of a board with the simulator: counts, rows outside their bounds, then all rows if
# wanted.


WIDTHS = {"sim": 7, "board": 7, "board/sim": 9, "off": 6, "bound": 6, "instr": 5}
# Each standing's word in the table, and its colour.
STANDINGS: dict[Standing, tuple[str, Callable[[str], str]]] = {
    Standing.EQUAL: ("=", str),
    Standing.WITHIN: ("within", str),
    Standing.OUTSIDE: ("OUTSIDE", text.bad),
    Standing.UNSTATED: ("no bound", text.doubtful),
}
WORD = max(len(word) for word, _ in STANDINGS.values())
FIGURES_OF_PAIR = ("ratio", "allowed", "unsure", "instructions", "same_samples", "standing")
NOT_SHOWN = ("timing", "simulator", "board", "tool")  # factors that always differ


def agree_text(
    names: Sequence[str],
    results: Sequence[Result],
    agreement: Agreement,
    catalogue: Catalogue,
    every: bool,
) -> str:
    """Return the agreement as text; `every`: with all rows."""
    lines = [*text.wrap(agreement_headline(agreement)), ""]
    for side, name, result in zip(("sim  ", "board"), names, results, strict=True):
        lines.append(f"{side}  {name}")
        lines += text.wrap(f"       {result.provenance.line}", indent="       ")
    lines += differing_lines(
        [factor for factor in agreement.factors if factor.name not in NOT_SHOWN]
    )
    if agreement.layouts:
        lines += text.wrap(
            f"layouts may differ: {agreement.layouts}. Layout alone changes figures, so this is"
            " only indicative"
        )
    lines += [line for note in agreement.notes() for line in text.wrap(f"note: {note}")]
    for reason in agreement.incomplete[:1]:
        lines += text.wrap(f"INCOMPLETE: {reason} ({len(agreement.incomplete)} in all)")
    lines.append("")
    for standing, title in (
        (Standing.OUTSIDE, "Outside the bound, the largest difference first"),
        (Standing.UNSTATED, "Different, without a stated bound"),
    ):
        if some := agreement.pairs_with(standing):
            lines += _agree_table(title, ((pair.sim.name, pair) for pair in some))
    if every:
        for title, pairs in tables(agreement.pairs, catalogue, lambda pair: pair.sim):
            lines += _agree_table(title, ((pair.sim.label, pair) for pair in pairs))
    for where, what in LONE.items():
        reasons: dict[str, list[str]] = {}
        for lone in agreement.lone[where]:
            reasons.setdefault(lone.why, []).append(lone.name)
        for why, rows in reasons.items():
            lines += _listed(f"{what}, {why}", rows)
    lines += _reasons(agreement)
    return "\n".join(lines).rstrip() + "\n"


def agreement_headline(agreement: Agreement) -> str:
    """Return the counts of rows by how they agree, in one line."""
    equal = agreement.pairs_with(Standing.EQUAL)
    exact = sum(pair.same_samples for pair in equal)
    only_sim, only_board, unusable, skipped = map(len, agreement.lone.values())
    parts = [
        f"{len(equal)} equal to the cycle ({exact} in every sample)",
        f"{len(agreement.pairs_with(Standing.WITHIN))} within the bound",
        f"{len(agreement.pairs_with(Standing.OUTSIDE))} outside",
    ]
    if unstated := agreement.pairs_with(Standing.UNSTATED):
        parts.append(f"{len(unstated)} different without a stated bound")
    rest = f"{only_sim + only_board} only on one side"
    rest += f", {unusable} not compared" if unusable else ""
    rest += f", {skipped} skipped" if skipped else ""
    rows = text.counted(len(agreement.pairs))
    return f"{agreement.machine}: {rows} compared: {', '.join(parts)}; {rest}"


def _agree_table(title: str, rows: Iterable[tuple[str, AgreePair]]) -> list[str]:
    return [*agree_table(rows).text(title), ""]


def agree_table(rows: Iterable[tuple[str, AgreePair]]) -> Table:
    """Return a table of labelled rows with the figures of the simulator and the board."""
    table = Table(
        [LABEL, *figures(WIDTHS, spare=("bound", "off")), TableColumn("", WORD, 2, left=True)]
    )
    for label, pair in rows:
        word, coloured = STANDINGS[pair.standing]
        table.add(
            label,
            *map(text.trimmed, pair.cycles),
            text.NONE if pair.ratio is None else f"{pair.ratio:.4f}",
            _signed(pair.extra_cycles),
            text.NONE if pair.allowed is None else text.trimmed(pair.allowed, 1),
            text.NONE if pair.instructions is None else _signed(pair.instructions),
            coloured(word),
        )
    return table


def _signed(value: float) -> str:
    return f"{'+' * (value > 0)}{text.trimmed(value)}"


def _reasons(agreement: Agreement) -> list[str]:
    """Return the bounds that were used, below a heading."""
    used = bounds_used(agreement)
    lines = (
        ["", "Bounds from boards/earlgrey-sim/bounds.toml, plus the board's own spread"]
        if used
        else []
    )
    return [*lines, *(line for bound in used for line in text.wrap(bound))]


def bounds_used(agreement: Agreement) -> list[str]:
    """Return a line for each bound that was used: what it allows, and why."""
    lines = []
    for bound, many in Counter(pair.bound for pair in agreement.pairs).items():
        if bound is None:
            continue
        allows = "none stated"
        if bound.cycles is not None:
            relative = f"{text.percent(bound.relative)} or " if bound.relative else ""
            instr = f", {bound.instructions} instructions" if bound.instructions else ""
            allows = f"{bound.basis}, {relative}{text.trimmed(bound.cycles)} cycles{instr}"
        why = " ".join(bound.why.split())
        lines.append(f"{', '.join(bound.rows)} ({text.counted(many)}), {allows}: {why}")
    return lines


def agree_json(names: Sequence[str], agreement: Agreement) -> object:
    """Return the agreement as JSON."""
    document = {
        "sim": names[0],
        "board": names[1],
        "machine": agreement.machine,
        "exit_code": agreement.exit_code,
        "counts": {
            "compared": len(agreement.pairs),
            **{str(standing): len(agreement.pairs_with(standing)) for standing in Standing},
            "every_sample": sum(pair.same_samples for pair in agreement.pairs),
            **{name: len(some) for name, some in agreement.lone.items()},
        },
        "layouts": agreement.layouts,
        "notes": list(agreement.notes()),
        "incomplete": agreement.incomplete,
        "factors": {
            factor.name: {"sim": factor.base, "board": factor.new} for factor in agreement.factors
        },
        "rows": [
            {
                **{name: getattr(pair.sim, name) for name in IDENTITY},
                "sim": pair.cycles[0],
                "board": pair.cycles[1],
                **{name: getattr(pair, name) for name in FIGURES_OF_PAIR},
                "basis": pair.bound.basis if pair.bound and pair.allowed is not None else None,
            }
            for pair in agreement.pairs
        ],
        **{
            name: [{"row": lone.name, "why": lone.why} for lone in some]
            for name, some in agreement.lone.items()
        },
    }
    return text.as_json(document)
