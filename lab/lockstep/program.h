// SPDX-License-Identifier: Apache-2.0 OR MIT
// Random programs: memory full of random code, with handlers, a start that sets up the CSRs, and
// patterns that plain random code does not reach (loops, conflicts in the cache, changed code,
// edges of PMP regions, returns to user mode).
#pragma once

#include "rng.h"
#include <cstdint>
#include <string>
#include <vector>

namespace lockstep {

enum class Flavour : uint8_t { kCsr, kUser, kCache, kCount };
constexpr const char *kFlavours[] = {"csr", "user", "cache"};

struct Program {
    std::vector<uint32_t> words; // RandomBus::kSize bytes
    uint32_t boot_address;
    uint32_t refused_region; // the upper four bits of addresses that fail; 16: none
    Flavour flavour;
    unsigned cycles; // how long it runs at most
};

Program make_program(uint64_t seed, Flavour flavour);

} // namespace lockstep
