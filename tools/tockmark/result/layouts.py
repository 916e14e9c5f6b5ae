# SPDX-License-Identifier: Apache-2.0 OR MIT
"""One result of the same rows, measured in several layouts of kernel and apps."""

from collections.abc import Sequence
from dataclasses import replace

from tockmark.log.measured import SERIES
from tockmark.result.model import Result, Row


def joined(results: Sequence[Result]) -> Result:
    """The first, its rows with the samples that the others have of them. What went wrong in these
    is a problem of the whole, and of a row that is not whole there nothing is taken."""
    first, *others = results
    tables = [{row.identity: row for row in result.rows} for result in others]
    problems = [
        f"layout {layout}: {reason}"
        for layout, result in enumerate(others, 1)
        for reason in replace(result, rows=()).incomplete
    ]
    rows = []
    for row in first.rows:
        found = {}
        for layout, table in enumerate(tables, 1):
            other = table.get(row.identity)
            wrong = _unlike(row, other) if other is not None else None
            if wrong is not None:
                problems.append(f"layout {layout}: {row.boot}: {row.name}: {wrong}")
            elif other is not None:
                found[layout] = other
        rows.append(_with(row, found) if found else row)
    return replace(first, rows=tuple(rows), problems=(*first.problems, *problems))


def _unlike(row: Row, other: Row) -> str | None:
    """Why a row of another layout cannot stand beside this one, if so."""
    for name in SERIES:
        if (row.series(name) is None) != (other.series(name) is None):
            return f"{name} is in one layout only"
    return other.faults[0] if other.faults else None


def _with(row: Row, others: dict[int, Row]) -> Row:
    """The row with its series in further layouts, by their number."""
    series = {
        name: replace(
            one,
            further=tuple(taken for o in others.values() if (taken := o.series(name)) is not None),
        )
        for name in SERIES
        if (one := row.series(name)) is not None
    }
    return replace(row, **series, layouts=(0, *others))  # type: ignore[arg-type]
