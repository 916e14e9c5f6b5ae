# SPDX-License-Identifier: Apache-2.0 OR MIT
"""`make simspeed` without builds of simple_system: the image, and how speeds are read and shown."""

import importlib.util
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

from tockmark.base import paths


@pytest.fixture(scope="module")
def simspeed() -> ModuleType:
    spec = importlib.util.spec_from_file_location(
        "simspeed", paths.ROOT / "lab" / "simspeed" / "simspeed.py"
    )
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
    contender = simspeed.ours("fast", simulator, tmp_path / "c" / "syscall.flash", "off")
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


def test_reads_the_cycles_of_both_simulators(simspeed: ModuleType) -> None:
    own = "earlgrey-sim: end reason=cycle-limit cycles=3000000 instret=1408892 wall=2.50\n"
    theirs = "Executed cycles:  300000\nWallclock time:   0.9 s\n"
    assert simspeed.cycles_of(own) == 3_000_000
    assert simspeed.cycles_of(theirs) == 300_000
    with pytest.raises(ValueError, match="no cycles"):
        simspeed.cycles_of("Segmentation fault")


def test_shows_medians_and_ratios(simspeed: ModuleType) -> None:
    speeds = {"a, i-cache on": [9e6, 8e6, 1e7], "a, i-cache off": [6e6], "b, i-cache off": [2e6]}
    _, first, second, third = simspeed.table(speeds | {"c": [3e6]}).splitlines()[:4]
    assert first.split()[-5:] == ["9.000", "8.000", "to", "10.000", "1.00"]
    assert [line.split()[-1] for line in (second, third)] == ["1.00", "3.00"]
