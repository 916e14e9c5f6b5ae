# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Why a result is not whole, in words: what went wrong, and where."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import TYPE_CHECKING

from tockmark.suite.catalogue import LANGS, label

if TYPE_CHECKING:  # whose reasons these are
    from tockmark.result.control import Control
    from tockmark.result.model import Absent, Result, Row


def reasons(result: Result) -> tuple[str, ...]:
    """Every one; skipped rows are not among them."""
    return (
        *result.problems,
        *(f"failed: {_row(gone)}: {gone.why}" for gone in result.failed),
        *(f"wrong: {_row(row)}: {error}" for row in result.rows for error in row.errors),
        *(
            f"wrong: {control.where}: {control.wrong}"
            for control in result.controls
            if control.wrong
        ),
        *_missing(result.missing),
    )


def where(one: Row | Absent | Control) -> str:
    """The boot, with its cache setting and language, unless they are the usual ones."""
    unusual = ["i-cache off"] * (one.icache is False) + [LANGS[one.lang]] * (one.lang != "c")
    return one.boot + (f" ({', '.join(unusual)})" if unusual else "")


def _row(row: Row | Absent, params: bool = True) -> str:
    return f"{where(row)}: {label(row.id, row.params if params else {})}"


def _missing(rows: Iterable[Absent]) -> list[str]:
    """The missing rows, one line a benchmark, however many parameter sets it has."""
    rows = list(rows)
    counts = Counter(_row(row, params=False) for row in rows)
    firsts = {_row(row, params=False): row for row in reversed(rows)}
    return [
        f"missing: {_row(firsts[name]) if many == 1 else f'{name} ({many} rows)'}"
        for name, many in counts.items()
    ]
