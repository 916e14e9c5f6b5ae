# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Pictures as parts of a page: nothing but the drawing, its ids apart from those of all others."""

import re

from markupsafe import Markup

from tockmark.errors import TockmarkError
from tockmark.judge.history import Series
from tockmark.show import figures, history_plot, plot
from tockmark.show.plot import Named

SHOWN = 4  # results in one picture of a benchmark: more lines cannot be told apart


def drawn(named: list[Named], only: list[str] | None = None) -> list[tuple[str, Markup]]:
    """The pictures of results, by name."""
    return _inline(figures.draw(_leading(named), only))


def of_benchmark(named: list[Named], id_: str) -> list[tuple[str, Markup]]:
    """Those that show one benchmark alone."""
    there = [one for one in _leading(named) if any(row.id == id_ for row in one.result.rows)]
    return _inline(figures.of_benchmark(there[:SHOWN], id_))


def _leading(named: list[Named]) -> list[Named]:
    return [Named(one.name, one.result.leading) for one in named]


def _inline(sheets: dict[str, plot.Sheet]) -> list[tuple[str, Markup]]:
    return [(name, inline(plot.rendered(one, "svg"), name)) for name, one in sheets.items()]


def of_history(found: list[Series], name: str) -> Markup | None:
    """How rows went from run to run, if there are few enough for a picture."""
    try:
        return inline(history_plot.rendered(found, "svg"), name)
    except TockmarkError:
        return None


def inline(picture: bytes, name: str) -> Markup:
    """An SVG of matplotlib's as an element of a page. What text it has, matplotlib has escaped."""
    svg = picture.decode()
    svg = svg[svg.index("<svg") :]
    svg = re.sub(r"<metadata>.*?</metadata>|<style.*?</style>", "", svg, flags=re.DOTALL)
    svg = re.sub(r' xmlns(:\w+)?="[^"]*"', "", svg).replace("xlink:href", "href")
    svg = re.sub(r'(id="|href="#|url\(#)', rf"\g<1>{name}-", svg)
    label = name.replace("-", " ")
    told = rf'\1 role="img" aria-label="{label}"'
    return Markup(re.sub(r'(<svg[^>]*?) width="[^"]*"', told, svg, count=1))
