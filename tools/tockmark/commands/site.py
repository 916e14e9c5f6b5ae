# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The verb `site`: results as pages that one sends to a colleague."""

import sys
import time
from pathlib import Path
from typing import Annotated

import typer

from tockmark import paths
from tockmark.commands.common import Debug, Only, selected
from tockmark.commands.verb import Group, add
from tockmark.errors import INCOMPLETE, OK, UNUSABLE
from tockmark.result.file import load
from tockmark.show.plot import Named
from tockmark.suite import catalogue

STUDY = paths.RESULTS / "paper-2021.json"
QUIET = 2.0  # seconds, after which it says how far it is
EVERY = 5.0  # seconds between its lines where no terminal shows them


def register(app: typer.Typer) -> None:
    """Add this verb to the command line."""
    add(
        app,
        "site",
        site_verb,
        Group.SHOW,
        ("tockmark site results -o build/site", "tockmark site before.json after.json -o out"),
        {
            INCOMPLETE: "written, but a result is incomplete (the pages say it, too),"
            " or a file in a folder is damaged",
            UNUSABLE: "unusable input or wrong usage; nothing written",
        },
    )


def site_verb(
    given: Annotated[
        list[Path],
        typer.Argument(metavar="RESULT...", help="Result files, or folders to search through."),
    ],
    output: Annotated[
        Path, typer.Option("-o", "--output", help="Folder, new or with an older site.")
    ],
    only: Only = None,
    debug: Debug = False,
) -> None:
    """Write results as static pages, for people who did not run them: no server, no network.

    What was found, first; then a page a benchmark, a kernel and a comparison, with search. In a
    folder each file is taken for what it is: results, profiles, a history, a validation."""
    from tockmark.site import folder, render, sources  # what draws is slow to load
    from tockmark.site.sorted import arrange

    folder.check(output)
    found = sources.gather(given)
    known = catalogue.load()
    if only is not None:
        _, results = selected(known, only, [one.result for one in found.results])
        names = [one.name for one in found.results]
        found.results = [Named(*one) for one in zip(names, results, strict=True)]
    elif not found.studies and STUDY.exists():
        found.studies.append(Named(STUDY.stem, load(STUDY)))
    for line in (*found.strangers, *found.problems):
        print(f"tockmark: {line}", file=sys.stderr)
    files = render.pages(arrange(found, known), baselines(found.results), _Progress())
    folder.write(output, files)
    print(f"written {paths.shown(output / 'index.html')} and {len(files) - 1} files beside it")
    for one in found.results:
        for reason in one.result.incomplete[:1]:
            many = len(one.result.incomplete)
            print(f"tockmark: {one.name} is incomplete: {reason} ({many} in all)", file=sys.stderr)
    whole = not (found.problems or any(one.result.incomplete for one in found.results))
    raise typer.Exit(OK if whole else INCOMPLETE)


def baselines(results: list[Named]) -> dict[str, Named]:
    """The run of the baseline kernel that each result is held against, by the result's name: one on
    the same machine, by the same interface, of the given ones or of the committed. There is none
    for a run of the baseline itself."""
    committed = [
        Named(path.stem, load(path)) for path in sorted(paths.RESULTS.glob("baseline*.json"))
    ]
    own = [one for one in results if one.result.provenance.kernel.is_baseline]
    found: dict[str, Named] = {}
    for one in results:
        told = one.result.provenance
        if told.kernel.is_baseline:
            continue
        fitting = [
            other
            for other in (*own, *committed)
            if other.result.provenance.board.machine == told.board.machine
            and other.result.provenance.abi == told.abi
        ]
        if fitting:
            found[one.name] = max(fitting, key=lambda other: len(other.result.table))
    return found


class _Progress:
    """Says how far it is, once that takes longer: on one line of a terminal, else now and then."""

    def __init__(self) -> None:
        self.began = self.last = time.monotonic()
        self.live = sys.stderr.isatty()

    def __call__(self, what: str, done: int, total: int) -> None:
        now = time.monotonic()
        if now - self.began < QUIET or (not self.live and now - self.last < EVERY):
            return
        self.last = now
        line = f"{done} of {total} {what}"
        if self.live:
            print(f"\r{line:<40}\r", end="", file=sys.stderr, flush=True)
        else:
            print(line, file=sys.stderr, flush=True)
