# SPDX-License-Identifier: Apache-2.0 OR MIT
# Carries the assembled boot ROM inside the simulator. BOOT_ROM comes from the makefile.
    .section .rodata
    .globl boot_rom_begin, boot_rom_end
boot_rom_begin:
    .incbin BOOT_ROM
boot_rom_end:
    .section .note.GNU-stack, "", @progbits
