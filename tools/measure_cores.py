# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Measures a kernel and bare programs on each core that this builds: `make cores`.

Rows of the baseline go to results/cores/ (of another kernel with --kernel and --name), counts of
the programs to lab/studies/cores/data/cores.json; lab/pages/core_features.py makes tables of both.
A program checks its own answer: a wrong one ends this with an error.
"""

import argparse
import hashlib
import re
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from tockmark import documents, paths, processes
from tockmark.check.cores import FORMAT, STORED, VERSION, BareCount, StoredCores
from tockmark.errors import INCOMPLETE, OK, TockmarkError
from tockmark.files import write_whole
from tockmark.rig import core as cores
from tockmark.rig.core import Core
from tockmark.rig.kernel_on_core import HAS
from tockmark_lab import validation_parts as programs

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
    out = paths.RESULTS / "cores" / f"{title}{core and '-on-'}{core}.json"
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
        if known is not None and not needed <= HAS[known.bitmanip]:
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
            retired = RETIRED.search(done.complaint)
            if done.code or len(said) != 2 or not retired:
                raise TockmarkError(f"{name} fails on {core or 'cw310'}: {done.complaint.strip()}")
            iterations, cycles = said
            yield BareCount(
                *(name, isa, icache == "on", sha256),
                *(iterations, cycles, int(retired[1]), known),
            )


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="tools/measure_cores.py", description="Measures on each core."
    )
    parser.add_argument("cores", nargs="*", metavar="CORE", help="these alone, of a kernel's")
    parser.add_argument("--kernel", type=Path, action="append", default=[], help="ELF of another")
    parser.add_argument("--name", help="what its results are called")
    parser.add_argument("--manifest", type=Path, help="what it was made of, as `run` takes it")
    parser.add_argument("--programs", action="store_true", help="the bare programs alone")
    given = parser.parse_args()
    every = (OWN, *CONFIGURATIONS, *CHANGED)
    try:
        found: list[BareCount] = []
        kernels = given.kernel
        if not kernels and not given.programs:
            call("make", "--no-print-directory", "kernel-layouts", f"K={LAYOUTS}")
            kernels = sorted((paths.ROOT / "build" / "kernel-layouts").glob("*.elf"))
        for core in given.cores or every:
            core = "" if core == "own" else core
            call("make", "--no-print-directory", *(("sim", f"CORE={core}") if core else ("build",)))
            known = cores.beside(programs.simulator(folder_of(core)))
            if not given.programs:
                measure_kernel(core, known, kernels, given.name, given.manifest)
            found += counts(core, known) if not given.name else ()
        if not given.cores and not given.name:
            said = processes.run([paths.GCC, "--version"]).text.splitlines()[0]
            stored = StoredCores(FORMAT, VERSION, said, tuple(found))
            write_whole({STORED: documents.text_of(stored, ("rows",))})
    except TockmarkError as error:
        print(f"cores: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
