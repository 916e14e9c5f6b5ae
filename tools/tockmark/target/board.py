# SPDX-License-Identifier: Apache-2.0 OR MIT
"""A board profile (boards/*.toml) says a board's memory map, clock, UART and app slots, and how
boots run there. What of the suite its target cannot measure has one answer here for all verbs.
"""

import importlib
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

import msgspec

from tockmark.base import paths
from tockmark.base.documents import Part
from tockmark.base.errors import TockmarkError
from tockmark.base.files import reading, toml
from tockmark.suite.catalogue import Boot, Catalogue
from tockmark.target.protocol import Ability, Target

DEFAULT = "earlgrey-sim"
IMAGE = "{image}"  # in a load command
KINDS = ("log", "qemu", "serial", "sim")  # modules of this folder with a type Target each
NO_MARKS = "this target has no clock that sees interrupts: only the simulator's can time it"

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
    """The flash and the RAM that a kernel leaves to apps."""

    flash_start: Address
    flash_end: Address
    ram_start: Address
    ram_end: Address


class Load(Part, frozen=True):
    """Says how a board's whole flash is loaded."""

    command: Annotated[tuple[str, ...], msgspec.Meta(min_length=2)]  # IMAGE stands for the file

    def __post_init__(self) -> None:
        if IMAGE not in self.command[1:]:
            raise ValueError(f"no word of the load command is {IMAGE}, the file")

    def words(self, flash: Path) -> list[str]:
        """Return the command for a flash image."""
        return [str(flash) if word == IMAGE else word for word in self.command]


class BootSettings(Part, frozen=True):
    """Says what the chip's boot ROM asks of a flash image."""

    manifest: Literal["opentitan"] | None = None  # by which it enters: target/image.py


class ProfileFile(Part, frozen=True):
    """Holds a profile as it stands in its file, but for its target."""

    name: str
    description: str
    machine: str  # the chip: results of one machine can be compared
    isa: Literal["rv32imc", "cortex-m4"]  # target/elf.py
    clock_hz: Annotated[int, msgspec.Meta(ge=1)]
    timing: str  # what its cycle counts are worth: result/provenance.py has the words
    tockloader_board: str
    uart: Address
    memory: Memory
    slots: Room  # where apps go when the kernel ELF does not say
    kernel: Path | None = (
        None  # the baseline kernel of version 2 of the interface, if it runs there
    )
    kernel_v1: Path | None = None
    load: Load | None = None  # None: no tool is known, or none is needed
    boot: BootSettings = BootSettings()
    connect: tuple[str, ...] = ()  # what a person does before the first boot, a step each
    not_working: tuple[str, ...] = ()  # what is known of it, a sentence each


class Baselines(dict[int, Path]):
    """A board's baseline kernels, by version of the system-call interface."""

    def __missing__(self, abi: int) -> Path:
        raise TockmarkError(
            f"no kernel of ours for --abi {abi} runs on this board", "give yours with --kernel"
        )


class BoardProfile(ProfileFile, frozen=True, kw_only=True):
    """One profile, with the target on which its boots run."""

    kind: str  # of its target
    target: Target

    @property
    def flash(self) -> Region:
        return self.memory.flash

    @property
    def kernels(self) -> Baselines:
        """Return the baseline kernels; TockmarkError where one is taken that there is not."""
        both = {1: self.kernel_v1, 2: self.kernel}
        return Baselines({abi: path for abi, path in both.items() if path is not None})

    def configured(self, options: Mapping[str, object]) -> "BoardProfile":
        """Return the profile with options of the command line for its target."""
        return msgspec.structs.replace(self, target=self.target.configured(options))


def names() -> list[str]:
    """Return the names of all boards."""
    return sorted(path.stem for path in paths.BOARDS.glob("*.toml"))


def simulated_board(machine: str) -> str:
    """Return the name of the first profile that simulates this machine."""
    boards = [board for board in map(load, names()) if board.kind == "sim"]
    machines = {board.machine: board.name for board in reversed(boards)}
    if machine not in machines:
        raise TockmarkError(
            f"there is no simulated machine '{machine}'",
            f"choose one of: {', '.join(sorted(machines))}",
        )
    return machines[machine]


def load(name: str) -> BoardProfile:
    """Read a profile by its name, or by the path of its file, which ends in .toml."""
    by_path = name.endswith(".toml")
    path = Path(name) if by_path else paths.BOARDS / f"{name}.toml"
    if not by_path and name not in names():
        raise TockmarkError(f"there is no board '{name}'", f"choose one of: {', '.join(names())}")
    try:
        with reading(path):
            data = toml(path.read_text(encoding="utf-8"))
        settings = data.pop("target", None)
        if not isinstance(settings, dict):
            raise ValueError("it has no table `target`")
        kind = settings.pop("kind", None)
        if kind not in KINDS:
            raise ValueError(f"its target's kind is {kind!r}, not one of {', '.join(KINDS)}")
        known: Any = importlib.import_module(f"tockmark.target.{kind}").Target
        target: Target = _convert(settings, known, "target.")
        profile = msgspec.structs.asdict(_convert(data, ProfileFile))
        return BoardProfile(**profile, kind=kind, target=target)
    except (TypeError, ValueError) as error:
        raise TockmarkError(
            f"{paths.shown(path)} does not follow the profile's form: {error}",
            "docs/boards-and-simulator.md has the form",
        ) from error


def _convert(data: dict[str, Any], to: Any, where: str = "") -> Any:
    """Read a table of a profile as a type; paths in it begin at the root of the checkout."""
    try:
        return msgspec.convert(data, to, dec_hook=lambda _, text: paths.ROOT / text)
    except msgspec.ValidationError as error:
        raise ValueError(str(error).replace("$.", where)) from error


def unmeasurable_reason(boot: Boot, known: Catalogue, target: Target) -> str | None:
    """Say why a boot gives no row of its own on this target; None: it gives some."""
    marked = all(known.benchmarks[id_].by == "mark" for id_ in boot.measures)
    return NO_MARKS if marked and Ability.MARKS not in target.can else None
