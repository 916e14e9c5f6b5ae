// SPDX-License-Identifier: Apache-2.0 OR MIT
// UART, timer and interrupt controller: the behaviour of their registers.
#include "devices.h"

#include <algorithm>
#include <bit>
#include <utility>

namespace earlgrey {

using namespace machine;

// --- uart -------------------------------------------------------------------------------------

namespace {
enum UartInterrupt : uint32_t {
    kTxWatermark = 1u << 0,
    kRxWatermark = 1u << 1,
    kTxEmpty = 1u << 2,
    kRxOverflow = 1u << 3,
    kRxTimeout = 1u << 6
};
enum UartCtrl : uint32_t { kUartTx = 1u << 0, kUartRx = 1u << 1, kUartLoopback = 1u << 4 };
constexpr uint32_t kUartTimeoutEnable = 1u << 31;
constexpr unsigned kUartBits = 10; // of a byte on the line
// From the sample of the stop bit to the FIFO: uart_rx's rx_valid, and the FIFO's own flops.
constexpr Cycle kUartIntoFifo = 2 * kPeripheralClock;
} // namespace

uint32_t Uart::read(Cycle now, uint32_t offset) {
    advance(now);
    const unsigned waiting = depth_ ? depth_ - 1 : 0;
    switch (offset) {
    case kUartIntrState:
        return state_;
    case kUartIntrEnable:
        return enable_;
    case kUartCtrl:
        return ctrl_;
    case kUartStatus:
        // txfull 0, rxfull 1, txempty 2, txidle 3, rxidle 4, rxempty 5
        return (waiting >= kDepth ? 1u : 0u) | (received_.full() ? 2u : 0u) |
               (waiting == 0 ? 4u : 0u) | (depth_ == 0 ? 8u : 0u) | (peer_.sends(now) ? 0u : 16u) |
               (received_.empty() ? 32u : 0u);
    case kUartRdata:
        return read_data(now);
    case kUartFifoCtrl:
        return fifo_ctrl_;
    case kUartFifoStatus:
        return waiting | received_.size() << 16;
    case kUartTimeoutCtrl:
        return timeout_ctrl_;
    default:
        return 0;
    }
}

void Uart::write(Cycle now, uint32_t offset, uint32_t value) {
    advance(now);
    write_register(now, offset, value);
    lines_.set(now, state_ & enable_);
}

void Uart::write_register(Cycle now, uint32_t offset, uint32_t value) {
    switch (offset) {
    case kUartIntrState:
        state_ &= ~value;
        break;
    case kUartIntrEnable:
        enable_ = value;
        break;
    case kUartIntrTest:
        state_ |= value;
        break;
    case kUartCtrl:
        ctrl_ = value;
        break;
    case kUartWdata:
        // A full FIFO drops the byte, and so does a disabled transmitter.
        if (depth_ > kDepth || !(ctrl_ & kUartTx))
            break;
        fifo_[(head_ + depth_) % fifo_.size()] = static_cast<uint8_t>(value);
        // Two edges: the byte enters the FIFO, and then the shift register.
        if (depth_++ == 0)
            byte_ends_ = now + 2 * kPeripheralClock + pace_;
        break;
    case kUartFifoCtrl:
        fifo_ctrl_ = value & ~3u;
        if (value & 2u)
            depth_ = std::min(depth_, 1u);
        if (value & 1u)
            received_ = {};
        level_changed(now);
        break;
    case kUartTimeoutCtrl:
        timeout_ctrl_ = value;
        level_changed(now);
        break;
    default:
        break;
    }
}

unsigned Uart::watermark() const {
    return kUartTxLevels[(fifo_ctrl_ >> 5) % std::size(kUartTxLevels)];
}

// The cycles of a bit, in which CTRL.NCO is added 16 * 2^16 / NCO times.
Cycle Uart::bit() const {
    const uint32_t nco = ctrl_ >> 16;
    return nco ? (Cycle{kPeripheralClock} << 20) / nco : Cycle{1} << 32;
}

void Uart::sent_one(Cycle now) {
    const uint8_t byte = fifo_[head_];
    if (ctrl_ &
        kUartLoopback) { // the receiver samples the middle of the stop bit, which begins now
        loops_ = now + pace_ / kUartBits / 2 + kUartIntoFifo;
        looped_ = byte;
    } else if (!peer_.takes(now, byte, kUartBits * bit())) {
        sink_(byte);
    }
    head_ = (head_ + 1) % fifo_.size();
    --depth_;
    const unsigned waiting = depth_ ? depth_ - 1 : 0;
    if (depth_ && waiting + 1 == watermark())
        state_ |= kTxWatermark;
    if (depth_ == 0)
        state_ |= kTxEmpty;
    byte_ends_ += pace_;
}

void Uart::receive(Cycle now, uint8_t byte) {
    if (!(ctrl_ & kUartRx))
        return;
    if (received_.full()) {
        state_ |= kRxOverflow; // the byte is lost
        return;
    }
    received_.push(byte);
    level_changed(now);
}

uint32_t Uart::read_data(Cycle now) {
    if (received_.empty())
        return 0;
    const uint8_t byte = received_.front();
    received_.pop();
    level_changed(now);
    return byte;
}

// The number of received bytes, the watermark or the timeout may have changed.
void Uart::level_changed(Cycle now) {
    const bool above = received_.size() >= kUartRxLevels[fifo_ctrl_ >> 2 & 7];
    if (above && !above_)
        state_ |= kRxWatermark;
    above_ = above;
    // The count of bits begins with the tick that sampled the byte's last bit.
    times_out_ = (timeout_ctrl_ & kUartTimeoutEnable) && !received_.empty()
                     ? now + timeout() - kPeripheralClock
                     : kNever;
}

Cycle Uart::timeout() const {
    return std::max<Cycle>((timeout_ctrl_ & 0xffffff) * bit(), 2 * kPeripheralClock);
}

void Uart::advance(Cycle now) {
    for (Cycle at; (at = next_change()) <= now;) {
        if (at == sends()) {
            sent_one(at);
        } else if (at == times_out_) {
            state_ |= kRxTimeout;
            times_out_ += timeout(); // it counts again
        } else {
            const bool loops = at == std::exchange(loops_, at == loops_ ? kNever : loops_);
            receive(at, loops ? looped_ : peer_.next());
        }
        // One more edge: what happens is an event, which sets the state.
        lines_.set(at + kPeripheralClock, state_ & enable_);
    }
    lines_.advance(now);
}

// --- rv_timer ---------------------------------------------------------------------------------

namespace {
uint64_t with_low(uint64_t whole, uint32_t low) { return (whole >> 32 << 32) | low; }
uint64_t with_high(uint64_t whole, uint32_t high) {
    return (whole & 0xffffffffu) | uint64_t{high} << 32;
}
} // namespace

// CFG: prescale in bits 11:0 (peripheral clocks per tick, minus one), step in bits 23:16.
uint64_t RvTimer::time(Cycle now) const {
    if (!(ctrl_ & 1))
        return base_;
    const uint64_t tick = uint64_t{kPeripheralClock} * ((cfg_ & 0xfff) + 1);
    return base_ + (now - since_) / tick * (cfg_ >> 16 & 0xff);
}

// Moves the base to the last tick, so that no fraction of a tick is lost.
void RvTimer::rebase(Cycle now) {
    const uint64_t tick = uint64_t{kPeripheralClock} * ((cfg_ & 0xfff) + 1);
    base_ = time(now);
    since_ = (ctrl_ & 1) ? since_ + (now - since_) / tick * tick : now;
}

// Finds the edge at which the state is set: the comparator has `from` to look at the time.
void RvTimer::schedule(Cycle from) {
    expires_ = kNever;
    if (!(ctrl_ & 1))
        return;
    const uint64_t step = cfg_ >> 16 & 0xff;
    Cycle reached = kNever;
    if (time(from) >= compare_) {
        reached = from;
    } else if (step) {
        const uint64_t tick = uint64_t{kPeripheralClock} * ((cfg_ & 0xfff) + 1);
        const uint64_t ticks = (compare_ - base_ - 1) / step + 1;
        if (ticks < (kNever - since_ - kPeripheralClock) / tick)
            reached = since_ + ticks * tick;
    }
    if (reached != kNever)
        expires_ = reached + kPeripheralClock;
}

void RvTimer::set_state(Cycle now, bool expired) {
    if (expired && !expired_)
        expired_since_ = now;
    expired_ = expired;
    line_.set(now, expired_ && (enable_ & 1));
}

void RvTimer::advance(Cycle now) {
    if (clears_ <= now)
        set_state(std::exchange(clears_, kNever), false);
    if (expires_ <= now)
        set_state(std::exchange(expires_, kNever), true);
    line_.advance(now);
}

uint32_t RvTimer::read(Cycle now, uint32_t offset) {
    advance(now);
    const Cycle seen = std::max(now, since_ + kPeripheralClock) - kPeripheralClock;
    switch (offset) {
    case kTimerCtrl:
        return ctrl_;
    case kTimerIntrEnable:
        return enable_;
    case kTimerIntrState:
        return expired_ && expired_since_ < now;
    case kTimerCfg:
        return cfg_;
    case kTimerLow:
        return static_cast<uint32_t>(time(seen));
    case kTimerHigh:
        return static_cast<uint32_t>(time(seen) >> 32);
    case kTimerCompareLow:
        return static_cast<uint32_t>(compare_);
    case kTimerCompareHigh:
        return static_cast<uint32_t>(compare_ >> 32);
    default:
        return 0;
    }
}

void RvTimer::write(Cycle now, uint32_t offset, uint32_t value) {
    advance(now);
    rebase(now);
    Cycle from = now;
    switch (offset) {
    case kTimerCtrl:
        ctrl_ = value & 1;
        break;
    case kTimerIntrEnable:
        enable_ = value & 1;
        set_state(now, expired_);
        break;
    case kTimerIntrState:
        set_state(now, expired_ && !(value & 1));
        break;
    case kTimerIntrTest:
        set_state(now, expired_ || (value & 1));
        break;
    case kTimerCfg:
        cfg_ = value;
        break;
    case kTimerLow:
        base_ = with_low(base_, value);
        break;
    case kTimerHigh:
        base_ = with_high(base_, value);
        break;
    // Writing the comparator also clears the state, at the next edge, and hides an expiry till
    // then.
    case kTimerCompareLow:
    case kTimerCompareHigh:
        compare_ =
            offset == kTimerCompareLow ? with_low(compare_, value) : with_high(compare_, value);
        from = clears_ = now + kPeripheralClock;
        break;
    default:
        break;
    }
    schedule(from);
}

// --- rv_plic ----------------------------------------------------------------------------------

void Plic::drive(unsigned first, unsigned count, uint32_t lines) {
    for (unsigned source = std::max(first, 1u); source < first + count; ++source)
        level_.set(source, lines >> (source - first) & 1);
    quiet_ = false;
}

void Plic::advance(Cycle now) {
    for (; at_ < now && !settled(); ++at_)
        clock();
    at_ = std::max(at_, now);
}

// An edge of the clock: each flop takes its value from the state of the cycle before.
void Plic::clock() {
    const Bits before = pending_, active_before = active_;
    const std::pair chosen{best_, raised_};
    choose();
    for (unsigned i = 0; i < kWords; ++i) { // rv_plic_gateway
        const uint32_t pending = before.words[i], active = active_before.words[i];
        pending_.words[i] |= level_.words[i] & ~active;
        pending_.words[i] &= ~(pending & claimed_.words[i]);
        active_.words[i] |= level_.words[i];
        active_.words[i] &= ~(active & ~pending & completed_.words[i]);
    }
    const bool accessed = std::exchange(accessed_, false);
    if (accessed) {
        claimed_ = completed_ = {};
        write_register(written_.offset, written_.value);
        written_ = {};
    }
    quiet_ = !accessed && pending_ == before && active_ == active_before &&
             chosen == std::pair{best_, raised_};
}

// The target (rv_plic_target): the best pending interrupt, and whether it is above the threshold.
void Plic::choose() {
    best_ = 0;
    uint32_t highest = 0;
    for (unsigned word = 0; word < kWords; ++word) {
        uint32_t left = pending_.words[word] & enabled_.words[word];
        for (; left; left &= left - 1) {
            const unsigned source = word * 32 + static_cast<unsigned>(std::countr_zero(left));
            if (!best_ || priority_[source] > highest) {
                best_ = source;
                highest = priority_[source];
            }
        }
    }
    raised_ = highest > threshold_;
}

uint32_t Plic::read(uint32_t offset) {
    if (offset - kPlicPriority < kSources * 4)
        return priority_[(offset - kPlicPriority) / 4];
    if (offset >= kPlicPending && offset < kPlicPending + kWords * 4)
        return pending_.words[(offset - kPlicPending) / 4];
    if (offset >= kPlicEnable && offset < kPlicEnable + kWords * 4)
        return enabled_.words[(offset - kPlicEnable) / 4];
    if (offset == kPlicThreshold)
        return threshold_;
    if (offset == kPlicClaim) {
        accessed_ = true;
        claimed_.set(best_);
        return best_;
    }
    return 0;
}

void Plic::write(uint32_t offset, uint32_t value) {
    accessed_ = true;
    if (offset == kPlicClaim && value < kSources)
        completed_.set(value);
    else
        written_ = {offset, value};
}

void Plic::write_register(uint32_t offset, uint32_t value) {
    if (offset - kPlicPriority < kSources * 4) {
        priority_[(offset - kPlicPriority) / 4] = value & 3;
    } else if (offset >= kPlicEnable && offset < kPlicEnable + kWords * 4) {
        const uint32_t word = (offset - kPlicEnable) / 4;
        const uint32_t unused = kSources - word * 32 < 32 ? ~0u << kSources % 32 : 0;
        enabled_.words[word] = value & ~unused;
    } else if (offset == kPlicThreshold) {
        threshold_ = value & 3;
    }
}

} // namespace earlgrey
