# SPDX-License-Identifier: Apache-2.0 OR MIT
"""One number for two kernels: the geometric mean of the ratios of what touches the kernel."""

from collections.abc import Iterable, Mapping

import numpy as np

from tockmark.judge.lines import Floats
from tockmark.result.model import Row, ratio
from tockmark.suite.catalogue import Catalogue, RowKey


def counts(row: Row, catalogue: Catalogue) -> bool:
    """Whether a row has a part in the mean: it goes through the kernel. time.read does so too, but
    is the readings' own cost."""
    known = catalogue.benchmarks.get(row.id)
    return known is not None and known.touches == "kernel" and not row.is_overhead


def by_benchmark(logs: Iterable[tuple[Row, Floats]]) -> Floats:
    """The mean of logarithms, of one row or more: a benchmark with parameters or cache settings
    weighs as one, with the mean of its rows."""
    found: dict[str, list[Floats]] = {}
    for row, log in logs:
        found.setdefault(row.id, []).append(log)
    return _mean([_mean(of_one) for of_one in found.values()])


def _mean(values: list[Floats]) -> Floats:
    found: Floats = sum(values, np.zeros(1)) / len(values)
    return found


def kernel_mean(
    base: Mapping[RowKey, Row], new: Mapping[RowKey, Row], catalogue: Catalogue
) -> float | None:
    """That of new by base, columns of results; None if they have no such row in common."""
    logs = [
        (row, np.log([found]))
        for key, row in base.items()
        if counts(row, catalogue) and (found := ratio(row, new.get(key))) is not None
    ]
    return float(np.exp(by_benchmark(logs)[0])) if logs else None
