# SPDX-License-Identifier: Apache-2.0 OR MIT
"""What the shell may complete besides verbs, options and files: names that the checkout knows."""

from collections.abc import Callable, Iterable

from tockmark.suite import catalogue as catalogues
from tockmark.suite.select import TOUCHES
from tockmark.target import board as boards

Completer = Callable[[str], list[str]]


def one(names: Callable[[], Iterable[str]]) -> Completer:
    """Completes one of these names."""
    return lambda incomplete: [name for name in names() if name.startswith(incomplete)]


def several(names: Callable[[], Iterable[str]]) -> Completer:
    """Completes the last of several names that stand between commas."""

    def completed(incomplete: str) -> list[str]:
        before, comma, last = incomplete.rpartition(",")
        return [f"{before}{comma}{name}" for name in names() if name.startswith(last)]

    return completed


def rows() -> list[str]:
    """What --only takes: ids, groups, and what a benchmark touches. Parameters are typed by hand:
    a colon ends a word for some shells."""
    known = catalogues.load()
    return [*known.benchmarks, *known.groups(), *TOUCHES]


def benchmarks() -> list[str]:
    """The ids of the catalogue."""
    return list(catalogues.load().benchmarks)


def machines() -> list[str]:
    """Those that are simulated."""
    return sorted({one.machine for one in map(boards.load, boards.names()) if one.kind == "sim"})
