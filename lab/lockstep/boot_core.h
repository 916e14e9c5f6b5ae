// SPDX-License-Identifier: Apache-2.0 OR MIT
// Both cores as the one core of the simulator (boards/earlgrey-sim/model/system.h with
// -DENGINE_LOCKSTEP), for boots and programs on the real bus. The bus takes the RTL's requests. At
// the first difference the simulator ends with exit code 1. LOCKSTEP_EVERY=1 in the environment
// compares registers and CSRs in each cycle; the default is every 16 cycles.
#pragma once

#include "pair.h"

#include <cstdlib>

namespace lockstep {

class BootCore {
public:
    explicit BootCore(uint32_t boot_address) : pair_(boot_address, every()) {}

    void cycle(const PortIn in[earlgrey::kHosts], bool timer_irq, bool external_irq) {
        if (pair_.cycle(in, timer_irq, external_irq)) [[likely]]
            return;
        pair_.print_difference(stderr);
        std::fprintf(stderr, "earlgrey-sim: the fast core differs from the RTL in cycle %llu\n",
                     static_cast<unsigned long long>(pair_.cycles()));
        std::exit(1);
    }

    const PortOut *requests() const { return pair_.rtl().requests(); }
    bool asleep() const { return pair_.rtl().asleep(); }
    bool double_fault() const { return pair_.rtl().double_fault(); }
    uint32_t pc() const { return pair_.rtl().pc(); }
    bool refused() const { return pair_.rtl().refused(); }
    uint32_t exception_pc() const { return pair_.rtl().exception_pc(); }
    uint32_t exception_addr() const { return pair_.rtl().exception_addr(); }
    uint32_t last_data_addr() const { return pair_.rtl().last_data_addr(); }
    uint32_t minstret() const { return pair_.rtl().minstret(); }
    uint32_t trap_vector() const { return pair_.rtl().trap_vector(); }

private:
    static unsigned every() {
        const char *text = std::getenv("LOCKSTEP_EVERY");
        const long number = text ? std::strtol(text, nullptr, 10) : 16;
        return number > 0 ? static_cast<unsigned>(number) : 1;
    }

    Pair pair_;
};

} // namespace lockstep

namespace earlgrey {
using Core = lockstep::BootCore;
}
