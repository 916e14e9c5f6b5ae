// SPDX-License-Identifier: Apache-2.0 OR MIT
// Marks (--mark): when, by the simulator's own clock, the core came by an address, an interrupt
// rose, or a trap was taken. The core's mcycle stands still while it sleeps; this clock does not.
// And whether the core came by the kernel's panic (--panic).
//
// With marks there are two channels in the one stream of the UART, so that it is known between
// which lines each mark came. A line of the simulator's own begins with the byte kOwn, then
// «<cycle> <name>», and comes as soon as no other line is under way. A line of the UART that begins
// with that byte gets it twice. So no program can write a line of the simulator's.
#pragma once

#include "options.h"
#include "types.h"
#include <string>
#include <utility>
#include <vector>

namespace earlgrey {

class Marks {
public:
    static constexpr unsigned kMost = 100'000; // more are not printed, and a line says so

    Marks(const std::vector<Mark> &marks, const std::vector<uint32_t> &panics) : panics_(panics) {
        for (const Mark &mark : marks) {
            if (mark.address)
                places_.push_back(mark);
            irq_ |= mark.name == "irq";
            trap_ |= mark.name == "trap";
            wake_ |= mark.name == "wake";
            reset_ |= mark.name == "reset";
        }
        any_ = !marks.empty();
        watches_ = any_ || !panics.empty();
        if (reset_)
            add(0, "reset");
    }

    bool watches() const { return watches_; }
    bool panicked() const { return panicked_; }

    // What the core shows in a cycle: the last instruction that came into its decode stage, or that
    // there was none at that address which it may fetch; whether it sleeps, its interrupt lines,
    // and where its trap vector is. Anybody can jump anywhere, but comes by only what may be
    // executed.
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
        for (const Mark &place : places_)
            if (pc == *place.address)
                add(now, place.name);
        for (const uint32_t panic : panics_)
            panicked_ |= pc == panic;
    }

    // The UART sends this byte: whether it needs kOwn before it.
    bool doubles(uint8_t c) {
        const bool first = std::exchange(line_start_, c == '\n');
        return any_ && first && c == kOwn;
    }

    bool can_print() const { return line_start_ && !waiting_.empty(); }
    std::string take() { return std::exchange(waiting_, {}); }

private:
    static constexpr char kOwn = '\x1e'; // ASCII's record separator
    // Where Ibex enters the vector for an interrupt of the timer and of the interrupt controller.
    static constexpr uint32_t kTimer = 7, kExternal = 11;

    void add(Cycle now, const std::string &name) {
        if (count_ > kMost)
            return;
        const bool full = count_++ == kMost;
        waiting_ += kOwn + std::to_string(now) + " " + (full ? "full" : name) + "\n";
    }

    std::vector<Mark> places_;
    std::vector<uint32_t> panics_;
    bool any_ = false, watches_ = false, panicked_ = false;
    bool irq_ = false, trap_ = false, wake_ = false, reset_ = false;
    bool line_ = false, slept_ = false;
    uint32_t pc_ = 0;
    bool line_start_ = true;
    std::string waiting_;
    unsigned count_ = 0;
};

} // namespace earlgrey
