// SPDX-License-Identifier: Apache-2.0 OR MIT
// Main SRAM, boot ROM and the devices behind register stages. Each accepts requests when it has
// room and answers them in order. Later requests do not change the time of an answer, so a device
// computes it when it accepts the request, and nothing is done in the cycles between.
#pragma once

#include "machine.h"
#include "types.h"
#include <algorithm>
#include <random>
#include <vector>

namespace earlgrey {

// Bytes of memory, accessed as words.
class Storage {
public:
    Storage(uint32_t base, uint32_t size, uint8_t fill) : base_(base), bytes_(size, fill) {}
    uint32_t base() const { return base_; }
    uint32_t size() const { return static_cast<uint32_t>(bytes_.size()); }
    uint8_t *data() { return bytes_.data(); }
    bool holds(uint32_t addr, uint32_t length = 1) const {
        return addr >= base_ && length <= size() && addr - base_ <= size() - length;
    }
    uint32_t read(uint32_t addr) const {
        uint32_t word;
        __builtin_memcpy(&word, &bytes_[addr - base_], 4);
        return word;
    }
    void write(uint32_t addr, uint32_t word, uint8_t be) {
        uint8_t *bytes = &bytes_[addr - base_];
        if (be == 0xf) {
            __builtin_memcpy(bytes, &word, 4);
            return;
        }
        for (unsigned lane = 0; lane < 4; ++lane)
            if (be >> lane & 1)
                bytes[lane] = static_cast<uint8_t>(word >> 8 * lane);
    }

    // Fills it with random bytes.
    void fill(uint32_t seed) { std::ranges::generate(bytes_, std::mt19937(seed)); }

private:
    uint32_t base_;
    std::vector<uint8_t> bytes_;
};

// The chip's memories in their initial state.
struct Memories {
    Storage rom{machine::kRomBase, machine::kRomSize, 0};
    Storage sram{machine::kSramBase, machine::kSramSize, 0};
    Storage flash{machine::kFlashBase, machine::kFlashSize, 0xff};
};

// sram_ctrl_main. One access per cycle. If it is not executable it refuses instruction fetches: the
// error arrives when the word would have arrived (tlul_adapter_sram).
class Sram {
public:
    explicit Sram(Storage &storage) : storage_(storage) {}
    bool executable = true;

    bool ready(Cycle now, const Request &) const {
        return now >= room_.from() && now >= shut_until_;
    }
    Promise accept(Cycle now, const Request &request) {
        unsigned delay = machine::kSramAnswer;
        Answer answer{0, false, request.host};
        if (request.we) {
            storage_.write(request.addr, request.wdata, request.be);
            if (request.be != 0xf) {
                delay = machine::kSramSubwordWrite;
                shut_until_ = now + delay;
            }
        } else if (request.host == kInstr && !executable) {
            answer.err = true;
        } else {
            answer.data = storage_.read(request.addr);
        }
        room_.add(now + delay);
        return {answer, now + delay};
    }

private:
    Storage &storage_;
    Room<machine::kOutstanding> room_;
    Cycle shut_until_ = 0;
};

// rom_ctrl. Writes are refused.
class Rom {
public:
    explicit Rom(Storage &storage) : storage_(storage) {}

    bool ready(Cycle now, const Request &) const {
        return now >= (machine::kRomFifos ? fifo_from_ : room_.from());
    }
    Promise accept(Cycle now, const Request &request) {
        const Answer answer{request.we ? 0 : storage_.read(request.addr), request.we, request.host};
        Cycle due = now + machine::kRomAnswer;
        if constexpr (machine::kRomFifos) {
            // A request waits for room in its FIFO, which lets it pass at once if there is room. An
            // answer stays in its FIFO for a cycle and enters it when it is empty.
            const Cycle enters = std::max(now, room_.from());
            fifo_from_ = enters + 1;
            const Cycle leaves = std::max(enters + machine::kRomAnswer, room_.last() + 2);
            room_.add(leaves);
            return {answer, leaves + 1};
        }
        room_.add(due);
        return {answer, due};
    }

private:
    Storage &storage_;
    Room<machine::kOutstanding> room_;
    Cycle fifo_from_ = 0; // the request FIFO is empty again
};

// A device whose registers answer `delay` cycles after acceptance, one at a time. `access` returns
// the answer.
template <unsigned delay> class RegisterBlock {
public:
    bool ready(Cycle now, const Request &) const { return now >= room_.from(); }
    template <typename Access>
    Promise accept(Cycle now, const Request &request, const Access &access) {
        const Cycle due = std::max(now + delay, room_.last() + machine::kRegisterInterval);
        room_.add(due);
        return {access(now, request), due};
    }

private:
    Room<machine::kOutstanding> room_;
};

// xbar_peri: everything behind the crossing into the peripheral clock.
class PeripheralBus {
public:
    bool ready(Cycle now, const Request &) const { return now >= room_.from(); }
    // The answer's data is known later: access() finds it, and take() returns it when it is due.
    Promise accept(Cycle now, const Request &request) {
        constexpr Cycle slow = machine::kPeripheralClock;
        Cycle edge = (now + machine::kPeripheralSetup + slow - 1) / slow * slow;
        if (captured_ != kNever)
            edge = std::max(edge, captured_ + machine::kPeripheralInterval);
        captured_ = edge;
        inside_.push({request, {}, edge + machine::kPeripheralAccess});
        access_at_ = std::min(access_at_, edge + machine::kPeripheralAccess);
        room_.add(edge + machine::kPeripheralAnswer);
        return {{}, edge + machine::kPeripheralAnswer};
    }

    // The cycle of the next access to a register.
    Cycle access_at() const { return access_at_; }
    template <typename Access> void access(Cycle now, const Access &access) {
        access_at_ = kNever;
        for (unsigned i = 0; i < inside_.size(); ++i) {
            Entry &entry = inside_.at(i);
            if (entry.at == now)
                entry.answer = access(now, entry.request);
            else if (entry.at > now)
                access_at_ = std::min(access_at_, entry.at);
        }
    }

    Answer take() {
        const Answer answer = inside_.front().answer;
        inside_.pop();
        return answer;
    }

private:
    struct Entry {
        Request request;
        Answer answer;
        Cycle at = 0; // of the access
    };
    Fifo<Entry, machine::kOutstanding> inside_;
    Room<machine::kOutstanding> room_;
    Cycle captured_ = kNever;
    Cycle access_at_ = kNever;
};

} // namespace earlgrey
