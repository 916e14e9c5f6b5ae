# SPDX-License-Identifier: Apache-2.0 OR MIT
# The one entry for everyday work. Products go to build/, .venv/ and .tools/, runs to build/results/.
export CARGO_TARGET_DIR := $(abspath build/cargo)
MAKEFLAGS += --jobs=$(shell nproc)
TOCKMARK := .venv/bin/tockmark
RESULTS := results/tock-2.2-cw310.json results/tock-master-cw310.json

# Without V=1 only what is begun is said, not how: the compilers' warnings and errors come all the same.
QUIET := $(if $(V),,--quiet)
SILENT := --no-print-directory $(if $(V),,--silent)
begin = $(if $(V),@:,@[ -e $(1) ] || echo 'build: $(2)')
# What a product was built of stands beside it, so that nothing stale is measured.
stamp = @.venv/bin/python -m tockmark.target.sources
ELF = $(TARGET)/release/tockmark-kernel

.PHONY: help setup build sim rom-2022 sim-retire sim-waves profile kernel apps setup-qemu qemu-tools setup-browser kernel-layouts bench test check tables wheel clean

help:
	@echo 'make bench   set up, build, run the suite on the simulated Earl Grey, print what it costs'
	@echo 'make test    set up, build, run the product'\''s tests and all linters'
	@echo 'make check   run formatters, linters, type checks and unit tests only; about five minutes'
	@echo 'make setup   install Debian packages, .venv and .tools'
	@echo 'make setup-qemu  install QEMU and compilers for Arm, build kernels and apps: tockmark run --board qemu'
	@echo 'make setup-browser  install Chromium, Perfetto and Valgrind, which some tests need'
	@echo 'make build   build the simulator, the baseline kernel and the apps'
	@echo 'make sim CORE=maxperf-pmp  build a simulator with another core: a configuration of Ibex or a folder of yours'
	@echo 'make kernel OPT=z  build the baseline kernel with opt-level z (or s, 1, 2), in build/cargo-z'
	@echo 'make kernel-eight  build it for eight apps, in build/cargo-eight; also kernel-v1-eight'
	@echo 'make kernel-pmp-8  build it for a core with eight PMP regions'
	@echo 'make kernel-cyclecount  build it with CycleCount instead of Perf; also -open-counters, -without-perf'
	@echo 'make kernel-layouts K=8  link it 8 times (default: 4) with other layouts, in build/kernel-layouts'
	@echo 'make profile build what `tockmark profile` needs'
	@echo 'make tables  refresh the tables and pictures of committed results in README and docs/'
	@echo 'make wheel   build the tool as one file to install, in build/wheel'
	@echo 'make clean   remove everything that was built, except build/results/'
	$(LAB_HELP)
	@echo 'V=1 shows every command.'
	@echo 'Then: .venv/bin/tockmark --help'

setup:
	@tools/setup.sh

# What `--board qemu` and boards with a Cortex-M also need (docs/boards-and-simulator.md).
setup-qemu: kernel-qemu kernel-v1-qemu apps-cortex-m4
qemu-tools: setup
	@tools/setup.sh qemu

# What tests/browser needs besides, and callgrind_annotate; without it `make test` leaves those
# tests out and says so.
setup-browser: setup
	@tools/setup.sh browser

build: sim rom-2022 kernel kernel-v1 apps

# One simulator a machine: `make sim`, `make sim-nexysvideo`, …
# CORE=maxperf-pmp (or another configuration of Ibex, or the folder of a core of yours): that of the
# cw310 with this core, in a folder of its own.
ifeq ($(CORE),)
sim: sim-cw310
else
ifneq ($(filter-out sim,$(or $(MAKECMDGOALS),help)),)
$(error CORE is for the simulator, as in: make sim CORE=maxperf-pmp)
endif
sim: sim-cw310-$(notdir $(CORE:%/=%))
endif
sim-cw310-%: setup
	$(call begin,build/sim/cw310-$*/earlgrey-sim,the simulator of the core $* (a minute on two cores))
	@$(MAKE) $(SILENT) -C boards/earlgrey-sim OUT=../../build/sim/cw310-$* \
	    CORE=$(if $(findstring /,$(CORE)),$(abspath $(CORE)),$*)
	$(stamp) sim build/sim/cw310-$*/earlgrey-sim
