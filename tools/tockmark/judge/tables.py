# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Rows as tables have them where cache settings and languages stand together: one table for each
section and setting."""

from collections.abc import Iterable

from tockmark.result.model import ICACHE, Row
from tockmark.suite.catalogue import LANGS, Catalogue, aside


def tables(rows: Iterable[Row], catalogue: Catalogue) -> list[tuple[str, list[Row]]]:
    """The title and the rows of each, in the catalogue's order."""
    return [
        (
            section + (f", i-cache {ICACHE[setting]}" if setting is not None else "") + aside(lang),
            same,
        )
        for section, found in catalogue.in_sections(rows, lambda row: row.id)
        for lang in LANGS
        for setting in ICACHE
        if (same := [row for row in found if (row.icache, row.lang) == (setting, lang)])
    ]
