# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Puts into the pages what they show: what the tool prints of committed results, and the benchmarks
of the catalogue; and writes the schema of the result file. `make tables` does it.

A page asks for it with a line, and what stands between that line and the closing one is replaced:

    <!-- table: results/x.json -->                  the table of a result
    <!-- validation: results/v.json -->             what `tockmark validate -o` has stored
    <!-- end of table -->                           closes these two

    <!-- output: tockmark gate a.json b.json -->    the command, its output, its exit code if not 0
    <!-- end of output -->

    <!-- benchmarks: SECTION -->                    the benchmarks of a section of the catalogue
    <!-- end of benchmarks -->

    <!-- added: a.json b.json c.json -->            what one call costs in a, and what b and c add
    <!-- end of added -->

    <!-- board: results/x.json -->                  a board's published figures, and simulated
    <!-- end of board -->

    <!-- exits: all -->                             the exit codes of every verb
    <!-- end of exits -->

With --check nothing is written, and the exit code is 1 if a page does not show what is so.
"""

import os
import re
import shlex
import subprocess
import sys
import textwrap
from collections.abc import Callable
from pathlib import Path

import msgspec

from tockmark.cli.verb import VERBS as LISTED
from tockmark.cli.verb import Heading, about
from tockmark.result import file
from tockmark.result.model import Row
from tockmark.show.text import NONE
from tockmark.suite.catalogue import load

ROOT = Path(__file__).resolve().parents[1]
TOCKMARK = str(Path(sys.executable).with_name("tockmark"))
BLOCK = re.compile(
    r"(<!-- (table|validation|output|benchmarks|added|board|exits): ([^\n]+?) -->\n).*?"
    r"(<!-- end of (?:table|output|benchmarks|added|board|exits) -->)",
    re.DOTALL,
)
SCHEMA = ROOT / "docs" / "result.schema.json"
VERBS = {"table": ["table"], "validation": ["validate", "--show"]}


def listed(section: str) -> str:
    """The benchmarks of a section: what a sample of each does, and what is counted."""
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
    """A parameter's values; of many, the ends."""
    return ", ".join(map(str, given if len(given) < 11 else [given[0], "…", given[-1]]))


def added(argument: str) -> str:
    """Net instructions and cycles of one operation by the first result, and how many more by each
    of the others, which are called as their files. A row that no other has is left out."""
    paths = [ROOT / name for name in argument.split()]
    base, *others = ({(r.label, r.icache): r for r in file.load(path).rows} for path in paths)
    names = [path.stem for path in paths]
    heads = [head for what in FIGURES for head in (f"{what}: {names[0]}", *names[1:])]
    lines = [f"| | {' | '.join(heads)} |", "|---" * (1 + len(heads)) + "|"]
    calls = (r.label for r in base.values() if not (r.is_overhead or r.is_control))
    for label in dict.fromkeys(calls):
        if not any((label, True) in other for other in others):
            continue
        cells = []
        for icache, figure in FIGURES.values():
            own = figure(base[label, icache])
            cells += [f"{own:g}" if own is not None else NONE]
            more = [figure(row) if (row := one.get((label, icache))) else None for one in others]
            cells += [f"{m - own:+g}" if m is not None and own is not None else NONE for m in more]
        lines += [f"| `{label}` | {' | '.join(cells)} |"]
    return "\n".join(lines)


def instructions(row: Row) -> float | None:
    """Net, of one operation."""
    return None if row.instructions is None else row.instructions / row.inner


def cycles(row: Row) -> float | None:
    """Net, of one operation."""
    return row.per_op


# What `added` shows: of the rows with the i-cache on or off, which figure.
FIGURES: dict[str, tuple[bool, Callable[[Row], float | None]]] = {
    "instructions": (False, instructions),
    "cycles, cache on": (True, cycles),
    "cycles, cache off": (False, cycles),
}


class BoardRow(msgspec.Struct, forbid_unknown_fields=True):
    """One loop of a program whose clock only ticks, as a board's log and the simulator have it."""

    name: str
    iterations: int
    board: int  # ticks that the log says
    simulated: int  # ticks that the simulator gives for the program as linked
    links: list[float]  # cycles an iteration of the same program in other links


