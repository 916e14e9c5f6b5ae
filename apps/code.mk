# SPDX-License-Identifier: Apache-2.0 OR MIT
# The compiler of the C apps and its options, for apps/build.mk and for the apps of studies.

# ARCH=cortex-m4 selects that core instead of RISC-V.
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

# Every app prints this in its begin record, with the language and the compiler.
CODE := -O3 $(MACHINE)
COMPILER := $(CC) $(shell $(CC) -dumpfullversion) $(CODE)

# The linker script of apps that may set their stack size with `tm_stack`. Other apps use the script with a
# fixed number, because links are distinguished by the contents of their script.
# The target is below build/ only, since the original script has the same name.
build/%/app.ld: apps/runtime/app.ld apps/code.mk
	@mkdir -p $(@D)
	sed 's/\. += 2048;/. += DEFINED(tm_stack) ? tm_stack : 2048;/' $< > $@
	grep -q tm_stack $@
