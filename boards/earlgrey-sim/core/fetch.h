// SPDX-License-Identifier: Apache-2.0 OR MIT
// The inputs and outputs of the two kinds of fetch: icache.h and prefetch_buffer.h.
#pragma once

#include <cstdint>

namespace earlgrey::ibex {

struct FetchControl {
    bool fetches;   // the controller asks for instructions
    bool redirects; // to `target`
    uint32_t target;
    bool ready;       // the decode stage takes what is offered
    bool enabled;     // the cache, by cpuctrl.icache_enable
    bool invalidates; // a fence.i is in the decode stage
};

// The offer to the decode stage in a cycle.
struct Fetched {
    bool valid = false;
    bool error = false;           // of the bus
    bool error_in_second = false; // in the second half of the instruction
    uint32_t text = 0;            // 32 bits; of a compressed instruction the lower 16 count
    bool compressed() const { return (text & 3) != 3; }
};

} // namespace earlgrey::ibex
