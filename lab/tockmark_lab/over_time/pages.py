# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Chapters of a site: rows over runs, from a history, and over commits, from a campaign."""

import contextlib
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import jinja2
from markupsafe import Markup

from tockmark.base.errors import TockmarkError
from tockmark.show import text
from tockmark.site.model import Site
from tockmark.site.pages import anchor_of, number
from tockmark.site.pictures import inline
from tockmark.site.render import Chapter
from tockmark.suite.catalogue import Catalogue, RowKey, row_key
from tockmark.suite.selection import Selection, screen
from tockmark_lab.over_time import commits_text, history, history_text, pictures
from tockmark_lab.over_time.commits import (
    CampaignData,
    CommitTrail,
    Jump,
    is_campaign_file,
    largest,
    load_campaign,
)
from tockmark_lab.over_time.history import HistoryRun, RowHistory

PICTURED = 24  # rows of the first screen, from which those of a campaign's picture are


def chapters(site: Site, files: Sequence[Path]) -> tuple[list[Chapter], list[str]]:
    """Return a chapter for each history or campaign, and what could not be read of them."""
    found, problems = list[Chapter](), list[str]()

    def address(name: str) -> str:
        """Return a page's file that no other chapter has."""
        several = sum(one.path.startswith(name) for one in found)
        return f"{name}{f'-{several + 1}' if several else ''}.html"

    for path in files:
        if is_campaign_file(path):
            held, torn = load_campaign(path)
            found.append(_of_commits(held, site.catalogue, address("commits"), path.stem))
        else:
            runs, torn = history.load(path)
            found.append(_of_runs(runs, site, address("history")))
        problems += torn
    return found, problems


@dataclass(frozen=True)
class HistoryPart:
    """What the page of a history shows of one benchmark."""

    id: str
    anchor: str
    address: str  # of the benchmark's own section
    rows: list[RowHistory]
    pictures: list[tuple[str, Markup]]


def _of_runs(runs: Sequence[HistoryRun], site: Site, path: str) -> Chapter:
    parts = []
    for id_ in site.ids:
        meant = Selection(site.catalogue, (id_,))
        if rows := [one for one in history.series(runs, meant) if len(one.points) > 1]:
            anchor = anchor_of(site, id_)
            drawn = _picture(rows, f"history-{anchor}")
            parts.append(HistoryPart(id_, anchor, site.address(id_), rows, drawn))
    body = _filled("history.html", parts=parts)
    return Chapter(path, "Over runs", body, {part.id: part.anchor for part in parts})


def _picture(rows: list[RowHistory], name: str) -> list[tuple[str, Markup]]:
    """Draw the rows that changed, under the setting that has most of them."""
    changed = [one for one in rows if any(point.changed for point in one.points)]
    for setting, _ in Counter(one.setting for one in changed).most_common(1):
        some = [one for one in changed if one.setting == setting]
        with contextlib.suppress(TockmarkError):  # they are too many for a picture
            return [(name, inline(pictures.history_picture(some, "svg"), name))]
    return []


@dataclass(frozen=True)
class CampaignPage:
    """What the page of a campaign shows."""

    held: CampaignData
    mean: CommitTrail
    trails: list[CommitTrail]  # rows of the first screen first
    pictures: list[tuple[str, Markup]]  # the mean, and those that people ask for first

    @property
    def jumps(self) -> list[Jump]:
        """The jumps, one for each pair of commits, the most expensive first."""
        return largest(jump for trail in self.trails for jump in trail.jumps)


def _of_commits(held: CampaignData, catalogue: Catalogue, path: str, name: str) -> Chapter:
    ids = {row.id for one in held.line for row in one.rows.values()}
    title = f"Over {len(held.measured)} commits: {name}"
    body = _filled("commits.html", campaign=campaign_page(held, catalogue))
    return Chapter(path, title, body, dict.fromkeys(ids, "rows"))


def campaign_page(held: CampaignData, catalogue: Catalogue) -> CampaignPage:
    """Return what the page of a campaign shows."""
    first = {key: place for place, key in enumerate(_asked_first(catalogue))}
    trails = held.trails(lambda row: True)

    def place(trail: CommitTrail) -> int:
        row = next(row for one in held.line for row in one.rows.values() if row.name == trail.name)
        return first.get(row_key(row.id, row.params), len(first))

    trails.sort(key=place)
    mean = held.mean(catalogue)
    leading = [trail for trail in trails if place(trail) < PICTURED and trail.jumps]
    shown = [*([mean] if mean.points else []), *leading][: pictures.MOST]
    drawn = [("over-commits", inline(pictures.commits_picture(shown, "svg"), "over-commits"))]
    return CampaignPage(held, mean, trails, drawn if shown else [])


def _asked_first(catalogue: Catalogue) -> list[RowKey]:
    return [key for rows in screen(catalogue).values() for key in rows.values()]


def _filled(template: str, **values: object) -> Markup:
    """Fill a template of this package, which uses parts of the site's own."""
    environment = jinja2.Environment(
        loader=jinja2.ChoiceLoader(
            [
                jinja2.PackageLoader("tockmark_lab.over_time"),
                jinja2.PackageLoader("tockmark.site"),
            ]
        ),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
    )
    environment.filters |= {"number": number, "sentence": text.sentence}
    environment.globals |= {
        "cycles_words": commits_text.cycles_words,
        "history_cells": history_text.history_cells,
        "mean_line": commits_text.mean_line,
        "number": number,
        "trail_cells": commits_text.trail_cells,
    }
    return Markup(environment.get_template(template).render(values))
