// SPDX-License-Identifier: Apache-2.0 OR MIT
// The simulated machine: one of machines/, selected at build time (MACHINE_H), since each has its
// own core. A machine is data only.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>

namespace earlgrey::machine {

constexpr const char *kName = MACHINE_NAME;

// One-cycle memory instead of the chip's, to compare the core with published figures.
constexpr bool kFlat = FLAT_MEMORY;

// Whether requests and answers are registered at the core's ports, as on the FPGA
// (RvCoreIbexPipeLine). In silicon they are not.
constexpr bool kPortStage = PORT_STAGE;

// A block of registers on the bus; the first ones end at the offset `end`.
struct Window {
    uint32_t base, size;
    const char *name;
    uint32_t end;
};
struct Range {
    uint32_t from, to;
    bool holds(uint32_t addr) const { return addr - from < to - from; }
};

// Registers without a model that are not zero after reset: `count` words from `base` on.
struct ResetValue {
    uint32_t base, count, value;
};

} // namespace earlgrey::machine

#include MACHINE_H

namespace earlgrey::machine {

// The offset that a block takes an address for: its decoder has no more bits than it needs.
inline uint32_t offset_in(const Window &window, uint32_t addr) {
    uint32_t end = window.end;
    for (const Range &range : kMoreRegisters)
        if (range.from - window.base < window.size)
            end = std::max(end, range.to - window.base);
    return (addr - window.base) & (std::bit_ceil(end) - 1);
}

// Whether a block has a register there; the answer to another access is an error.
inline bool has_register(const Window &window, uint32_t offset) {
    const auto holds = [&](const Range &range) { return range.holds(window.base + offset); };
    return offset < window.end || std::ranges::any_of(kMoreRegisters, holds);
}

} // namespace earlgrey::machine
