# SPDX-License-Identifier: Apache-2.0 OR MIT
# The entry point for everyday work. Products go to build/, .venv/ and .tools/, results to build/results/.
export CARGO_TARGET_DIR := $(abspath build/cargo)
MAKEFLAGS += --jobs=$(shell nproc)
TOCKMARK := .venv/bin/tockmark
RESULTS := results/tock-2.2-cw310.json results/tock-master-cw310.json

# Without V=1, make prints the name of each step, not its commands. Warnings and errors are always shown.
QUIET := $(if $(V),,--quiet)
SILENT := --no-print-directory $(if $(V),,--silent)
begin = $(if $(V),@:,@[ -e $(1) ] || echo 'build: $(2)')
# A record of a product's sources is stored next to it, so that stale products are not measured.
stamp = @.venv/bin/python -m tockmark.target.sources
ELF = $(TARGET)/release/tockmark-kernel

.PHONY: help setup setup-dev setup-rtl build sim sim-rtl rom-2022 sim-retire sim-waves profile kernel apps setup-qemu qemu-tools setup-browser kernel-layouts bench test check tables wheel clean

help:
	@echo 'make bench   set up, build, run the suite on the simulated Earl Grey, and print the costs'
	@echo 'make test    set up, build, and run the product'\''s tests and all linters'
	@echo 'make check   run only formatters, linters, type checks and unit tests (two to three minutes)'
	@echo 'make setup   install Debian packages, .venv and .tools'
	@echo 'make setup-rtl  install Verilator and the RTL of Ibex, for simulators of RTL'
	@echo 'make setup-qemu  install QEMU and Arm compilers, build kernels and apps for tockmark run --board qemu'
	@echo 'make setup-browser  install Chromium, Perfetto and Valgrind for some tests'
	@echo 'make build   build the simulator, the baseline kernel and the apps'
	@echo 'make sim-rtl  build the simulator of the core'\''s RTL, for tockmark run --engine rtl; also sim-nexysvideo'
	@echo 'make sim-earlgrey-asic  build the simulator without the FPGA'\''s registers at the core'\''s ports'
	@echo 'make sim CORE=maxperf-pmp  build a simulator with another core in RTL: an Ibex configuration or your folder'
	@echo 'make kernel OPT=z  build the baseline kernel with opt-level z (or s, 1, 2) in build/cargo-z'
	@echo 'make kernel-eight  build it for eight apps in build/cargo-eight; also kernel-v1-eight'
	@echo 'make kernel-pmp-8  build it for a core with eight PMP regions'
	@echo 'make kernel-cyclecount  build it with CycleCount instead of Perf; also -open-counters, -without-perf'
	@echo 'make kernel-layouts K=8  link it in 8 layouts (default: 4) in build/kernel-layouts'
	@echo 'make profile build kernels with line tables for tockmark profile'
	@echo 'make tables  update the tables and pictures in README and docs/ from committed results'
	@echo 'make wheel   build an installable wheel of the tool in build/wheel'
	@echo 'make clean   remove all products except build/results/'
	$(LAB_HELP)
	@echo 'V=1 shows every command.'
	@echo 'Then: .venv/bin/tockmark --help'

setup:
	@tools/setup.sh

# Verilator and Ibex, which only simulators of RTL need.
setup-rtl: setup
	@tools/setup.sh rtl

# For `--board qemu` and boards with a Cortex-M (docs/boards-and-simulator.md).
setup-qemu: kernel-qemu kernel-v1-qemu apps-cortex-m4
qemu-tools: setup
	@tools/setup.sh qemu

# For tests/browser, and callgrind_annotate. Without it, `make test` skips those tests and reports it.
setup-browser: setup
	@tools/setup.sh browser

build: sim rom-2022 kernel kernel-v1 apps

# One simulator per machine: `make sim`, `make sim-nexysvideo`, … Those of cw310, earlgrey-asic and
# flat are in C++, the others in RTL. CORE=maxperf-pmp (or another configuration of Ibex, or the folder of your own core) builds
# the cw310 with this core in RTL, in a separate folder.
ifeq ($(CORE),)
sim: sim-cw310
else
ifneq ($(filter-out sim,$(or $(MAKECMDGOALS),help)),)
$(error CORE applies only to the simulator. Run: make sim CORE=maxperf-pmp)
endif
sim: sim-cw310-$(notdir $(CORE:%/=%))
endif
sim-cw310-%: setup-rtl
	$(call begin,build/sim/cw310-$*/earlgrey-sim,the simulator of the core $* (a minute on two cores))
	@$(MAKE) $(SILENT) -C boards/earlgrey-sim OUT=../../build/sim/cw310-$* \
	    CORE=$(if $(findstring /,$(CORE)),$(abspath $(CORE)),$*)
	$(stamp) sim build/sim/cw310-$*/earlgrey-sim
