# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Bare programs compare the simulator with what others published or measured: `validate` runs them.

A program is built with the cross-compiler, runs on a simulated machine, and sends its numbers
through a mailbox. A job builds and runs one or a few programs when its rows are taken; a part of
the validation consists of jobs. The programs and the expected values are data, in lab/validation/.
The whole chip's RTL also runs boots of the suite, which are compared with its model.
"""

import csv
import hashlib
import importlib.util
import os
import re
import sys
import tomllib
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, as_completed
from dataclasses import dataclass
from itertools import chain, product
from operator import eq
from pathlib import Path
from typing import Any

from rich.progress import TaskID

from tockmark.base import paths, processes
from tockmark.base.errors import INCOMPLETE, OK, TockmarkError
from tockmark.base.processes import Bounds, thread_pool
from tockmark.result import file
from tockmark.result.model import Row
from tockmark.result.stats import least_squares, steady_median
from tockmark.target import board as boards
from tockmark.target.elf import read_elf
from tockmark.target.progress import progress_bars
from tockmark.target.sim import make_target
from tockmark.wire.rows import SERIES
from tockmark_lab import trap_cases
from tockmark_lab.folders import CHIP_FOLDER, STUDIES, VALIDATION
from tockmark_lab.validation import ValidationRow

BUILD = paths.WRITTEN / "validate"
LONGEST_BUILD = 3600.0  # seconds
LINK = ("-nostdlib", "-nostartfiles", "-Wl,--build-id=none,--no-warn-rwx-segments")
IN_FLASH = ("-mno-relax", *LINK, "-Wl,-Ttext=0x20000000,--omagic")

MAILBOX = 0x41130000  # a register block that both generations of the chip have
MAILBOX_OF_RTL = 0x41140000  # the address in the programs of the RTL
SRAM = 0x10000000
FLASH_START = 0x20000400  # the first instruction is 0x80 bytes after it

Job = Iterator[ValidationRow]


@dataclass(frozen=True)
class BareRun:
    """The output of a program, and how its run ended (0: it closed the mailbox with 0)."""

    code: int
    numbers: tuple[int, ...]
    last: str  # the simulator's last line

    def whole(self, count: int) -> bool:
        """Return whether the run ended without an error and sent `count` numbers."""
        return self.code == 0 and len(self.numbers) == count


@dataclass(frozen=True)
class ValidationPart:
    """A part of the validation: the machines that it needs, and its jobs."""

    name: str
    machines: tuple[str, ...]
    jobs: Callable[[], Iterable[Job]]
    usual: bool = True  # runs by default
    extra_targets: tuple[str, ...] = ()  # targets for make in addition to the simulators


def simulator(machine: str) -> Path:
    """Return the path of a machine's simulator, which may not be built yet. One in the folder of
    the variable TOCKMARK_SIMULATORS replaces the usual."""
    name = Path(machine) / "earlgrey-sim"
    if folder := os.environ.get("TOCKMARK_SIMULATORS"):
        other = paths.ROOT / folder / name
        if other.exists():
            return other
    return paths.ROOT / "build" / "sim" / name


def build_simulators(parts: Sequence[ValidationPart]) -> None:
    """Build what these parts run, with make."""
    if paths.INSTALLED:
        raise TockmarkError("validate compiles what it runs", paths.make_command("validate"))
    machines = dict.fromkeys(chain.from_iterable(part.machines for part in parts))
    usual = [path for path in map(simulator, machines) if path.parents[1].name == "sim"]
    targets = [make_target(path) for path in usual]
    targets += dict.fromkeys(chain.from_iterable(part.extra_targets for part in parts))
    print(f"building {', '.join(targets)}", file=sys.stderr, flush=True)
    command = ["make", "--no-print-directory", *targets]
    bounds = Bounds(LONGEST_BUILD)
    if processes.follow(command, cwd=paths.ROOT, stdout=2, stderr=2, bounds=bounds).code:
        raise TockmarkError("what is to run cannot be built", f"try `{' '.join(command)}`")
    missing = [machine for machine in machines if not simulator(machine).exists()]
    if missing:
        names = ", ".join(missing)
        raise TockmarkError(f"no simulator for {names}", f"run `make {' '.join(targets)}`")


def hashes(parts: Sequence[ValidationPart]) -> dict[str, str]:
    """Return the sha256 of the parts' simulators, by machine, and of the kernel if one runs."""
    machines = chain.from_iterable(part.machines for part in parts)
    files = {machine: simulator(machine) for machine in machines}
    if any(part.extra_targets for part in parts):
        files["kernel"] = boards.load(CHIP_BOARDS[0]).kernels[1]
    return {name: hashlib.sha256(path.read_bytes()).hexdigest() for name, path in files.items()}


