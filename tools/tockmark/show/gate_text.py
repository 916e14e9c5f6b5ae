# SPDX-License-Identifier: Apache-2.0 OR MIT
"""How a gate's judgement is shown: as text, as JSON, and in Markdown for a pull request."""

from collections import Counter
from dataclasses import asdict

from tockmark.judge.gate import SERIES, Finding, Gated, Level
from tockmark.show import colour, text
from tockmark.show.compare_text import differing, finite
from tockmark.show.headline import headline

SHOWN = 25  # findings of a kind; --json and the Markdown have them all

WORDS = {
    Level.PASS: "pass",
    Level.BETTER: "better",
    Level.SOFT: "warning",
    Level.HARD: "regression",
}
TITLES = {
    Level.PASS: "Pass",
    Level.BETTER: "Pass",
    Level.SOFT: "Warning",
    Level.HARD: "Regression",
}

KINDS = {  # worst first: what the findings of a level have in common, and their colour
    Level.HARD: ("beyond a hard limit, or not there", colour.bad),
    Level.SOFT: ("beyond a soft limit, or not there", colour.doubtful),
    Level.BETTER: ("lower by more than the soft limit", colour.good),
}


def render(names: list[str], new: str, gated: Gated) -> str:
    """The judgement as text."""
    lines = [*text.wrap(told(gated)), ""]
    lines += [f"base    {name}" for name in names] + [f"new     {new}"]
    lines += differing(gated.factors)
    for level in KINDS:
        lines += _findings(level, [one for one in gated.findings if one.level is level])
    lines.append("")
    for warning in gated.warnings:
        lines += text.wrap(f"warning: {warning}")
    for note in _notes(gated):
        lines += text.wrap(f"note: {note}")
    lines.append(f"spread over links: {gated.known.title}")
    coloured = KINDS[gated.level][1] if gated.level in KINDS else colour.good
    return "\n".join([*lines, coloured(_verdict(gated))]) + "\n"


def _findings(level: Level, found: list[Finding]) -> list[str]:
    """Those of one level under a heading that counts them; nothing if there are none."""
    if not found:
        return []
    said, coloured = KINDS[level]
    title = f"{coloured(text.sentence(WORDS[level]))}: {len(found)} {said}"
    lines = ["", *text.heading(title, _columns("base", "new", "change", "limit"))]
    for one in found[:SHOWN]:
        if one.change is None:
            lines.append(f"{one.row}: {one.why}")
        else:
            lines.append(text.row(f"{one.row} {one.series}", _columns(*_cells(one), one.why)))
    return [*lines, *([f"and {len(found) - SHOWN} more; --json has all"] * (len(found) > SHOWN))]


def told(gated: Gated) -> str:
    """What happened, in one line."""
    moved = [
        (finding.of, SERIES[finding.series], finding.change)
        for finding in gated.findings
        if finding.of and finding.series and finding.change
    ]
    gone = sum(finding.change is None for finding in gated.findings)
    lost = f"{gone} row{'s' if gone > 1 else ''} not there; " if gone else ""
    return lost + headline(moved, gated.judged, gated.links)


def _notes(gated: Gated) -> list[str]:
    """Those of the judgement, and how many rows it could not tell of."""
    many = len(gated.unsure)
    told = f"{many} figure{'s' if many > 1 else ''} may be beyond a limit, or it is the layout"
    return [*gated.notes, *([f"{told}; --json names them"] if many else [])]


def markdown(names: list[str], new: str, gated: Gated) -> str:
    """A summary for a pull request."""
    lines = [f"### tockmark: {_verdict(gated)}", "", told(gated), ""]
    lines += [f"`{new}` against {', '.join(f'`{name}`' for name in names)}.", ""]
    shown = [finding for finding in gated.findings if finding.level > Level.BETTER]
    lines += _table(shown)
    better = [finding for finding in gated.findings if finding.level is Level.BETTER]
    if better:
        summary = f"<details><summary>{len(better)} better</summary>"
        lines += [summary, "", *_table(better), "</details>", ""]
    lines += [f"- Warning: {warning}" for warning in gated.warnings]
    lines += [f"- {note}" for note in _notes(gated)]
    lines += [f"- {f.name} differs: {f.base} → {f.new}" for f in gated.factors]
    return "\n".join(lines).rstrip() + "\n"


def as_json(names: list[str], new: str, gated: Gated) -> dict[str, object]:
    """The same for other programs."""
    return {
        "base": names,
        "new": new,
        "told": told(gated),
        "verdict": WORDS[gated.level],
        "exit_code": gated.exit_code,
        "rows": gated.checked,
        "findings": [
            {
                "level": WORDS[finding.level],
                "row": finding.row,
                "series": finding.series,
                "why": finding.why,
                "change": finite(finding.change) if finding.change else None,
            }
            for finding in gated.findings
        ],
        "notes": gated.notes,
        "perhaps_beyond": gated.unsure,
        "links": gated.links,
        "spread": gated.known.title,
        "warnings": gated.warnings,
        "factors": [asdict(factor) for factor in gated.factors],
    }


def _verdict(gated: Gated) -> str:
    counts = Counter(finding.level for finding in gated.findings)
    told = [
        f"{counts[Level.HARD]} beyond a hard limit",
        f"{counts[Level.SOFT]} beyond a soft one",
        f"{counts[Level.BETTER]} better",
    ]
    return f"{TITLES[gated.level]}: of {gated.checked} rows, {', '.join(told)}"


def _table(findings: list[Finding]) -> list[str]:
    if not findings:
        return []
    lines = ["| row | | base | new | change | |", "|---|---|---:|---:|---:|---|"]
    for finding in findings:
        base, new, change = _cells(finding)
        why = f"{WORDS[finding.level]}: {finding.why}".replace("|", "\\|")
        lines.append(
            f"| `{finding.row}` | {finding.series or ''} | {base} | {new} | {change} | {why} |"
        )
    return [*lines, ""]


def _columns(base: str, new: str, change: str, why: str) -> str:
    return f"{base:>8}{new:>9}{change:>10}  {why:<12}"


def _cells(finding: Finding) -> tuple[str, str, str]:
    """Counts of one operation, and the change."""
    found = finding.change
    if found is None:
        return text.NONE, text.NONE, text.NONE
    return text.number(found.base), text.number(found.new), text.change(found.base, found.new)
