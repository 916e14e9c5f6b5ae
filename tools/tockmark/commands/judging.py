# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Verbs that judge results: compare, gate, history, fit."""

import json
import sys
from pathlib import Path
from typing import Annotated

import typer

from tockmark import paths
from tockmark.commands.common import AsJson, Debug
from tockmark.errors import INCOMPLETE, OK, TockmarkError
from tockmark.judge import compare, gate, history, sweeps
from tockmark.judge.values import patterns
from tockmark.result import result as results
from tockmark.show import compare_text, gate_text, history_text
from tockmark.suite import catalogue

Force = Annotated[
    bool,
    typer.Option("--force", help="Even if machine, clock or timing validity are not the same."),
]

Only = Annotated[
    str | None,
    typer.Option(help="Ids or patterns of rows, separated by commas: 'syscall.*,call.*'."),
]


def register(app: typer.Typer) -> None:
    """Add these verbs to the command line."""
    app.command(
        name="compare",
        epilog="Examples: `tockmark compare old.json new.json`; `tockmark compare a.json b.json"
        " c.json --baseline b --margin 2% --only 'syscall.*'`. Exit codes: 0 compared,"
        " whatever the verdicts; 1 a result is incomplete; 2 unusable input, or results that"
        " cannot be compared.",
    )(compare_verb)
    app.command(
        name="gate",
        epilog="Examples: `tockmark gate base.json new.json`; `tockmark gate monday.json"
        " tuesday.json new.json --limits limits.toml --markdown summary.md`. Exit codes: 0 pass;"
        " 1 beyond a soft limit, or the new result is incomplete; 2 unusable input, or results that"
        " cannot be compared; 3 regression: beyond a hard limit, or a row is gone.",
    )(gate_verb)
    app.command(
        name="history",
        epilog="Examples: `tockmark history --add results/new.json`; `tockmark history"
        " syscall.command -o command.png`; `tockmark history 'call.args n=3 icache=on'`. Exit"
        " codes: 0 all is well; 1 a line of the file was torn and left out; 2 unusable input.",
    )(history_verb)
    app.command(
        name="fit",
        epilog="Example: `tockmark fit results/new.json`. Exit codes: 0 all is well; 1 the result"
        " is incomplete; 2 unusable input.",
    )(fit_verb)


def compare_verb(
    files: Annotated[list[Path], typer.Argument(help="Two or more result files.")],
    margin: Annotated[
        str | None,
        typer.Option(
            help="What is too little to matter: 1%, or a TOML file with margins by row."
            " Default: 1% on the simulator, 5% on boards."
        ),
    ] = None,
    only: Only = None,
    baseline: Annotated[
        str | None,
        typer.Option(help="Which file the others are compared with, by its name; the first."),
    ] = None,
    as_json: AsJson = False,
    force: Force = False,
    debug: Debug = False,
) -> None:
    """Say of each row whether results differ, and whether that matters."""
    if baseline is not None:
        meant = [file for file in files if baseline in (str(file), file.name, file.stem)]
        if len(meant) != 1:
            raise TockmarkError(f"'{baseline}' names {len(meant)} of the files", "name one of them")
        files = [*meant, *(file for file in files if file not in meant)]
    if len(files) < 2:
        raise TockmarkError("one result alone cannot be compared", "give two files or more")
    chosen = compare.margins(margin)
    named = [(paths.shown(file), results.load(file)) for file in files]
    known = catalogue.load()
    base = named[0][1]
    rows = patterns(only)
    found = [
        compare.compare(base, new, name, known, chosen, force, rows) for name, new in named[1:]
    ]
    if as_json:
        print(json.dumps(compare_text.as_json(named[0][0], found), indent=1, ensure_ascii=False))
    else:
        print(compare_text.render(named, found), end="")
    raise typer.Exit(INCOMPLETE if any(results.incomplete(r) for _, r in named) else OK)


def gate_verb(
    files: Annotated[
        list[Path], typer.Argument(metavar="BASE... NEW", help="Result files, the new one last.")
    ],
    limits: Annotated[
        Path | None, typer.Option(help="TOML file with limits; docs/comparing.md has the default.")
    ] = None,
    markdown: Annotated[
        Path | None, typer.Option(help="Write a summary for a pull request to this file, too.")
    ] = None,
    as_json: AsJson = False,
    force: Force = False,
    debug: Debug = False,
) -> None:
    """Let a new result pass, or not, by limits on the growth of its rows.

    Several BASE files say how far runs differ by themselves."""
    if len(files) < 2:
        raise TockmarkError("a gate needs a base and a new result", "give BASE and NEW")
    rules = gate.load_limits(limits)
    *bases, new = [(paths.shown(file), results.load(file)) for file in files]
    gated = gate.gate(bases, new, rules, force)
    names = [name for name, _ in bases]
    if as_json:
        told = gate_text.as_json(names, new[0], gated)
        print(json.dumps(told, indent=1, ensure_ascii=False))
    else:
        print(gate_text.render(names, new[0], gated), end="")
    if markdown is not None:
        results.write_whole({markdown: gate_text.markdown(names, new[0], gated)})
    raise typer.Exit(gated.exit_code)


def history_verb(
    row: Annotated[
        str, typer.Argument(help="An id, or a pattern: 'mem.*'. Default: all rows that changed.")
    ] = "",
    add: Annotated[
        list[Path] | None, typer.Option("--add", help="Append this result; may be given again.")
    ] = None,
    file: Annotated[
        Path, typer.Option("-f", "--file", help="The history: one JSON line a run.")
    ] = paths.RESULTS / "history.jsonl",
    output: Annotated[
        Path | None, typer.Option("-o", "--output", help="Draw it, too: a .png or .svg file.")
    ] = None,
    as_json: AsJson = False,
    debug: Debug = False,
) -> None:
    """Append runs to a history, or show how rows went from run to run, with change points."""
    for path in add or []:
        new = history.add(file, results.load(path))
        what = "added to" if new else "is already in"
        print(f"{paths.shown(path)} {what} {paths.shown(file)}")
    if add and not row:
        return
    runs, problems = history.load(file)
    found = history.series(runs, row or "*")
    if not row:
        found = [series for series in found if any(point.changed for point in series.points)]
    if row and not found:
        raise TockmarkError(
            f"{paths.shown(file)} has no row '{row}'", "`tockmark list` shows the ids"
        )
    if as_json:
        print(json.dumps(history_text.as_json(found), indent=1, ensure_ascii=False))
    elif found:
        print(history_text.render(found), end="")
    else:
        print(f"{len(runs)} runs, and no row that changed; name one to see it")
    if output is not None and found:
        from tockmark.show import history_plot

        history_plot.draw(found, output)
    for problem in problems:
        print(f"tockmark: {problem}", file=sys.stderr)
    raise typer.Exit(INCOMPLETE if problems else OK)


def fit_verb(
    file: Annotated[Path, typer.Argument(help="Result file.")],
    only: Only = None,
    as_json: AsJson = False,
    debug: Debug = False,
) -> None:
    """Fit straight lines through sweeps: what one more byte, argument or NOP costs."""
    result = results.load(file)
    found = sweeps.sweeps(result, catalogue.load(), patterns(only))
    if not found:
        raise TockmarkError(
            f"{paths.shown(file)} holds no sweep", f"one needs {sweeps.LEAST} sizes of a row"
        )
    if as_json:
        print(json.dumps(sweeps.as_json(found), indent=1, ensure_ascii=False))
    else:
        print(sweeps.render(found), end="")
    raise typer.Exit(INCOMPLETE if results.incomplete(result) else OK)
