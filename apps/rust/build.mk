# SPDX-License-Identifier: Apache-2.0 OR MIT
# Builds the Rust apps, not yet linked: one object an app (apps/rust/suite/src/bin/*.rs), and beside them
# the libtockmark.a that the C apps have. Run from the top of the repository, when apps/build.mk has run:
#     make -f apps/rust/build.mk OUT=build/apps/rust-abi2 ABI=2
# OPT=z (s, 1, 2): with that opt-level in the place of Cargo.toml's, and -z behind the names of the folders.

ABI ?= 2
OUT ?= build/apps/rust-abi$(ABI)
C ?= build/apps/c-abi$(ABI)

OBJCOPY := riscv64-unknown-elf-objcopy
TARGET := riscv32imc-unknown-none-elf
SOURCE := apps/rust/suite/src/bin

# What shapes the code is set here, so that what the apps say of it is so.
LEVEL := $(or $(OPT),3)
export CARGO_PROFILE_RELEASE_OPT_LEVEL := $(LEVEL)
export CARGO_PROFILE_RELEASE_LTO := fat
export CARGO_PROFILE_RELEASE_CODEGEN_UNITS := 1
RUSTC := $(wordlist 1,2,$(shell rustc --version))
export TM_CC := $(RUSTC) -Copt-level=$(LEVEL) -Clto=fat -Ccodegen-units=1 $(TARGET)

VARIANT := $(OPT:%=-%)
override OUT := $(OUT)$(VARIANT)
CARGO_OUT := build/cargo-apps-abi$(ABI)$(VARIANT)
FEATURES := $(if $(filter 1,$(ABI)),--features abi-v1)
BUILT := $(CARGO_OUT)/$(TARGET)/release

APPS := $(patsubst $(SOURCE)/%.rs,%,$(wildcard $(SOURCE)/*.rs))

.PHONY: all cargo
all: $(APPS:%=$(OUT)/%.o) $(OUT)/libtockmark.a

# Cargo knows what is out of date.
cargo:
	@cargo build --release --quiet --package tockmark-suite --target $(TARGET) --target-dir $(CARGO_OUT) $(FEATURES)

$(APPS:%=$(BUILT)/%): cargo ;

# Without what the linker would take for code of another compiler.
$(OUT)/%.o: $(BUILT)/%
	@mkdir -p $(@D)
	$(OBJCOPY) --strip-debug --remove-section .llvmbc --remove-section .llvmcmd $< $@

$(OUT)/libtockmark.a: $(C)/libtockmark.a
	@mkdir -p $(@D)
	cp $< $@
