# SPDX-License-Identifier: Apache-2.0 OR MIT
# Builds the Rust apps, not yet linked: one object per app (apps/rust/suite/src/bin/*.rs), and next to them the
# libtockmark.a of the C apps. Run from the top of the repository, after apps/build.mk:
#     make -f apps/rust/build.mk OUT=build/apps/rust-abi2 ABI=2
# Each of these options adds a suffix to the names of the folders:
#     OPT=z (s, 1, 2)     that opt-level instead of 3                                        -z
#     CALLS=tock          the measured calls with the crate tock instead of assembly         -tock
#     LIBTOCK_RS=DIR      those calls of version 2 with libtock-rs, a user's own copy        -libtock
# docs/findings.md explains the last two.

ABI ?= 2
OUT ?= build/apps/rust-abi$(ABI)
C ?= build/apps/c-abi$(ABI)

ifneq ($(filter-out tock,$(CALLS)),)
$(error apps/rust/build.mk: CALLS=$(CALLS) is not available; use CALLS=tock, or LIBTOCK_RS=DIR)
endif
ifneq ($(and $(CALLS),$(LIBTOCK_RS)),)
$(error apps/rust/build.mk: CALLS and LIBTOCK_RS exclude each other; use one of them)
endif

# ARCH=cortex-m4 builds for that core, as in apps/build.mk.                                  -cortex-m4
ifeq ($(ARCH),cortex-m4)
OBJCOPY := arm-none-eabi-objcopy
TARGET := thumbv7em-none-eabi
else
OBJCOPY := riscv64-unknown-elf-objcopy
TARGET := riscv32imc-unknown-none-elf
endif
SOURCE := apps/rust/suite/src/bin

ifeq ($(ABI)$(if $(LIBTOCK_RS),-libtock),2-libtock)
LIBRARY := libtock-rs
VARIANT := -libtock
WANTED := $(LIBTOCK_RS:%/=%)/platform/Cargo.toml $(LIBTOCK_RS:%/=%)/runtime/Cargo.toml
ifneq ($(words $(wildcard $(WANTED))),2)
$(error apps/rust/build.mk: $(LIBTOCK_RS) has no platform/ and runtime/ of libtock-rs; set LIBTOCK_RS to the folder of a checkout)
endif
else
LIBRARY := $(CALLS)
VARIANT := $(CALLS:%=-%)
endif
VARIANT := $(VARIANT)$(ARCH:%=-%)$(OPT:%=-%)

# The settings that shape the code are here, so that the apps print the actual ones.
LEVEL := $(or $(OPT),3)
export CARGO_PROFILE_RELEASE_OPT_LEVEL := $(LEVEL)
export CARGO_PROFILE_RELEASE_LTO := fat
export CARGO_PROFILE_RELEASE_CODEGEN_UNITS := 1
RUSTC := $(wordlist 1,2,$(shell rustc --version))
export TM_CC := $(RUSTC) -Copt-level=$(LEVEL) -Clto=fat -Ccodegen-units=1 $(TARGET)$(LIBRARY:%= %)
export TM_APPS := $(abspath apps)

override OUT := $(OUT)$(VARIANT)
CARGO_OUT := build/cargo-apps-abi$(ABI)$(VARIANT)
MANIFEST := $(if $(filter libtock-rs,$(LIBRARY)),$(CARGO_OUT)/Cargo.toml,Cargo.toml)
FEATURES := $(if $(filter 1,$(ABI)),abi-v1) $(if $(filter tock,$(LIBRARY)),calls)
BUILT := $(CARGO_OUT)/$(TARGET)/release

APPS := $(patsubst $(SOURCE)/%.rs,%,$(wildcard $(SOURCE)/*.rs))

.PHONY: all cargo
all: $(APPS:%=$(OUT)/%.o) $(OUT)/libtockmark.a $(if $(ARCH),$(OUT)/app.ld)

# Cargo decides what is out of date.
cargo: $(MANIFEST)
	@cargo build --release --quiet --manifest-path $< --package tockmark-suite --target $(TARGET) \
	    --target-dir $(CARGO_OUT) --features '$(FEATURES)'

$(APPS:%=$(BUILT)/%): cargo ;

# The manifest with libtock-rs. Each call may name another copy of it, and the objects may be newer than
# Cargo's build with that copy, so they are always made again.
ifeq ($(LIBRARY),libtock-rs)
.PHONY: $(MANIFEST) again
$(APPS:%=$(OUT)/%.o): again
$(MANIFEST): apps/rust/libtock-rs.toml
	@mkdir -p $(@D)
	@ln -sfn $(abspath apps/rust/suite/src) $(@D)/src
	@sed 's|@ROOT@|$(CURDIR)|; s|@LIBTOCK_RS@|$(abspath $(LIBTOCK_RS))|' $< > $@
endif

# Removes sections that the linker would treat as another compiler's code, and libtock-rs's own start:
# crt0.S starts an app.
NOT := .llvmbc .llvmcmd $(if $(filter libtock-rs,$(LIBRARY)),.start)
$(OUT)/%.o: $(BUILT)/%
	@mkdir -p $(@D)
	$(OBJCOPY) --strip-debug $(NOT:%=--remove-section %) $< $@

$(OUT)/libtockmark.a: $(C)$(ARCH:%=-%)/libtockmark.a
	@mkdir -p $(@D)
	cp $< $@

$(OUT)/app.ld: $(C)$(ARCH:%=-%)/app.ld
	@mkdir -p $(@D)
	cp $< $@
