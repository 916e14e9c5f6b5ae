# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Draws the pictures of docs/pictures/ that show committed results by themselves. A test draws them
again and compares the bytes."""

from pathlib import Path

from tockmark.base.paths import DOCS, RESULTS
from tockmark.result import file
from tockmark.show.table import Named
from tockmark.site import plot
from tockmark.site.pictures import draw

FOLDER = DOCS / "pictures"
ONE = ["baseline-cw310"]
TOCK = ["tock-2.2-cw310", "tock-master-cw310"]
# A picture, and the results that it shows.
PICTURES = {
    "kernels": [*ONE, *TOCK],
    "before-after": TOCK,
    "distributions": TOCK,
    "layouts": ["links/tock-2.2", "opt/baseline-3"],
    "procedure-calls": ONE,
    "memory-bandwidth": ONE,
    "instruction-cache": ONE,
    "context-switch": ONE,
    "sweeps": ONE,
}


def made() -> dict[Path, bytes]:
    """Return every picture as it should be."""
    pictures = {}
    for name, results in PICTURES.items():
        paths = [RESULTS / f"{result}.json" for result in results]
        named = [Named(path.stem, file.load(path).leading) for path in paths]
        sheet = draw(named, [name])[name]
        pictures[FOLDER / f"{name}.svg"] = plot.rendered(sheet.figure, "svg")
    return pictures