def run_parts(parts: Iterable[ValidationPart]) -> list[ValidationRow]:
    """Run all jobs in parallel. Return their rows in the order of parts and jobs."""
    with progress_bars() as shown, thread_pool(os.cpu_count()) as pool:
        task_of: dict[Future[list[ValidationRow]], TaskID] = {}
        for part in parts:
            futures = [pool.submit(list, job) for job in part.jobs()]
            task_of |= dict.fromkeys(futures, shown.add_task(part.name, total=len(futures)))
        for future in as_completed(task_of):
            task = shown.tasks[task_of[future]]
            shown.advance(task.id)
            future.result()
            if shown.disable and task.finished:
                print(f"{task.description}: {task.total} programs done", file=sys.stderr)
    return [row for future in task_of for row in future.result()]


def compile_program(output: str, sources: Sequence[Path], *options: str) -> Path:
    """Compile a program to `output` under build/validate, and return its path."""
    output_path = BUILD / output
    output_path.parent.mkdir(parents=True, exist_ok=True)
    command = [paths.GCC, "-mabi=ilp32", *options, *map(str, sources), "-o", str(output_path)]
    done = processes.run(command, todo=paths.make_command("setup"))
    if done.code != 0:
        raise TockmarkError(f"building {output} failed: {done.error_text.strip()}")
    return output_path


def run(
    machine: str,
    elf: Path,
    boot: int = FLASH_START,
    *options: str,
    mailbox: int = MAILBOX,
    max_cycles: int = 20_000_000,
) -> BareRun:
    """Run a program from the address `boot` until it closes the mailbox."""
    command = [str(simulator(machine)), "--elf", str(elf), "--boot", hex(boot)]
    command += ["--mailbox", hex(mailbox), "--max-cycles", str(max_cycles), *options]
    done = processes.run(command, todo=paths.make_command("build"))
    error_lines = done.error_text.strip().splitlines()
    return BareRun(
        done.code, tuple(map(int, done.text.split())), error_lines[-1] if error_lines else ""
    )


def _vendor() -> Path:
    """Return the folder of riscv-tests and the benchmarks in the Ibex package."""
    spec = importlib.util.find_spec("pythondata_cpu_ibex")
    if spec is None or not spec.submodule_search_locations:
        raise TockmarkError("the Ibex package is not installed", paths.make_command("setup-rtl"))
    return Path(spec.submodule_search_locations[0]) / "system_verilog" / "vendor"


LIMIT = STUDIES / "floor"
PROGRAMS = {"study": VALIDATION / "study" / "study.toml", "limit": LIMIT / "limit.toml"}


def data_of(part: str) -> dict[str, Any]:
    """Return the programs of the part `study` or `limit`, from its TOML file."""
    return tomllib.loads(PROGRAMS[part].read_text(encoding="utf-8"))


# The part conformance: the riscv-tests of the Ibex package, in an environment of ours.

SUITES = ("rv32ui", "rv32um", "rv32uc", "rv32mi")
TESTED = ("cw310", "nexysvideo")
# Configurations of Ibex without a PMP, on which no kernel boots.
BARE_CORES = tuple(
    f"cw310-{core}" for core in ("small", "maxperf", "experimental-branch-predictor")
)


def riscv_tests(
    suites: tuple[str, ...] = SUITES, machines: tuple[str, ...] = TESTED
) -> Iterable[Job]:
    """Yield a job per test. It runs the test with the cache on and off on each machine."""
    not_applicable = VALIDATION / "conformance" / "not_applicable.toml"
    skipped: dict[str, dict[str, str]] = tomllib.loads(not_applicable.read_text(encoding="utf-8"))
    tests = _vendor() / "riscv-tests" / "isa"
    for suite in suites:
        for source in sorted((tests / suite).glob("*.S")):
            name = f"{suite}-{source.stem}"
            asked = [m for m in machines if name not in {*skipped["all"], *skipped.get(m, {})}]
            yield _riscv_test(suite, source, asked)


