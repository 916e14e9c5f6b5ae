# SPDX-License-Identifier: Apache-2.0 OR MIT
# The assembled boot ROM, embedded in the simulator. The makefile defines BOOT_ROM.
    .section .rodata
    .globl boot_rom_begin, boot_rom_end
boot_rom_begin:
    .incbin BOOT_ROM
boot_rom_end:
    .section .note.GNU-stack, "", @progbits
