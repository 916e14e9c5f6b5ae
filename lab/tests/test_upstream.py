# SPDX-License-Identifier: Apache-2.0 OR MIT
"""lab/upstream/: each text has its parts, each patch is valid and small, the table lists all files,
and the apps recognize a correct kernel."""

import re
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from tockmark_lab import reproduce
from tockmark_lab.reproduce import BootOutput

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "lab" / "upstream"
TABLE = (FOLDER / "README.md").read_text(encoding="utf-8")
PRIVATE = FOLDER / "private"
OFFERED = FOLDER / "offered"  # not a fault
TEXTS = sorted(
    (path for path in FOLDER.rglob("*.md") if path.stem != "README" and path.parent != OFFERED),
    key=lambda path: path.stem,
)
PATCHES = sorted(
    (path for path in FOLDER.rglob("*.patch") if path.parent != OFFERED),
    key=lambda path: path.stem,
)
PARTS = [
    *("What happens", "Where", "To reproduce", "Expected", "Measured", "Patch"),
    "How it was found",
]
APPS = FOLDER / "apps"
MOST_LINES = 40
HUNK = re.compile(r"@@ -\d+(?:,(\d+))? \+\d+(?:,(\d+))? @@.*")

LENT_ON = "the first of them is now 1\nthe first of them is now 2"


def seen(
    text: str = "", panicked: bool = False, cycles: int = 0, stored: Sequence[int] = ()
) -> BootOutput:
    """Return the output of a boot."""
    return BootOutput(text, panicked, cycles, list(stored))


def parts(text: str) -> dict[str, str]:
    """Return the parts of a text, by heading."""
    pieces = re.split(r"^## (.+)\n", text, flags=re.MULTILINE)
    return dict(zip(pieces[1::2], pieces[2::2], strict=True))


def ill_formed(patch: str, most: int = MOST_LINES) -> str | None:
    """Return the error of a patch in git's form, or ""."""
    lines = patch.splitlines()
    if len(lines) > most:
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
        elif not line.startswith(
            ("diff --git a/", "index ", "--- a/", "--- /dev/null", "new file mode ")
        ):
            return f"neither header nor hunk: {line}"
    if old or new:
        return "its last hunk is short"
    return None if 0 < files <= hunks else "it changes nothing"


@pytest.mark.parametrize("text", TEXTS, ids=lambda path: str(path.stem))
def test_a_text_has_its_parts(text: Path) -> None:
    content = text.read_text(encoding="utf-8")
    sections = parts(content)
    assert list(sections) == PARTS
    assert all(part.strip() for part in sections.values())
    assert re.search(r"^# .+", content, re.MULTILINE)
    assert re.search(r"\bat [0-9a-f]{9}\b", content), "no commit is named"
    assert re.search(r"`tock/[\w/.-]+\.rs`", sections["Where"]), "no file is named"
    assert re.search(r"`[\w:]+\(\)`", sections["Where"]), "no function is named"
    assert f"tockmark-lab reproduce {text.stem} " in sections["To reproduce"]
    steps = " ".join(sections["To reproduce"].split())
    for app in reproduce.CASES[text.stem].slots:
        assert f"`lab/upstream/apps/{app}.c`" in steps
        assert f"--tab {app}.tab" in steps
    assert "AI tools helped" in sections["How it was found"]
    patch = text.with_suffix(".patch")
    assert (f"]({patch.name})" in sections["Patch"]) == patch.exists()
    assert sections["Patch"].strip().startswith("There is no patch") != patch.exists()


@pytest.mark.parametrize("patch", PATCHES, ids=lambda path: str(path.stem))
def test_a_patch_is_valid_and_small(patch: Path) -> None:
    assert ill_formed(patch.read_text(encoding="utf-8")) is None
    assert patch.with_suffix(".md") in TEXTS


def test_the_offer_has_its_parts_and_our_own_counter() -> None:
    """The patch to send and `tockmark patch --counter cyclecount` add the same code."""
    text, patch = ((OFFERED / f"cyclecount.{kind}").read_text("utf-8") for kind in ("md", "patch"))
    assert list(parts(text)) == ["What is missing", "Where", "Patch", "Measured"]
    assert "](offered/cyclecount.md)" in TABLE
    assert ill_formed(patch, 3 * MOST_LINES) is None
    ours = (ROOT / "capsules/perf/tock-2.x/cycle_count.rs").read_text(encoding="utf-8")
    _, _, code = ours.partition("//!")
    added = "\n".join(line[1:] for line in patch.splitlines() if line.startswith("+"))
    assert f"//!{code}".strip() in added


def test_an_invalid_patch_is_detected() -> None:
    good = PATCHES[0].read_text(encoding="utf-8")
    lines = good.splitlines()
    assert ill_formed("\n".join(lines[:-1])) is not None
    assert ill_formed("\n".join([*lines, "more"])) is not None
    assert ill_formed("\n".join(lines[:4])) is not None
    assert ill_formed(good * MOST_LINES) is not None
    assert ill_formed("") is not None


