# SPDX-License-Identifier: Apache-2.0 OR MIT
"""A stand-in for the simulator, which prints prepared logs, and a run of the suite on it."""

import sys
from pathlib import Path

import msgspec
import pytest

from tockmark.result.model import Result
from tockmark.suite.catalogue import Boot, Catalogue
from tockmark.suite.selection import Selection
from tockmark.target import board as boards
from tockmark.target import run, sim
from tockmark.target.image import AppBuild, Image
from tockmark.target.kernel import KernelElf, RunLayout
from tockmark.target.results import build_result
from tockmark.tests.conftest import RECORDS, encoded

NAME = "tockmark-baseline 0.1.0 abi2"

# Prints the log that replaces the flash image; the last line of the log is the exit code.
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


def options(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, catalogue: Catalogue
) -> run.RunOptions:
    """Return the options of a run of a small catalogue on that simulator. Use it as a fixture."""
    binary = tmp_path / "stand-in"
    binary.write_text(STAND_IN)
    binary.chmod(0o755)
    profile = boards.load(boards.DEFAULT)
    assert isinstance(profile.target, sim.SimTarget)
    target = msgspec.structs.replace(profile.target, binary=binary, max_cycles=1000)

    def prepared(boot: Boot, apps: AppBuild, *arguments: object) -> Image:
        Path(str(arguments[2])).mkdir(parents=True, exist_ok=True)
        return Image(apps.folder / f"{boot.name}.flash", (), "0" * 8)

    monkeypatch.setattr(run, "build_image", prepared)
    for name, records in RECORDS.items():
        end(tmp_path, name, "0", encoded(name, records))
    return run.RunOptions(
        layouts=(RunLayout(KernelElf(tmp_path / "k.elf", NAME, "d" * 64, None, ()), None),),
        board=msgspec.structs.replace(profile, target=target),
        suites=(run.Suite(AppBuild(tmp_path, 2), catalogue.boots(), []),),
        catalogue=catalogue,
        icaches=[True],
        all_samples=False,
        samples=None,
        jobs=2,
    )


def end(folder: Path, app: str, how: str, lines: list[str]) -> None:
    """Set what an app prints, and the exit code of the simulator after that."""
    (folder / f"{app}.flash").write_text("\n".join([*lines, how]))


def ran(options: run.RunOptions) -> tuple[Result, str]:
    """Run, and return the result and the log."""
    return build_result(run.run(options), options, Selection(options.catalogue))
