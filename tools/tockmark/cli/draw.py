# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The verb that draws: site. What it needs takes longer to load than all the rest."""

from collections.abc import Callable, Sequence
from enum import StrEnum
from pathlib import Path
from typing import Annotated, NoReturn

from typer import Argument, Exit, Option

from tockmark.base import paths
from tockmark.base.errors import INCOMPLETE, OK, UNUSABLE, TockmarkError, print_message
from tockmark.base.files import write_whole
from tockmark.cli import options
from tockmark.cli.program import verb
from tockmark.result.file import load
from tockmark.result.model import catalogue_of
from tockmark.show.table import Named
from tockmark.site import pictures, plot, render
from tockmark.site.model import Site, gather
from tockmark.site.render import Chapter
from tockmark.suite.selection import split_names
from tockmark.target.progress import ProgressLine

EVERY = 5.0  # seconds between its lines where no terminal shows them
QUIET = 2.0  # seconds, after which it says how far it is
STUDY = paths.RESULTS / "paper-2021.json"


class PictureFormat(StrEnum):
    """The formats of a picture's file."""

    SVG = "svg"
    PNG = "png"


def _draw(
    files: list[Path], output: Path, form: PictureFormat, picture: str | None, only: str | None
) -> NoReturn:
    """Draw results: one file a picture, the same bytes for the same results. Several results are
    drawn together."""
    wanted = split_names("picture", picture, pictures.FIGURES)
    drawn = pictures.draw(_named(files, only), wanted)
    if not drawn:
        raise TockmarkError(
            "these results have no rows that make a picture",
            "give two results"
            if wanted == ["before-after"] and len(files) < 2
            else "run more of the suite: `tockmark list` shows all of it",
        )
    files_by_path = {
        output / f"{name}.{form.value}": plot.rendered(sheet.figure, form.value)
        for name, sheet in drawn.items()
    }
    write_whole(files_by_path)
    for path in files_by_path:
        print(paths.shown(path))
    absent = [name for name in wanted if picture is not None and name not in drawn]
    for name in absent:
        print_message(f"no rows for the picture '{name}'")
    raise Exit(INCOMPLETE if absent else OK)


def _named(files: list[Path], only: str | None) -> list[Named]:
    """Return what is meant of results, named by their files, which must tell them apart."""
    names = [file.stem for file in files]
    if len(set(names)) < len(names):
        names = [paths.shown(file) for file in files]
    if len(set(names)) < len(names):
        raise TockmarkError("a result is given twice", "give each file once")
    whole = [load(file) for file in files]
    _, results = options.selected(catalogue_of(whole), only, whole)
    return [Named(name, one.leading) for name, one in zip(names, results, strict=True)]


@verb(
    "tockmark site results -o build/site",
    "tockmark site before.json after.json -o out",
    "tockmark site a.json b.json --picture before-after --format png -o pictures",
    exits={
        INCOMPLETE: "written, but a result is incomplete (the pages say it, too),"
        " or a file in a folder is damaged",
        UNUSABLE: "unusable input or wrong usage; nothing written",
    },
)
def site_verb(
    given: Annotated[
        list[Path],
        Argument(metavar="RESULT...", help="Result files, or folders to search through."),
    ],
    output: Annotated[Path, options.output_option("Folder, new or with an older site.")],
    picture: Annotated[
        str | None,
        Option(help="Write no pages but these pictures, separated by commas; all: every one."),
    ] = None,
    form: Annotated[
        PictureFormat, Option("--format", help="Of the pictures of --picture.")
    ] = PictureFormat.SVG,
    only: options.Only = None,
) -> None:
    """Write results as static pages, for people who did not run them: no server, no network.

    What was found, first; then a page a benchmark, a kernel and a comparison, with search. In a
    folder each file is taken for what it is: a result or a profile. With --picture, write pictures
    alone: of the figures of the 2021 study, sweeps, distributions, before and after; several
    results are drawn together."""
    if picture is not None:
        _draw(given, output, form, None if picture == "all" else picture, only)
    raise Exit(make_site(given, output, only))


def make_site(
    given: list[Path],
    output: Path,
    only: str | None = None,
    chapters_of: Callable[[Site], Sequence[Chapter]] = lambda site: (),
) -> int:
    """Write the site of some results, with the chapters that `chapters_of` adds; say what is
    incomplete or damaged. Return the exit code."""
    render.check_site(output)
    found = gather(given)
    known = catalogue_of(one.result for one in found.results)
    if only is not None:
        _, results = options.selected(known, only, [one.result for one in found.results])
        names = [one.name for one in found.results]
        found.results = [Named(*one) for one in zip(names, results, strict=True)]
    elif not found.studies and STUDY.exists():
        found.studies.append(Named(STUDY.stem, load(STUDY)))
    for line in (*found.unknown_files, *found.problems):
        print_message(line)
    site = Site(found, known)
    files = render.site_pages(site, ProgressLine(QUIET, EVERY).count, chapters_of(site))
    render.write_site(output, files)
    print(f"written {paths.shown(output / 'index.html')} and {len(files) - 1} files beside it")
    for one in found.results:
        for reason in one.result.uncorrected[:1]:
            print_message(
                f"{one.name} is incomplete: {reason} ({len(one.result.uncorrected)} in all)"
            )
    lacking = any(one.result.uncorrected for one in found.results)
    return INCOMPLETE if found.problems or lacking else OK
