# SPDX-License-Identifier: Apache-2.0 OR MIT
"""A file replaces only files of its own type; folders of killed processes are removed."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tockmark.base import paths
from tockmark.base.errors import TockmarkError
from tockmark.base.files import check_writable, temporary_folder, write_whole

RESULT = '{\n"format": "tockmark-result", "x": 1}'
HISTORY = '{"format":"tockmark-history"}'
LOG = "#boot time icache=on\n#tm 0 time begin\n"


def tree(folder: Path) -> dict[str, str]:
    return {
        str(path.relative_to(folder)): path.read_text()
        for path in folder.rglob("*")
        if path.is_file()
    }


@pytest.mark.parametrize(
    ("existing", "written", "message"),
    [
        ({"a.json": HISTORY}, {"a.json": RESULT}, "is a history; a result does not replace it"),
        ({"a.json": "[1]"}, {"a.json": RESULT}, "is a file .json; a result does not"),
        ({"a.csv": RESULT}, {"a.csv": "1,2"}, "is a result; a file .csv does not replace it"),
        ({"b.log": LOG}, {"b.log": RESULT}, "is not the log of the result"),
        ({"b.log": LOG}, {"b.log": LOG, "b.json": RESULT}, "is not the log of the result"),
        ({"b.log": "notes", "b.json": RESULT}, {"b.log": LOG, "b.json": RESULT}, "is not the log"),
        ({"b.json/x": ""}, {"b.log": LOG, "b.json": RESULT}, "b.json: it is a folder"),
        ({"notes": "dear diary"}, {"notes": RESULT}, "is a file without a suffix; a result"),
    ],
)
def test_a_file_of_another_type_is_not_replaced(
    existing: dict[str, str], written: dict[str, str], message: str, tmp_path: Path
) -> None:
    for name, content in existing.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(content)
    with pytest.raises(TockmarkError, match=message):
        write_whole({tmp_path / name: content for name, content in written.items()})
    assert tree(tmp_path) == existing


@pytest.mark.parametrize(
    "written",
    [
        {"a.json": RESULT, "a.log": LOG},
        {"x.csv": "1"},
        {"empty.json": RESULT},
        {"new.json": RESULT},
    ],
)
def test_a_file_of_the_same_type_is_replaced(written: dict[str, str], tmp_path: Path) -> None:
    existing = {"a.json": RESULT + " ", "a.log": LOG + " ", "x.csv": "2", "empty.json": ""}
    for name, content in existing.items():
        (tmp_path / name).write_text(content)
    check_writable([tmp_path / name for name in written])
    write_whole({tmp_path / name: content for name, content in written.items()})
    assert tree(tmp_path) == existing | written


@pytest.mark.parametrize("name", ["waits.json", "waits"])
def test_a_command_replaces_its_own_output(name: str, tmp_path: Path) -> None:
    path, form = tmp_path / name, "tockmark-latency"
    made = f'{{"format":"{form}","version":1}}'
    for content in (made, f"{made}\n"):
        check_writable([path], form)
        write_whole({path: content})
    for other, what in ((RESULT, "a result"), (HISTORY, "a history"), ("{}", "a file")):
        path.write_text(other)
        with pytest.raises(TockmarkError, match=f"is {what}.* a latency does not replace"):
            check_writable([path], form)


def test_folders_of_killed_processes_are_removed(tmp_path: Path) -> None:
    wait = "temporary_folder(Path(sys.argv[1])) as at: print(at, flush=True); sys.stdin.read()"
    code = f"import sys\nfrom pathlib import Path\nfrom tockmark.base.files import *\nwith {wait}"
    command = [sys.executable, "-c", code, str(tmp_path)]
    environment = {**os.environ, "PYTHONPATH": str(paths.ROOT / "tools")}
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment
    ) as process:
        assert process.stdout is not None
        left = Path(process.stdout.readline().strip())
        with temporary_folder(tmp_path) as own:
            assert left.is_dir()  # its process still runs
            assert own.is_dir()
        process.kill()
    assert left.is_dir()
    with temporary_folder(tmp_path) as own:
        assert list(tmp_path.iterdir()) == [own]
    assert list(tmp_path.iterdir()) == []
