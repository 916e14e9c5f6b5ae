# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Show a profile: as tables by phase and by function, as a listing of the sample, as folded stacks
and as a flame graph.

The flame graph is a self-contained SVG file. Each function is a box on top of its caller, as wide
as its inclusive cycles. Colours are phases. Boxes are in the order of their first run; a
tooltip describes each.
"""

import re
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar
from xml.sax.saxutils import escape

from tockmark.base import paths, processes
from tockmark.profile.file import Share, StoredProfile, sum_shares
from tockmark.profile.sample import CAUSES, PHASES, ChargedStep
from tockmark.show import text
from tockmark.suite.catalogue import OVERHEAD

COLUMNS = (
    *("cycles", "%", "instr", "exec", "fetch", "load/\nstore"),
    *("branch", "mul/\ndiv", "trap/\nCSR", "in\nbody"),
)
SHOWN = 24  # functions; the last line sums up the rest

WIDTH, MARGIN, ROW, HEAD, LEGEND = 1200, 12, 22, 82, 34
FONT = "font-family=\"'DejaVu Sans', Verdana, Arial, sans-serif\""
CHAR = 6.9  # upper bound of the width of a character of 11.5 px
_PAINTS = ("#9ecae9", "#f28e5c", "#f6cf71", "#a1d99b", "#c9b3e6", "#f4a6c0", "#e8b07a")
COLOURS = dict(zip(PHASES, _PAINTS, strict=True))
_FILE = re.compile(r" \([^()]*/[^()]*\)$")  # after a function's name
Shown = TypeVar("Shown")


def tables(profile: StoredProfile) -> str:
    """Format the table of phases, in their order, and that of functions, most expensive first."""
    phases = sorted(profile.phases, key=lambda share: PHASES.index(share.name))
    functions = first_rows(profile.functions, SHOWN, sum_shares)
    by_phase = _table("phase", phases, profile.cycles)
    return "\n".join([*by_phase, "", *_table("function", functions, profile.cycles)])


def first_rows(
    every: Sequence[Shown], most: int, summed: Callable[[Sequence[Shown], str], Shown]
) -> list[Shown]:
    """Return at most `most` rows; `summed` adds up those that do not fit in the last one."""
    if len(every) <= most:
        return [*every]
    rest = every[most - 1 :]
    return [*every[: most - 1], summed(rest, f"{len(rest)} more")]


def _table(subject: str, shares: Sequence[Share], whole: int) -> list[str]:
    table = named_table(subject, COLUMNS)
    total = sum_shares(shares, "sum")
    for share in (*shares, total):
        if share is total:
            table.add(text.RULE)
        part = text.percentage(share.cycles / whole, digits=1)
        causes = [share.causes.get(cause) for cause in CAUSES]
        counts = (share.cycles, part, str(share.instructions), *causes, share.in_body)
        table.add(*figure_cells(*counts), last_folder(share.name))
    return table.text()


def named_table(subject: str, columns: Sequence[str]) -> text.Table:
    """Return an empty table of figures whose last column is the name of each row."""
    heads = [text.TableColumn(head, spare=head in ("\nbase", "\nnew")) for head in columns]
    return text.Table([*heads, text.TableColumn(f"\n{subject}", gap=2, left=True)])


def last_folder(name: str) -> str:
    """Return a function's name with only the last folder of its file."""
    return re.sub(r"\([^()]+/([^/()]+/[^/()]+)\)$", r"(…/\1)", name)


def figure_cells(*figures: object) -> list[str]:
    """Return the cells of figures; empty ones become dashes."""
    return [str(figure or text.NONE) for figure in figures]


def listing(sample: Sequence[ChargedStep], elves: list[Path]) -> Iterator[str]:
    """Yield a line for each instruction of the sample: its cycles, address, disassembly, function,
    phase and causes."""
    instructions = _disassembly(elves)
    yield f"{'cycles':>6} {'address':8}  {'instruction':34} {'function, phase':40} charged\n"
    for step in sample:
        where = f"{step.context.stack[-1].name}, {step.context.phase}"
        assembly = instructions.get(step.step.pc, f"{step.step.insn:#x}")
        why = ", ".join(sorted(f"{cause} {cycles}" for cause, cycles in step.charges))
        yield f"{step.cycles:6} {step.step.pc:08x}  {assembly:34} {where:40} {why}\n"


def _disassembly(elves: list[Path]) -> dict[int, str]:
    line = re.compile(r"\s*([0-9a-f]+):\t[0-9a-f ]+\t(.*)")
    instructions: dict[int, str] = {}
    with tempfile.TemporaryDirectory() as folder:
        for elf in elves:
            # The attributes name no Zicsr; without them, objdump decodes the CSR instructions.
            bare = str(Path(folder) / elf.name)
            strip = [paths.OBJCOPY, "--remove-section=.riscv.attributes", str(elf), bare]
            if processes.run(strip).code:
                continue  # tockmark reads some files that binutils cannot
            for text_line in processes.run([paths.OBJDUMP, "-d", bare]).text.splitlines():
                if match := line.match(text_line):
                    instructions[int(match[1], 16)] = " ".join(
                        re.sub("[#<].*", "", match[2]).split()
                    )
    return instructions


