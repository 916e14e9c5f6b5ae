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

// A mark: a name and an address, or the name of one of the simulator's own events.
struct Mark {
    std::string name;
    std::optional<uint32_t> address;
};

struct Options {
    // The files to load, in order, each with its address; a file without one is an ELF.
    std::vector<std::pair<std::string, std::optional<uint32_t>>> files;
    bool icache = true;
    SramExec sram_exec = SramExec::kOn;
    uint32_t sram_seed = 0; // 0: zeros
    uint64_t max_cycles = 2'000'000'000;
    uint64_t silence = ~uint64_t{0};
    uint64_t uart_cycles = 16;
    std::string uart = "-";
    std::optional<std::string> pty; // use a pseudo-terminal; the link to it, or empty
    double status_seconds = 0;
    bool touched = false;
    std::string itrace, waves; // files
    uint64_t from = 0, to = ~uint64_t{0};
    std::vector<Mark> marks;
    std::vector<uint32_t> panics;  // first addresses of the kernel's panic
    std::vector<std::string> apps; // apps that report
    std::optional<uint32_t> boot;
    uint32_t mailbox = 0;
};

// Reads the command line; or prints help (exit code 0) or a one-line error (2) and exits.
Options parse_options(int argc, char **argv);

} // namespace earlgrey
