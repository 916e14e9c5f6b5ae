# SPDX-License-Identifier: Apache-2.0 OR MIT
"""docs/upstream/: each text has its parts, each patch is one and small, the table lists them all,
and the apps tell a kernel that does right."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
FOLDER = ROOT / "docs" / "upstream"
TABLE = (FOLDER / "README.md").read_text(encoding="utf-8")
TEXTS = sorted(set(FOLDER.glob("*.md")) - {FOLDER / "README.md"}, key=lambda path: path.stem)
PATCHES = sorted(FOLDER.glob("*.patch"), key=lambda path: path.stem)
PARTS = ["What happens", "Where", "To reproduce", "Expected", "Measured", "Patch"]
REPRODUCE = ROOT / "tools" / "reproduce.py"
MOST_LINES = 40
HUNK = re.compile(r"@@ -\d+(?:,(\d+))? \+\d+(?:,(\d+))? @@.*")

sys.path.insert(0, str(REPRODUCE.parent))
import reproduce  # noqa: E402


def parts(text: str) -> dict[str, str]:
    """The parts of a text, by their headings."""
    pieces = re.split(r"^## (.+)\n", text, flags=re.MULTILINE)
    return dict(zip(pieces[1::2], pieces[2::2], strict=True))


def ill_formed(patch: str) -> str | None:
    """What is wrong with a patch in git's form, if anything is."""
    lines = patch.splitlines()
    if len(lines) > MOST_LINES:
        return f"{len(lines)} lines"
    old = new = files = hunks = 0
    for line in lines:
        hunk = HUNK.fullmatch(line)
        if old or new:
            if line[:1] not in (" ", "-", "+"):
                return f"a hunk ends early at: {line}"
            old -= line[0] in " -"
            new -= line[0] in " +"
        elif hunk:
            old, new = (int(count or 1) for count in hunk.groups())
            hunks += 1
        elif line.startswith("+++ b/"):
            files += 1
        elif not line.startswith(("diff --git a/", "index ", "--- a/")):
            return f"neither header nor hunk: {line}"
    if old or new:
        return "its last hunk is short"
    return None if 0 < files <= hunks else "it changes nothing"


@pytest.mark.parametrize("text", TEXTS, ids=lambda path: str(path.stem))
def test_a_text_has_its_parts(text: Path) -> None:
    found = text.read_text(encoding="utf-8")
    said = parts(found)
    assert list(said) == PARTS
    assert all(part.strip() for part in said.values())
    assert re.search(r"^# .+", found, re.MULTILINE)
    assert re.search(r"\bat [0-9a-f]{9}\b", found), "no commit is named"
    assert re.search(r"`tock/[\w/.-]+\.rs`", said["Where"]), "no file is named"
    assert re.search(r"\blines? \d+", said["Where"]), "no line is named"
    assert f"tools/reproduce.py {text.stem} " in said["To reproduce"]
    assert text.stem in reproduce.CASES
    patch = text.with_suffix(".patch")
    assert (f"]({patch.name})" in said["Patch"]) == patch.exists()
    assert said["Patch"].strip().startswith("There is no patch") != patch.exists()


@pytest.mark.parametrize("patch", PATCHES, ids=lambda path: str(path.stem))
def test_a_patch_is_one_and_small(patch: Path) -> None:
    assert ill_formed(patch.read_text(encoding="utf-8")) is None
    assert patch.with_suffix(".md") in TEXTS


def test_what_is_no_patch_is_found() -> None:
    good = PATCHES[0].read_text(encoding="utf-8")
    lines = good.splitlines()
    assert ill_formed("\n".join(lines[:-1])) is not None
    assert ill_formed("\n".join([*lines, "more"])) is not None
    assert ill_formed("\n".join(lines[:4])) is not None
    assert ill_formed(good * MOST_LINES) is not None
    assert ill_formed("") is not None


def test_the_table_lists_exactly_the_files() -> None:
    rows = re.findall(r"^\| \[([\w-]+)\]\(([\w-]+)\.md\) \|(.*)$", TABLE, re.MULTILINE)
    assert [name for name, link, _ in rows if name == link] == [path.stem for path in TEXTS]
    patches = [f"{name}.patch" for name, _, rest in rows if f"]({name}.patch)" in rest]
    assert patches == [path.name for path in PATCHES]
    kinds = {path.suffix for path in FOLDER.iterdir()}
    assert kinds == {".md", ".patch"}


def test_each_app_is_run_by_a_case() -> None:
    used = {slot for case in reproduce.CASES.values() for slot in case.slots}
    assert used == {path.stem for path in (ROOT / "apps" / "upstream").glob("*.c")}


@pytest.mark.parametrize(
    ("case", "line"),
    [
        ("i2c-length", "the driver: NODEVICE"),
        ("ipc-overlap", "the first of them is now 2"),
        ("ipc-wait-for", "notified"),
        ("null-upcall", "returned, and says that upcalls ran: 0"),
        ("otbn-padding", "hello"),
        ("yield-number", "returned"),
    ],
)
def test_the_baseline_kernel_does_right(case: str, line: str) -> None:
    done = reproduced(case)
    assert done.returncode == 0, done.stderr
    assert line in done.stdout.splitlines()


def test_a_stale_upcall_is_not_the_one_waited_for() -> None:
    set_, got = (
        line.split(": ")[1] for line in reproduced("null-upcall-subscribe").stdout.split("\n")[1:3]
    )
    assert set_ == got != "0"


def test_memory_taken_back_is_out_of_reach() -> None:
    said = reproduced("ipc-take-back").stdout
    assert "ipc_borrower fault" in said
    assert "the first of them is now 2" not in said


def test_what_cannot_be_run_or_kept_is_one_line(tmp_path: Path) -> None:
    for words in (["--kernel", str(tmp_path)], ["--image", str(tmp_path)]):
        done = reproduced("otbn-padding", *words)
        assert done.returncode == 2
        assert done.stderr.startswith("tockmark: ")
        assert done.stderr.count("\n") == 1


def reproduced(*words: str) -> subprocess.CompletedProcess[str]:
    """Run the tool."""
    command = [sys.executable, str(REPRODUCE), *words]
    return subprocess.run(command, capture_output=True, text=True, check=False, cwd=ROOT)
