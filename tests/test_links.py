# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The rule of compare on committed results: it finds changes, but no difference between links of
one source. The results are from several links of Tock 2.2 and of variants of it:

    cost   33 more instructions in every system call
    save   redundant writes of the PMP are gone
    lay1   36 bytes of NOPs in a driver
    lay2   a command in a driver that nobody calls
    shifts the same source with a pad of some bytes before the code"""

import random
from itertools import permutations

import pytest

from tockmark.base.paths import RESULTS
from tockmark.compare.limits import Limit
from tockmark.compare.spread import committed_spread, spread_over_links
from tockmark.compare.verdict import MOVED, Verdict
from tockmark.result import file
from tockmark.tests.links import (
    PAIRS,
    SIDE,
    at,
    halves,
    judged,
    layouts,
    moved,
    pool,
    tried,
)

SILENT = ("lay1", "lay2")


def test_links_of_one_source_do_not_differ() -> None:
    """The spread is from the links in neither half."""
    figures = alarms = 0
    for base, new, rest in halves(pool("tock-2.2"), SIDE, PAIRS):
        assert judged(base, new, rest).limit < Limit.HARD
        many, wrong = moved(base, new, rest)
        figures, alarms = figures + many, alarms + wrong
    assert figures > PAIRS * 100
    assert alarms <= figures / 100


def test_no_row_that_is_certainly_faster_is_a_finding() -> None:
    """From Tock 2.2 to master most rows have more instructions, and many of them fewer cycles."""
    base, new = (file.load(RESULTS / f"opt/tock-{name}-2.json") for name in ("2.2", "master"))
    more = [row for row in judged(base, new, committed_spread(base)).moved if row.moved > 0]
    faster = [row for row in more if row.verdict is Verdict.BETTER]
    assert faster, "none to see"
    assert {row.instructions.limit for row in faster if row.instructions} == {Limit.NONE}
    assert Limit.HARD in {row.instructions.limit for row in more if row.instructions}


@pytest.mark.parametrize(
    ("name", "limit", "words"),
    [
        ("cost", Limit.HARD, {"more"}),
        ("save", Limit.NONE, {"fewer", "better"}),
        ("lay1", Limit.NONE, set()),
        ("lay2", Limit.NONE, set()),
    ],
)
def test_each_change_has_its_limit_and_verdicts(name: str, limit: Limit, words: set[str]) -> None:
    """Four links per side; any four of the unchanged kernel."""
    new = pool(name)
    assert layouts(new) == SIDE
    for base, _, rest in tried(SIDE)[:6]:
        judgement = judged(base, new, rest)
        assert judgement.limit is limit, [row.row.name for row in judgement.moved[:3]]
        counts = [row.moved for row in judgement.moved]
        words_seen = {"more"} if max(counts, default=0) > 1 else set()
        words_seen |= {"fewer"} if min(counts, default=0) < -1 else set()
        words_seen |= {str(row.verdict) for row in judgement.rows_with(*MOVED)}
        assert words <= words_seen
        assert bool(words) is bool(words_seen)


def test_one_link_per_side_never_fails_a_change_of_layout() -> None:
    """Links are shuffled, shifted or have code that is not run. The spread is from all 16 links,
    which include these."""
    spread = spread_over_links(pool("tock-2.2"), "all links")
    alike = [
        at(result, [index])
        for result in map(pool, ("tock-2.2", "shifts", *SILENT))
        for index in range(layouts(result))
    ]
    for base, new in random.Random(12).sample(list(permutations(alike, 2)), PAIRS):
        judgement = judged(base, new, spread)
        assert judgement.exit_code in (0, 1), [row.row.name for row in judgement.moved[:3]]


def test_one_link_per_side_finds_a_more_expensive_system_call() -> None:
    spread = spread_over_links(pool("tock-2.2"), "all links")
    for index in range(layouts(pool("tock-2.2"))):
        base = at(pool("tock-2.2"), [index])
        assert judged(base, at(pool("cost"), [index % SIDE]), spread).exit_code == 3
        assert judged(base, at(pool("save"), [index % SIDE]), spread).exit_code in (0, 1)
