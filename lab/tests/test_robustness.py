# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The page on robustness shows its file, and the experiments detect errors: a process that
continues, one that does not end, a torn result, a missing one.

Needs `make build`."""

import os
import re
import shutil
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from tockmark.__main__ import main
from tockmark.base import paths
from tockmark.result import file
from tockmark_lab import interrupted, robustness

PART: dict[str, Any] = {
    "date": "2026-11-22", "commit": "c" * 40, "cores": 2, "seconds": 7, "kernels": {}, "shares": {},
    "masked": {}, "tries": [{"what": "lines", "count": 5, "seed": "3", "came": {"good": 4}}],
    "lost": [],
}  # fmt: skip


def script(*arguments: str, **more: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "tockmark_lab", "robustness", *arguments]
    return subprocess.run(
        command, env=os.environ | more, capture_output=True, text=True, check=False
    )


def test_the_page_shows_the_file() -> None:
    done = script("--check")
    assert done.returncode == 0, done.stdout + done.stderr
    assert set(robustness.stored()) <= set(robustness.PARTS)


def test_a_failed_part_is_shown() -> None:
    good = robustness.render({"runs": PART})
    assert re.search(r"\| runs \| [^|]+ \| 0 \| 2026-11-22, cccccccccccc, 7 s on ", good)
    assert "| runs | lines | 5 | 3 | 4 good |" in good
    assert "**Failed, " not in good
    bad = robustness.render({"runs": PART | {"lost": ["run 3: torn"]}})
    assert re.search(r"\| runs \| [^|]+ \| 1 \|", bad)
    assert "**Failed, runs:**\n\n- run 3: torn\n" in bad
    assert "| - | not run: `make robustness PARTS=logs` |" in bad


def test_a_test_that_fails_is_lost(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    test = tmp_path / "test_made.py"
    lines = ["def test_good(record_property):", "    from tockmark.tests.tries import record_tries"]
    lines += ["    record_tries(record_property, 'inputs', 9, range(9), {'fine': 9})"]
    test.write_text("\n".join([*lines, "def test_bad():", "    assert False, 'seed 7'", ""]))
    monkeypatch.setenv("TOCKMARK_FUZZ_LOGS", "9")
    part = robustness.run_fuzz_tests("TOCKMARK_FUZZ_LOGS", "TOCKMARK_FUZZ", str(test))
    assert part.tries == [robustness.Try("inputs", 9, "0 to 8", {"fine": 9})]
    assert [what.split("\n")[0] for what in part.lost] == ["test_bad: AssertionError: seed 7"]


@pytest.mark.parametrize(
    ("arguments", "more", "message"),
    [
        (
            ["logs"],
            {"TOCKMARK_FUZZ_LOGS": "many"},
            "TOCKMARK_FUZZ_LOGS=many is not a number from 1",
        ),
        (["page", "moon"], {}, "there is no part 'moon'. Name conformance, mixes, "),
    ],
)
def test_bad_input_is_one_line(arguments: list[str], more: dict[str, str], message: str) -> None:
    done = script(*arguments, **more)
    assert done.returncode == 2
    assert done.stderr.startswith(f"tockmark: {message}")
    assert done.stderr.count("\n") == 1


def end_of(shell: str, monkeypatch: pytest.MonkeyPatch) -> interrupted.End:
    monkeypatch.setattr(interrupted, "PATIENCE", 1)
    command = ["sh", "-c", shell]
    return interrupted.interrupt(command, paths.ROOT, os.environ, 0.5, signal.SIGTERM, False)


def test_a_process_that_continues_is_detected_and_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    end = end_of("setsid sleep 987 & wait", monkeypatch)
    assert (end.code, end.in_time, end.running) == (-signal.SIGTERM, True, ["sleep 987"])
    assert list(end.faults("it")) == ["it: `sleep 987` kept running"]
    again = end_of("true", monkeypatch)
    assert (again.code, again.in_time, again.running) == (0, False, [])


SLOW = """#!/bin/sh
case "$*" in
*venv*.venvs/* | install*) exec sleep 986 ;;
esac
exec {} "$@"
"""


@pytest.mark.parametrize("which", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_set_up_ends_its_installations(
    which: signal.Signals, tmp_path: Path
) -> None:
    """Installations take long, and the signal goes only to the script."""
    for name in ("python3", "cargo"):
        real = shutil.which(name)
        (tmp_path / name).write_text(SLOW.format(real))
        (tmp_path / name).chmod(0o755)
    script = tmp_path / "tools" / "setup.sh"
    script.parent.mkdir()
    shutil.copy(paths.ROOT / "tools" / "setup.sh", script)
    environment = os.environ | {"PATH": f"{tmp_path}:{os.environ['PATH']}"}
    end = interrupted.interrupt([str(script)], tmp_path, environment, 4, which, False)
    assert (end.code, end.in_time, end.running) == (130, True, [])


def test_an_interrupted_experiment_leaves_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    words: list[str] = []

    def stop(word: str) -> dict[int, str]:
        monkeypatch.undo()
        words.append(word)
        raise KeyboardInterrupt

    monkeypatch.setattr(interrupted, "with_word", stop)
    with pytest.raises(KeyboardInterrupt):
        interrupted.interrupt(
            ["sh", "-c", "setsid sleep 985 &"], paths.ROOT, os.environ, 60, signal.SIGTERM, False
        )
    latest = time.monotonic() + 10
    while interrupted.with_word(words[0]) and time.monotonic() < latest:
        time.sleep(0.05)
    assert interrupted.with_word(words[0]) == {}


def test_a_process_that_starts_a_program_is_waited_for(tmp_path: Path) -> None:
    """The process has no environment before that. If it has ended, it never gets one."""
    environ, stat = tmp_path / "environ", tmp_path / "stat"
    environ.touch()
    stat.write_text("7 (a) b) R 1 7 7")
    later = threading.Timer(0.1, environ.write_bytes, [b"A=b"])
    later.start()
    assert interrupted._environment(tmp_path) == b"A=b"
    later.join()
    environ.write_bytes(b"")
    for line in ("7 (a) Z 1 7 7", "7 (kthreadd) S 0 0 0", "7 (kworker) S 2 0 0"):
        stat.write_text(line)
        assert interrupted._environment(tmp_path) == b""


def test_a_process_that_does_not_end_is_detected_and_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    end = end_of("trap '' TERM; echo Traceback x/tockmark/y.py; while :; do :; done", monkeypatch)
    assert end.code is None
    assert list(end.faults("it")) == [
        "it: it did not end within 1 s",
        "it: it ended in a traceback",
    ]


def test_a_torn_result_is_distinguished_from_a_whole_one(tmp_path: Path) -> None:
    path = tmp_path / "result.json"
    assert interrupted._state(path, None) == ("no result", "")
    assert interrupted._state(path, b"old") == ("no result", "the older result is gone")
    whole = (paths.RESULTS / "baseline-cw310.json").read_bytes()
    path.write_bytes(whole)
    assert interrupted._state(path, whole) == ("the older result", "")
    assert interrupted._state(path, None) == ("a complete result", "a result without its log")
    path.with_suffix(".log").touch()
    assert interrupted._state(path, b"old") == ("a complete result", "")
    path.write_bytes(whole[:5000])
    state, wrong = interrupted._state(path, None)
    assert state == "a damaged result"
    assert wrong
    assert file.load(paths.RESULTS / "baseline-cw310.json").incomplete == ()


def test_ctrl_c_while_the_tool_loads_is_one_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    class Interrupts:
        def find_spec(self, name: str, *_: object) -> None:
            if name == "tockmark.cli.app":
                raise KeyboardInterrupt

    monkeypatch.delitem(sys.modules, "tockmark.cli.app", raising=False)
    monkeypatch.setattr(sys, "meta_path", [Interrupts(), *sys.meta_path])
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == 130
    assert capsys.readouterr().err == "tockmark: interrupted\n"


def test_an_interrupted_run_is_whole_or_absent() -> None:
    tally = interrupted.runs(len(interrupted.SIGNALS), 1, lambda _: None)
    assert tally.lost == []
    assert tally.tried == len(interrupted.SIGNALS)
