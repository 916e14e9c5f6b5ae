# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The baseline kernel on the simulated chip: tests that are impossible on a fake machine.

Apps here are a few lines of assembly, and print with low-level debug.
"""

import struct
import subprocess
from collections.abc import Sequence
from functools import reduce
from operator import xor
from pathlib import Path

import pytest
from elftools.elf.elffile import ELFFile
from elftools.elf.sections import SymbolTableSection
from products import make

from tockmark.base import paths
from tockmark.target.kernel import read_kernel

SIMULATOR = paths.ROOT / "build" / "sim" / "cw310" / "earlgrey-sim"
KERNEL = paths.ROOT / "build/cargo/riscv32imc-unknown-none-elf/release/tockmark-kernel"
CC = ["riscv64-unknown-elf-gcc", "-march=rv32imc_zicsr", "-mabi=ilp32", "-mno-relax"]
LINK = ["-nostdlib", "-nostartfiles", "-Wl,--omagic,--build-id=none,--no-warn-rwx-segments"]
FLASH = 0x20000000
APPS = 0x20030000
LATE = 0x200F0000  # flash that no app uses
RAM = 0x10004000
EACH = 0x1000  # bytes of flash, and of RAM, per app
ASLEEP, PANIC = 3, 7  # exit codes of the simulator: all apps have ended; the kernel panicked

# System calls: they change only a0 to a4 of the app's registers.
MACROS = """
    .option norelax
    .macro command driver, number, first=zero, second=zero
    mv   a2, \\first
    mv   a3, \\second
    li   a0, \\driver
    li   a1, \\number
    li   a4, 2
    ecall
    .endm
    .macro show first, second=zero    # «tockmark-kernel: app … prints 0x… 0x…»
    command 8, 3, \\first, \\second
    .endm
    .macro exit
    li   a0, 0
    li   a1, 0
    li   a4, 6
    ecall
    .endm
    .globl _start
