# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The simulator as a target: one process per boot, here or on a worker of a Dask cluster.

Its UART lines are read as they arrive, and its exit code gives the ending.
"""

import hashlib
import re
import threading
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Annotated, Self

import msgspec

from tockmark.base import paths, processes
from tockmark.base.documents import read_toml
from tockmark.base.errors import INCOMPLETE, TockmarkError
from tockmark.base.paths import shown
from tockmark.base.processes import LONGEST_LINE, Bounds, Child
from tockmark.result.provenance import Core, Engine
from tockmark.suite.catalogue import ICACHE
from tockmark.target import dask, sources
from tockmark.target.dask import RemoteBoot
from tockmark.target.protocol import Ability, Start, target_fields
from tockmark.wire.captured import Ending
from tockmark.wire.uart_line import SIM_MARK, as_text, with_checksum

ASLEEP, LIMIT, PANIC, SILENT, BITE = 3, 4, 7, 8, 9
_ENDINGS = {  # exit codes of the simulator, and after the colon what they mean for the suite
    1: "the simulator could not continue",
    2: "the simulator could not use its input",
    ASLEEP: "the core sleeps and nothing can wake it: an app waits for something that never comes",
    LIMIT: "the cycle limit was reached: the app or the kernel hangs, or needs more --max-cycles",
    5: "the core locked up: the kernel faulted in its own trap handler",
    PANIC: "the kernel panicked; its last lines in the log tell more",
    SILENT: "the app or the kernel hangs, or needs more silence_cycles in the board's profile",
    BITE: "the watchdog reset the chip: the kernel did not reset its count in time",
}
ROM_BASE = 0x8000  # on all machines
FLASH, ROM = "flash", "rom"  # files of a boot on a worker
CORES_MACHINE = "cw310"  # the machine whose core can be replaced; also its simulator's folder
FAST_MACHINES = ("cw310", "earlgrey-asic", "flat")  # and folders of simulators in C++
RTL = "-rtl"  # suffix of the folders with the RTL of these machines
TRACING = "-retire"  # suffix of folders with RTL that traces every retired instruction
OWN_LINE = (
    "\x1e"  # with --mark: precedes lines of the simulator itself; doubled, a line of the UART
)
_STATUS = re.compile(r"earlgrey-sim: (?:status|end)\b.*?\bcycles=(\d+)")
# The simulator has its own limit, --max-cycles. A trace takes some 35 bytes per instruction.
BOUNDS = Bounds(seconds=24 * 3600, size=1 << 30)
AGAIN = "build the simulator again"
_TERMINAL = "earlgrey-sim: uart "  # precedes the path of the pseudo-terminal of --uart pty


@dataclass
class Simulation:
    """A simulator process. `cycles` follows its status lines."""

    process: Child
    marked: bool = False  # the simulator prints its own lines among the UART's
    cycles: int = 0
    messages: list[str] = field(default_factory=list)  # the last lines of stderr
    _listener: threading.Thread | None = None
    _terminal: str | None = None
    _terminal_or_end: threading.Event = field(default_factory=threading.Event)

    def lines(self) -> Iterator[str]:
        """Yield the lines of the log, without newlines, until the simulator ends."""
        begins = True  # a line, and not a further part of a long one
        for line in self.process.lines():
            own = line.removeprefix(OWN_LINE) if self.marked and begins else line
            begins = len(line) < LONGEST_LINE
            is_mark = own != line and not own.startswith(OWN_LINE)
            yield with_checksum(f"{SIM_MARK}{own} ") if is_mark else as_text(own)

    def stop(self) -> None:
        """End the process early."""
        self.process.stop()

    def ending(self) -> Ending:
        """Wait for the end of the boot, and return how it ended."""
        self.process.wait()
        if self._listener is not None:
            self._listener.join()
        code, bound = self.process.code or 0, self.process.why
        return Ending(
            f"the simulator {bound}" if bound else self._failure(code),
            self.cycles,
            panicked=code == PANIC,
            idle=code in (ASLEEP, LIMIT, SILENT),
            killed=code < 0,
        )

    def _failure(self, code: int) -> str | None:
        """Return what an exit code means, in one line; None if the suite finished."""
        if not code:
            return None
        if code < 0:
            return f"the simulator was stopped by signal {-code}"
        meaning = _ENDINGS.get(code, f"the simulator ended with the unknown code {code}")
        detail = [line for line in self.messages if not line.startswith("earlgrey-sim: end")]
        if code == SILENT and detail:
            return f"{detail[-1].removeprefix('earlgrey-sim: ')}: {meaning}"
        return f"{meaning} ({detail[-1]})" if detail else meaning

    def terminal(self) -> str:
        """Return the path of the pseudo-terminal of the UART, when it is known. TockmarkError if
        the simulator ends first."""
        self._terminal_or_end.wait()
        if self._terminal is None:
            raise TockmarkError(
                self.ending().why or "the simulator does not support --uart pty",
                paths.make_command("build"),
                INCOMPLETE,
            )
        return self._terminal

    def listen(self) -> None:
        """Follow stderr in the background."""
        self._listener = threading.Thread(target=self._listen, daemon=True)
        self._listener.start()

    def _listen(self) -> None:
        for line in self.process.lines(self.process.stderr):
            if line.startswith(_TERMINAL):
                self._terminal = line.removeprefix(_TERMINAL).strip()
                self._terminal_or_end.set()
                continue
            if match := _STATUS.match(line):
                self.cycles = int(match[1])
            if not line.startswith("earlgrey-sim: status"):
                self.messages = [*self.messages[-19:], line.strip()]
        self._terminal_or_end.set()


class SimTarget(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The settings of the simulator in a board profile."""

    binary: Path
    icache: bool
    uart_cycles_per_byte: Annotated[int, msgspec.Meta(ge=1, le=1_000_000)]
    max_cycles: Annotated[int, msgspec.Meta(ge=1)]  # a boot that takes longer hangs
    cycles_per_second: Annotated[int, msgspec.Meta(ge=1)] | None = None  # of a slow simulator
    # A boot that prints nothing for this long hangs: more than any whole boot has ever taken.
    silence_cycles: Annotated[int, msgspec.Meta(ge=1)] = 50_000_000
    sram_seed: Annotated[int, msgspec.Meta(ge=0, lt=2**32)] = 0  # of main SRAM; 0: zeros
    rom: Path | None = None  # replaces the boot ROM of the simulator
    dask: str | None = None  # address of a Dask scheduler; None: simulate on this machine

    @property
    def core(self) -> Core | None:
        """The core that replaces the machine's own, if any."""
        return read_core(self.binary)

    @property
    def engine(self) -> Engine:
        """The simulator of the core."""
        return "fast" if read_versions(self.binary).get("engine") == "fast" else "rtl"

    def tracing(self) -> Self:
        """Return the target with a simulator that traces every retired instruction: that in C++
        can, RTL needs another build. TockmarkError if it is not built."""
        self.check_ready()
        if self.engine == "fast":
            return self
        name = self.binary.parent.name
        binary = self.binary.parent.with_name(name + TRACING) / self.binary.name
        if not binary.exists():
            raise TockmarkError(
                f"the simulator {shown(binary)} is not built",
                paths.make_command(f"sim-retire MACHINE={name.removesuffix(RTL)}"),
            )
        return msgspec.structs.replace(self, binary=binary)

    @property
    def can(self) -> frozenset[Ability]:
        cached = self.core is None or self.core.icache
        return frozenset(Ability) - (frozenset() if cached else {Ability.ICACHE})

    def check_ready(self) -> None:
        if not self.binary.exists():
            raise TockmarkError(
                f"the simulator {shown(self.binary)} is not built",
                paths.make_command(make_target(self.binary)),
            )
        sources.check(self.binary)
        if self.rom is not None and not self.rom.exists():
            raise TockmarkError(
                f"the boot ROM {shown(self.rom)} is not built", paths.make_command(self.rom.stem)
            )
        if self.dask is not None:
            dask.connect(self.dask)

    def configured(self, options: Mapping[str, object]) -> Self:
        fields = {"uart-cycles": "uart_cycles_per_byte", "max-cycles": "max_cycles"}
        fields |= {"silence": "silence_cycles", "dask": "dask", "sram-seed": "sram_seed"}
        own = {name: value for name, value in options.items() if name not in ("core", "engine")}
        target = msgspec.structs.replace(self, **target_fields(own, fields, "sim"))
        core, engine = options.get("core"), options.get("engine")
        target = target if core is None else target._with_core(str(core))
        return target if engine is None else target._with_engine(str(engine))

    def _with_core(self, name: str) -> Self:
        """Return the target with another core: a configuration of Ibex, or the user's folder."""
        folder = self.binary.parent
        if folder.name != CORES_MACHINE:
            raise TockmarkError(
                f"--core needs the machine {CORES_MACHINE}; {folder.name} has only one core",
                "omit --core",
            )
        title = Path(name).name
        binary = folder.with_name(f"{CORES_MACHINE}-{title}") / self.binary.name
        core = read_core(binary)
        if core is None or not binary.exists():
            raise TockmarkError(
                f"the simulator of the core {title} is not built",
                paths.make_command(f"sim CORE={name}"),
            )
        icache = self.icache and core.icache
        return msgspec.structs.replace(self, binary=binary, icache=icache)

    def _with_engine(self, engine: str) -> Self:
        """Return the target with another engine. TockmarkError if it has none, or the simulator is
        not built."""
        folder = self.binary.parent
        if folder.name in FAST_MACHINES and engine == "rtl":
            binary = folder.with_name(folder.name + RTL) / self.binary.name
            target = msgspec.structs.replace(self, binary=binary)
            target.check_ready()
            return target
        if folder.name not in FAST_MACHINES and engine == "fast":
            raise TockmarkError(
                f"--engine fast has only the cores of {', '.join(FAST_MACHINES)}, not"
                f" {folder.name}",
                "omit --engine",
            )
        return self

    def key(self, start: Start) -> str:
        digest = hashlib.sha256()
        for path in filter(None, (self.binary, start.flash, self.rom)):
            digest.update(hashlib.sha256(path.read_bytes()).digest())
        digest.update("\0".join(self._settings(start)).encode())
        return digest.hexdigest()

    def start(self, start: Start) -> Simulation | RemoteBoot:
        if self.dask is None:
            return self.start_here(start)
        files = {FLASH: start.flash.read_bytes()}
        if self.rom is not None:
            files[ROM] = self.rom.read_bytes()
        begin = partial(_start_on_worker, self, replace(start, load=None))
        return dask.start(dask.connect(self.dask), begin, self.binary.read_bytes(), files)

    def start_here(self, start: Start, *more: str) -> Simulation:
        """Start a process on this machine. `more` are further options of the simulator, which
        take precedence and may name files."""
        self.check_ready()
        command = [str(self.binary), "--flash", str(start.flash), "--uart", "-", "--status", "1"]
        rom = [] if self.rom is None else ["--load", f"{self.rom}@{ROM_BASE:#x}"]
        command += [*self._settings(start), *rom, *more]
        process = processes.start(command, todo=paths.make_command("build"), bounds=BOUNDS)
        simulation = Simulation(process, bool(start.marks))
        simulation.listen()
        return simulation

    def provenance(self, clock_hz: int) -> dict[str, object]:
        versions = read_versions(self.binary)
        return {
            "simulator_sha256": hashlib.sha256(self.binary.read_bytes()).hexdigest(),
            "engine": self.engine,
            **{name: versions.get(name) for name in ("verilator", "ibex", "opentitan")},
            "uart_cycles_per_byte": self.uart_cycles_per_byte,
            "sram_seed": self.sram_seed,
            **({} if self.core is None else {"core": self.core}),
            **({"timing": "unchecked"} if self.core or "port_stage" in versions else {}),
        }

    def _settings(self, start: Start) -> list[str]:
        """Return the options that affect what a flash image prints."""
        pace, limit = str(self.uart_cycles_per_byte), str(self.max_cycles)
        settings = ["--icache", ICACHE[start.icache], "--uart-cycles", pace]
        settings += ["--max-cycles", limit, "--silence", str(self.silence_cycles)]
        settings += ["--sram-seed", str(self.sram_seed)] if self.sram_seed else []
        settings += [] if start.reporter is None else ["--app", start.reporter]
        settings += [word for at in start.panics for word in ("--panic", hex(at))]
        return [*settings, *start.marks]


