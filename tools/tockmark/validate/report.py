# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The table of a validation, and its file."""

import json
import subprocess
import textwrap
from collections import Counter
from collections.abc import Iterable
from itertools import groupby
from pathlib import Path
from typing import Any

from tockmark.errors import TockmarkError
from tockmark.paths import shown
from tockmark.target.image import GCC
from tockmark.validate.row import Judged, Row, Verdict

FORMAT = "tockmark-validation"
VERSION = 1
LINE = 112
WIDTHS = (60, 13, 13, 10)


def as_json(judged: list[Judged]) -> dict[str, Any]:
    """All rows, whatever they come to. No date: the same sources give the same file."""
    reasons = list(dict.fromkeys(item.reason for item in judged))
    return {
        "format": FORMAT,
        "version": VERSION,
        "compiler": _compiler(),
        "reasons": reasons,
        "rows": [
            {
                **{key: value for key, value in vars(item.row).items() if key != "note"},
                "verdict": item.verdict.value,
                "reason": reasons.index(item.reason),
            }
            for item in judged
        ],
    }


def text(data: dict[str, Any]) -> str:
    """The file: a row a line, so that a change of one number is a change of one line."""
    head = json.dumps({key: value for key, value in data.items() if key != "rows"})
    rows = ",\n".join(json.dumps(row, ensure_ascii=False) for row in data["rows"])
    return f'{head[:-1]}, "rows": [\n{rows}\n]}}\n'


def load(path: Path) -> list[Judged]:
    """A stored validation."""
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
        if data["format"] != FORMAT or data["version"] != VERSION:
            raise TockmarkError(f"{shown(path)} is no {FORMAT} of version {VERSION}")
        return [_from_json(row, data["reasons"]) for row in data["rows"]]
    except (OSError, ValueError, LookupError, TypeError) as error:
        raise TockmarkError(f"{shown(path)} is no stored validation: {error}") from None


def _from_json(row: dict[str, Any], reasons: list[str]) -> Judged:
    verdict, reason = Verdict(row.pop("verdict")), reasons[row.pop("reason")]
    fields = row | {key: tuple(row[key]) for key in ("expected", "measured")}
    return Judged(Row(**fields), verdict, reason)


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


def _numbers(values: tuple[float, ...]) -> str:
    return " / ".join(f"{value:g}" for value in values) or "nothing"


def _compiler() -> str:
    done = subprocess.run([GCC, "--version"], capture_output=True, text=True, check=False)
    return done.stdout.splitlines()[0] if done.stdout else "unknown"
