# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The number of samples that is enough with the cache on: long series compared with their first
samples."""

import re

from tockmark.base import paths
from tockmark.result.stats import steady_median
from tockmark.suite import catalogue
from tockmark.target.run import APP_SAMPLES, SIMULATED_SAMPLES, default_samples
from tockmark.wire.records import expand

SHARE, WORST, CYCLE = 0.005, 0.008, 1  # a median may differ by a share or by one cycle
LINES = (paths.ROOT / "lab/validation/samples/long-series.txt").read_text().splitlines()
SERIES = [line.split(" | ") for line in LINES if not line.startswith("#")]  # kernel, row, …, runs
KNOWN = catalogue.load()


def agree(series: list[list[str]], count: int, share: float = SHARE) -> list[bool]:
    """Return which series have the same median in their first `count` samples, including the
    cold one."""
    equal = []
    for line in series:
        cold_and_steady = expand(line[-1])
        whole, part = steady_median(cold_and_steady[1:]), steady_median(cold_and_steady[1:count])
        equal.append(abs(part - whole) <= max(CYCLE, share * whole))
    return equal


def printed(text: str) -> tuple[int, ...]:
    """Return the numbers in a passage of the page."""
    page = " ".join((paths.ROOT / "docs/method.md").read_text().split())
    match = re.search(text, page)
    assert match, text
    return tuple(map(int, match.groups()))


def test_the_page_has_the_share_of_long_series_that_agree_with_their_first_samples() -> None:
    assert {len(expand(line[-1])) for line in SERIES} == {64}
    counted = sum(agree(SERIES, SIMULATED_SAMPLES)), len(SERIES), SIMULATED_SAMPLES
    assert counted == printed(r"(\d+) of (\d+) series of 64 .*? in their first (\d+)")
    assert all(agree(SERIES, SIMULATED_SAMPLES, WORST))


def test_series_of_the_app_alone_agree_with_fewer_samples() -> None:
    alone = [line for line in SERIES if KNOWN.benchmarks[line[1].split()[0]].touches == "app"]
    same = agree(alone, APP_SAMPLES)
    assert sum(same) > 0.9 * len(alone)
    others = {line[1].split()[0] for line, is_same in zip(alone, same, strict=True) if not is_same}
    assert others == {"icache.nops"}
    assert KNOWN.is_distribution("icache.nops", icache=True)
    assert all(agree(alone, APP_SAMPLES, WORST))


def test_a_boot_of_the_app_alone_needs_fewer_samples() -> None:
    samples_by_boot = {boot.name: default_samples(boot, KNOWN) for boot in KNOWN.boots()}
    assert samples_by_boot["mem"] == samples_by_boot["loop"] == APP_SAMPLES
    assert (
        samples_by_boot["syscall"]
        == samples_by_boot["time"]
        == samples_by_boot["ring-2"]
        == SIMULATED_SAMPLES
    )
