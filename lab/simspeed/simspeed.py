# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Compare the speed of our simulators and of Ibex's simple_system (`make simspeed`).

    simspeed.py FLASH NAME=SIMULATOR…

Ours run kernel code, with the cache on and off: FLASH has our kernel and the app `syscall`.
simple_system comes from the installed Ibex package and runs work.S from its one-cycle memory. The
same Verilator builds it with two sets of options (as its README does, and as we build RTL), each
with two cores (the README's `small`, and the one that Earl Grey has). Runs take turns; speeds are
medians, by the CPU time of the process.
"""

import os
import re
import resource
import shutil
import statistics
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
OUT = ROOT / "build" / "simspeed"
SITE = Path(sys.prefix) / f"lib/python{sys.version_info[0]}.{sys.version_info[1]}/site-packages"
VERILATOR = SITE / "verilator"
IBEX = SITE / "pythondata_cpu_ibex" / "system_verilog"
PRIM = IBEX / "vendor/lowrisc_ip/ip/prim"
DV = IBEX / "vendor/lowrisc_ip/dv"
ROUNDS = 5
OUR_CYCLES = 3_000_000  # for slow ones; a run of fast ones takes about as long as of others
FAST_CYCLES = 20_000_000

# What fusesoc would give for `small` of util/ibex_config.py, and for `opentitan` without lockstep
# and with a cache that needs no key, as simple_system has none. Enumerations are defines.
SMALL = "RV32M=ibex_pkg::RV32MFast RV32B=ibex_pkg::RV32BNone RegFile=ibex_pkg::RegFileFF"
LARGE = (
    "RV32M=ibex_pkg::RV32MSingleCycle RV32B=ibex_pkg::RV32BOTEarlGrey RegFile=ibex_pkg::RegFileFF"
    " BranchTargetALU=1 WritebackStage=1 ICache=1 ICacheECC=1 DbgTriggerEn=1 PMPEnable=1"
    " PMPNumRegions=16 MHPMCounterNum=10 MHPMCounterWidth=32"
)

# Its own: from ibex_simple_system.core, with VCD for FST as its README allows; -Os is what
# Verilator's makefile compiles with. The instruction trace is written by default.
README_VERILATOR = "--trace --trace-structs --trace-params --trace-max-array 1024 --unroll-count 72"
README_CXX = "-std=c++17 -Os -DVM_TRACE=1"


@dataclass(frozen=True)
class Contender:
    """One simulator, and how it is run."""

    name: str
    command: list[str]
    folder: Path


@dataclass(frozen=True)
class Flags:
    """The options that build and run a simple_system."""

    name: str
    verilator: list[str]
    cxx: list[str]
    arguments: list[str]
    cycles: int


def call(*command: str | Path) -> str:
    """The output of a command that must succeed."""
    done = subprocess.run(
        list(map(str, command)),
        env={**os.environ, "VERILATOR_ROOT": str(VERILATOR)},
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode != 0:
        sys.exit(f"simspeed: {Path(command[0]).name} failed\n{(done.stdout + done.stderr)[-3000:]}")
    return done.stdout


def our_flags() -> Flags:
    """The options with which our own RTL is built, from its Makefile."""
    made = call(
        "make",
        "-s",
        "-C",
        ROOT / "boards" / "earlgrey-sim",
        "ENGINE=rtl",
        f"VENV={sys.prefix}",
        "print-flags",
    )
    verilator, cxx = made.splitlines()
    quiet = ["+ibex_tracer_enable=0"]
    return Flags("our flags", verilator.split(), cxx.split(), quiet, 2_000_000)


def program() -> Path:
    """work.S as the hex file that simple_system loads."""
    elf, raw, vmem = (OUT / f"work.{suffix}" for suffix in ("elf", "bin", "vmem"))
    gcc = ["riscv64-unknown-elf-gcc", "-march=rv32im_zicsr", "-mabi=ilp32", "-nostdlib"]
    call(*gcc, "-Wl,-Ttext=0x100000,--omagic,--build-id=none", HERE / "work.S", "-o", elf)
    call("riscv64-unknown-elf-objcopy", "-O", "binary", elf, raw)
    data = raw.read_bytes()
    words = [data[i : i + 4][::-1].hex() for i in range(0, len(data), 4)]
    vmem.write_text("@00000000\n" + "".join(f"{word}\n" for word in words))
    return vmem


def simple_system(core: str, options: str, flags: Flags, vmem: Path) -> Contender:
    """Build one simple_system from the package's sources."""
    name = f"simple_system {core}, {flags.name}"
    folder = OUT / name.replace(" ", "-").replace(",", "")
    print(f"  BUILD {name}", flush=True)
    made = folder / "verilated"
    shutil.rmtree(made, ignore_errors=True)  # Verilator leaves old files
    made.mkdir(parents=True, exist_ok=True)
    # This Verilator refuses a variable that has both a first value and an assignment.
    source = (IBEX / "examples/simple_system/rtl/ibex_simple_system.sv").read_text()
    top = folder / "ibex_simple_system.sv"
    top.write_text(source.replace("logic clk_sys = 1'b0,", "logic clk_sys,"))
    prims = ["ram_1p", "ram_2p", "secded", "mubi", "util", "count", "cipher"]
    packages = [PRIM / f"rtl/prim_{prim}_pkg.sv" for prim in prims]
    packages += [IBEX / "rtl/ibex_pkg.sv", IBEX / "rtl/ibex_tracer_pkg.sv", HERE / "prims.sv"]
    places = [IBEX / "rtl", PRIM / "rtl", PRIM.with_name("prim_generic") / "rtl"]
    places += [IBEX / "shared/rtl", IBEX / "shared/rtl/sim", IBEX / "examples/simple_system/rtl"]
    includes = [PRIM / "rtl", IBEX / "rtl", DV / "sv/dv_utils", IBEX / "dv/fcov"]
    parameters = [f"{'-D' if '::' in option else '-G'}{option}" for option in options.split()]
    options_of_all = "--cc --prefix Vibex_simple_system --top-module ibex_simple_system -DRVFI"
    call(
        VERILATOR / "bin/verilator_bin",
        *f"{options_of_all} -Wno-lint -Wno-style -Wno-fatal -Mdir".split(),
        made,
        *flags.verilator,
        *parameters,
        *(word for place in places for word in ("-y", place)),
        *(f"+incdir+{place}" for place in includes),
        *packages,
        IBEX / "examples/simple_system/lint/verilator_waiver.vlt",
        top,
    )
    whole = made / "all.cc"
    whole.write_text("".join(f'#include "{p.name}"\n' for p in sorted(made.glob("V*.cpp"))))
    library = ["verilated", "verilated_threads", "verilated_dpi", "verilated_vcd_c"]
    sources = [whole, *(VERILATOR / f"include/{unit}.cpp" for unit in library)]
    sources += sorted((IBEX / "examples/simple_system").glob("*.cc"))
    cpp = [IBEX / "dv/verilator/pcount/cpp", DV / "verilator/cpp"]
    cpp += [DV / "verilator/simutil_verilator/cpp", IBEX / "examples/simple_system"]
    sources += [source for place in cpp[:3] for source in sorted(place.glob("*.cc"))]
    sources = [source for source in sources if "ecc32" not in source.name]  # of other chips
    binary = folder / "Vibex_simple_system"
    cpp = [HERE, made, *cpp, VERILATOR / "include", VERILATOR / "include/vltstd"]
    defines = ["-w", "-DTOPLEVEL_NAME=ibex_simple_system", "-pthread"]
    call("g++", *flags.cxx, *defines, *(f"-I{p}" for p in cpp), *sources, "-o", binary)
    run = [str(binary), f"--meminit=ram,{vmem}", f"--term-after-cycles={flags.cycles}"]
    return Contender(name, [*run, *flags.arguments], folder)


def ours(name: str, simulator: Path, flash: Path, icache: str) -> Contender:
    """One of our simulators, and the image that it runs."""
    cycles = FAST_CYCLES if simulator.parent.name == "cw310" else OUR_CYCLES
    options = ["--flash", str(flash.resolve()), "--max-cycles", str(cycles), "--icache", icache]
    return Contender(f"{name}, i-cache {icache}", [str(simulator.resolve()), *options], OUT)


def cycles_of(output: str) -> int:
    """Simulated cycles, from what a simulator prints at its end."""
    cycles = re.search(r"end reason=\S+ cycles=(\d+) |Executed cycles: +(\d+)", output)
    if cycles is None:
        raise ValueError(f"no cycles in what the simulator printed:\n{output[-500:]}")
    return int(cycles[1] or cycles[2])


def table(speeds: dict[str, list[float]]) -> str:
    """Medians, and how many times as fast as each simulator the first one with its cache setting
    is."""
    medians = {name: statistics.median(values) for name, values in speeds.items()}
    firsts = list(medians)[:2]
    lines = [f"{'':44} M cycles/s, least to most, the first is … times as fast"]
    for name, values in speeds.items():
        first = firsts[1] if name.endswith(" off") else firsts[0]
        spread = f"{min(values) / 1e6:.3f} to {max(values) / 1e6:.3f}"
        ratio = medians[first] / medians[name]
        lines.append(f"{name:44} {medians[name] / 1e6:7.3f}   {spread:18} {ratio:6.2f}")
    return "\n".join(lines)


def measure(contender: Contender) -> float:
    """Return cycles per CPU second of a run. A run that is cut short has no useful exit code."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    done = subprocess.run(
        contender.command, cwd=contender.folder, capture_output=True, text=True, check=False
    )
    seconds = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before
    return cycles_of(done.stdout + done.stderr) / seconds


def main() -> None:
    if len(sys.argv) < 3 or not all("=" in word for word in sys.argv[2:]):
        sys.exit("simspeed: give the flash image, and NAME=SIMULATOR for each simulator to run it")
    flash = Path(sys.argv[1])
    simulators = [word.partition("=")[::2] for word in sys.argv[2:]]
    own = [
        ours(name, Path(path), flash, icache)
        for name, path in simulators
        for icache in ("on", "off")
    ]
    OUT.mkdir(parents=True, exist_ok=True)
    readme = Flags("README", README_VERILATOR.split(), README_CXX.split(), [], 300_000)
    vmem = program()
    cores = (("small", SMALL), ("as Earl Grey", LARGE))
    kinds = [(core, flags) for core in cores for flags in (readme, our_flags())]
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        builds = [pool.submit(simple_system, *core, flags, vmem) for core, flags in kinds]
        contenders = [*own, *(build.result() for build in builds)]
    speeds: dict[str, list[float]] = {contender.name: [] for contender in contenders}
    for number in range(1, ROUNDS + 1):
        print(f"  RUN   round {number} of {ROUNDS}", flush=True)
        for contender in contenders:
            speeds[contender.name].append(measure(contender))
    print(
        f"\n{ROUNDS} runs of each, in turns; medians by CPU time. Ours: app syscall on the baseline"
    )
    print("kernel. simple_system: work.S, from one-cycle memory.\n")
    print(table(speeds))


if __name__ == "__main__":
    main()
