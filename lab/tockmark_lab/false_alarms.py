# SPDX-License-Identifier: Apache-2.0 OR MIT
"""How often the judgement raises a false alarm: links of one kernel's source, compared with each
other. Their code is the same, so each finding is false."""

import random
from itertools import permutations

from tockmark.base.paths import RESULTS
from tockmark.compare.limits import Limit
from tockmark.compare.spread import committed_spread
from tockmark.result import file
from tockmark.tests.links import at, judged, layouts

KERNELS = {  # kernels whose links are compared, and the least number of links of each
    **{f"opt/baseline-{level}": 16 for level in "3zs2"},
    "links/tock-2.2": 16,
    "links/further": 8,
    "opt/tock-master-z": 8,
    **{f"opt/tock-{kernel}-{level}": 4 for kernel in ("2.2", "master") for level in "s23"},
}
HALVES = 40  # random splits of a kernel's links into two halves
ALLOWED_ALARMS = 0.01  # share of a kernel's judgements that may have a hard finding


def limits_between_links(
    name: str, singles: int | None = None, sets: int = HALVES
) -> dict[str, list[Limit]]:
    """Return the worst limit of each judgement of a kernel's links by each other, with the
    committed spread of the kernel: for all ordered pairs of single links, or `singles` random ones,
    and for `sets` random halves."""
    result = file.load(RESULTS / f"{name}.json")
    spread, links = committed_spread(result), range(layouts(result))
    draw = random.Random(30)
    pairs = list(permutations(links, 2))
    if singles is not None:
        pairs = draw.sample(pairs, min(singles, len(pairs)))
    single_links = [at(result, [link]) for link in links]
    drawn = [draw.sample(links, len(links)) for _ in range(sets)]
    half = len(links) // 2
    sides = [(at(result, order[:half]), at(result, order[half:])) for order in drawn]
    return {
        "single links": [judged(single_links[a], single_links[b], spread).limit for a, b in pairs],
        "halves": [judged(base, new, spread).limit for base, new in sides],
    }


def alarms_row(name: str, limits_by_set: dict[str, list[Limit]]) -> str:
    """Format a row of the page: the number of judgements, and how many have a finding beyond the
    soft limit and beyond the hard limit."""
    cells = [f"`{name}`"]
    for limits in limits_by_set.values():
        beyond = (sum(limit >= bound for limit in limits) for bound in (Limit.SOFT, Limit.HARD))
        cells += map(str, (len(limits), *beyond))
    return f"| {' | '.join(cells)} |"
