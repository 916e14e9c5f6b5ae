# SPDX-License-Identifier: Apache-2.0 OR MIT
# Builds the apps of `tockmark latency`, not yet linked, into build/apps/latency-abi2: those that wait for an alarm and for
# a line's end, and the one that disturbs them. They report as the conformance apps do. Run from the top of the repository, when
# lab/conformance/apps/build.mk has run:
#     make -f apps/latency/build.mk

CC := riscv64-unknown-elf-gcc
SOURCE := apps/latency
OUT := build/apps/latency-abi2
APPS := sleeper hasty writer disturber
CFLAGS := -std=c11 -O2 -march=rv32imc -mabi=ilp32 -ffunction-sections -fdata-sections -ffreestanding \
	--specs=picolibc.specs -Wall -Wextra -Werror -MMD -MP -Iapps/runtime -Iapps/conformance -DTM_ABI=2

.PHONY: all
all: $(APPS:%=$(OUT)/%.o) $(OUT)/libtockmark.a

$(OUT)/%.o: $(SOURCE)/%.c $(SOURCE)/build.mk
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) -c $< -o $@

$(OUT)/hasty.o: $(SOURCE)/sleeper.c $(SOURCE)/build.mk
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) -DSOON -c $< -o $@

$(OUT)/libtockmark.a: build/apps/conformance-abi2/libtockmark.a
	@mkdir -p $(@D)
	cp $< $@

-include $(APPS:%=$(OUT)/%.d)
