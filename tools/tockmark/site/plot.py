# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The style of pictures. pictures.py decides what they show.

Pictures are readable in black and white: every line has its own marker and dashes. Every axis has a
unit, and the sources of the numbers are below the picture. Equal results give equal bytes.
"""

import io
import re
from collections.abc import Callable, Sequence
from textwrap import wrap
from typing import Any

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from tockmark.show.table import Named

FORMATS = ("svg", "png")
WIDTH = 4.8  # inches, readable on a phone
HEAD, FOOT = 44, 83  # characters of a line of the title, and of the sources
LETTERS, HANDLE = 70, 9  # characters of a legend's line, and of a label's handle
DPI = 120

# Colours of different lightness (after Okabe and Ito), with markers and dashes.
STYLES: list[dict[str, Any]] = [
    {"color": "#000000", "marker": "o", "linestyle": "-"},
    {"color": "#d55e00", "marker": "s", "linestyle": (0, (5, 2))},
    {"color": "#0072b2", "marker": "^", "linestyle": (0, (1, 1.5))},
    {"color": "#009e73", "marker": "D", "linestyle": (0, (5, 2, 1, 2))},
    {"color": "#cc79a7", "marker": "v", "linestyle": (0, (8, 2))},
    {"color": "#8c6d00", "marker": "x", "linestyle": (0, (3, 1, 1, 1, 1, 1))},
    {"color": "#56b4e9", "marker": "P", "linestyle": (0, (2, 4))},
    {"color": "#7f7f7f", "marker": "*", "linestyle": (0, (10, 3, 2, 3))},
]
GREY, DARK = "#777777", "#444444"
_ID = re.compile(rb'id="([a-z][0-9a-f]{10})"')
_REFERENCE = re.compile(rb'(id="|href="#|url\(#)([a-z][0-9a-f]{10})\b')

STYLE: Any = {
    "font.family": "DejaVu Sans",
    "font.size": 9,
    "axes.titlesize": 10,
    "axes.grid": True,
    "axes.axisbelow": True,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "grid.color": "#dddddd",
    "grid.linewidth": 0.6,
    "lines.linewidth": 1.3,
    "lines.markersize": 4,
    "legend.frameon": False,
    "legend.fontsize": 8,
    "figure.constrained_layout.h_pad": 0.08,  # inches
    "text.parse_math": False,  # a kernel's name may contain a dollar sign
    "svg.fonttype": "none",  # keeps text small and searchable
    "svg.hashsalt": "tockmark",
}


def source(named: Named | str, several: bool) -> str:
    """Return the source of numbers in one line: a result's provenance, or the given text."""
    line = named if isinstance(named, str) else named.result.provenance.line
    name = f"{named.name}: " if several and not isinstance(named, str) else ""
    return name + line.replace("simulated cw310", "simulated CW310")


class Sheet:
    """A picture: a title, a grid of panels, and the sources of the numbers."""

    def __init__(
        self,
        title: str,
        named: Sequence[Named | str],
        down: int = 1,
        across: int = 1,
        height: float = 3.2,
        conditions: list[str] | None = None,
    ) -> None:
        """Lay out the panels. `conditions` are added to the results' sources."""
        sources = [
            line
            for n, entry in enumerate(named)
            for more in [f" · {conditions[n]}" if conditions else ""]
            for line in wrap(source(entry, len(named) > 1) + more, FOOT)
        ]
        titles = wrap(title, HEAD)
        foot = 0.17 * len(sources)
        top = 0.17 + 0.18 * len(titles) + height * down
        self.figure = Figure(figsize=(WIDTH, top + foot), dpi=DPI, layout="constrained")
        FigureCanvasAgg(self.figure)
        parts: Any = self.figure.subfigures(2, 1, height_ratios=[top, foot])
        self.body, below = parts
        self.body.suptitle("\n".join(titles), fontsize=11, fontweight="bold")
        for n, line in enumerate(sources):
            below.text(
                *(0.012, 1 - (n + 0.5) / len(sources), line),
                **{"fontsize": 7.5, "color": DARK, "va": "center"},
            )
        self.grid = self.body.subplots(down, across, squeeze=False)
        self.panels: list[Axes] = list(self.grid.flat)

    def legend(self) -> None:
        """Draw one legend with the labels of all panels."""
        handles: dict[str, Any] = {}
        for axes in self.panels:
            drawn, labels = axes.get_legend_handles_labels()
            handles |= dict(zip(labels, drawn, strict=True))
        across = max(1, min(len(handles), LETTERS // (max(map(len, handles)) + HANDLE)))
        self.body.legend([*handles.values()], [*handles], loc="outside lower center", ncols=across)


Drawer = Callable[[list[Named]], Sheet | None]


def rendered(figure: Figure, form: str) -> bytes:
    """Return the bytes of the picture's file, without a date."""
    out = io.BytesIO()
    metadata = {"Date": None, "Creator": None} if form == "svg" else {"Software": None}
    with mpl.rc_context(STYLE):
        figure.savefig(out, format=form, metadata=metadata)
    if form != "svg":
        return out.getvalue()
    # Fonts of similar width, for readers without DejaVu Sans.
    svg = out.getvalue().replace(b"'DejaVu Sans'", b"'DejaVu Sans', Verdana, sans-serif")
    # Number the ids: matplotlib derives them from positions whose last digits vary.
    ids = {id_: b"i%d" % n for n, id_ in enumerate(dict.fromkeys(_ID.findall(svg)))}
    return _REFERENCE.sub(lambda match: match[1] + ids.get(match[2], match[2]), svg)


def in_legend(label: str) -> str:
    """Return a label that a legend shows: matplotlib omits labels that begin with an underscore,
    so an invisible character is put before them."""
    return f"\N{ZERO WIDTH SPACE}{label}" if label.startswith("_") else label
