# SPDX-License-Identifier: Apache-2.0 OR MIT
"""How many samples are enough with the cache on: what half of long series say, counted."""

import re

from tockmark import paths
from tockmark.log.protocol import expand
from tockmark.result.stats import middle
from tockmark.target.run import SIMULATED_SAMPLES

SHARE, CYCLE = 0.005, 1  # a median may differ by the larger


def test_the_page_says_how_many_long_series_agree_with_their_halves() -> None:
    lines = (paths.ROOT / "validation/samples/long-series.txt").read_text().splitlines()
    series = [expand(line.rpartition(" | ")[2]) for line in lines if not line.startswith("#")]
    assert {len(samples) for samples in series} == {2 * SIMULATED_SAMPLES}
    agree = 0
    for cold_and_steady in series:
        whole = middle(cold_and_steady[1:])
        half = middle(cold_and_steady[1:SIMULATED_SAMPLES])
        agree += abs(half - whole) <= max(CYCLE, SHARE * whole)
    page = (paths.ROOT / "docs/methodology.md").read_text()
    found = re.search(r"(\d+) of (\d+) series of 64", page)
    assert found
    assert (agree, len(series)) == tuple(map(int, found.groups()))
