# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Run the suite on a board, boot by boot, omit rows that it cannot measure, and resume a run."""

import dataclasses
import os
import pty
import threading
import tty
from collections.abc import Callable, Iterator
from pathlib import Path

import msgspec
import pytest

from tockmark.result.model import Result
from tockmark.suite.selection import Selection
from tockmark.target import board as boards
from tockmark.target import run
from tockmark.target import serial as ports
from tockmark.target.board import NO_MARKS
from tockmark.target.parse import complete_boots
from tockmark.target.results import build_result
from tockmark.tests import stand_in
from tockmark.tests.test_serial import HELLO, boot_lines, sent
from tockmark.tests.wire import SOON
from tockmark.wire.records import decode_boot_mark

IMAGE = "0" * 8  # id of the images of stand_in

options = pytest.fixture(stand_in.options)


class Board:
    """A board that prints the output of a boot as soon as it is loaded."""

    def __init__(self) -> None:
        self.master, self.slave = pty.openpty()
        tty.setraw(self.slave)
        self.port = os.ttyname(self.slave)
        self.loaded: list[str] = []
        self.output: Callable[[str], list[str]] = lambda boot: [HELLO, *boot_lines(boot, IMAGE)]

    def load(self, profile: boards.BoardProfile, boot: str, flash: Path) -> bool:
        self.loaded.append(boot)
        os.write(self.master, sent(*self.output(boot)))
        return True


@pytest.fixture
def board(monkeypatch: pytest.MonkeyPatch) -> Iterator[Board]:
    board = Board()
    monkeypatch.setattr(run, "load_or_ask", board.load)
    monkeypatch.setattr(ports, "WAIT", SOON)
    yield board
    os.close(board.slave)
    os.close(board.master)


@pytest.fixture
def on_board(options: run.RunOptions, board: Board) -> run.RunOptions:
    profiled = boards.load("cw310").configured({"port": board.port})
    return dataclasses.replace(options, board=profiled, jobs=1)


def ran(options: run.RunOptions) -> tuple[run.FinishedRun, Result, str]:
    done = run.run(options)
    return done, *build_result(done, options, Selection(options.catalogue))


def test_a_run_loads_one_boot_after_the_other(
    options: run.RunOptions, on_board: run.RunOptions, board: Board
) -> None:
    done, result, log = ran(on_board)
    assert result.incomplete == ()
    assert sorted(board.loaded) == ["loop", "mem", "time"]
    assert [job.finished for job in done.jobs[0]] == [True] * 3
    on_simulator, _ = stand_in.ran(options)
    assert [(r.id, r.params, r.cycles) for r in result.rows] == [
        (r.id, r.params, r.cycles) for r in on_simulator.rows
    ]
    board_provenance = result.provenance.board
    assert (board_provenance.name, board_provenance.timing, board_provenance.simulator_sha256) == (
        "cw310",
        "hardware",
        None,
    )
    assert board_provenance.uart_cycles_per_byte == 2083  # 24 MHz at 115200 baud
    assert log.count("#boot ") == log.count("#end ") == 3


def test_a_boot_that_needs_the_simulators_clock_is_skipped(
    on_board: run.RunOptions, board: Board
) -> None:
    catalogue = on_board.catalogue
    loop = msgspec.structs.replace(catalogue.benchmarks["loop.empty"], by="mark")
    changed = dataclasses.replace(catalogue, benchmarks=catalogue.benchmarks | {"loop.empty": loop})
    _, result, log = ran(dataclasses.replace(on_board, catalogue=changed))
    assert sorted(board.loaded) == ["mem", "time"]
    assert [(gone.id, gone.why) for gone in result.skipped] == [("loop.empty", NO_MARKS)]
    assert result.incomplete == ()
    assert "#boot loop" not in log


def test_resume_runs_only_incomplete_boots(
    on_board: run.RunOptions, board: Board, tmp_path: Path
) -> None:
    """The last line of mem is lost; its other lines still count."""
    target = msgspec.structs.replace(on_board.board.target, silence_s=1)  # type: ignore[type-var]
    hasty = dataclasses.replace(
        on_board, board=msgspec.structs.replace(on_board.board, target=target)
    )
    board.output = lambda boot: boot_lines(boot, IMAGE)[: -1 if boot == "mem" else None]
    _, broken, log = ran(hasty)
    assert any("i-cache" in reason for reason in broken.incomplete)
    assert [row.label for row in broken.rows if row.boot == "mem"][:2] == [
        "time.read",
        "mem.copy_asm size=32",
    ]
    path = tmp_path / "run.log"
    path.write_text(log)
    earlier = complete_boots(path, on_board.catalogue, on_board.board)
    assert set(earlier) == {("time", True, "c"), ("loop", True, "c")}

    board.output, board.loaded = lambda boot: boot_lines(boot, IMAGE), []
    done, result, log = ran(dataclasses.replace(on_board, earlier=earlier))
    assert board.loaded == ["mem"]
    assert result.incomplete == ()
    assert sum(job.source == "log" for job in done.jobs[0]) == 2
    marks = [mark for line in log.splitlines() if (mark := decode_boot_mark(line))]
    assert len(marks) == 6


def test_a_boot_of_another_image_is_run_again(
    on_board: run.RunOptions, board: Board, tmp_path: Path
) -> None:
    _, _, log = ran(on_board)
    path = tmp_path / "run.log"
    path.write_text(log)
    earlier = {
        key: msgspec.structs.replace(
            captured, image="1" * 8 if key[0] == "loop" else captured.image
        )
        for key, captured in complete_boots(path, on_board.catalogue, on_board.board).items()
    }
    board.loaded = []
    run.run(dataclasses.replace(on_board, earlier=earlier))
    assert board.loaded == ["loop"]


def test_ctrl_c_keeps_the_output_of_a_board(on_board: run.RunOptions, board: Board) -> None:
    board.output = lambda boot: boot_lines(boot, IMAGE)[:-3]
    timer = threading.Timer(0.5, lambda: os.kill(os.getpid(), 2))
    timer.start()
    done, result, log = ran(on_board)
    assert done.interrupted
    assert len(board.loaded) == 1
    assert boot_lines(board.loaded[0], IMAGE)[-4] in log.splitlines()
    assert "interrupted" in result.incomplete[0]
