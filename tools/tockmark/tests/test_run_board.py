# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Running the suite on a board: boot by boot from laid images, with what it cannot give left out,
and going on where an earlier run stopped.
"""

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
from tockmark.tests.test_serial import HELLO, said, sent
from tockmark.tests.wire import SOON
from tockmark.wire.records import decode_boot_mark

IMAGE = "0" * 8  # of all that stand_in lays

options = pytest.fixture(stand_in.options)


class Board:
    """It prints what was loaded onto it, as soon as it is."""

    def __init__(self) -> None:
        self.master, self.slave = pty.openpty()
        tty.setraw(self.slave)
        self.port = os.ttyname(self.slave)
        self.loaded: list[str] = []
        self.says: Callable[[str], list[str]] = lambda boot: [HELLO, *said(boot, IMAGE)]

    def load(self, profile: boards.BoardProfile, boot: str, flash: Path) -> bool:
        self.loaded.append(boot)
        os.write(self.master, sent(*self.says(boot)))
        return True


@pytest.fixture
def board(monkeypatch: pytest.MonkeyPatch) -> Iterator[Board]:
    made = Board()
    monkeypatch.setattr(run, "load_or_ask", made.load)
    monkeypatch.setattr(ports, "WAIT", SOON)
    yield made
    os.close(made.slave)
    os.close(made.master)


@pytest.fixture
def on_board(options: run.RunOptions, board: Board) -> run.RunOptions:
    profiled = boards.load("cw310").configured({"port": board.port})
    return dataclasses.replace(options, board=profiled, jobs=1)


def ran(options: run.RunOptions) -> tuple[run.FinishedRun, Result, str]:
    done = run.run(options)
    return done, *build_result(done, options, Selection(options.catalogue))


def test_a_run_loads_boot_after_boot(
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
    told = result.provenance.board
    assert (told.name, told.timing, told.simulator_sha256) == ("cw310", "hardware", None)
    assert told.uart_cycles_per_byte == 2083  # 24 MHz at 115200 baud
    assert log.count("#boot ") == log.count("#end ") == 3


def test_a_boot_of_the_simulators_clock_is_skipped_with_the_reason(
    on_board: run.RunOptions, board: Board
) -> None:
    known = on_board.catalogue
    loop = msgspec.structs.replace(known.benchmarks["loop.empty"], by="mark")
    changed = dataclasses.replace(known, benchmarks=known.benchmarks | {"loop.empty": loop})
    _, result, log = ran(dataclasses.replace(on_board, catalogue=changed))
    assert sorted(board.loaded) == ["mem", "time"]
    assert [(gone.id, gone.why) for gone in result.skipped] == [("loop.empty", NO_MARKS)]
    assert result.incomplete == ()
    assert "#boot loop" not in log


def test_resume_runs_only_what_is_not_whole(
    on_board: run.RunOptions, board: Board, tmp_path: Path
) -> None:
    """Which is mem, whose last line was lost, and nothing of it that came is lost with that."""
    target = msgspec.structs.replace(on_board.board.target, silence_s=1)  # type: ignore[type-var]
    hasty = dataclasses.replace(
        on_board, board=msgspec.structs.replace(on_board.board, target=target)
    )
    board.says = lambda boot: said(boot, IMAGE)[: -1 if boot == "mem" else None]
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

    board.says, board.loaded = lambda boot: said(boot, IMAGE), []
    done, result, whole = ran(dataclasses.replace(on_board, earlier=earlier))
    assert board.loaded == ["mem"]
    assert result.incomplete == ()
    assert sum(job.source == "log" for job in done.jobs[0]) == 2
    marks = [mark for line in whole.splitlines() if (mark := decode_boot_mark(line))]
    assert len(marks) == 6


def test_a_boot_of_another_image_is_run_again(
    on_board: run.RunOptions, board: Board, tmp_path: Path
) -> None:
    _, _, log = ran(on_board)
    path = tmp_path / "run.log"
    path.write_text(log)
    earlier = {
        which: msgspec.structs.replace(one, image="1" * 8 if which[0] == "loop" else one.image)
        for which, one in complete_boots(path, on_board.catalogue, on_board.board).items()
    }
    board.loaded = []
    run.run(dataclasses.replace(on_board, earlier=earlier))
    assert board.loaded == ["loop"]


def test_ctrl_c_keeps_what_a_board_said(on_board: run.RunOptions, board: Board) -> None:
    board.says = lambda boot: said(boot, IMAGE)[:-3]
    timer = threading.Timer(0.5, lambda: os.kill(os.getpid(), 2))
    timer.start()
    done, result, log = ran(on_board)
    assert done.interrupted
    assert len(board.loaded) == 1
    assert said(board.loaded[0], IMAGE)[-4] in log.splitlines()
    assert "interrupted" in result.incomplete[0]
