# SPDX-License-Identifier: Apache-2.0 OR MIT
# Builds the apps of the study receive, not yet linked, into build/apps/receive-c-abi2 and receive-rust-abi2: the receiver in
# each language, and what runs next to it, in C. Run from the top of the repository, after `make apps`:
#     make -f lab/studies/receive/apps/build.mk

include apps/code.mk

SOURCE := lab/studies/receive/apps
SUITE := build/apps/c-abi2
OUTS := build/apps/receive-c-abi2 build/apps/receive-rust-abi2
CFLAGS := -std=c11 $(CODE) -ffunction-sections -fdata-sections $(SPECS) -Wall -Wextra -Werror -MMD -MP \
	-I$(SUITE) -Iapps/runtime -Iapps/asm -DTM_ABI=2 '-DTM_CC="$(COMPILER)"'
BESIDE := spinner ipc_server pinger
RUST := build/cargo-receive
TARGET := riscv32imc-unknown-none-elf

.PHONY: all rust
all: $(foreach out,$(OUTS),$(BESIDE:%=$(out)/%.o) $(out)/writer.o $(out)/libtockmark.a) \
	build/apps/receive-c-abi2/receiver.o rust

build/apps/receive-c-abi2/receiver.o: $(SOURCE)/receiver.c $(SOURCE)/build.mk
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) -c $< -o $@
rust:
	@mkdir -p build/apps/receive-rust-abi2
	@TM_APPS=$(abspath apps) TM_CC=rustc cargo build --quiet --release --locked --manifest-path $(SOURCE)/Cargo.toml --target $(TARGET) --target-dir $(RUST)
	@riscv64-unknown-elf-objcopy --strip-debug --remove-section .llvmbc --remove-section .llvmcmd \
	    $(RUST)/$(TARGET)/release/receiver build/apps/receive-rust-abi2/receiver.o
define folder
$(1)/writer.o: $(SOURCE)/writer.c $(SOURCE)/build.mk
	@mkdir -p $$(@D)
	$(CC) $(CFLAGS) -c $$< -o $$@
$(1)/%: $(SUITE)/%
	@mkdir -p $$(@D)
	cp $$< $$@
endef
$(foreach out,$(OUTS),$(eval $(call folder,$(out))))