def _riscv_test(suite: str, source: Path, machines: list[str]) -> Job:
    folder, vendor = VALIDATION / "conformance", _vendor()
    for machine, icache in product(machines, ("on", "off")):
        bare = machine in BARE_CORES  # they have no cache either
        if bare and icache == "on":
            continue
        test = f"{suite}-{source.stem}"
        elf = compile_program(
            f"conformance/{test}-{'bare' if bare else icache}.elf",
            [source],
            *("-march=rv32imc_zicsr_zifencei", f"-DICACHE={int(icache == 'on')}"),
            *(("-DWITHOUT_PMP",) if bare else ()),
            *(f"-I{folder}", f"-I{vendor / 'riscv-test-env'}"),
            f"-I{vendor / 'riscv-tests' / 'isa' / 'macros' / 'scalar'}",
            *(*LINK, "-T", str(folder / "test.ld")),
        )
        done = run(machine, elf, SRAM, max_cycles=200_000)
        yield ValidationRow(
            part="conformance",
            group=f"{suite}, {machine}, i-cache {icache}: programs passed",
            name=f"{test}, {machine}, i-cache {icache}",
            machine=machine,
            unit="passed",
            expected=(1,),
            measured=(int(done.code == 0),),
            source="riscv-tests in the Ibex package",
            note="" if done.code == 0 else done.last,
        )


# The part benchmarks: lms and Dhrystone on one-cycle memory, compared with Ibex's figures.

BENCHMARKS = VALIDATION / "benchmarks"
LMS_PORT = STUDIES / "programs" / "apps" / "port"  # the app has the same header
IBEX_PER_MHZ = 3.13  # iterations per second and megahertz, as Ibex publishes for its own build
LMS_BOUND = 0.05
ITERATIONS = 10
VAX_DHRYSTONES = 1757  # per second: one DMIPS

# The flags of Ibex's own port (examples/sw/benchmarks/coremark/ibex/core_portme.mak), and the ISA
# that its benchmarks README recommends for this configuration, rv32imcb, as far as GCC 12 supports
# it.
LMS_ISA = "rv32imc_zicsr_zba_zbb_zbc_zbs"
LMS_FLAGS = (
    *("-static", "-mcmodel=medlow"),
    *("-mtune=sifive-3-series", "-O3", "-falign-functions=16"),
    *("-funroll-all-loops", "-finline-functions", "-falign-jumps=4", "-ffreestanding"),
    *("-mstrict-align", "-DTOTAL_DATA_SIZE=2000", "-DPERFORMANCE_RUN=1"),
)
# Dhrystone's rules forbid inlining. The C library that it calls is built for plain rv32imc.
DHRYSTONE_FLAGS = (
    *("-march=rv32imc", "-misa-spec=2.2", "--specs=picolibc.specs", "-O2", "-fno-inline"),
    *("-fno-builtin-printf", "-fno-common", "-w"),
)


def build_lms(output: str, isa: str, script: str, iterations: int) -> Path:
    """Build lms, EEMBC's sources as Ibex changed them, with a linker script: in SRAM (bare.ld), or
    in flash (flash.ld), where the boot ROM enters it."""
    vendor = _vendor() / "eembc_coremark"
    names = ("list_join", "main", "matrix", "state", "util")
    return compile_program(
        output,
        [
            BENCHMARKS / "start.S",
            BENCHMARKS / "core_portme.c",
            *(vendor / f"core_{n}.c" for n in names),
        ],
        *(f"-march={isa}", *LMS_FLAGS, f"-DITERATIONS={iterations}"),
        *(f"-I{LMS_PORT}", f"-I{vendor}", *LINK, "-T", str(BENCHMARKS / script), "-lgcc"),
    )


def _lms() -> Job:
    elf = build_lms("benchmarks/lms.elf", LMS_ISA, "bare.ld", ITERATIONS)
    score, last = _per_megahertz(elf)
    expected = round(1e6 / IBEX_PER_MHZ)
    yield ValidationRow(
        part="benchmarks",
        group="lms on one-cycle memory: cycles of an iteration",
        name="lms",
        machine="flat",
        unit="cycles",
        expected=(expected,),
        measured=() if score is None else (round(1e6 / score),),
        bound=LMS_BOUND * expected,
        source="README.md of Ibex, Performance (CoreMark/MHz), maxperf-pmp-bmfull",
        note=last,
    )


