// SPDX-License-Identifier: Apache-2.0 OR MIT
// The machine that this simulator is: one of machines/, chosen when it is built (MACHINE_H), since
// each has a core of its own. A machine is data only.
#pragma once

#include <array>
#include <cstdint>

namespace earlgrey::machine {

constexpr const char *kName = MACHINE_NAME;

// One-cycle memory in place of the chip's, for comparing the core with what others publish of it.
constexpr bool kFlat = FLAT_MEMORY;

// A block of registers on the bus.
struct Window {
    uint32_t base, size;
    const char *name;
};

// Registers without a model that are not zero after reset: `count` words from `base` on.
struct ResetValue {
    uint32_t base, count, value;
};

} // namespace earlgrey::machine

#include MACHINE_H
