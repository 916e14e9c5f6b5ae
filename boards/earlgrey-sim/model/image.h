// SPDX-License-Identifier: Apache-2.0 OR MIT
// Loads files into the simulated memories before the core starts.
#pragma once

#include "memory.h"
#include <stdexcept>
#include <string>
#include <vector>

namespace earlgrey {

// A file that cannot be loaded; the text says what to do.
struct ImageError : std::runtime_error {
    using std::runtime_error::runtime_error;
};

// Loads bytes from the program itself.
void load_bytes(Memories &memories, const uint8_t *bytes, size_t length, uint32_t address,
                const std::string &name);

// Loads files in order. A later file overwrites an earlier one, with a warning.
class Loader {
public:
    explicit Loader(Memories &memories) : memories_(memories) {}
    // Loads the segments of a 32-bit RISC-V ELF at their physical addresses.
    void elf(const std::string &path);
    // Loads a file's bytes unchanged.
    void raw(const std::string &path, uint32_t address);

private:
    struct Placed {
        uint64_t start, end;
        std::string path;
    };
    void place(const uint8_t *bytes, size_t length, uint32_t address, const std::string &path);

    Memories &memories_;
    std::vector<Placed> placed_;
    std::string warned_; // the last file with a warning about an overlap
};

} // namespace earlgrey
