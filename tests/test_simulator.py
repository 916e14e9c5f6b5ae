# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The simulated Earl Grey: compare its cycles with OpenTitan's RTL, and check how each run ends.

The programs run in machine mode directly from flash, and write their figures to a mailbox. The
expected cycles come from the RTL (docs/boards-and-simulator.md) and include 2 for the empty pair.
"""

import re
import subprocess
from pathlib import Path

import pytest

from tockmark.base import paths
from tockmark.target.sim import OWN_LINE

SIMULATOR = paths.ROOT / "build" / "sim" / "cw310" / "earlgrey-sim"
CC = ["riscv64-unknown-elf-gcc", "-march=rv32imc_zicsr_zifencei", "-mabi=ilp32", "-mno-relax"]
LINK = ["-nostdlib", "-nostartfiles", "-Wl,-Ttext=0x20000000,--omagic,--build-id=none"]
MAILBOX = 0x41140000

START = f"""
    .option norelax
    .option norvc
    .globl _start
    .org 0x480
_start:
    la   t0, trap
    csrw mtvec, t0
    li   gp, {MAILBOX}
    j    main
    .balign 256
trap:
    j    1f
1:  csrr t0, mepc
    addi t0, t0, 4
    csrw mepc, t0
    mret
main:
"""
STOP = "    sw   zero, 4(gp)\n1:  j 1b\n"


def measured(setup: str, body: str, icache: str) -> str:
    """Return a program that measures `body` once, with the cache on or off and invalidated."""
    return f"""
{START}
    {"csrsi" if icache == "on" else "csrci"} 0x7c0, 1
    fence.i
    li   t0, 1500
1:  addi t0, t0, -1
    bnez t0, 1b
    {setup}
    .balign 8
    csrr s6, minstret
    csrr s4, mcycle
    {body}
    csrr s5, mcycle
    csrr s7, minstret
    sub  s5, s5, s4
    sub  s7, s7, s6
    sw   s5, 0(gp)
    sw   s7, 0(gp)
{STOP}
"""


def run(*options: str) -> subprocess.CompletedProcess[str]:
    command = [str(SIMULATOR), "--max-cycles", "1000000", *options]
    return subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)


def simulate(folder: Path, source: str, *options: str) -> subprocess.CompletedProcess[str]:
    program = folder / "program.S"
    program.write_text(source)
    elf = str(folder / "program.elf")
    subprocess.run([*CC, *LINK, str(program), "-o", elf], check=True)
    return run("--elf", elf, "--boot", "0x20000400", "--mailbox", hex(MAILBOX), *options)


def repeat(count: int, instruction: str) -> str:
    return f".rept {count}\n{instruction}\n.endr\n"


RAM = "li a0, 0x10001000\nsw a0, 0(a0)"
UART, PLIC = "li a0, 0x40000000", "li a0, 0x48000000"
# Loads and stores with the rights of user mode, which the first entry of the PMP denies there.
DENIED = """
    li   a0, 0x10001000
    srli t0, a0, 2
    csrw pmpaddr0, t0
    csrsi pmpcfg0, 0x10
    li   t0, 0x1800
    csrc mstatus, t0
    li   a2, 0x20000
