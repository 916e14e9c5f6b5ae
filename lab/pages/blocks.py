# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Fill the blocks of docs/trust.md and docs/method.md that show the lab's results. A page asks for
a block as in tools/pages/tables.py:

    <!-- validation: lab/data/validation.json -->   the results of `tockmark-lab validate -o`
    <!-- end of validation -->

    <!-- board: lab/data/cw310-omniglot.json -->    a board's published figures, and the simulator's
    <!-- end of board -->

    <!-- alarms: lab/data/false-alarms.json -->     how often links of one source differ by the rule
    <!-- end of alarms -->
"""

from pathlib import Path

import msgspec
from markupsafe import Markup

from tables import Block, markdown, refreshed
from tockmark.base.paths import DOCS, ROOT
from tockmark_lab.false_alarms import load as load_alarms
from tockmark_lab.validation import judge_rows, load_unexplained, load_validation, validation_text


def generate() -> dict[Path, bytes]:
    """Return the whole pages with their blocks filled, by path."""
    pages = (DOCS / "trust.md", DOCS / "method.md")
    texts = {page: refreshed(page.read_text(encoding="utf-8"), BLOCKS) for page in pages}
    return {page: text.encode() for page, text in texts.items()}


def validation(argument: str) -> str:
    """Return the output of `tockmark-lab validate --show` for a stored validation."""
    rows = load_validation(ROOT / argument)
    report = validation_text(judge_rows(rows, load_unexplained()))
    return f"```text\n{report.rstrip()}\n```"


class BoardRow(msgspec.Struct, forbid_unknown_fields=True):
    """A loop of a program with a coarse clock: its time on a board and on the simulator."""

    name: str
    iterations: int
    board: int  # ticks in the board's log
    simulated: int  # ticks on the simulator, for the same image
    links: list[float]  # cycles per iteration in other links of the program

    def cells(self, tick: float) -> list[str]:
        """Return the row's cells in cycles per iteration; `tick` is in cycles. The last tick may be
        cut off, so a board within one tick of the links counts as within."""
        tick /= self.iterations
        seen, simulated = self.board * tick, self.simulated * tick
        low, high = min([*self.links, simulated]) - tick, max([*self.links, simulated]) + tick
        if self.board == self.simulated:
            verdict = "equal"
        elif abs(self.board - self.simulated) == 1:
            verdict = "one tick off"
        elif low <= seen <= high:
            verdict = "within"
        else:
            verdict = f"outside by {100 * max(low / seen - 1, seen / high - 1):.1f} %"
        ends = [min(self.links), max(self.links)] if self.links else []
        shown = [f"{value:.{1 if tick < 1 else 0}f}" for value in (seen, simulated, *ends)]
        return [Markup(self.name), *shown[:2], " to ".join(shown[2:]), verdict]


class TickingBoard(msgspec.Struct, forbid_unknown_fields=True):
    """The file of such a program."""

    sources: dict[str, str] = msgspec.field(name="said")  # logs and images
    tick: int  # in cycles
    rows: list[BoardRow]


def board(argument: str) -> str:
    """Return a table that compares a board's published loops with the simulator."""
    measured = msgspec.json.decode((ROOT / argument).read_bytes(), type=TickingBoard)
    heads = ["loop", "board", "simulated", "in other links", "the board"]
    return markdown(heads, [row.cells(measured.tick) for row in measured.rows], words=range(5))


def alarms(argument: str) -> str:
    """Return a table, by kernel, of how often links of one source differ beyond a limit."""
    rows = []
    for kernel in load_alarms(ROOT / argument):
        counts = [
            str(count)
            for part in (kernel.single, kernel.sets)
            for count in (part.pairs, part.soft, part.hard)
        ]
        rows.append([f"{kernel.kernel}, {kernel.opt_level}", str(len(kernel.links)), *counts])
    heads = [
        "kernel",
        "links",
        "pairs of single ones",
        "soft",
        "hard",
        "pairs of four",
        "soft",
        "hard",
    ]
    return markdown(heads, rows, words=(0,))


BLOCKS: dict[str, Block] = {"validation": validation, "board": board, "alarms": alarms}
