# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Board profiles (boards/*.toml): memory map, clock, app slots, and how to run there."""

import tomllib
from dataclasses import dataclass
from pathlib import Path

from tockmark import paths
from tockmark.errors import TockmarkError

DEFAULT = "earlgrey-sim"


@dataclass(frozen=True)
class Region:
    """A piece of the memory map."""

    base: int
    size: int

    @property
    def end(self) -> int:
        return self.base + self.size


@dataclass(frozen=True)
class Slots:
    """The flash and the RAM that a kernel leaves to apps."""

    flash_start: int
    flash_end: int
    ram_start: int
    ram_end: int


@dataclass(frozen=True)
class SimTarget:
    """How to start the simulator."""

    binary: Path
    icache: bool
    uart_cycles_per_byte: int
    max_cycles: int


@dataclass(frozen=True)
class Board:
    """One profile."""

    name: str
    description: str
    machine: str
    clock_hz: int
    timing: str
    tockloader_board: str
    kernels: dict[int, Path]  # the baseline kernel, by version of the system-call interface
    target: SimTarget
    flash: Region
    ram: Region
    slots: Slots


def simulated(machine: str) -> str:
    """The name of the profile that simulates this machine."""
    machines = {}
    for path in sorted(paths.BOARDS.glob("*.toml")):
        profile = load(path.stem)
        machines[profile.machine] = profile.name
    if machine not in machines:
        raise TockmarkError(
            f"there is no simulated machine '{machine}'", f"choose one of: {', '.join(machines)}"
        )
    return machines[machine]


def load(name: str) -> Board:
    """Read a profile by its name."""
    path = paths.BOARDS / f"{name}.toml"
    try:
        data = tomllib.loads(path.read_text())
        target, memory = data["target"], data["memory"]
        if target["kind"] != "sim":
            raise ValueError(f"unknown target kind {target['kind']!r}")
        return Board(
            **{key: data[key] for key in ("name", "description", "machine", "clock_hz", "timing")},
            tockloader_board=data["tockloader_board"],
            kernels={1: paths.ROOT / data["kernel_v1"], 2: paths.ROOT / data["kernel"]},
            target=SimTarget(
                paths.ROOT / target["binary"],
                target["icache"],
                target["uart_cycles_per_byte"],
                target["max_cycles"],
            ),
            flash=Region(**memory["flash"]),
            ram=Region(**memory["ram"]),
            slots=Slots(**data["slots"]),
        )
    except FileNotFoundError as error:
        known = ", ".join(sorted(p.stem for p in paths.BOARDS.glob("*.toml")))
        raise TockmarkError(f"there is no board '{name}'", f"choose one of: {known}") from error
    except (tomllib.TOMLDecodeError, KeyError, TypeError, ValueError) as error:
        raise TockmarkError(
            f"{paths.shown(path)} does not follow the profile's form: {error!r}"
        ) from error