def build_dhrystone(output: str, script: str) -> Path:
    """Build Dhrystone for RV32IMC with a linker script."""
    vendor = _vendor()
    suite = vendor / "riscv-tests" / "benchmarks"
    folders = (suite / "common", vendor / "riscv-test-env", suite / "dhrystone")
    include = [f"-I{folder}" for folder in folders]
    objects = [
        compile_program(
            f"benchmarks/{source.stem}.o", [source], *DHRYSTONE_FLAGS, *rename, "-c", *include
        )
        for source, rename in (
            (suite / "dhrystone" / "dhrystone.c", ()),
            (suite / "dhrystone" / "dhrystone_main.c", ("-Dmain=dhrystone",)),
            (BENCHMARKS / "dhrystone_port.c", ()),
        )
    ]
    return compile_program(
        output,
        [BENCHMARKS / "start.S", *objects],
        *(*DHRYSTONE_FLAGS, *LINK[1:], "-T", str(BENCHMARKS / script)),
    )


def _dhrystone() -> Job:
    elf = build_dhrystone("benchmarks/dhrystone.elf", "bare.ld")
    score, last = _per_megahertz(elf)
    dmips = (score or 0) / VAX_DHRYSTONES
    yield ValidationRow(
        part="benchmarks",
        group=f"Dhrystone: wrong results of its own ({dmips:.2f} DMIPS/MHz)",
        name="Dhrystone, its own results",
        machine="flat",
        unit="wrong",
        expected=(0,),
        measured=(int(score is None),),
        source="dhrystone_main.c: what each of its variables should be",
        note=last,
    )


def _per_megahertz(elf: Path) -> tuple[float | None, str]:
    """Return the iterations per second and megahertz; or None, and the simulator's last line."""
    done = run("flat", elf, SRAM)
    if not done.whole(2):
        return None, done.last
    return 1e6 * done.numbers[0] / done.numbers[1], ""


# The part memory: 337 programs compared with OpenTitan's own RTL, cycles and instructions exactly.

RTL = VALIDATION / "rtl-cw310"
ROM_BLOCK = 0x8100  # the address of programs2's block


def build_memory(program: str, output: str, *options: str) -> tuple[Path, list[str]]:
    """Build a program of the RTL. Return it, and the simulator's options to load its block."""
    path = compile_program(
        f"{output}/{program}.elf",
        [RTL / f"{program}.S"],
        *("-march=rv32imc_zicsr_zifencei", "-mno-relax", f"-Wa,-I{RTL}", *options),
        *(*LINK, "-T", str(RTL / "programs.ld")),
    )
    elf, load = read_elf(path), list[str]()
    if "blk0" in elf.addresses:  # a block of the program must also be in the ROM
        ((start, content),) = elf.segments
        first, end = (elf.addresses[name] - start for name in ("blk0", "blkend"))
        block = path.with_suffix(".block")
        block.write_bytes(content[first:end])
        load = ["--load", f"{block}@{ROM_BLOCK:#x}"]
    return path, load


def rows_of_memory(program: str) -> list[dict[str, str]]:
    """Return the entries of expected.csv for a program's measurements, in order."""
    with (RTL / "expected.csv").open(encoding="utf-8", newline="") as file:
        return [entry for entry in csv.DictReader(file) if entry["program"] == program]


def row_of_memory(row: dict[str, str]) -> str:
    """Return the name of such a measurement."""
    return f"{row['program']} {row['index']} {row['icache']}: {row['test']}"


def _memory(program: str) -> Job:
    path, load = build_memory(program, "memory")
    done = run("cw310", path, FLASH_START, *load, mailbox=MAILBOX_OF_RTL)
    measured = list(zip(done.numbers[::2], done.numbers[1::2], strict=False))
    for index, expected in enumerate(rows_of_memory(program)):
        yield ValidationRow(
            part="memory",
            group=f"{program}, cw310, i-cache {expected['icache']}: cycles and instructions",
            name=row_of_memory(expected),
            machine="cw310",
            unit="cycles, instr",
            expected=(int(expected["cycles"]), int(expected["instret"])),
            measured=measured[index] if index < len(measured) else (),
            source="OpenTitan's RTL at edf5e35f5d",
            note="" if index < len(measured) else done.last,
        )


