# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Options that several verbs share, shell completion, and the output of results.

Options for verbs that run the suite are in run_options.py. Every verb loads this module, so it
imports little.
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
from tockmark.show import text
from tockmark.suite import catalogue as catalogues
from tockmark.suite.catalogue import Catalogue, CounterName, Lang, Params
from tockmark.suite.selection import TOUCHES, Selection, select, split_names

SHOWN_REASONS = 20  # why a result is incomplete, on stderr; the file has all reasons

Completer = Callable[[str], list[str]]


def languages(names: str) -> list[Lang]:
    """Return the languages that --lang names."""
    return [
        catalogues.parse_language(name) for name in split_names("lang", names, catalogues.LANGS)
    ]


def counters(name: str | None) -> list[CounterName]:
    """Return the counter that --counter names, or an empty list without --counter."""
    if name is None:
        return []
    matches = [counter for counter in catalogues.COUNTERS if counter == name]
    if not matches:
        names = ", ".join(catalogues.COUNTERS)
        raise TockmarkError(f"--counter: unknown counter '{name}'", f"choose from: {names}")
    return matches


class Switch(StrEnum):
    """The setting of the instruction cache."""

    ON = "on"
    OFF = "off"


def complete_name(names: Callable[[], Iterable[str]]) -> Completer:
    """Return a completer for one of these names."""
    return lambda incomplete: [name for name in names() if name.startswith(incomplete)]


def complete_list(names: Callable[[], Iterable[str]]) -> Completer:
    """Return a completer for the last name of a comma-separated list."""

    def complete(incomplete: str) -> list[str]:
        before, comma, last = incomplete.rpartition(",")
        return [f"{before}{comma}{name}" for name in names() if name.startswith(last)]

    return complete


def name_option(names: Callable[[], Iterable[str]], help: str) -> Any:
    """Return an option that takes one of these names and completes it."""
    return Option(help=help, autocompletion=complete_name(names))


def names_option(names: Callable[[], Iterable[str]], help: str) -> Any:
    """Return an option that takes a comma-separated list of these names and completes it."""
    return Option(help=help, autocompletion=complete_list(names))


def output_option(help: str) -> Any:
    """Return the option -o of a verb."""
    return Option("-o", "--output", help=help)


def rows() -> list[str]:
    """Return the terms of --only to complete: ids, groups, `kernel` and `app`.

    Parameters are not completed, because a colon ends a word in some shells."""
    catalogue = catalogues.load()
    return [*catalogue.benchmarks, *catalogue.groups(), *TOUCHES]


Only = Annotated[
    str | None,
    names_option(
        rows,
        "Select rows: ids, groups, patterns, kernel or app, separated by commas, such as"
        " 'syscall,call.args:n=3' (default: all).",
    ),
]
CatalogueFile = Annotated[
    Path | None,
    Option(
        "--catalogue",
        metavar="FILE",
        help="Use another catalogue of benchmarks, whose apps are in"
        " build/apps/<its name>-<LANG>-abi2 (default: Tock's, apps/catalogue.toml).",
    ),
]
EveryRow = Annotated[bool, Option("--all", help="Show every row (default: one screen).")]
AsJson = Annotated[bool, Option("--json", help="Print JSON.")]
Force = Annotated[
    bool,
    Option(
        "--force",
        help="Compare even if machine, clock or timing differ, or if the timing is not valid.",
    ),
]
Limits = Annotated[
    Path | None,
    Option(help="TOML file of limits (default: the limits in docs/reading-results.md)."),
]
DEFAULT_LIMITS = "default"
OptionalLimits = Annotated[
    str | None,
    Option(
        metavar="[FILE]",
        help="Judge growth by the limits of a .toml file, or without a file by the default limits"
        " (docs/reading-results.md).",
    ),
]


def rows_of(results: Iterable[Result]) -> list[tuple[str, Params]]:
    """Return the rows of results, so that rows outside the catalogue can be selected also."""
    return [(row.id, row.params) for result in results for row in result.rows]


def selected(
    catalogue: Catalogue, only: str | None, results: Iterable[Result]
) -> tuple[Selection, list[Result]]:
    """Return the selection of --only, and the results reduced to it.

    TockmarkError if no result has a selected row."""
    results = list(results)
    selection = select(catalogue, only, rows_of(results))
    reduced = [result.only(selection) for result in results]
    named = (row for r in reduced for row in (*r.rows, *r.failed, *r.skipped, *r.missing))
    if selection and not any(map(selection.includes, named)):  # controls are always there
        raise TockmarkError(
            f"--only {only}: the results have no such row", "`tockmark table --all` lists the rows"
        )
    return selection, reduced


def check_exclusive(options: Mapping[str, object]) -> None:
    """Raise TockmarkError if more than one of these options has a value."""
    names = [option for option, value in options.items() if value]
    if len(names) > 1:
        raise TockmarkError(f"{names[0]} and {names[1]} exclude each other", "give one of them")


def show(output: object) -> None:
    """Print the output of a verb: a text as wide as the output, anything else as JSON."""
    if isinstance(output, str):
        print(text.fold(output), end="", flush=True)
    else:
        print(
            json.dumps(msgspec.to_builtins(output), indent=1, ensure_ascii=False, allow_nan=False),
            flush=True,
        )


def incomplete_code(*results: Result) -> int:
    """Return the exit code of a verb that shows results: INCOMPLETE if one is incomplete."""
    return INCOMPLETE if any(result.incomplete for result in results) else OK


def print_first(reasons: Sequence[str], label: str = "") -> None:
    """Print the first reasons only."""
    for reason in reasons[:SHOWN_REASONS]:
        print_message(f"{label}{reason}")
    if len(reasons) > SHOWN_REASONS:
        print_message(f"and {len(reasons) - SHOWN_REASONS} more")


def log_path(path: Path) -> Path | None:
    """Return the path of a result's log: next to it, or None if it is a device or a pipe.

    TockmarkError if writing either file would replace a file of another type."""
    check_not_a_log(path)
    log = None if is_device_or_pipe(path) else path.with_suffix(".log")
    check_writable([path] if log is None else [log, path])
    return log


def check_not_a_log(path: Path) -> None:
    """Raise TockmarkError if a result would have the name of a log."""
    if path.suffix == ".log":
        raise TockmarkError(
            f"{shown(path)}: a result cannot end in .log", "give -o a name that ends in .json"
        )
