# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The cycles of a target without valid timing are dropped, its instructions are kept, and no verb
judges them.
"""

import pytest

from tockmark.base.errors import TockmarkError
from tockmark.result.build import Context, build
from tockmark.result.model import Result
from tockmark.result.provenance import Board, Timing
from tockmark.show import export, table
from tockmark.suite.catalogue import Catalogue, load
from tockmark.tests.rows import app_of, stored
from tockmark.wire.boots import Measured, MeasuredBoot

CYCLES, INSTRUCTIONS = 7777, 123


def made(timing: Timing) -> Result:
    rows = []
    for id_ in ("time.read", "syscall.command", "console.write"):
        series = {"cycles": [CYCLES] * 9, "instret": [INSTRUCTIONS] * 9}
        params: dict[str, int | str] = {"size": 1} if id_ == "console.write" else {}
        rows.append(stored(id_, series, params, events_runs=" ".join(["5*2"] * 10)))
    app = app_of("console", rows, lang="c", abi="2")
    boots = Measured([MeasuredBoot("console", False, "console", {"console": app})])
    context = Context(board=Board("made-up", "made-up", 24_000_000, timing))
    return build(boots, load(), context, expected=())


@pytest.fixture(scope="module")
def catalogue() -> Catalogue:
    return load()


@pytest.fixture(scope="module")
def untimed() -> Result:
    return made("functional-only")


def test_only_instructions_are_kept(untimed: Result) -> None:
    assert [row.id for row in untimed.rows] == ["time.read", "syscall.command"]
    for row in untimed.rows:
        assert row.cycles is None
        assert not row.events
        assert not row.sound
        assert row.instret is not None
        assert row.instret.samples == (INSTRUCTIONS,) * 9
        assert not row.errors


def test_every_output_says_not_timing_valid_and_has_no_cycles(
    untimed: Result, catalogue: Catalogue
) -> None:
    shown = [
        table.every_row(untimed, catalogue),
        table.first_screen([("made up", untimed)], catalogue),
        export.export(untimed, catalogue, "csv"),
        untimed.provenance.line,
    ]
    for text in shown:
        assert "not timing-valid" in " ".join(text.split())
        assert str(CYCLES) not in text
    assert "instrs" in shown[1]
    timed = table.first_screen([("made up", made("unchecked"))], catalogue)
    assert "instrs" not in timed
    assert "not timing-valid" not in timed


@pytest.mark.parametrize("form", [form for form in export.FORMS if form != "csv"])
def test_exports_to_other_tools_are_refused(
    untimed: Result, catalogue: Catalogue, form: str
) -> None:
    with pytest.raises(TockmarkError, match="not timing-valid"):
        export.export(untimed, catalogue, form)
