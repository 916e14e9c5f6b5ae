// SPDX-License-Identifier: Apache-2.0 OR MIT
// Marks (--mark): when, by the simulator's own clock, the core came by an address, an interrupt
// rose, or a trap was taken. The core's mcycle stands still while it sleeps; this clock does not.
//
// A mark is a line of its own among what the UART sends, «#sim <cycle> <name> *<crc>», printed as
// soon as no other line is under way (docs/protocol.md).
#pragma once

#include "options.h"
#include "types.h"
#include <cstdio>
#include <string>
#include <utility>
#include <vector>

namespace earlgrey {

class Marks {
public:
    static constexpr unsigned kMost = 100'000; // more are not printed, and a line says so

    explicit Marks(const std::vector<Mark> &marks) {
        for (const Mark &mark : marks) {
            if (mark.address)
                places_.push_back(mark);
            irq_ |= mark.name == "irq";
            trap_ |= mark.name == "trap";
            wake_ |= mark.name == "wake";
            reset_ |= mark.name == "reset";
        }
        any_ = !marks.empty();
        if (reset_)
            add(0, "reset");
    }

    bool any() const { return any_; }

    // What the core shows in a cycle: the last instruction that came into its decode stage, whether
    // it sleeps, its interrupt lines, and where its trap vector is.
    void cycle(Cycle now, uint32_t pc, bool asleep, bool timer, bool external, uint32_t vector) {
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
        for (const Mark &place : places_)
            if (pc == *place.address)
                add(now, place.name);
    }

    // The UART has sent this byte.
    void sent(uint8_t c) { line_start_ = c == '\n'; }

    bool can_print() const { return line_start_ && !waiting_.empty(); }
    std::string take() { return std::exchange(waiting_, {}); }

private:
    // Where Ibex enters the vector for an interrupt of the timer and of the interrupt controller.
    static constexpr uint32_t kTimer = 7, kExternal = 11;

    void add(Cycle now, const std::string &name) {
        if (count_ > kMost)
            return;
        const bool full = count_++ == kMost;
        const std::string head = "#sim " + std::to_string(now) + " " + (full ? "full" : name) + " ";
        char crc[8];
        std::snprintf(crc, sizeof crc, "*%04x\n", crc16(head));
        waiting_ += head + crc;
    }

    // CRC-16/CCITT-FALSE, as every line of the log has it.
    static unsigned crc16(const std::string &text) {
        unsigned crc = 0xffff;
        for (const char c : text) {
            crc ^= static_cast<unsigned>(c) << 8;
            for (int bit = 0; bit < 8; bit++)
                crc = (crc << 1 ^ (crc & 0x8000 ? 0x1021 : 0)) & 0xffff;
        }
        return crc;
    }

    std::vector<Mark> places_;
    bool any_ = false, irq_ = false, trap_ = false, wake_ = false, reset_ = false;
    bool line_ = false, slept_ = false;
    uint32_t pc_ = 0;
    bool line_start_ = true;
    std::string waiting_;
    unsigned count_ = 0;
};

} // namespace earlgrey
