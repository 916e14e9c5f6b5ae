# SPDX-License-Identifier: Apache-2.0 OR MIT
"""How the agreement of a board with the simulator is shown: the counts first, then what is outside,
then every row if it is wanted; and as JSON."""

from collections.abc import Iterable, Sequence

from tockmark.judge.agree import Agreement, Lone, Pair, Standing
from tockmark.judge.bounds import Bound
from tockmark.judge.tables import tables
from tockmark.result.model import Result
from tockmark.show import colour, text
from tockmark.show.compare_text import differing
from tockmark.suite.catalogue import Catalogue

WIDTHS = {"sim": 9, "board": 9, "board/sim": 10, "off": 8, "bound": 8, "instr": 6}
WORDS = {
    Standing.EQUAL: "=",
    Standing.WITHIN: "within",
    Standing.OUTSIDE: "OUTSIDE",
    Standing.UNSTATED: "no bound",
}
COLOURS = {Standing.OUTSIDE: colour.bad, Standing.UNSTATED: colour.doubtful}
WORD = max(map(len, WORDS.values()))
NOT_SHOWN = ("timing", "simulator", "board", "tool")  # differ by nature


def render(
    names: Sequence[str],
    results: Sequence[Result],
    found: Agreement,
    catalogue: Catalogue,
    every: bool,
) -> str:
    """The agreement as text; `every`: with all rows."""
    lines = [*text.wrap(told(found)), ""]
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
        if some := found.of(standing):
            lines += [*_heading(title), *(_line(pair, pair.sim.name) for pair in some), ""]
    if every:
        pairs = {pair.sim.key: pair for pair in found.pairs}
        for title, rows in tables((pair.sim for pair in found.pairs), catalogue):
            lines += [*_heading(title), *(_line(pairs[row.key], row.label) for row in rows), ""]
    lines += _alone("only on the simulator", found.only_sim)
    lines += _alone("only on the board", found.only_board)
    lines += _alone("not compared", found.unusable)
    lines += _alone("skipped", found.skipped)
    lines += _reasons(found)
    return "\n".join(lines).rstrip() + "\n"


def told(found: Agreement) -> str:
    """The counts, in one line."""
    equal = found.of(Standing.EQUAL)
    exact = sum(pair.same_samples for pair in equal)
    alone = len(found.only_sim) + len(found.only_board)
    parts = [
        f"{len(equal)} equal to the cycle ({exact} in every sample)",
        f"{len(found.of(Standing.WITHIN))} within the bound",
        f"{len(found.of(Standing.OUTSIDE))} outside",
    ]
    if unstated := found.of(Standing.UNSTATED):
        parts.append(f"{len(unstated)} different without a stated bound")
    rest = f"{alone} only on one side"
    rest += f", {len(found.unusable)} not compared" if found.unusable else ""
    rest += f", {len(found.skipped)} skipped" if found.skipped else ""
    return f"{found.machine}: {len(found.pairs)} rows compared: {', '.join(parts)}; {rest}"


def _heading(title: str) -> list[str]:
    return text.heading(title, f"{text.cells(WIDTHS, WIDTHS.values())}  {'':<{WORD}}")


def _line(pair: Pair, label: str) -> str:
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
    return text.row(label, f"{cells}  {text.left(coloured(WORDS[pair.standing]), WORD)}")


def _alone(what: str, some: Iterable[Lone]) -> list[str]:
    """By their reasons, the rows that have each."""
    reasons: dict[str, list[str]] = {}
    for one in some:
        reasons.setdefault(one.why, []).append(one.name)
    return [line for why, names in reasons.items() for line in text.listed(f"{what}, {why}", names)]


def _reasons(found: Agreement) -> list[str]:
    """The bounds that were used: what they allow, and where that comes from."""
    used: dict[Bound, int] = {}
    for pair in found.pairs:
        if pair.bound is not None:
            used[pair.bound] = used.get(pair.bound, 0) + 1
    lines = ["", "Bounds (validation/bounds.toml); the board's own spread is added"] if used else []
    for bound, many in used.items():
        rows = ", ".join(bound.rows)
        lines += text.wrap(f"{rows} ({many} rows), {allows(bound)}: {' '.join(bound.why.split())}")
    return lines


def allows(bound: Bound) -> str:
    """What a bound allows, and on what ground."""
    if bound.figures is None:
        return "none stated"
    relative = f"{text.percent(bound.figures.relative)} or " if bound.figures.relative else ""
    instr = f", {bound.instructions} instructions" if bound.instructions else ""
    return f"{bound.basis}, {relative}{text.trimmed(bound.figures.cycles)} cycles{instr}"


def as_json(names: Sequence[str], found: Agreement) -> dict[str, object]:
    """The same for other programs."""
    return {
        "sim": names[0],
        "board": names[1],
        "machine": found.machine,
        "exit_code": found.exit_code,
        "counts": {
            "compared": len(found.pairs),
            **{str(standing): len(found.of(standing)) for standing in Standing},
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
        "rows": [_row_json(pair) for pair in found.pairs],
        **{
            name: [{"row": one.name, "why": one.why} for one in getattr(found, name)]
            for name in ("only_sim", "only_board", "unusable", "skipped")
        },
    }


def _row_json(pair: Pair) -> dict[str, object]:
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
        "basis": pair.bound.basis if pair.bound and pair.bound.figures else None,
    }
