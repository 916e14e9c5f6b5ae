# SPDX-License-Identifier: Apache-2.0 OR MIT
"""A bundle from its packing to the report on its log: the simulator stands for the board, behind a
pseudo-terminal, and everything that may go wrong on a stranger's desk does so once."""

import dataclasses
import json
import os
import pty
import shutil
import signal
import socket
import subprocess
import sys
import tarfile
import threading
import time
import tty
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from tockmark import paths
from tockmark.cli.app import app
from tockmark.rig import board as boards
from tockmark.rig import bundle, cache
from tockmark.rig.capture import captured
from tockmark.suite import catalogue as catalogues
from tockmark.tests.of_samples import exit_code

SIMULATOR = paths.ROOT / "build" / "sim" / "cw310" / "earlgrey-sim"
PACE = "16"  # cycles of a byte, as the profile sim-pty has it
BOOTS = ("c/time", "c/syscall", "c/upcall")
STAGES = ("reached", "readable", "complete", "counts", "times")
# Asks whoever has the board to load a file, and ends as they say.
LOADER = """import socket, sys
with socket.socket(socket.AF_UNIX) as asked:
    asked.connect(sys.argv[1])
    asked.sendall(sys.argv[2].encode())
    said = asked.recv(1000).decode()
print("a line before")
print(said)
sys.exit(said != "loaded")
"""
Piece = bytes | Callable[[], object]  # what comes, or something to do then
said: dict[bytes, bytes] = {}  # by each image, on the simulator, once


def tockmark(*given: str | Path, code: int = 0) -> str:
    """Run the tool; return what it prints, or the one line of its error."""
    done = CliRunner().invoke(app, list(map(str, given)))
    assert exit_code(done) == code, done.output
    return str(done.exception) if code == 2 else done.stdout


