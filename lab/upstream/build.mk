# SPDX-License-Identifier: Apache-2.0 OR MIT
# Builds the apps that show faults (lab/upstream/apps/), not yet linked: written for libtock-c, for version 2, with
# our runtime and a shim. Run from the top of the repository, when apps/build.mk has run:
#     make -f lab/upstream/build.mk

include apps/code.mk

SOURCE := lab/upstream/apps
OUT := build/apps/upstream-abi2
SUITE := build/apps/c-abi2
CFLAGS := -std=c11 $(CODE) -ffunction-sections -fdata-sections $(SPECS) -Wall -Wextra -Werror -MMD -MP \
	-I$(SOURCE)/shim -I$(SUITE) -Iapps/runtime -Iapps/asm -DTM_ABI=2 '-DTM_CC="$(COMPILER)"'
APPS := $(patsubst $(SOURCE)/%.c,$(OUT)/%.o,$(wildcard $(SOURCE)/*.c))

.PHONY: all
.DEFAULT_GOAL := all
all: $(APPS) $(OUT)/libtockmark.a

$(OUT)/libtockmark.a: $(SUITE)/libtockmark.a
	@mkdir -p $(@D)
	cp $< $@

$(OUT)/%.o: $(SOURCE)/%.c lab/upstream/build.mk
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) -c $< -o $@

-include $(APPS:.o=.d)
