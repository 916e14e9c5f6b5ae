// SPDX-License-Identifier: Apache-2.0 OR MIT
// Marks (--mark): the cycles in which the core passed an address, an interrupt rose, or a trap was
// taken. They use the simulator's clock, which also counts while the core sleeps; mcycle does not.
// Also records whether the core passed the kernel's panic (--panic).
//
// Marks are lines in the UART's output, so their order relative to the program's lines is known. A
// mark is the byte kOwn and «<cycle> <name>», printed when no other line is in progress. If a line
// of the program begins with that byte, the byte is doubled, so no program can fake a mark.
#pragma once

#include "options.h"
#include "types.h"
#include <string>
#include <utility>
#include <vector>

namespace earlgrey {

class Marks {
public:
    static constexpr unsigned kMost = 100'000; // then one line says "full"

    Marks(const std::vector<Mark> &marks, const std::vector<uint32_t> &panics) : panics_(panics) {
        for (const Mark &mark : marks) {
            if (mark.address)
                addresses_.push_back(mark);
            irq_ |= mark.name == "irq";
            trap_ |= mark.name == "trap";
            wake_ |= mark.name == "wake";
            reset_ |= mark.name == "reset";
        }
        any_ = !marks.empty();
        for (const uint32_t panic : panics_)
            watched_ |= hash(panic);
        if (any_)
            watched_ = ~uint64_t{0};
        if (reset_)
            add(0, "reset");
    }

    bool panicked() const { return panicked_; }

    // Whether cycle() must observe the core at this address. With marks it must see every cycle;
    // for panics alone, the cycles at a few addresses suffice.
    bool watches(uint32_t pc) const { return watched_ >> (pc >> 1 & 63) & 1; }

    // Observes the core in a cycle: the address of the last instruction in its decode stage,
    // whether the fetch there was refused, whether the core sleeps, its interrupt lines and its
    // trap vector. Any program can jump anywhere, but a refused address does not count as passed.
    void cycle(Cycle now, uint32_t pc, bool refused, bool asleep, bool timer, bool external,
               uint32_t vector) {
        const bool line = timer || external;
        if (irq_ && line && !line_)
            add(now, "irq");
        line_ = line;
        slept_ |= asleep;
        if (pc == pc_)
            return;
        pc_ = pc;
        if (wake_ && slept_)
            add(now, "wake");
        slept_ = false;
        const bool taken =
            (timer && pc == vector + 4 * kTimer) || (external && pc == vector + 4 * kExternal);
        if (trap_ && taken)
            add(now, "trap");
        if (refused)
            return;
        for (const Mark &mark : addresses_)
            if (pc == *mark.address)
                add(now, mark.name);
        for (const uint32_t panic : panics_)
            panicked_ |= pc == panic;
    }

    // Takes a byte of the UART; returns whether kOwn must be printed before it.
    bool doubles(uint8_t c) {
        const bool first = std::exchange(line_start_, c == '\n');
        return any_ && first && c == kOwn;
    }

    bool can_print() const { return line_start_ && !waiting_.empty(); }
    std::string take() { return std::exchange(waiting_, {}); }

private:
    static constexpr char kOwn = '\x1e'; // ASCII's record separator
    // Ibex's vector entries for interrupts of the timer and of the interrupt controller.
    static constexpr uint32_t kTimer = 7, kExternal = 11;

    // One of 64 classes of addresses.
    static uint64_t hash(uint32_t address) { return uint64_t{1} << (address >> 1 & 63); }

    void add(Cycle now, const std::string &name) {
        if (count_ > kMost)
            return;
        const bool full = count_++ == kMost;
        waiting_ += kOwn + std::to_string(now) + " " + (full ? "full" : name) + "\n";
    }

    std::vector<Mark> addresses_;
    std::vector<uint32_t> panics_;
    uint64_t watched_ = 0; // classes of addresses
    bool any_ = false, panicked_ = false;
    bool irq_ = false, trap_ = false, wake_ = false, reset_ = false;
    bool line_ = false, slept_ = false;
    uint32_t pc_ = 0;
    bool line_start_ = true;
    std::string waiting_;
    unsigned count_ = 0;
};

} // namespace earlgrey
