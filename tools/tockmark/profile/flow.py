# SPDX-License-Identifier: Apache-2.0 OR MIT
"""What an instruction does to the flow of control: whether it calls, returns or jumps, by the
RISC-V calling convention (RV32IMC)."""

from tockmark.profile.trace import Step

MRET = 0x30200073
LINKS = (1, 5)  # registers that hold return addresses
_JAL, _JALR = 0x6F, 0x67  # opcodes


def calls(step: Step) -> bool:
    """Is it a jump that leaves its return address behind?"""
    if step.opcode in (_JAL, _JALR):
        return step.insn >> 7 & 0x1F in LINKS
    jal = step.insn & 0xE003 == 0x2001
    jalr = step.insn & 0xF07F == 0x9002 and step.insn >> 7 & 0x1F != 0
    return step.size == 2 and (jal or jalr)


def jumps_by_register(step: Step) -> bool:
    """Is it a jump to an address in a register that leaves none behind: a return, a tail call
    through a pointer, or a jump by a table?"""
    if step.size == 4:
        return step.opcode == _JALR and step.insn >> 7 & 0x1F == 0
    return step.insn & 0xF07F == 0x8002 and step.insn >> 7 & 0x1F != 0
