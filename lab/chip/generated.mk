# SPDX-License-Identifier: Apache-2.0 OR MIT
# Compiles what Verilator wrote of the chip, some hundred files. Called by Makefile beside it.
SOURCES := $(wildcard $(OUT)/rtl/*.cpp)
OBJECTS := $(SOURCES:.cpp=.o)

$(OUT)/rtl/Vchip.a: $(OBJECTS)
	@rm -f $@
	@ar rcs $@ $^
# Generated code is not ours to warn about.
$(OBJECTS): %.o: %.cpp
	@$(CXX) $(FLAGS) -w -c -o $@ $<
