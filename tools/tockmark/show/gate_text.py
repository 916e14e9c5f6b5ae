# SPDX-License-Identifier: Apache-2.0 OR MIT
"""How a gate's judgement is shown: as text, as JSON, and in Markdown for a pull request."""

from collections import Counter
from dataclasses import asdict

from tockmark.judge.gate import Finding, Gated, Level
from tockmark.show import text
from tockmark.show.compare_text import differing

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
    lines = [f"base    {name}" for name in names] + [f"new     {new}"]
    lines += differing(gated.factors)
    if gated.findings:
        lines += ["", _columns("", "", "base", "new", "change", "limit"), "-" * text.LINE]
    for finding in gated.findings[:SHOWN]:
        level = WORDS[finding.level]
        if finding.series is None:
            lines.append(f"{level:<{LEVEL}}{finding.row}: {finding.why}")
        else:
            name = f"{finding.row} {finding.series}"
            lines.append(_columns(level, name, *_cells(finding), finding.why))
    if len(gated.findings) > SHOWN:
        lines.append(f"and {len(gated.findings) - SHOWN} more; --json has all")
    lines.append("")
    for warning in gated.warnings:
        lines += text.wrap(f"warning: {warning}")
    return "\n".join([*lines, _verdict(gated)]) + "\n"


def markdown(names: list[str], new: str, gated: Gated) -> str:
    """A summary for a pull request."""
    lines = [f"### tockmark: {_verdict(gated)}", ""]
    lines += [f"`{new}` against {', '.join(f'`{name}`' for name in names)}.", ""]
    shown = [finding for finding in gated.findings if finding.level > Level.BETTER]
    lines += _table(shown)
    better = [finding for finding in gated.findings if finding.level is Level.BETTER]
    if better:
        summary = f"<details><summary>{len(better)} better</summary>"
        lines += [summary, "", *_table(better), "</details>", ""]
    lines += [f"- Warning: {warning}" for warning in gated.warnings]
    lines += [f"- {f.name} differs: {f.base} → {f.new}" for f in gated.factors]
    return "\n".join(lines).rstrip() + "\n"


def as_json(names: list[str], new: str, gated: Gated) -> dict[str, object]:
    """The same for other programs."""
    return {
        "base": names,
        "new": new,
        "verdict": WORDS[gated.level],
        "exit_code": gated.exit_code,
        "rows": gated.checked,
        "findings": [
            {**asdict(finding), "level": WORDS[finding.level]} for finding in gated.findings
        ],
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
    change = text.change(finding.base, finding.new)
    return text.number(finding.base), text.number(finding.new), change