sim-%: setup
	$(call begin,build/sim/$*/earlgrey-sim,the simulator of $* (a minute on two cores))
	@$(MAKE) $(SILENT) -C boards/earlgrey-sim MACHINE=$* OUT=../../build/sim/$*
	$(stamp) sim build/sim/$*/earlgrey-sim

# The boot ROM of a chip that sets up no ePMP, for the board earlgrey-sim-2022.
rom-2022: setup
	@mkdir -p build/sim
	@riscv64-unknown-elf-gcc -DROM_2020 -march=rv32imc_zicsr -mabi=ilp32 -nostdlib -nostartfiles \
	    -T boards/earlgrey-sim/rom/rom.ld -o build/sim/rom-2022.elf boards/earlgrey-sim/rom/rom.S
	@riscv64-unknown-elf-objcopy -O binary build/sim/rom-2022.elf build/sim/rom-2022.bin

# Beside it, one that shows more: every retired instruction, or waves. MACHINE=nexysvideo for another.
sim-retire sim-waves: sim-%: setup
	$(call begin,build/sim/$(or $(MACHINE),cw310)-$*/earlgrey-sim,the simulator that shows more (a minute))
	@$(MAKE) $(SILENT) -C boards/earlgrey-sim MACHINE=$(or $(MACHINE),cw310) VARIANT=$*
	$(stamp) sim build/sim/$(or $(MACHINE),cw310)-$*/earlgrey-sim

# What `tockmark profile` needs besides.
profile: build sim-retire
	@cargo kernel-lines $(QUIET)
	@cargo kernel-lines --features abi-v1 --target-dir build/cargo-v1 $(QUIET)
	$(stamp) kernel build/cargo/$(TARGET)/profiling/tockmark-kernel build/cargo-v1/$(TARGET)/profiling/tockmark-kernel

# OPT=z (s, 1, 2): with that opt-level in the place of Cargo.toml's, and a folder of its own.
ifneq ($(OPT),)
ifneq ($(filter-out kernel% apps%,$(MAKECMDGOALS)),)
$(error OPT is for kernels and apps, as in: make kernel OPT=z)
endif
export CARGO_PROFILE_RELEASE_OPT_LEVEL := $(OPT)
endif
TARGET := riscv32imc-unknown-none-elf
KERNEL = build/cargo$(@:kernel%=%)$(OPT:%=-%)

kernel: setup
	$(call begin,$(KERNEL),the baseline kernel)
	@cargo kernel --target-dir $(KERNEL) $(QUIET)
	$(stamp) kernel $(KERNEL)/$(ELF)

# Its variants, each in a folder of its own, as `cargo kernel-v1` has it too.
kernel-v1: FEATURES := abi-v1
kernel-nexysvideo: FEATURES := nexysvideo
kernel-v1-nexysvideo: FEATURES := abi-v1,nexysvideo
kernel-eight: FEATURES := eight
kernel-v1-eight: FEATURES := abi-v1,eight
kernel-pmp-8: FEATURES := pmp-8
kernel-without-perf: FEATURES := without-perf
kernel-cyclecount: FEATURES := cyclecount
kernel-open-counters: FEATURES := open-counters
kernel-earlgrey-2021: FEATURES := earlgrey-2021
kernel-v1-earlgrey-2021: FEATURES := abi-v1,earlgrey-2021
kernel-qemu: FEATURES := qemu
kernel-v1-qemu: FEATURES := abi-v1,qemu
VARIANTS := kernel-v1 $(foreach one,eight nexysvideo earlgrey-2021 qemu,kernel-$(one) kernel-v1-$(one)) $(addprefix kernel-,pmp-8 without-perf cyclecount open-counters)
$(VARIANTS): kernel-%: setup
	$(call begin,$(KERNEL),the baseline kernel $*)
	@cargo kernel --features $(FEATURES) --target-dir $(KERNEL) $(QUIET)
	$(stamp) kernel $(KERNEL)/$(ELF)

