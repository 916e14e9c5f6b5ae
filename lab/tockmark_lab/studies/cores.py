# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The study cores: a kernel and bare programs on each configuration of Ibex. `make cores` runs it.

A program checks its own answer: a wrong one ends this with an error.
"""

import hashlib
import re
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated, Literal

from typer import Argument, Option

from tockmark.base import documents, paths, processes
from tockmark.base.documents import Part, Positive, Sha256
from tockmark.base.errors import INCOMPLETE, OK, TockmarkError
from tockmark.base.files import write_whole
from tockmark.cli.program import verb
from tockmark.result.provenance import Core
from tockmark.target.kernel import EXTENSIONS
from tockmark.target.sim import read_core
from tockmark_lab import folders
from tockmark_lab import validation_parts as programs

DATA = folders.STUDIES / "cores" / "data"
STORED = DATA / "programs.json"
FORMAT: Literal["tockmark-cores"] = "tockmark-cores"
VERSION: Literal[1] = 1

OWN = ""  # the machine's own core
ALL = "maxperf-pmp-bmfull-icache"  # the configuration with each feature but the predictor
CONFIGURATIONS = (
    *("small", "opentitan", "maxperf", "maxperf-pmp", "maxperf-pmp-bmbalanced"),
    *("maxperf-pmp-bmfull", ALL, "experimental-branch-predictor"),
)
CHANGED = (
    *(f"{ALL}-no-WritebackStage", f"{ALL}-no-WritebackStage-no-BranchTargetALU"),
    f"{ALL}-RV32MFast",
)
ROWS = (
    "time.read,syscall.command,upcall.yield_wait,ctx.ring:processes=2,kib=0,ipc.round_trip,"
    "mem.copy_memcpy:size=1024"
)
LAYOUTS = 4
PROGRAMS = {  # by name: the ISA that it is compiled for
    "CoreMark": "rv32imc_zicsr",
    "CoreMark, Zba Zbb Zbs": "rv32imc_zicsr_zba_zbb_zbs",
    "Dhrystone": "rv32imc_zicsr",
}
ITERATIONS = 4
RETIRED = re.compile(r"\binstret=(\d+)")


class BareCount(Part, frozen=True):
    """One run of a program whose answer it found right."""

    program: str
    isa: str  # that it was compiled for
    icache: bool
    simulator_sha256: Sha256
    iterations: Positive
    cycles: Positive  # of all iterations
    instructions: Positive  # of the whole run, start and check of the answer among them
    core: Core | None = None  # None: the machine's own

    @property
    def name(self) -> str:
        """The core's name; empty: the machine's own."""
        return self.core.name if self.core else ""


class StoredCores(Part, frozen=True):
    """All runs, as a file."""

    format: Literal["tockmark-cores"]
    version: Literal[1]
    compiler: str
    rows: tuple[BareCount, ...]


def load() -> tuple[BareCount, ...]:
    """Read the committed counts."""
    return documents.read(STORED, StoredCores, FORMAT, VERSION, "run `make cores`").rows


def call(*command: str) -> None:
    """Run a command in the checkout. TockmarkError if it fails, but for rows that are off."""
    print(f"cores: {' '.join(command)}", flush=True)
    done = subprocess.run(command, cwd=paths.ROOT, check=False)
    if done.returncode not in (OK, INCOMPLETE):
        raise TockmarkError(f"`{' '.join(command)}` ended with {done.returncode}")


def folder_of(core: str) -> str:
    return f"cw310-{core}" if core else "cw310"


def measure_kernel(
    core: str,
    known: Core | None,
    kernels: Sequence[Path],
    name: str | None,
    manifest: Path | None,
) -> None:
    """Run the rows of a kernel on a core that can run it."""
    title = (name or "baseline").lower().replace(" ", "-")
    out = DATA / f"{title}{core and '-on-'}{core}.json"
    if known is not None and not known.pmp_regions:
        return
    command = [sys.executable, "-m", "tockmark", "run", "--only", ROWS, "-o", str(out)]
    command += ["--jobs", "1", "--layouts", str(LAYOUTS), *(("--core", core) if core else ())]
    command += [word for one in kernels for word in ("--kernel", str(one))]
    command += ["--kernel-manifest", str(manifest)] if manifest else []
    out.parent.mkdir(exist_ok=True)
    call(*command)
    out.with_suffix(".log").unlink(missing_ok=True)


def counts(core: str, known: Core | None) -> Iterator[BareCount]:
    """Run each program on a core that can run it, with the cache on and off if it has one."""
    simulator = programs.simulator(folder_of(core))
    sha256 = hashlib.sha256(simulator.read_bytes()).hexdigest()
    for name, isa in PROGRAMS.items():
        needed = {word for word in isa.split("_") if word.startswith("zb")}
        if known is not None and not needed <= EXTENSIONS[known.bitmanip]:
            continue
        output = f"cores/{name.lower().replace(', ', '-').replace(' ', '-')}.elf"
        if name.startswith("CoreMark"):
            elf = programs.build_coremark(output, isa, "flash.ld", ITERATIONS)
        else:
            elf = programs.build_dhrystone(output, "flash.ld")
        for icache in ("on", "off") if known is None or known.icache else ("off",):
            command = [str(simulator), "--elf", str(elf), "--icache", icache]
            command += ["--mailbox", hex(programs.MAILBOX), "--max-cycles", "100000000"]
            done = processes.run(command, todo="run `make build`")
            said = [int(word) for word in done.text.split()]
            retired = RETIRED.search(done.error_text)
            if done.code or len(said) != 2 or not retired:
                raise TockmarkError(f"{name} fails on {core or 'cw310'}: {done.error_text.strip()}")
            iterations, cycles = said
            yield BareCount(
                *(name, isa, icache == "on", sha256),
                *(iterations, cycles, int(retired[1]), known),
            )


@verb(
    "tockmark-lab cores",
    "tockmark-lab cores own maxperf-pmp --kernel ~/tock/earlgrey-cw310.elf --name 'Tock 2.2'",
    "tockmark-lab cores --programs",
)
def cores_verb(
    some: Annotated[
        list[str] | None,
        Argument(metavar="CORE", help="These cores alone; `own` is the machine's own."),
    ] = None,
    kernel: Annotated[
        list[Path] | None,
        Option(help="ELF of another kernel than the baseline; again for further links."),
    ] = None,
    name: Annotated[str | None, Option(help="What the results of that kernel are called.")] = None,
    manifest: Annotated[
        Path | None, Option(help="What that kernel was made of, as `tockmark run` takes it.")
    ] = None,
    only_programs: Annotated[
        bool, Option("--programs", help="Measure bare programs alone.")
    ] = False,
) -> None:
    """Measure a kernel and bare programs on each configuration of the core.

    Builds the simulators. Results go to lab/studies/cores/data."""
    found: list[BareCount] = []
    kernels = kernel or []
    if not kernels and not only_programs:
        call("make", "--no-print-directory", "kernel-layouts", f"K={LAYOUTS}")
        kernels = sorted((paths.ROOT / "build" / "kernel-layouts").glob("*.elf"))
    for core in some or (OWN, *CONFIGURATIONS, *CHANGED):
        core = "" if core == "own" else core
        call("make", "--no-print-directory", *(("sim", f"CORE={core}") if core else ("build",)))
        known = read_core(programs.simulator(folder_of(core)))
        if not only_programs:
            measure_kernel(core, known, kernels, name, manifest)
        found += counts(core, known) if not name else ()
    if not some and not name:
        said = processes.run([paths.GCC, "--version"]).text.splitlines()[0]
        stored = StoredCores(FORMAT, VERSION, said, tuple(found))
        write_whole({STORED: documents.text_of(stored, ("rows",))})
