# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Parts of the tables on links in docs/method.md; whole tables take minutes."""

from link_tables import tables

from tockmark.base.paths import RESULTS, ROOT
from tockmark.result import file
from tockmark.tests.links import KNOWN

KERNELS = sorted([*RESULTS.glob("opt/*.json"), *(RESULTS / "links").glob("[tf]*.json")])
APART = 0.005  # rows whose instructions depend on a clock


def test_instructions_are_exact_with_the_cache_off_only() -> None:
    """The share of counts that differ between layouts with the cache on is in docs/method.md."""
    shares = []
    for path in KERNELS:
        counts: dict[bool | None, list[bool]] = {True: [], False: []}
        for row in file.load(path).table.values():
            benchmark = KNOWN.benchmarks[row.id]
            if benchmark.touches == "kernel" and not benchmark.timed and row.instret:
                nets = row.instret.nets
                usual = max(nets, key=nets.count)
                counts[row.icache] += [net != usual for net in nets]
        assert len(counts[False]) > 200
        assert not any(counts[False])
        shares.append(round(100 * sum(counts[True]) / len(counts[True])))
    page = " ".join((ROOT / "docs" / "method.md").read_text(encoding="utf-8").split())
    assert f"{min(shares)} to {max(shares)} % of the counts" in page


def test_rows_that_depend_on_a_clock_are_timed() -> None:
    """Exactly the rows that wait, and whose instructions differ over links of one source."""
    timed_ids = set()
    for path in KERNELS:
        for row in file.load(path).rows:
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
