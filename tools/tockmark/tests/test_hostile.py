# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Hostile text and unwritable outputs give one clear line, or are shown safely."""

import csv
import io
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
import typer

from tockmark.base import paths
from tockmark.base.errors import (
    OK,
    UNSEEN,
    UNUSABLE,
    TockmarkError,
    one_line,
    printable_text,
)
from tockmark.base.paths import RESULTS
from tockmark.cli import program
from tockmark.result import file
from tockmark.show import export
from tockmark.suite.catalogue import load
from tockmark.tests.damage import WHOLE

STRANGE = "ünï ∑ 漢"


def tockmark(
    *arguments: str, stdout: int = subprocess.PIPE, **environment: str
) -> subprocess.CompletedProcess[bytes]:
    """Run the tool as a separate process."""
    return subprocess.run(
        [sys.executable, "-m", "tockmark", *arguments],
        env={**os.environ, "PYTHONPATH": str(paths.ROOT / "tools"), **environment},
        stdout=stdout,
        stderr=subprocess.PIPE,
        check=False,
    )


def written(folder: Path, **changes: object) -> str:
    """Return the path of a complete result with another kernel."""
    data = json.loads(json.dumps(WHOLE))
    data["provenance"]["kernel"] |= changes
    path = folder / "r.json"
    path.write_text(json.dumps(data))
    return str(path)


def test_a_terminal_may_support_only_ascii(tmp_path: Path) -> None:
    done = tockmark("table", written(tmp_path, name=STRANGE), PYTHONIOENCODING="ascii")
    assert done.returncode != UNUSABLE
    assert b"?n? ? ?" in done.stdout
    assert b"unexpected" not in done.stderr


@pytest.mark.parametrize("arguments", [["list"], ["--help"], ["--version"]])
def test_a_full_disk_below_the_output_is_one_line(arguments: list[str]) -> None:
    full = os.open("/dev/full", os.O_WRONLY)
    done = tockmark(*arguments, stdout=full)
    os.close(full)
    assert done.returncode == UNUSABLE
    assert done.stderr.decode() == "tockmark: the standard output: No space left on device\n"


def test_a_file_that_cannot_be_written_is_named(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The error of a write has no name, unlike that of opening a file."""
    failing = typer.Typer()
    failing.command()(lambda: Path("/dev/full").write_bytes(b"x"))
    monkeypatch.setattr(sys, "argv", ["tockmark"])
    monkeypatch.setattr(program, "_silence", lambda: None)
    with pytest.raises(SystemExit) as ended:
        program.run(failing)
    assert ended.value.code == UNUSABLE
    assert capsys.readouterr().err == "tockmark: /dev/full: No space left on device\n"


@pytest.mark.parametrize(
    ("closed", "code", "printed", "message"),
    [
        (">&-", UNUSABLE, False, "tockmark: the standard output: Bad file descriptor\n"),
        ("<&- >&-", UNUSABLE, False, "tockmark: the standard output: Bad file descriptor\n"),
        ("2>&-", OK, True, ""),
        (">&- 2>&-", UNUSABLE, False, ""),
    ],
)
def test_a_closed_stream_is_one_line_or_none(
    closed: str, code: int, printed: bool, message: str, tmp_path: Path
) -> None:
    command = f'"$0" -m tockmark table "$1" {closed}'
    done = subprocess.run(
        ["sh", "-c", command, sys.executable, str(RESULTS / "paper-2021.json")],
        env={**os.environ, "PYTHONPATH": str(paths.ROOT / "tools")},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (code, message)
    assert bool(done.stdout) is printed


@pytest.mark.parametrize(
    "arguments",
    [
        ["table", "a\x1b[2J\r\nb.json"],
        ["table", "\x1b]0;x\x07"],
        ["list", "--\x1b[2J"],
        ["\x1b[2J"],
        ["table", "a\u200b\u2060\ufeff\u3164\ufe0fb.json"],
    ],
)
def test_an_error_has_no_control_characters(arguments: list[str]) -> None:
    done = tockmark(*arguments)
    assert done.returncode == UNUSABLE
    message = done.stderr.decode().replace("\n", "")
    assert message.isprintable()
    assert not UNSEEN.search(message)


@pytest.mark.parametrize("unseen", "\xad\u200b\u200d\u2060\u2063\ufeff\u3164\ufe0f\U000e0041")
def test_a_name_has_no_characters_without_width(unseen: str, tmp_path: Path) -> None:
    name = f"{unseen}one{unseen}"
    assert printable_text(name) == one_line(name).replace(" ", "?") == "?one?"
    with pytest.raises(TockmarkError, match="Expected printable text"):
        file.load(Path(written(tmp_path, name=name)))


@pytest.mark.parametrize("start", ["=", "+", "-", "@"])
def test_no_cell_of_a_csv_is_a_formula(start: str, tmp_path: Path) -> None:
    data = json.loads(json.dumps(WHOLE))
    hostile = f"{start}cmd|' /C calc'!A0"
    for row in data["rows"]:
        row["boot"] = row["app"] = hostile
    data["provenance"]["boots"][0]["boot"] = hostile
    data["rows"][1] |= {"id": hostile, "params": {hostile: 1}, "faults": [hostile]}
    (tmp_path / "r.json").write_text(json.dumps(data))
    cells = list(
        csv.reader(io.StringIO(export.export(file.load(tmp_path / "r.json"), load(), "csv")))
    )
    text = [cell for line in cells for cell in line if not _is_number(cell)]
    assert not [cell for cell in text if cell.startswith(("=", "+", "-", "@", "\t", "\r"))]
    assert f"'{hostile}" in text


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('"asked": 12', f'"asked": {"9" * 5000}', "out of range"),
        ("one 1.0", "\\ud800", "it is not JSON"),
    ],
)
def test_unusable_json_values_are_one_line(
    old: str, new: str, message: str, tmp_path: Path
) -> None:
    path = tmp_path / "r.json"
    path.write_text(json.dumps(WHOLE).replace(old, new, 1))
    with pytest.raises(TockmarkError, match=message):
        file.load(path)


@pytest.mark.parametrize("form", export.FORMS)
def test_exports_contain_only_numbers(form: str, tmp_path: Path) -> None:
    """The figures are the largest and the smallest that a file may contain."""
    data = json.loads(json.dumps(WHOLE))
    data["rows"][-1]["stated"] = {"cycles": 2.0**53}
    data["rows"][1] |= {"inner": 2**53, "cycles": "4294967295*12", "further": []}
    data["provenance"]["board"]["clock_hz"] = 1
    data["provenance"]["boots"][0]["cycles"] = {"on": 2**53}
    (tmp_path / "r.json").write_text(json.dumps(data))
    text = export.export(file.load(tmp_path / "r.json"), load(), form).lower()
    assert "syscall.memop" in text
    assert "nan" not in text
    assert "infinity" not in text
    assert ",inf" not in text