# The part study: what the study of 2021 measured on its FPGA without a kernel.


def build_study(offset: int, output: str = "study", *more: str) -> Path:
    """Build the program with its bodies `offset` bytes after the start of a flash word."""
    options = ("-march=rv32imc_zicsr", f"-DOFFSET={offset}", *more, *IN_FLASH)
    return compile_program(
        f"{output}/study-{offset}.elf", [VALIDATION / "study" / "study.S"], *options
    )


def study_names() -> list[str]:
    """Return the names of the program's measurements, in order."""
    return [entry["name"] for entry in data_of("study")["row"] if "same_as" not in entry]


def study_cycles(offset: int) -> tuple[dict[str, int], str]:
    """Run the program with its bodies at an offset. Return the net cycles of each measurement by
    name (empty if the run failed), and the simulator's last line."""
    names = study_names()
    done = run("nexysvideo", build_study(offset))
    numbers = done.numbers if done.whole(len(names)) else ()
    return dict(zip(names, numbers, strict=False)), done.last


def _study() -> Job:
    data = data_of("study")
    done = {offset: study_cycles(offset) for offset in data["offsets"]}
    for entry in data["row"]:
        if "expected" not in entry:
            continue
        (count, operation), name = entry["of"], entry["name"]
        cycles, last = done[entry["offset"]]
        value = cycles.get(entry.get("same_as", name), 0) - cycles.get(entry.get("less", ""), 0)
        # The row is for one operation; the bound is for the whole sample.
        allowed = max(entry["expected"] * data["bound"]["relative"], data["bound"]["cycles"])
        unit = f"cycles {'an' if operation[0] in 'aeiou' else 'a'} {operation}"
        yield ValidationRow(
            part="study",
            group=f"{name}: {unit}, at {entry['offset']} mod 8",
            name=name,
            machine="nexysvideo",
            unit=unit,
            expected=(round(entry["expected"] / count, 3),),
            measured=(round(value / count, 3),) if cycles else (),
            bound=round(allowed / count, 4) + 0.001,  # of rounding
            source=entry["source"],
            note="" if cycles else last,
        )


# The part icache: where the cost of straight code changes its slope, which shows the cache's size.

SIZES = range(1, 9)  # KiB
CLEARLY = 0.1  # least difference of two slopes, relative to the lower one
NONE = 0  # no change


def _icache(icache: str) -> Job:
    elf = compile_program(
        f"icache/nops-{icache}.elf",
        [VALIDATION / "icache" / "nops.S"],
        *("-march=rv32imc_zicsr_zifencei", f"-DICACHE={int(icache == 'on')}", *IN_FLASH),
    )
    done = run("cw310", elf)
    good = done.whole(2 * len(SIZES))
    for width, part in ((2, slice(len(SIZES))), (4, slice(len(SIZES), None))):
        yield ValidationRow(
            part="icache",
            group=f"NOPs of {width} bytes, i-cache {icache}: KiB where the slope changes",
            name=f"NOPs of {width} bytes, i-cache {icache}",
            machine="cw310",
            unit="KiB",
            expected=(4 if (width, icache) == (4, "on") else NONE,),
            measured=(breaking_point(SIZES, done.numbers[part]),) if good else (),
            source="the cache holds 4 KiB; flash delivers a 2-byte NOP a cycle without it",
            note="" if good else done.last,
        )


def breaking_point(x: Sequence[int], y: Sequence[int]) -> int:
    """Return the x after which a second line fits best; NONE if its slope does not differ
    clearly."""
    both = {
        i: (least_squares(y[:i], x[:i]), least_squares(y[i:], x[i:])) for i in range(2, len(x) - 1)
    }
    best = min(both, key=lambda i: sum(line.squares for line in both[i]))
    low, high = sorted(line.slopes[0] for line in both[best])
    return x[best - 1] if high > low * (1 + CLEARLY) else NONE


# The part secure: the core in lockstep (SecureIbex) must take the same cycles as the core alone.

ALONE_AND_IN_LOCKSTEP = ("cw310", "cw310_secure")


