# SPDX-License-Identifier: Apache-2.0 OR MIT
"""`board agree` compares a board with the simulator: its counts, refusals and bounds."""

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
    """Return a complete run with these nets and steady samples."""
    rows = {label: steady(net) for label, net in nets.items()}
    more = {"icache": (False,), **more}
    return replace(made(KNOWN, rows, board=board, **more), missing=())  # type: ignore[arg-type]


def agreed(sim: Result, board: Result, force: bool = False) -> Agreement:
    return agree(sim, board, "board.json", load_bounds("cw310", KNOWN), force)


def standings(agreement: Agreement) -> dict[str, Standing]:
    return {pair.sim.label: pair.standing for pair in agreement.pairs}


def test_equal_results_are_equal_in_every_sample() -> None:
    agreement = agreed(run_of(NETS), run_of(NETS, BOARD))
    assert set(standings(agreement).values()) == {Standing.EQUAL}
    assert all(pair.same_samples for pair in agreement.pairs)
    assert agreement.layouts is None
    assert agreement.exit_code == OK
    assert (
        "4 rows compared: 4 equal to the cycle (4 in every sample)"
        in comparison.agreement_headline(agreement)
    )


@pytest.mark.parametrize(
    ("label", "cycles", "icache", "standing"),
    [
        ("syscall.command", 10, False, Standing.WITHIN),  # 1 % of 1000
        ("syscall.command", 11, False, Standing.OUTSIDE),
        ("syscall.command", -11, False, Standing.OUTSIDE),
        ("syscall.command", 100, True, Standing.WITHIN),  # 10 %
        ("syscall.command", 101, True, Standing.OUTSIDE),
        ("loop.empty", 4, False, Standing.WITHIN),  # no kernel: 4 cycles for any length
        ("loop.empty", 5, False, Standing.OUTSIDE),
        ("loop.empty", 8, True, Standing.WITHIN),  # the allowed deviation of a control: 5 % of 169
        ("loop.empty", 9, True, Standing.OUTSIDE),
        ("console.write size=1", 1000, False, Standing.UNSTATED),
    ],
)
def test_each_row_has_the_bound_that_selects_it(
    label: str, cycles: int, icache: bool, standing: Standing
) -> None:
    moved = {**NETS, label: NETS[label] + cycles}
    agreement = agreed(run_of(NETS, icache=(icache,)), run_of(moved, BOARD, icache=(icache,)))
    assert standings(agreement) == {
        name: standing if name == label else Standing.EQUAL for name in ("time.read", *NETS)
    }
    assert agreement.exit_code == (INCOMPLETE if standing is Standing.OUTSIDE else OK)


def test_instructions_must_be_equal_with_the_cache_off() -> None:
    fewer = run_of(NETS, BOARD, instret={"loop.empty": 99})
    agreement = agreed(run_of(NETS), fewer)
    assert standings(agreement)["loop.empty"] is Standing.OUTSIDE
    assert agreement.exit_code == INCOMPLETE
    cached = agreed(
        run_of(NETS, icache=(True,)),
        run_of(NETS, BOARD, instret={"loop.empty": 99}, icache=(True,)),
    )
    assert (
        standings(cached)["loop.empty"] is Standing.WITHIN
    )  # two instructions may be counted late


def test_invalid_rows_are_not_compared() -> None:
    sim, board = run_of(NETS), run_of(NETS, BOARD)
    for sim_result, board_result, why in (
        (
            sim,
            run_of(NETS, BOARD, inner=2),
            "operations in a sample: 1 on the simulator, 2 on the board",
        ),
        (sim, faulty(board), "on the board: it is torn"),
        (faulty(sim), board, "on the simulator: it is torn"),
    ):
        agreement = agreed(sim_result, board_result)
        assert {lone.why for lone in agreement.lone["unusable"]} == {why}
        assert agreement.exit_code == INCOMPLETE


def faulty(result: Result) -> Result:
    """Return the result with one row that has a fault from the parser."""
    first, second, *rows = result.rows
    return replace(result, rows=(first, structs.replace(second, faults=("it is torn",)), *rows))


def test_a_row_that_only_one_side_has_is_a_fault() -> None:
    some = {"syscall.command": 1000}
    for sim, board in ((NETS, some), (some, NETS)):
        agreement = agreed(run_of(sim), run_of(board, BOARD))
        names = [row.name for row in (*agreement.lone["only_sim"], *agreement.lone["only_board"])]
        assert names == ["loop.empty icache=off", "console.write size=1 icache=off"]
        assert agreement.exit_code == INCOMPLETE


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            lambda: run_of(NETS, Board("x", "nexysvideo", 24_000_000, "hardware")),
            "machine is cw310",
        ),
        (lambda: run_of(NETS, Board("x", "cw310", 10_000_000, "hardware")), "clock is 24 MHz"),
        (
            lambda: run_of(NETS, Board("x", "cw310", 24_000_000, "functional-only")),
            "cycles of board.json",
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
def test_results_that_differ_in_more_than_the_machine_are_refused(
    change: Callable[[], Result], message: str
) -> None:
    with pytest.raises(TockmarkError, match=message.replace("(", r"\(")) as caught:
        agreed(run_of(NETS), change())
    assert caught.value.code == UNUSABLE


def test_a_comparison_of_different_links_is_reported() -> None:
    relinked = run_of(NETS, BOARD, kernel=Kernel(KERNEL.name, KERNEL.file, "c" * 64))
    assert agreed(run_of(NETS), relinked).layouts == "the kernels are two different files"
    slots = [(Slot("time", start, 0, 1024, "d" * 64),) for start in (0, 1024)]
    sim, board = (
        with_provenance(run_of(NETS, side), boots=(BootRun("time", {}, own),))
        for side, own in zip((SIMULATED, BOARD), slots, strict=True)
    )
    assert "boot time" in str(agreed(sim, board).layouts)


def test_every_simulated_machine_has_bounds() -> None:
    for machine in ("cw310", "nexysvideo"):
        stated = load_bounds(machine, KNOWN)
        for row in run_of(NETS, icache=(True, False)).rows:
            assert last_match(row, stated) is not None
    with pytest.raises(TockmarkError, match="'moon'"):
        load_bounds("moon", KNOWN)


def test_the_verb_prints_counts_and_rows_and_sets_the_exit_code(tmp_path: Path) -> None:
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
    document = json.loads(
        run.invoke(app, ["board", "agree", str(sim), str(board), "--json"]).stdout
    )
    assert document["counts"]["outside"] == 1
    assert document["exit_code"] == INCOMPLETE
    assert exit_code(run.invoke(app, ["board", "agree", str(board), str(sim)])) == UNUSABLE
    assert (
        exit_code(run.invoke(app, ["board", "agree", str(sim), str(board), "--icache", "on"]))
        == UNUSABLE
    )
