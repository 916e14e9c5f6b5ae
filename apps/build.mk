# SPDX-License-Identifier: Apache-2.0 OR MIT
# Builds the C apps, not yet linked: one object per group (apps/c/*.c), and libtockmark.a with the code that
# they share. The tool links them for each kernel. Run from the top of the repository:
#     make -f apps/build.mk OUT=build/apps/c-abi2 ABI=2
# These options build into a folder of their own, whose name is OUT with a suffix:
#     COUNTER=cyclecount, COUNTER=csr  read these counters instead of Perf (apps/asm/counter.h), for version 2;
#                                      suffix -cyclecount or -csr
#     COUNTER=machine                  for apps in machine mode, without a kernel (lab/studies/programs/apps/bare)
#     ARCH=cortex-m4                   for Cortex-M: version 2, reading CycleCount; suffix -cortex-m4. Rows
#                                      whose bodies are not in apps/asm/thumb are skipped
#     LIBTOCK_C=DIR                    make the system calls of version 2 with libtock-c, which the user has
#                                      built in DIR; suffix -libtock (docs/findings.md)

ABI ?= 2
OUT ?= build/apps/c-abi$(ABI)

ifeq ($(filter 1 2,$(ABI)),)
$(error apps/build.mk: there is no version $(ABI) of the system-call interface; use ABI=1 or ABI=2)
endif

ifneq ($(filter-out perf cyclecount csr machine,$(COUNTER))$(if $(filter 1,$(ABI)),$(COUNTER:perf=)),)
$(error apps/build.mk: COUNTER=$(COUNTER) is not available for ABI=$(ABI); use COUNTER=cyclecount or COUNTER=csr with ABI=2)
endif

ifneq ($(filter-out cortex-m4,$(ARCH))$(if $(ARCH),$(filter-out 2,$(ABI))$(COUNTER)$(LIBTOCK_C)),)
$(error apps/build.mk: ARCH=$(ARCH) is not available here; use ARCH=cortex-m4 with ABI=2, without COUNTER and LIBTOCK_C)
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
# The runtime needs no C library: this option keeps the compiler from turning copy loops into memcpy calls.
RUNTIME_CFLAGS := -fno-tree-loop-distribute-patterns
ASFLAGS = $(MACHINE) -MMD -MP -I$(OUT) $(THUMB:%/=-Iapps/asm/%) -Iapps/asm -DTM_ABI=$(ABI) $(READ)

# Only the system calls are taken from the user's archive, so it does not matter with which C library it
# was built.
ifeq ($(ABI)$(if $(LIBTOCK_C),-libtock),2-libtock)
LIBTOCK_A := $(LIBTOCK_C)/libtock/build/rv32imc/libtock.a
ifeq ($(wildcard $(LIBTOCK_A)),)
$(error apps/build.mk: $(LIBTOCK_A) does not exist; build libtock-c for rv32imc and set LIBTOCK_C to its folder)
endif
ifeq ($(shell grep -l yield_wait_for $(LIBTOCK_C)/libtock/tock.h),)
$(error apps/build.mk: $(LIBTOCK_C) has no yield_wait_for; take libtock-c f25a2b29 (2025-07-09) or later)
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

# The compiler's own libraries, which the tool links all apps with.
LIB := build/apps/lib$(ARCH:%=-%)
LIBRARIES := $(LIB)/libc.a $(LIB)/libgcc.a

# If a folder has no app.ld, the tool uses apps/runtime/app.ld.
.PHONY: all
all: $(GROUPS) $(OUT)/libtockmark.a $(LIBRARIES) $(if $(THUMB),$(OUT)/app.ld)

$(OUT)/app.ld: apps/runtime/app.ld apps/build.mk
	@mkdir -p $(@D)
	sed '/OUTPUT_ARCH/d; /__global_pointer/d; s/\.riscv\.attributes/.ARM.*/' $< > $@

# The catalogue in a form for the sources. It is a prerequisite, since the first build has no .d files yet.
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
	mv $@.$(ABI) $@  # the other version's build may run at the same time

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
