# SPDX-License-Identifier: Apache-2.0 OR MIT
# Builds the apps of `tockmark latency`, not yet linked, into build/apps/latency-abi2: the apps that wait for
# an alarm or for the end of a line, and the app that disturbs them. Run from the top of the repository:
#     make -f apps/latency/build.mk

CC := riscv64-unknown-elf-gcc
AR := riscv64-unknown-elf-ar
SOURCE := apps/latency
OUT := build/apps/latency-abi2
APPS := sleeper hasty writer disturber
CFLAGS := -std=c11 -O2 -march=rv32imc -mabi=ilp32 -ffunction-sections -fdata-sections -ffreestanding \
	--specs=picolibc.specs -Wall -Wextra -Werror -MMD -MP -Iapps/runtime -Iapps/runtime/scene -DTM_ABI=2
ASFLAGS := -march=rv32imc_zicsr_zifencei -mabi=ilp32 -MMD -MP -Iapps/runtime -DTM_ABI=2
SHARED := $(addprefix $(OUT)/runtime/,scene/start.o scene/report.o protocol.o)

.PHONY: all
all: $(APPS:%=$(OUT)/%.o) $(OUT)/libtockmark.a

$(OUT)/%.o: $(SOURCE)/%.c $(SOURCE)/build.mk
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) -c $< -o $@

$(OUT)/hasty.o: $(SOURCE)/sleeper.c $(SOURCE)/build.mk
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) -DSOON -c $< -o $@

$(OUT)/runtime/%.o: apps/runtime/%.c $(SOURCE)/build.mk
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) -c $< -o $@

$(OUT)/runtime/%.o: apps/runtime/%.S $(SOURCE)/build.mk
	@mkdir -p $(@D)
	$(CC) $(ASFLAGS) -c $< -o $@

$(OUT)/libtockmark.a: $(SHARED)
	rm -f $@
	$(AR) rcsD $@ $^

-include $(APPS:%=$(OUT)/%.d) $(SHARED:.o=.d)
