// SPDX-License-Identifier: Apache-2.0 OR MIT
// Random numbers that are the same on every machine.
#pragma once

#include <cstdint>
#include <initializer_list>

namespace lockstep {

class Rng {
public:
    explicit Rng(uint64_t seed) : state_(seed) {}

    // SplitMix64.
    uint64_t next64() {
        uint64_t z = state_ += 0x9e3779b97f4a7c15;
        z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
        z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
        return z ^ (z >> 31);
    }
    uint32_t next() { return static_cast<uint32_t>(next64() >> 32); }
    uint32_t below(uint32_t bound) { return static_cast<uint64_t>(next()) * bound >> 32; }
    bool one_in(uint32_t n) { return below(n) == 0; }
    bool percent(uint32_t n) { return below(100) < n; }
    template <typename T> T pick(std::initializer_list<T> values) {
        return values.begin()[below(static_cast<uint32_t>(values.size()))];
    }

private:
    uint64_t state_;
};

} // namespace lockstep
