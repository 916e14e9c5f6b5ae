# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Draws the pictures in docs/pictures/ that show single committed results.

A test draws them again and compares the bytes."""

from pathlib import Path

from tockmark.base.paths import DOCS, RESULTS
from tockmark.result import file
from tockmark.show.table import Named
from tockmark.site import plot
from tockmark.site.model import kernel_name
from tockmark.site.pictures import draw

FOLDER = DOCS / "pictures"
BASELINE = ["baseline-cw310"]
TOCK = ["tock-2.2-cw310", "tock-master-cw310"]
# The results in each picture.
PICTURES = {
    "kernels": ["opt/baseline-z", "opt/tock-2.2-z", "opt/tock-master-z"],
    "before-after": TOCK,
    "procedure-calls": BASELINE,
    "memory-bandwidth": BASELINE,
    "instruction-cache": BASELINE,
    "context-switch": BASELINE,
    "sweeps": BASELINE,
}


def generate() -> dict[Path, bytes]:
    """Return the content of every picture."""
    pictures = {}
    for name, results in PICTURES.items():
        every = [file.load(RESULTS / f"{result}.json").leading for result in results]
        named = [Named(kernel_name(result), result) for result in every]
        sheet = draw(named, [name])[name]
        pictures[FOLDER / f"{name}.svg"] = plot.rendered(sheet.figure, "svg")
    return pictures
