# SPDX-License-Identifier: Apache-2.0 OR MIT
"""What happened, in one line: what moved, in the order of trust, and that nothing else did."""

from collections import Counter
from collections.abc import Sequence
from statistics import median

from tockmark.judge.verdict import Change
from tockmark.result.model import Row
from tockmark.show import text

Moved = tuple[Row, str, Change]

CACHE = {False: " with the cache off", True: " with the cache on", None: ""}
NAMED = 3  # parts of the suite in which only some rows moved; of more, how many there are is said


def headline(moved: Sequence[Moved], judged: Sequence[Row], links: tuple[int, int]) -> str:
    """Of the rows that were judged; `links` of the kernels, on either side."""
    if not moved:
        return f"nothing moved beyond its layout spread ({len(judged)} rows, {_links(links)})"
    parts = []
    for lower in (False, True):
        same = [one for one in moved if one[1] == "instret" and one[2].lower is lower]
        if same:
            parts.append(_instructions(same, judged))
    for setting, cache in CACHE.items():
        for lower in (False, True):
            same = [
                one
                for one in moved
                if one[1] == "cycles" and one[0].icache is setting and one[2].lower is lower
            ]
            if same:
                there = [row for row in judged if row.icache is setting]
                parts.append(f"cycles{cache} {_typical(same)}{_where(same, there)}")
    return "; ".join([*parts, f"nothing else moved ({len(judged)} rows, {_links(links)})"])


def _links(links: tuple[int, int]) -> str:
    base, new = (f"{many} link{'s' if many > 1 else ''}" for many in links)
    return f"{base} a side" if base == new else f"{base} against {new}"


def _instructions(same: Sequence[Moved], judged: Sequence[Row]) -> str:
    """Of one operation: what most have, or the least that any has."""
    counts = [round(change.new - change.base) for _, _, change in same]
    ((common, many),) = Counter(counts).most_common(1)
    if 2 * many >= len(counts):
        told = f"{common:+d} instructions"
    else:
        told = f"{min(counts, key=abs):+d} instructions or more"
    where = _where(same, [row for row in judged if row.instret])
    return f"{told} ({_typical(same)}){where}"


def _typical(same: Sequence[Moved]) -> str:
    """The median change in percent."""
    ratios = [change.ratio for _, _, change in same if change.ratio]
    return text.percent(median(ratios) - 1, sign="+") if ratios else "from or to none"


def _where(same: Sequence[Moved], judged: Sequence[Row]) -> str:
    """On which rows of those that could have moved so: whole groups, or how many."""
    ids = {row.key for row, _, _ in same}
    groups: dict[str, list[bool]] = {}
    for row in judged:
        groups.setdefault(row.id.partition(".")[0], []).append(row.key in ids)
    whole = [name for name, found in groups.items() if all(found)]
    some = [
        f"{sum(found)} of {len(found)} rows of {name}"
        for name, found in groups.items()
        if any(found) and not all(found)
    ]
    if len(whole) == len(groups):
        return " on every row"
    if len(some) > NAMED:
        many = sum(sum(found) for found in groups.values() if not all(found))
        some = [f"{many} other rows" if whole else f"{many} rows"]
    told = [f"all of {', '.join(whole)}"] if whole else []
    return f" on {' and '.join([*told, ', '.join(some)] if some else told)}"
