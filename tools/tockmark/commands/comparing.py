# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Verbs that compare results: compare, gate, history, fit, agree."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from tockmark import paths
from tockmark.commands import completing
from tockmark.commands.choosing import Switch
from tockmark.commands.common import AsJson, Debug, Only, print_json, rows_of, selected
from tockmark.commands.verb import Group, add
from tockmark.errors import INCOMPLETE, OK, REGRESSION, UNUSABLE, TockmarkError
from tockmark.files import write_whole
from tockmark.judge import agree, bounds, compare, factors, fit, gate, history, spread
from tockmark.result.file import load
from tockmark.result.model import Result
from tockmark.show import agree_text, compare_text, fit_text, gate_text, history_text
from tockmark.show.table import apart
from tockmark.suite import catalogue
from tockmark.suite.catalogue import LANGS
from tockmark.suite.select import of_names, select

Force = Annotated[
    bool,
    typer.Option(
        "--force", help="Even if machine, clock or timing differ, or are not valid at all."
    ),
]


def register(app: typer.Typer) -> None:
    """Add these verbs to the command line."""
    add(
        app,
        "compare",
        compare_verb,
        Group.COMPARE,
        (
            "tockmark compare old.json new.json",
            "tockmark compare a.json b.json c.json --baseline b --margin 2% --only 'syscall.*'",
            "tockmark compare --by lang both.json",
        ),
        {
            OK: "compared, whatever the verdicts",
            INCOMPLETE: "a result is incomplete",
            UNUSABLE: "unusable input, wrong usage, or results that cannot be compared",
        },
    )
    add(
        app,
        "gate",
        gate_verb,
        Group.COMPARE,
        (
            "tockmark gate base.json new.json",
            "tockmark gate monday.json tuesday.json new.json --limits limits.toml"
            " --markdown summary.md",
        ),
        {
            OK: "pass",
            INCOMPLETE: "beyond a soft limit, or the new result is incomplete",
            UNUSABLE: "unusable input, wrong usage, or results that cannot be compared",
            REGRESSION: "regression: beyond a hard limit, or a row is gone",
        },
    )
    add(
        app,
        "agree",
        agree_verb,
        Group.COMPARE,
        (
            "tockmark agree sim.json board.json",
            "tockmark agree sim.json board.json --only app --icache off --all",
        ),
        {
            OK: "every row is there and within its bound",
            INCOMPLETE: "a row is outside or missing, or a result is incomplete",
            UNUSABLE: "unusable input, wrong usage, or results of different things",
        },
    )
    add(
        app,
        "history",
        history_verb,
        Group.COMPARE,
        (
            "tockmark history --add results/new.json",
            "tockmark history syscall.command -o command.png",
            "tockmark history 'call.args n=3 icache=on'",
        ),
        {INCOMPLETE: "a line of the file was torn and left out"},
    )
    add(
        app,
        "fit",
        fit_verb,
        Group.SHOW,
        ("tockmark fit results/new.json",),
        {INCOMPLETE: "the result is incomplete"},
    )


