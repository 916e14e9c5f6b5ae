# SPDX-License-Identifier: Apache-2.0 OR MIT
# Compiles Verilator's output for the chip, about a hundred files. The Makefile in this folder calls it.
SOURCES := $(wildcard $(OUT)/rtl/*.cpp)
OBJECTS := $(SOURCES:.cpp=.o)

$(OUT)/rtl/Vchip.a: $(OBJECTS)
	@rm -f $@
	@ar rcs $@ $^
# No warnings for generated code.
$(OBJECTS): %.o: %.cpp
	@$(CXX) $(FLAGS) -w -c -o $@ $<
