// SPDX-License-Identifier: Apache-2.0 OR MIT
// Puts files into the simulated memories before the core starts.
#pragma once

#include "memory.h"
#include <stdexcept>
#include <string>
#include <vector>

namespace earlgrey {

// What cannot be loaded; the text tells the user what to do.
struct ImageError : std::runtime_error {
    using std::runtime_error::runtime_error;
};

// Loads bytes that the program itself carries.
void load_bytes(Memories &memories, const uint8_t *bytes, size_t length, uint32_t address,
                const std::string &name);

// Loads files one after another; a later one wins, and is told if it covers an earlier one.
class Loader {
public:
    explicit Loader(Memories &memories) : memories_(memories) {}
    // The segments of a 32-bit RISC-V ELF at their physical addresses.
    void elf(const std::string &path);
    // A file's bytes as they are.
    void raw(const std::string &path, uint32_t address);

private:
    struct Placed {
        uint64_t start, end;
        std::string path;
    };
    void place(const uint8_t *bytes, size_t length, uint32_t address, const std::string &path);

    Memories &memories_;
    std::vector<Placed> placed_;
    std::string told_; // the last file of which an overlap was told
};

} // namespace earlgrey
