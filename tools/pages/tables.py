# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Writes generated blocks into the pages: output of the tool, and the benchmarks of the catalogue.
Also writes the schema of the result file.

The text between these two lines of a page is replaced:

    <!-- output: tockmark compare a.json b.json --> the command, its output, its exit code if not 0
    <!-- end of output -->

    <!-- benchmarks: SECTION -->                    the benchmarks of a section of the catalogue
    <!-- end of benchmarks -->

    <!-- historical: results -->                    results of older simulators
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
from pathlib import Path

import msgspec
from markupsafe import Markup

from tockmark.base.paths import DOCS, ROOT
from tockmark.cli.app import PROGRAM
from tockmark.result import file
from tockmark.result.provenance import unlike_benchmarks
from tockmark.show import text
from tockmark.show.text import Table, TableColumn
from tockmark.suite.catalogue import load

TOCKMARK = str(Path(sys.executable).with_name("tockmark"))
SCHEMA = DOCS / "result.schema.json"

Block = Callable[[str], str]  # returns the text of a block for the argument in its line


def generate() -> dict[Path, bytes]:
    """Return the content of every page and of the published schema."""
    pages = [ROOT / "README.md", ROOT / "results" / "README.md", *sorted(DOCS.glob("*.md"))]
    schema = msgspec.json.format(msgspec.json.encode(file.schema()))
    texts = {page: refreshed(page.read_text(encoding="utf-8")).encode() for page in pages}
    return texts | {SCHEMA: schema + b"\n"}


def refreshed(page: str, blocks: Mapping[str, Block] | None = None) -> str:
    """Return the page with new blocks; `blocks` has a function for each type of block."""
    makers = BLOCKS if blocks is None else blocks
    kinds = "|".join(makers)
    block = re.compile(
        rf"(<!-- ({kinds}): ([^\n]+?) -->\n).*?(<!-- end of (?:{kinds}) -->)", re.DOTALL
    )
    return block.sub(lambda m: f"{m[1]}{makers[m[2]](m[3])}\n{m[4]}", page)


def markdown(
    heads: Sequence[str], rows: Iterable[Sequence[str]], words: Sequence[int] = (0,)
) -> str:
    """Return a table; the columns with indices in `words` contain text, the others figures."""
    columns = [TableColumn(head, left=index in words) for index, head in enumerate(heads)]
    return "\n".join(Table(columns, rows).markdown()).rstrip()


def output(command: str) -> str:
    """Return a command, its output, and its exit code unless that is 0."""
    program, *arguments = shlex.split(command)
    if program != "tockmark":
        raise SystemExit(f"'{command}' is not a tockmark command. Pages show no other.")
    done = run(arguments)
    code = f"\nexit code {done.returncode}" if done.returncode else ""
    return f"```text\n$ .venv/bin/{command}\n{done.stdout.rstrip()}{code}\n```"


def run(arguments: list[str]) -> subprocess.CompletedProcess[str]:
    """Run the tool. SystemExit if it prints nothing to stdout, as for an error."""
    done = subprocess.run(
        [TOCKMARK, *arguments],
        cwd=ROOT,
        env={**os.environ, "COLUMNS": "100"},
        capture_output=True,
        text=True,
        check=False,
    )
    if not done.stdout:
        raise SystemExit(f"tockmark {shlex.join(arguments)} prints nothing: {done.stderr.strip()}")
    return done


def benchmarks(section: str) -> str:
    """Return a table of a section's benchmarks: the content of a sample, and of its net figure."""
    entries = [entry for entry in load().benchmarks.values() if entry.section == section]
    if not entries:
        raise SystemExit(f"the catalogue has no section '{section}'")
    rows = []
    for entry in entries:
        params = "; ".join(f"{name} {values(choices)}" for name, choices in entry.params.items())
        name = text.quoted(entry.id) + (Markup("<br>") + params if params else "")
        rows.append([name, text.prose(entry.what), text.prose(entry.counts)])
    return markdown(["benchmark", "one sample", "its net figure counts"], rows, words=(0, 1, 2))


def values(params: list[int | str]) -> str:
    """Return the values of a parameter; if there are many, only the first and the last."""
    return ", ".join(map(str, params if len(params) < 11 else [params[0], "…", params[-1]]))


def historical(argument: str) -> str:
    """Return a table of the simulated results in a folder that older simulators produced, with the
    benchmarks whose rows may differ today.

    A simulator is older if it is not proved equal, for the rows of the result, to that of the
    newest result with the same machine and core."""
    results = {
        path: file.load(path)
        for path in sorted((ROOT / argument).rglob("*.json"))
        if path.parent.parent.name != "profiles"
    }
    boards = {
        path: result.provenance.board
        for path, result in sorted(results.items(), key=lambda item: item[1].provenance.date)
        if result.provenance.board.simulator_sha256
    }
    newest = {board.chip: board.simulator_sha256 for board in boards.values()}
    rows = []
    for path, board in sorted(boards.items()):
        unlike = unlike_benchmarks(board.simulator_sha256, newest[board.chip])
        own = {row.id for row in results[path].rows}
        if unlike is None or unlike & own:
            name = str(path.relative_to(ROOT / argument).with_suffix(""))
            differing = "all" if unlike is None else ", ".join(sorted(unlike & own))
            rows.append([name, str(board.simulator_sha256)[:12], differing])
    columns = ["result", "simulator", "may differ"]
    return markdown(columns, rows, words=(0, 1, 2)) if rows else "None."


def exits(_: str) -> str:
    """Return a table of the exit codes of each verb, in the order of the help."""
    rows = []
    for name in PROGRAM.verbs:
        codes = (f"**{code}** {meaning}" for code, meaning in PROGRAM.about(name).exits.items())
        rows.append([text.quoted(PROGRAM.full_name(name)), Markup("; ".join(codes))])
    return markdown(["verb", "exit codes"], rows, words=(0, 1))


BLOCKS: dict[str, Block] = {
    "output": output,
    "benchmarks": benchmarks,
    "historical": historical,
    "exits": exits,
}