def _secure() -> Job:
    """Run one small program on both. Any program would do; this one is from the part study."""
    elf = build_study(0)
    alone, lockstep = (run(machine, elf) for machine in ALONE_AND_IN_LOCKSTEP)
    good = alone.code == 0 and lockstep.code == 0
    for index, (expected, measured) in enumerate(
        zip(alone.numbers, lockstep.numbers or alone.numbers, strict=True)
    ):
        yield ValidationRow(
            part="secure",
            group="the study's program with SecureIbex=1 against 0: cycles",
            name=f"SecureIbex=1 against 0, count {index}",
            machine="cw310_secure",
            unit="cycles",
            expected=(expected,),
            measured=(measured,) if good else (),
            source="the same program on cw310",
            note="" if good else lockstep.last,
        )


# The part limit: system calls on short paths, and whether these keep the interface's rules
# (lab/studies/floor).

ASM = paths.ROOT / "apps" / "asm"
BODIES = tuple(ASM / f"{name}.S" for name in ("sample", "empty", "syscalls", "upcalls"))
OF_PARTS = "a part of a system call: instructions, cycles on, cycles off"
OF_CALLS = "a whole system call: instructions, cycles on, cycles off"
OF_RULES = "what a path must do: cases that came out as the interface says"


def build_limit(program: dict[str, Any], icache: int) -> Path:
    """Build a program with the instruction cache on (1) or off (0)."""
    name = _letters(program.get("kernel", "parts"))
    sources = [LIMIT / program["source"], *_driver(program)]
    sources += BODIES if "kernel" in program else ()
    return _bare(f"limit/{name}-{icache}.elf", sources, icache, *program["options"])


def build_rules(
    program: dict[str, Any], cases: Iterable[trap_cases.CheckedCase], folder: Path = LIMIT
) -> Path:
    """Build the program that runs these cases on a path. `folder` has the sources of the path."""
    case_folder = BUILD / "limit" / _letters(program["kernel"])
    case_folder.mkdir(parents=True, exist_ok=True)
    (case_folder / "cases.inc").write_text("".join(case.text() for case in cases), encoding="ascii")
    sources = [folder / "rules.S", *_driver(program)]
    output = f"limit/{case_folder.name}/rules.elf"
    return _bare(output, sources, 1, f"-I{case_folder}", *program["options"])


def wrong_cases(elf: Path, cases: Sequence[trap_cases.CheckedCase]) -> list[str]:
    """Run what `build_rules` built. Return a line for each fault of the path."""
    done = run("cw310", elf)
    return list(trap_cases.wrong_cases(cases, done.numbers, read_elf(elf).addresses))


def _letters(name: str) -> str:
    return "".join(filter(str.isalpha, name))


def _driver(program: dict[str, Any]) -> list[Path]:
    """Compile a program's driver, if it has one."""
    if "driver" not in program:
        return []
    source = LIMIT / program["driver"]
    output_path = BUILD / "limit" / f"{source.name}.o"
    output_path.parent.mkdir(parents=True, exist_ok=True)
    command = [*trap_cases.COMPILED[source.name], f"-I{ASM}", str(source), "-o", str(output_path)]
    if source.suffix == ".rs":
        command.remove(f"-I{ASM}")
    done = processes.run(command, todo=paths.make_command("setup"))
    if done.code != 0:
        raise TockmarkError(f"building {source.name} failed: {done.error_text.strip()}")
    return [output_path]


def _bare(output: str, sources: Sequence[Path], icache: int, *options: str) -> Path:
    options = ("-march=rv32imc_zicsr", "-DTM_ABI=2", f"-DICACHE={icache}", *options)
    return compile_program(output, sources, *options, f"-I{ASM}", *IN_FLASH)


def _limit(program: dict[str, Any]) -> Job:
    """Run a program with the cache on and off. Its instructions are counted with the cache on: with
    it off, a counter read can be one too high."""
    off, on = (run("cw310", build_limit(program, icache)) for icache in (0, 1))
    counts = zip(on.numbers[1::2], on.numbers[::2], off.numbers[::2], strict=False)
    measured = dict(enumerate(counts if off.code == 0 and on.code == 0 else ()))
    for index, entry in enumerate(program["row"]):
        yield ValidationRow(
            part="limit",
            group=OF_CALLS if "kernel" in program else OF_PARTS,
            name=entry["name"],
            machine="cw310",
            unit="instr, cycles on, cycles off",
            expected=(entry["instructions"], entry["on"], entry["off"]),
            measured=measured.get(index, ()),
            source=entry["source"],
            note="" if index in measured else f"{off.last}; {on.last}",
        )
    if program.get("path"):
        cases = trap_cases.cases()
        wrong = wrong_cases(build_rules(program, cases), cases)
        yield ValidationRow(
            part="limit",
            group=OF_RULES,
            name=f"cases, {program['kernel']}",
            machine="cw310",
            unit="cases",
            expected=(len(cases),),
            measured=(len(cases) - len(wrong),),
            source="the interface, as lab/tockmark_lab/trap_cases.py has it",
            note=wrong[0] if wrong else "",
        )


