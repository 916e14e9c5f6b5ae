// SPDX-License-Identifier: Apache-2.0 OR MIT
// Main SRAM, boot ROM and the devices behind plain register stages. Each accepts a request when it
// has room and answers a fixed number of cycles later, in order.
#pragma once

#include "machine.h"
#include "types.h"
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

// Requests inside a device, each with the cycle of its answer.
class Pending {
public:
    bool room() const { return !inside_.full(); }
    bool empty() const { return inside_.empty(); }
    void add(const Answer &answer, Cycle due) { inside_.push({answer, due}); }
    // Takes the answer that is due, if there is one and it `may_leave`.
    bool take(Cycle now, bool may_leave, Answer &answer) {
        if (inside_.empty() || inside_.front().due > now || !may_leave)
            return false;
        answer = inside_.front().answer;
        inside_.pop();
        return true;
    }

private:
    struct Entry {
        Answer answer;
        Cycle due = 0;
    };
    Fifo<Entry, machine::kOutstanding> inside_;
};

// sram_ctrl_main. One access per cycle. If it is not executable it refuses instruction fetches: the
// error arrives when the word would have arrived (tlul_adapter_sram).
class Sram {
public:
    explicit Sram(Storage &storage) : storage_(storage) {}
    bool executable = true;
    bool idle() const { return pending_.empty(); }

    Step step(Cycle now, const Offers &offers) {
        Step out;
        const bool ready = pending_.room() && now >= shut_until_;
        out.answered = pending_.take(now, true, out.answer);
        const Request *request = arbiter_.pick(offers, ready);
        if (!request)
            return out;
        out.accepted = request;
        if (!request->we) {
            const bool refused = request->host == kInstr && !executable;
            pending_.add({refused ? 0 : storage_.read(request->addr), refused, request->host},
                         now + machine::kSramAnswer);
            return out;
        }
        storage_.write(request->addr, request->wdata, request->be);
        const bool whole = request->be == 0xf;
        const unsigned delay = whole ? machine::kSramAnswer : machine::kSramSubwordWrite;
        if (!whole)
            shut_until_ = now + delay;
        pending_.add({0, false, request->host}, now + delay);
        return out;
    }

private:
    Storage &storage_;
    Arbiter arbiter_;
    Pending pending_;
    Cycle shut_until_ = 0;
};

// rom_ctrl. Writes are refused.
class Rom {
public:
    explicit Rom(Storage &storage) : storage_(storage) {}
    bool idle() const { return pending_.empty() && waiting_.empty() && leaving_.empty(); }

    Step step(Cycle now, const Offers &offers) {
        if constexpr (machine::kRomFifos)
            return step_behind_fifos(now, offers);
        Step out;
        const bool ready = pending_.room();
        out.answered = pending_.take(now, true, out.answer);
        if (const Request *request = arbiter_.pick(offers, ready)) {
            out.accepted = request;
            serve(now, *request);
        }
        return out;
    }

private:
    Step step_behind_fifos(Cycle now, const Offers &offers) {
        Step out;
        const bool was_leaving = !leaving_.empty();
        if (was_leaving) {
            out.answered = true;
            out.answer = leaving_.front();
            leaving_.pop();
        }
        const bool room = pending_.room();
        Answer done;
        if (pending_.take(now, !was_leaving, done))
            leaving_.push(done);
        if (!waiting_.empty()) {
            arbiter_.pick(offers, false);
            if (room) {
                serve(now, waiting_.front());
                waiting_.pop();
            }
        } else if (const Request *request = arbiter_.pick(offers, true)) {
            out.accepted = request;
            if (room)
                serve(now, *request);
            else
                waiting_.push(*request);
        }
        return out;
    }

    void serve(Cycle now, const Request &request) {
        pending_.add({request.we ? 0 : storage_.read(request.addr), request.we, request.host},
                     now + machine::kRomAnswer);
    }

    Storage &storage_;
    Arbiter arbiter_;
    Pending pending_;
    Fifo<Request, 1> waiting_;
    Fifo<Answer, 1> leaving_;
};

// A device whose registers answer `delay` cycles after acceptance. `access` returns the answer.
template <unsigned delay> class RegisterBlock {
public:
    bool idle() const { return pending_.empty(); }

    template <typename Access> Step step(Cycle now, const Offers &offers, const Access &access) {
        Step out;
        const bool ready = pending_.room();
        out.answered = pending_.take(now, true, out.answer);
        if (const Request *request = arbiter_.pick(offers, ready)) {
            out.accepted = request;
            pending_.add(access(now, *request), now + delay);
        }
        return out;
    }

private:
    Arbiter arbiter_;
    Pending pending_;
};

// xbar_peri: everything behind the crossing into the peripheral clock.
class PeripheralBus {
public:
    bool idle() const { return inside_.empty(); }

    template <typename Access> Step step(Cycle now, const Offers &offers, const Access &access) {
        Step out;
        const bool ready = !inside_.full();
        for (unsigned i = 0; i < inside_.size(); ++i) {
            Entry &entry = inside_.at(i);
            if (now == entry.captured + machine::kPeripheralAccess)
                entry.answer = access(now, entry.request);
        }
        if (!inside_.empty() && now >= inside_.front().captured + machine::kPeripheralAnswer) {
            out.answered = true;
            out.answer = inside_.front().answer;
            inside_.pop();
        }
        if (const Request *request = arbiter_.pick(offers, ready)) {
            out.accepted = request;
            constexpr Cycle slow = machine::kPeripheralClock;
            Cycle edge = (now + machine::kPeripheralSetup + slow - 1) / slow * slow;
            if (edge < captured_ + machine::kPeripheralInterval && captured_ != kNever)
                edge = captured_ + machine::kPeripheralInterval;
            captured_ = edge;
            inside_.push({*request, {}, edge});
        }
        return out;
    }

private:
    struct Entry {
        Request request;
        Answer answer;
        Cycle captured = 0;
    };
    Arbiter arbiter_;
    Fifo<Entry, machine::kOutstanding> inside_;
    Cycle captured_ = kNever;
};

} // namespace earlgrey