def compare_verb(
    files: Annotated[list[Path], typer.Argument(help="Two or more result files; with --by, one.")],
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
    by: Annotated[
        str | None,
        typer.Option(help="Compare one result with itself by this factor: lang, Rust with C."),
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
    if len(files) < 2 and by is None:
        raise TockmarkError(
            "one result alone cannot be compared", "give two files or more, or --by lang"
        )
    named = [(paths.shown(file), load(file)) for file in files]
    if by is not None:
        named = _by(by, named)
    known = catalogue.load()
    results = [result for _, result in named]
    chosen = compare.margins(margin, known, rows_of(results))
    wanted, _ = selected(known, only, results)
    base = named[0][1]
    found = [
        compare.compare(base, new, name, known, chosen, spread.known(base), force, wanted)
        for name, new in named[1:]
    ]
    if as_json:
        print_json(compare_text.as_json(named[0][0], found))
    else:
        print(compare_text.render(named, found), end="")
    raise typer.Exit(INCOMPLETE if any(result.incomplete for _, result in named) else OK)


def _by(factor: str, named: list[tuple[str, Result]]) -> list[tuple[str, Result]]:
    """One result as several that differ in this factor alone."""
    of_names("by", factor, ["lang"])
    if len(named) > 1:
        raise TockmarkError(
            f"--by {factor} compares one result with itself, but {len(named)} are given",
            "give one; without --by each language is compared with its own",
        )
    found = apart(named)
    if len(found) < 2:
        name, result = named[0]
        raise TockmarkError(
            f"{name} has rows in {LANGS[result.langs[0]]} alone", "`tockmark run --lang c,rust`"
        )
    return found


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
    only: Only = None,
    as_json: AsJson = False,
    force: Force = False,
    debug: Debug = False,
) -> None:
    """Let a new result pass, or not, by limits on the growth of its rows.

    The layouts of several BASE files count together."""
    if len(files) < 2:
        raise TockmarkError("a gate needs a base and a new result", "give BASE and NEW")
    results, known = [load(file) for file in files], catalogue.load()
    rules = gate.load_limits(limits, known, rows_of(results))
    _, results = selected(known, only, results)
    *bases, new = zip(map(paths.shown, files), results, strict=True)
    gated = gate.gate(bases, new, rules, known, spread.known(bases[-1][1]), force)
    names = [name for name, _ in bases]
    if as_json:
        print_json(gate_text.as_json(names, new[0], gated))
    else:
        print(gate_text.render(names, new[0], gated), end="")
    if markdown is not None:
        write_whole({markdown: gate_text.markdown(names, new[0], gated)})
    raise typer.Exit(gated.exit_code)


def history_verb(
    row: Annotated[
        str | None,
        typer.Argument(
            help="Rows, named as for --only elsewhere. Default: all that changed.",
            autocompletion=completing.several(completing.rows),
        ),
    ] = None,
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
    if output is not None:
        from tockmark.show import history_plot  # slow to load

        history_plot.form_of(output)  # before anything is written or said
    for path in add or []:
        factors.check_timed(result := load(path), paths.shown(path))
        new = history.add(file, result)
        what = "added to" if new else "is already in"
        print(f"{paths.shown(path)} {what} {paths.shown(file)}")
    if add and row is None:
        return
    runs, problems = history.load(file)
    found = history.series(runs, select(catalogue.load(), row, history.rows_of(runs)))
    if row is None:
        found = [series for series in found if any(point.changed for point in series.points)]
    elif not found:
        raise TockmarkError(f"{paths.shown(file)} has no row '{row}'", "no run in it measured it")
    if output is not None and found:
        history_plot.draw(found, output)
    if as_json:
        print_json(history_text.as_json(found))
    elif found:
        print(history_text.render(found), end="")
    else:
        print(f"{len(runs)} runs, and no row that changed; name one to see it")
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
    known = catalogue.load()
    _, (result,) = selected(known, only, [load(file)])
    factors.check_timed(result, paths.shown(file))
    found = fit.sweeps(result, known)
    if not found:
        raise TockmarkError(
            f"{paths.shown(file)} holds no sweep", f"one needs {fit.LEAST} sizes of a row"
        )
    if as_json:
        print_json(fit_text.as_json(found))
    else:
        print(fit_text.render(found), end="")
    raise typer.Exit(INCOMPLETE if result.incomplete else OK)


def agree_verb(
    sim: Annotated[Path, typer.Argument(help="Result file of the simulator.")],
    board: Annotated[Path, typer.Argument(help="Result file of the board, of the same kernel.")],
    only: Only = None,
    icache: Annotated[
        Switch | None, typer.Option(help="Rows with this cache setting only.")
    ] = None,
    every: Annotated[bool, typer.Option("--all", help="Show every row.")] = False,
    as_json: AsJson = False,
    force: Annotated[
        bool, typer.Option("--force", help="Even if kernel, machine or cache are not the same.")
    ] = False,
    debug: Debug = False,
) -> None:
    """Hold a board's result against the simulator's: is each row within the model's stated bound?

    What is stated, and why, is in validation/bounds.toml."""
    names, known = [paths.shown(sim), paths.shown(board)], catalogue.load()
    _, results = selected(known, only, [load(sim), load(board)])
    if icache is not None:
        cached = select(known, f"* icache={icache}", rows_of(results))
        results = [result.only(cached) for result in results]
    base, new = results
    found = agree.agree(base, new, names[1], bounds.load(agree.machine(base), known), force)
    if as_json:
        print_json(agree_text.as_json(names, found))
    else:
        print(agree_text.render(names, results, found, known, every), end="")
    raise typer.Exit(found.exit_code)
