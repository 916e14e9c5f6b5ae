# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Verbs that show: list, plot. What draws is loaded only when one of them runs: it takes
longer to load than all the rest of the tool."""

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tockmark import paths
from tockmark.commands.common import AsJson, Debug, Only, print_json, selected
from tockmark.commands.verb import Group, add
from tockmark.errors import INCOMPLETE, OK, UNUSABLE, TockmarkError
from tockmark.files import write_whole
from tockmark.result.file import load
from tockmark.show import listing
from tockmark.suite import catalogue
from tockmark.suite.catalogue import Catalogue
from tockmark.suite.select import of_names

if TYPE_CHECKING:
    from tockmark.show import plot

PLOTS = paths.ROOT / "build" / "plots"


class Format(StrEnum):
    """Of a picture."""

    SVG = "svg"
    PNG = "png"


Files = Annotated[list[Path], typer.Argument(metavar="RESULT...", help="Result files.")]


def register(app: typer.Typer) -> None:
    """Add these verbs to the command line."""
    add(
        app,
        "list",
        list_verb,
        Group.SHOW,
        ("tockmark list", "tockmark list --json"),
    )
    add(
        app,
        "plot",
        plot_verb,
        Group.SHOW,
        (
            "tockmark plot results/a.json",
            "tockmark plot before.json after.json --picture before-after --format png -o pictures",
        ),
        {
            OK: "all that was asked for is drawn",
            INCOMPLETE: "a picture of --picture has no rows",
            UNUSABLE: "unusable input, wrong usage, or nothing to draw",
        },
    )


def list_verb(as_json: AsJson = False, debug: Debug = False) -> None:
    """Show the catalogue: every benchmark, what a sample does, and what is counted."""
    known = catalogue.load()
    if as_json:
        print_json(listing.as_json(known))
    else:
        print(listing.render(known), end="")


def plot_verb(
    files: Files,
    output: Annotated[
        Path, typer.Option("-o", "--output", help="Folder; default: build/plots.")
    ] = PLOTS,
    form: Annotated[Format, typer.Option("--format", help="Of the pictures.")] = Format.SVG,
    picture: Annotated[
        str | None, typer.Option(help="Which, separated by commas; default: all there are.")
    ] = None,
    only: Only = None,
    debug: Debug = False,
) -> None:
    """Draw results: the figures of the 2021 study, sweeps, distributions, before and after.

    One file a picture, the same bytes for the same results. Several results are drawn together."""
    from tockmark.show import figures, plot

    wanted = of_names("picture", picture, figures.FIGURES)
    drawn = figures.draw(_named(files, catalogue.load(), only), wanted)
    if not drawn:
        raise TockmarkError(
            "these results have no rows that make a picture",
            "give two results"
            if wanted == ["before-after"] and len(files) < 2
            else "run more of the suite: `tockmark list` shows all of it",
        )
    pictures = {
        output / f"{name}.{form.value}": plot.rendered(sheet, form.value)
        for name, sheet in drawn.items()
    }
    write_whole(pictures)
    for path in pictures:
        print(paths.shown(path))
    absent = [name for name in wanted if picture is not None and name not in drawn]
    for name in absent:
        typer.echo(f"tockmark: no rows for the picture '{name}'", err=True)
    raise typer.Exit(INCOMPLETE if absent else OK)


def _named(files: list[Path], known: Catalogue, only: str | None) -> list["plot.Named"]:
    """What is meant of results, under the names of their files, which must tell them apart."""
    from tockmark.show import plot

    names = [file.stem for file in files]
    if len(set(names)) < len(names):
        names = [paths.shown(file) for file in files]
    if len(set(names)) < len(names):
        raise TockmarkError("a result is given twice", "give each file once")
    _, results = selected(known, only, map(load, files))
    return [plot.Named(name, one.leading) for name, one in zip(names, results, strict=True)]