def test_the_table_lists_exactly_the_files() -> None:
    rows = re.findall(r"^\| \[([\w-]+)\]\(([\w/-]+)\.md\) \|(.*)$", TABLE, re.MULTILINE)
    places = [str(path.relative_to(FOLDER).with_suffix("")) for path in TEXTS]
    assert [(name, text_name) for name, text_name, _ in rows] == [
        (Path(text_name).name, text_name) for text_name in places
    ]
    patches = [
        f"{text_name}.patch" for _, text_name, rest in rows if f"]({text_name}.patch)" in rest
    ]
    assert patches == [str(path.relative_to(FOLDER)) for path in PATCHES]


def test_attacks_are_sent_privately() -> None:
    """The text asks for this, and no public page describes the attack."""
    assert {path.stem for path in PRIVATE.glob("*.md")} == {"README", "i2c-length", "ipc-take-back"}
    assert "To be sent privately, as SECURITY.md asks" in (PRIVATE / "README.md").read_text()
    pages = "".join(path.read_text(encoding="utf-8") for path in (ROOT / "docs").glob("*.md"))
    assert "upstream/private" not in pages


def test_each_app_is_run_by_a_case() -> None:
    used = {slot for case in reproduce.CASES.values() for slot in case.slots}
    assert used == {path.stem for path in APPS.glob("*.c")}


@pytest.mark.parametrize("app", sorted(APPS.glob("*.c")), ids=lambda path: str(path.stem))
def test_an_app_needs_nothing_but_libtock_c(app: Path) -> None:
    """It includes only a C library and the files next to it."""
    text = app.read_text() + (APPS / "app.h").read_text()
    included = set(re.findall(r"#include [<\"](.+)[>\"]", text))
    headers = {path.name for path in APPS.glob("*.[ch]")}
    library = {"libtock/tock.h", "stdbool.h", "stdint.h", "stdio.h", "string.h"}
    assert included <= headers | library
    assert not re.search(r"\b(tm|tock)_\w+\(", text), "a call of our runtime"


SAYS = {
    "ipc-overlap": "the first of them is now 2",
    "ipc-take-back": "the first of them is now 1",
    "ipc-wait-for": "notified",
    "null-upcall": "returned, and says that upcalls ran: 0",
    "null-upcall-subscribe": "ticks from the alarm that was missed to the one set: 203",
    "otbn-padding": "hello",
    "watchdog-rate": "hello",
    "yield-number": "returned",
}


@pytest.mark.parametrize("case", SAYS)
def test_the_baseline_kernel_shows_no_fault(case: str) -> None:
    done = reproduced(case)
    assert done.returncode == 1, done.stderr
    lines = done.stdout.splitlines()
    assert SAYS[case] in lines
    assert lines[-1] == f"{case}: not shown"


def test_without_the_driver_there_is_no_verdict() -> None:
    done = reproduced("i2c-length")
    assert done.returncode == 2
    assert "lacks the driver" in done.stderr
    assert "shown" not in done.stdout


WAITED = "to the one set: 102\nx to that of the yield: {}"


@pytest.mark.parametrize(
    ("case", "good", "bad"),
    [
        ("alarm-rate", seen("awake", cycles=2_800_000), seen("awake", cycles=9_996_371)),
        ("i2c-last-byte", seen(stored=[0x150, 0x33, 0x244]), seen(stored=[0x150, 0x22, 0x33])),
        ("i2c-length", seen("write 4 bytes of 4: OK"), seen(panicked=True)),
        (
            "ipc-overlap",
            seen("told of bytes: 64\nhas written\ntold of bytes: 128\nhas written"),
            seen("told of bytes: 64\nhas written\ntold of bytes: 128", panicked=True),
        ),
        ("ipc-take-back", seen("the first of them is now 1\n" * 2), seen(LENT_ON)),
        ("ipc-wait-for", seen("notified"), seen("notify: OK")),
        (
            "late-alarm",
            seen("alarms: 300\n5 ticks late: 0"),
            seen("alarms: 300\n5 ticks late: 41"),
        ),
        ("null-upcall", seen("returned, and says that"), seen("yield-no-wait ...")),
        ("null-upcall-subscribe", seen(WAITED.format(102)), seen(WAITED.format(0))),
        ("otbn-padding", seen("hello"), seen(panicked=True)),
        ("watchdog-rate", seen(stored=[125_000]), seen(stored=[4_294_967])),
        ("yield-number", seen("returned"), seen("yield number 3 ...")),
    ],
)
def test_the_verdict_depends_on_the_output(case: str, good: BootOutput, bad: BootOutput) -> None:
    shown = reproduce.CASES[case].shown
    assert (shown(good), shown(bad)) == (False, True)


def test_if_every_alarm_is_late_there_is_no_verdict() -> None:
    every = seen("alarms: 300\n5 ticks late: 300")
    assert reproduce.CASES["late-alarm"].shown(every) is None


def test_errors_are_one_line(tmp_path: Path) -> None:
    for words in (["--kernel", str(tmp_path)], ["--image", str(tmp_path)]):
        done = reproduced("otbn-padding", *words)
        assert done.returncode == 2
        assert done.stderr.startswith("tockmark: ")
        assert done.stderr.count("\n") == 1


def reproduced(*words: str) -> subprocess.CompletedProcess[str]:
    """Run the verb reproduce."""
    command = [sys.executable, "-m", "tockmark_lab", "reproduce", *words]
    return subprocess.run(command, capture_output=True, text=True, check=False, cwd=ROOT)
