# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Links of one source of each committed kernel, judged by each other: how often the rule alarms."""

import random
from itertools import permutations

from tockmark.base.paths import RESULTS
from tockmark.compare.limits import Limit
from tockmark.compare.spread import committed_spread
from tockmark.result import file
from tockmark.tests.links import at, judged, layouts

KERNELS = {  # kernels whose links are judged by each other, and how many links they have at least
    **{f"opt/baseline-{level}": 16 for level in "3zs2"},
    "links/tock-2.2": 16,
    "links/further": 8,
    "opt/tock-master-z": 8,
    **{f"opt/tock-{kernel}-{level}": 4 for kernel in ("2.2", "master") for level in "s23"},
}
HALVES = 40  # random halves of the links of each
ALLOWED_ALARMS = 0.01  # of the judgements of a kernel's links by each other may hold a hard finding


def limits_between_links(
    name: str, singles: int | None = None, sets: int = HALVES
) -> dict[str, list[Limit]]:
    """The worst limits of judgements of a kernel's links by each other, by the spread that is known
    of it: of all ordered pairs of single links, or of so many, and of random halves."""
    result = file.load(RESULTS / f"{name}.json")
    known, links = committed_spread(result), range(layouts(result))
    draw = random.Random(30)
    pairs = list(permutations(links, 2))
    if singles is not None:
        pairs = draw.sample(pairs, min(singles, len(pairs)))
    ones = [at(result, [link]) for link in links]
    drawn = [draw.sample(links, len(links)) for _ in range(sets)]
    half = len(links) // 2
    sides = [(at(result, order[:half]), at(result, order[half:])) for order in drawn]
    return {
        "single links": [judged(ones[a], ones[b], known).limit for a, b in pairs],
        "halves": [judged(base, new, known).limit for base, new in sides],
    }


def alarms_row(name: str, found: dict[str, list[Limit]]) -> str:
    """What became of them, as a row of the page: of how many judgements, and how many held
    something beyond the soft limit and beyond the hard one."""
    cells = [f"`{name}`"]
    for limits in found.values():
        beyond = (sum(limit >= bound for limit in limits) for bound in (Limit.SOFT, Limit.HARD))
        cells += map(str, (len(limits), *beyond))
    return f"| {' | '.join(cells)} |"
