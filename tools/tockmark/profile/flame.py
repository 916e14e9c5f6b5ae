# SPDX-License-Identifier: Apache-2.0 OR MIT
"""A flame graph as one SVG file that needs nothing else: a box a function, as wide as its cycles
and those of what it called, on top of its caller. Colours are phases; boxes stand in the order in
which they first ran. Pointing at a box tells what it is.
"""

from dataclasses import dataclass, field
from xml.sax.saxutils import escape

from tockmark.profile import attribute
from tockmark.profile.attribute import Profile
from tockmark.profile.file import StoredProfile
from tockmark.profile.symbols import Frame

WIDTH, MARGIN, ROW, HEAD, LEGEND = 1200, 12, 22, 82, 34
FONT = "font-family=\"'DejaVu Sans', Verdana, Arial, sans-serif\""
CHAR = 6.9  # the width of a character of 11.5 px, on the safe side
COLOURS = {
    attribute.APP: "#9ecae9",
    attribute.ENTRY: "#f28e5c",
    attribute.KERNEL: "#f6cf71",
    attribute.CAPSULE: "#a1d99b",
    attribute.SCHEDULER: "#c9b3e6",
    attribute.PMP: "#f4a6c0",
    attribute.RETURN: "#e8b07a",
}


@dataclass
class Node:
    """A function in one chain of callers."""

    frame: Frame
    phase: str = ""
    cycles: int = 0
    children: dict[Frame, "Node"] = field(default_factory=dict)

    def colour(self) -> str:
        """That of its phase; one without cycles of its own takes that of what it called first."""
        if self.phase or not self.children:
            return COLOURS.get(self.phase, "#dddddd")
        return next(iter(self.children.values())).colour()

    def depth(self) -> int:
        return 1 + max((child.depth() for child in self.children.values()), default=0)


def tree(profile: Profile, name: str) -> Node:
    """All stacks under one root."""
    root = Node(Frame(name))
    for charge in sorted(profile.charges, key=lambda charge: charge.step):
        place = profile.places[charge.step]
        node = root
        node.cycles += charge.cycles
        for frame in place.stack:
            node = node.children.setdefault(frame, Node(frame))
            node.cycles += charge.cycles
        node.phase = place.phase  # its own cycles tell better than those of what it called
    return root


def of_stored(stored: StoredProfile) -> Node | None:
    """The same of a profile as its file has it; None if that holds no stacks."""
    root = Node(Frame(stored.label))
    frames = [_frame(text) for text in stored.frames]
    for chain in stored.stacks:
        node = root
        node.cycles += chain.cycles
        for place in chain.frames:
            node = node.children.setdefault(frames[place], Node(frames[place]))
            node.cycles += chain.cycles
        node.phase = chain.phase
    return root if stored.stacks else None


def _frame(text: str) -> Frame:
    name, _, file = text.partition(" (")
    return Frame(name, file.removesuffix(")"))


def flame_told(profile: Profile, reading: float | None) -> str:
    """What the sample's total is, and how it becomes the table's number. `reading`: cycles of
    time.read."""
    whole = profile.sample.cycles
    body = sum(line.in_body for line in profile.by(lambda place: place.phase).values())
    said = total_of(whole, body)
    if reading is None:
        return said
    return (
        f"{said} Net: {whole} - {reading:g} (time.read) = {whole - reading:g}."
        " The table has the median of many samples, or a slope."
    )


def total_of(whole: int, body: int) -> str:
    """What the cycles of a sample are, of which so many are its body's."""
    return f"{whole} cycles are one sample with its readings; the body took {body}."


def svg(profile: Profile, name: str, subtitle: str, total: str) -> str:
    """The picture; `total` says what its whole is."""
    lines = profile.by(lambda place: place.phase)
    cycles = {phase: line.cycles for phase, line in lines.items()}
    return drawn(tree(profile, name), cycles, name, subtitle, total)


def drawn(root: Node, cycles: dict[str, int], name: str, subtitle: str, total: str) -> str:
    """The picture of a tree, with the cycles of each phase below it."""
    rows = root.depth()
    base = HEAD + (rows - 1) * ROW
    height = base + ROW + LEGEND
    boxes: list[str] = []
    _boxes(root, MARGIN, base, (WIDTH - 2 * MARGIN) / root.cycles, root.cycles, boxes)
    return "\n".join(
        [
            '<?xml version="1.0" encoding="UTF-8"?>',
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{height}"'
            f' viewBox="0 0 {WIDTH} {height}" {FONT} font-size="11.5">',
            f'<rect width="{WIDTH}" height="{height}" fill="#ffffff"/>',
            f'<text x="{MARGIN}" y="24" font-size="17" font-weight="bold">{escape(name)}:'
            f" {root.cycles} cycles of one sample</text>",
            f'<text x="{MARGIN}" y="44" fill="#555555">{escape(subtitle)}</text>',
            f'<text x="{MARGIN}" y="63" fill="#222222">{escape(total)}</text>',
            *boxes,
            *_legend(cycles, height - 12),
            "</svg>\n",
        ]
    )


def _boxes(node: Node, x: float, y: int, scale: float, whole: int, out: list[str]) -> None:
    width = node.cycles * scale
    share = f"{node.cycles} cycles, {node.cycles / whole:.1%}"
    out.append(f"<g><title>{escape(f'{node.frame}: {share}')}</title>")
    out.append(
        f'<rect x="{x:.1f}" y="{y}" width="{max(width - 0.8, 0.4):.1f}" height="{ROW - 1}"'
        f' rx="2" fill="{node.colour()}"/>'
    )
    text = _fitting(node, width - 8)
    if text:
        out.append(f'<text x="{x + 4:.1f}" y="{y + 15}">{escape(text)}</text>')
    out.append("</g>")
    for child in node.children.values():
        _boxes(child, x, y - ROW, scale, whole, out)
        x += child.cycles * scale


def _fitting(node: Node, width: float) -> str:
    """The name, with its cycles if there is room; shortened if it must be, or nothing."""
    room = int(width / CHAR)
    for text in (f"{node.frame.name} {node.cycles}", node.frame.name):
        if len(text) <= room:
            return text
    return f"{node.frame.name[: room - 1]}…" if room >= 4 else ""


def _legend(cycles: dict[str, int], y: int) -> list[str]:
    out: list[str] = []
    x = float(MARGIN)
    for phase in attribute.PHASES:
        if phase in cycles:
            text = f"{phase} {cycles[phase]}"
            out.append(
                f'<rect x="{x:.0f}" y="{y - 10}" width="12" height="12" rx="2"'
                f' fill="{COLOURS[phase]}"/><text x="{x + 17:.0f}" y="{y}">{text}</text>'
            )
            x += 17 + len(text) * CHAR + 22
    return out