def _start_on_worker(target: SimTarget, start: Start, simulator: Path, folder: Path) -> Simulation:
    """Start a boot on a worker (target/dask.py), where its files have other paths."""
    rom = None if target.rom is None else folder / ROM
    local_target = msgspec.structs.replace(target, binary=simulator, rom=rom, dask=None)
    return local_target.start_here(replace(start, flash=folder / FLASH))


def make_target(binary: Path) -> str:
    """Return the make target that builds a simulator, by the name of its folder."""
    name, machine = binary.parent.name, binary.parent.name.removesuffix(RTL)
    if machine in FAST_MACHINES and machine != name:
        return "sim-rtl" if machine == CORES_MACHINE else f"sim-rtl MACHINE={machine}"
    return {"cw310": "build", "chip": "chip"}.get(name, f"sim-{name}")


def read_core(binary: Path) -> Core | None:
    """Return the replaced core of a simulator, or None if it is the machine's own.

    The build writes it to core.toml next to the simulator (boards/earlgrey-sim/cores.py). The
    timing of another core is not validated, even if that of the board is."""
    path = binary.with_name("core.toml")
    return read_toml(path, Core, "does not describe a core", AGAIN) if path.exists() else None


def read_versions(binary: Path) -> dict[str, str]:
    """Return the `engine` of a simulator, `port_stage` if it has none, unlike the FPGA, and the
    versions of the packages that RTL was built from: `verilator`, and `ibex` or `opentitan`. Its
    Makefile writes them next to it; empty if the file is missing."""
    path = binary.with_name("versions.toml")
    return read_toml(path, dict[str, str], "does not list versions", AGAIN) if path.exists() else {}


Target = SimTarget
