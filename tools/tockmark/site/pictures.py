# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Pictures as parts of a page: nothing but the drawing, its ids apart from those of all others."""

import re

from markupsafe import Markup

from tockmark.errors import TockmarkError
from tockmark.judge.history import Series
from tockmark.show import figures, history_plot, plot
from tockmark.show.plot import Named
from tockmark.suite.select import Selection

OVER_ALL = ("before-after",)  # has a line a benchmark, and so tells nothing of one
SHOWN = 4  # results in one picture of a benchmark: more lines cannot be told apart


def drawn(named: list[Named], only: list[str] | None = None) -> list[tuple[str, Markup]]:
    """The pictures of results, by name."""
    leading = [Named(one.name, one.result.leading) for one in named]
    sheets = figures.draw(leading, only)
    return [(name, inline(plot.rendered(one, "svg"), name)) for name, one in sheets.items()]


def of_benchmark(named: list[Named], meant: Selection) -> list[tuple[str, Markup]]:
    """Those that show one benchmark alone."""
    some = [Named(one.name, one.result.only(meant)) for one in named]
    some = [one for one in some if one.result.table][:SHOWN]
    if not some:
        return []
    return drawn(some, [name for name in figures.FIGURES if name not in OVER_ALL])


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