# The part chip: the model of Earl Grey of 2021-03 against that chip's own RTL.

CHIP, MODEL = "chip", "earlgrey_2021"
# Registers of that chip that accept any word without harm and that no program writes: SCRATCH and
# FIFO_LVL of flash_ctrl.
CHIP_MAILBOX = 0x41000160
SMALL_ROM = "ROM "  # starts the names of rows whose code does not fit into its ROM of 16 KiB
EDGES = VALIDATION / "chip" / "edges.S"
CHIP_BOARDS = (str(CHIP_FOLDER / "board.toml"), "earlgrey-sim-2021")
FEW_BOOTS = "time,syscall"  # less than 20 M cycles, with the programs
COLD = 2  # first samples, before a body is in the cache
SUITE_UNITS = "cycles, instr, samples alike"
LONGEST_RUN = 6 * 3600.0  # seconds
CHIP_KERNEL = ("kernel-v1-earlgrey-2021", "apps")
ON_CHIP = (f"-Wa,--defsym,MAILBOX={CHIP_MAILBOX:#x}", "-Wa,--defsym,PLIC=0x41010000")


def _both(rows: Sequence[tuple[str, str]], unit: str, path: Path, *more: str) -> Job:
    """Run a program on the chip and on its model. A row is a group and a name."""
    # The chip boots through its boot ROM, which would switch the cache on.
    options = ("--icache", "off", *more)
    chip, model = (
        run(machine, path, FLASH_START, *options, mailbox=CHIP_MAILBOX) for machine in (CHIP, MODEL)
    )
    width = len(unit.split(","))
    counts = [
        [done.numbers[at : at + width] for at in range(0, len(done.numbers), width)]
        for done in (chip, model)
    ]
    for index, (group, name) in enumerate(rows):
        expected, measured = (values[index] if index < len(values) else () for values in counts)
        yield ValidationRow(
            part="chip",
            group=group,
            name=name,
            machine=MODEL,
            unit=unit,
            expected=expected,
            measured=measured,
            source="the whole chip's RTL, OpenTitan at a558aaa3f",
            note="" if expected and measured else f"chip: {chip.last}; model: {model.last}",
        )


def _memory_on_chip(program: str) -> Job:
    path, _ = build_memory(program, "chip", "-DSMALL_ROM", *ON_CHIP)
    unit = "cycles, instr"
    rows = [
        (f"{program}, i-cache {row['icache']}: {unit}", row_of_memory(row))
        for row in rows_of_memory(program)
        if not row["test"].startswith(SMALL_ROM)
    ]
    return _both(rows, unit, path)


def edges() -> list[str]:
    """Return the names of the measurements of edges.S, in order, for one setting of the cache."""
    return re.findall(r'^ *ROW "(.*)"', EDGES.read_text(encoding="utf-8"), re.MULTILINE)


def _edges_on_chip() -> Job:
    """Compare errors, and when interrupts arrive, which the RTL's programs do not have."""
    options = ("-march=rv32imc_zicsr_zifencei", "-mno-relax", f"-Wa,-I{RTL}", *ON_CHIP, *LINK)
    path = compile_program("chip/edges.elf", [EDGES], *options, "-T", str(RTL / "programs.ld"))
    unit = "cycles, instr"
    rows = [
        (f"edges, i-cache {icache}: {unit}", f"edges {icache}: {name}")
        for icache, name in product(("off", "on"), edges())
    ]
    # The chip's byte takes as long as the program sets the UART.
    return _both(rows, unit, path, "--uart-cycles", "1280")


def build_stale() -> Path:
    """Build the program that shows a fault of the chip's flash. It replaces the boot ROM."""
    places = "-Wl,--section-start=.rom=0x8000,--section-start=.flash=0x20000000,--omagic"
    options = ("-march=rv32imc_zicsr", "-mno-relax", *ON_CHIP, *LINK, places)
    return compile_program("chip/stale.elf", [VALIDATION / "chip" / "stale.S"], *options)


