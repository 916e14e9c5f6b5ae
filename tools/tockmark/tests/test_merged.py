# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The merged changes of Tock that docs/method.md shows: the page quotes the verdict that their
committed results give.
"""

from dataclasses import dataclass

import pytest

from tockmark import paths
from tockmark.judge import engine
from tockmark.judge.evidence import Sizes
from tockmark.judge.report import Report
from tockmark.result.file import load
from tockmark.result.model import Result
from tockmark.show.answer import first_line
from tockmark.suite.selection import Selection
from tockmark.tests.links import LIMITS
from tockmark.tests.trials import WANTED

PAGE = paths.ROOT / "docs" / "method.md"


@dataclass(frozen=True)
class Measured:
    """A side of which all that will ever be measured is in one result."""

    name: str
    result: Result

    def measured(self, first: int, _last: int, _wanted: Selection) -> list[Result]:
        return [] if first else [self.result]


@pytest.mark.parametrize(("number", "code"), [(5044, 0), (4717, 3), (4923, 0)])
def test_the_page_says_what_was_judged(number: int, code: int) -> None:
    results = paths.RESULTS / "links"
    base, head = (
        Measured(side, load(results / f"pr-{number}-{side}.json")) for side in ("base", "head")
    )
    judged = engine.judge(base, head, WANTED, LIMITS, paired=True)
    report = Report(judged, ("base", "head"), results, Sizes({}, {}))
    assert report.exit_code == code
    told = first_line(report.answer)
    (line,) = (
        one
        for one in PAGE.read_text(encoding="utf-8").splitlines()
        if one.startswith(f"| #{number} ")
    )
    assert line.startswith(f'| #{number} | exit {code}: "{told}"')
