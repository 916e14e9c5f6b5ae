// SPDX-License-Identifier: Apache-2.0 OR MIT
// The instructions of the core: written to a file as readable lines (--itrace), and the last ones
// kept to explain a failure. They come from tracer.h, or from the retirement port of RTL
// (../rtl/retirement.sv), which only builds with VARIANT=retire have. In builds without either,
// this class does nothing and costs nothing.
#pragma once

#include "types.h"
#include <array>
#include <cstdio>
#include <string>

namespace earlgrey {

#ifdef TRACES_INSTRUCTIONS

// How the decode stage spent a cycle. Must match `what` in rtl/retirement.sv.
enum Spent : uint8_t { kLeaves, kFetch, kBefore, kMemory, kMultiply, kBranch, kOther, kSpents };

struct Retired {
    Cycle cycle = 0;                       // of the simulation, when it left the decode stage
    uint64_t mcycle = 0;                   // of the core; it stops while the core sleeps
    std::array<uint16_t, kSpents> spent{}; // core cycles since the previous instruction left
    unsigned fills = 0;                    // lines that the i-cache filled meanwhile
    bool trap = false;                     // it took an exception
    bool handler = false;                  // it is the first of a trap handler
    uint8_t mode = 0;                      // privilege
    uint32_t pc = 0, insn = 0;
    uint8_t rd = 0; // register written, 0: none
    uint32_t rd_value = 0;
    uint32_t mem_addr = 0, mem_value = 0;
    uint8_t mem_read = 0, mem_write = 0; // byte masks

    std::string line() const;
};

class Retirements {
public:
    static constexpr bool kBuilt = true;

    explicit Retirements(const Cycle &now) : now_(now) { listening_ = this; }
    ~Retirements();

    bool any() const { return past_.count != 0; }

    // False if the file cannot be written.
    bool open(const std::string &path, Cycle from, Cycle to);
    bool close();

    // Stores the current state for explain().
    void mark() { marked_ = past_; }
    // Prints the last instructions and the registers, at the mark or now.
    void explain(std::FILE *out, bool at_mark) const;

    void core_cycle(Spent what, uint64_t mcycle);
    void cache_fill() { ++fills_; }
    void retired(Retired instruction);

    static Retirements *listening_; // the port cannot pass a pointer

private:
    struct Past {
        static constexpr unsigned kLast = 32;
        std::array<Retired, kLast> last{};
        uint64_t count = 0;
        std::array<uint32_t, 32> registers{};
    };

    const Cycle &now_;
    std::FILE *file_ = nullptr;
    Cycle from_ = 0, to_ = kNever;
    std::array<uint16_t, kSpents> spent_{};
    unsigned fills_ = 0;
    Fifo<Retired, 8> left_; // left the decode stage but not retired yet
    Past past_, marked_;
};

#else

class Retirements {
public:
    static constexpr bool kBuilt = false;
    explicit Retirements(const Cycle &) {}
    bool any() const { return false; }
    bool open(const std::string &, Cycle, Cycle) { return false; }
    bool close() { return true; }
    void mark() {}
    void explain(std::FILE *, bool) const {}
};

#endif

} // namespace earlgrey
