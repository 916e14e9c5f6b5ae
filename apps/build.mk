# SPDX-License-Identifier: Apache-2.0 OR MIT
# Builds the C apps, not yet linked: one object a group (apps/c/*.c) and libtockmark.a with what they
# share. They are linked for the kernel at hand, by the tool. Run from the top of the repository:
#     make -f apps/build.mk OUT=build/apps/c-abi2 ABI=2
# COUNTER=cyclecount or COUNTER=csr takes samples by that in the place of Perf (apps/asm/counter.h), for
# version 2, in a folder of its own: OUT with -cyclecount or -csr behind. COUNTER=machine is for apps
# that run in machine mode, without a kernel (lab/studies/programs/apps/bare).
# ARCH=cortex-m4 builds them for Cortex-M: for version 2, reading CycleCount, in a folder of its own: OUT with
# -cortex-m4 behind. Rows whose bodies are not in apps/asm/thumb are skipped there.
# With LIBTOCK_C=DIR, a libtock-c that the user has built, the apps of version 2 make their system
# calls by that library, and go into a folder of their own: OUT with -libtock behind (docs/findings.md).

ABI ?= 2
OUT ?= build/apps/c-abi$(ABI)

ifeq ($(filter 1 2,$(ABI)),)
$(error apps/build.mk: there is no version $(ABI) of the system-call interface; use ABI=1 or ABI=2)
endif

ifneq ($(filter-out perf cyclecount csr machine,$(COUNTER))$(if $(filter 1,$(ABI)),$(COUNTER:perf=)),)
$(error apps/build.mk: no apps for version $(ABI) read by '$(COUNTER)'; use COUNTER=cyclecount or COUNTER=csr with ABI=2)
endif

ifneq ($(filter-out cortex-m4,$(ARCH))$(if $(ARCH),$(filter-out 2,$(ABI))$(COUNTER)$(LIBTOCK_C)),)
$(error apps/build.mk: ARCH=cortex-m4 is for ABI=2, with neither COUNTER nor LIBTOCK_C)
endif

include apps/code.mk

ifneq ($(ARCH),)
override OUT := $(OUT)-$(ARCH)
READ := -DTM_CYCLECOUNT
THUMB := thumb/
else ifneq ($(COUNTER:perf=),)
override OUT := $(OUT)-$(COUNTER)
READ := -DTM_$(if $(filter csr machine,$(COUNTER)),CSR,CYCLECOUNT)$(if $(filter machine,$(COUNTER)), -DTM_MACHINE)
endif

CFLAGS = -std=c11 $(CODE) -ffunction-sections -fdata-sections $(SPECS) -Wall -Wextra -Werror -MMD -MP \
	-I$(OUT) -Iapps/runtime -Iapps/asm -DTM_ABI=$(ABI) $(READ) \
	'-DTM_CC="$(COMPILER)$(if $(LIBTOCK), libtock-c)"'
# The runtime needs no C library: here a loop that copies does not become a call of memcpy.
RUNTIME_CFLAGS := -fno-tree-loop-distribute-patterns
ASFLAGS = $(MACHINE) -MMD -MP -I$(OUT) $(THUMB:%/=-Iapps/asm/%) -Iapps/asm -DTM_ABI=$(ABI) $(READ)

# Of the user's archive only the system calls are taken, so that the C library it was built with does
# not matter.
ifeq ($(ABI)$(if $(LIBTOCK_C),-libtock),2-libtock)
LIBTOCK_A := $(LIBTOCK_C)/libtock/build/rv32imc/libtock.a
ifeq ($(wildcard $(LIBTOCK_A)),)
$(error apps/build.mk: $(LIBTOCK_A) is not there; build libtock-c for rv32imc, and give its folder)
endif
override OUT := $(OUT)-libtock
CFLAGS += -DTM_LIBTOCK_C -isystem $(LIBTOCK_C)
ASFLAGS += -DTM_LIBTOCK_C
LIBTOCK := $(OUT)/libtock.o
CALLS := command subscribe allow_readwrite allow_readonly memop yield yield_no_wait yield_wait_for
endif

GROUPS := $(patsubst apps/c/%.c,$(OUT)/%.o,$(wildcard apps/c/*.c))
SHARED := $(patsubst apps/%.c,$(OUT)/%.o,$(wildcard apps/runtime/*.c)) \
	$(patsubst apps/%.S,$(OUT)/%.o,$(wildcard apps/runtime/$(THUMB)*.S apps/asm/$(THUMB)*.S))

# The compiler's own libraries, which the tool links all apps with: those that the compiler would take.
LIB := build/apps/lib$(ARCH:%=-%)
LIBRARIES := $(LIB)/libc.a $(LIB)/libgcc.a

# Where there is no app.ld of the folder's own, it is apps/runtime/app.ld.
.PHONY: all
all: $(GROUPS) $(OUT)/libtockmark.a $(LIBRARIES) $(if $(THUMB),$(OUT)/app.ld)

$(OUT)/app.ld: apps/runtime/app.ld apps/build.mk
	@mkdir -p $(@D)
	sed '/OUTPUT_ARCH/d; /__global_pointer/d; s/\.riscv\.attributes/.ARM.*/' $< > $@

# What the sources take from the catalogue. The first build has no .d files yet that ask for it.
$(OUT)/rows.h: apps/catalogue.toml apps/generate.py $(if $(THUMB),$(wildcard apps/asm/thumb/*.S))
	@mkdir -p $(@D)
	@python3 apps/generate.py $< $@ $(THUMB:%/=apps/asm/%)

$(GROUPS) $(SHARED): | $(OUT)/rows.h

$(OUT)/libtock.o: $(LIBTOCK_A)
	@mkdir -p $(@D)
	$(LD) -m elf32lriscv -r --gc-sections $(addprefix -u ,$(CALLS)) $< -o $@

$(OUT)/libtockmark.a: $(SHARED) $(LIBTOCK)
	rm -f $@
	$(AR) rcsD $@ $^

$(LIBRARIES): $(LIB)/%: apps/build.mk
	@mkdir -p $(@D)
	cp "$$($(CC) $(MACHINE) -nostartfiles $(SPECS) -Wl,--verbose,-e,0 -x c /dev/null -o /dev/null | \
	    sed -n 's|^attempt to open \(.*/$*\) succeeded$$|\1|p' | head -n 1)" $@.$(ABI)
	mv $@.$(ABI) $@  # the other version's build may do the same

$(GROUPS): $(OUT)/%.o: apps/c/%.c apps/build.mk
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) -c $< -o $@

$(OUT)/%.o: apps/%.c apps/build.mk
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) $(RUNTIME_CFLAGS) -c $< -o $@

$(OUT)/%.o: apps/%.S apps/build.mk
	@mkdir -p $(@D)
	$(CC) $(ASFLAGS) -c $< -o $@

-include $(GROUPS:.o=.d) $(SHARED:.o=.d)
