# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Puts into the pages what they show: what the tool prints of committed results, and the benchmarks
of the catalogue; and writes the schema of the result file.

A page asks for it with a line, and what stands between that line and the closing one is replaced:

    <!-- table: results/x.json -->                  the table of a result
    <!-- validation: results/v.json -->             what `tockmark dev validate -o` has stored
    <!-- end of table -->                           closes these two

    <!-- output: tockmark ci gate a.json b.json --> the command, its output, its exit code if not 0
    <!-- end of output -->

    <!-- benchmarks: SECTION -->                    the benchmarks of a section of the catalogue
    <!-- end of benchmarks -->

    <!-- added: a.json b.json c.json -->            what one call costs in a, and what b and c add
    <!-- end of added -->

    <!-- board: results/x.json -->                  a board's published figures, and simulated
    <!-- end of board -->

    <!-- links: docs/data/robustness.json -->       how often links of one source are told apart
    <!-- end of links -->

    <!-- historical: results -->                   results of simulators that are not today's
    <!-- end of historical -->

    <!-- exits: all -->                             the exit codes of every verb
    <!-- end of exits -->
"""

import json
import os
import re
import shlex
import subprocess
import sys
import textwrap
from collections.abc import Callable
from operator import attrgetter
from pathlib import Path

import msgspec
from markupsafe import Markup

from committed import markdown, retired
from tockmark.cli.app import PROGRAM
from tockmark.compare.limits import Level
from tockmark.paths import DOCS, ROOT
from tockmark.result import file
from tockmark.result.model import Row
from tockmark.result.provenance import same_simulator
from tockmark.show import text
from tockmark.show.text import NONE
from tockmark.suite.catalogue import load

TOCKMARK = str(Path(sys.executable).with_name("tockmark"))
SCHEMA = DOCS / "result.schema.json"


def made() -> dict[Path, bytes]:
    """Return every page as it should be, and the published schema."""
    pages = [ROOT / "README.md", ROOT / "results" / "README.md", *sorted(DOCS.glob("*.md"))]
    schema = msgspec.json.format(msgspec.json.encode(file.schema()))
    texts = {page: refreshed(page.read_text(encoding="utf-8")).encode() for page in pages}
    return texts | {SCHEMA: schema + b"\n"}


def refreshed(page: str) -> str:
    """Return the page with each of its blocks made anew."""
    return BLOCK.sub(lambda m: f"{m[1]}{BLOCKS[m[2]](m[3])}\n{m[4]}", page)


def output(command: str) -> str:
    """Return a command, what it prints, and its exit code if that is not 0."""
    program, *arguments = shlex.split(command)
    if program != "tockmark":
        raise SystemExit(f"'{command}' is not a command of tockmark; pages show only these")
    done = run(arguments)
    code = f"\nexit code {done.returncode}" if done.returncode else ""
    return f"```text\n$ .venv/bin/{command}\n{done.stdout.rstrip()}{code}\n```"


def printed(*arguments: str) -> str:
    """Return what a verb prints that has to succeed."""
    done = run(list(arguments))
    done.check_returncode()
    return f"```text\n{done.stdout.rstrip()}\n```"


def run(arguments: list[str]) -> subprocess.CompletedProcess[str]:
    """Call the tool. An error of the tool, which goes to stderr, is not fit for a page."""
    done = subprocess.run(
        [TOCKMARK, *arguments],
        cwd=ROOT,
        env={**os.environ, "COLUMNS": "100"},
        capture_output=True,
        text=True,
        check=False,
    )
    if not done.stdout:
        raise SystemExit(f"tockmark {shlex.join(arguments)} shows nothing: {done.stderr.strip()}")
    return done


def benchmarks(section: str) -> str:
    """Return the benchmarks of a section: what a sample of each does, and what is counted."""
    entries = [one for one in load().benchmarks.values() if one.section == section]
    if not entries:
        raise SystemExit(f"the catalogue has no section '{section}'")
    lines: list[str] = []
    for entry in entries:
        params = "; ".join(f"{k} {values(v)}" for k, v in entry.params.items())
        head = f"- `{entry.id}`{f' ({params})' if params else ''}: {entry.what}."
        text = f"{head} *Counted:* {entry.counts}."
        lines += textwrap.wrap(text, 100, subsequent_indent="  ", break_on_hyphens=False)
    return "\n".join(lines)


def values(given: list[int | str]) -> str:
    """Return a parameter's values; of many, the ends."""
    return ", ".join(map(str, given if len(given) < 11 else [given[0], "…", given[-1]]))


