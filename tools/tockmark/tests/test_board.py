# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The project's board profiles are valid. An invalid profile is reported in one line."""

from pathlib import Path

import pytest

from tockmark.base import paths
from tockmark.base.errors import TockmarkError
from tockmark.target import board as boards
from tockmark.target.protocol import Ability

PROFILE = (paths.BOARDS / "earlgrey-sim.toml").read_text()


@pytest.mark.parametrize("name", boards.names())
def test_a_profile_has_the_name_of_its_file(name: str) -> None:
    board = boards.load(name)
    assert board.name == name
    room, ram = board.slots, board.memory.ram
    assert board.flash.base <= room.flash_start < room.flash_end <= board.flash.end
    assert ram.base <= room.ram_start < room.ram_end <= ram.end


def test_each_machine_has_a_simulator_with_all_abilities() -> None:
    for machine in ("cw310", "nexysvideo"):
        board = boards.load(boards.simulated_board(machine))
        assert board.machine == machine
        assert board.target.can == frozenset(Ability)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("clock_hz = 24_000_000", "", "`clock_hz`"),
        ("clock_hz = 24_000_000", 'clock_hz = "fast"', "`clock_hz`"),
        ("clock_hz = 24_000_000", "clock_hz = 0", "`clock_hz`"),
        ("clock_hz = 24_000_000", "clock_hz = ", "Invalid value"),
        ('machine = "cw310"', 'machine = "cw310"\nwings = 2', "unknown field `wings`"),
        ("icache = true", "", "`icache`"),
        ("uart_cycles_per_byte = 16", "uart_cycles_per_byte = 0", "`target.uart_cycles_per_byte`"),
        ('kind = "sim"', "", "target.kind is None, not one of"),
        ('kind = "sim"', 'kind = "abacus"', "'abacus'"),
        ('kind = "sim"', 'kind = "../run"', "'../run'"),
        ("[target]", "[target.deeper]", "target.kind is None"),
        ("[target]", "target = 7\n[x]", "[target]"),
        ("size = 0x0010_0000", "size = 0x1_0000_0001", "`memory.flash.size`"),
        ("ram_end = 0x1002_0000", "", "`ram_end`"),
        ("[target]", '[boot]\nmanifest = "grub"\n[target]', "`boot.manifest`"),
        ("# Board", "\xff", "utf-8"),
    ],
)
def test_an_invalid_profile_is_refused_in_one_line(
    old: str, new: str, message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert old in PROFILE
    (tmp_path / "odd.toml").write_text(PROFILE.replace(old, new, 1), encoding="latin-1")
    monkeypatch.setattr(paths, "BOARDS", tmp_path)
    with pytest.raises(TockmarkError) as error:
        boards.load("odd")
    assert message in str(error.value)
    assert "odd.toml" in str(error.value)
    assert "\n" not in str(error.value)


def test_an_unknown_board_is_refused() -> None:
    with pytest.raises(TockmarkError, match=r"'x/\.\./cw310'"):
        boards.load("x/../cw310")


def test_an_option_of_another_type_of_target_is_refused() -> None:
    board = boards.load(boards.DEFAULT)
    assert board.configured({"port": None, "max-cycles": None}) == board
    with pytest.raises(TockmarkError, match="--port"):
        board.configured({"port": "/dev/null"})