sim-cw310 sim-earlgrey-asic sim-flat: sim-%: setup
	$(call begin,build/sim/$*/earlgrey-sim,the simulator of $*)
	@$(MAKE) $(SILENT) -C boards/earlgrey-sim MACHINE=$*
	$(stamp) sim build/sim/$*/earlgrey-sim
sim-%: setup-rtl
	$(call begin,build/sim/$*/earlgrey-sim,the simulator of $* in RTL (a minute on two cores))
	@$(MAKE) $(SILENT) -C boards/earlgrey-sim MACHINE=$*
	$(stamp) sim build/sim/$*/earlgrey-sim

# The boot ROM without ePMP setup, for the board earlgrey-sim-2022.
rom-2022: setup
	@mkdir -p build/sim
	@riscv64-unknown-elf-gcc -DROM_2020 -march=rv32imc_zicsr -mabi=ilp32 -nostdlib -nostartfiles \
	    -T boards/earlgrey-sim/rom/rom.ld -o build/sim/rom-2022.elf boards/earlgrey-sim/rom/rom.S
	@riscv64-unknown-elf-objcopy -O binary build/sim/rom-2022.elf build/sim/rom-2022.bin

# The RTL of cw310 (or of MACHINE=flat, =earlgrey-asic), with which the one in C++ is compared; and simulators of RTL that
# also trace every retired instruction, or waves. MACHINE=nexysvideo selects the machine.
IN_RTL = build/sim/$(or $(MACHINE),cw310)$(if $(filter nexysvideo earlgrey_2021 cw310_secure,$(MACHINE)),,-rtl)
sim-rtl: setup-rtl
	$(call begin,$(IN_RTL)/earlgrey-sim,the simulator of the RTL (a minute))
	@$(MAKE) $(SILENT) -C boards/earlgrey-sim MACHINE=$(or $(MACHINE),cw310) ENGINE=rtl
	$(stamp) sim $(IN_RTL)/earlgrey-sim
sim-retire sim-waves: sim-%: setup-rtl
	$(call begin,$(IN_RTL)-$*/earlgrey-sim,the simulator with a trace (a minute))
	@$(MAKE) $(SILENT) -C boards/earlgrey-sim MACHINE=$(or $(MACHINE),cw310) VARIANT=$*
	$(stamp) sim $(IN_RTL)-$*/earlgrey-sim

# For `tockmark profile`: kernels with line tables.
profile: build
	@cargo kernel-lines $(QUIET)
	@cargo kernel-lines --features abi-v1 --target-dir build/cargo-v1 $(QUIET)
	$(stamp) kernel build/cargo/$(TARGET)/profiling/tockmark-kernel build/cargo-v1/$(TARGET)/profiling/tockmark-kernel

# OPT=z (s, 1, 2): with this opt-level instead of Cargo.toml's, in a separate folder.
ifneq ($(OPT),)
ifneq ($(filter-out kernel% apps%,$(MAKECMDGOALS)),)
$(error OPT applies only to kernels and apps. Run: make kernel OPT=z)
endif
export CARGO_PROFILE_RELEASE_OPT_LEVEL := $(OPT)
endif
TARGET := riscv32imc-unknown-none-elf
KERNEL = build/cargo$(@:kernel%=%)$(OPT:%=-%)

kernel: setup
	$(call begin,$(KERNEL),the baseline kernel)
	@cargo kernel --target-dir $(KERNEL) $(QUIET)
	$(stamp) kernel $(KERNEL)/$(ELF)

# Variants of the kernel, each in a separate folder, as for `cargo kernel-v1`.
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
VARIANTS := kernel-v1 $(foreach variant,eight nexysvideo earlgrey-2021 qemu,kernel-$(variant) kernel-v1-$(variant)) $(addprefix kernel-,pmp-8 without-perf cyclecount open-counters)
$(VARIANTS): kernel-%: setup
	$(call begin,$(KERNEL),the baseline kernel $*)
	@cargo kernel --features $(FEATURES) --target-dir $(KERNEL) $(QUIET)
	$(stamp) kernel $(KERNEL)/$(ELF)

