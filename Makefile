# SPDX-License-Identifier: Apache-2.0 OR MIT
# The one entry for everyday work. Products go to build/, .venv/ and .tools/, results to results/.
export CARGO_TARGET_DIR := $(abspath build/cargo)
MAKEFLAGS += --jobs=$(shell nproc)
TOCKMARK := .venv/bin/tockmark

.PHONY: help setup build sim kernel apps bench test tables clean

help:
	@echo 'make bench   set up, build, run the suite on the simulated Earl Grey, print the table'
	@echo 'make test    set up, build, run every test'
	@echo 'make setup   install what is needed: packages, .venv, .tools'
	@echo 'make build   build the simulator, the baseline kernel and the apps'
	@echo 'make tables  put the tables of committed results into the pages that show them'
	@echo 'make clean   remove all that was made, except results/'
	@echo 'Then: .venv/bin/tockmark --help'

setup:
	@tools/setup.sh

build: sim kernel apps

# One simulator a machine: `make sim`, `make sim-nexysvideo`, …
sim: sim-cw310
sim-%: setup
	@$(MAKE) --no-print-directory -C boards/earlgrey-sim MACHINE=$* \
	    OUT=$(abspath build/sim/$*) VENV=$(abspath .venv)

kernel: setup
	@cargo kernel

apps: setup
	@$(MAKE) --no-print-directory -f apps/build.mk OUT=build/apps/c-abi2 ABI=2

bench: build
	@$(TOCKMARK) run

test: build
	@.venv/bin/pytest

tables: setup
	@.venv/bin/python tools/refresh_tables.py

clean:
	rm -rf build .venv .tools .hypothesis tools/*.egg-info
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
