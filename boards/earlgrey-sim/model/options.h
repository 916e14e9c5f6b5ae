// SPDX-License-Identifier: Apache-2.0 OR MIT
// The command line.
#pragma once

#include "settings.h"
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace earlgrey {

// A name, and the address that it marks; without one it is one of the simulator's own.
struct Mark {
    std::string name;
    std::optional<uint32_t> address;
};

struct Options {
    // What to load, in this order: a file and its address; without one it is an ELF.
    std::vector<std::pair<std::string, std::optional<uint32_t>>> files;
    bool icache = true;
    SramExec sram_exec = SramExec::kOn;
    uint64_t max_cycles = 2'000'000'000;
    uint64_t silence = ~uint64_t{0};
    uint64_t uart_cycles = 16;
    std::string uart = "-";
    std::optional<std::string> pty; // a pseudo-terminal instead: the link to it, or nothing
    double status_seconds = 0;
    bool touched = false;
    std::string itrace, waves; // files
    uint64_t from = 0, to = ~uint64_t{0};
    std::vector<Mark> marks;
    std::vector<uint32_t> panics;  // where the kernel's panic begins
    std::vector<std::string> apps; // that report
    std::optional<uint32_t> boot;
    uint32_t mailbox = 0;
};

// Reads the command line, or prints help or one line of what is wrong and exits (0 or 2).
Options parse_options(int argc, char **argv);

} // namespace earlgrey