def folded(profile: StoredProfile) -> str:
    """Return the stacks in the format of flamegraph.pl: `a;b;c 12`."""
    cycles: Counter[tuple[int, ...]] = Counter()
    for chain in profile.stacks:
        cycles[chain.frames] += chain.cycles
    names = [_FILE.sub("", frame).replace(";", ":") for frame in profile.frames]
    return "".join(
        f"{';'.join(names[frame] for frame in stack)} {own}\n" for stack, own in cycles.items()
    )


@dataclass
class FlameBox:
    """A function in a chain of callers."""

    function: str  # with its file
    phase: str = ""
    cycles: int = 0
    called: dict[str, "FlameBox"] = field(default_factory=dict)

    @property
    def colour(self) -> str:
        """The colour of its phase, or of its first callee's if it has no own cycles."""
        if self.phase or not self.called:
            return COLOURS.get(self.phase, "#dddddd")
        return next(iter(self.called.values())).colour

    @property
    def depth(self) -> int:
        """The number of boxes stacked on each other, including this one."""
        return 1 + max((box.depth for box in self.called.values()), default=0)


def total_in_words(
    profile: StoredProfile, reading: float | None = None, overhead: str = OVERHEAD
) -> str:
    """Describe the sample's total, and how it leads to the row's net if the overhead is known;
    `overhead` is the row that measures it."""
    whole = profile.cycles
    words = f"One sample takes {whole} cycles, {profile.in_body} of them in the body."
    if reading is None:
        return words
    return (
        f"{words} Net: {whole} - {reading:g} ({overhead}) = {whole - reading:g}."
        " `run` reports the median of many samples, or a slope."
    )


def flame_graph(profile: StoredProfile, subtitle: str, total: str) -> str:
    """Return a profile with stacks as SVG; `total` describes the whole."""
    root = FlameBox(profile.label)
    for chain in profile.stacks:
        box = root
        box.cycles += chain.cycles
        for frame in chain.frames:
            function = profile.frames[frame]
            box = box.called.setdefault(function, FlameBox(function))
            box.cycles += chain.cycles
        box.phase = chain.phase
    base = HEAD + (root.depth - 1) * ROW
    height = base + ROW + LEGEND
    return "\n".join(
        [
            '<?xml version="1.0" encoding="UTF-8"?>',
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{height}"'
            f' viewBox="0 0 {WIDTH} {height}" {FONT} font-size="11.5">',
            f'<rect width="{WIDTH}" height="{height}" fill="#ffffff"/>',
            f'<text x="{MARGIN}" y="24" font-size="17" font-weight="bold">{escape(root.function)}:'
            f" {root.cycles} cycles of one sample</text>",
            f'<text x="{MARGIN}" y="44" fill="#555555">{escape(subtitle)}</text>',
            f'<text x="{MARGIN}" y="63" fill="#222222">{escape(total)}</text>',
            *_boxes(root, MARGIN, base, (WIDTH - 2 * MARGIN) / root.cycles, root.cycles),
            *_legend(profile, height - 12),
            "</svg>\n",
        ]
    )


def _boxes(box: FlameBox, x: float, y: int, scale: float, whole: int) -> Iterator[str]:
    width = box.cycles * scale
    share = f"{box.cycles} cycles, {box.cycles / whole:.1%}"
    yield f"<g><title>{escape(f'{box.function}: {share}')}</title>"
    yield (
        f'<rect x="{x:.1f}" y="{y}" width="{max(width - 0.8, 0.4):.1f}" height="{ROW - 1}"'
        f' rx="2" fill="{box.colour}"/>'
    )
    if words := _words(box, int((width - 8) / CHAR)):
        yield f'<text x="{x + 4:.1f}" y="{y + 15}">{escape(words)}</text>'
    yield "</g>"
    for inner in box.called.values():
        yield from _boxes(inner, x, y - ROW, scale, whole)
        x += inner.cycles * scale


def _words(box: FlameBox, room: int) -> str:
    """Return the label of a box: the name and cycles, or what fits of the name."""
    name = _FILE.sub("", box.function)
    for words in (f"{name} {box.cycles}", name):
        if len(words) <= room:
            return words
    return f"{name[: room - 1]}…" if room >= 4 else ""


def _legend(profile: StoredProfile, y: int) -> Iterator[str]:
    cycles = {share.name: share.cycles for share in profile.phases}
    x = float(MARGIN)
    for phase in PHASES:
        if phase in cycles:
            words = f"{phase} {cycles[phase]}"
            yield (
                f'<rect x="{x:.0f}" y="{y - 10}" width="12" height="12" rx="2"'
                f' fill="{COLOURS[phase]}"/><text x="{x + 17:.0f}" y="{y}">{words}</text>'
            )
            x += 17 + len(words) * CHAR + 22
