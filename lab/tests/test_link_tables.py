# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Parts of the tables on links in docs/method.md; whole tables take minutes."""

import pytest
from link_tables import tables

from tockmark.base.paths import RESULTS, ROOT
from tockmark.compare.limits import Limit
from tockmark.result import file
from tockmark.tests.links import KNOWN
from tockmark_lab.false_alarms import ALLOWED_ALARMS, KERNELS, alarms_row, limits_between_links

SINGLES, SETS = 24, 6  # comparisons of each kernel's links with each other
APART = 0.005  # rows whose instructions depend on a clock


@pytest.mark.parametrize("name", KERNELS)
def test_links_of_each_kernel_pass_with_its_known_spread(name: str) -> None:
    """Tries some pairs of docs/method.md; `make robustness` tries all."""
    for limits in limits_between_links(name, singles=SINGLES, sets=SETS).values():
        assert limits.count(Limit.HARD) <= ALLOWED_ALARMS * len(limits), alarms_row(
            name, {"": limits}
        )


def test_rows_that_depend_on_a_clock_are_timed() -> None:
    """Exactly the rows that wait, and whose instructions differ over links of one source."""
    timed_ids = set()
    for name in KERNELS:
        for row in file.load(RESULTS / f"{name}.json").rows:
            if KNOWN.benchmarks[row.id].waits and row.instret and min(row.instret.nets) > 0:
                nets = row.instret.nets
                if max(nets) > (1 + APART) * min(nets):
                    timed_ids.add(row.id)
    assert timed_ids == {id_ for id_, benchmark in KNOWN.benchmarks.items() if benchmark.timed}


def test_the_page_has_the_computed_rows() -> None:
    """Checks two rows; all take minutes."""
    page = (ROOT / "docs" / "method.md").read_text(encoding="utf-8")
    for line in tables((0.03,), (10,)).splitlines():
        assert f"{line}\n" in page, "link_tables.py prints it"
