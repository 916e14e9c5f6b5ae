// SPDX-License-Identifier: Apache-2.0 OR MIT
// The parameters of ibex_top that the core model knows, and the cores that the machines have. Every
// configuration has a write-back stage, a branch-target ALU, a single-cycle multiplier, 16 PMP
// regions of granularity 0, and ten event counters of 32 bits. Other configurations need the RTL.
#pragma once

#include <cstdint>

namespace earlgrey::ibex {

struct Config {
    bool icache;         // ICache with ECC and scrambling; otherwise a prefetch buffer
    bool full_bitmanip;  // RV32BFull; otherwise RV32BOTEarlGrey
    bool debug_triggers; // DbgTriggerEn
};

// rtl/configs/cw310.sv.
constexpr Config kEarlGrey{.icache = true, .full_bitmanip = false, .debug_triggers = true};
// ibex_configs.yaml, maxperf-pmp-bmfull: the core of the machine flat.
constexpr Config kMaxPerf{.icache = false, .full_bitmanip = true, .debug_triggers = false};

} // namespace earlgrey::ibex
