# SPDX-License-Identifier: Apache-2.0 OR MIT
# Builds whole programs as unlinked apps: one object per program (c/*.c, src/bin/*.rs), and libtockmark.a.
# Third-party sources come from packages: IBEX is the folder of Ibex's sources, Cargo finds the crates'.
# Run from the top of the repository, after apps/build.mk:
#     make -f lab/studies/programs/apps/build.mk IBEX=…/vendor
#     make -f lab/studies/programs/apps/build.mk IBEX=…/vendor ONLY="aes towers"
# Output: build/apps/programs-c-abi2 and programs-rust-abi2; the folders ending in -csr have the same objects
# with the library that reads the core's counters in machine mode, for bare programs.

include apps/code.mk

SOURCE := lab/studies/programs/apps
CATALOGUE := lab/studies/programs/catalogue.toml
C := build/apps/programs-c-abi2
RUST := build/apps/programs-rust-abi2
BARE := build/apps/bare.elf
FOLDERS := $(C) $(C)-csr $(RUST) $(RUST)-csr
TARGET := riscv32imc-unknown-none-elf
CARGO := cargo --quiet
CARGO_OUT := build/cargo-programs
CRYPTO := build/apps/crypto.o
TESTS := $(IBEX)/riscv-tests/benchmarks
EEMBC := $(IBEX)/eembc_coremark

ifeq ($(wildcard $(TESTS)),)
$(error lab/studies/programs/apps/build.mk: IBEX is not the vendor folder of the Ibex package; call `make programs`)
endif

OWN_FLAGS := -std=gnu11 $(CODE) -ffunction-sections -fdata-sections --specs=picolibc.specs -MMD -MP
INCLUDE := -I$(C) -Ibuild/apps/c-abi2 -Iapps/runtime -Iapps/asm -I$(SOURCE) -DTM_ABI=2 '-DTM_CC="$(COMPILER)"'
STRICT := -Wall -Wextra -Werror
# Third-party code is compiled unchanged, without warnings.
FOREIGN_FLAGS := $(OWN_FLAGS) -w -I$(SOURCE)/port -I$(EEMBC) -I$(TESTS)/common -I$(IBEX)/riscv-test-env