"""


def denied(access: str) -> str:
    return f"csrs mstatus, a2\n{repeat(5, access)}csrc mstatus, a2"


# name: set-up, measured body, cycles with the cache off and on, instructions of the body
PROGRAMS = {
    "empty pair": ("", "", 2, 2, 0),
    "RAM loads": (RAM, repeat(100, "lw a1, 0(a0)"), 302, 302, 100),
    "RAM loads, each address from the load before": (
        RAM,
        repeat(100, "lw a0, 0(a0)"),
        401,
        401,
        100,
    ),
    "RAM stores": (RAM, repeat(100, "sw a1, 0(a0)"), 302, 303, 100),
    "RAM byte stores": (RAM, repeat(100, "sb a1, 0(a0)"), 502, 503, 100),
    "denied loads": (DENIED, denied("lw a1, 0(a0)"), 206, 95, 27),
    "denied misaligned loads": (DENIED, denied("lw a1, 1(a0)"), 212, 96, 27),
    "loads denied in the second word": (DENIED, denied("lw a1, -2(a0)"), 212, 96, 27),
    "denied stores": (DENIED, denied("sw a1, 0(a0)"), 206, 95, 27),
    "stores to flash": ("li a0, 0x20040000", repeat(5, "sw a1, 0(a0)"), 228, 115, 26),
    "misaligned UART loads": (UART, repeat(5, "lw a1, 2(a0)"), 183, 186, 5),
    "misaligned PLIC loads": (PLIC, repeat(5, "lw a1, 2(a0)"), 37, 40, 5),
    "PLIC loads": (PLIC, repeat(20, "lw a1, 4(a0)"), 102, 103, 20),
    "CSR reads": ("", repeat(100, "csrr a0, mscratch"), 202, 204, 100),
    "divisions": ("li a0, 5", repeat(20, "div a1, a0, a0"), 742, 743, 20),
    "traps and returns": ("", repeat(20, "ecall"), 782, 271, 100),
    "memcpy of 32 bytes": (
        "li a0, 0x10001000\nli a1, 0x10002000",
        "".join(f"lw a{2 + i % 6}, {4 * i}(a0)\n" for i in range(6))
        + "lw t1, 24(a0)\nlw t2, 28(a0)\n"
        + "".join(f"sw a{2 + i % 6}, {4 * i}(a1)\n" for i in range(6))
        + "sw t1, 24(a1)\nsw t2, 28(a1)",
        50,
        51,
        16,
    ),
    "loop of two compressed instructions": (
        "li s0, 1000",
        ".option rvc\n1: c.addi s0, -1\nc.bnez s0, 1b\n.option norvc",
        11992,
        3345,
        2000,
    ),
}


@pytest.mark.parametrize("icache", ["off", "on"])
@pytest.mark.parametrize("name", PROGRAMS)
def test_cycles_equal_those_of_the_rtl(name: str, icache: str, tmp_path: Path) -> None:
    setup, body, off, on, instructions = PROGRAMS[name]
    done = simulate(tmp_path, measured(setup, body, icache))
    assert done.returncode == 0, done.stderr
    cycles, instret = map(int, done.stdout.split())
    if icache == "off":
        assert cycles == off
    else:
        # A few cycles depend on how cold code fills cache lines, also in the RTL.
        assert abs(cycles - on) <= 12
    # The pair's own reads count for 2 or 3, also in the RTL.
    assert instret - instructions in (1, 2, 3, 4)


ENDS = {
    "mailbox closed with another word": ("li a0, 7\nsw a0, 4(gp)\n1: j 1b", 6, "mailbox"),
    "asleep with nothing to wake it": ("wfi\n1: j 1b", 3, "asleep"),
    "asleep under an interrupt that is masked": (
        "li a0, 0x40100000\nli t0, 1\nsw t0, 0x100(a0)\nsw t0, 0x108(a0)\n2: wfi\nj 2b",
        3,
        "asleep",
    ),
    "asleep while a timer runs that may not interrupt": (
        "li a0, 0x40100000\nli t0, 1\nsw t0, 0x004(a0)\n2: wfi\nj 2b",
        3,
        "asleep",
    ),
    "a loop for ever": ("1: j 1b", 4, "cycle-limit"),
    "faults in the fault handler": ("csrw mtvec, zero\nlw a0, 0(zero)", 5, "lockup"),
}


@pytest.mark.parametrize("name", ENDS)
def test_every_end_has_its_exit_code(name: str, tmp_path: Path) -> None:
    body, code, reason = ENDS[name]
    done = simulate(tmp_path, START + body)
    assert done.returncode == code
    last = done.stderr.splitlines()[-1]
    assert last.startswith(f"earlgrey-sim: end reason={reason} cycles=")


# The watchdog of aon_timer, whose bark is interrupt 156 of the PLIC: it counts one in 96 cycles.
WATCHDOG = """
    li   a0, 0x40470000
    li   a1, 0x48000000
    li   a2, 0x48200000
    li   t0, 1
    sw   t0, 0x270(a1)
    li   t1, 0x48002010
    slli t0, t0, 28
    sw   t0, 0(t1)
    li   t0, 1 << 11
    csrs mie, t0
    li   t0, 50
    sw   t0, 0x18(a0)  # bark
    li   t0, 200
    sw   t0, 0x1c(a0)  # bite
    li   t0, 3
    sw   t0, 0x14(a0)  # starts, with PAUSE_IN_SLEEP
