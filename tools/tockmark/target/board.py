# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Board profiles (boards/*.toml).

A profile describes a board: its memory map, clock, UART, the memory for apps, and the target that
runs its boots. `load` reads one by its name or path. `unmeasurable_reason` says which boots a
target cannot measure.
"""

import importlib
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

import msgspec

from tockmark.base import paths
from tockmark.base.documents import Part
from tockmark.base.errors import TockmarkError
from tockmark.base.files import reading
from tockmark.suite.catalogue import Boot, Catalogue
from tockmark.target.protocol import Ability, Target

DEFAULT = "earlgrey-sim"
IMAGE = "{image}"  # in a load command: the path of the flash image
KINDS = ("log", "qemu", "serial", "sim")  # modules of this package, each with a class Target
NO_MARKS = "needs the simulator's clock, which this target does not have"

Address = Annotated[int, msgspec.Meta(ge=0, lt=2**32)]


class Region(Part, frozen=True):
    """A piece of the memory map."""

    base: Address
    size: Annotated[int, msgspec.Meta(ge=1, le=2**32)]

    @property
    def end(self) -> int:
        return self.base + self.size


class Memory(Part, frozen=True):
    """The memory map."""

    rom: Region
    ram: Region
    flash: Region


class Room(Part, frozen=True):
    """The flash and RAM that a kernel leaves to apps."""

    flash_start: Address
    flash_end: Address
    ram_start: Address
    ram_end: Address


class Load(Part, frozen=True):
    """The command that loads the whole flash of a board."""

    command: Annotated[tuple[str, ...], msgspec.Meta(min_length=2)]  # with IMAGE as an argument

    def __post_init__(self) -> None:
        if IMAGE not in self.command[1:]:
            raise ValueError(f"no argument of the load command is {IMAGE}, the flash image")

    def words(self, flash: Path) -> list[str]:
        """Return the command with the path of a flash image."""
        return [str(flash) if word == IMAGE else word for word in self.command]


class BootSettings(Part, frozen=True):
    """The requirements of the chip's boot ROM for a flash image."""

    manifest: Literal["opentitan"] | None = None  # the boot manifest: target/image.py


class ProfileFile(Part, frozen=True):
    """A profile as its file has it, without its target."""

    name: str
    description: str
    machine: str  # the chip: results are comparable if it is the same
    isa: Literal["rv32imc", "cortex-m4"]  # target/elf.py
    clock_hz: Annotated[int, msgspec.Meta(ge=1)]
    timing: str  # the validation of its cycle counts: result/provenance.py has the values
    tockloader_board: str
    uart: Address
    memory: Memory
    slots: Room  # where apps are placed if the kernel ELF does not say
    kernel: Path | None = None  # the baseline kernel of version 2 of the interface
    kernel_v1: Path | None = None
    kernel_machine: str | None = None  # what its baseline kernels are built for, if not `machine`
    load: Load | None = None  # None: there is no tool, or none is needed
    boot: BootSettings = BootSettings()
    connect: tuple[str, ...] = ()  # what to do before the first boot, one step each
    not_working: tuple[str, ...] = ()  # known limitations, one sentence each


class Baselines(dict[int, Path]):
    """A board's baseline kernels, by version of the system-call interface."""

    def __missing__(self, abi: int) -> Path:
        raise TockmarkError(
            f"no baseline kernel for --abi {abi} runs on this board", "give a kernel with --kernel"
        )


class BoardProfile(ProfileFile, frozen=True, kw_only=True):
    """A profile with the target that runs its boots."""

    kind: str  # of the target: one of KINDS
    target: Target

    @property
    def flash(self) -> Region:
        return self.memory.flash

    @property
    def kernels(self) -> Baselines:
        """The baseline kernels. A missing one raises TockmarkError when it is looked up."""
        both = {1: self.kernel_v1, 2: self.kernel}
        return Baselines({abi: path for abi, path in both.items() if path is not None})

    def configured(self, options: Mapping[str, object]) -> "BoardProfile":
        """Return the profile with the target's command-line options applied."""
        return msgspec.structs.replace(self, target=self.target.configured(options))


def names() -> list[str]:
    """Return the names of all boards."""
    return sorted(path.stem for path in paths.BOARDS.glob("*.toml"))


def simulated_board(machine: str) -> str:
    """Return the name of the first profile that simulates a machine."""
    boards = [board for board in map(load, names()) if board.kind == "sim"]
    machines = {board.machine: board.name for board in reversed(boards)}
    if machine not in machines:
        raise TockmarkError(
            f"there is no simulated machine '{machine}'",
            f"choose one of: {', '.join(sorted(machines))}",
        )
    return machines[machine]


def load(name: str) -> BoardProfile:
    """Read a profile by its name, or by its path, which ends in .toml."""
    by_path = name.endswith(".toml")
    path = Path(name) if by_path else paths.BOARDS / f"{name}.toml"
    if not by_path and name not in names():
        raise TockmarkError(f"there is no board '{name}'", f"choose one of: {', '.join(names())}")
    try:
        with reading(path):
            data = tomllib.loads(path.read_text(encoding="utf-8"))
        settings = data.pop("target", None)
        if not isinstance(settings, dict):
            raise ValueError("it has no table [target]")
        kind = settings.pop("kind", None)
        if kind not in KINDS:
            raise ValueError(f"target.kind is {kind!r}, not one of {', '.join(KINDS)}")
        target_type: Any = importlib.import_module(f"tockmark.target.{kind}").Target
        target: Target = _convert(settings, target_type, "target.")
        profile = msgspec.structs.asdict(_convert(data, ProfileFile))
        return BoardProfile(**profile, kind=kind, target=target)
    except (TypeError, ValueError) as error:
        raise TockmarkError(
            f"{paths.shown(path)}: not a valid board profile: {error}",
            "see docs/boards-and-simulator.md for the format",
        ) from error


def _convert(data: dict[str, Any], to: Any, where: str = "") -> Any:
    """Convert a table of a profile to a type. Its paths are relative to the checkout."""
    try:
        return msgspec.convert(data, to, dec_hook=lambda _, text: paths.ROOT / text)
    except msgspec.ValidationError as error:
        raise ValueError(str(error).replace("$.", where)) from error


def unmeasurable_reason(boot: Boot, catalogue: Catalogue, target: Target) -> str | None:
    """Return why this target cannot measure any row of a boot, or None if it can measure some."""
    marked = all(catalogue.benchmarks[id_].by == "mark" for id_ in boot.measures)
    return NO_MARKS if marked and Ability.MARKS not in target.can else None
