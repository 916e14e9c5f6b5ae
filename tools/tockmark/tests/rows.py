# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Build rows from samples, and make changed copies of rows and results."""

import dataclasses
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from msgspec import structs

from tockmark.result.model import Result, Row, Series
from tockmark.suite.catalogue import Params
from tockmark.wire.boots import App
from tockmark.wire.records import compress, expand
from tockmark.wire.rows import PASSES, SERIES, StoredRow


def stored(
    id_: str,
    series: Mapping[str, Sequence[int]],
    params: Params | None = None,
    asked: int = 9,
    **more: Any,
) -> StoredRow:
    runs: dict[str, Any] = {f"{name}_runs": compress(list(taken)) for name, taken in series.items()}
    return StoredRow(id_, "", asked, params or {}, **runs, **more)


def samples(row: StoredRow) -> dict[str, list[int]]:
    """Return the samples of each series that a row has."""
    runs = {name: getattr(row, f"{name}_runs") for name in (*SERIES, *PASSES)}
    return {name: list(expand(text)) for name, text in runs.items() if text is not None}


def app_of(name: str, rows: Iterable[StoredRow], **begin: str) -> App:
    return App(name, {"apps": "1"} | begin, {row.key: row for row in rows})


def recounted(row: Row, **series: Series | None) -> Row:
    """Return a row with series that differ from those of its samples."""
    made = structs.replace(row)
    made.__dict__.update(series)
    return made


def of_another_kernel(result: Result) -> Result:
    """Return the result with an unknown kernel. The tool refuses different counts for the
    same kernel."""
    layouts = tuple(
        structs.replace(layout, sha256="0" * 64) for layout in result.provenance.layouts
    )
    provenance = structs.replace(result.provenance, layouts=layouts)
    return dataclasses.replace(result, provenance=provenance)
