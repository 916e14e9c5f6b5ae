// SPDX-License-Identifier: Apache-2.0 OR MIT
// The devices that a kernel needs: UART, timer and interrupt controller, as far as Tock and the
// baseline kernel use them. Each machine has its register layouts (OpenTitan's uart, rv_timer,
// rv_plic).
#pragma once

#include "line_peer.h"
#include "machine.h"
#include "types.h"
#include <algorithm>
#include <array>
#include <functional>

namespace earlgrey {

// Interrupt lines on their way from a block's registers to the clock of the core: prim_intr_hw has
// a flop on the peripheral clock, and some machines a synchroniser. A line is the same for the core
// and for the PLIC.
class Lines {
public:
    // The lines at the registers from `now` on.
    void set(Cycle now, uint32_t lines) {
        if (lines == last_)
            return;
        last_ = lines;
        const Cycle arrives = now + machine::kPeripheralClock + machine::kInterruptSync;
        next_ = std::min(next_, arrives);
        changes_.push({arrives, lines});
    }
    void advance(Cycle now) {
        while (next_ <= now) {
            lines_ = changes_.front().lines;
            changes_.pop();
            next_ = changes_.empty() ? kNever : changes_.front().at;
        }
    }
    Cycle next_event() const { return next_; }
    uint32_t lines() const { return lines_; }

private:
    struct Change {
        Cycle at;
        uint32_t lines;
    };
    Fifo<Change, 16> changes_;
    Cycle next_ = kNever; // of the first change
    uint32_t lines_ = 0, last_ = 0;
};

// uart: both paths, each with its FIFO. What it receives is sent by a peer, or by itself (system
// loopback). Every byte arrives whole: there are no frame, break and parity errors.
class Uart {
public:
    using Sink = std::function<void(uint8_t)>;
    Uart(Cycle cycles_per_byte, Sink sink) : pace_(cycles_per_byte), sink_(std::move(sink)) {}

    uint32_t read(Cycle now, uint32_t offset);
    void write(Cycle now, uint32_t offset, uint32_t value);
    // Sends and receives the bytes that are due.
    void advance(Cycle now);
    // The cycle of the next change that no access causes.
    Cycle next_event() const { return std::min(next_change(), lines_.next_event()); }
    // Interrupt lines, bit i = interrupt i of the block.
    uint32_t lines() const { return lines_.lines(); }

private:
    static constexpr unsigned kDepth = machine::kUartFifoDepth;
    Cycle sends() const { return depth_ ? byte_ends_ : kNever; }
    Cycle receives() const { return std::min(loops_, peer_.arrives()); }
    Cycle next_change() const { return std::min({sends(), receives(), times_out_}); }
    unsigned watermark() const;
    void sent_one(Cycle now);
    void receive(Cycle now, uint8_t byte);
    void level_changed(Cycle now);
    void write_register(Cycle now, uint32_t offset, uint32_t value);
    uint32_t read_data(Cycle now);
    Cycle bit() const;
    Cycle timeout() const;

    Cycle pace_;
    Sink sink_;
    std::array<uint8_t, kDepth + 1> fifo_{}; // the byte on the line, then the FIFO
    unsigned head_ = 0;
    unsigned depth_ = 0; // bytes in fifo_, including the one on the line
    Cycle byte_ends_ = kNever;
    uint32_t state_ = 0, enable_ = 0, ctrl_ = 0, fifo_ctrl_ = 0, timeout_ctrl_ = 0;
    Lines lines_;

    LinePeer peer_;
    Fifo<uint8_t, kDepth> received_;
    bool above_ = false;       // as many bytes are received as the watermark says
    Cycle times_out_ = kNever; // if nothing is received or read before
    Cycle loops_ = kNever;     // a byte in the loopback has arrived
    uint8_t looped_ = 0;
};

// rv_timer: one hart, one comparator. Its registers change with the edges of the peripheral clock:
// a write has its effect at the edge `now`, and a read sees the cycle of that clock before it.
class RvTimer {
public:
    uint32_t read(Cycle now, uint32_t offset);
    void write(Cycle now, uint32_t offset, uint32_t value);
    // An expiry without an interrupt is no event: reading a register reveals it.
    Cycle next_event() const {
        return std::min((enable_ & 1) ? std::min(expires_, clears_) : kNever, line_.next_event());
    }
    void advance(Cycle now);
    bool line() const { return line_.lines() != 0; }

private:
    uint64_t time(Cycle now) const;
    void rebase(Cycle now);
    void schedule(Cycle from);
    void set_state(Cycle now, bool expired);

    uint32_t ctrl_ = 0, cfg_ = 0x10000, enable_ = 0;
    uint64_t base_ = 0; // mtime at since_
    Cycle since_ = 0;
    uint64_t compare_ = ~uint64_t{0};
    bool expired_ = false;                     // INTR_STATE
    Cycle expired_since_ = 0;                  // if it is set
    Cycle expires_ = kNever, clears_ = kNever; // it will be set, or cleared by a new comparator
    Lines line_;
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

// rv_plic: level-triggered gateways, one target. Flops between the gateways' inputs and the core:
// the pending interrupts, and the best of them.
class Plic {
public:
    static constexpr unsigned kSources = machine::kIrqSources;

    // Reads or writes a register. A write and a claim have their effect at the next clock edge.
    uint32_t read(uint32_t offset);
    void write(uint32_t offset, uint32_t value);
    // Sets the interrupt lines of a block: `count` lines from source `first` on.
    void drive(unsigned first, unsigned count, uint32_t lines);
    // Makes all clock edges up to the one that begins the cycle `now`.
    void advance(Cycle now);
    // The cycle that begins with the next edge that may change anything.
    Cycle next_event() const { return settled() ? kNever : at_ + 1; }
    bool line() const { return raised_; }

private:
    static constexpr unsigned kWords = (kSources + 31) / 32;
    // One bit per source.
    struct Bits {
        std::array<uint32_t, kWords> words{};
        bool operator==(const Bits &) const = default;
        void set(unsigned source, bool value = true) {
            const uint32_t bit = 1u << source % 32;
            words[source / 32] = value ? words[source / 32] | bit : words[source / 32] & ~bit;
        }
    };

    bool settled() const { return quiet_ && !accessed_; }
    void clock();
    void choose();
    void write_register(uint32_t offset, uint32_t value);

    Cycle at_ = 0;
    bool quiet_ = true;   // the last edge changed nothing, and no line has changed since
    unsigned best_ = 0;   // irq_id_q: the source that a claim returns
    bool raised_ = false; // irq_q
    std::array<uint8_t, kSources> priority_{};
    Bits level_, pending_, active_, enabled_;
    uint32_t threshold_ = 0;

    // The access of this cycle.
    static constexpr uint32_t kNoRegister = ~0u;
    bool accessed_ = false;
    Bits claimed_, completed_;
    struct {
        uint32_t offset = kNoRegister, value = 0;
    } written_;
};

} // namespace earlgrey
