# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Whose alarms wait longer after a change: `tockmark latency` on both kernels of a judgement, by
their first links, with each setting of the cache that is judged.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path

from tockmark.compare.verdict import RowVerdict
from tockmark.errors import say
from tockmark.files import write_whole
from tockmark.latency import run
from tockmark.latency.chain import check_points
from tockmark.latency.report import StoredLatency, text_of, wait_verdicts
from tockmark.latency.run import LatencyOptions, RunLoad, loads_for
from tockmark.profile.run import kernel_of
from tockmark.rig.kernel import KernelElf
from tockmark.rig.run import RunOptions
from tockmark.suite.catalogue import ICACHE

ALARMS = run.ALARMS  # beside each load


def loads_of(kernels: Sequence[KernelElf], names: str | None) -> tuple[RunLoad, ...]:
    """Return the loads of these names, separated by commas; none if nothing is asked for.
    TockmarkError if there is no such load, a kernel cannot bear it or its stages are not known."""
    if names is None:
        return ()
    for kernel in kernels:
        check_points(kernel_of(kernel))
    loads, _ = (loads_for(kernel, names.split(",")) for kernel in kernels)
    return loads


def compared(
    kernels: Sequence[KernelElf], loads: tuple[RunLoad, ...], options: RunOptions, folder: Path
) -> list[RowVerdict]:
    """Return what is said of the waits of alarms beside each load; both sides' waits are kept in
    `folder`. TockmarkError if an alarm did not come, or a stage is not there."""
    found: list[RowVerdict] = []
    for icache in options.icaches if loads else ():
        base, head = _measured(kernels, loads, options, icache, folder)
        found += wait_verdicts(base, head)
    return found


def _measured(
    kernels: Sequence[KernelElf],
    loads: tuple[RunLoad, ...],
    options: RunOptions,
    icache: bool,
    folder: Path,
) -> Iterator[StoredLatency]:
    for side, kernel in zip(("base", "head"), kernels, strict=True):
        say(f"{side}: how long an alarm waits, i-cache {ICACHE[icache]}")
        asked = LatencyOptions(kernel, options.board, icache, ALARMS, loads)
        one = run.measure(asked, lambda text: say(f"  {text}"))
        write_whole({folder / f"{side}-waits-{ICACHE[icache]}.json": text_of(one)})
        yield one
