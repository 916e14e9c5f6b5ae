# SPDX-License-Identifier: Apache-2.0 OR MIT
# Builds the conformance apps, not yet linked: one object per app, and libtockmark.a with the code that they
# share. Run from the top of the repository:
#     make -f lab/conformance/apps/build.mk ABI=2
#
# An app consists of those of the files APP.c, APP_*.c and APP.S that exist, here or in v$(ABI)/.

ABI ?= 2
OUT ?= build/apps/conformance-abi$(ABI)
SOURCE := lab/conformance/apps

CC := riscv64-unknown-elf-gcc
LD := riscv64-unknown-elf-ld
AR := riscv64-unknown-elf-ar

MACHINE := -march=rv32imc -mabi=ilp32
CFLAGS := -std=c11 -O2 $(MACHINE) -ffunction-sections -fdata-sections -ffreestanding --specs=picolibc.specs \
	-Wall -Wextra -Werror -MMD -MP -Iapps/runtime -Iapps/runtime/scene -I$(SOURCE) \
	-DTM_ABI=$(ABI)
ASFLAGS := -march=rv32imc_zicsr_zifencei -mabi=ilp32 -MMD -MP -Iapps/runtime -DTM_ABI=$(ABI)

APPS := rules own endings partner ipc service hostile neighbour fuzz victim attacker csrs seeker waiter sender
parts = $(wildcard $(SOURCE)/$(1).c $(SOURCE)/$(1)_*.c $(SOURCE)/v$(ABI)/$(1).c $(SOURCE)/v$(ABI)/$(1)_*.c $(SOURCE)/$(1).S)
object = $(addsuffix .o,$(patsubst %,$(OUT)/parts/%,$(1)))
SHARED := $(call object,apps/runtime/scene/start.S $(SOURCE)/registers.S $(SOURCE)/pairs.S apps/runtime/scene/report.c \
	$(SOURCE)/checks.c $(SOURCE)/guests.c apps/runtime/protocol.c)

.PHONY: all
all: $(APPS:%=$(OUT)/%.o) $(OUT)/libtockmark.a

$(OUT)/libtockmark.a: $(SHARED)
	rm -f $@
	$(AR) rcsD $@ $^

.SECONDEXPANSION:
$(APPS:%=$(OUT)/%.o): $(OUT)/%.o: $$(call object,$$(call parts,%))
	$(LD) -m elf32lriscv -r $^ -o $@

$(OUT)/parts/%.c.o: %.c $(SOURCE)/build.mk
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) -c $< -o $@

$(OUT)/parts/%.S.o: %.S $(SOURCE)/build.mk
	@mkdir -p $(@D)
	$(CC) $(ASFLAGS) -c $< -o $@

-include $(shell find $(OUT)/parts -name '*.d' 2>/dev/null)