"""
BARK = """
    wfi
    lw   a3, 4(a2)
    sw   a3, 0(gp)     # the claim
    lw   t0, 0x24(a0)
    sw   t0, 0(gp)
    sw   t0, 0x24(a0)  # clears the interrupt
    sw   a3, 4(a2)
"""
PET = "sw zero, 0x20(a0)\n"
WHILE_PETTED = """
    li   t1, 10
2:  sw   zero, 0x20(a0)
    li   t0, 300       # 37 counts
1:  addi t0, t0, -1
    bnez t0, 1b
    addi t1, t1, -1
    bnez t1, 2b
    lw   t0, 0x24(a0)
    sw   t0, 0(gp)
"""
DISABLE, LOCK, SPIN = "sw zero, 0x14(a0)\n", "sw zero, 0x10(a0)\n", "1: j 1b\n"
# name: program, words, exit code, and the cycles in counts
DOGS = {
    "barks in wfi": (BARK + STOP, [156, 2], 0, (50, 70)),
    "barks again after a pet": (BARK + PET + BARK + STOP, [156, 2] * 2, 0, (100, 130)),
    "barks once, then bites": (BARK + "wfi\n" + SPIN, [156, 2], 9, (200, 220)),
    "is quiet while it is petted": (WHILE_PETTED + STOP, [0], 0, (300, 500)),
    "is stopped": (DISABLE + "wfi\n" + SPIN, [], 3, (0, 50)),
    "cannot be stopped once locked": (LOCK + DISABLE + SPIN, [], 9, (200, 220)),
}


@pytest.mark.parametrize("name", DOGS)
def test_the_watchdog(name: str, tmp_path: Path) -> None:
    body, words, code, (least, most) = DOGS[name]
    done = simulate(tmp_path, START + WATCHDOG + body)
    assert (done.returncode, [int(word) for word in done.stdout.split()]) == (code, words)
    end = re.search(r"end reason=(\S+) cycles=(\d+)", done.stderr)
    assert end is not None
    assert least <= int(end[2]) / 96 <= most
    assert (end[1] == "watchdog") == (code == 9)


CALL_INTO_SRAM = """
    li   t0, 0x10001000
    li   t1, 0x00008067  # ret
    sw   t1, 0(t0)
    fence.i
    jalr t0
    li   a0, 0
    li   a1, 0
