# SPDX-License-Identifier: Apache-2.0 OR MIT
# Builds the ladder's apps, not yet linked, into build/apps/ladder-c-abi2: for each IPC (old.c, new.c) a
# server, a leader and a rival, for kernels with four slots and with eight; two instances (short and long),
# and the app with an alarm. Run from the top of the repository, after apps/build.mk:
#     make -f lab/studies/ladder/apps/build.mk

include apps/code.mk

SOURCE := lab/studies/ladder/apps
OUT := build/apps/ladder-c-abi2
CFLAGS := -std=c11 $(CODE) -ffunction-sections -fdata-sections --specs=picolibc.specs -Wall -Wextra -Werror -MMD -MP \
	-I$(OUT) -Ibuild/apps/c-abi2 -Iapps/runtime -Iapps/asm -DTM_ABI=2 '-DTM_CC="$(COMPILER)"'

ROLES := server client rival
PARTS_server := server chacha
PARTS_client := leader climb chacha
PARTS_rival := rival climb chacha
GROUPS := ladder ladder2 eight eight2
WAY_ladder := old
WAY_ladder2 := new
WAY_eight := old
WAY_eight2 := new
FLAGS_ladder2 := -DTM_RELAY
FLAGS_eight := -DTM_EIGHT
FLAGS_eight2 := -DTM_EIGHT -DTM_RELAY

INSTANCES := instance long_instance
APPS := $(foreach group,$(GROUPS),$(ROLES:%=$(group)_%))
.PHONY: all
all: $(APPS:%=$(OUT)/%.o) $(INSTANCES:%=$(OUT)/%.o) $(OUT)/waker.o $(OUT)/libtockmark.a $(OUT)/app.ld

# The catalogue's rows, as headers.
$(OUT)/ladder_rows.h: lab/studies/ladder/catalogue.toml apps/generate.py
	@mkdir -p $(@D)
	@python3 apps/generate.py $< $@

$(INSTANCES:%=$(OUT)/%.o): $(OUT)/%.o: $(OUT)/parts/ladder/%.o $(OUT)/parts/ladder/chacha.o
	$(LD) -m elf32lriscv -r $^ -o $@
$(OUT)/waker.o: $(OUT)/parts/ladder/waker.o
	cp $< $@
$(OUT)/parts/ladder/long_instance.o: $(SOURCE)/instance.c $(SOURCE)/build.mk | $(OUT)/ladder_rows.h
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) -DRUNS=64 -c $< -o $@

define app
$(OUT)/$(1)_$(2).o: $(patsubst %,$(OUT)/parts/$(1)/%.o,$(PARTS_$(2)) $(WAY_$(1)))
	$(LD) -m elf32lriscv -r $$^ -o $$@
endef
define way
$(OUT)/parts/$(1)/%.o: $(SOURCE)/%.c $(SOURCE)/build.mk | $(OUT)/ladder_rows.h
	@mkdir -p $$(@D)
	$(CC) $(CFLAGS) $(FLAGS_$(1)) -DTM_GROUP=$(1) -c $$< -o $$@
$(foreach role,$(ROLES),$(eval $(call app,$(1),$(role))))
endef
$(foreach group,$(GROUPS),$(eval $(call way,$(group))))

$(OUT)/libtockmark.a: build/apps/c-abi2/libtockmark.a
	@mkdir -p $(@D)
	cp $< $@

-include $(shell find $(OUT)/parts -name '*.d' 2>/dev/null)

# Otherwise make would delete them as intermediate.
.SECONDARY:
