# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Fills the pages with what the tool prints of committed results and with the benchmarks of the
catalogue; writes the schema of the result file.

A page asks for a block with a line. What is between that line and the closing one is replaced:

    <!-- output: tockmark compare a.json b.json --> the command, its output, its exit code if not 0
    <!-- end of output -->

    <!-- benchmarks: SECTION -->                    the benchmarks of a section of the catalogue
    <!-- end of benchmarks -->

    <!-- historical: results -->                    results of simulators that are not today's
    <!-- end of historical -->

    <!-- exits: all -->                             the exit codes of every verb
    <!-- end of exits -->
"""

import os
import re
import shlex
import subprocess
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from operator import attrgetter
from pathlib import Path

import msgspec
from markupsafe import Markup

from tockmark.base.paths import DOCS, ROOT
from tockmark.cli.app import PROGRAM
from tockmark.result import file
from tockmark.result.provenance import same_simulator
from tockmark.show import text
from tockmark.show.text import Table, TableColumn
from tockmark.suite.catalogue import load

TOCKMARK = str(Path(sys.executable).with_name("tockmark"))
SCHEMA = DOCS / "result.schema.json"

Block = Callable[[str], str]  # makes the text of a block from what its line names


def made() -> dict[Path, bytes]:
    """Return every page as it should be, and the published schema."""
    pages = [ROOT / "README.md", ROOT / "results" / "README.md", *sorted(DOCS.glob("*.md"))]
    schema = msgspec.json.format(msgspec.json.encode(file.schema()))
    texts = {page: refreshed(page.read_text(encoding="utf-8")).encode() for page in pages}
    return texts | {SCHEMA: schema + b"\n"}


def refreshed(page: str, blocks: Mapping[str, Block] | None = None) -> str:
    """Return the page with each of its blocks made again; `blocks` has a function for each kind."""
    makers = BLOCKS if blocks is None else blocks
    kinds = "|".join(makers)
    block = re.compile(
        rf"(<!-- ({kinds}): ([^\n]+?) -->\n).*?(<!-- end of (?:{kinds}) -->)", re.DOTALL
    )
    return block.sub(lambda m: f"{m[1]}{makers[m[2]](m[3])}\n{m[4]}", page)


def markdown(
    heads: Sequence[str], rows: Iterable[Sequence[str]], words: Sequence[int] = (0,)
) -> str:
    """Write a table; the columns at the places in `words` hold words, the others figures."""
    columns = [TableColumn(head, left=place in words) for place, head in enumerate(heads)]
    return "\n".join(Table(columns, rows).markdown()).rstrip()


def output(command: str) -> str:
    """Return a command, what it prints, and its exit code if that is not 0."""
    program, *arguments = shlex.split(command)
    if program != "tockmark":
        raise SystemExit(f"'{command}' is not a command of tockmark; pages show only these")
    done = run(arguments)
    code = f"\nexit code {done.returncode}" if done.returncode else ""
    return f"```text\n$ .venv/bin/{command}\n{done.stdout.rstrip()}{code}\n```"


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
    """Return a table of a section's benchmarks: what a sample does, and what its net contains."""
    entries = [entry for entry in load().benchmarks.values() if entry.section == section]
    if not entries:
        raise SystemExit(f"the catalogue has no section '{section}'")
    rows = []
    for entry in entries:
        params = "; ".join(f"{name} {values(choices)}" for name, choices in entry.params.items())
        name = text.quoted(entry.id) + (Markup("<br>") + params if params else "")
        rows.append([name, text.prose(entry.what), text.prose(entry.counts)])
    return markdown(["benchmark", "one sample", "its net figure counts"], rows, words=(0, 1, 2))


def values(given: list[int | str]) -> str:
    """Return a parameter's values; of many, the ends."""
    return ", ".join(map(str, given if len(given) < 11 else [given[0], "…", given[-1]]))


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
        rows.append([text.quoted(PROGRAM.full_name(name)), Markup("; ".join(codes))])
    return markdown(["verb", "exit codes"], rows, words=(0, 1))


BLOCKS: dict[str, Block] = {
    "output": output,
    "benchmarks": benchmarks,
    "historical": historical,
    "exits": exits,
}