"""
# EXEC of sram_ctrl_main, and then EXEC_REGWEN, are written.
EXEC = "li t0, 0x411c0000\nli t1, {}\nsw t1, 0xc(t0)\nsw zero, 8(t0)\n"
LOCKED = EXEC.format(9) + "li t1, 6\nsw t1, 0xc(t0)\n"
# name: program, --sram-exec, cause and address of the trap (0 without one)
ACCESSES = {
    "a load from nowhere": ("li t0, 0x30000004\nlw t1, 0(t0)", "on", (5, 0x30000004)),
    "a load from an offset without a register": (
        "li t0, 0x40000000\nlw t1, 0x3c(t0)",
        "on",
        (5, 0x4000003C),
    ),
    "a store to one in a gap": ("li t0, 0x48003000\nsw t1, 0(t0)", "on", (7, 0x48003000)),
    "a load from a register behind it": (
        "li t0, 0x4c000000\nlw t1, 0(t0)\nli a0, 0\nli a1, 0",
        "on",
        (0, 0),
    ),
    "code in main SRAM": (CALL_INTO_SRAM, "on", (0, 0)),
    "code in main SRAM that refuses it": (CALL_INTO_SRAM, "off", (1, 0x10001000)),
    "EXEC is off after reset": (CALL_INTO_SRAM, "register", (1, 0x10001000)),
    "EXEC is on": (EXEC.format(6) + CALL_INTO_SRAM, "register", (0, 0)),
    "EXEC is neither": (EXEC.format(5) + CALL_INTO_SRAM, "register", (1, 0x10001000)),
    "EXEC is locked": (LOCKED + CALL_INTO_SRAM, "register", (1, 0x10001000)),
    "EXEC is on, but nobody asks": (EXEC.format(6) + CALL_INTO_SRAM, "off", (1, 0x10001000)),
    "EXEC is off, but nobody asks": (EXEC.format(9) + CALL_INTO_SRAM, "on", (0, 0)),
}


@pytest.mark.parametrize("name", ACCESSES)
def test_bus_errors_are_traps_not_crashes(name: str, tmp_path: Path) -> None:
    body, executable, expected = ACCESSES[name]
    source = START.replace("csrr t0, mepc\n", "csrr a0, mcause\ncsrr a1, mtval\nj report\n", 1)
    report = "\nreport:\n    sw a0, 0(gp)\n    sw a1, 0(gp)\n"
    done = simulate(tmp_path, source + body + report + STOP, "--sram-exec", executable)
    assert done.returncode == 0, done.stderr
    assert tuple(map(int, done.stdout.split())) == expected


def test_a_seed_fills_main_sram(tmp_path: Path) -> None:
    body = "li t0, 0x10001000\nlw t1, 0(t0)\nlw t2, 4(t0)\nsw t1, 0(gp)\nsw t2, 0(gp)\n"
    words = {
        seed: simulate(tmp_path, START + body + STOP, *options).stdout
        for seed, options in (
            ("none", ()),
            ("0", ("--sram-seed", "0")),
            ("1", ("--sram-seed", "1")),
            ("1 again", ("--sram-seed", "1")),
            ("2", ("--sram-seed", "2")),
        )
    }
    assert words["none"] == words["0"] == "0\n0\n"
    assert words["1"] == words["1 again"] != words["2"]
    assert "0" not in {*words["1"].split(), *words["2"].split()}


def test_the_timer_wakes_a_sleeping_core_while_mcycle_stops(tmp_path: Path) -> None:
    """The core sleeps for 1000 ticks of the 6 MHz timer, 4000 cycles, and counts few of them."""
    body = """
    li   t0, 500  # out of reset the core stays awake until its i-cache is invalidated
1:  addi t0, t0, -1
    bnez t0, 1b
    li   a0, 0x40100000
    li   t0, 1000
    sw   t0, 0x118(a0)
    sw   zero, 0x11c(a0)
    li   t0, 1
    sw   t0, 0x100(a0)
    sw   t0, 0x004(a0)
    li   t0, 0x80
    csrw mie, t0
    lw   t1, 0x110(a0)
    csrr s0, mcycle
    wfi
    csrr s1, mcycle
    lw   t1, 0x110(a0)
    sub  s1, s1, s0
    sw   s1, 0(gp)
    sw   t1, 0(gp)
"""
    done = simulate(tmp_path, START + body + STOP)
    assert done.returncode == 0, done.stderr
    cycles, ticks = map(int, done.stdout.split())
    assert cycles < 100
    assert 1000 <= ticks < 1020


# The timer reaches 30, one tick in a cycle of its clock, after it is started with t0.
ARMED = """
    li   a0, 0x40100000
    li   t0, 1
    sw   t0, 0x100(a0)
    li   t1, 30
    sw   t1, 0x118(a0)
    sw   zero, 0x11c(a0)
    lw   t1, 0x110(a0)
    mv   t1, t1
