# SPDX-License-Identifier: Apache-2.0 OR MIT
"""One number for two kernels: the geometric mean of the ratios of what touches the kernel."""

import math

from tockmark.result.model import Result, ratio
from tockmark.suite.catalogue import Catalogue


def kernel_mean(
    base: Result,
    new: Result,
    catalogue: Catalogue,
    icaches: tuple[bool | None, bool | None],
) -> float | None:
    """The mean of new by base over the benchmarks that touch the kernel, each with one cache
    setting. A benchmark with parameters weighs as one: the mean of its rows. time.read is the
    readings' own cost and stays out. None if they have no such row in common."""
    logs: dict[str, list[float]] = {}
    for row in base.table.values():
        known = catalogue.benchmarks.get(row.id)
        if row.icache is not icaches[0] or row.is_overhead:
            continue
        found = ratio(row, new.table.get((*row.key[:2], icaches[1])))
        if known is not None and known.touches == "kernel" and found is not None:
            logs.setdefault(row.id, []).append(math.log(found))
    means = [sum(of_one) / len(of_one) for of_one in logs.values()]
    return math.exp(sum(means) / len(means)) if means else None
