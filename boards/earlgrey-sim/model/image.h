// SPDX-License-Identifier: Apache-2.0 OR MIT
// Puts files into the simulated memories before the core starts.
#pragma once

#include "bus.h"
#include <stdexcept>
#include <string>

namespace earlgrey {

// What cannot be loaded; the text tells the user what to do.
struct ImageError : std::runtime_error {
    using std::runtime_error::runtime_error;
};

// Loads the segments of a 32-bit RISC-V ELF at their physical addresses.
void load_elf(Bus &bus, const std::string &path);
// Loads a file's bytes as they are.
void load_raw(Bus &bus, const std::string &path, uint32_t address);
// Loads bytes that the program itself carries.
void load_bytes(Bus &bus, const uint8_t *bytes, size_t length, uint32_t address,
                const std::string &name);

} // namespace earlgrey