"""
UNTIL = "2: csrr t1, mip\nandi t1, t1, 0x80\n{} t1, 2b\n"
RAISED = "sw t0, 4(a0)\n" + UNTIL.format("beqz")


@pytest.mark.parametrize(
    ("body", "off", "on"),
    [(RAISED, 161, 148), (RAISED + "sw t0, 0x11c(a0)\n" + UNTIL.format("bnez"), 195, 176)],
    ids=["raised", "ended by a new comparator"],
)
def test_an_interrupt_line_passes_the_flops_of_the_chip(
    body: str, off: int, on: int, tmp_path: Path
) -> None:
    """One edge of the timer's clock sets its state, the next its line, and two flops of the core's
    clock synchronise it: 10 cycles. The chip of 2021 confirms all but those two."""
    for icache, expected in (("off", off), ("on", on)):
        done = simulate(tmp_path, measured(ARMED, body, icache))
        assert int(done.stdout.split()[0]) == expected


def test_an_interrupt_wakes_the_core_whenever_it_comes(tmp_path: Path) -> None:
    """Try interrupts before, during and long after the transition to sleep."""
    body = """
    li   t0, 500
1:  addi t0, t0, -1
    bnez t0, 1b
    li   a0, 0x40100000
    li   t0, 1
    sw   t0, 0x100(a0)
    sw   t0, 0x004(a0)
    li   t0, 0x80
    csrw mie, t0
    li   s0, 160
2:  li   t0, -1
    sw   t0, 0x11c(a0)
    li   t0, 1
    sw   t0, 0x104(a0)
    lw   t0, 0x110(a0)
    addi t0, t0, 60
    sw   t0, 0x118(a0)
    sw   zero, 0x11c(a0)
    la   t1, nops
    slli t2, s0, 2
    add  t1, t1, t2
    jr   t1
nops:
    .rept 170
    nop
    .endr
    wfi
    addi s0, s0, -1
    bnez s0, 2b
