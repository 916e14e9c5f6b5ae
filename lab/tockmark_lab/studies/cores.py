# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The study cores: a kernel and bare programs on each configuration of Ibex. `make cores` runs it.

Each program checks its own answer; a wrong answer ends the study with an error.
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
ALL = "maxperf-pmp-bmfull-icache"  # the configuration with every feature but the branch predictor
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
PROGRAMS = {  # the ISA of each program
    "lms": "rv32imc_zicsr",
    "lms, Zba Zbb Zbs": "rv32imc_zicsr_zba_zbb_zbs",
    "Dhrystone": "rv32imc_zicsr",
}
ITERATIONS = 4
RETIRED = re.compile(r"\binstret=(\d+)")


class BareCount(Part, frozen=True):
    """One run of a program with the right answer."""

    program: str
    isa: str  # of the compiled program
    icache: bool
    simulator_sha256: Sha256
    iterations: Positive
    cycles: Positive  # of all iterations
    instructions: Positive  # of the whole run, with the start and the check of the answer
    core: Core | None = None  # None: the machine's own

    @property
    def name(self) -> str:
        """The core's name; empty for the machine's own."""
        return self.core.name if self.core else ""


class StoredCores(Part, frozen=True):
    """All runs, as stored in a file."""

    format: Literal["tockmark-cores"]
    version: Literal[1]
    compiler: str
    rows: tuple[BareCount, ...]


def load() -> tuple[BareCount, ...]:
    """Read the committed counts."""
    return documents.read(STORED, StoredCores, FORMAT, VERSION, "run `make cores`").rows


def call(*command: str) -> None:
    """Run a command in the checkout. TockmarkError if it fails; incomplete rows are no failure."""
    print(f"cores: {' '.join(command)}", flush=True)
    done = subprocess.run(command, cwd=paths.ROOT, check=False)
    if done.returncode not in (OK, INCOMPLETE):
        raise TockmarkError(f"`{' '.join(command)}` ended with {done.returncode}")


def machine_folder(core: str) -> str:
    return f"cw310-{core}" if core else "cw310"


def measure_kernel(
    core: str,
    features: Core | None,
    kernels: Sequence[Path],
    name: str | None,
    manifest: Path | None,
) -> None:
    """Measure the rows of a kernel on a core that can run it."""
    title = (name or "baseline").lower().replace(" ", "-")
    out = DATA / f"{title}{core and '-on-'}{core}.json"
    if features is not None and not features.pmp_regions:
        return
    command = [sys.executable, "-m", "tockmark", "run", "--only", ROWS, "-o", str(out)]
    command += ["--jobs", "1", "--layouts", str(LAYOUTS), *(("--core", core) if core else ())]
    command += [word for kernel_elf in kernels for word in ("--kernel", str(kernel_elf))]
    command += ["--kernel-manifest", str(manifest)] if manifest else []
    out.parent.mkdir(exist_ok=True)
    call(*command)
    out.with_suffix(".log").unlink(missing_ok=True)


def counts(core: str, features: Core | None) -> Iterator[BareCount]:
    """Run each program that the core can run, with the cache off, and on if the core has one."""
    simulator = programs.simulator(machine_folder(core))
    sha256 = hashlib.sha256(simulator.read_bytes()).hexdigest()
    for name, isa in PROGRAMS.items():
        needed = {word for word in isa.split("_") if word.startswith("zb")}
        if features is not None and not needed <= EXTENSIONS[features.bitmanip]:
            continue
        output = f"cores/{name.lower().replace(', ', '-').replace(' ', '-')}.elf"
        if name.startswith("lms"):
            elf = programs.build_lms(output, isa, "flash.ld", ITERATIONS)
        else:
            elf = programs.build_dhrystone(output, "flash.ld")
        for icache in ("on", "off") if features is None or features.icache else ("off",):
            command = [str(simulator), "--elf", str(elf), "--icache", icache]
            command += ["--mailbox", hex(programs.MAILBOX), "--max-cycles", "100000000"]
            done = processes.run(command, todo="run `make build`")
            numbers = [int(word) for word in done.text.split()]
            retired = RETIRED.search(done.error_text)
            if done.code or len(numbers) != 2 or not retired:
                raise TockmarkError(f"{name} fails on {core or 'cw310'}: {done.error_text.strip()}")
            iterations, cycles = numbers
            yield BareCount(
                *(name, isa, icache == "on", sha256),
                *(iterations, cycles, int(retired[1]), features),
            )


@verb(
    "tockmark-lab cores",
    "tockmark-lab cores own maxperf-pmp --kernel ~/tock/earlgrey-cw310.elf --name 'Tock 2.2'",
    "tockmark-lab cores --programs",
)
def cores_verb(
    cores: Annotated[
        list[str] | None,
        Argument(
            metavar="CORE",
            help="Measure these cores only; `own` is the machine's own (default: all).",
        ),
    ] = None,
    kernel: Annotated[
        list[Path] | None,
        Option(help="ELF of another kernel than the baseline. Repeat for further links."),
    ] = None,
    name: Annotated[str | None, Option(help="Name of that kernel, for its results.")] = None,
    manifest: Annotated[
        Path | None, Option(help="Manifest of that kernel, as for `tockmark run`.")
    ] = None,
    only_programs: Annotated[
        bool, Option("--programs", help="Measure the bare programs only.")
    ] = False,
) -> None:
    """Measure a kernel and bare programs on each configuration of the core.

    Builds the simulators. The results are written to lab/studies/cores/data."""
    bare_counts: list[BareCount] = []
    kernels = kernel or []
    if not kernels and not only_programs:
        call("make", "--no-print-directory", "kernel-layouts", f"K={LAYOUTS}")
        kernels = sorted((paths.ROOT / "build" / "kernel-layouts").glob("*.elf"))
    for core in cores or (OWN, *CONFIGURATIONS, *CHANGED):
        core = "" if core == "own" else core
        call("make", "--no-print-directory", *(("sim", f"CORE={core}") if core else ("build",)))
        features = read_core(programs.simulator(machine_folder(core)))
        if not only_programs:
            measure_kernel(core, features, kernels, name, manifest)
        bare_counts += counts(core, features) if not name else ()
    if not cores and not name:
        compiler = processes.run([paths.GCC, "--version"]).text.splitlines()[0]
        stored = StoredCores(FORMAT, VERSION, compiler, tuple(bare_counts))
        write_whole({STORED: documents.text_of(stored, ("rows",))})
