# SPDX-License-Identifier: Apache-2.0 OR MIT
# What compiles the apps in C and shapes their code: for apps/build.mk and apps/programs/build.mk.

CC := riscv64-unknown-elf-gcc
AR := riscv64-unknown-elf-ar
LD := riscv64-unknown-elf-ld

ifeq ($(shell command -v $(CC)),)
$(error apps/build.mk: $(CC) is not installed; on Debian: apt install gcc-riscv64-unknown-elf picolibc-riscv64-unknown-elf)
endif

# Every app says it in its begin record, with the language and the compiler.
MACHINE := -march=rv32imc -mabi=ilp32
CODE := -O3 $(MACHINE)
SAID := $(CC) $(shell $(CC) -dumpfullversion) $(CODE)

# The linker script of apps that may say how much stack they get, in `tm_stack`: the others' has a number,
# for what is linked by it is told apart by what it holds.
# Below build/ alone: the script that it is made of has that name, too.
build/%/app.ld: apps/runtime/app.ld apps/code.mk
	@mkdir -p $(@D)
	sed 's/\. += 2048;/. += DEFINED(tm_stack) ? tm_stack : 2048;/' $< > $@
	grep -q tm_stack $@
