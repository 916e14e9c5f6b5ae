# SPDX-License-Identifier: Apache-2.0 OR MIT
# Builds the apps of the study growth, not yet linked, into build/apps/growth-c-abi2. With LIBTOCK_C=DIR the
# app queue uses the alarms of libtock-c, which the user has built in DIR. Run from the top of the repository,
# after apps/build.mk:
#     make -f lab/studies/growth/apps/build.mk

include apps/code.mk

SOURCE := lab/studies/growth/apps
OUT := build/apps/growth-c-abi2
CFLAGS := -std=c11 $(CODE) -ffunction-sections -fdata-sections --specs=picolibc.specs -Wall -Wextra -Werror -MMD -MP \
	-I$(OUT) -Ibuild/apps/c-abi2 -Iapps/runtime -Iapps/asm -Iapps/c -DTM_ABI=2 '-DTM_CC="$(COMPILER)"'

APPS := growth eight sleeper grants queue idle
.PHONY: all
all: $(APPS:%=$(OUT)/%.o) $(OUT)/libtockmark.a

# The catalogue's rows, as headers.
$(OUT)/growth_rows.h: lab/studies/growth/catalogue.toml apps/generate.py
	@mkdir -p $(@D)
	@python3 apps/generate.py $< $@

$(OUT)/growth.o $(OUT)/eight.o: $(OUT)/%.o: $(SOURCE)/growth.c $(SOURCE)/build.mk | $(OUT)/growth_rows.h
	$(CC) $(CFLAGS) -DTM_GROUP=$* -c $< -o $@
$(OUT)/sleeper.o $(OUT)/grants.o: $(OUT)/%.o: $(SOURCE)/%.c $(SOURCE)/build.mk | $(OUT)/growth_rows.h
	$(CC) $(CFLAGS) -c $< -o $@

# Only the alarms of the library, and the system calls under them.
LIBTOCK_A := $(LIBTOCK_C:%=%/libtock/build/rv32imc/libtock.a)
$(OUT)/queue.o: $(SOURCE)/queue.c $(SOURCE)/build.mk $(LIBTOCK_A) | $(OUT)/growth_rows.h
	$(CC) $(CFLAGS) $(LIBTOCK_C:%=-DTM_LIBTOCK -isystem %) -c $< -o $(OUT)/queue.part
	$(LD) -m elf32lriscv -r --gc-sections -u tm_app -u _exit $(OUT)/queue.part $(LIBTOCK_A) -o $@

$(OUT)/idle.o $(OUT)/libtockmark.a: $(OUT)/%: build/apps/c-abi2/%
	@mkdir -p $(@D)
	cp $< $@

-include $(wildcard $(OUT)/*.d)
