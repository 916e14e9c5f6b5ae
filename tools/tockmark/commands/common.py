# SPDX-License-Identifier: Apache-2.0 OR MIT
"""What several verbs share: options that mean the same everywhere, and how a result is judged."""

import json
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Annotated

import typer

from tockmark.commands import completing
from tockmark.errors import INCOMPLETE, OK, TockmarkError
from tockmark.files import check_writable, is_through
from tockmark.paths import shown
from tockmark.result.model import Result
from tockmark.suite.catalogue import Catalogue, Params
from tockmark.suite.select import Selection, select

SHOWN_REASONS = 20  # of an incomplete result, on stderr; the file has them all

_debug = False


def debugging() -> bool:
    """Whether --debug was given."""
    return _debug


def _set_debug(value: bool) -> bool:
    global _debug
    _debug = _debug or value
    return value


Debug = Annotated[
    bool, typer.Option("--debug", callback=_set_debug, help="Show the trace of an error.")
]
Only = Annotated[
    str | None,
    typer.Option(
        help="Which rows: ids, groups, patterns, kernel or app, separated by commas:"
        " 'syscall,call.args:n=3'.",
        autocompletion=completing.several(completing.rows),
    ),
]
AsJson = Annotated[bool, typer.Option("--json", help="For other programs.")]


def log_beside(path: Path) -> Path | None:
    """Where the log of a result goes: beside it, or nowhere if that is a device or a pipe.
    TockmarkError if the result, or the log, would replace what it should not."""
    not_a_log(path)
    log = None if is_through(path) else path.with_suffix(".log")
    check_writable([path] if log is None else [log, path])
    return log


def not_a_log(path: Path) -> None:
    """TockmarkError if a result would be called as a log is."""
    if path.suffix == ".log":
        raise TockmarkError(f"{shown(path)} is the name of a log", "end it in .json with -o")


def judge(result: Result) -> int:
    """Name on stderr what is wrong with a result; the exit code that it deserves."""
    reasons = result.incomplete
    for reason in reasons[:SHOWN_REASONS]:
        print(f"tockmark: {reason}", file=sys.stderr)
    if len(reasons) > SHOWN_REASONS:
        print(f"tockmark: and {len(reasons) - SHOWN_REASONS} more", file=sys.stderr)
    return INCOMPLETE if reasons else OK


def rows_of(results: Iterable[Result]) -> list[tuple[str, Params]]:
    """The rows that results have, in the catalogue or not: what can be selected besides it."""
    return [(row.id, row.params) for result in results for row in result.rows]


def selected(
    known: Catalogue, only: str | None, results: Iterable[Result]
) -> tuple[Selection, list[Result]]:
    """What --only means, and what is left of results by it, which is not nothing."""
    results = list(results)
    wanted = select(known, only, rows_of(results))
    left = [result.only(wanted) for result in results]
    if wanted and not any(one.rows or one.failed or one.skipped or one.missing for one in left):
        raise TockmarkError(
            f"these results have no row of '{only}'", "`tockmark table --all` shows what they have"
        )
    return wanted, left


def print_json(told: object) -> None:
    """What --json prints."""
    print(json.dumps(told, indent=1, ensure_ascii=False, allow_nan=False))