_start:
"""


def entry(kind: int, *words: int) -> bytes:
    return struct.pack(f"<HH{len(words)}I", kind, 4 * len(words), *words)


def assemble(folder: Path, name: str, source: str, start: int) -> Path:
    """Assemble a program for this address, and return the file of its bytes."""
    program, elf, raw = (folder / f"{name}{suffix}" for suffix in (".S", ".elf", ".bin"))
    program.write_text(source)
    address = f"-Wl,-Ttext={start:#x}"
    subprocess.run([*CC, *LINK, address, str(program), "-o", str(elf)], check=True)
    copy = ["riscv64-unknown-elf-objcopy", "-O", "binary", str(elf), str(raw)]
    subprocess.run(copy, check=True)
    return raw


def app(folder: Path, source: str, index: int = 0) -> bytes:
    """Return the bytes of an app in flash, at the address for its index."""
    start, size = APPS + index * EACH, 0x80
    raw = assemble(folder, f"app{index}", MACROS + source, start + size)
    entries = entry(1, 0, 0, EACH) + entry(5, RAM + index * EACH, start + size) + entry(8, 2)
    header = struct.pack("<HHIII", 2, size, EACH, 1, 0) + entries
    header += struct.pack("<HH8s", 3, 7, f"{index}-small".encode())  # its name
    header += struct.pack("<HH", 99, size - len(header) - 4)  # unknown entry: fills the header
    header = header.ljust(size, b"\0")
    checksum = reduce(xor, struct.unpack(f"<{size // 4}I", header))
    header = header[:12] + struct.pack("<I", checksum) + header[16:]
    return (header + raw.read_bytes()).ljust(EACH, b"\0")


def boot(
    folder: Path,
    *sources: str,
    damage: str = "",
    options: Sequence[str] = (),
    kernel: Path = KERNEL,
) -> subprocess.CompletedProcess[str]:
    """Run apps on the kernel. `damage` is the name of a kernel function that is zeroed in flash."""
    flash = bytearray(b"\xff" * (APPS - FLASH))
    with kernel.open("rb") as file:
        elf = ELFFile(file)
        for segment in elf.iter_segments("PT_LOAD"):
            at = segment["p_paddr"] - FLASH
            if segment["p_filesz"]:
                flash[at : at + segment["p_filesz"]] = segment.data()
        if damage:
            symbols = elf.get_section_by_name(".symtab")
            assert isinstance(symbols, SymbolTableSection)
            [symbol] = symbols.get_symbol_by_name(damage) or []
            at = symbol["st_value"] - FLASH
            flash[at : at + 4] = bytes(4)
    for index, source in enumerate(sources):
        flash += app(folder, source, index)
    image = folder / "flash.bin"
    image.write_bytes(flash)
    command = [str(SIMULATOR), "--flash", str(image), "--max-cycles", "20000000", *options]
    command += [word for at in read_kernel(kernel).panics for word in ("--panic", hex(at))]
    return subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)


def shown(done: subprocess.CompletedProcess[str]) -> list[tuple[int, ...]]:
    """Return the pairs that apps have shown; the run must have ended with all apps asleep."""
    assert done.returncode == ASLEEP, done.stdout + done.stderr
    lines = [line.split(" prints ") for line in done.stdout.splitlines()]
    return [tuple(int(word, 16) for word in line[1].split()) for line in lines if len(line) == 2]


def test_a_panic_of_the_kernel_prints_cause_and_position_and_ends_the_run(tmp_path: Path) -> None:
    done = boot(tmp_path, "show zero\nexit", damage="on_system_call")
    assert done.returncode == PANIC, done.stdout + done.stderr
    last = done.stdout.splitlines()[-1]
    assert "panic: trap in the kernel, mcause=0x2" in last
    assert " at kernel/src/arch/riscv/trap.rs:" in last
    assert "reason=panic" in done.stderr


def test_a_boot_rom_that_opens_memory_for_good_is_refused(tmp_path: Path) -> None:
    """A ROM that locks a PMP entry before all others would leave no isolation."""
    source = "li t0, -1\ncsrw pmpaddr0, t0\nli t0, 0x9f\ncsrw pmpcfg0, t0\nli t0, 0x20000400\njr t0"
    rom = assemble(tmp_path, "rom", ".globl _start\n_start:\n" + source, LATE + 0x80)
    options = ["--load", f"{rom}@{LATE + 0x80:#x}", "--boot", hex(LATE)]
    done = boot(tmp_path, "exit", options=options)
    assert done.returncode == PANIC, done.stdout + done.stderr
    assert "PMP entries" in done.stdout


def test_an_address_that_a_boot_rom_left_in_the_pmp_opens_nothing(tmp_path: Path) -> None:
    """An entry that no window needs stays closed for any value of its address register."""
    source = "li t0, -1\ncsrw pmpaddr11, t0\nli t0, 0x20000400\njr t0"
    rom = assemble(tmp_path, "rom", ".globl _start\n_start:\n" + source, LATE + 0x80)
    options = ["--load", f"{rom}@{LATE + 0x80:#x}", "--boot", hex(LATE)]
    done = boot(tmp_path, "li t0, 0x10000000\nlw t0, 0(t0)\nshow t0\nexit", options=options)
    assert "app 0-small fault mcause=0x00000005 mtval=0x10000000 " in done.stdout
    assert " prints " not in done.stdout


# The events that an app can cause: the code by Ibex's counter, and how many events it causes.
EVENTS = {
    5: ("lw t0, 0(s0)\n" * 7 + "lw t0, 2(s0)\n", 8),
    6: ("sw t0, 0(s0)\n" * 9 + "sw t0, 2(s0)\n", 10),
    7: (".rept 5\nj 1f\n1:\n.endr\n", 5),
    8: ("bnez zero, _start\n" * 4 + "beqz zero, 1f\n1:\n", 5),
    9: ("bnez zero, _start\n" * 4 + "beqz zero, 1f\n1:\n", 1),
    10: ("c.nop\n" * 10 + ".option push\n.option norvc\nnop\n.option pop\n", 10),
}
PERF = "0x90010"


@pytest.mark.parametrize("counter", EVENTS)
def test_event_counters_count(counter: int, tmp_path: Path) -> None:
    """Compare the counts between two commands 7, with and without the events."""
    body, times = EVENTS[counter]
    measure = f"""
    .balign 8
    command {PERF}, 7, s1
    {{body}}
    .balign 8
    command {PERF}, 7
    command {PERF}, 6, s2
    """
    source = f"""
    la   a1, {RAM + 64}
    li   a0, 0
    li   a4, 5
    ecall
    li   s0, {RAM}
    li   s1, {1 << counter}
    li   s2, {counter}
    {measure.format(body="")}
    mv   s3, a1
    {measure.format(body=body)}
    show s3, a1
    exit
