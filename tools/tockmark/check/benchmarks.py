# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Part benchmarks: CoreMark and Dhrystone on one-cycle memory, against what Ibex publishes."""

from pathlib import Path

from tockmark import paths
from tockmark.check import bare
from tockmark.check.validation import Job, ValidationRow

NAME = "benchmarks"
FOLDER = paths.VALIDATION / "benchmarks"
MACHINES = ("flat",)

COREMARK_PER_MHZ = 3.13
COREMARK_SOURCE = "README.md of Ibex, Performance (CoreMark/MHz), maxperf-pmp-bmfull"
COREMARK_BOUND = 0.05
ITERATIONS = 10

# The flags of Ibex's own port (examples/sw/benchmarks/coremark/ibex/core_portme.mak), and the ISA
# that its benchmarks README names best for this configuration, rv32imcb, as far as GCC 12 has it.
ISA = "-march=rv32imc_zicsr_zba_zbb_zbc_zbs"
COREMARK_FLAGS = (
    *("-static", "-mcmodel=medlow", "-mtune=sifive-3-series", "-O3", "-falign-functions=16"),
    *("-funroll-all-loops", "-finline-functions", "-falign-jumps=4", "-ffreestanding"),
    *("-mstrict-align", "-DTOTAL_DATA_SIZE=2000", "-DPERFORMANCE_RUN=1"),
)

# Dhrystone's rules forbid inlining. The C library that it calls is built for plain rv32imc.
DHRYSTONE_FLAGS = (
    *("-march=rv32imc", "-misa-spec=2.2", "--specs=picolibc.specs", "-O2", "-fno-inline"),
    *("-fno-builtin-printf", "-fno-common", "-w"),
)
VAX_DHRYSTONES = 1757  # a second, which is one DMIPS


def jobs() -> list[Job]:
    return [_coremark, _dhrystone]


def _coremark() -> list[ValidationRow]:
    vendor = bare.ibex() / "vendor" / "eembc_coremark"
    names = ("list_join", "main", "matrix", "state", "util")
    elf = bare.compile_program(
        Path(NAME) / "coremark.elf",
        [FOLDER / "start.S", FOLDER / "core_portme.c", *(vendor / f"core_{n}.c" for n in names)],
        *(ISA, *COREMARK_FLAGS, f"-DITERATIONS={ITERATIONS}"),
        *(f"-I{FOLDER}", f"-I{vendor}", *bare.LINK, "-T", str(FOLDER / "bare.ld"), "-lgcc"),
    )
    done = bare.run("flat", elf, bare.SRAM)
    good = done.code == 0 and len(done.numbers) == 2
    score = (round(1e6 * done.numbers[0] / done.numbers[1], 3),) if good else ()
    return [
        ValidationRow(
            part=NAME,
            group="CoreMark/MHz on one-cycle memory; Ibex publishes 3.13",
            name="CoreMark/MHz",
            machine="flat",
            unit="1/MHz",
            expected=(COREMARK_PER_MHZ,),
            measured=score,
            bound=COREMARK_BOUND * COREMARK_PER_MHZ,
            source=COREMARK_SOURCE,
            note="" if good else done.last,
        )
    ]


def _dhrystone() -> list[ValidationRow]:
    vendor = bare.ibex() / "vendor"
    suite = vendor / "riscv-tests" / "benchmarks"
    include = (suite / "common", vendor / "riscv-test-env", suite / "dhrystone")
    objects = [
        bare.compile_program(
            Path(NAME) / f"{source.stem}.o",
            [source],
            *(*DHRYSTONE_FLAGS, *rename, "-c", *(f"-I{path}" for path in include)),
        )
        for source, rename in (
            (suite / "dhrystone" / "dhrystone.c", ()),
            (suite / "dhrystone" / "dhrystone_main.c", ("-Dmain=dhrystone",)),
            (FOLDER / "dhrystone_port.c", ()),
        )
    ]
    elf = bare.compile_program(
        Path(NAME) / "dhrystone.elf",
        [FOLDER / "start.S", *objects],
        *(*DHRYSTONE_FLAGS, "-nostartfiles", *bare.LINK[2:], "-T", str(FOLDER / "bare.ld")),
    )
    done = bare.run("flat", elf, bare.SRAM)
    good = done.code == 0 and len(done.numbers) == 2
    score = 1e6 * done.numbers[0] / done.numbers[1] / VAX_DHRYSTONES if good else 0
    return [
        ValidationRow(
            part=NAME,
            group=f"Dhrystone: wrong results of its own ({score:.2f} DMIPS/MHz)",
            name="Dhrystone, its own results",
            machine="flat",
            unit="wrong",
            expected=(0,),
            measured=(0 if good else 1,),
            source="dhrystone_main.c: what each of its variables should be",
            note="" if good else done.last,
        )
    ]
