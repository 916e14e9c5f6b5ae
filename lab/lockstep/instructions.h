// SPDX-License-Identifier: Apache-2.0 OR MIT
// The instructions of the configuration (RV32IMC, RV32BOTEarlGrey or RV32BFull, and the
// system instructions), as patterns to generate and to count.
#pragma once

#include <cstdint>
#include <vector>

namespace lockstep {

// Operands that the generator fills in.
enum class Operands : uint8_t { kPlain, kLoad, kStore, kBranch, kJal, kJalr, kCsr, kFixed };

struct Pattern {
    const char *name;
    uint32_t mask, match;
    Operands operands;
    bool compressed() const { return (match & 3) != 3; }
    // Whether it only leaves decode by an exception, so that it never retires.
    bool traps;
};

const std::vector<Pattern> &patterns();

// The index of the instruction's pattern, or -1. `insn` is as fetched; of a compressed one, the
// upper half is ignored.
int pattern_of(uint32_t insn);
const char *name_of(uint32_t insn);

} // namespace lockstep