"""
    [(without, with_)] = shown(boot(tmp_path, source))
    assert with_ - without == times


def test_event_counters_start_and_stop_but_never_the_clock(tmp_path: Path) -> None:
    source = f"""
    li   s1, 0x1fff
    command {PERF}, 7, s1             # bits 0 to 2 are not event counters
    show a0, a1
    command {PERF}, 7                 # all stop
    li   s2, 12
1:  command {PERF}, 6, s2
    mv   s3, a1
    command {PERF}, 6, s2
    sub  s3, s3, a1
    show s3, a0
    addi s2, s2, -1
    li   t0, 2
    bne  s2, t0, 1b
    command {PERF}, 6, s2             # 2 is minstret
    show a0, a1
    command {PERF}, 3
    mv   s3, a1
    mv   s4, a2
    command {PERF}, 3
    sltu s3, s3, a1
    sltu s4, s4, a2
    show s3, s4
    exit
"""
    refused = (0, 10)
    assert shown(boot(tmp_path, source)) == [refused, *[(0, 131)] * 10, refused, (1, 1)]


PAGE = (paths.ROOT / "kernel" / "README.md").read_text(encoding="utf-8")
CALLS = {  # rows of the page's table, and their commands
    "Perf command 3": f"{PERF}, 3",
    "Perf command 0": f"{PERF}, 0",
    "console command 0: a **null command**": "1, 0",
    "a driver that does not exist": "77, 0",
    "alarm command 2: the time": "0, 2",
}


@pytest.mark.parametrize("call", CALLS)
def test_a_call_takes_the_number_of_instructions_in_the_page(call: str, tmp_path: Path) -> None:
    """Count the instructions between two reads of minstret, without the loads of the words. With
    the cache off the counter is exact (ibex#2252)."""
    instructions = int(PAGE.split(f"\n| {call} | ")[1].split()[0])
    assert instructions <= 150  # the goal for a call that does almost nothing
    source = f"""
    command {PERF}, 3
    mv   s1, a2
    command {PERF}, 3
    sub  s1, a2, s1
    command {PERF}, 3
    mv   s2, a2
    command {CALLS[call]}
    command {PERF}, 3
    sub  s2, a2, s2
    show s1, s2
    exit
"""
    [(without, with_)] = shown(boot(tmp_path, source, options=["--icache", "off"]))
    loads = 5 + (PERF in CALLS[call])  # a large number takes two instructions
    assert with_ - without - loads == instructions  # an ecall does not retire


def test_a_kernel_with_another_opt_level_names_it_and_runs(tmp_path: Path) -> None:
    make("kernel", "OPT=z")
    small = paths.ROOT / "build/cargo-z/riscv32imc-unknown-none-elf/release/tockmark-kernel"
    assert [read_kernel(path).opt_level for path in (KERNEL, small)] == ["3", "z"]
    assert shown(boot(tmp_path, "li s0, 7\nshow s0\nexit", kernel=small)) == [(7, 0)]
