// SPDX-License-Identifier: Apache-2.0 OR MIT
// The settings of the simulated machine for a run, and its callbacks.
#pragma once

#include "types.h"
#include <functional>

namespace earlgrey {

// Whether code in main SRAM may be executed: always, never, or as the register EXEC says.
enum class SramExec { kOn, kOff, kRegister };

struct Settings {
    Cycle uart_cycles_per_byte = 16;
    std::function<void(uint8_t)> uart_sink;
    uint32_t cpuctrl = 1;                         // copied to the core by the boot ROM
    SramExec sram_exec = SramExec::kOn;           // whether main SRAM may be executed
    uint32_t mailbox = 0;                         // its address; 0: none
    std::function<void(uint32_t, uint32_t)> mail; // (offset, word) written there
    std::function<void()> bite;                   // the watchdog resets the chip
};

} // namespace earlgrey