# Links of the kernel in several layouts (docs/method.md). 0.elf is the same as from `make kernel`.
# SEEDS="17 4711": with these seeds instead of 0 to K-1.
K := 4
SEEDS = $(shell seq 0 $$(($(K) - 1)))
LAYOUTS = build/kernel-layouts$(OPT:%=-%)
kernel-layouts: setup
	$(call begin,$(LAYOUTS),$(words $(SEEDS)) layouts of the baseline kernel)
	@rm -f $(LAYOUTS)/*.elf
	@for i in $(SEEDS); do \
	    TOCKMARK_LAYOUT=$$i cargo kernel --target-dir $(LAYOUTS)/cargo $(QUIET) && \
	    cp $(LAYOUTS)/cargo/$(TARGET)/release/tockmark-kernel $(LAYOUTS)/$$i.elf || exit 1; \
	done

# Apps in C and Rust, for each version of the system-call interface. OPT applies to the Rust apps.
apps: apps-1 apps-2
RUST_BUILT = $(OPT:%=-%)$(CALLS:%=-%)$(if $(LIBTOCK_RS),-libtock)
apps-%: setup
	$(call begin,build/apps/c-abi$*,the apps for version $* of the interface)
	@$(MAKE) $(SILENT) -f apps/build.mk OUT=build/apps/c-abi$* ABI=$*
	@$(if $(filter 2,$*),$(foreach counter,cyclecount csr,$(MAKE) $(SILENT) -f apps/build.mk OUT=build/apps/c-abi2 ABI=2 LIBTOCK_C= COUNTER=$(counter) &&) true)
	@$(if $(filter 2,$*),$(MAKE) $(SILENT) -f apps/latency/build.mk)
	@$(if $(LIBTOCK_C),:,$(MAKE)) $(SILENT) -f apps/rust/build.mk ABI=$*
	$(stamp) apps $(if $(filter 2,$*),build/apps/c-abi2-cyclecount build/apps/c-abi2-csr build/apps/latency-abi2) $(if $(LIBTOCK_C),,build/apps/c-abi$* build/apps/rust-abi$*$(RUST_BUILT))

# Apps for Cortex-M, in both languages.
apps-cortex-m4: apps qemu-tools
	$(call begin,build/apps/c-abi2-cortex-m4,the apps for Cortex-M)
	@$(MAKE) $(SILENT) -f apps/build.mk OUT=build/apps/c-abi2 ABI=2 ARCH=cortex-m4
	@$(MAKE) $(SILENT) -f apps/rust/build.mk ABI=2 ARCH=cortex-m4
	$(stamp) apps build/apps/c-abi2-cortex-m4 build/apps/rust-abi2-cortex-m4

# Print first what will be done, before `setup` begins.
ifneq ($(filter bench,$(MAKECMDGOALS)),)
$(info bench: $(if $(wildcard build/sim/cw310/earlgrey-sim),build what has changed and run the suite on the simulator: at most a minute,set up (two minutes), build simulator, kernel and apps (one), run the suite (a quarter): on two cores, later at most one))
endif
bench: sim kernel apps-2
	@echo 'bench: running the suite on the baseline kernel; the Tock columns are committed files'
	@$(TOCKMARK) run --lang c,rust --short rust $(addprefix --beside ,$(RESULTS))

# Tests run on all cores; conftest.py lists tests that must not run at the same time.
PYTEST := .venv/bin/pytest --numprocesses auto --dist loadscope --no-loadscope-reorder

# Linters and the tests' packages, which measuring does not need.
setup-dev: setup
	@tools/setup.sh dev

test: build setup-dev
	@$(PYTEST)

# Checks without simulation, for every change, before `make test`.
check: apps setup-dev
	@$(PYTEST) -m 'not whole' --hypothesis-profile=quick tools tests/test_style.py tests/test_layers.py tests/test_definitions.py tests/test_goldens.py

tables: setup apps
	@.venv/bin/python tools/pages

# A file for `pip install`: the tool with everything to measure, profile and judge.
wheel: profile
	@.venv/bin/python tools/wheel.py

clean:
	[ ! -d build ] || find build/ -mindepth 1 -maxdepth 1 ! -name results -exec rm -rf {} +
	rm -rf .venv .venvs .tools .hypothesis tools/*.egg-info
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

include lab/Makefile
