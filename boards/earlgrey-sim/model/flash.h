// SPDX-License-Identifier: Apache-2.0 OR MIT
// Flash reads as in flash_phy_rd: each bank has four read buffers of 64 bits for instructions and
// data. The array delivers 64 bits two cycles after a request. Program and erase are not modelled.
//
// Buffers are numbered over both banks, bank 0 first, and sets of buffers are bit masks. Since
// nothing empties a buffer, those of a bank are first filled in order.
#pragma once

#include "memory.h"

namespace earlgrey {

class Flash {
public:
    explicit Flash(Storage &storage) : storage_(storage) {
        for (Bank &bank : banks_)
            bank.words.fill(kNoWord);
    }
    bool idle() const {
        return incoming_.empty() && inside_.empty() && leaving_.empty() && !filling_;
    }

    Step step(Cycle now, const Offers &offers) {
        Step out;
        // All decisions use the state at the beginning of the cycle.
        const bool room = !inside_.full();
        const Buffers shut = shut_;
        if (starts_ & unavailable())
            move_starts();
        if (filling_)
            end_fills(now);
        move_out();
        const auto try_accept = [&](const Request &request) {
            return room && !(shut & of_bank(bank_of(request))) && accept(now, request);
        };
        const auto done = [&] {
            return !inside_.empty() && inside_.front().state == Inside::kDone;
        };

        if constexpr (!machine::kFlashFifos) {
            if (done()) {
                out.answered = true;
                out.answer = inside_.front().answer;
                inside_.pop();
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
        if (may_leave && done()) {
            leaving_.push(inside_.front().answer);
            inside_.pop();
        }
        if (const Request *request = arbiter_.pick(offers, may_enter)) {
            out.accepted = request;
            incoming_.push(*request);
        }
        return out;
    }

private:
    using Buffers = uint32_t;
    static constexpr unsigned kCount = machine::kFlashBuffers; // per bank
    static constexpr uint32_t kNoWord = ~0u;

    struct Bank {
        std::array<uint32_t, kCount> words; // the flash word number in each buffer
        unsigned used = 0;                  // buffers that are not empty
        unsigned start = 0;                 // where the round robin starts
        Cycle fill_ends = 0;
    };
    struct Inside {
        Answer answer;
        Buffers buffer = 0;
        // Waits for its buffer; left it, but waits for an older answer of the other bank; done.
        enum { kWaiting, kHeld, kDone } state = kWaiting;
    };

    static unsigned bank_of(const Request &request) {
        return request.addr >> machine::kFlashBankBit & 1;
    }
    static unsigned bank_of(Buffers buffer) { return buffer >> kCount != 0; }
    static Buffers of_bank(unsigned bank) { return ((1u << kCount) - 1) << bank * kCount; }
    static Buffers buffer(unsigned bank, unsigned i) { return 1u << (bank * kCount + i); }

    bool accept(Cycle now, const Request &request) {
        const unsigned number = bank_of(request);
        Bank &bank = banks_[number];
        const uint32_t word = request.addr / machine::kFlashWordBytes;
        unsigned i = 0;
        while (i < kCount && bank.words[i] != word)
            ++i;
        if (i == kCount) {
            if (filling_ & of_bank(number))
                return false;
            i = start_fill(now, number, word);
        }
        const Answer answer{request.we ? 0 : storage_.read(request.addr), request.we, request.host};
        inside_.push({answer, buffer(number, i)});
        return true;
    }

    // Fills the lowest empty buffer. If none is empty, uses round robin among filled buffers that
    // (since 2022-07, OpenTitan 6f4a41e7aa) owe no answer.
    unsigned start_fill(Cycle now, unsigned number, uint32_t word) {
        Bank &bank = banks_[number];
        unsigned chosen = bank.used;
        if (bank.used < kCount) {
            ++bank.used;
        } else {
            chosen = bank.start;
            bank.start = (chosen + 1) % kCount;
        }
        bank.words[chosen] = word;
        bank.fill_ends = now + machine::kFlashArrayRead;
        filling_ |= buffer(number, chosen);
        update_starts();
        return chosen;
    }

    // The buffers that the round robin passes over.
    Buffers unavailable() {
        Buffers buffers = filling_;
        for (unsigned i = 0; machine::kFlashKeepsOwed && i < inside_.size(); ++i)
            if (inside_.at(i).state == Inside::kWaiting)
                buffers |= inside_.at(i).buffer;
        return buffers;
    }

    // The arbiter (prim_arbiter_tree) keeps a winner that has to wait, so a buffer that is not
    // available loses its turn to the next one at once, even without a miss.
    void move_starts() {
        const Buffers skipped = unavailable();
        for (unsigned number = 0; number < banks_.size(); ++number) {
            Bank &bank = banks_[number];
            for (unsigned k = 0; k < kCount && bank.used == kCount; ++k) {
                const unsigned i = (bank.start + k) % kCount;
                if (!(skipped & buffer(number, i))) {
                    bank.start = i;
                    break;
                }
            }
        }
        update_starts();
    }

    void update_starts() {
        starts_ = 0;
        for (unsigned number = 0; number < banks_.size(); ++number)
            if (banks_[number].used == kCount)
                starts_ |= buffer(number, banks_[number].start);
    }

    void end_fills(Cycle now) {
        for (unsigned number = 0; number < banks_.size(); ++number)
            if (banks_[number].fill_ends == now)
                filling_ &= ~of_bank(number);
    }

    // Moves data out of the buffers: in each bank for its oldest request, and over both banks one
    // answer per cycle, in order. An answer that waits for the other bank occupies the only slot
    // after its own bank, which accepts no request meanwhile.
    void move_out() {
        if (inside_.empty())
            return;
        const auto has_left = [this](const Inside &entry) {
            return entry.state != Inside::kWaiting || !(entry.buffer & filling_);
        };
        shut_ = 0;
        Inside &first = inside_.front();
        const bool first_was_done = first.state == Inside::kDone;
        if (has_left(first))
            first.state = Inside::kDone;
        if (inside_.size() == 1)
            return;
        Inside &second = inside_.at(1);
        if (!has_left(second))
            return;
        if (first_was_done) {
            second.state = Inside::kDone;
        } else if (bank_of(second.buffer) != bank_of(first.buffer)) {
            second.state = Inside::kHeld;
            shut_ = of_bank(bank_of(second.buffer));
        }
    }

    Storage &storage_;
    Arbiter arbiter_;
    Fifo<Request, 1> incoming_;
    Fifo<Inside, machine::kOutstanding> inside_;
    Fifo<Answer, 1> leaving_;
    std::array<Bank, 2> banks_;
    Buffers filling_ = 0; // at most one in a bank
    Buffers starts_ = 0;  // where the round robin starts in banks without an empty buffer
    Buffers shut_ = 0;    // all of a bank that accepts no request
};

} // namespace earlgrey
