// SPDX-License-Identifier: Apache-2.0 OR MIT
// The check bits of the cache's data RAM (prim_secded_inv_39_32), as far as the cache's timing
// depends on them.
#pragma once

#include <array>
#include <bit>
#include <cstdint>

namespace earlgrey::ibex {

inline uint32_t check_bits(uint32_t word) {
    constexpr std::array<uint32_t, 7> kCovered = {0x2606bd25, 0xdeba8050, 0x413d89aa, 0x31234ed1,
                                                  0xc2c1323b, 0x2dcc624c, 0x98505586};
    uint32_t bits = 0;
    for (unsigned i = 0; i < kCovered.size(); ++i)
        bits |= (static_cast<uint32_t>(std::popcount(word & kCovered[i])) & 1) << i;
    return bits ^ 0x2a;
}

// Whether the OR of two stored words has correct check bits.
inline bool check_bits_agree(uint32_t a, uint32_t b) {
    return (check_bits(a) | check_bits(b)) == check_bits(a | b);
}

} // namespace earlgrey::ibex