def _study_on_chip(offset: int) -> Job:
    group = f"the study's bodies at {offset} mod 8, i-cache off: cycles"
    rows = [(group, f"{name}, at {offset} mod 8") for name in study_names()]
    return _both(rows, "cycles", build_study(offset, "chip", *ON_CHIP))


def _boots_on_chip(part: str, only: str | None, icache: str) -> Job:
    """Run boots of the suite with the baseline kernel of version 1 on the chip and on its model. A
    row is exact if all its samples are equal; with the cache on, all after the cold ones. The
    number of earlier lookups, and so the way that is filled first, depends on the UART, because a
    byte takes no whole number of cycles on the chip."""
    output_path = BUILD / "chip" / f"{only or 'suite'}-{icache}"
    output_path.parent.mkdir(parents=True, exist_ok=True)
    chip, model = (_run_suite(board, only, icache, output_path) for board in CHIP_BOARDS)
    first = COLD if icache == "on" else 0
    model_rows = {(row.boot, row.name): row for row in model}
    for row in chip:
        twin = model_rows.get((row.boot, row.name))
        model_samples = twin.samples[0] if twin else {}
        counts = [
            (samples[first:], model_samples.get(name, ())[first:])
            for name, samples in row.samples[0].items()
        ]
        alike = sum(sum(map(eq, *both)) for both in counts)
        yield ValidationRow(
            part=part,
            group=f"baseline kernel, version 1, i-cache {icache}: {SUITE_UNITS}",
            name=f"{row.boot}: {row.name}",
            machine=MODEL,
            unit=SUITE_UNITS,
            expected=(*_medians(row), sum(len(samples) for samples, _ in counts)),
            measured=(*_medians(twin), alike) if twin else (),
            source="the whole chip's RTL, OpenTitan at a558aaa3f",
            note="" if twin else "the model did not measure this row",
        )


def _run_suite(board: str, only: str | None, icache: str, output_path: Path) -> tuple[Row, ...]:
    output = output_path.with_name(f"{output_path.name}-{Path(board).stem}.json")
    command = [sys.executable, "-m", "tockmark", "run", "--board", board, "--abi", "1"]
    command += ["--icache", icache, "--jobs", "1", "-o", str(output)]
    command += [] if only is None else ["--only", only]
    done = processes.run(command, bounds=Bounds(LONGEST_RUN))
    if done.code not in (OK, INCOMPLETE):
        raise TockmarkError(f"{board} did not run: {done.error_text.strip().splitlines()[-1]}")
    return file.load(output).rows


def _medians(row: Row) -> list[float]:
    return [steady_median(row.samples[0].get(name, (0,))) for name in SERIES]


def _chip() -> Iterable[Job]:
    yield from (_memory_on_chip(f"programs{n}") for n in (1, 2))
    yield _edges_on_chip()
    yield from map(_study_on_chip, data_of("study")["offsets"])
    yield from (_boots_on_chip("chip", FEW_BOOTS, icache) for icache in ("off", "on"))


def _suite_on_chip() -> Iterable[Job]:
    """Run the whole catalogue of version 1, with the cache off."""
    return [_boots_on_chip("chip-suite", None, "off")]


PARTS = {
    part.name: part
    for part in (
        ValidationPart("conformance", TESTED, riscv_tests),
        ValidationPart("benchmarks", ("flat",), lambda: [_lms(), _dhrystone()]),
        ValidationPart("memory", ("cw310",), lambda: [_memory(f"programs{n}") for n in (1, 2)]),
        ValidationPart("study", ("nexysvideo",), lambda: [_study()]),
        ValidationPart("icache", ("cw310",), lambda: [_icache(icache) for icache in ("off", "on")]),
        ValidationPart("secure", ALONE_AND_IN_LOCKSTEP, lambda: [_secure()]),
        ValidationPart("limit", ("cw310",), lambda: map(_limit, data_of("limit")["program"])),
        ValidationPart("cores", BARE_CORES, lambda: riscv_tests(machines=BARE_CORES), False),
        ValidationPart("chip", (CHIP, MODEL), _chip, False, CHIP_KERNEL),
        ValidationPart("chip-suite", (CHIP, MODEL), _suite_on_chip, False, CHIP_KERNEL),
    )
}
