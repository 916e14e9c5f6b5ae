# SPDX-License-Identifier: Apache-2.0 OR MIT
"""What stands above the rows: the legend of the table that follows, and what limits find."""

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
    words = set(re.findall(r"  (worse|better|unsure|same|not judged)$", table, re.MULTILINE))
    assert len(words) > 3
    for word in words:
        assert len(re.findall(rf"^{re.escape(word)}: ", text, re.MULTILINE)) == 1
    assert not re.search(r"^[\w ]+ \(.*\): ", table, re.MULTILINE)  # marks


def test_the_legend_of_more_has_the_marks_of_their_table() -> None:
    text = shown("compare", OLD, NEW, OLD)
    marks = re.findall(r"^[\w ]+ \(([^\w\s])\): ", text, re.MULTILINE)
    assert marks == [">", "<", "?", "=", "-"]
    assert not re.search(r"^(range|instr|same): ", text, re.MULTILINE)


def test_limits_mark_what_is_beyond_them_by_group() -> None:
    text = shown("compare", OLD, NEW, "--limits", "--all")
    _, *rows = (line for line in text.splitlines() if " → " in line)  # less the heading
    groups = [group for group, _ in groupby(line.partition(".")[0] for line in rows)]
    assert len(groups) == len(set(groups)) > 5
    said = " ".join(text.split())
    for mark, limit in (("!!", "hard"), ("!", "soft")):
        (counts,) = re.findall(rf"beyond the {limit} limit: ([^;.]*)", said)
        marked = sum(len(re.findall(rf"(?<!!){mark}(?!!)", line)) for line in rows)
        assert marked == sum(map(int, re.findall(r"\d+", counts))) > 0
