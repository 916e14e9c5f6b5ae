# SPDX-License-Identifier: Apache-2.0 OR MIT
"""`tockmark board listen` writes the output of a board to a file as it arrives."""

from pathlib import Path

import pytest

from tockmark.base.errors import TockmarkError
from tockmark.cli.board import listen_verb
from tockmark.target import serial as ports
from tockmark.tests.test_serial import boot_lines, sent
from tockmark.tests.wire import SOON, Wire


def test_the_output_is_written_and_shown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(ports, "WAIT", SOON)
    wire = Wire([sent(*boot_lines(), "\x1b[2Jnoise"), b"no end"])
    log = tmp_path / "uart.log"
    listen_verb(wire.port, seconds=0.3, output=log)
    assert log.read_text(encoding="latin-1").splitlines()[:-2] == boot_lines()
    shown = capsys.readouterr()
    assert shown.out.splitlines() == [*boot_lines(), "\\x1b[2Jnoise", "no end"]
    assert shown.err == f"{len(boot_lines()) + 2} lines kept: {log}\n"

    with pytest.raises(TockmarkError, match="already"):
        listen_verb(wire.port, seconds=0.1, output=log)
    with pytest.raises(TockmarkError, match="cannot write"):
        listen_verb(wire.port, seconds=0.1, output=tmp_path / "no" / "log")
    wire.close()


def test_ctrl_c_and_a_port_that_disappears_keep_the_output(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    ends: BaseException
    for ends, name in (
        (KeyboardInterrupt(), "c"),
        (ports.PortGoneError(), "gone"),
        (BrokenPipeError(), "head"),
    ):
        reads: list[object] = [(["one", "two"], 8), ends]

        def read(self: ports.Port, reads: list[object] = reads) -> object:
            outcome = reads.pop(0)
            if isinstance(outcome, BaseException):
                raise outcome
            return outcome

        monkeypatch.setattr(ports.Port, "read", read)
        wire = Wire([])
        log = tmp_path / name
        if name == "gone":
            with pytest.raises(TockmarkError, match="lines"):
                listen_verb(wire.port, output=log)
        else:
            listen_verb(wire.port, output=log)
        assert log.read_text() == "one\ntwo\n"
        wire.close()
