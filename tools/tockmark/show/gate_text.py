# SPDX-License-Identifier: Apache-2.0 OR MIT
"""How a gate's judgement is shown: as text, as JSON, and in Markdown for a pull request."""

from collections import Counter
from dataclasses import asdict

from tockmark.judge.gate import SERIES, Finding, Gated, Level
from tockmark.show import text
from tockmark.show.compare_text import differing, finite
from tockmark.show.headline import headline

LEVEL = 11  # columns of the word for it
SHOWN = 40  # findings; --json and the Markdown have them all

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


def render(names: list[str], new: str, gated: Gated) -> str:
    """The judgement as text."""
    lines = [*text.wrap(told(gated)), ""]
    lines += [f"base    {name}" for name in names] + [f"new     {new}"]
    lines += differing(gated.factors)
    if gated.findings:
        lines += ["", _columns("", "", "base", "new", "change", "limit"), "-" * text.LINE]
    for finding in gated.findings[:SHOWN]:
        level = WORDS[finding.level]
        if finding.change is None:
            lines.append(f"{level:<{LEVEL}}{finding.row}: {finding.why}")
        else:
            name = f"{finding.row} {finding.series}"
            lines.append(_columns(level, name, *_cells(finding), finding.why))
    if len(gated.findings) > SHOWN:
        lines.append(f"and {len(gated.findings) - SHOWN} more; --json has all")
    lines.append("")
    for warning in gated.warnings:
        lines += text.wrap(f"warning: {warning}")
    for note in _notes(gated):
        lines += text.wrap(f"note: {note}")
    lines.append(f"spread over links: {gated.known.title}")
    return "\n".join([*lines, _verdict(gated)]) + "\n"


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


def _columns(level: str, name: str, base: str, new: str, change: str, why: str) -> str:
    return f"{level:<{LEVEL}}{name:<47}{base:>8}{new:>9}{change:>10}  {why}".rstrip()


def _cells(finding: Finding) -> tuple[str, str, str]:
    """Counts of one operation, and the change."""
    found = finding.change
    if found is None:
        return text.NONE, text.NONE, text.NONE
    return text.number(found.base), text.number(found.new), text.change(found.base, found.new)
