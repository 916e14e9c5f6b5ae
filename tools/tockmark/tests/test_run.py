# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Running the suite, on a stand-in for the simulator that prints prepared logs."""

import dataclasses
import os
import signal
import sys
import threading
from pathlib import Path

import pytest

from tockmark.errors import TockmarkError
from tockmark.log.protocol import BootMark
from tockmark.result import result as results
from tockmark.suite.catalogue import Boot, Catalogue
from tockmark.target import board as boards
from tockmark.target import run
from tockmark.target.image import Apps, Image, Kernel
from tockmark.tests.conftest import RECORDS, encoded

# Prints the log that lies where the flash image should; its last line says how to end.
STAND_IN = f"""#!{sys.executable}
import sys, time
*lines, ending = open(sys.argv[sys.argv.index("--flash") + 1]).read().splitlines()
for line in lines:
    print(line, flush=True)
print("earlgrey-sim: status cycles=1234 wall=0.1", file=sys.stderr)
if ending == "hang":
    time.sleep(60)
if ending != "0":
    print("earlgrey-sim: pc=0x20000404", file=sys.stderr)
print(f"earlgrey-sim: end reason=x cycles=2500000 instret=1 wall=0.1", file=sys.stderr)
sys.exit(int(ending))
"""


@pytest.fixture
def options(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, catalogue: Catalogue) -> run.Options:
    binary = tmp_path / "stand-in"
    binary.write_text(STAND_IN)
    binary.chmod(0o755)
    profile = boards.load(boards.DEFAULT)
    target = dataclasses.replace(profile.target, binary=binary)

    def prepared(boot: Boot, *_: object) -> Image:
        return Image(tmp_path / f"{boot.name}.flash", ())

    monkeypatch.setattr(run, "build_image", prepared)
    for app, records in RECORDS.items():
        end(tmp_path, app, "0", encoded(app, records))
    return run.Options(
        kernel=Kernel(tmp_path / "k.elf", "tockmark-baseline 0.1.0 abi2", "d" * 64, None, ()),
        board=dataclasses.replace(profile, target=target),
        apps=Apps(tmp_path, 2),
        boots=catalogue.boots(),
        wanted=None,
        icaches=[True],
        all_samples=False,
        samples=None,
        jobs=2,
        max_cycles=1000,
    )


def end(folder: Path, app: str, how: str, lines: list[str]) -> None:
    (folder / f"{app}.flash").write_text("\n".join([*lines, how]))


def test_a_whole_run(options: run.Options, catalogue: Catalogue) -> None:
    result, log = run.run(options, catalogue)
    assert results.incomplete(result) == []
    assert [row["app"] for row in result["rows"]] == ["time", "loop", "loop", "mem", "mem", "mem"]
    assert log.splitlines() == [
        line
        for app, records in RECORDS.items()
        for line in (
            BootMark(app, True, app).encode(),
            *encoded(app, records),
            BootMark(app, True, app, ends=True).encode(),
        )
    ]
    assert {row["icache"] for row in result["rows"]} == {True}
    assert result["provenance"]["kernel"]["name"] == "tockmark-baseline 0.1.0 abi2"
    assert results.text(result)  # follows the schema


@pytest.mark.parametrize(
    ("code", "message"),
    [
        ("1", "the simulator could not go on"),
        ("3", "nothing can wake it"),
        ("4", "the cycle limit was reached"),
        ("5", "the core locked up"),
        ("77", "unknown code 77"),
    ],
)
def test_a_failed_app_leaves_the_others(
    code: str, message: str, options: run.Options, catalogue: Catalogue, tmp_path: Path
) -> None:
    end(tmp_path, "loop", code, encoded("loop", RECORDS["loop"])[:5])
    result, _ = run.run(options, catalogue)
    assert [row["app"] for row in result["rows"]] == ["time", "loop", "mem", "mem", "mem"]
    reasons = results.incomplete(result)
    assert "missing: loop: loop.empty" in reasons
    assert any(message in r and "(earlgrey-sim: pc=0x20000404)" in r for r in reasons)


def test_ctrl_c_keeps_what_is_there(
    options: run.Options, catalogue: Catalogue, tmp_path: Path
) -> None:
    end(tmp_path, "mem", "hang", encoded("mem", RECORDS["mem"])[:9])
    threading.Timer(1.5, os.kill, (os.getpid(), signal.SIGINT)).start()
    result, _ = run.run(options, catalogue)
    reasons = results.incomplete(result)
    assert "interrupted: the rows that are missing were not measured" in reasons
    assert "missing: mem: mem.copy_asm size=64" in reasons
    assert len(result["rows"]) == 5


def test_a_missing_simulator_is_told_at_once(options: run.Options, catalogue: Catalogue) -> None:
    options.board.target.binary.unlink()
    with pytest.raises(TockmarkError, match="is not built; run `make build`"):
        run.run(options, catalogue)


def test_only_chooses_groups_and_ids(catalogue: Catalogue) -> None:
    assert run.choose(catalogue, None) == (catalogue.boots(), None)
    boots, wanted = run.choose(catalogue, "mem, loop.empty")
    assert [boot.name for boot in boots] == ["loop", "mem"]
    assert wanted == {"mem.copy_asm", "loop.empty"}
    for wrong in ("mem,x", ",", "mem.copy"):
        with pytest.raises(TockmarkError):
            run.choose(catalogue, wrong)


def test_a_partial_result_has_a_name_of_its_own(
    options: run.Options, catalogue: Catalogue, tmp_path: Path
) -> None:
    whole, _ = run.run(options, catalogue)
    end(tmp_path, "mem", "4", [])
    broken, _ = run.run(options, catalogue)
    some = dataclasses.replace(options, wanted={"mem.copy_asm"}, icaches=[False])
    both = dataclasses.replace(options, icaches=[True, False])
    names = [
        run.default_path(options, whole).name.split("-", 3)[3],
        run.default_path(options, broken).name.split("-", 3)[3],
        run.default_path(some, whole).name.split("-", 3)[3],
        run.default_path(both, whole).name.split("-", 3)[3],
    ]
    assert names == [
        "tockmark-baseline-abi2-earlgrey-sim-icache-on.json",
        "tockmark-baseline-abi2-earlgrey-sim-icache-on-incomplete.json",
        "tockmark-baseline-abi2-earlgrey-sim-icache-off-only-mem.json",
        "tockmark-baseline-abi2-earlgrey-sim.json",
    ]
