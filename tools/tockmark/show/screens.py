# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Which screen a suite has, besides that of all benchmarks (table.py)."""

from collections.abc import Callable, Sequence

from tockmark.result.model import Result
from tockmark.show import ladder, programs
from tockmark.suite.catalogue import Catalogue, Suite

Screen = Callable[[Sequence[tuple[str, Result]], Catalogue, int], str]
SCREENS: dict[Suite, Screen] = {
    "programs": programs.screen,
    "ladder": ladder.screen,
    "eight": ladder.screen,
}
