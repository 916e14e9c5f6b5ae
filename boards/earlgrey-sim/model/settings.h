// SPDX-License-Identifier: Apache-2.0 OR MIT
// What a run sets of the simulated machine, and whom the machine tells.
#pragma once

#include "types.h"
#include <functional>

namespace earlgrey {

// Who says whether code in main SRAM may be executed: nobody asks, or the register EXEC is asked.
enum class SramExec { kOn, kOff, kRegister };

struct Settings {
    Cycle uart_cycles_per_byte = 16;
    std::function<void(uint8_t)> uart_sink;
    uint32_t cpuctrl = 1;                         // what the boot ROM copies to the core
    SramExec sram_exec = SramExec::kOn;           // whether main SRAM may be executed
    uint32_t mailbox = 0;                         // a register block's address to listen at
    std::function<void(uint32_t, uint32_t)> mail; // (offset, word) written there
};

} // namespace earlgrey
