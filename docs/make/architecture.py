# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Draws docs/pictures/architecture.svg: the tool's layers, and which imports which. All of it is
read from the code: the imports, and what each layer says of itself.

A layer stands one step above the highest that it imports. Those that the most others build on are
on the left. An arrow that follows from others is left out.
"""

import textwrap
from functools import cache
from html import escape
from pathlib import Path
from typing import NamedTuple

from layers import BASE, ROOT, TOP, direct, edges, reached, says

PICTURE = ROOT / "docs" / "pictures" / "architecture.svg"
WIDTH, HEIGHT, GAP = 400, 58, 24  # of a box, and between boxes
LEFT, RIGHT = 20, 560  # where boxes begin
LETTERS = 56  # that fit into a box's line
LANE = 16  # between two lines that run down between the columns
STEP = 8  # between two arrows at a box's side, at least
HEAD = 62  # what the headings take

STYLE = """
  text { font-family: Helvetica, Arial, sans-serif; font-size: 12px; fill: #222 }
  .name { font-size: 14px; font-weight: bold }
  .box { fill: #eef3fa; stroke: #35507a }
  .base { fill: #e6e6e6; stroke: #555 }
  .line { fill: none; stroke: #35507a; stroke-width: 1.3; marker-end: url(#arrow) }
"""


def made() -> dict[Path, bytes]:
    """Return the picture of the imports that are there."""
    return {PICTURE: picture(edges()).encode()}


class LayerBox(NamedTuple):
    """A layer on the sheet."""

    name: str
    x: int
    y: int
    width: int = WIDTH


def levels(among: set[tuple[str, str]]) -> dict[str, int]:
    """Count the steps of each layer above the base."""

    @cache
    def level(name: str) -> int:
        return 1 + max((level(b) for a, b in among if a == name), default=-1)

    return {name: level(name) for pair in among for name in pair}


def placed(among: set[tuple[str, str]]) -> dict[str, LayerBox]:
    """Place the layers: a line for each level, the highest at the top."""
    steps = levels(among)
    boxes: dict[str, LayerBox] = {}
    y = HEAD
    for step in range(max(steps.values()), 0, -1):
        names = sorted(
            (name for name in steps if steps[name] == step),
            key=lambda name: (-sum(name in reached(other, among) for other in steps), name),
        )
        boxes[names[0]] = LayerBox(names[0], LEFT, y)
        for place, name in enumerate(names[1:]):
            boxes[name] = LayerBox(name, RIGHT, y + place * (HEIGHT + GAP))
        y += max(1, len(names) - 1) * (HEIGHT + GAP)
    boxes["base"] = LayerBox("base", LEFT, y, RIGHT + WIDTH - LEFT)
    return boxes


def lines(boxes: dict[str, LayerBox], among: set[tuple[str, str]]) -> list[str]:
    """Lead the arrows: straight down to the next box below, else in a lane between the columns."""
    found, bent = [], []
    for one, other in sorted(among):
        a, b = boxes[one], boxes[other]
        under = a.y + HEIGHT + GAP == b.y or other == "base"
        if under and (a.x == b.x or other == "base"):
            x = a.x + a.width // 2
            found.append(f"M{x} {a.y + HEIGHT} V{b.y - 2}")
        else:
            bent.append((a, b))
    # Where the arrows touch a box's side: in the order of their other ends, so that few cross.
    ports: dict[tuple[LayerBox, LayerBox, str], int] = {}
    for box in boxes.values():
        touching = [(b.y, (a, b, "from")) for a, b in bent if a == box]
        touching += [(a.y, (a, b, "to")) for a, b in bent if b == box]
        for place, (_, port) in enumerate(sorted(touching)):
            side = 0 if box.x == LEFT else STEP // 2  # so that no two lie on each other
            ports[port] = box.y + side + HEIGHT * (place + 1) // (len(touching) + 1) // STEP * STEP
    lanes: list[list[range]] = []
    for a, b in sorted(bent, key=lambda pair: (pair[1].y - pair[0].y, pair)):
        start, end = ports[a, b, "from"], ports[a, b, "to"]
        span = range(start - LANE, end + LANE)
        free = (
            at
            for at, taken in enumerate(lanes)
            if all(span.stop <= one.start or one.stop <= span.start for one in taken)
        )
        lane = next(free, len(lanes))
        if lane == len(lanes):
            lanes.append([])
        lanes[lane].append(span)
        x = LEFT + WIDTH + LANE * (2 + lane)
        sides = [box.x + box.width if box.x == LEFT else box.x for box in (a, b)]
        tip = 2 if b.x == LEFT else -2
        found.append(f"M{sides[0]} {start} H{x} V{end} H{sides[1] + tip}")
    return found


def drawn(box: LayerBox) -> list[str]:
    """Draw a layer's box with its name, and what it says of itself."""
    if box.name == "base":
        kind, what = "base", [f"what all may use: {', '.join(BASE[1:])}"]
    else:
        kind, what = "box", textwrap.wrap(says(box.name), LETTERS)[:2]
    name = f"{box.name}.py" if box.name in TOP else box.name
    return [
        f'<rect class="{kind}" x="{box.x}" y="{box.y}" width="{box.width}" height="{HEIGHT}"/>',
        f'<text class="name" x="{box.x + 10}" y="{box.y + 19}">{escape(name)}</text>',
        *(
            f'<text x="{box.x + 10}" y="{box.y + 36 + 15 * at}">{escape(line)}</text>'
            for at, line in enumerate(what)
        ),
    ]


def picture(among: set[tuple[str, str]]) -> str:
    """Return the SVG of these imports."""
    boxes = placed(among)
    right, bottom = RIGHT + WIDTH + LEFT, boxes["base"].y + HEIGHT + LEFT
    heads = [
        "The layers of tools/tockmark, and which imports which",
        "An arrow leads from a layer to one that it imports. Arrows that follow from others are"
        " left out.",
    ]
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {right} {bottom}"'
            f' width="{right}" height="{bottom}" role="img" aria-label="{heads[0]}">',
            "<!-- SPDX-License-Identifier: Apache-2.0 OR MIT. Made by docs/make. -->",
            f"<style>{STYLE}</style>",
            '<marker id="arrow" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="8"'
            ' markerHeight="8" orient="auto"><path d="M0 0 L8 4 L0 8 z" fill="#35507a"/></marker>',
            f'<rect width="{right}" height="{bottom}" fill="#fff"/>',
            f'<text class="name" x="{LEFT}" y="26">{heads[0]}</text>',
            f'<text x="{LEFT}" y="45">{heads[1]}</text>',
            *(f'<path class="line" d="{line}"/>' for line in lines(boxes, direct(among))),
            *(text for box in boxes.values() for text in drawn(box)),
            "</svg>",
            "",
        ]
    )
