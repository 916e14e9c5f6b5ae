// SPDX-License-Identifier: Apache-2.0 OR MIT
// The behaviour of the watchdog's registers.
#include "aon_timer.h"

namespace earlgrey {

uint32_t AonTimer::read(Cycle now, uint32_t offset) const {
    if (offset == kCount)
        return count(now / machine::kAonTick);
    return offset / 4 < kRegisters ? registers_[offset / 4] : 0;
}

void AonTimer::write(Cycle now, uint32_t offset, uint32_t value) {
    advance(now);
    if (offset / 4 >= kRegisters)
        return;
    const uint64_t tick = now / machine::kAonTick + kCrossing;
    uint32_t &state = registers_[kIntrState / 4];
    switch (offset) {
    case kCount:
        count_ = value;
        since_ = tick;
        break;
    case kIntrState:
        state &= ~value;
        break;
    case kIntrTest:
        state |= value & 3;
        break;
    case kOpen:
    case kWakeupCause:
        registers_[offset / 4] &= value;
        break;
    case kControl:
    case kBark:
    case kBite:
        if (!registers_[kOpen / 4])
            break;
        count_ = count(tick);
        since_ = tick;
        [[fallthrough]];
    default:
        registers_[offset / 4] = value;
    }
    lines_.set(now, state);
    schedule(tick);
}

// Finds the cycles of the next bark and bite, a tick after the count has reached its threshold.
void AonTimer::schedule(uint64_t tick) {
    const auto reaches = [this](uint32_t threshold) {
        return (since_ + (threshold > count_ ? threshold - count_ : 0) + 1) * machine::kAonTick;
    };
    const uint32_t bark = registers_[kBark / 4];
    barked_ = barked_ && runs() && count(tick) >= bark;
    bark_at_ = runs() && !barked_ ? reaches(bark) : kNever;
    bite_at_ = runs() && !bites_ ? reaches(registers_[kBite / 4]) : kNever;
}

void AonTimer::advance(Cycle now) {
    if (bark_at_ <= now) {
        lines_.set(bark_at_, registers_[kIntrState / 4] |= 2);
        barked_ = true;
        bark_at_ = kNever;
    }
    if (bite_at_ <= now) {
        bites_ = true;
        bite_at_ = kNever;
    }
    lines_.advance(now);
}

} // namespace earlgrey
