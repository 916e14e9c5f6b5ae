# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The verbs that show files: table (results), list (the catalogue), help (pages of docs/)."""

import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, NoReturn

from typer import Argument, Exit, Option

from tockmark.base import paths
from tockmark.base.documents import source_format
from tockmark.base.errors import INCOMPLETE, TockmarkError
from tockmark.cli import options
from tockmark.cli.app import PROGRAM
from tockmark.cli.program import verb
from tockmark.compare import pairs, sweeps
from tockmark.latency import FORM as LATENCY
from tockmark.result.file import load
from tockmark.result.model import Result, catalogue_of
from tockmark.show import listing, table, text
from tockmark.suite import catalogue as catalogues
from tockmark.suite.catalogue import LANGS
from tockmark.suite.selection import Selection, select, similar_names

WIDEST = 100  # columns of a page
LESS = "FRX"  # the default for the pager less: show colours, and quit at the end of a short page


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
        bool, Option("--events", help="Show the core's event counters, such as stalls and loads.")
    ] = False,
    lang: Annotated[
        str | None,
        options.names_option(
            lambda: LANGS, "Languages of the apps: c, rust (default: c if a result has it)."
        ),
    ] = None,
    fit: Annotated[
        bool,
        Option(
            "--fit",
            help="Fit straight lines to the sweeps of one result: the cost of one more byte,"
            " argument or NOP.",
        ),
    ] = False,
    markdown: Annotated[bool, Option("--markdown", help="Print Markdown.")] = False,
    comma_separated: Annotated[bool, Option("--csv", help="Print CSV, only the table.")] = False,
    no_provenance: Annotated[
        bool, Option("--no-provenance", help="Omit the kernels' hashes and flags.")
    ] = False,
    as_json: options.AsJson = False,
) -> None:
    """Show results on one screen, several results side by side, in the order of the files, with
    ratios to the first.

    --all shows every row, --only the selected rows. Files of `tockmark latency` add the worst wait
    of the same kernel."""
    formats = {"--markdown": markdown, "--csv": comma_separated}
    options.check_exclusive({**formats, "--json": as_json})
    if fit:
        options.check_exclusive({"--fit": fit, **formats})
        _fit(files, only, as_json)
    latencies = [path for path in files if source_format(path) == LATENCY]
    named = [(paths.shown(path), load(path)) for path in files if path not in latencies]
    if not named:
        raise TockmarkError("no file is a result", "give a result of the same kernel, too")
    catalogue = catalogue_of(result for _, result in named)
    wanted, results = options.selected(catalogue, only, (result for _, result in named))
    named = [(name, result) for (name, _), result in zip(named, results, strict=True)]
    form = text.Form.MARKDOWN if markdown else text.Form.CSV if comma_separated else text.Form.TEXT
    if events:
        shown = "\n".join(table.event_counts(result, catalogue, form) for result in results)
    elif as_json:
        shown = ""
        options.show(table.as_json(results, catalogue))
    elif not every:
        langs = None if lang is None else _languages(lang, results)
        shown = _first_screen(named, wanted, langs, form, not no_provenance)
        worst = [_worst_wait(path) for path in latencies if form is not text.Form.CSV]
        shown += "\n" * (bool(worst) and not no_provenance) + "".join(worst)
    elif len(named) == 1:
        shown = table.every_row(results[0], catalogue, form)
    else:
        shown = table.side_by_side(named, catalogue, form=form)
    print(shown, end="", flush=True)
    raise Exit(options.incomplete_code(*results))


def _first_screen(
    named: Sequence[tuple[str, Result]],
    wanted: Selection,
    langs: Sequence[catalogues.Lang] | None,
    form: text.Form,
    provenance: bool,
) -> str:
    """Return the first screen, with the selected rows if any are."""
    results = [result for _, result in named]
    named_rows = bool(wanted) or any(result.provenance.catalogue for result in results)
    blocks = table.selected_blocks(wanted, results) if named_rows else None
    return table.first_screen(
        named, wanted.catalogue, blocks=blocks, langs=langs, form=form, provenance=provenance
    )


