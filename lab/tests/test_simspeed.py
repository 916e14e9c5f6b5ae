# SPDX-License-Identifier: Apache-2.0 OR MIT
"""`make simspeed` without builds of simple_system: the image, and how speeds are read and shown."""

import importlib.util
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

from tockmark.base import paths

SIM = paths.ROOT / "boards" / "earlgrey-sim"


@pytest.fixture(scope="module")
def simspeed() -> ModuleType:
    spec = importlib.util.spec_from_file_location("simspeed", SIM / "simspeed" / "simspeed.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["simspeed"] = module
    spec.loader.exec_module(module)
    return module


def test_measures_the_image_of_the_tool(simspeed: ModuleType, tmp_path: Path) -> None:
    tockmark = str(Path(sys.executable).with_name("tockmark"))
    command = [tockmark, "board", "image", "syscall", "-o", str(tmp_path)]
    subprocess.run(command, check=True, capture_output=True)
    simulator = paths.ROOT / "build" / "sim" / "cw310" / "earlgrey-sim"
    contender = simspeed.ours(simulator, tmp_path / "c" / "syscall.flash")
    simspeed.OUT.mkdir(parents=True, exist_ok=True)
    assert simspeed.measure(contender) > 0
    done = subprocess.run(contender.command, capture_output=True, text=True, check=False)
    assert " syscall begin proto=1" in done.stdout
    assert "reason=cycle-limit" in done.stderr  # the image runs longer than the measurement


def test_an_image_belongs_to_an_existing_boot(tmp_path: Path) -> None:
    tockmark = str(Path(sys.executable).with_name("tockmark"))
    command = [tockmark, "board", "image", "syscal", "-o", str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "there is no boot 'syscal'. Choose from: time, syscall, " in done.stderr
    assert not list(tmp_path.iterdir())


def test_reads_the_speed_of_both_simulators(simspeed: ModuleType) -> None:
    own = "earlgrey-sim: end reason=cycle-limit cycles=3000000 instret=1408892 wall=2.50\n"
    theirs = "Wallclock time:   0.9 s\nSimulation speed: 3.2e+05 cycles/s (320 kHz)\n"
    assert simspeed.speed(own) == 1.2e6
    assert simspeed.speed(theirs) == 3.2e5
    with pytest.raises(ValueError, match="no speed"):
        simspeed.speed("Segmentation fault")


def test_shows_medians_and_ratios(simspeed: ModuleType) -> None:
    shown = simspeed.table({"ours": [1.0e6, 1.2e6, 1.1e6], "theirs": [2e5, 2.2e5, 9e5]})
    _, ours, theirs = shown.splitlines()
    assert ours.split() == ["ours", "1.100", "1.000", "to", "1.200", "1.00"]
    assert theirs.split() == ["theirs", "0.220", "0.200", "to", "0.900", "5.00"]
