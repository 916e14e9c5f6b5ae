# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The verbs that read what is there: table a result, list the catalogue, help a page of docs/."""

import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, NoReturn

from typer import Argument, Exit, Option

from tockmark.base import paths
from tockmark.base.errors import INCOMPLETE, TockmarkError
from tockmark.cli import options
from tockmark.cli.app import PROGRAM
from tockmark.cli.program import verb
from tockmark.compare import pairs, sweeps
from tockmark.result.file import load
from tockmark.result.model import Result, catalogue_of
from tockmark.show import listing, table, text
from tockmark.suite import catalogue
from tockmark.suite.catalogue import LANGS
from tockmark.suite.selection import select, similar_names

WIDEST = 100  # columns of a page
LESS = "FRX"  # for the pager, if nothing is set: shows colours, and ends by itself on a short page


@verb(
    "tockmark table results/a.json",
    "tockmark table a.json b.json  # side by side",
    "tockmark table a.json --all",
    "tockmark table a.json --only 'call.*,mem.copy_asm:size=64'",
    "tockmark table a.json --lang c,rust",
    "tockmark table a.json --events",
    "tockmark table a.json --fit",
    exits={INCOMPLETE: "a result is incomplete"},
)
def table_verb(
    files: Annotated[list[Path], Argument(help="Result files.")],
    every: options.EveryRow = False,
    only: options.Only = None,
    events: Annotated[
        bool, Option("--events", help="Show the core's event counters: stalls, loads and others.")
    ] = False,
    lang: Annotated[
        str | None,
        options.names_option(
            lambda: LANGS, "Languages of the apps: c, rust; default: C, if a result has it."
        ),
    ] = None,
    fit: Annotated[
        bool,
        Option(
            "--fit",
            help="Show straight lines through the sweeps of one result: what one more byte,"
            " argument or NOP costs.",
        ),
    ] = False,
    as_json: options.AsJson = False,
) -> None:
    """Show what result files cost on one screen; several of them side by side.

    --all shows every row, --only those that are named."""
    if fit:
        if len(files) > 1:
            raise TockmarkError("--fit shows one result", "give one file")
        _fit(files[0], only, as_json)
    named = [(paths.shown(path), load(path)) for path in files]
    known = catalogue_of(result for _, result in named)
    wanted, results = options.selected(known, only, (result for _, result in named))
    named = [(name, result) for (name, _), result in zip(named, results, strict=True)]
    if events:
        print("\n".join(table.event_counts(result, known) for result in results), end="")
    elif as_json:
        options.show(table.as_json(results, known))
    elif not every:
        named_rows = bool(wanted) or any(one.provenance.catalogue for one in results)
        blocks = table.selected_blocks(wanted, results) if named_rows else None
        langs = None if lang is None else _languages(lang, results)
        width = text.width_of_terminal()
        print(table.first_screen(named, known, width, blocks, langs), end="")
    elif len(named) == 1:
        print(table.every_row(results[0], known), end="")
    else:
        print(table.side_by_side(named, known, text.width_of_terminal()), end="")
    raise Exit(options.incomplete_code(*results))


def _languages(given: str, results: Sequence[Result]) -> list[catalogue.Lang]:
    """Return the languages that --lang names; TockmarkError if no result has one of them."""
    langs = options.languages(given)
    there = {lang for result in results for lang in result.langs}
    if not there & set(langs):
        raise TockmarkError(
            f"no result has apps in {given}", f"they are in {', '.join(sorted(there))}"
        )
    return langs


def _fit(file: Path, only: str | None, as_json: bool) -> NoReturn:
    """Show what one more byte, argument or NOP costs."""
    whole = load(file)
    known = catalogue_of([whole])
    _, (result,) = options.selected(known, only, [whole])
    pairs.check_timed(paths.shown(file), result)
    pairs.warn_uncounted(paths.shown(file), result)
    found = sweeps.sweeps(result, known)
    if not found:
        raise TockmarkError(
            f"{paths.shown(file)} holds no sweep", f"one needs {sweeps.LEAST_SIZES} sizes of a row"
        )
    options.show(found if as_json else listing.fit_text(found))
    raise Exit(options.incomplete_code(result))


@verb(
    "tockmark list",
    "tockmark list ipc",
    "tockmark list --catalogue mine/catalogue.toml",
    "tockmark list --json",
)
def list_verb(
    row: Annotated[
        str | None,
        Argument(
            metavar="ROWS",
            help="Which rows, as for --only; default: all.",
            autocompletion=options.complete_list(options.rows),
        ),
    ] = None,
    file: options.CatalogueFile = None,
    as_json: options.AsJson = False,
) -> None:
    """Show the catalogue: every benchmark, what a sample does, and what is counted."""
    known = catalogue.load(file or paths.CATALOGUE)
    ids = select(known, row).ids()
    options.show(listing.list_json(known, ids) if as_json else listing.list_text(known, ids))


def topics() -> dict[str, Path]:
    """Return the pages by their names."""
    return dict(sorted((path.stem, path) for path in paths.DOCS.glob("*.md")))


@verb("tockmark help", "tockmark help method", "tockmark help profiling > profiling.txt")
def help_verb(
    topic: Annotated[
        str | None,
        Argument(
            metavar="TOPIC",
            help="A page of docs/; default: list them.",
            autocompletion=options.complete_name(topics),
        ),
    ] = None,
) -> None:
    """Show a page of the documentation, or list the pages.

    A terminal shows it by its pager, PAGER in the environment."""
    known = topics()
    if topic is None:
        wide = max(map(len, known))
        for name, path in known.items():
            print(f"{name:{wide}}  {_title(path)}")
        return
    if topic not in known:
        raise TockmarkError(f"there is no topic '{topic}'", _instead(topic, list(known)))
    from rich.console import Console
    from rich.markdown import Markdown

    console = Console(force_terminal=text.has_colours(), highlight=False)
    console.width = min(console.width, WIDEST)
    page = Markdown(known[topic].read_text(encoding="utf-8"), hyperlinks=False)
    if sys.stdout.isatty():
        os.environ.setdefault("LESS", LESS)
        with console.pager(styles=text.has_colours()):
            console.print(page)
    else:
        console.print(page)


def _title(path: Path) -> str:
    """Return a page's first heading."""
    lines = path.read_text(encoding="utf-8").splitlines()
    return next((line[2:] for line in lines if line.startswith("# ")), "")


def _instead(topic: str, known: list[str]) -> str:
    """Return what to do about a topic that there is not."""
    if topic in PROGRAM.verbs:
        return f"it is a verb: `tockmark {PROGRAM.full_name(topic)} --help`"
    near = similar_names(topic, known)
    return f"did you mean {' or '.join(near)}?" if near else "`tockmark help` lists all"
