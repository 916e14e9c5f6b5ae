# SPDX-License-Identifier: Apache-2.0 OR MIT
# What compiles the apps in C and shapes their code: for apps/build.mk and the apps of studies.

# ARCH=cortex-m4 is for that core in the place of RISC-V.
ifeq ($(ARCH),cortex-m4)
TOOLS := arm-none-eabi-
PACKAGES := gcc-arm-none-eabi libnewlib-arm-none-eabi
MACHINE := -mcpu=cortex-m4 -mthumb
else
TOOLS := riscv64-unknown-elf-
PACKAGES := gcc-riscv64-unknown-elf picolibc-riscv64-unknown-elf
MACHINE := -march=rv32imc -mabi=ilp32
SPECS := --specs=picolibc.specs
endif
CC := $(TOOLS)gcc
AR := $(TOOLS)ar
LD := $(TOOLS)ld

ifeq ($(shell command -v $(CC)),)
$(error apps/build.mk: $(CC) is not installed; on Debian: apt install $(PACKAGES))
endif

# Every app says it in its begin record, with the language and the compiler.
CODE := -O3 $(MACHINE)
COMPILER := $(CC) $(shell $(CC) -dumpfullversion) $(CODE)

# The linker script of apps that may say how much stack they get, in `tm_stack`: the others' has a number,
# for what is linked by it is told apart by what it holds.
# Below build/ alone: the script that it is made of has that name, too.
build/%/app.ld: apps/runtime/app.ld apps/code.mk
	@mkdir -p $(@D)
	sed 's/\. += 2048;/. += DEFINED(tm_stack) ? tm_stack : 2048;/' $< > $@
	grep -q tm_stack $@
