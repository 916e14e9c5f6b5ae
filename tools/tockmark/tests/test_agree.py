# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The agreement of a board with the simulator: what it counts, what it refuses, and the bounds."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from msgspec import structs
from typer.testing import CliRunner

from tockmark.base.errors import INCOMPLETE, OK, UNUSABLE, TockmarkError
from tockmark.cli.app import app
from tockmark.compare.agree import Agreement, Standing, agree
from tockmark.compare.limits import last_match, load_bounds
from tockmark.result import file
from tockmark.result.model import Result
from tockmark.result.provenance import Board, BootRun, Kernel, Slot
from tockmark.show import comparison
from tockmark.suite.catalogue import load
from tockmark.tests.of_samples import KERNEL, SIMULATED, exit_code, made, steady, with_provenance

KNOWN = load()
BOARD = Board("cw310", "cw310", 24_000_000, "hardware")
NETS = {"syscall.command": 1000, "loop.empty": 5000, "console.write size=1": 2000}
Nets = dict[str, int]


def run_of(nets: Nets, board: Board = SIMULATED, **more: object) -> Result:
    """Return a whole run that gives these nets, and steadily so."""
    rows = {label: steady(net) for label, net in nets.items()}
    more = {"icache": (False,), **more}
    return replace(made(KNOWN, rows, board=board, **more), missing=())  # type: ignore[arg-type]


def held(sim: Result, board: Result, force: bool = False) -> Agreement:
    return agree(sim, board, "board.json", load_bounds("cw310", KNOWN), force)


def standings(found: Agreement) -> dict[str, Standing]:
    return {pair.sim.label: pair.standing for pair in found.pairs}


def test_what_is_equal_is_equal_in_every_sample() -> None:
    found = held(run_of(NETS), run_of(NETS, BOARD))
    assert set(standings(found).values()) == {Standing.EQUAL}
    assert all(pair.same_samples for pair in found.pairs)
    assert found.layouts is None
    assert found.exit_code == OK
    assert (
        "4 rows compared: 4 equal to the cycle (4 in every sample)"
        in comparison.agreement_headline(found)
    )


@pytest.mark.parametrize(
    ("label", "off", "icache", "standing"),
    [
        ("syscall.command", 10, False, Standing.WITHIN),  # 1 % of 1000
        ("syscall.command", 11, False, Standing.OUTSIDE),
        ("syscall.command", -11, False, Standing.OUTSIDE),
        ("syscall.command", 100, True, Standing.WITHIN),  # 10 %
        ("syscall.command", 101, True, Standing.OUTSIDE),
        ("loop.empty", 4, False, Standing.WITHIN),  # no kernel: 4 cycles, however long it is
        ("loop.empty", 5, False, Standing.OUTSIDE),
        ("loop.empty", 8, True, Standing.WITHIN),  # what a control may be off: 5 % of 169
        ("loop.empty", 9, True, Standing.OUTSIDE),
        ("console.write size=1", 1000, False, Standing.UNSTATED),
    ],
)
def test_a_row_is_held_to_the_bound_of_its_kind(
    label: str, off: int, icache: bool, standing: Standing
) -> None:
    moved = {**NETS, label: NETS[label] + off}
    found = held(run_of(NETS, icache=(icache,)), run_of(moved, BOARD, icache=(icache,)))
    assert standings(found) == {
        name: standing if name == label else Standing.EQUAL for name in ("time.read", *NETS)
    }
    assert found.exit_code == (INCOMPLETE if standing is Standing.OUTSIDE else OK)


def test_instructions_must_be_the_same() -> None:
    fewer = run_of(NETS, BOARD, instret={"loop.empty": 99})
    found = held(run_of(NETS), fewer)
    assert standings(found)["loop.empty"] is Standing.OUTSIDE
    assert found.exit_code == INCOMPLETE
    cached = held(
        run_of(NETS, icache=(True,)),
        run_of(NETS, BOARD, instret={"loop.empty": 99}, icache=(True,)),
    )
    assert standings(cached)["loop.empty"] is Standing.WITHIN  # that counter may be 2 off there


def test_rows_that_mean_nothing_are_not_compared() -> None:
    sim, board = run_of(NETS), run_of(NETS, BOARD)
    for one, two, why in (
        (
            sim,
            run_of(NETS, BOARD, inner=2),
            "operations in a sample: 1 on the simulator, 2 on the board",
        ),
        (sim, faulty(board), "on the board: it is torn"),
        (faulty(sim), board, "on the simulator: it is torn"),
    ):
        found = held(one, two)
        assert {lone.why for lone in found.lone["unusable"]} == {why}
        assert found.exit_code == INCOMPLETE