"""
    for icache in ("on", "off"):
        done = simulate(tmp_path, START + body + STOP, "--icache", icache)
        assert done.returncode == 0, done.stderr


def test_uart_bytes_are_sent_at_the_configured_rate(tmp_path: Path) -> None:
    body = (
        "li a0, 0x40000000\nli t0, 1\nsw t0, 0x10(a0)\n"
        + "".join(f"li t0, {ord(c)}\nsw t0, 0x1c(a0)\n" for c in "tock\n")
        + "1: lw t0, 0x14(a0)\nandi t0, t0, 8\nbeqz t0, 1b\n"
    )
    ends = []
    for rate in ("16", "2083"):
        done = simulate(tmp_path, START + body + STOP, "--uart-cycles", rate)
        assert done.returncode == 0, done.stderr
        assert done.stdout == "tock\n"
        ends.append(int(done.stderr.split("cycles=")[1].split()[0]))
    # Five bytes on the line, minus the time of the slower stores.
    assert 4 * 2083 < ends[1] - ends[0] < 5 * 2083


# The UART's registers, from a0 on. NCO 0x8000: a byte takes 1280 cycles.
LOOPBACK = "li a0, 0x40000000\nli t0, 0x80000013\nsw t0, 0x10(a0)\n"
LEVEL = "lw t0, 0x24(a0)\nsrli t0, t0, 16\n"
TELL = "sw t0, 0(gp)\n"
CLEAR = "li t0, -1\nsw t0, 0(a0)\n"


def send(count: int) -> str:
    return f"li t1, {count}\n1: sw t1, 0x1c(a0)\naddi t1, t1, -1\nbnez t1, 1b\n"


def wait(cycles: int) -> str:
    return f"li t1, {cycles // 3}\n1: addi t1, t1, -1\nbnez t1, 1b\n"


def values_sent(folder: Path, body: str, *options: str) -> list[int]:
    done = simulate(folder, START + body + STOP, "--icache", "on", *options)
    assert done.returncode == 0, done.stderr
    return [int(word) for word in done.stdout.split()]


@pytest.mark.parametrize(("index", "level"), list(enumerate([1, 2, 4, 8, 16, 32, 64, 126])))
def test_the_uart_reports_that_it_has_received_so_many_bytes(
    tmp_path: Path, index: int, level: int
) -> None:
    body = LOOPBACK + f"li t0, {index << 2 | 3}\nsw t0, 0x20(a0)\n" + CLEAR + send(128)
    body += "1: lw t0, 0(a0)\nandi t0, t0, 2\nbeqz t0, 1b\n" + LEVEL + TELL
    assert values_sent(tmp_path, body, "--uart-cycles", "6000") == [level]


def test_a_full_uart_loses_bytes(tmp_path: Path) -> None:
    body = LOOPBACK + CLEAR + send(128) + wait(130 * 16) + LEVEL + TELL
    body += "lw t0, 0(a0)\nandi t0, t0, 8\n" + TELL
    body += send(2) + wait(200) + LEVEL + TELL + "lw t0, 0(a0)\nandi t0, t0, 8\n" + TELL
    body += ("lw t0, 0x18(a0)\n" + TELL) * 2 + LEVEL + TELL
    assert values_sent(tmp_path, body) == [128, 0, 128, 8, 128, 127, 126]


def test_the_uart_reports_bytes_that_nobody_takes(tmp_path: Path) -> None:
    body = LOOPBACK + CLEAR + "li t0, 0x80000014\nsw t0, 0x30(a0)\n" + send(1)
    body += "1: lw t0, 0(a0)\nandi t0, t0, 2\nbeqz t0, 1b\ncsrr s4, mcycle\n"
    body += "1: lw t0, 0(a0)\nandi t0, t0, 64\nbeqz t0, 1b\ncsrr t0, mcycle\nsub t0, t0, s4\n"
    (cycles,) = values_sent(tmp_path, body + TELL)
    assert 19 * 128 < cycles < 21 * 128, "20 bits"


def request(*numbers: int) -> str:
    text = "\x05" + " ".join(map(str, numbers)) + "\n"
    return "".join(f"li t0, {ord(c)}\nsw t0, 0x1c(a0)\n" for c in text)


@pytest.mark.parametrize(("pace", "cycles"), [((), 1280), ((400,), 400), ((400, 9000), 400)])
def test_bytes_come_that_a_program_asks_for(
    tmp_path: Path, pace: tuple[int, ...], cycles: int
) -> None:
    body = "li a0, 0x40000000\nli t0, 0x80000003\nsw t0, 0x10(a0)\n" + request(20, *pace)
    body += "1: lw t0, 0x14(a0)\nandi t0, t0, 8\nbeqz t0, 1b\ncsrr s4, mcycle\n"
    for level in (1, 17):
        body += f"li t2, {level}\n2: {LEVEL}bne t0, t2, 2b\n"
        body += f"csrr s{4 + level % 3}, mcycle\n"
    body += "sub t0, s5, s4\n" + TELL + "sub t0, s6, s5\n" + TELL
    body += ("lw t0, 0x18(a0)\n" + TELL) * 3
    first, sixteen, *values = values_sent(tmp_path, body)
    delay = pace[1] if len(pace) > 1 else 0
    assert abs(first - delay - cycles) < 60
    assert abs(sixteen - 16 * cycles) < 60
    assert values == [0, 1, 2]


def test_no_byte_comes_to_a_receiver_that_is_off(tmp_path: Path) -> None:
    body = "li a0, 0x40000000\nli t0, 0x80000001\nsw t0, 0x10(a0)\n" + request(3, 16)
    assert values_sent(tmp_path, body + wait(2000) + LEVEL + TELL) == [0]


MARKED = """
    li   a0, 0x40000000
    li   t0, 1
    sw   t0, 0x10(a0)
    li   t0, 104
    sw   t0, 0x1c(a0)
    li   t0, 10
    sw   t0, 0x1c(a0)
    la   t0, vector
    csrw mtvec, t0
    li   t0, 500
