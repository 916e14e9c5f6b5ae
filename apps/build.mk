# SPDX-License-Identifier: Apache-2.0 OR MIT
# Builds the C apps, not yet linked: one object a group (apps/c/*.c) and libtockmark.a with what they
# share. They are linked for the kernel at hand, by the tool. Run from the top of the repository:
#     make -f apps/build.mk OUT=build/apps/c-abi2 ABI=2

ABI ?= 2
OUT ?= build/apps/c-abi$(ABI)

ifneq ($(ABI),2)
$(error apps/build.mk: there is no runtime for version $(ABI) of the system-call interface; use ABI=2)
endif

CC := riscv64-unknown-elf-gcc
AR := riscv64-unknown-elf-ar

ifeq ($(shell command -v $(CC)),)
$(error apps/build.mk: $(CC) is not installed; on Debian: apt install gcc-riscv64-unknown-elf picolibc-riscv64-unknown-elf)
endif

# What shapes the code: every app says these, with the compiler's version, in its begin record.
MACHINE := -march=rv32imc -mabi=ilp32
CODE := -O3 $(MACHINE) -falign-functions=8

CFLAGS := -std=c11 $(CODE) -ffunction-sections -fdata-sections --specs=picolibc.specs -Wall -Wextra -Werror -MMD -MP \
	-Iapps/runtime -Iapps/asm -DTM_ABI=$(ABI) '-DTM_CFLAGS="$(CODE)"'
# The runtime needs no C library: here a loop that copies does not become a call of memcpy.
RUNTIME_CFLAGS := -fno-tree-loop-distribute-patterns
ASFLAGS := $(MACHINE) -MMD -MP -Iapps/asm

GROUPS := $(patsubst apps/c/%.c,$(OUT)/%.o,$(wildcard apps/c/*.c))
SHARED := $(patsubst apps/%.c,$(OUT)/%.o,$(wildcard apps/runtime/*.c)) \
	$(patsubst apps/%.S,$(OUT)/%.o,$(wildcard apps/runtime/*.S apps/asm/*.S))

.PHONY: all
all: $(GROUPS) $(OUT)/libtockmark.a

$(OUT)/libtockmark.a: $(SHARED)
	rm -f $@
	$(AR) rcsD $@ $^

$(GROUPS): $(OUT)/%.o: apps/c/%.c apps/build.mk
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) -c $< -o $@

$(OUT)/%.o: apps/%.c apps/build.mk
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) $(RUNTIME_CFLAGS) -c $< -o $@

$(OUT)/%.o: apps/%.S apps/build.mk
	@mkdir -p $(@D)
	$(CC) $(ASFLAGS) -c $< -o $@

-include $(GROUPS:.o=.d) $(SHARED:.o=.d)
