# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Rows as tables have them where both cache settings stand: one for each section and setting."""

from collections.abc import Iterable

from tockmark.result.model import ICACHE, Row
from tockmark.suite.catalogue import Catalogue


def tables(rows: Iterable[Row], catalogue: Catalogue) -> list[tuple[str, list[Row]]]:
    """The title and the rows of each, in the catalogue's order."""
    return [
        (section + (f", i-cache {ICACHE[setting]}" if setting is not None else ""), same)
        for section, found in catalogue.in_sections(rows, lambda row: row.id)
        for setting in ICACHE
        if (same := [row for row in found if row.icache is setting])
    ]
