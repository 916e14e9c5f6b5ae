# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Verbs that judge results: compare, gate, history."""

import json
from pathlib import Path
from typing import Annotated

import typer

from tockmark import catalogue, compare, compare_text, paths
from tockmark import result as results
from tockmark.commands.common import AsJson, Debug
from tockmark.errors import INCOMPLETE, OK, TockmarkError

Force = Annotated[
    bool,
    typer.Option("--force", help="Even if machine, clock or timing validity are not the same."),
]


def register(app: typer.Typer) -> None:
    """Add these verbs to the command line."""
    app.command(
        name="compare",
        epilog="Examples: `tockmark compare old.json new.json`; `tockmark compare a.json b.json"
        " c.json --baseline b.json --margin 2%`. Exit codes: 0 compared, whatever the verdicts;"
        " 1 a result is incomplete; 2 unusable input, or results that cannot be compared.",
    )(compare_verb)


def compare_verb(
    files: Annotated[list[Path], typer.Argument(help="Two or more result files.")],
    margin: Annotated[
        str | None,
        typer.Option(
            help="What is too little to matter: 1%, or a TOML file with margins by row."
            " Default: 1% on the simulator, 5% on boards."
        ),
    ] = None,
    baseline: Annotated[
        Path | None,
        typer.Option(help="Which of the files the others are compared with; the first."),
    ] = None,
    as_json: AsJson = False,
    force: Force = False,
    debug: Debug = False,
) -> None:
    """Say of each row whether results differ, and whether that matters."""
    if baseline is not None:
        if baseline not in files:
            raise TockmarkError(f"{baseline} is not among the files", "name one of them")
        files = [baseline, *(file for file in files if file != baseline)]
    if len(files) < 2:
        raise TockmarkError("one result alone cannot be compared", "give two files or more")
    chosen = compare.margins(margin)
    named = [(paths.shown(file), results.load(file)) for file in files]
    known = catalogue.load()
    base = named[0][1]
    found = [compare.compare(base, new, name, known, chosen, force) for name, new in named[1:]]
    if as_json:
        print(json.dumps(compare_text.as_json(named[0][0], found), indent=1, ensure_ascii=False))
    else:
        print(compare_text.render(named, found), end="")
    raise typer.Exit(INCOMPLETE if any(results.incomplete(r) for _, r in named) else OK)
