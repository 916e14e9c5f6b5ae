# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The rule of compare and gate on committed results of several links of Tock 2.2 and of small
changes of it: links of one source are not told apart, and changes are.

    cost   33 instructions more in every system call
    save   redundant writes of the PMP are gone
    lay1   36 bytes of NOPs in a driver
    lay2   a command in a driver that nobody calls
    shifts the same source with a pad of some bytes before the code"""

import random
from itertools import permutations

import pytest

from tockmark.compare.limits import Level
from tockmark.compare.rule import known_spread, over_links
from tockmark.paths import RESULTS, ROOT
from tockmark.result import file
from tockmark.tests.links import (
    ALARMS,
    KNOWN,
    PAIRS,
    SIDE,
    STANDING,
    at,
    gated,
    halves,
    layouts,
    pool,
    relevant,
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
        assert not [f for f in gated(base, new, rest).findings if f.level is Level.HARD]
        many, wrong = relevant(base, new, rest)
        figures, alarms = figures + many, alarms + wrong
    assert figures > PAIRS * 100
    assert alarms <= figures / 100


@pytest.mark.parametrize("name", STANDING)
def test_links_of_each_kernel_pass_by_what_is_known_of_it(name: str) -> None:
    """Some of what docs/method.md has; `make robustness` tries all pairs."""
    for levels in standing(name, singles=SINGLES, sets=SETS).values():
        assert levels.count(Level.HARD) <= ALARMS * len(levels), standing_row(name, {"": levels})


def test_no_row_that_is_surely_faster_is_a_finding() -> None:
    """From Tock 2.2 to master most rows have more instructions, and many of these less time."""
    base, new = (file.load(RESULTS / f"opt/tock-{name}-z.json") for name in ("2.2", "master"))
    counted = [one for one in gated(base, new, known_spread(base)).moved if one.time]
    fell = [one for one in counted if one.time and one.time.lower and not one.time.unmoved]
    assert [one for one in fell if not one.change.lower], "none to see"
    assert {one.level for one in fell} <= {Level.PASS, Level.BETTER}
    assert Level.HARD in {one.level for one in counted}


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
    ("name", "level"),
    [("cost", Level.HARD), ("save", Level.BETTER), ("lay1", Level.PASS), ("lay2", Level.PASS)],
)
def test_what_a_change_is_found_as(name: str, level: Level) -> None:
    """Four links a side, of the unchanged kernel any four."""
    new = pool(name)
    assert layouts(new) == SIDE
    for base, _, rest in tried(SIDE):
        found = gated(base, new, rest)
        assert found.level is level, [f"{f.row.name} {f.why}" for f in found.findings[:3]]


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
        found = gated(base, new, known)
        assert found.exit_code in (0, 1), [f.row.name for f in found.findings[:3]]


def test_one_link_a_side_tells_a_dearer_system_call() -> None:
    known = over_links(pool("tock-2.2"), "all links")
    for place in range(layouts(pool("tock-2.2"))):
        base = at(pool("tock-2.2"), [place])
        assert gated(base, at(pool("cost"), [place % SIDE]), known).exit_code == 3
        assert gated(base, at(pool("save"), [place % SIDE]), known).exit_code in (0, 1)


def test_the_page_has_what_is_found() -> None:
    """Two of its rows; all take minutes."""
    page = (ROOT / "docs" / "method.md").read_text(encoding="utf-8")
    for line in tables((0.03,), (10,)).splitlines():
        assert f"{line}\n" in page, "python -m tockmark.tests.links prints it"
