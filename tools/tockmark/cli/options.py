# SPDX-License-Identifier: Apache-2.0 OR MIT
"""What the verbs share that read or write results: options, completions, and how results are shown.

Each option that several verbs have is declared here, or in run_options.py if the verb runs or lays
the suite. This module loads little, since every verb loads it.
"""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import msgspec
from typer import Option

from tockmark.base.errors import INCOMPLETE, OK, TockmarkError, print_message
from tockmark.base.files import check_writable, is_device_or_pipe
from tockmark.base.paths import shown
from tockmark.result.model import Result
from tockmark.suite import catalogue as catalogues
from tockmark.suite.catalogue import Catalogue, CounterName, Lang, Params
from tockmark.suite.selection import TOUCHES, Selection, select, split_names

SHOWN_REASONS = 20  # of an incomplete result, on stderr; the file has them all

Completer = Callable[[str], list[str]]


def languages(given: str) -> list[Lang]:
    """Return the languages that --lang names."""
    return [catalogues.language(name) for name in split_names("lang", given, catalogues.LANGS)]


def counters(given: str | None) -> list[CounterName]:
    """Return the counter that --counter names, if any."""
    if given is None:
        return []
    found = [one for one in catalogues.COUNTERS if one == given]
    if not found:
        known = ", ".join(catalogues.COUNTERS)
        raise TockmarkError(f"there is no counter '{given}'", f"choose from: {known}")
    return found


class Switch(StrEnum):
    """The setting of the instruction cache."""

    ON = "on"
    OFF = "off"


def complete_name(names: Callable[[], Iterable[str]]) -> Completer:
    """Return what completes one of these names in the shell."""
    return lambda incomplete: [name for name in names() if name.startswith(incomplete)]


def complete_list(names: Callable[[], Iterable[str]]) -> Completer:
    """Return what completes the last of several names that stand between commas."""

    def completed(incomplete: str) -> list[str]:
        before, comma, last = incomplete.rpartition(",")
        return [f"{before}{comma}{name}" for name in names() if name.startswith(last)]

    return completed


def name_option(names: Callable[[], Iterable[str]], help: str) -> Any:
    """Return the option whose value is one of these names, which the shell completes."""
    return Option(help=help, autocompletion=complete_name(names))


def names_option(names: Callable[[], Iterable[str]], help: str) -> Any:
    """Return the option whose value is some of these names, with commas between them."""
    return Option(help=help, autocompletion=complete_list(names))


def output_option(help: str) -> Any:
    """Return the option that says where a verb writes what it makes."""
    return Option("-o", "--output", help=help)


def rows() -> list[str]:
    """Return what --only takes: ids, groups, and what a benchmark touches. Parameters are typed by
    hand: a colon ends a word for some shells."""
    known = catalogues.load()
    return [*known.benchmarks, *known.groups(), *TOUCHES]


Only = Annotated[
    str | None,
    names_option(
        rows,
        "Which rows: ids, groups, patterns, kernel or app, separated by commas:"
        " 'syscall,call.args:n=3'.",
    ),
]
CatalogueFile = Annotated[
    Path | None,
    Option(
        "--catalogue",
        metavar="FILE",
        help="Another catalogue of benchmarks. Its apps are in build/apps/<its name>-<LANG>-abi2.",
    ),
]
EveryRow = Annotated[bool, Option("--all", help="Show every row, not one screen of them.")]
AsJson = Annotated[bool, Option("--json", help="For other programs.")]
Force = Annotated[
    bool,
    Option("--force", help="Even if machine, clock or timing differ, or are not valid at all."),
]
Limits = Annotated[
    Path | None, Option(help="TOML file with limits; docs/reading-results.md has the default.")
]
DEFAULT_LIMITS = "default"
OptionalLimits = Annotated[
    str | None,
    Option(
        metavar="[FILE]",
        help="Judge growth by limits: those of a .toml file, or the default ones, which"
        " docs/reading-results.md has.",
    ),
]


def rows_of(results: Iterable[Result]) -> list[tuple[str, Params]]:
    """Return the rows of results, in the catalogue or not: what can be selected besides it."""
    return [(row.id, row.params) for result in results for row in result.rows]


def selected(
    known: Catalogue, only: str | None, results: Iterable[Result]
) -> tuple[Selection, list[Result]]:
    """Return what --only means, and the results with nothing else. TockmarkError if that leaves
    none of their rows."""
    results = list(results)
    wanted = select(known, only, rows_of(results))
    left = [result.only(wanted) for result in results]
    if wanted and not any(one.rows or one.failed or one.skipped or one.missing for one in left):
        raise TockmarkError(
            f"these results have no row of '{only}'", "`tockmark table --all` shows what they have"
        )
    return wanted, left


def check_exclusive(given: Mapping[str, object]) -> None:
    """TockmarkError if several of these options are given."""
    named = [option for option, value in given.items() if value]
    if len(named) > 1:
        raise TockmarkError(f"{named[0]} and {named[1]} exclude each other", "give one of them")


def show(made: object) -> None:
    """Print what a verb has made: a text as it is, all else as JSON."""
    if isinstance(made, str):
        print(made, end="", flush=True)
    else:
        print(
            json.dumps(msgspec.to_builtins(made), indent=1, ensure_ascii=False, allow_nan=False),
            flush=True,
        )


def incomplete_code(*results: Result) -> int:
    """Return the exit code of a verb that shows results: whether one of them is incomplete."""
    return INCOMPLETE if any(result.incomplete for result in results) else OK


def print_first(reasons: Sequence[str], label: str = "") -> None:
    """Say what is wrong, as far as somebody reads it."""
    for reason in reasons[:SHOWN_REASONS]:
        print_message(f"{label}{reason}")
    if len(reasons) > SHOWN_REASONS:
        print_message(f"and {len(reasons) - SHOWN_REASONS} more")


def log_path(path: Path) -> Path | None:
    """Return where the log of a result goes: beside it, or nowhere if that is a device or a pipe.
    TockmarkError if the result, or the log, would replace what it should not."""
    check_not_a_log(path)
    log = None if is_device_or_pipe(path) else path.with_suffix(".log")
    check_writable([path] if log is None else [log, path])
    return log


def check_not_a_log(path: Path) -> None:
    """TockmarkError if a result would be called as a log is."""
    if path.suffix == ".log":
        raise TockmarkError(f"{shown(path)} is the name of a log", "end it in .json with -o")
