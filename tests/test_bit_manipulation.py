# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Instructions of bit manipulation: their extensions are recognised, and a core without an
extension runs no kernel that uses it."""

import subprocess
from pathlib import Path

import pytest

from tockmark.base.errors import TockmarkError
from tockmark.result.provenance import Core
from tockmark.target import kernel as kernels
from tockmark.target import rv32
from tockmark.target.elf import Elf, read_elf
from tockmark.target.kernel import read_kernel

# Instructions by extension; those of None are not bit manipulation.
INSTRUCTIONS = {
    "zba": ("sh1add a0,a1,a2", "sh2add a0,a1,a2", "sh3add a0,a1,a2"),
    "zbb": (
        *("andn a0,a1,a2", "orn a0,a1,a2", "xnor a0,a1,a2", "clz a0,a1", "ctz a0,a1"),
        *("cpop a0,a1", "max a0,a1,a2", "maxu a0,a1,a2", "min a0,a1,a2", "minu a0,a1,a2"),
        *("sext.b a0,a1", "sext.h a0,a1", "zext.h a0,a1", "rol a0,a1,a2", "ror a0,a1,a2"),
        *("rori a0,a1,31", "orc.b a0,a1", "rev8 a0,a1"),
    ),
    "zbc": ("clmul a0,a1,a2", "clmulh a0,a1,a2", "clmulr a0,a1,a2"),
    "zbs": (
        *("bclr a0,a1,a2", "bclri a0,a1,31", "bext a0,a1,a2", "bexti a0,a1,31"),
        *("binv a0,a1,a2", "binvi a0,a1,31", "bset a0,a1,a2", "bseti a0,a1,31"),
    ),
    rv32.DRAFT: (
        ".insn r 0x33, 4, 4, a0, a1, a2",
        ".insn i 0x13, 5, a0, a1, 0x687",
    ),  # pack, brev8
    None: (
        *("add a0,a1,a2", "sub a0,a1,a2", "sll a0,a1,a2", "slt a0,a1,a2", "sltu a0,a1,a2"),
        *("xor a0,a1,a2", "srl a0,a1,a2", "sra a0,a1,a2", "or a0,a1,a2", "and a0,a1,a2"),
        *("mul a0,a1,a2", "mulh a0,a1,a2", "mulhsu a0,a1,a2", "mulhu a0,a1,a2", "div a0,a1,a2"),
        *("divu a0,a1,a2", "rem a0,a1,a2", "remu a0,a1,a2", "addi a0,a1,-1", "slli a0,a1,31"),
        *("srli a0,a1,31", "srai a0,a1,31", "andi a0,a1,-1", "lui a0,0x20533", "ecall", "mret"),
    ),
}


def assembled(folder: Path, text: str, isa: str) -> Elf:
    source, output = folder / "a.S", folder / "a.elf"
    source.write_text(f"    .option norvc\n    .text\n    .globl _start\n{text}\n")
    flags = ["-mabi=ilp32", "-nostdlib", "-Wl,-Ttext=0x20000000,--build-id=none"]
    command = ["riscv64-unknown-elf-gcc", f"-march={isa}", *flags, str(source), "-o", str(output)]
    subprocess.run(command, check=True)
    return read_elf(output)


FUNCTION = "    .type {0}, @function\n{0}:\n{1}\n    .size {0}, . - {0}\n"
ZB = "rv32imc_zicsr_zba_zbb_zbc_zbs"


@pytest.mark.parametrize("extension", INSTRUCTIONS)
def test_the_extension_of_each_instruction_is_recognised(
    tmp_path: Path, extension: str | None
) -> None:
    lines = INSTRUCTIONS[extension]
    elf = assembled(tmp_path, FUNCTION.format("_start", "\n".join(lines)), ZB)
    words = elf.content(".text")
    extensions = [
        rv32.decode(int.from_bytes(words[at : at + 4], "little")).extension
        for at in range(0, len(words), 4)
    ]
    assert extensions == [extension] * len(lines)
    assert set(kernels.bit_manipulation(elf)) == ({extension} if extension else set())


def test_data_between_functions_do_not_count_as_instructions(tmp_path: Path) -> None:
    """They count if the ELF was built for that extension."""
    text = FUNCTION.format("_start", "    nop\n    .half 0x4501") + "    .word 0x20c5a533\n"
    assert kernels.bit_manipulation(assembled(tmp_path, text, "rv32imc_zicsr")) == {}
    built_for = assembled(tmp_path, text, ZB)
    assert kernels.bit_manipulation(built_for) == {"zba": 0x20000006}
    # It is also found at half a word, after a compressed instruction.
    inside = FUNCTION.format("_start", "    .half 0x4501\n    sh1add a0,a1,a2")
    plain = assembled(tmp_path, inside.replace("sh1add a0,a1,a2", ".word 0x20c5a533"), "rv32imc")
    assert kernels.bit_manipulation(plain) == {"zba": 0x20000002}


def test_a_core_without_bit_manipulation_runs_no_kernel_that_uses_it(tmp_path: Path) -> None:
    assembled(tmp_path, FUNCTION.format("_start", "    sh1add a0,a1,a2\n    clmul a0,a1,a2"), ZB)
    kernel = read_kernel(tmp_path / "a.elf")
    balanced = Core("maxperf-pmp-bmbalanced", "balanced", 16, False)
    with pytest.raises(TockmarkError, match=r"has Zbc .* \(zbc at 0x20000004\)"):
        kernels.check_core(kernel, balanced, False)
    kernels.check_core(kernel, Core("maxperf-pmp-bmfull", "full", 16, False), False)