# The app pad, and versions that are this many KiB longer.
PADS := pad_16 pad_64 pad_128 pad_256
ALL_C := $(patsubst $(SOURCE)/c/%.c,%,$(wildcard $(SOURCE)/c/*.c)) $(PADS)
ALL_RUST := $(patsubst $(SOURCE)/src/bin/%.rs,%,$(wildcard $(SOURCE)/src/bin/*.rs))
CRYPTO_USERS := crypto crypto_server crypto_relay
NAMES_C := $(if $(ONLY),$(filter $(ONLY) ticker $(if $(filter size,$(ONLY)),pad $(PADS)) $(if $(filter crypto,$(ONLY)),mlkem $(CRYPTO_USERS)),$(ALL_C)),$(ALL_C))
NAMES_RUST := $(if $(ONLY),$(filter $(ONLY),$(ALL_RUST)),$(ALL_RUST))

.PHONY: all cargo
all: $(BARE) $(if $(filter crypto,$(NAMES_C)),$(CRYPTO)) $(foreach folder,$(C) $(C)-csr,$(NAMES_C:%=$(folder)/%.o)) \
	$(foreach folder,$(RUST) $(RUST)-csr,$(NAMES_RUST:%=$(folder)/%.o) $(folder)/ticker.o) \
	$(FOLDERS:%=%/libtockmark.a) $(FOLDERS:%=%/app.ld)

# A program's third-party sources, and their extra options.
PARTS_lms := $(foreach one,list_join main matrix state util,$(EEMBC)/core_$(one).c)
FLAGS_lms := -Dmain=lms_main -DTOTAL_DATA_SIZE=2000 -DPERFORMANCE_RUN=1 -DITERATIONS=1
PARTS_dhrystone := $(TESTS)/dhrystone/dhrystone.c $(TESTS)/dhrystone/dhrystone_main.c
# Dhrystone's rules forbid inlining.
FLAGS_dhrystone := -Dmain=dhrystone_main -DTIME -fno-inline -fno-builtin-printf -fno-common
PARTS_qsort := $(TESTS)/qsort/qsort_main.c
FLAGS_qsort := -Dmain=qsort_main
PARTS_towers := $(TESTS)/towers/towers_main.c
FLAGS_towers := -Dmain=towers_main
PARTS_matrix := $(TESTS)/mt-matmul/matmul.c
$(foreach one,$(PADS),$(eval FLAGS_$(one) := -DKIB=$(one:pad_%=%)))
ifneq ($(filter mlkem,$(NAMES_C)),)
CRATE = $(shell $(CARGO) metadata --format-version 1 --locked --manifest-path $(SOURCE)/Cargo.toml | \
    sed -n 's|.*"manifest_path":"\([^"]*/$(1)-[0-9.]*\)/Cargo.toml".*|\1|p')
PQCLEAN_ALL := $(call CRATE,pqcrypto-mlkem)/pqclean
PQCLEAN := $(PQCLEAN_ALL)/crypto_kem/ml-kem-768/clean
INTERNALS := $(call CRATE,pqcrypto-internals)
PARTS_mlkem := $(wildcard $(PQCLEAN)/*.c) $(INTERNALS)/cfiles/fips202.c
FLAGS_mlkem := -I$(PQCLEAN) -I$(INTERNALS)/include -I$(PQCLEAN_ALL)/common
endif

# The crypto as one object, which the kernel also links: it exports only its entry point and calls nothing
# outside.
$(CRYPTO): $(CARGO_OUT)/$(TARGET)/release/cipher $(C)/parts/crypto/work.o $(foreach one,$(PARTS_mlkem),$(C)/parts/mlkem/$(basename $(notdir $(one))).o)
	$(LD) -m elf32lriscv -r --gc-sections -u tm_crypto $^ -o $@.all
	riscv64-unknown-elf-objcopy --strip-debug --remove-section '.llvm*' --remove-section '*.eh_frame' \
    --keep-global-symbol tm_crypto $@.all $@
	rm $@.all
$(C)/parts/crypto/work.o: $(SOURCE)/crypto/work.c $(SOURCE)/build.mk | $(C)/parts/crypto
	$(CC) $(OWN_FLAGS) $(STRICT) $(FLAGS_mlkem) -I$(SOURCE)/port -c $< -o $@
-include $(C)/parts/crypto/work.d
$(CRYPTO_USERS:%=$(C)/%.o): $(CRYPTO)

# Third-party code depends only on itself and on our port: its other includes have a different path in each setup.
PORT := $(wildcard $(SOURCE)/port/*.h)
part = $(C)/parts/$(1)/$(basename $(notdir $(2))).o
define foreign
$(call part,$(1),$(2)): $(2) $(PORT) $(SOURCE)/build.mk | $(C)/parts/$(1)
	$(CC) $(FOREIGN_FLAGS) $(FLAGS_$(1)) -I$(dir $(2)) -c $(2) -o $$@
endef
define program
$(C)/parts/$(1): ; @mkdir -p $$@
$(C)/parts/$(1)/own.o: $(SOURCE)/c/$(if $(filter $(1),$(PADS)),pad,$(1)).c $(SOURCE)/build.mk | $(C)/parts/$(1) $(C)/programs_rows.h
	$(CC) $(OWN_FLAGS) $(STRICT) $(INCLUDE) $(FLAGS_$(1)) -I$(SOURCE)/port -isystem $(EEMBC) -isystem $(TESTS) -isystem $(TESTS)/common -c $$< -o $$@
$(foreach one,$(PARTS_$(1)),$(eval $(call foreign,$(1),$(one))))
$(C)/$(1).o: $(C)/parts/$(1)/own.o $(foreach one,$(PARTS_$(1)),$(call part,$(1),$(one))) $(if $(filter-out ticker crypto_server crypto_relay size pad $(PADS),$(1)),$(C)/parts/program.o)
	$(LD) -m elf32lriscv -r $$^ -o $$@
-include $(C)/parts/$(1)/own.d
endef
$(foreach one,$(NAMES_C),$(eval $(call program,$(one))))

# The catalogue's rows, as headers.
$(C)/programs_rows.h: $(CATALOGUE) apps/generate.py
	@mkdir -p $(@D)
	@python3 apps/generate.py $< $@

$(C)/parts/program.o: $(SOURCE)/program.c $(SOURCE)/build.mk | $(C)/programs_rows.h
	@mkdir -p $(@D)
	$(CC) $(OWN_FLAGS) $(STRICT) $(INCLUDE) -c $< -o $@
-include $(C)/parts/program.d

# Rust: as in apps/rust/build.mk.
RUSTC := $(wordlist 1,2,$(shell rustc --version))
LEVEL := 3
cargo: export TM_CC := $(RUSTC) -Copt-level=$(LEVEL) -Clto=fat -Ccodegen-units=1 $(TARGET)
cargo: export TM_APPS := $(abspath apps)
cargo: export TM_CATALOGUE := $(abspath $(CATALOGUE))
cargo:
	@$(CARGO) build --release --locked --manifest-path $(SOURCE)/Cargo.toml --target $(TARGET) \
	    --target-dir $(CARGO_OUT) $(foreach one,$(NAMES_RUST) $(if $(filter crypto,$(NAMES_C)),cipher),--bin $(one))

$(foreach one,$(NAMES_RUST) cipher,$(CARGO_OUT)/$(TARGET)/release/$(one)): cargo ;

$(RUST)/%.o: $(CARGO_OUT)/$(TARGET)/release/% $(C)/parts/program.o
	@mkdir -p $(@D)
	riscv64-unknown-elf-objcopy --strip-debug --remove-section .llvmbc --remove-section .llvmcmd $< $@.alone
	$(LD) -m elf32lriscv -r $@.alone $(C)/parts/program.o -o $@
	rm $@.alone

$(RUST)/ticker.o: $(C)/ticker.o
	@mkdir -p $(@D)
	cp $< $@

# Only the library differs.
$(C)/libtockmark.a $(RUST)/libtockmark.a: build/apps/c-abi2/libtockmark.a
	@mkdir -p $(@D)
	cp $< $@
$(C)-csr/libtockmark.a $(RUST)-csr/libtockmark.a: build/apps/c-abi2-machine/libtockmark.a
	@mkdir -p $(@D)
	cp $< $@
$(C)-csr/%.o: $(C)/%.o
	@mkdir -p $(@D)
	cp $< $@
$(RUST)-csr/%.o: $(RUST)/%.o
	@mkdir -p $(@D)
	cp $< $@

# Compile each source alone: otherwise the object contains names of temporary files.
BARE_PARTS := $(C)/parts/bare/start.o $(C)/parts/bare/bare.o
$(BARE_PARTS): $(C)/parts/bare/%.o: $(wildcard $(SOURCE)/bare/*) $(SOURCE)/build.mk
	@mkdir -p $(@D)
	$(CC) -std=c11 -O2 $(MACHINE) $(STRICT) --specs=picolibc.specs -Iapps/asm -DTM_ABI=2 -mno-relax \
	    -ffunction-sections -fdata-sections -c $(wildcard $(SOURCE)/bare/$*.[cS]) -o $@
$(BARE): $(BARE_PARTS) $(SOURCE)/bare/bare.ld
	$(LD) -m elf32lriscv --no-relax --build-id=none --no-warn-rwx-segments -T $(SOURCE)/bare/bare.ld $(BARE_PARTS) -o $@

# Otherwise make would delete them as intermediate.
.SECONDARY:
