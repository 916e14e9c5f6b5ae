# SPDX-License-Identifier: Apache-2.0 OR MIT
# Builds the study's apps for a kernel into build/apps/runtimes-c-abi2, the options of firmware without a kernel
# into build/apps/runtimes-rust-abi2-csr, and the firmware into build/runtimes. Run from the top of the repository,
# after apps/build.mk:
#     make -f lab/studies/runtimes/apps/build.mk
#     make -f lab/studies/runtimes/apps/build.mk LEVEL=z LAYOUTS="0 1 2 3"

include apps/code.mk

STUDY := lab/studies/runtimes
SOURCE := $(STUDY)/apps
C := build/apps/runtimes-c-abi2
OPTIONS := build/apps/runtimes-rust-abi2-csr
LEVEL := 3
LAYOUTS := 0
FIRMWARE := build/runtimes/$(LEVEL)$(WRONG:1=-wrong)
CARGO_OUT := build/cargo-runtimes
TARGET := riscv32imc-unknown-none-elf
CFLAGS := -std=c11 $(CODE) -ffunction-sections -fdata-sections --specs=picolibc.specs -Wall -Wextra -Werror -MMD -MP \
	-I$(C) -Ibuild/apps/c-abi2 -Iapps/runtime -Iapps/asm -Iapps/c -I$(SOURCE) -DTM_ABI=2 '-DTM_CC="$(COMPILER)"'
SLOTS := cost cost_peer cost_spinner

.PHONY: all firmware
all: $(foreach one,$(SLOTS),$(C)/$(one).o $(OPTIONS)/$(one).o) $(C)/libtockmark.a $(OPTIONS)/libtockmark.a firmware

# The catalogue's rows, as headers.
$(C)/runtimes_rows.h: $(STUDY)/catalogue.toml apps/generate.py
	@mkdir -p $(@D)
	@python3 apps/generate.py $< $@

$(C)/cost_spinner.o: apps/c/spinner.c
$(C)/cost.o $(C)/cost_peer.o: $(C)/%.o: $(SOURCE)/%.c
$(SLOTS:%=$(C)/%.o): $(SOURCE)/build.mk | $(C)/runtimes_rows.h
	$(CC) $(CFLAGS) -c $(filter %.c,$^) -o $@
-include $(SLOTS:%=$(C)/%.d)

$(C)/libtockmark.a: build/apps/c-abi2/libtockmark.a
	@mkdir -p $(@D)
	cp $< $@

# Only the first app in flash is read; the marks are in the one that reports.
$(SLOTS:%=$(OPTIONS)/%.o): $(SOURCE)/options.S $(SOURCE)/marks.inc $(SOURCE)/build.mk
	@mkdir -p $(@D)
	$(CC) $(MACHINE) -Iapps/runtime -I$(SOURCE) $(if $(filter cost.o,$(@F)),-DMARKS) -c $< -o $@
$(OPTIONS)/libtockmark.a:
	@mkdir -p $(@D)
	ar rc $@

# Ibex's vector table is aligned to 256 bytes.
firmware: export RISCV_MTVEC_ALIGN := 256
firmware: export CARGO_PROFILE_RELEASE_OPT_LEVEL := $(LEVEL)
firmware:
	@mkdir -p $(FIRMWARE)
	@for layout in $(LAYOUTS); do \
	    TOCKMARK_LAYOUT=$$layout cargo --quiet build --release --locked --manifest-path $(STUDY)/firmware/Cargo.toml \
	        --target $(TARGET) --target-dir $(CARGO_OUT) $(WRONG:1=--features wrong) || exit 1; \
	    for one in bare rtic embassy; do \
	        cp $(CARGO_OUT)/$(TARGET)/release/on_$$one $(FIRMWARE)/$$one-$$layout.elf; \
	    done; \
	done
