// SPDX-License-Identifier: Apache-2.0 OR MIT
// A boot image on the machine's bus, with both cores.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace lockstep {

struct BootOptions {
    std::vector<std::string> files; // ELF files, or FILE@ADDRESS
    uint32_t cpuctrl = 1;           // 0: cache off
    uint64_t max_cycles = 2'000'000'000;
};

// Returns the exit code.
int run_boot(const BootOptions &options, unsigned every);

} // namespace lockstep
