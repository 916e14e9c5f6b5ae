// SPDX-License-Identifier: Apache-2.0 OR MIT
// The watchdog of OpenTitan's aon_timer: its count barks with an interrupt, and bites with a reset
// of the chip. The wake-up timer only keeps its registers.
#pragma once

#include "devices.h"

namespace earlgrey {

class AonTimer {
public:
    uint32_t read(Cycle now, uint32_t offset) const;
    void write(Cycle now, uint32_t offset, uint32_t value);
    void advance(Cycle now);
    Cycle next_event() const { return std::min({bark_at_, bite_at_, lines_.next_event()}); }
    // Interrupt lines, bit i = interrupt i of the block (1 wdog_timer_bark).
    uint32_t lines() const { return lines_.lines(); }
    bool bites() const { return bites_; }

private:
    enum Register : uint32_t {
        kOpen = 0x10, // WDOG_REGWEN
        kControl = 0x14,
        kBark = 0x18,
        kBite = 0x1c,
        kCount = 0x20,
        kIntrState = 0x24,
        kIntrTest = 0x28,
        kWakeupCause = 0x2c,
    };
    static constexpr uint32_t kRegisters = 12;
    // Ticks from a write to its effect: it crosses into the timer's clock (prim_reg_cdc). A second
    // write to a register before would wait; Tock's are at least 592 cycles apart.
    static constexpr unsigned kCrossing = 3;

    // PAUSE_IN_SLEEP (bit 1 of WDOG_CTRL) pauses the count while the power manager keeps the chip
    // in low power. It has no model, so nothing does; the core's wfi alone pauses nothing.
    bool runs() const { return registers_[kControl / 4] & 1; }
    uint32_t count(uint64_t tick) const {
        return count_ + static_cast<uint32_t>(runs() && tick > since_ ? tick - since_ : 0);
    }
    void schedule(uint64_t tick);

    std::array<uint32_t, kRegisters> registers_{0, 0, 0, 0, 1};
    uint32_t count_ = 0; // in the tick since_
    uint64_t since_ = 0;
    bool barked_ = false; // since the count reached the threshold: the interrupt is its edge
    bool bites_ = false;
    Lines lines_;
    Cycle bark_at_ = kNever, bite_at_ = kNever;
};

} // namespace earlgrey
