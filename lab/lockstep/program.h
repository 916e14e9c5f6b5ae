// SPDX-License-Identifier: Apache-2.0 OR MIT
// Random programs: memory full of random code, with handlers, a start that sets up the CSRs, and
// patterns that plain random code does not reach (loops, conflicts in the cache, changed code,
// edges of PMP regions, returns to user mode).
#pragma once

#include "rng.h"
#include <cstdint>
#include <memory>
#include <vector>

namespace lockstep {

enum class Flavour : uint8_t { kCsr, kUser, kCache, kCount };
constexpr const char *kFlavours[] = {"csr", "user", "cache"};

class Program {
public:
    static constexpr uint32_t kSize = 1 << 16; // bytes
    static constexpr uint32_t kStartSize = 0x400;
    static constexpr uint32_t kHandlers = 0x1000, kHandlerSize = 0x100, kHandlerCount = 6;

    // Whether an address is of the first vectors, the start or a handler.
    static bool is_of_handlers(uint32_t address) {
        const uint32_t offset = address % kSize;
        return offset < kStartSize || offset - kHandlers < kHandlerCount * kHandlerSize;
    }

    Program(uint64_t seed, Flavour flavour);
    ~Program();

    // Writes new random code at an address, as a device could, except over handlers.
    void renew(uint32_t address);

    std::vector<uint32_t> words; // kSize bytes
    uint32_t boot_address = 0;
    uint32_t refused_block = ~0u; // the address of 16 bytes that fail, at any alias; or none
    uint32_t refused_region = 16; // the upper four bits of addresses that fail; 16: none

private:
    class Generator;
    std::unique_ptr<Generator> generator_;
};

} // namespace lockstep
