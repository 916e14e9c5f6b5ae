# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The verb `help` shows the pages of docs/ in the terminal."""

import os
import sys
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.markdown import Markdown

from tockmark import paths
from tockmark.cli import options
from tockmark.cli.verb import VERBS, verb
from tockmark.errors import TockmarkError
from tockmark.show import text
from tockmark.suite.selection import near_to

WIDEST = 100  # columns of a page
LESS = "FRX"  # for the pager, if nothing is set: shows colours, and ends by itself on a short page


def topics() -> dict[str, Path]:
    """Return the pages by their names."""
    return dict(sorted((path.stem, path) for path in paths.DOCS.glob("*.md")))


@verb(("tockmark help", "tockmark help comparing", "tockmark help boards > boards.txt"))
def help_verb(
    topic: Annotated[
        str | None,
        typer.Argument(
            metavar="TOPIC",
            help="A page of docs/; default: list them.",
            autocompletion=options.one(topics),
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
    console = Console(force_terminal=text.is_on(), highlight=False)
    console.width = min(console.width, WIDEST)
    page = Markdown(known[topic].read_text(encoding="utf-8"), hyperlinks=False)
    if sys.stdout.isatty():
        os.environ.setdefault("LESS", LESS)
        with console.pager(styles=text.is_on()):
            console.print(page)
    else:
        console.print(page)


def _title(path: Path) -> str:
    """Return a page's first heading."""
    lines = path.read_text(encoding="utf-8").splitlines()
    return next((line[2:] for line in lines if line.startswith("# ")), "")


def _instead(topic: str, known: list[str]) -> str:
    """Return what to do about a topic that there is not."""
    if topic in VERBS:
        return f"it is a verb: `tockmark {topic} --help`"
    near = near_to(topic, known)
    return f"did you mean {' or '.join(near)}?" if near else "`tockmark help` lists all"