def _worst_wait(path: Path) -> str:
    """Return a sentence on a kernel's worst wait, for the lines below the first screen."""
    from tockmark.latency import report  # loads the packages that measure

    latency = report.load(path)
    line = f"On {table.short_title(latency.kernel)}, {report.format_bound(latency)}."
    return "".join(f"{part}\n" for part in text.wrap(line, "  "))


def _languages(names: str, results: Sequence[Result]) -> list[catalogues.Lang]:
    """Return the languages of --lang. TockmarkError if no result has any of them."""
    langs = options.languages(names)
    available = {lang for result in results for lang in result.langs}
    if not available & set(langs):
        raise TockmarkError(
            f"--lang {names}: no result has such apps",
            f"choose from: {', '.join(sorted(available))}",
        )
    return langs


def _fit(files: Sequence[Path], only: str | None, as_json: bool) -> NoReturn:
    """Show the cost of one more byte, argument or NOP."""
    if len(files) > 1:
        raise TockmarkError("--fit shows one result", "give one file")
    (file,) = files
    whole = load(file)
    catalogue = catalogue_of([whole])
    _, (result,) = options.selected(catalogue, only, [whole])
    pairs.check_timed(paths.shown(file), result)
    pairs.warn_uncounted(paths.shown(file), result)
    fits = sweeps.sweeps(result, catalogue)
    if not fits:
        raise TockmarkError(
            f"{paths.shown(file)}: no row has {sweeps.LEAST_SIZES} sizes to fit a line to",
            "measure more sizes, for example with `tockmark run --only mem`",
        )
    options.show(fits if as_json else listing.fit_text(fits))
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
            help="Rows to list, as for --only (default: all).",
            autocompletion=options.complete_list(options.rows),
        ),
    ] = None,
    file: options.CatalogueFile = None,
    as_json: options.AsJson = False,
) -> None:
    """Show the catalogue, a line for each benchmark; with ROWS, what a sample of each does, and its
    parameters and unit."""
    catalogue = catalogues.load(file or paths.CATALOGUE)
    ids = select(catalogue, row).ids()
    options.show(
        listing.list_json(catalogue, ids) if as_json else listing.list_text(catalogue, ids)
    )


def topics() -> dict[str, Path]:
    """Return the pages of docs/ by name."""
    return dict(sorted((path.stem, path) for path in paths.DOCS.glob("*.md")))


@verb("tockmark help", "tockmark help method", "tockmark help profiling > profiling.txt")
def help_verb(
    topic: Annotated[
        str | None,
        Argument(
            metavar="TOPIC",
            help="Page of docs/ to show (default: list the pages).",
            autocompletion=options.complete_name(topics),
        ),
    ] = None,
) -> None:
    """Show a page of the documentation, or list the pages.

    On a terminal the page is shown in the pager, $PAGER."""
    pages = topics()
    if topic is None:
        width = max(map(len, pages))
        for name, path in pages.items():
            print(f"{name:{width}}  {_title(path)}")
        return
    if topic not in pages:
        raise TockmarkError(f"there is no topic '{topic}'", _advice(topic, list(pages)))
    from rich.console import Console
    from rich.markdown import Markdown

    console = Console(force_terminal=text.has_colours(), highlight=False)
    console.width = min(text.columns(), WIDEST)
    page = Markdown(pages[topic].read_text(encoding="utf-8"), hyperlinks=False)
    if sys.stdout.isatty():
        os.environ.setdefault("LESS", LESS)
        with console.pager(styles=text.has_colours()):
            console.print(page)
    else:
        console.print(page)


def _title(path: Path) -> str:
    """Return the first heading of a page."""
    lines = path.read_text(encoding="utf-8").splitlines()
    return next((line[2:] for line in lines if line.startswith("# ")), "")


def _advice(topic: str, pages: list[str]) -> str:
    """Return what to do about an unknown topic."""
    if topic in PROGRAM.verbs:
        return f"it is a verb: `tockmark {PROGRAM.full_name(topic)} --help`"
    near = similar_names(topic, pages)
    return f"did you mean {' or '.join(near)}?" if near else "`tockmark help` lists all"