# Links of the kernel that differ in layout only (docs/method.md): 0.elf is that of `make kernel`.
K := 4
LAYOUTS = build/kernel-layouts$(OPT:%=-%)
kernel-layouts: setup
	$(call begin,$(LAYOUTS),$(K) layouts of the baseline kernel)
	@rm -f $(LAYOUTS)/*.elf
	@for i in $$(seq 0 $$(($(K) - 1))); do \
	    TOCKMARK_LAYOUT=$$i cargo kernel --target-dir $(LAYOUTS)/cargo $(QUIET) && \
	    cp $(LAYOUTS)/cargo/$(TARGET)/release/tockmark-kernel $(LAYOUTS)/$$i.elf || exit 1; \
	done

# In C and in Rust, for each version of the system-call interface. OPT=z and the like are for Rust's.
apps: apps-1 apps-2
RUST_BUILT = $(OPT:%=-%)$(CALLS:%=-%)$(if $(LIBTOCK_RS),-libtock)
apps-%: setup
	$(call begin,build/apps/c-abi$*,the apps for version $* of the interface)
	@$(MAKE) $(SILENT) -f apps/build.mk OUT=build/apps/c-abi$* ABI=$*
	@$(if $(filter 2,$*),$(foreach one,cyclecount csr,$(MAKE) $(SILENT) -f apps/build.mk OUT=build/apps/c-abi2 ABI=2 LIBTOCK_C= COUNTER=$(one) &&) true)
	@$(if $(filter 2,$*),$(MAKE) $(SILENT) -f apps/latency/build.mk)
	@$(if $(LIBTOCK_C),:,$(MAKE)) $(SILENT) -f apps/rust/build.mk ABI=$*
	$(stamp) apps $(if $(filter 2,$*),build/apps/c-abi2-cyclecount build/apps/c-abi2-csr build/apps/latency-abi2) $(if $(LIBTOCK_C),,build/apps/c-abi$* build/apps/rust-abi$*$(RUST_BUILT))

# Those for Cortex-M, in both languages.
apps-cortex-m4: apps qemu-tools
	$(call begin,build/apps/c-abi2-cortex-m4,the apps for Cortex-M)
	@$(MAKE) $(SILENT) -f apps/build.mk OUT=build/apps/c-abi2 ABI=2 ARCH=cortex-m4
	@$(MAKE) $(SILENT) -f apps/rust/build.mk ABI=2 ARCH=cortex-m4
	$(stamp) apps build/apps/c-abi2-cortex-m4 build/apps/rust-abi2-cortex-m4

bench: build
	@$(TOCKMARK) run --lang c,rust --short rust $(addprefix --beside ,$(RESULTS))

# On all cores: conftest.py says what may not run beside each other.
PYTEST := .venv/bin/pytest --numprocesses auto --dist loadscope --no-loadscope-reorder

test: build
	@$(PYTEST)

# What runs no program on the simulator: for every change, before `make test`.
check: apps
	@$(PYTEST) tools tests/test_style.py tests/test_layers.py tests/test_definitions.py tests/test_goldens.py

tables: setup apps
	@.venv/bin/python tools/pages

# What `pip install` takes: the tool with all that it needs to measure, profile and judge.
wheel: profile
	@.venv/bin/python tools/wheel.py

clean:
	[ ! -d build ] || find build/ -mindepth 1 -maxdepth 1 ! -name results -exec rm -rf {} +
	rm -rf .venv .venvs .tools .hypothesis tools/*.egg-info
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

include lab/Makefile
