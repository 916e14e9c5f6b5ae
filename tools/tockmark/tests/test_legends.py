# SPDX-License-Identifier: Apache-2.0 OR MIT
"""What stands above the rows: the legend of the table that follows, and the levels of a gate."""

import re

from typer.testing import CliRunner

from tockmark.cli.app import app
from tockmark.compare.limits import LEVELS, Level
from tockmark.paths import RESULTS
from tockmark.show.comparison import SHOWN

OLD, NEW = (str(RESULTS / f"tock-{name}-cw310.json") for name in ("2.2", "master"))


def shown(*arguments: str) -> str:
    return CliRunner().invoke(app, list(arguments)).output


def test_the_legend_of_two_has_the_words_of_their_table() -> None:
    text = shown("compare", OLD, NEW)
    _, _, table = text.partition("verdict\n---")
    words = set(re.findall(r"  (equivalent|trivial|relevant|layout\?|indeterminate|app)\b", table))
    assert len(words) > 3
    for word in words:
        assert len(re.findall(rf"^{re.escape(word)}: ", text, re.MULTILINE)) == 1
    assert not re.search(r"^[\w?]+ \(.*\): ", text, re.MULTILINE)  # marks


def test_the_legend_of_more_has_the_marks_of_their_table() -> None:
    text = shown("compare", OLD, NEW, OLD)
    marks = re.findall(r"^[\w?]+ \((.*)\): ", text, re.MULTILINE)
    assert marks == ["=", "~", "< lower, > higher", "l", "?", "a"]
    assert not re.search(r"^(interval|instr|equivalent): ", text, re.MULTILINE)


def test_findings_stand_by_level_worst_first() -> None:
    text = shown("ci", "gate", OLD, NEW)
    titles = re.findall(r"^(\w+): (\d+) (?:beyond|lower)", text, re.MULTILINE)
    assert [title.lower() for title, _ in titles] == [
        LEVELS[level].word for level in (Level.HARD, Level.SOFT, Level.BETTER)
    ]
    last = re.findall(r"(\d+) (?:beyond a \w+|better)", text.splitlines()[-1])
    assert [count for _, count in titles] == last
    blocks = re.split(r"^-{100}\n", text, flags=re.MULTILINE)[1:]
    for block, (_, count) in zip(blocks, titles, strict=True):
        rows = re.findall(r"^\S+\.\S.*$", block.partition("\n\n")[0], re.MULTILINE)
        assert len(rows) == min(int(count), SHOWN)