class Board(msgspec.Struct, forbid_unknown_fields=True):
    """The file; `said` names the logs and the images."""

    said: dict[str, str]
    tick: int  # in cycles
    rows: list[BoardRow]


def board(argument: str) -> str:
    """Cycles an iteration. Of ticks the last one may be cut off, so figures are equal that are a
    tick apart, and the board is within the links up to a tick."""
    held = msgspec.json.decode((ROOT / argument).read_bytes(), type=Board)
    lines = ["| loop | board | simulated | in other links | the board |", "|---" * 5 + "|"]
    for row in held.rows:
        tick = held.tick / row.iterations
        digits = 1 if tick < 1 else 0
        seen, simulated = row.board * tick, row.simulated * tick
        low, high = min([*row.links, simulated]) - tick, max([*row.links, simulated]) + tick
        if abs(row.board - row.simulated) <= 1:
            verdict = "equal"
        elif low <= seen <= high:
            verdict = "within"
        else:
            verdict = f"outside by {100 * max(low / seen - 1, seen / high - 1):.1f} %"
        cells = [f"{value:.{digits}f}" for value in (seen, simulated)]
        spread = [f"{end(row.links):.{digits}f}" for end in (min, max) if row.links]
        lines += [f"| {' | '.join([row.name, *cells, ' to '.join(spread), verdict])} |"]
    return "\n".join(lines)


def shown(kind: str, argument: str) -> str:
    """What belongs into a block."""
    if kind == "output":
        program, *arguments = shlex.split(argument)
        if program != "tockmark":
            raise SystemExit(f"'{argument}' is not a command of tockmark; pages show only these")
        done = run(arguments)
        code = f"\nexit code {done.returncode}" if done.returncode else ""
        return f"$ .venv/bin/{argument}\n{done.stdout.rstrip()}{code}"
    done = run([*VERBS[kind], argument])
    done.check_returncode()
    return done.stdout.rstrip()


def exits(_: str) -> str:
    """What the exit codes of each verb mean: a line a verb, in the order of the help."""
    lines = ["| verb | exit codes |", "|---|---|"]
    for group in Heading:
        for name, one in LISTED.items():
            if one.heading is group:
                told = "; ".join(f"**{code}** {said}" for code, said in about(name).exits.items())
                lines.append(f"| `{name}` | {told} |")
    return "\n".join(lines)


LISTS = {"benchmarks": listed, "added": added, "board": board, "exits": exits}


def run(arguments: list[str]) -> subprocess.CompletedProcess[str]:
    """The tool's output; an error of the tool, which goes to stderr, is not fit for a page."""
    environment = {**os.environ, "COLUMNS": "100"}
    done = subprocess.run(
        [TOCKMARK, *arguments],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    if not done.stdout:
        raise SystemExit(f"tockmark {shlex.join(arguments)} shows nothing: {done.stderr.strip()}")
    return done


def refreshed(page: str) -> str:
    """The page with each of its blocks made anew."""

    def block(kind: str, argument: str) -> str:
        if kind in LISTS:
            return LISTS[kind](argument)
        return f"```text\n{shown(kind, argument)}\n```"

    return BLOCK.sub(lambda m: f"{m[1]}{block(m[2], m[3])}\n{m[4]}", page)


def schema() -> str:
    """The schema as it is published."""
    return msgspec.json.format(msgspec.json.encode(file.schema())).decode() + "\n"


def main() -> int:
    stale = []
    for path in [ROOT / "README.md", SCHEMA, *sorted((ROOT / "docs").glob("*.md"))]:
        old = path.read_text(encoding="utf-8")
        new = schema() if path == SCHEMA else refreshed(old)
        if new != old:
            stale.append(path.relative_to(ROOT))
            if "--check" not in sys.argv:
                path.write_text(new, encoding="utf-8")
    for page in stale:
        print(f"{page}: {'stale; run `make tables`' if '--check' in sys.argv else 'refreshed'}")
    return 1 if stale and "--check" in sys.argv else 0


if __name__ == "__main__":
    sys.exit(main())
