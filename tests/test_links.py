# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The rule on committed results of several links of Tock 2.2 and of small
changes of it: links of one source are not told apart, and changes are.

    cost   33 instructions more in every system call
    save   redundant writes of the PMP are gone
    lay1   36 bytes of NOPs in a driver
    lay2   a command in a driver that nobody calls
    shifts the same source with a pad of some bytes before the code"""

import random
from itertools import permutations

import pytest

from tockmark.compare.limits import Limit
from tockmark.compare.spread import known_spread, over_links
from tockmark.compare.verdict import MOVED, Verdict
from tockmark.paths import RESULTS, ROOT
from tockmark.result import file
from tockmark.tests.links import (
    ALARMS,
    KNOWN,
    PAIRS,
    SIDE,
    STANDING,
    at,
    halves,
    judged,
    layouts,
    moved,
    pool,
    standing,
    standing_row,
    tables,
    tried,
)

SILENT = ("lay1", "lay2")
SINGLES, SETS = 24, 6  # judgements of each kernel's links by each other
APART = 0.005  # of the instructions of a row that a clock sets


def test_links_of_one_source_are_not_told_apart() -> None:
    """The spread is that of the links that are in neither half."""
    figures = alarms = 0
    for base, new, rest in halves(pool("tock-2.2"), SIDE, PAIRS):
        assert judged(base, new, rest).limit < Limit.HARD
        many, wrong = moved(base, new, rest)
        figures, alarms = figures + many, alarms + wrong
    assert figures > PAIRS * 100
    assert alarms <= figures / 100


@pytest.mark.parametrize("name", STANDING)
def test_links_of_each_kernel_pass_by_what_is_known_of_it(name: str) -> None:
    """Some of what docs/method.md has; `make robustness` tries all pairs."""
    for limits in standing(name, singles=SINGLES, sets=SETS).values():
        assert limits.count(Limit.HARD) <= ALARMS * len(limits), standing_row(name, {"": limits})


def test_no_row_that_is_surely_faster_is_a_finding() -> None:
    """From Tock 2.2 to master most rows have more instructions, and many of these less time."""
    base, new = (file.load(RESULTS / f"opt/tock-{name}-z.json") for name in ("2.2", "master"))
    more = [row for row in judged(base, new, known_spread(base)).moved if row.moved > 0]
    faster = [row for row in more if row.verdict is Verdict.BETTER]
    assert faster, "none to see"
    assert {row.instructions.limit for row in faster if row.instructions} == {Limit.NONE}
    assert Limit.HARD in {row.instructions.limit for row in more if row.instructions}


def test_what_a_clock_sets_is_timed() -> None:
    """Rows that wait, and whose instructions differ over links of one source: these and no
    others."""
    found = set()
    for name in STANDING:
        for row in file.load(RESULTS / f"{name}.json").rows:
            if KNOWN.benchmarks[row.id].waits and row.instret and min(row.instret.nets) > 0:
                nets = row.instret.nets
                if max(nets) > (1 + APART) * min(nets):
                    found.add(row.id)
    assert found == {id_ for id_, known in KNOWN.benchmarks.items() if known.timed}


@pytest.mark.parametrize(
    ("name", "limit", "words"),
    [
        ("cost", Limit.HARD, {"more"}),
        ("save", Limit.NONE, {"fewer", "better"}),
        ("lay1", Limit.NONE, set()),
        ("lay2", Limit.NONE, set()),
    ],
)
def test_what_a_change_is_found_as(name: str, limit: Limit, words: set[str]) -> None:
    """Four links a side, of the unchanged kernel any four."""
    new = pool(name)
    assert layouts(new) == SIDE
    for base, _, rest in tried(SIDE):
        found = judged(base, new, rest)
        assert found.limit is limit, [row.row.name for row in found.moved[:3]]
        counts = [row.moved for row in found.moved]
        said = {"more"} if max(counts, default=0) > 1 else set()
        said |= {"fewer"} if min(counts, default=0) < -1 else set()
        said |= {str(row.verdict) for row in found.that_are(*MOVED)}
        assert words <= said
        assert bool(words) is bool(said)


def test_one_link_a_side_never_fails_what_differs_in_layout_only() -> None:
    """Neither shuffled nor shifted, nor with code that is not run. The spread is that of all 16
    links, these among them: there is no other source for one link."""
    known = over_links(pool("tock-2.2"), "all links")
    alike = [
        at(result, [place])
        for result in map(pool, ("tock-2.2", "shifts", *SILENT))
        for place in range(layouts(result))
    ]
    for base, new in random.Random(12).sample(list(permutations(alike, 2)), PAIRS):
        found = judged(base, new, known)
        assert found.exit_code in (0, 1), [row.row.name for row in found.moved[:3]]


def test_one_link_a_side_tells_a_dearer_system_call() -> None:
    known = over_links(pool("tock-2.2"), "all links")
    for place in range(layouts(pool("tock-2.2"))):
        base = at(pool("tock-2.2"), [place])
        assert judged(base, at(pool("cost"), [place % SIDE]), known).exit_code == 3
        assert judged(base, at(pool("save"), [place % SIDE]), known).exit_code in (0, 1)


def test_the_page_has_what_is_found() -> None:
    """Two of its rows; all take minutes."""
    page = (ROOT / "docs" / "method.md").read_text(encoding="utf-8")
    for line in tables((0.03,), (10,)).splitlines():
        assert f"{line}\n" in page, "python -m tockmark.tests.links prints it"
