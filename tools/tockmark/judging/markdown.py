# SPDX-License-Identifier: Apache-2.0 OR MIT
"""A verdict as a comment on a pull request: one screen, and the rest folded.

Names in it come from kernels, paths and commits, that is from whoever opened the pull request. So
all but letters, digits and plain marks becomes a character reference: it is shown as it is, and
neither Markdown nor HTML nor a mention or link of the forge is made of it.
"""

import re

from tockmark.judge.gate import Level
from tockmark.judging.engine import Moved
from tockmark.judging.report import WORDS, Report, cells, held, once
from tockmark.plain import showable

SHOWN = 8  # rows on the first screen
LONGEST = 200  # characters of a name
_PLAIN = re.compile(r"[^A-Za-z0-9 .,;:=+%()/-]")
SIGNS = {Level.PASS: "✅", Level.BETTER: "✅", Level.SOFT: "⚠️", Level.HARD: "❌"}


def escaped(text: str) -> str:
    """Text as it is shown, whatever it holds."""
    text = showable(text)
    text = text if len(text) <= LONGEST else f"{text[:LONGEST]}…"
    return _PLAIN.sub(lambda found: f"&#{ord(found[0])};", text)


def code(text: str) -> str:
    """The same in the letters of code, where a forge looks for no mention and no link."""
    return f"<code>{escaped(text)}</code>"


def markdown(report: Report) -> str:
    """The comment."""
    judged = report.judged
    level = judged.gated.level
    lines = [
        f"### {SIGNS[level]} tockmark: {escaped(report.told)}",
        "",
        f"{escaped(report.verdict)}.",
    ]
    lines += [f"Base {code(report.names[0])}, head {code(report.names[1])}.", ""]
    moved = once(judged.moved)
    lines += _table(moved[:SHOWN])
    for warning in judged.gated.warnings:
        lines += [f"- Warning: {escaped(warning)}"]
    rest = moved[SHOWN:]
    if rest:
        lines += _folded(f"{len(rest)} more rows that moved", _table(rest))
    for one in report.where:
        lines += _folded(f"Where: {escaped(one.row)}", _block(one.lines()))
    lines += _folded("Flash, RAM and stack", _block(held(report)))
    said = [*report.caveats, f"spread over links: {judged.gated.known.title}"]
    said += [f"{one.name} differs: {one.base} → {one.new}" for one in judged.gated.factors]
    lines += _folded("Notes", [f"- {escaped(one)}" for one in said])
    return "\n".join(lines).rstrip() + "\n"


def _table(moved: list[tuple[str, Moved]]) -> list[str]:
    if not moved:
        return []
    lines = ["| row | base | head | change | range | |", "|---|---:|---:|---:|---:|---|"]
    for name, one in moved:
        told = " | ".join(escaped(cell) for cell in cells(one))
        lines.append(f"| {code(name)} | {told} | {WORDS[one.level]} |")
    return [*lines, ""]


def _folded(summary: str, lines: list[str]) -> list[str]:
    """What is shown when somebody asks for it."""
    return ["<details>", f"<summary>{summary}</summary>", "", *lines, "", "</details>", ""]


def _block(lines: list[str]) -> list[str]:
    """Lines in columns. No blank line may be in it, for it would end the block."""
    return ["<pre>", *(escaped(line) or " " for line in lines), "</pre>"]
