# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The page of what others published, beside our rows without the cache, as they measured."""

from dataclasses import dataclass

from tockmark.result.model import Row, ratio
from tockmark.show.plot import Named
from tockmark.site.rows import number
from tockmark.site.sorted import Sorted


@dataclass(frozen=True)
class Studied:
    """A row of the study, and what each result has for it: cycles of one operation, and these by
    the study's."""

    row: Row
    per_op: str
    ours: list[tuple[str, str]]


@dataclass(frozen=True)
class Page:
    """All of it."""

    study: Named
    same: list[str]  # names of results that were measured as the study was
    names: list[str]
    lines: list[Studied]
    corrected: list[Row]


def page(site: Sorted, study: Named) -> Page:
    """The study's rows, those that some result of ours has."""
    ours = [one for one in site.leads if any(i is not True for i in one.result.icaches)]
    tables = [_without_cache(one) for one in ours]
    lines, corrected = [], []
    for row in study.result.table.values():
        beside = [table.get((*row.key[:2], row.lang)) for table in tables]
        if any(beside) or (row.published and row.published.corrected):
            found = [
                (number(one.per_op if one and one.sound else None, 2), number(ratio(row, one), 3))
                for one in beside
            ]
            lines.append(Studied(row, number(row.per_op, 2), found))
        if row.published and row.published.corrected:
            corrected.append(row)
    same = [one.name for one in ours if _like(study, one)]
    return Page(study, same, [one.name for one in ours], lines, corrected)


def _without_cache(one: Named) -> dict[object, Row]:
    return {
        (*row.key[:2], row.lang): row for row in one.result.table.values() if row.icache is not True
    }


def _like(study: Named, one: Named) -> bool:
    """Whether a result was measured as the study was: then its numbers should be the study's."""
    mine, other = one.result.provenance, study.result.provenance
    return (mine.board.machine, mine.abi) == (other.board.machine, other.abi)
