# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Where a line of commits turns from good to bad, found in as few steps as may be."""

import itertools
from collections.abc import Callable


def first_bad(count: int, is_bad: Callable[[int], bool | None]) -> range:
    """Which of so many commits is the first bad one, if the first is good and the last is bad.

    `is_bad` is asked of each at most once; None: it cannot be told of this one. Several come back
    where all before the last of them cannot be told."""
    good, bad = 0, count - 1
    unknown: list[int] = []
    while True:
        marks = [good, *(n for n in sorted(unknown) if good < n < bad), bad]
        # Behind what cannot be told there is often more of that: away from it, by halves again.
        below, above = max(itertools.pairwise(marks), key=lambda gap: gap[1] - gap[0])
        middle = (below + above) // 2
        if middle == below:
            return range(good + 1, bad + 1)
        match is_bad(middle):
            case None:
                unknown.append(middle)
            case True:
                bad = middle
            case False:
                good = middle
