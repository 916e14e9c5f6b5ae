# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The verb `site`. It has a module of its own, because its packages load slowly."""

import gc
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Literal, NoReturn

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

EVERY = 5.0  # seconds between lines of progress without a terminal
QUIET = 2.0  # seconds before the first line of progress
STUDY = paths.RESULTS / "paper-2021.json"


PictureFormat = Literal["svg", "png"]


def _draw(
    files: list[Path], output: Path, form: PictureFormat, picture: str | None, only: str | None
) -> NoReturn:
    """Draw pictures of results, one file per picture; several results share each picture.

    The same results give the same bytes."""
    names = split_names("picture", picture, pictures.FIGURES)
    sheets = pictures.draw(_load_named(files, only), names)
    if not sheets:
        raise TockmarkError(
            "these results have no rows for a picture",
            "give two results"
            if names == ["before-after"] and len(files) < 2
            else "run more of the suite (`tockmark list` shows all rows)",
        )
    files_by_path = {
        output / f"{name}.{form}": plot.rendered(sheet.figure, form)
        for name, sheet in sheets.items()
    }
    write_whole(files_by_path)
    for path in files_by_path:
        print(paths.shown(path))
    absent = [name for name in names if picture is not None and name not in sheets]
    for name in absent:
        print_message(
            f"--picture {name}: no result has rows for it. Run more of the suite, or omit it."
        )
    raise Exit(INCOMPLETE if absent else OK)


def _load_named(files: list[Path], only: str | None) -> list[Named]:
    """Load the selected rows of results, each named by its file; the names must differ."""
    names = [file.stem for file in files]
    if len(set(names)) < len(names):
        names = [paths.shown(file) for file in files]
    if len(set(names)) < len(names):
        raise TockmarkError("a result is given twice", "give each file once")
    whole = [load(file) for file in files]
    _, results = options.selected(catalogue_of(whole), only, whole)
    return [Named(name, result.leading) for name, result in zip(names, results, strict=True)]


@verb(
    "tockmark site results -o build/site",
    "tockmark site before.json after.json -o out",
    "tockmark site a.json b.json --picture before-after --format png -o pictures",
    exits={
        INCOMPLETE: "written, but a result is incomplete (the pages show it) or a file is damaged",
        UNUSABLE: "unusable input or wrong usage; nothing written",
    },
)
def site_verb(
    sources: Annotated[
        list[Path],
        Argument(metavar="RESULT...", help="Result files, or folders to search."),
    ],
    output: Annotated[Path, options.output_option("Folder of the site, new or existing.")],
    picture: Annotated[
        str | None,
        Option(help="Write only these pictures, separated by commas, or `all`, and no pages."),
    ] = None,
    form: Annotated[PictureFormat, Option("--format", help="Format of --picture.")] = "svg",
    only: options.Only = None,
) -> None:
    """Write results as static pages, which need no server and no network.

    The first page shows the findings; then there is a page per benchmark, kernel and comparison,
    with search. Folders may contain results and profiles. With --picture, write only pictures: the
    figures of the 2021 study, sweeps, before and after, kernels."""
    if picture is not None:
        _draw(sources, output, form, None if picture == "all" else picture, only)
    raise Exit(make_site(sources, output, only))


@contextmanager
def _uncollected() -> Iterator[None]:
    """Search for no garbage, which takes a fifth of a site's time: its objects live to the end."""
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


@_uncollected()
def make_site(
    sources: list[Path],
    output: Path,
    only: str | None = None,
    chapters_of: Callable[[Site], Sequence[Chapter]] = lambda site: (),
) -> int:
    """Write the site of results, with the chapters of `chapters_of`; return the exit code.

    Results that are incomplete or damaged are reported on stderr."""
    render.check_site(output)
    inputs = gather(sources)
    catalogue = catalogue_of(named.result for named in inputs.results)
    if only is not None:
        _, results = options.selected(catalogue, only, [named.result for named in inputs.results])
        names = [named.name for named in inputs.results]
        inputs.results = [Named(*pair) for pair in zip(names, results, strict=True)]
    elif not inputs.studies and STUDY.exists():
        inputs.studies.append(Named(STUDY.stem, load(STUDY)))
    for line in (*inputs.unknown_files, *inputs.problems):
        print_message(line)
    site = Site(inputs, catalogue)
    files = render.site_pages(site, ProgressLine(QUIET, EVERY).count, chapters_of(site))
    render.write_site(output, files)
    print(f"written {paths.shown(output / 'index.html')} and {len(files) - 1} more files")
    for named in inputs.results:
        for reason in named.result.uncorrected[:1]:
            count = len(named.result.uncorrected)
            print_message(f"{named.name} is incomplete: {reason} ({count} in all)")
    incomplete = any(named.result.uncorrected for named in inputs.results)
    return INCOMPLETE if inputs.problems or incomplete else OK
