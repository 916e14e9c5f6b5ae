# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Chapters of a site: rows over the runs of a history, and over the commits of a campaign."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import jinja2
from markupsafe import Markup

from tockmark.show import text
from tockmark.site.model import Site
from tockmark.site.pages import number
from tockmark.site.pictures import inline
from tockmark.site.render import Chapter
from tockmark.suite.catalogue import Catalogue, RowKey, row_key
from tockmark.suite.selection import screen, select
from tockmark_lab.over_time import commits_text, history, history_text, pictures
from tockmark_lab.over_time.commits import (
    TOCK,
    CampaignData,
    CommitPoint,
    CommitTrail,
    Jump,
    is_campaign_file,
    largest,
    load_campaign,
)
from tockmark_lab.over_time.history import HistoryRun, RowHistory

PANELS = 4  # rows of a campaign's picture, the mean among them
PICTURED = 24  # rows of the first screen that may be in a campaign's picture


def chapters(site: Site, files: Sequence[Path]) -> tuple[list[Chapter], list[str]]:
    """Return a chapter for each history or campaign, and a message for each line that it skips."""
    pages, problems = list[Chapter](), list[str]()

    def address(name: str) -> str:
        """Return the file name of a page that no other chapter has."""
        several = sum(chapter.path.startswith(name) for chapter in pages)
        return f"{name}{f'-{several + 1}' if several else ''}.html"

    for path in files:
        if is_campaign_file(path):
            data, torn = load_campaign(path)
            pages.append(_campaign_chapter(data, site.catalogue, address("commits")))
        else:
            runs, torn = history.load(path)
            pages.append(_history_chapter(runs, site, address("history")))
        problems += torn
    return pages, problems


def _history_chapter(runs: Sequence[HistoryRun], site: Site, path: str) -> Chapter:
    """Return the page of a history: the rows that changed, a table for each setting."""
    selection = select(site.catalogue, None, history.rows_in(runs))
    tables: dict[str, list[RowHistory]] = {}
    for series in history.series(runs, selection):
        if any(point.changed for point in series.points):
            tables.setdefault(series.setting, []).append(series)
    links: dict[str, str] = {}
    for number_, histories in enumerate(tables.values(), 1):
        for series in histories:
            links.setdefault(series.label.split()[0].rstrip(","), f"runs-{number_}")
    body = _filled("history.html", tables=tables, runs=runs)
    words = "history runs results changes over time"
    return Chapter(path, "Over runs", body, links, "Over runs", words)


@dataclass(frozen=True)
class CampaignPage:
    """The contents of a campaign's page."""

    data: CampaignData
    mean: CommitTrail
    trails: list[CommitTrail]  # rows of the first screen come first
    pictures: list[tuple[str, Markup]]  # the mean, and rows of the first screen that jump

    @property
    def setting(self) -> str:
        """The conditions of all points, in words: those that the trails share."""
        settings = (trail.setting for trail in (self.mean, *self.trails) if trail.setting)
        return f"{next(settings, 'no commit was measured')}, i-cache off"

    @property
    def means(self) -> dict[str, CommitPoint]:
        """The mean of each commit that has one, by its hash."""
        return {point.commit.sha: point for point in self.mean.points}

    @property
    def jumps(self) -> list[Jump]:
        """The jumps, one per pair of commits, the most expensive first."""
        return largest(jump for trail in self.trails for jump in trail.jumps)


def _campaign_chapter(data: CampaignData, catalogue: Catalogue, path: str) -> Chapter:
    ids = {row.id for measurement in data.line for row in measurement.rows.values()}
    dates = sorted(measured.commit.date[:10] for measured in data.all_commits)
    title = f"Over {len(data.measured)} commits"
    title += f", {dates[0]} to {dates[-1]}" if dates else ""
    body = _filled("commits.html", campaign=campaign_page(data, catalogue))
    words = "history commits pull requests jumps changes over time"
    return Chapter(path, title, body, dict.fromkeys(ids, "rows"), "Over commits", words)


def campaign_page(data: CampaignData, catalogue: Catalogue) -> CampaignPage:
    """Return the contents of a campaign's page."""
    first = {key: position for position, key in enumerate(_asked_first(catalogue))}
    trails = data.trails(lambda row: True)

    def rank(trail: CommitTrail) -> int:
        row = next(
            row
            for measurement in data.line
            for row in measurement.rows.values()
            if row.name == trail.name
        )
        return first.get(row_key(row.id, row.params), len(first))

    trails.sort(key=rank)
    mean = data.mean(catalogue)
    leading = [trail for trail in trails if rank(trail) < PICTURED and trail.jumps]
    shown = [*([mean] if mean.points else []), *leading][:PANELS]
    drawn = [("over-commits", inline(pictures.commits_picture(shown, "svg"), "over-commits"))]
    return CampaignPage(data, mean, trails, drawn if shown else [])


def _asked_first(catalogue: Catalogue) -> list[RowKey]:
    return [key for rows in screen(catalogue).values() for key in rows.values()]


def _filled(template: str, **values: object) -> Markup:
    """Fill a template of this package. It may use parts of the site's templates."""
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
        "TOCK": TOCK,
        "trail_cells": commits_text.trail_cells,
    }
    return Markup(environment.get_template(template).render(values))
