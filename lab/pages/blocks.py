# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Fills docs/trust.md and docs/method.md with what the lab knows of the simulator and the rule. A
page asks for a block as in tools/pages/tables.py:

    <!-- validation: lab/data/validation.json -->   what `tockmark-lab validate -o` has stored
    <!-- end of validation -->

    <!-- board: lab/data/cw310-omniglot.json -->    a board's published figures, and simulated
    <!-- end of board -->

    <!-- links: lab/data/robustness.json -->        how often links of one source are told apart
    <!-- end of links -->
"""

import json
from pathlib import Path

import msgspec
from markupsafe import Markup

from tables import Block, markdown, refreshed
from tockmark.base.paths import DOCS, ROOT
from tockmark.compare.limits import Limit
from tockmark_lab.validation import judge_rows, load_unexplained, load_validation, validation_text


def made() -> dict[Path, bytes]:
    """Return the pages that have such blocks."""
    pages = (DOCS / "trust.md", DOCS / "method.md")
    texts = {page: refreshed(page.read_text(encoding="utf-8"), BLOCKS) for page in pages}
    return {page: text.encode() for page, text in texts.items()}


def validation(argument: str) -> str:
    """Return what `tockmark-lab validate --show` prints of a stored validation."""
    rows = load_validation(ROOT / argument)
    report = validation_text(judge_rows(rows, load_unexplained()))
    return f"```text\n{report.rstrip()}\n```"


class BoardRow(msgspec.Struct, forbid_unknown_fields=True):
    """One loop of a program whose clock only ticks, as a board's log and the simulator have it."""

    name: str
    iterations: int
    board: int  # ticks that the log says
    simulated: int  # ticks that the simulator gives for the program as linked
    links: list[float]  # cycles an iteration of the same program in other links

    def cells(self, tick: float) -> list[str]:
        """Return cycles an iteration, at so many cycles a tick. The last tick may be cut off, so
        the board is within the links up to a tick."""
        tick /= self.iterations
        seen, simulated = self.board * tick, self.simulated * tick
        low, high = min([*self.links, simulated]) - tick, max([*self.links, simulated]) + tick
        if self.board == self.simulated:
            verdict = "equal"
        elif abs(self.board - self.simulated) == 1:
            verdict = "a tick apart"
        elif low <= seen <= high:
            verdict = "within"
        else:
            verdict = f"outside by {100 * max(low / seen - 1, seen / high - 1):.1f} %"
        ends = [min(self.links), max(self.links)] if self.links else []
        shown = [f"{value:.{1 if tick < 1 else 0}f}" for value in (seen, simulated, *ends)]
        return [Markup(self.name), *shown[:2], " to ".join(shown[2:]), verdict]


class TickingBoard(msgspec.Struct, forbid_unknown_fields=True):
    """The file of such a program; `said` names the logs and the images."""

    sources: dict[str, str] = msgspec.field(name="said")
    tick: int  # in cycles
    rows: list[BoardRow]


def board(argument: str) -> str:
    """Return a board's published loops beside the simulator's."""
    held = msgspec.json.decode((ROOT / argument).read_bytes(), type=TickingBoard)
    heads = ["loop", "board", "simulated", "in other links", "the board"]
    return markdown(heads, [row.cells(held.tick) for row in held.rows], words=range(5))


def links(argument: str) -> str:
    """Return how often links of one source are told apart, by kernel: of `make robustness`."""
    tries = json.loads((ROOT / argument).read_text(encoding="utf-8"))["parts"]["links"]["tries"]
    rows: dict[str, list[str]] = {}
    for attempt in tries:
        name = attempt["what"].rpartition(", ")[0].strip("`")
        came = [str(attempt["came"].get(limit.word, 0)) for limit in (Limit.SOFT, Limit.HARD)]
        rows.setdefault(name, [name]).extend([str(attempt["count"]), *came])
    heads = ["links", "pairs of single ones", "soft", "hard", "halves", "soft", "hard"]
    return markdown(heads, list(rows.values()), words=(0,))


BLOCKS: dict[str, Block] = {"validation": validation, "board": board, "links": links}
