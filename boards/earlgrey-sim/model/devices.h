// SPDX-License-Identifier: Apache-2.0 OR MIT
// The devices that a kernel needs: UART, timer and interrupt controller, as far as Tock and the
// baseline kernel use them. Each machine has its register layouts (OpenTitan's uart, rv_timer,
// rv_plic).
#pragma once

#include "machine.h"
#include "types.h"
#include <array>
#include <functional>

namespace earlgrey {

// uart: the transmit path with its FIFO; there is no input.
class Uart {
public:
    using Sink = std::function<void(uint8_t)>;
    Uart(Cycle cycles_per_byte, Sink sink) : pace_(cycles_per_byte), sink_(std::move(sink)) {}

    uint32_t read(Cycle now, uint32_t offset);
    void write(Cycle now, uint32_t offset, uint32_t value);
    // Sends the bytes that are due.
    void advance(Cycle now);
    // The cycle of the next change that no access causes.
    Cycle next_event() const { return depth_ ? byte_ends_ : kNever; }
    // Interrupt lines, bit i = interrupt i of the block (0 tx_watermark, 2 tx_empty).
    uint32_t lines() const { return state_ & enable_; }

private:
    static constexpr unsigned kDepth = machine::kUartFifoDepth;
    unsigned watermark() const;
    void sent_one();

    Cycle pace_;
    Sink sink_;
    std::array<uint8_t, kDepth + 1> fifo_{}; // the byte on the line, then the FIFO
    unsigned head_ = 0;
    unsigned depth_ = 0; // bytes in fifo_, including the one on the line
    Cycle byte_ends_ = kNever;
    uint32_t state_ = 0, enable_ = 0, ctrl_ = 0, fifo_ctrl_ = 0;
};

// rv_timer: one hart, one comparator.
class RvTimer {
public:
    uint32_t read(Cycle now, uint32_t offset);
    void write(Cycle now, uint32_t offset, uint32_t value);
    // An expiry without an interrupt is no event: reading a register reveals it.
    Cycle next_event() const { return (enable_ & 1) ? expires_ : kNever; }
    void advance(Cycle now);
    bool line() const { return (state_ & enable_ & 1) != 0; }

private:
    uint64_t time(Cycle now) const;
    void rebase(Cycle now);
    void schedule(Cycle now);

    uint32_t ctrl_ = 0, cfg_ = 0x10000, enable_ = 0, state_ = 0;
    uint64_t base_ = 0; // mtime at since_
    Cycle since_ = 0;
    uint64_t compare_ = ~uint64_t{0};
    Cycle expires_ = kNever;
};

// sram_ctrl: EXEC, which may allow code in the SRAM, and EXEC_REGWEN, which locks EXEC for good.
class SramControl {
public:
    uint32_t read(uint32_t offset) const {
        return offset == machine::kSramExec         ? exec_
               : offset == machine::kSramExecRegwen ? open_
                                                    : 0;
    }
    void write(uint32_t offset, uint32_t value) {
        if (offset == machine::kSramExec && open_)
            exec_ = value & 0xf;
        else if (offset == machine::kSramExecRegwen)
            open_ &= value;
    }
    bool executable() const { return exec_ == kTrue; } // every other value means no

private:
    static constexpr uint32_t kTrue = 6, kFalse = 9; // MuBi4
    uint32_t exec_ = kFalse, open_ = 1;
};

// rv_plic: level-triggered gateways, one target.
class Plic {
public:
    static constexpr unsigned kSources = machine::kIrqSources;

    uint32_t read(uint32_t offset);
    void write(uint32_t offset, uint32_t value);
    // Sets the interrupt lines of a block: `count` lines from source `first` on.
    void drive(unsigned first, unsigned count, uint32_t lines);
    bool line() const { return best_ != 0; }

private:
    static constexpr unsigned kWords = (kSources + 31) / 32;
    // One bit per source.
    struct Bits {
        std::array<uint32_t, kWords> words{};
        bool operator[](unsigned source) const { return words[source / 32] >> source % 32 & 1; }
        void set(unsigned source, bool value) {
            const uint32_t bit = 1u << source % 32;
            words[source / 32] = value ? words[source / 32] | bit : words[source / 32] & ~bit;
        }
    };

    void rank();

    unsigned best_ = 0; // the source that a claim would return

    std::array<uint8_t, kSources> priority_{};
    Bits level_, pending_, claimed_, enabled_;
    uint32_t threshold_ = 0;
};

} // namespace earlgrey
