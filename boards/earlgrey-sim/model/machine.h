// SPDX-License-Identifier: Apache-2.0 OR MIT
// The simulated machine: one of machines/, selected at build time (MACHINE_H), since each has its
// own core. A machine is data only.
#pragma once

#include <array>
#include <cstdint>

namespace earlgrey::machine {

constexpr const char *kName = MACHINE_NAME;

// One-cycle memory instead of the chip's, to compare the core with published figures.
constexpr bool kFlat = FLAT_MEMORY;

// Whether requests and answers are registered at the core's ports, as on the FPGA
// (RvCoreIbexPipeLine). In silicon they are not.
constexpr bool kPortStage = PORT_STAGE;

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