# What `added` shows: of the rows with the i-cache on or off, which figure.
FIGURES: dict[str, tuple[bool, Callable[[Row], float | None]]] = {
    "instructions": (False, retired),
    "cycles, cache on": (True, attrgetter("per_op")),
    "cycles, cache off": (False, attrgetter("per_op")),
}


def added(argument: str) -> str:
    """Return net instructions and cycles of one operation by the first result, and how many more by
    each of the others, which are called as their files. A row that no other has is left out."""
    paths = [ROOT / name for name in argument.split()]
    base, *others = ({(r.label, r.icache): r for r in file.load(path).rows} for path in paths)
    names = [path.stem for path in paths]
    heads = [head for what in FIGURES for head in (f"{what}: {names[0]}", *names[1:])]
    calls = dict.fromkeys(r.label for r in base.values() if not (r.is_overhead or r.is_control))
    rows = []
    for label in calls:
        if not any((label, True) in other for other in others):
            continue
        cells: list[str] = [text.quoted(label)]
        for icache, figure in FIGURES.values():
            own = figure(base[label, icache])
            cells.append(NONE if own is None else f"{own:g}")
            more = [figure(row) if (row := one.get((label, icache))) else None for one in others]
            cells += [NONE if m is None or own is None else f"{m - own:+g}" for m in more]
        rows.append(cells)
    return markdown(["", *heads], rows, words=range(1 + len(heads)))


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

    said: dict[str, str]
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
    for one in tries:
        name = one["what"].rpartition(", ")[0].strip("`")
        came = [str(one["came"].get(level.words.word, 0)) for level in (Level.SOFT, Level.HARD)]
        rows.setdefault(name, [name]).extend([str(one["count"]), *came])
    heads = ["links", "pairs of single ones", "soft", "hard", "halves", "soft", "hard"]
    return markdown(heads, list(rows.values()), words=(0,))


def historical(argument: str) -> str:
    """Return the simulated results below a folder whose simulator is not proved to say the same as
    that of the newest result of their machine and core."""
    found = {
        path: file.load(path).provenance
        for path in sorted((ROOT / argument).rglob("*.json"))
        if path.parent.parent.name != "profiles"
    }
    simulated = {path: one for path, one in found.items() if one.board.simulator_sha256}
    newest = {one.board.chip: one for one in sorted(simulated.values(), key=attrgetter("date"))}
    rows = [
        [str(path.relative_to(ROOT / argument).with_suffix("")), sha256[:12], one.date[:10]]
        for path, one in simulated.items()
        if (sha256 := one.board.simulator_sha256)
        and not same_simulator(sha256, newest[one.board.chip].board.simulator_sha256)
    ]
    return markdown(["result", "simulator", "date"], rows, words=(0, 1, 2)) if rows else "None."


def exits(_: str) -> str:
    """Return what the exit codes of each verb mean: a line a verb, in the order of the help."""
    rows = []
    for name in PROGRAM.verbs:
        codes = (f"**{code}** {said}" for code, said in PROGRAM.about(name).exits.items())
        rows.append([text.quoted(PROGRAM.spelled(name)), Markup("; ".join(codes))])
    return markdown(["verb", "exit codes"], rows, words=(0, 1))


# What belongs into a block, by its kind.
BLOCKS: dict[str, Callable[[str], str]] = {
    "table": lambda path: printed("table", path),
    "validation": lambda path: printed("dev", "validate", "--show", path),
    "output": output,
    "benchmarks": benchmarks,
    "added": added,
    "board": board,
    "links": links,
    "historical": historical,
    "exits": exits,
}
BLOCK = re.compile(
    rf"(<!-- ({'|'.join(BLOCKS)}): ([^\n]+?) -->\n).*?(<!-- end of (?:{'|'.join(BLOCKS)}) -->)",
    re.DOTALL,
)