1:  addi t0, t0, -1
    bnez t0, 1b
    li   s0, 2
    li   a0, 0x40100000
    li   t0, 0x80
    csrw mie, t0
    csrsi mstatus, 8
    li   t0, 1
    sw   t0, 0x100(a0)
    sw   t0, 0x004(a0)
2:  lw   t0, 0x110(a0)
    addi t0, t0, 1500
    sw   t0, 0x118(a0)
    sw   zero, 0x11c(a0)
    wfi
    nop
    addi s0, s0, -1
    bnez s0, 2b
    sw   zero, 4(gp)
3:  j    3b
    .balign 256
vector:
    .rept 7
    j    .
    .endr
    j    handler
handler: # first the comparator: it would set the state again, and the line would rise twice
    li   t0, -1
    sw   t0, 0x11c(a0)
    li   t0, 1
    sw   t0, 0x104(a0)
    mret
"""


def marked(folder: Path, *marks: str) -> tuple[list[tuple[int, str]], str]:
    """Return the marks of that program, and the rest of its output."""
    done = simulate(folder, START + MARKED, *(word for mark in marks for word in ("--mark", mark)))
    assert done.returncode == 0, done.stderr
    lines = done.stdout.split("\n")
    marks_ = [line[1:].split() for line in lines if line.startswith(OWN_LINE)]
    return [(int(cycle), name) for cycle, name in marks_], "".join(
        line for line in lines if not line.startswith(OWN_LINE)
    )


def address(folder: Path, symbol: str) -> str:
    """Return the address of a label in the program that was just simulated."""
    command = ["riscv64-unknown-elf-nm", str(folder / "program.elf")]
    symbols = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    (line,) = [line for line in symbols.splitlines() if line.endswith(f" {symbol}")]
    return "0x" + line.split()[0]


def test_marks_show_when_an_interrupt_rises_and_is_taken(tmp_path: Path) -> None:
    marked(tmp_path)
    places = ("irq", "trap", "reset", f"handler={address(tmp_path, 'handler')}")
    marks, text = marked(tmp_path, *places)
    assert text == "h"
    assert [name for _, name in marks] == ["reset"] + ["irq", "trap", "handler"] * 2
    assert marks[0][0] == 0
    irq, trap, handler, again, *_ = (cycle for cycle, _ in marks[1:])
    # The core wakes, fetches the vector from flash, and jumps to the handler.
    assert 5 <= trap - irq <= 40
    assert 1 <= handler - trap <= 20
    # Sleep counts: 1500 ticks of four cycles, minus the time to wake and return.
    assert 6000 <= again - irq <= 6400


@pytest.mark.parametrize(
    ("options", "word"),
    [
        ([], "nothing to run"),
        (["--flash", "/nonexistent"], "cannot read"),
        (["--elf", __file__], "not an ELF"),
        (["--icache", "maybe"], "on or off"),
        (["--sram-exec", "1"], "--sram-exec"),
        (["--max-cycles", "-5", "--flash", "x"], "not a number"),
        (["--load", __file__ + "@0x30000000"], "no memory"),
        (["--load", __file__ + "@0x200fffff"], "past the end"),
        (["--mark", "soon", "--flash", "x"], "NAME=ADDR"),
        (["--mark", "Up=4", "--flash", "x"], "small letters"),
        (["--mark", "irq=4", "--flash", "x"], "simulator's own"),
        (["--mark", "a=here", "--flash", "x"], "not a number"),
        (["--bogus"], "unknown option"),
    ],
    ids=lambda value: value if isinstance(value, str) else None,
)
def test_unusable_input_is_reported_in_one_line_with_exit_code_2(
    options: list[str], word: str
) -> None:
    done = run(*options)
    assert done.returncode == 2
    assert done.stdout == ""
    (line,) = done.stderr.splitlines()
    assert word in line
