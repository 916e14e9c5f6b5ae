# SPDX-License-Identifier: Apache-2.0 OR MIT
"""QEMU as a target.

QEMU shows whether kernel and apps work, and on its machine `opentitan` how many instructions they
take. It does not model time, so it measures no cycles (docs/boards-and-simulator.md).
"""

import hashlib
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Annotated, Literal, Self

import msgspec

from tockmark.base import paths, processes
from tockmark.base.documents import Positive
from tockmark.base.errors import TockmarkError
from tockmark.base.processes import Bounds, Child
from tockmark.target.elf import CORTEX_M4, RISC_V, Isa, encode_elf
from tockmark.target.protocol import Ability, Start, target_fields
from tockmark.target.watch import PANICKED, Watch
from tockmark.wire.captured import Ending

PANIC_S = 1  # in which a kernel prints its panic
INSTALL = paths.make_command("setup-qemu")
# QEMU's own Ibex lacks the event counters that Perf reads and the bit manipulation that Tock is
# compiled for. This CPU has them, and no other extension that Ibex lacks.
CPU = ["-cpu", "rv32,a=off,f=off,d=off,mmu=off,zba=on,zbb=on,zbc=on,zbs=on,x-epmp=on"]
MACHINES: dict[str, tuple[Isa, list[str]]] = {
    "opentitan": (RISC_V, CPU),
    "mps2-an386": (CORTEX_M4, []),
}


class QemuTarget(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The settings of QEMU in a board profile."""

    binary: str  # found on PATH
    icache: bool  # QEMU has none
    flash: Annotated[int, msgspec.Meta(ge=0, lt=2**32)]  # address of the image
    limit_s: Positive  # a boot that takes longer hangs: QEMU never ends by itself
    machine: Literal["opentitan", "mps2-an386"] = "opentitan"
    timer_hz: Annotated[int, msgspec.Meta(ge=1, lt=2**32)] | None = None  # of Earl Grey's rv_timer
    shift: Annotated[int, msgspec.Meta(ge=0, le=10)] = 0  # an instruction takes 2^shift ns

    @property
    def can(self) -> frozenset[Ability]:
        return frozenset({Ability.PARALLEL})

    def check_ready(self) -> None:
        self._binary_path()

    def configured(self, options: Mapping[str, object]) -> Self:
        return msgspec.structs.replace(self, **target_fields(options, {}, "qemu"))

    def key(self, start: Start) -> None:
        """Return None: a boot takes only seconds, so caching is not worth it."""

    def start(self, start: Start) -> "QemuSession":
        image = start.flash.with_suffix(".qemu.elf")
        # As an ELF file, since QEMU loads a raw image only if it fits into RAM.
        isa, cpu = MACHINES[self.machine]
        image.write_bytes(encode_elf(start.flash.read_bytes(), self.flash, isa))
        command = [self._binary_path(), "-M", self.machine, *cpu, "-kernel", str(image)]
        command += ["-nodefaults", "-display", "none", "-monitor", "none", "-serial", "stdio"]
        # The clock counts instructions and skips sleep, so the output is reproducible.
        command += ["-icount", f"shift={self.shift},sleep=off"]
        if self.timer_hz is not None:
            command += ["-global", f"ibex-timer.timebase-freq={self.timer_hz}"]
        errors = tempfile.TemporaryFile()  # noqa: SIM115  # the session closes it
        bounds = Bounds(self.limit_s)
        try:
            process = processes.start(command, todo=INSTALL, stderr=errors, bounds=bounds)
        except BaseException:
            errors.close()
            raise
        return QemuSession(process, errors, Watch(start.image, start.reporter))

    def provenance(self, clock_hz: int) -> dict[str, object]:
        content = Path(self._binary_path()).read_bytes()
        return {"simulator_sha256": hashlib.sha256(content).hexdigest()}

    def _binary_path(self) -> str:
        if path := shutil.which(self.binary):
            return path
        raise TockmarkError(f"{self.binary} is not installed", INSTALL)


@dataclass
class QemuSession:
    """One boot in QEMU. It ends with its suite, shortly after a panic, or at the time limit."""

    process: Child
    errors: IO[bytes]  # its stderr
    watch: Watch
    cycles: int = 0  # QEMU does not count any
    _stopped: bool = False

    @property
    def _panicked(self) -> bool:
        return self.watch.panic is not None

    def lines(self) -> Iterator[str]:
        panicked = False
        try:
            for line in self.process.lines():
                yield from self.watch.take(line)
                if self.watch.over:
                    break
                if self._panicked and not panicked:
                    self.process.within(PANIC_S)
                    panicked = True
        finally:
            self.process.stop()

    def stop(self) -> None:
        self._stopped = not self.watch.over
        self.process.stop()

    def ending(self) -> Ending:
        """Return how it ended. It is idle at the time limit: QEMU does not end when the core
        sleeps for good."""
        code = self.process.wait()
        return Ending(
            self._failure(code),
            panicked=self._panicked,
            idle=self.process.why is not None and not (self._panicked or self.watch.over),
            killed=self._stopped,
        )

    def _failure(self, code: int | None) -> str | None:
        """Return what went wrong, in one line; None if the suite finished."""
        with self.errors:
            self.errors.seek(0)
            lines = self.errors.read().decode(errors="replace").splitlines()
        messages = [line.strip() for line in lines if "terminating on signal" not in line]
        if self._panicked:
            return f"{PANICKED}: {self.watch.panic}"
        if self.watch.over:
            return None
        if self.process.why:
            return f"QEMU {self.process.why}: the app or the kernel hangs"
        if self._stopped:
            return "QEMU was stopped"
        return f"QEMU ended with code {code}" + (f" ({messages[-1]})" if messages else "")


Target = QemuTarget
