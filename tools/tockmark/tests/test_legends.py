# SPDX-License-Identifier: Apache-2.0 OR MIT
"""What stands above the rows: the legend of the table that follows, and the levels of a gate."""

import re
from itertools import groupby

from typer.testing import CliRunner

from tockmark.cli.app import app
from tockmark.paths import RESULTS

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


def test_a_gate_says_by_group_what_moved_and_marks_what_is_beyond_a_limit() -> None:
    text = shown("ci", "gate", OLD, NEW, "--all")
    _, *rows = (line for line in text.splitlines() if " → " in line)  # less the heading
    groups = [group for group, _ in groupby(line.partition(".")[0] for line in rows)]
    assert len(groups) == len(set(groups)) > 5
    said = " ".join(text.split())
    for mark, level in (("!!", "hard"), ("!", "soft")):
        (counts,) = re.findall(rf"beyond the {level} limit: ([^;.]*)", said)
        marked = sum(len(re.findall(rf"(?<!!){mark}(?!!)", line)) for line in rows)
        assert marked == sum(map(int, re.findall(r"\d+", counts))) > 0
