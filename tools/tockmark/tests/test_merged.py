# SPDX-License-Identifier: Apache-2.0 OR MIT
"""docs/method.md and docs/measure-your-change.md quote the judgement of the committed results of
merged changes of Tock.
"""

from dataclasses import dataclass

import pytest

from tockmark.base import paths
from tockmark.judge import engine
from tockmark.judge.report import Report, Sizes
from tockmark.result.file import load
from tockmark.result.model import Result
from tockmark.show import text
from tockmark.show.judgement import first_line, table_lines
from tockmark.suite.selection import Selection
from tockmark.tests.links import LIMITS
from tockmark.tests.trials import WANTED

PAGE = paths.ROOT / "docs" / "method.md"
EXAMPLE = paths.ROOT / "docs" / "measure-your-change.md"


@dataclass(frozen=True)
class Measured:
    """A side whose only result is stored."""

    name: str
    result: Result

    def measured(self, first: int, _last: int, _wanted: Selection) -> list[Result]:
        return [] if first else [self.result]


def judged(number: int) -> Report:
    results = paths.RESULTS / "links"
    base, head = (
        Measured(side, load(results / f"pr-{number}-{side}.json")) for side in ("base", "head")
    )
    run = engine.measure_and_judge(base, head, WANTED, LIMITS, paired=True)
    return Report(run, ("base", "head"), results, Sizes({}, {}))


@pytest.mark.parametrize(("number", "code"), [(5044, 0), (4717, 3), (4923, 0)])
def test_the_page_quotes_the_judgement(number: int, code: int) -> None:
    report = judged(number)
    assert report.judgement.exit_code == code
    first = first_line(report.judgement)
    (line,) = (
        row
        for row in PAGE.read_text(encoding="utf-8").splitlines()
        if row.startswith(f"| [#{number}]")
    )
    assert f'| exit {code}: "{first}"' in line


def test_the_example_is_the_output() -> None:
    """Results do not name functions; those of the example come from profiles."""
    example = EXAMPLE.read_text(encoding="utf-8").partition("<!-- judged: 4717 -->\n")[2]
    lines = [line.removeprefix("    ") for line in example.partition("\n    …")[0].splitlines()]
    judgement = judged(4717).judgement
    printed = [*text.wrap(first_line(judgement)), "", *table_lines(judgement, text.LINE)]
    heads = 5  # lines; two of them have one more column
    assert lines[:3] == printed[:3]
    assert len(lines) > heads + 8
    shown = [line.removesuffix("  memset, …") for line in lines[heads:]]
    assert shown == printed[heads : len(lines)]
