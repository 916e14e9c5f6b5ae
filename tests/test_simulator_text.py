# SPDX-License-Identifier: Apache-2.0 OR MIT
"""How the simulator reacts to UART text: it recognises the end of the suite, silence,
and a panic by the program counter. No program can forge a mark.
"""

import json
import re
from pathlib import Path

import pytest
from test_simulator import SIMULATOR, START, address, simulate

from tockmark.target.protocol import Start
from tockmark.target.sim import OWN_LINE, SimTarget
from tockmark.wire.records import BootMark, Mark, decode


def printing(text: str) -> str:
    """Return a program that sends a text and then loops forever."""
    return f"""
{START}
    li   a0, 0x40000000
    li   t0, 1
    sw   t0, 0x10(a0)
    la   a1, text
1:  lbu  t0, 0(a1)
    beqz t0, 2f
3:  lw   t1, 0x14(a0)
    andi t1, t1, 1
    bnez t1, 3b
    sw   t0, 0x1c(a0)
    addi a1, a1, 1
    j    1b
2:  j    2b
text: .asciz {json.dumps(text)}
"""


def test_a_run_ends_when_every_app_has_ended(tmp_path: Path) -> None:
    text = "kernel says hello\n#tm 0 a begin proto=1 apps=2 *0000\n#tm 1 a end ok *0000\n"
    text += "#tm 0 b begin proto=1 apps=2 *0000\n#tm 1 b end ok *0000\n"
    done = simulate(tmp_path, printing(text))
    assert done.returncode == 0, done.stderr
    assert done.stdout == text
    assert "reason=suite-closed" in done.stderr


TOCK = "panicked at boards/x/src/main.rs:12:\r\nwhat\r\n\tKernel version 2.2\r\nmore"
OURS = "tockmark-kernel: panic: what at x.rs:12\n"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (TOCK, "earlgrey-sim: panic: what\n"),
        (OURS, "earlgrey-sim: tockmark-kernel: panic: what at x.rs:12\n"),
        ("words that nobody knows\n", "reason=panic"),
    ],
)
def test_reaching_the_panic_handler_is_a_panic(text: str, message: str, tmp_path: Path) -> None:
    simulate(tmp_path, printing(text))
    handler = address(tmp_path, "main")  # it prints the text
    for options, code in (((), 4), (("--panic", "0x20000004", "--panic", handler), 7)):
        done = simulate(tmp_path, printing(text), "--max-cycles", "2000000", *options)
        assert (done.returncode, done.stdout.replace("\r", "")) == (code, text.replace("\r", ""))
        assert (message in done.stderr) == (code == 7)


def test_a_jump_to_a_forbidden_address_does_not_reach_it(tmp_path: Path) -> None:
    """An app that jumps to the panic handler causes no panic, because the PMP stops the fetch."""
    source = f"{START}\n la t0, done\n csrw mtvec, t0\n li t0, 0x10000000\n jr t0\n"
    source += "    .balign 256\ndone: j done\n"
    watch = ("--max-cycles", "2000000", "--panic", "0x10000000", "--mark", "x=0x10000000")
    for rights, code, marks in (("on", 7, 1), ("off", 4, 0)):
        done = simulate(tmp_path, source, *watch, "--sram-exec", rights)
        assert (done.returncode, done.stdout.count(" x\n")) == (code, marks)


# The core sleeps until the timer fires, after a second.
SLEEPS = """2:  li   t0, 0x40100000
    li   t1, 1
    sw   t1, 0x100(t0)
    li   t1, 0x1000000
    sw   t1, 0x118(t0)
    sw   zero, 0x11c(t0)
    li   t1, 1
    sw   t1, 4(t0)
    li   t1, 0x80
    csrw mie, t1
    wfi
    j    2b
"""


@pytest.mark.parametrize("after", ["2:  j    2b", SLEEPS], ids=["awake", "asleep"])
def test_silence_ends_a_run_and_is_counted_from_the_last_byte(after: str, tmp_path: Path) -> None:
    source = printing("hello\n").replace("2:  j    2b", after)
    for silence, code, least in (("90000", 8, 90_000), ("600000", 4, 500_000)):
        done = simulate(tmp_path, source, "--max-cycles", "500000", "--silence", silence)
        assert (done.returncode, done.stdout) == (code, "hello\n"), done.stderr
        assert ("earlgrey-sim: no output for 0.09 M cycles\n" in done.stderr) == (code == 8)
        figures = dict(re.findall(r" (\w+)=(\d+)", done.stderr.splitlines()[-1]))
        assert least <= int(figures["cycles"]) < least + 10_000
        assert int(figures["silence"]) >= min(least, 90_000)


def test_no_program_can_forge_a_mark(tmp_path: Path) -> None:
    """Its output stays text in the log, even with bytes that end a line for other programs."""
    mark, boot = Mark(1, 5, "irq").encode(), BootMark("x", True, "x").encode()
    tricks = [
        mark,
        boot,
        f"{OWN_LINE}5 irq",
        f"{OWN_LINE}{OWN_LINE}5 irq",
        f"a {mark}",
        f"\\{mark}",
    ]
    tricks += [f"a{end}{line}" for end in "\r\v\f\x1c\x85" for line in (boot, f"{OWN_LINE}5 irq")]
    text = "".join(f"{line}\n" for line in tricks)
    octal = "".join(f"\\{ord(c):03o}" if c != "\n" else "\\n" for c in text)
    source = printing("TEXT").replace('"TEXT"', f'"{octal}"')
    simulate(tmp_path, source, "--max-cycles", "1")  # links the program; it runs below
    (tmp_path / "flash").write_bytes(b"\xff")
    start = Start("boot", tmp_path / "flash", True, marks=("--mark", "reset"))
    elf = ("--elf", str(tmp_path / "program.elf"), "--boot", "0x20000400")
    session = SimTarget(SIMULATOR, True, 16, 200_000).start_here(start, *elf)
    lines = list(session.lines())
    session.ending()
    reset, *items = decode("\n".join(lines).split("\n"))
    assert reset == Mark(1, 0, "reset")
    assert not items
    assert [line.removeprefix("\\") for line in lines[1:]] == [
        line.removesuffix("\r") for line in tricks
    ]