@pytest.fixture(autouse=True, scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """The simulator's side of all reports is simulated once."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(cache.PLACE, str(tmp_path_factory.mktemp("cache")))
        yield


def packed(out: Path, *more: str | Path) -> Path:
    only = "time,syscall.command,upcall"
    tockmark(
        *("board", "bundle", "--board", "sim-pty", "--only", only, "--samples", "9"),
        *("-o", out, *more),
    )
    return out


@pytest.fixture(scope="module")
def archive(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return packed(tmp_path_factory.mktemp("bundle") / "b.tar.gz")


@pytest.fixture(scope="module")
def folder(archive: Path) -> Path:
    """What a stranger has who unpacked it."""
    with tarfile.open(archive) as tar:
        tar.extractall(archive.parent, filter="data")
    return archive.parent / "tockmark-sim-pty"


class Bench:
    """A board behind a cable. Whatever is loaded says what its image says on the simulator;
    `faults` change that on the way, and `refuses` counts the loads that fail."""

    def __init__(self, place: Path, folder: Path) -> None:
        self.place, self.folder, self.log = place, folder, place / "a.log"
        self.port = place / "port"
        self.faults: dict[str, Callable[[bytes], Sequence[Piece]]] = {}
        self.refuses: dict[str, int] = {}
        self.loaded: list[str] = []
        self.loader = place / "loader.py"
        self.loader.write_text(LOADER)
        self.plug_in()
        self.server = socket.socket(socket.AF_UNIX)
        self.server.bind(str(place / "asked"))
        self.server.listen()
        threading.Thread(target=self._serve, daemon=True).start()

    def plug_in(self) -> None:
        self.master, self.slave = pty.openpty()
        tty.setraw(self.slave)
        self.port.symlink_to(os.ttyname(self.slave))

    def unplug(self) -> None:
        self.port.unlink()
        for side in (self.slave, self.master):
            os.close(side)

    def replug(self) -> None:
        self.unplug()
        time.sleep(0.2)
        self.plug_in()

    def _serve(self) -> None:
        while True:
            asked, _ = self.server.accept()
            with asked:
                flash = Path(asked.recv(1000).decode())
                name = f"c/{flash.stem}"
                if self.refuses.get(name, 0):
                    self.refuses[name] -= 1
                    asked.sendall(b"no board found")
                    continue
                text = self.says(flash)
                asked.sendall(b"loaded")
            self.loaded.append(name)
            self._play(self.faults[name](text) if name in self.faults else [text])

    def _play(self, pieces: Sequence[Piece]) -> None:
        for piece in pieces:
            if not isinstance(piece, bytes):
                piece()
                continue
            while piece:
                piece = piece[os.write(self.master, piece[:500]) :]

    @staticmethod
    def says(flash: Path) -> bytes:
        image = flash.read_bytes()
        if image not in said:
            words = ["--icache", "on", "--uart", "-", "--uart-cycles", PACE]
            command = [str(SIMULATOR), "--flash", str(flash), *words]
            done = subprocess.run(command, stdout=subprocess.PIPE, check=True)
            said[image] = done.stdout
        return said[image]

    def command(self, *more: str) -> list[str]:
        load = f"{sys.executable} {self.loader} {self.place / 'asked'} {{image}}"
        given = ["--port", str(self.port), "--load", load, "--log", str(self.log)]
        return [sys.executable, str(self.folder / "run.py"), *given, "--patience", "3", *more]

    def run(self, *more: str, code: int = 0, first: Sequence[str] = ()) -> str:
        """Run the script; return what it says, on both streams."""
        command = [*first, *self.command(*more)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == code, done.stdout + done.stderr
        assert "Traceback" not in done.stderr
        assert done.stderr.count("\n") <= 1
        return done.stdout + done.stderr


@pytest.fixture
def bench(tmp_path: Path, folder: Path) -> Iterator[Bench]:
    made = Bench(tmp_path, folder)
    yield made
    made.server.close()


def report(archive: Path, log: Path, *bad: str, unknown: Sequence[str] = ()) -> Any:
    """What is reported: all stages hold but these."""
    told = json.loads(
        tockmark("board", "agree", "--bundle", archive, log, "--json", code=int(bool(bad)))
    )
    holds = {stage["name"]: stage["holds"] for stage in told["stages"]}
    none = dict.fromkeys(unknown)
    assert holds == {name: name not in bad for name in STAGES} | none, told["stages"]
    return told


def faults(told: Any, stage: str) -> str:
    return "\n".join(next(one["faults"] for one in told["stages"] if one["name"] == stage))


def data_line(text: bytes) -> int:
    """Where the first digit of the first sample of a row stands, in the midst of what a boot
    says."""
    return text.index(b" data ", len(text) // 2) + len(b" data cycles ")


# The whole way


def test_the_same_inputs_give_the_same_bytes(archive: Path, tmp_path: Path) -> None:
    assert packed(tmp_path / "again.tar.gz").read_bytes() == archive.read_bytes()


def test_a_strangers_half_hour_becomes_a_report(
    archive: Path, bench: Bench, tmp_path: Path
) -> None:
    """And the log is what `run --images` and `parse` read."""
    assert "all is in place: 3 images" in bench.run("--check")
    assert not bench.log.exists()
    said = bench.run("--by", "Jane [Doe](x)", "--note", "a | b")
    assert f"3 of 3 boots came to their end: send {bench.log}" in said
    page = tmp_path / "r.md"
    shown = tockmark("board", "agree", "--bundle", archive, bench.log, "-o", page)
    assert shown.startswith("sim-pty agrees with the simulator: all 5 stages hold\n")
    written = page.read_text()
    assert "| seen by | Jane &#91;Doe&#93;" in written
    assert written.count("its end came") == 3
    agreed = report(archive, bench.log)["agreement"]["counts"]
    assert agreed["compared"] == agreed["equal"] == agreed["every_sample"] > 15
    assert agreed["outside"] == agreed["unusable"] == agreed["only_sim"] == 0
    result = tmp_path / "r.json"
    laid = bench.folder / "images"
    tockmark("run", "--images", laid, "--log", bench.log, "-o", result)
    by_run = json.loads(result.read_text())["rows"]
    tockmark("board", "parse", bench.log, "--images", laid, "-o", result)
    assert json.loads(result.read_text())["rows"] == by_run
    assert len(by_run) >= agreed["compared"]


def test_without_pyserial_the_script_hears_the_same(archive: Path, bench: Bench) -> None:
    command = bench.command()
    command[1:1] = ["-I", "-S"]  # no site-packages
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "by termios" in done.stdout
    report(archive, bench.log)


# What may go wrong on the way


def test_noise_in_a_line_loses_its_row_only(archive: Path, bench: Bench) -> None:
    def noisy(text: bytes) -> list[Piece]:
        at = data_line(text)
        return [text[:at], b"\xf3" + text[at + 1 :]]

    bench.faults["c/syscall"] = noisy
    bench.run()
    told = report(archive, bench.log, "readable", "complete")
    assert faults(told, "readable").startswith("c/syscall: torn or altered: ")
    assert "missing" in faults(told, "complete")
    lost = len(told["stages"][2]["faults"])
    assert told["agreement"]["counts"]["equal"] > 15
    assert 0 < lost <= 2
    assert told["again"] == "python3 run.py --port PORT --resume --boots c/syscall"

    del bench.faults["c/syscall"]
    bench.run("--resume", "--boots", "c/syscall")
    assert bench.loaded == [*BOOTS, "c/syscall"]
    report(archive, bench.log)


def test_a_port_that_goes_and_comes_back(archive: Path, bench: Bench) -> None:
    def unplugged(text: bytes) -> list[Piece]:
        at = data_line(text)
        return [text[:at], lambda: time.sleep(0.3), bench.replug, text[at:]]

    bench.faults["c/syscall"] = unplugged
    said = bench.run()
    assert said.count("is gone: plug it in again within 3 s") == 1
    assert "[2/3] c/syscall: loaded in" in said
    told = report(archive, bench.log, "readable", "complete")
    assert [boot["port gone"] for boot in told["boots"]] == ["0", "1", "0"]


def test_a_port_that_stays_away_ends_it_and_resume_goes_on(archive: Path, bench: Bench) -> None:
    bench.faults["c/syscall"] = lambda text: [text[:300], lambda: time.sleep(0.3), bench.unplug]
    assert "was gone for 3 s; plug it in: what came is kept" in bench.run(code=1)
    told = report(archive, bench.log, "reached", "readable", "complete")
    assert "c/upcall: it is not in the log" in faults(told, "reached")
    del bench.faults["c/syscall"]
    bench.plug_in()
    bench.run("--resume")
    assert bench.loaded == ["c/time", "c/syscall", "c/syscall", "c/upcall"]
    report(archive, bench.log)


def test_a_reset_in_mid_run_is_named_and_nothing_is_lost(archive: Path, bench: Bench) -> None:
    bench.faults["c/syscall"] = lambda text: [text[: data_line(text)] + b"\n", text]
    bench.run()
    told = report(archive, bench.log, "readable")
    assert "began again" in faults(told, "readable")


def test_a_load_that_fails_is_tried_again(archive: Path, bench: Bench) -> None:
    bench.refuses = {"c/time": 1, "c/syscall": 2}
    said = bench.run(code=1)
    assert said.count("NOT LOADED") == 3
    assert "[2/3] c/syscall: NOT LOADED: " in said
    assert "failed: no board found" in said
    assert "2 of 3 boots came to their end" in said
    told = report(archive, bench.log, "reached", "complete")
    assert "1 not at the first attempt" in told["stages"][0]["told"]
    assert "c/syscall: not loaded: " in faults(told, "reached")
    bench.run("--resume")
    assert bench.loaded == ["c/time", "c/upcall", "c/syscall"]
    report(archive, bench.log)


def test_another_image_than_the_one_that_was_sent_is_not_reached(
    archive: Path, bench: Bench
) -> None:
    """The loader loaded what it wanted."""
    other = bench.says(bench.folder / "images" / "c" / "time.flash")
    for name in BOOTS[1:]:
        bench.faults[name] = lambda text: [other]
    bench.run(code=1)
    told = report(archive, bench.log, "reached", "complete")
    assert "c/syscall: the boot time spoke, of another image" in faults(told, "reached")


def test_a_board_that_says_nothing(archive: Path, bench: Bench) -> None:
    for name in BOOTS:
        bench.faults[name] = lambda text: []
    assert "0 bytes, silent for 3 s" in bench.run(code=1)
    told = report(archive, bench.log, *STAGES, unknown=("readable", "complete", "counts", "times"))
    assert "c/time: loaded, and said nothing" in faults(told, "reached")


def test_a_damaged_file_is_told_before_anything_is_loaded(bench: Bench, tmp_path: Path) -> None:
    bench.folder = Path(shutil.copytree(bench.folder, tmp_path / "damaged"))
    for name in ("c/syscall.flash", "manifest.json"):
        with (bench.folder / "images" / name).open("ab") as file:
            file.write(b"\0")
        said = bench.run(code=2)
        assert said == f"run.py: images/{name} is damaged: unpack the archive again\n"
    assert bench.loaded == []


def test_a_full_disk_ends_it_and_resume_goes_on(archive: Path, bench: Bench) -> None:
    """The shell's limit for files is the disk's end."""
    size = len(bench.says(bench.folder / "images" / "c" / "time.flash"))
    blocks = str((size + 3000) // 512)
    said = bench.run(code=1, first=["sh", "-c", f'ulimit -f {blocks}; exec "$@"', "sh"])
    assert "cannot write" in said
    assert "what came is kept; the same command with --resume goes on" in said
    told = json.loads(tockmark("board", "agree", "--bundle", archive, bench.log, "--json", code=1))
    assert [stage["holds"] for stage in told["stages"] if stage["name"] != "readable"] == [
        *(False, False, True, True)  # readable is the last line if it has an end
    ]
    assert told["boots"][0]["how it ended"] == "its end came"
    bench.run("--resume")
    report(archive, bench.log)


def test_what_is_refused_is_one_line(bench: Bench, tmp_path: Path) -> None:
    bench.log = tmp_path / "nowhere" / "a.log"
    assert "cannot write" in bench.run(code=2)
    bench.log = tmp_path / "a.log"
    assert "there is no boot c/sycall; images" in bench.run("--boots", "c/sycall", code=2)
    assert "no loader is known" in bench.run("--load", "loads it", code=2)
    assert "loads is not on PATH" in bench.run("--load", "loads {image}", code=2)
    assert "is the cable in?" in bench.run("--port", "/dev/ttyNone", code=2)
    bench.log.write_text("an hour's work")
    assert "a.log is there: go on with --resume" in bench.run(code=2)
    assert bench.log.read_text() == "an hour's work"
    assert bench.loaded == []


def test_ctrl_c_keeps_what_came(archive: Path, bench: Bench) -> None:
    bench.faults["c/syscall"] = lambda text: [text[:300]]
    with subprocess.Popen(
        bench.command("--patience", "60"), stderr=subprocess.PIPE, text=True
    ) as process:
        while bench.loaded != ["c/time", "c/syscall"]:
            time.sleep(0.05)
        time.sleep(0.5)
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=60)
    assert process.returncode == 130
    assert said.startswith("run.py: interrupted: what came is kept")
    found = captured(bench.log.read_text("latin-1").split("\n"))
    assert [one.over for one in found.loadings] == ["end", "interrupted"]


def test_a_log_of_another_kernel_is_refused(archive: Path, bench: Bench, tmp_path: Path) -> None:
    """By the report, and by the script that would go on from it."""
    kernel = tmp_path / "mine.elf"  # the same code, and another file
    kernel.write_bytes(boards.load("sim-pty").kernels[2].read_bytes() + b"\0")
    other = packed(tmp_path / "other.tar.gz", "--kernel", kernel)
    bench.run()
    said = tockmark("board", "agree", "--bundle", other, bench.log, code=2)
    assert "was captured with another bundle than this one" in said
    bench.folder = Path(shutil.copytree(bench.folder, tmp_path / "mine"))
    about = json.loads((bench.folder / "bundle.json").read_text()) | {"tockmark": "9"}
    (bench.folder / "bundle.json").write_text(json.dumps(about))
    assert "is of another bundle" in bench.run("--resume", code=2)


def test_a_log_of_months_ago_names_the_tockmark_that_can_read_it(
    archive: Path, bench: Bench, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bench.log.write_text("#tm\n")
    known = catalogues.load()
    changed = dataclasses.replace(known, sha256="0" * 64)
    monkeypatch.setattr(catalogues, "load", lambda: changed)
    said = tockmark("board", "agree", "--bundle", archive, bench.log, code=2)
    assert "has rows of another catalogue than this tockmark; use the one that packed it: " in said
    assert f"commit {paths.commit_of_checkout()}" in said


def test_a_simulator_that_ends_early_is_no_agreement(
    archive: Path, bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Rows that it has not are compared with nothing."""
    bench.run()
    hasty = boards.load("earlgrey-sim").configured({"max-cycles": 300_000})
    load = boards.load
    monkeypatch.setattr(boards, "load", lambda name: hasty if name == hasty.name else load(name))
    told = report(archive, bench.log, "counts")
    assert "on the simulator: " in faults(told, "counts")


# The archive


def test_what_is_no_bundle_is_one_line(archive: Path, tmp_path: Path) -> None:
    log, broken = tmp_path / "a.log", tmp_path / "b.tar.gz"
    log.write_text("#tm\n")
    whole = archive.read_bytes()
    for data in (b"", whole[: len(whole) // 2], b"x" * 100):
        broken.write_bytes(data)
        said = tockmark("board", "agree", "--bundle", broken, log, code=2)
        assert "is not a whole bundle" in said
    for name in ("tockmark-x/../../escaped", "/tmp/escaped", "tockmark-x/a b"):
        with tarfile.open(broken, "w:gz") as tar:
            tar.addfile(tarfile.TarInfo(name))
        assert "is in no bundle" in tockmark("board", "agree", "--bundle", broken, log, code=2)
    for words, why in (
        (("a.json", "b.json", "--bundle", archive), "--bundle takes all of one log"),
        ((log,), "1 files are given; give SIM and BOARD"),
        (("a.json", "b.json", "-o", tmp_path / "r.md"), "-o is for the report on a bundle"),
    ):
        assert why in tockmark("board", "agree", *words, code=2)


def test_a_page_tells_a_stranger_what_to_do(tmp_path: Path) -> None:
    out = tmp_path / "cw310.tar.gz"
    tockmark("board", "bundle", "--board", "cw310", "--only", "time", "-o", out)
    found = bundle.unpack(out, tmp_path / "u")
    text = (tmp_path / "u" / "README.md").read_text()
    page, board = " ".join(text.split()), boards.load("cw310")
    assert found.about.load == board.load.command  # type: ignore[union-attr]
    assert all(f"{number}. {step}" in page for number, step in enumerate(board.connect, 1))
    assert all(f"- {one}" in page for one in board.not_working)
    assert "which is not Tock" in page
    assert len(text.splitlines()) < 60
    assert max(map(len, text.splitlines())) <= bundle.COLUMNS
    said = tockmark("board", "bundle", "--board", "qemu", "--only", "time", "-o", out, code=2)
    assert "qemu is heard by no serial port" in said
