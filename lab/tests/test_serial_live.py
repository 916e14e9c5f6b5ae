# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The live simulator as a board: its output through a pseudo-terminal is unchanged, and behind a
relay that damages it no number changes."""

import os
import random
import re
import select
import threading
from pathlib import Path

import pytest
from test_faults import KNOWN, Stream, check

from tockmark.suite.catalogue import Boot
from tockmark.target import board as boards
from tockmark.target import sim
from tockmark.target.image import AppBuild, Image, build_image
from tockmark.target.kernel import read_kernel
from tockmark.target.protocol import Session, Start
from tockmark.tests.wire import Wire

BOARD = boards.load("sim-pty").configured({"uart-cycles": 64})
SIMULATOR = boards.load("earlgrey-sim").configured({"uart-cycles": 64})
SEED = 1


@pytest.fixture(scope="module")
def boot() -> Boot:
    return next(boot for boot in KNOWN.boots() if boot.name == "time")


@pytest.fixture(scope="module")
def image(boot: Boot, tmp_path_factory: pytest.TempPathFactory) -> Image:
    kernel = read_kernel(BOARD.kernels[2])
    few = {"tm_most_samples": 32}
    return build_image(
        boot, AppBuild.built(2, "c"), kernel, BOARD, tmp_path_factory.mktemp("f"), few
    )


@pytest.fixture(scope="module")
def clean(boot: Boot, image: Image) -> Stream:
    """Return the simulator's output on stdout."""
    session: Session = SIMULATOR.target.start(Start(boot.name, image.flash, True))
    lines = tuple(session.lines())
    assert session.ending().why is None
    return Stream(boot, image.id, lines)


def started(stream: Stream, image: Image) -> Session:
    start = Start(stream.boot.name, image.flash, True, image=image.id, boot=stream.boot.name)
    return BOARD.target.start(start)


def test_the_output_through_a_pseudo_terminal_is_the_same(clean: Stream, image: Image) -> None:
    session = started(clean, image)
    assert tuple(session.lines()) == clean.lines
    assert session.ending().why is None
    assert session.cycles > 0


def test_another_image_is_refused(clean: Stream, image: Image) -> None:
    start = Start("x", image.flash, True, image="0" * 8, boot="loop")
    session = BOARD.target.start(start)
    assert [line for line in session.lines() if line.startswith("#tm")] == []
    assert "the simulator ended before the suite did" in str(session.ending().why)


class Relay:
    """Reads one terminal and writes to another, and damages about every 20th line."""

    def __init__(self, source: str) -> None:
        self.damaged = 0
        self._rng = random.Random(SEED)
        self._source = os.open(source, os.O_RDWR | os.O_NOCTTY)
        self.wire = Wire([])
        threading.Thread(target=self._pass_on, daemon=True).start()

    def _pass_on(self) -> None:
        rest = b""
        while select.select([self._source], [], [], 60)[0]:
            data = os.read(self._source, 4096)
            if not data:  # the simulator has ended
                break
            *lines, rest = (rest + data).split(b"\n")
            os.write(self.wire.master, b"".join(map(self._damage, lines)))
        os.close(self._source)
        while not self.wire.is_silent():
            pass
        os.close(self.wire.slave)
        os.close(self.wire.master)

    def _damage(self, line: bytes) -> bytes:
        if self._rng.random() > 0.05 or b" begin " in line:
            return line + b"\n"
        self.damaged += 1
        digits = [at for at, byte in enumerate(line) if chr(byte).isdigit()]
        at = self._rng.choice(digits) if digits else 0
        return self._rng.choice(
            [b"", line[:at], line[:at] + b"7" + line[at + 1 :] + b"\n", line + b"\n" + line + b"\n"]
        )


def test_no_fault_of_the_relay_becomes_a_wrong_number(
    clean: Stream, image: Image, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    relays: list[Relay] = []
    terminal = sim.Simulation.terminal

    def relayed(self: sim.Simulation) -> str:
        relays.append(Relay(terminal(self)))
        return relays[0].wire.port

    monkeypatch.setattr(sim.Simulation, "terminal", relayed)
    session = started(clean, image)
    lines = list(session.lines())
    ending = session.ending().why
    assert relays[0].damaged
    faulty = clean.result(lines, [ending] if ending else [])
    assert check(clean, clean.result(clean.lines), faulty)


def test_a_simulator_that_cannot_start_is_one_line(tmp_path: Path) -> None:
    bad = tmp_path / "short.flash"
    bad.write_bytes(b"")
    session = BOARD.target.start(Start("x", bad, True, boot="x"))
    assert list(session.lines()) == []
    assert re.match("the (simulator|core) ", str(session.ending().why))