def faulty(result: Result) -> Result:
    """With one row that whoever parsed it found fault with."""
    first, second, *rows = result.rows
    return replace(result, rows=(first, structs.replace(second, faults=("it is torn",)), *rows))


def test_a_row_of_one_side_only_is_missing() -> None:
    some = {"syscall.command": 1000}
    for sim, board in ((NETS, some), (some, NETS)):
        found = held(run_of(sim), run_of(board, BOARD))
        names = [one.name for one in (*found.lone["only_sim"], *found.lone["only_board"])]
        assert names == ["loop.empty icache=off", "console.write size=1 icache=off"]
        assert found.exit_code == INCOMPLETE


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (
            lambda: run_of(NETS, Board("x", "nexysvideo", 24_000_000, "hardware")),
            "machine is cw310",
        ),
        (lambda: run_of(NETS, Board("x", "cw310", 10_000_000, "hardware")), "clock is 24 MHz"),
        (
            lambda: run_of(NETS, Board("x", "cw310", 24_000_000, "functional-only")),
            "not the chip's",
        ),
        (
            lambda: run_of(NETS, BOARD, kernel=Kernel("two 1.0", sha256="c" * 64)),
            "kernel is one 1.0",
        ),
        (lambda: run_of(NETS, BOARD, kernel=Kernel()), "`tockmark board parse LOG"),
        (lambda: run_of(NETS, BOARD, icache=(True,)), "i-cache"),
        (lambda: run_of(NETS, BOARD, lang="rust"), "language"),
        (
            lambda: with_provenance(run_of(NETS, BOARD), abi=1),
            "ABI",
        ),
    ],
)
def test_what_shows_nothing_is_refused(change: Callable[[], Result], said: str) -> None:
    with pytest.raises(TockmarkError, match=said.replace("(", r"\(")) as caught:
        held(run_of(NETS), change())
    assert caught.value.code == UNUSABLE


def test_another_link_is_indicative_only() -> None:
    relinked = run_of(NETS, BOARD, kernel=Kernel(KERNEL.name, KERNEL.file, "c" * 64))
    assert held(run_of(NETS), relinked).layouts == "the kernels are two different files"
    slots = [(Slot("time", start, 0, 1024, "d" * 64),) for start in (0, 1024)]
    one, two = (
        with_provenance(run_of(NETS, board), boots=(BootRun("time", {}, own),))
        for board, own in zip((SIMULATED, BOARD), slots, strict=True)
    )
    assert "boot time" in str(held(one, two).layouts)


def test_every_machine_that_is_simulated_has_bounds() -> None:
    for machine in ("cw310", "nexysvideo"):
        stated = load_bounds(machine, KNOWN)
        for row in run_of(NETS, icache=(True, False)).rows:
            assert last_match(row, stated) is not None
    with pytest.raises(TockmarkError, match="'moon'"):
        load_bounds("moon", KNOWN)


def test_the_verb(tmp_path: Path) -> None:
    sim, board = tmp_path / "sim.json", tmp_path / "board.json"
    sim.write_text(file.text(run_of(NETS)))
    board.write_text(file.text(run_of({**NETS, "loop.empty": 6000}, BOARD)))
    run = CliRunner()
    done = run.invoke(app, ["board", "agree", str(sim), str(board)])
    assert exit_code(done) == INCOMPLETE
    assert "1 outside" in done.stdout
    assert "claimed, 4 cycles" in done.stdout
    assert (
        exit_code(run.invoke(app, ["board", "agree", str(sim), str(board), "--only", "syscall"]))
        == OK
    )
    every = run.invoke(app, ["board", "agree", str(sim), str(board), "--all"]).stdout
    assert every.count("syscall.command") > done.stdout.count("syscall.command")
    assert max(map(len, every.splitlines())) <= 100
    told = json.loads(run.invoke(app, ["board", "agree", str(sim), str(board), "--json"]).stdout)
    assert told["counts"]["outside"] == 1
    assert told["exit_code"] == INCOMPLETE
    assert exit_code(run.invoke(app, ["board", "agree", str(board), str(sim)])) == UNUSABLE
    assert (
        exit_code(run.invoke(app, ["board", "agree", str(sim), str(board), "--icache", "on"]))
        == UNUSABLE
    )
