# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The simulator is started once for each boot: its UART lines are streamed, and one line says how
it ended.
"""

import hashlib
import re
import threading
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Annotated, Self

import msgspec

from tockmark.base import paths, processes
from tockmark.base.errors import INCOMPLETE, TockmarkError
from tockmark.base.files import reading
from tockmark.base.paths import shown
from tockmark.base.processes import LONGEST_LINE, Bounds, Child
from tockmark.result.provenance import Core
from tockmark.suite.catalogue import ICACHE
from tockmark.target import dask, sources
from tockmark.target.dask import RemoteBoot
from tockmark.target.protocol import Ability, Start, target_fields
from tockmark.wire.captured import Ending
from tockmark.wire.uart_line import BY_SIMULATOR, as_text, sealed

ASLEEP, LIMIT, PANIC, SILENT = 3, 4, 7, 8
_ENDINGS = {  # the simulator's exit codes; behind the colon, what each means for the suite
    1: "the simulator could not go on",
    2: "the simulator could not use what it was given",
    ASLEEP: "the core sleeps and nothing can wake it: an app waits for something that never comes",
    LIMIT: "the cycle limit was reached: the app or the kernel hangs, or needs more --max-cycles",
    5: "the core locked up: the kernel faulted in its own trap handler",
    PANIC: "the kernel panicked; its last lines in the log tell more",
    SILENT: "the app or the kernel hangs, or needs more silence_cycles in the board's profile",
}
ROM_BASE = 0x8000  # on all machines
FLASH, ROM = "flash", "rom"  # files of a boot on a worker
CORES = "cw310"  # the machine that may have another core, and its simulator's folder
OWN = "\x1e"  # with --mark: begins a line of the simulator's own; twice, one of the UART's
_STATUS = re.compile(r"earlgrey-sim: (?:status|end)\b.*?\bcycles=(\d+)")
# Its own bound is --max-cycles; a trace of instructions has some 35 bytes for each.
BOUNDS = Bounds(seconds=24 * 3600, size=1 << 30)
_TERMINAL = "earlgrey-sim: uart "  # behind it, the pseudo-terminal of --uart pty


@dataclass
class Simulation:
    """One simulator process; `cycles` follows its status lines."""

    process: Child
    marked: bool = False  # it may have lines of its own among the UART's
    cycles: int = 0  # as its status lines say
    said: list[str] = field(default_factory=list)  # on stderr
    _listener: threading.Thread | None = None
    _terminal: str | None = None
    _terminal_or_end: threading.Event = field(default_factory=threading.Event)

    def lines(self) -> Iterator[str]:
        """Yield the log's lines as they come, without their newlines, until the simulator ends."""
        begins = True  # a line, and not a further part of a long one
        for line in self.process.lines():
            yield self._logged(line, begins)
            begins = len(line) < LONGEST_LINE

    def stop(self) -> None:
        """End the process early."""
        self.process.stop()

    def ending(self) -> Ending:
        """Wait for the end, and return how it came."""
        self.process.wait()
        if self._listener is not None:
            self._listener.join()
        code, bound = self.process.code or 0, self.process.why
        return Ending(
            f"the simulator {bound}" if bound else self._explained(code),
            self.cycles,
            panicked=code == PANIC,
            idle=code in (ASLEEP, LIMIT, SILENT),
            killed=code < 0,
        )

    def _logged(self, line: str, begins: bool) -> str:
        """Return a line of what it prints, or a further part of one, as a log keeps it."""
        if self.marked and begins and line.startswith(OWN):
            line = line.removeprefix(OWN)
            if not line.startswith(OWN):
                return sealed(f"{BY_SIMULATOR}{line} ")
        return as_text(line)

    def _hear(self, line: str) -> None:
        """Take a line of stderr: status lines are counted, all else is kept."""
        match = _STATUS.match(line)
        if match:
            self.cycles = int(match[1])
        if not line.startswith("earlgrey-sim: status"):
            self.said = [*self.said[-19:], line.strip()]

    def _explained(self, code: int) -> str | None:
        """Return what an exit code means, in one line; None: the suite closed."""
        if not code:
            return None
        if code < 0:
            return f"the simulator was stopped by signal {-code}"
        what = _ENDINGS.get(code, f"the simulator ended with the unknown code {code}")
        detail = [line for line in self.said if not line.startswith("earlgrey-sim: end")]
        if code == SILENT and detail:
            return f"{detail[-1].removeprefix('earlgrey-sim: ')}: {what}"
        return f"{what} ({detail[-1]})" if detail else what

    def terminal(self) -> str:
        """Wait for the pseudo-terminal behind which it prints. TockmarkError if there is none: it
        ended first."""
        self._terminal_or_end.wait()
        if self._terminal is None:
            raise TockmarkError(
                self.ending().why or "the simulator has no --uart pty",
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
            else:
                self._hear(line)
        self._terminal_or_end.set()


class SimTarget(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Says how to start the simulator, as a board profile has it."""

    binary: Path
    icache: bool
    uart_cycles_per_byte: Annotated[int, msgspec.Meta(ge=1, le=1_000_000)]
    max_cycles: Annotated[int, msgspec.Meta(ge=1)]  # an app that takes longer has hung
    cycles_per_second: Annotated[int, msgspec.Meta(ge=1)] | None = None  # of a core, if it is slow
    # Longer than all of any boot that was ever run: whatever prints nothing has hung.
    silence_cycles: Annotated[int, msgspec.Meta(ge=1)] = 50_000_000
    rom: Path | None = None  # in the place of the simulator's own boot ROM
    dask: str | None = None  # the scheduler of the workers that simulate; None: this machine does

    @property
    def core(self) -> Core | None:
        """The core in the place of the machine's own, if it has one."""
        return read_core(self.binary)

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
        known = {"uart-cycles": "uart_cycles_per_byte", "max-cycles": "max_cycles"}
        known |= {"silence": "silence_cycles", "dask": "dask"}
        own = {name: value for name, value in options.items() if name != "core"}
        found = msgspec.structs.replace(self, **target_fields(own, known, "sim"))
        core = options.get("core")
        return found if core is None else found._with_core(str(core))

    def _with_core(self, name: str) -> Self:
        """Return the target with another core: a configuration of Ibex, or a user's folder."""
        folder = self.binary.parent
        if folder.name != CORES:
            raise TockmarkError(
                f"--core is for the machine {CORES}: {folder.name} has one core only",
                "leave it out",
            )
        title = Path(name).name
        binary = folder.with_name(f"{CORES}-{title}") / self.binary.name
        core = read_core(binary)
        if core is None or not binary.exists():
            raise TockmarkError(
                f"the simulator of the core {title} is not built",
                paths.make_command(f"sim CORE={name}"),
            )
        icache = self.icache and core.icache
        return msgspec.structs.replace(self, binary=binary, icache=icache)

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
        begin = partial(_begun, self, replace(start, load=None))
        return dask.start(dask.connect(self.dask), begin, self.binary.read_bytes(), files)

    def start_here(self, start: Start, *more: str) -> Simulation:
        """Start it as a process of this machine. `more` are options of the simulator's own, which
        prevail and may name files."""
        self.check_ready()
        command = [str(self.binary), "--flash", str(start.flash), "--uart", "-", "--status", "1"]
        rom = [] if self.rom is None else ["--load", f"{self.rom}@{ROM_BASE:#x}"]
        command += [*self._settings(start), *rom, *more]
        process = processes.start(command, todo=paths.make_command("build"), bounds=BOUNDS)
        simulation = Simulation(process, bool(start.marks))
        simulation.listen()
        return simulation

    def provenance(self, clock_hz: int) -> dict[str, object]:
        made_of = read_versions(self.binary)
        return {
            "simulator_sha256": hashlib.sha256(self.binary.read_bytes()).hexdigest(),
            "verilator": made_of.get("verilator"),
            "ibex": made_of.get("ibex"),
            "opentitan": made_of.get("opentitan"),
            "uart_cycles_per_byte": self.uart_cycles_per_byte,
            **({} if self.core is None else {"core": self.core, "timing": "unchecked"}),
        }

    def _settings(self, start: Start) -> list[str]:
        """Return the options that decide what a flash image prints."""
        pace, limit = str(self.uart_cycles_per_byte), str(self.max_cycles)
        settings = ["--icache", ICACHE[start.icache], "--uart-cycles", pace]
        settings += ["--max-cycles", limit, "--silence", str(self.silence_cycles)]
        settings += [] if start.reporter is None else ["--app", start.reporter]
        settings += [word for at in start.panics for word in ("--panic", hex(at))]
        return [*settings, *start.marks]


def _begun(target: SimTarget, start: Start, simulator: Path, folder: Path) -> Simulation:
    """Start a boot on a worker (target/dask.py), where its files have other places."""
    rom = None if target.rom is None else folder / ROM
    here = msgspec.structs.replace(target, binary=simulator, rom=rom, dask=None)
    return here.start_here(replace(start, flash=folder / FLASH))


def make_target(binary: Path) -> str:
    """Return the target of make that builds a simulator, which is in a folder of its own."""
    machine = binary.parent.name
    return {"cw310": "build", "chip": "chip"}.get(machine, f"sim-{machine}")


def read_core(binary: Path) -> Core | None:
    """Return the core of a simulator, by the core.toml beside it, which its build wrote
    (boards/earlgrey-sim/cores.py). None: it is the machine's own. Another core was compared with
    nothing, whatever the profile of the board says of its timing."""
    path = binary.with_name("core.toml")
    if not path.exists():
        return None
    try:
        with reading(path):
            said = tomllib.loads(path.read_text(encoding="utf-8"))
        return msgspec.convert(said, Core)
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, msgspec.ValidationError) as error:
        raise TockmarkError(
            f"{shown(path)} does not say which core this is: {error}", "build the simulator anew"
        ) from error


def read_versions(binary: Path) -> dict[str, str]:
    """Return the versions of the packages that a simulator was made of (`verilator`; `ibex` or
    `opentitan`), as its Makefile wrote them beside it; nothing where it did not."""
    path = binary.with_name("versions.toml")
    try:
        return msgspec.convert(tomllib.loads(path.read_text(encoding="utf-8")), dict[str, str])
    except FileNotFoundError:
        return {}
    except (OSError, tomllib.TOMLDecodeError, UnicodeDecodeError, msgspec.ValidationError) as error:
        raise TockmarkError(
            f"{shown(path)} does not say versions: {error}", "build the simulator anew"
        ) from error


Target = SimTarget
