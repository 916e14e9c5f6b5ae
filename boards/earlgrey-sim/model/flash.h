// SPDX-License-Identifier: Apache-2.0 OR MIT
// Flash reads as in flash_phy_rd: each bank has four read buffers of 64 bits for instructions and
// data. The array delivers 64 bits two cycles after a request. Program and erase are not modelled.
#pragma once

#include "memory.h"

namespace earlgrey {

class Flash {
public:
    explicit Flash(Storage &storage) : storage_(storage) {}
    bool idle() const {
        return incoming_.empty() && inside_.empty() && leaving_.empty() && !banks_[0].busy &&
               !banks_[1].busy;
    }

    Step step(Cycle now, const Offers &offers) {
        Step out;
        // All decisions use the state at the beginning of the cycle.
        const bool room = !inside_.full();
        const bool shut[2] = {holds_back(banks_[0]), holds_back(banks_[1])};
        for (Bank &bank : banks_)
            nominate(bank);
        deliver(now);
        const auto try_accept = [&](const Request &request) {
            return room && !shut[bank_of(request)] && accept(now, request);
        };
        const auto done = [&] {
            return !inside_.empty() && inside_.front().state == Inside::kDone;
        };

        if constexpr (!machine::kFlashFifos) {
            if (done()) {
                out.answered = true;
                out.answer = take();
            }
            if (const Request *request = arbiter_.winner(offers)) {
                const bool taken = try_accept(*request);
                arbiter_.settle(*request, taken);
                out.accepted = taken ? request : nullptr;
            }
            return out;
        }

        // The FIFOs on both sides accept an entry only if they were empty when the cycle began.
        const bool may_enter = incoming_.empty();
        const bool may_leave = leaving_.empty();
        if (!may_leave) {
            out.answered = true;
            out.answer = leaving_.front();
            leaving_.pop();
        }
        if (!may_enter && try_accept(incoming_.front()))
            incoming_.pop();
        if (may_leave && done())
            leaving_.push(take());
        if (const Request *request = arbiter_.pick(offers, may_enter)) {
            out.accepted = request;
            incoming_.push(*request);
        }
        return out;
    }

private:
    enum class State : uint8_t { kInvalid, kFilling, kValid };
    struct Buffer {
        State state = State::kInvalid;
        uint32_t word = 0; // flash word number
    };
    struct Bank {
        std::array<Buffer, machine::kFlashBuffers> buffers;
        bool full = false;   // no buffer is empty
        uint8_t first = 0;   // where the round robin starts
        uint8_t nominee = 0; // the buffer for a miss in this cycle
        bool busy = false;
        uint8_t filling = 0;
        Cycle fill_ends = 0;
    };
    struct Inside {
        Request request;
        Bank *bank = nullptr;
        uint8_t buffer = 0;
        // Waits for its buffer; left it, but waits for an older answer of the other bank; done.
        enum { kWaiting, kHeld, kDone } state = kWaiting;
    };

    Answer take() {
        const Request request = inside_.front().request;
        inside_.pop();
        return {request.we ? 0 : storage_.read(request.addr), request.we, request.host};
    }

    bool accept(Cycle now, const Request &request) {
        Bank &bank = banks_[bank_of(request)];
        const uint32_t word = request.addr / machine::kFlashWordBytes;
        for (uint8_t i = 0; i < machine::kFlashBuffers; ++i)
            if (bank.buffers[i].state != State::kInvalid && bank.buffers[i].word == word) {
                inside_.push({request, &bank, i});
                return true;
            }
        if (bank.busy)
            return false;
        const uint8_t chosen = bank.nominee;
        bank.buffers[chosen] = {State::kFilling, word};
        bank.busy = true;
        bank.filling = chosen;
        bank.fill_ends = now + machine::kFlashArrayRead;
        if (bank.full)
            bank.first = (chosen + 1) % machine::kFlashBuffers;
        inside_.push({request, &bank, chosen});
        return true;
    }

    // Nominates the lowest empty buffer. If none is empty, uses round robin among filled buffers
    // that (since 2022-07, OpenTitan 6f4a41e7aa) owe no answer. The arbiter (prim_arbiter_tree)
    // keeps a winner that has to wait, so a buffer that owes an answer loses its turn to the next
    // one at once, even without a miss.
    void nominate(Bank &bank) {
        constexpr uint8_t count = machine::kFlashBuffers;
        bank.full = true;
        for (uint8_t i = 0; i < count; ++i)
            if (bank.buffers[i].state == State::kInvalid) {
                bank.full = false;
                bank.nominee = i;
                return;
            }
        for (uint8_t k = 0; k < count; ++k) {
            const uint8_t i = (bank.first + k) % count;
            if (bank.buffers[i].state == State::kValid && !owes(bank, i)) {
                bank.nominee = bank.first = i;
                return;
            }
        }
    }

    bool owes(const Bank &bank, uint8_t buffer) {
        if constexpr (!machine::kFlashKeepsOwed)
            return false;
        for (unsigned i = 0; i < inside_.size(); ++i) {
            const Inside &entry = inside_.at(i);
            if (entry.bank == &bank && entry.buffer == buffer && entry.state == Inside::kWaiting)
                return true;
        }
        return false;
    }

    // An answer that waits for the other bank occupies the only slot after its own bank, which
    // accepts no request meanwhile.
    bool holds_back(const Bank &bank) {
        for (unsigned i = 0; i < inside_.size(); ++i)
            if (inside_.at(i).bank == &bank && inside_.at(i).state == Inside::kHeld)
                return true;
        return false;
    }

    // Ends the fills that are due and moves data out of the buffers: in each bank for its oldest
    // request, and over both banks one answer per cycle, in order.
    void deliver(Cycle now) {
        for (Bank &bank : banks_)
            if (bank.busy && bank.fill_ends == now) {
                bank.busy = false;
                bank.buffers[bank.filling].state = State::kValid;
            }
        bool oldest = true;         // of all requests that are not done
        const Bank *seen = nullptr; // a bank whose oldest request still waits
        for (unsigned i = 0; i < inside_.size(); ++i) {
            Inside &entry = inside_.at(i);
            if (entry.state == Inside::kDone)
                continue;
            if (entry.state == Inside::kWaiting && entry.bank != seen &&
                entry.bank->buffers[entry.buffer].state == State::kValid)
                entry.state = Inside::kHeld;
            seen = entry.bank;
            if (oldest && entry.state == Inside::kHeld)
                entry.state = Inside::kDone;
            oldest = false;
        }
    }

    static unsigned bank_of(const Request &request) {
        return request.addr >> machine::kFlashBankBit & 1;
    }

    Storage &storage_;
    Arbiter arbiter_;
    Fifo<Request, 1> incoming_;
    Fifo<Inside, machine::kOutstanding> inside_;
    Fifo<Answer, 1> leaving_;
    std::array<Bank, 2> banks_;
};

} // namespace earlgrey
