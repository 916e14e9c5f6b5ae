# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The log of a bundle: which loading of a boot counts, and that nothing of the board's is lost or
mixed, whatever stands in the log."""

import ast
import importlib.util
import json
import sys
from pathlib import Path
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from tockmark.rig.bundle import SCRIPT
from tockmark.rig.capture import MARK, captured, lines_of

ONE, TWO = "0000abcd", "0000ffff"


def own(**facts: object) -> str:
    """A line of the script's."""
    return MARK + json.dumps({"t": 0.5, **facts})


def loaded(image: str, *lines: str, why: str | None = "end") -> list[str]:
    """What stands in a log of one loading."""
    over = [own(over="c/x", why=why)] if why else []
    return [own(load="c/x", attempt=1, image=image), own(loaded="c/x", s=1.5), *lines, *over]


def test_the_last_loading_that_ended_counts() -> None:
    """Then the last that was heard; one that failed is none of them."""
    failed = loaded(ONE, why=None)
    log = [*loaded(ONE, "a"), *loaded(TWO, "b"), *loaded(ONE, "c"), *loaded(ONE, "d", why="silent")]
    assert lines_of([*log, *failed], ONE) == ["c"]
    assert lines_of([*loaded(ONE, "e", why=None), *loaded(ONE, "f", why="x"), *failed], ONE) == [
        "f"
    ]
    assert lines_of(failed, ONE) == []
    assert lines_of(log, "0" * 8) == []


def test_a_log_without_the_script_is_the_boards() -> None:
    assert lines_of(["a", "b"], ONE) == ["a", "b"]


def test_lines_of_the_time_alone_cut_nothing() -> None:
    assert lines_of(loaded(ONE, "a", own(), "b", own(gone=True), "c"), ONE) == ["a", "b", "c"]
    assert captured(loaded(ONE, own(gone=True), own(gone=True))).loadings[0].gone == 2


def test_a_line_that_is_cut_off_is_the_boards() -> None:
    cut = own(over="c/x", why="end")[:-4]
    assert lines_of(loaded(ONE, "a", cut, why=None), ONE) == ["a", cut]


def script() -> Any:
    """The script, which is no module of the tool."""
    spec = importlib.util.spec_from_file_location("bundle_run", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_script_needs_an_old_python_and_nothing_else() -> None:
    parsed = ast.parse(SCRIPT.read_text(), feature_version=(3, 8))
    needs = {
        name
        for node in ast.walk(parsed)
        if isinstance(node, ast.Import | ast.ImportFrom)
        for name in (
            [one.name for one in node.names] if isinstance(node, ast.Import) else [node.module]
        )
    }
    assert needs - sys.stdlib_module_names == {"serial"}


def test_a_line_of_the_board_is_cut_only_where_it_must_be(tmp_path: Path) -> None:
    """What can wait for its end does."""
    path = tmp_path / "a.log"
    log = script().LogFile(path)
    log.say(load="c/x", image=ONE)
    log.take(b"on")
    log.say_between(loaded="c/x", s=0.5)
    log.take(b"e\ntw")
    log.take(b"o\n")
    log.take(b"thr")
    log.say(gone=True)
    log.take(b"ee")
    log = script().LogFile(path)  # as --resume opens it
    log.say(over="c/x", why="end")
    text = path.read_text()
    assert lines_of(text.split("\n"), ONE) == ["one", "two", "thr", "ee", ""]
    cut = [json.loads(line[9:]).get("cut") for line in text.split("\n") if line.startswith(MARK)]
    assert cut == [None, None, True, True]
    assert captured(text.split("\n")).loadings[0].seconds == 0.5


LINES = st.lists(st.one_of(st.text(), st.text().map(lambda said: MARK + said)))


@given(LINES)
def test_no_log_is_too_strange(lines: list[str]) -> None:
    found = captured(lines)
    assert found.loadings == []  # for none of them says all that one needs
    held = captured([own(load="c/x", image=ONE), *lines]).loadings[0].lines
    assert [line for line in lines if not line.startswith(MARK)] == [
        line for line in held if not line.startswith(MARK)
    ]
