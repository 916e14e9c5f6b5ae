# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The table of a validation, and the same for other programs."""

import json
import textwrap
from collections import Counter
from collections.abc import Iterable
from itertools import groupby

import msgspec

from tockmark.validate.row import Judged, Numbers, Verdict

LINE = 112
WIDTHS = (60, 13, 13, 10)


def as_json(judged: list[Judged]) -> str:
    """Every row with what it comes to."""
    return json.dumps(
        [
            {**msgspec.to_builtins(item.row), "verdict": item.verdict.value, "reason": item.reason}
            for item in judged
        ],
        indent=1,
        ensure_ascii=False,
    )


def render(judged: list[Judged]) -> str:
    """One table: a line a group of rows that hold, a line a row that does not, then the reasons."""
    reasons: dict[str, int] = {}
    lines = [_cells("", "expected", "measured", "verdict"), "-" * LINE]
    for part, items in groupby(judged, key=lambda item: item.row.part):
        lines.append(part)
        groups: dict[tuple[str, str], list[Judged]] = {}
        for item in items:
            groups.setdefault((item.row.group, item.row.machine), []).append(item)
        for group in groups.values():
            lines += _group(group, reasons)
    lines += ["", *_summary(judged)]
    for reason, number in reasons.items():
        lines += ["", *textwrap.wrap(f"({number}) {reason}", LINE, subsequent_indent="    ")]
    return "\n".join(lines).rstrip() + "\n"


def _group(group: list[Judged], reasons: dict[str, int]) -> list[str]:
    good = [item for item in group if item.row.inside]
    title = f"  {group[0].row.group}"
    if len(group) == 1 and good:
        row = group[0].row
        return _wrapped(title, _numbers(row.expected), _numbers(row.measured), group[0].verdict)
    lines = []
    if len(group) > 1:
        verdict = "exact" if all(i.verdict is Verdict.EXACT for i in good) else "inside"
        lines += _wrapped(title, f"{len(group)} rows", f"{len(good)} rows", verdict)
    for item in group:
        if not item.row.inside:
            number = reasons.setdefault(item.reason, len(reasons) + 1)
            name = title if len(group) == 1 else f"    {item.row.name}"
            word = "WRONG" if item.verdict is Verdict.WRONG else "unexpl."
            lines += _wrapped(
                name, _numbers(item.row.expected), _numbers(item.row.measured), f"{word} ({number})"
            )
    return lines


def _summary(judged: Iterable[Judged]) -> list[str]:
    counts = Counter(item.verdict for item in judged)
    total = sum(counts.values())
    said = ", ".join(f"{counts[verdict]} {verdict.value}" for verdict in Verdict)
    return textwrap.wrap(
        f'{total} rows: {said}. "inside": not equal, but within the bound of its part.'
        " Bounds: docs/validation.md; the unexplained: validation/unexplained.toml.",
        LINE,
    )


def _wrapped(name: str, *cells: str) -> list[str]:
    """A line of the table; a long name continues above its numbers."""
    *above, last = textwrap.wrap(
        name.strip(),
        WIDTHS[0],
        initial_indent=" " * (len(name) - len(name.lstrip())),
        subsequent_indent=" " * (len(name) - len(name.lstrip()) + 2),
    )
    return [*above, _cells(last, *cells)]


def _cells(*cells: str) -> str:
    first, *rest = cells
    tail = " ".join(f"{cell:>{width}}" for cell, width in zip(rest, WIDTHS[1:], strict=True))
    return f"{first:{WIDTHS[0]}} {tail}".rstrip()


def _numbers(values: Numbers) -> str:
    return " / ".join(f"{value:g}" for value in values) or "nothing"
