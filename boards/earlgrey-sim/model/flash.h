// SPDX-License-Identifier: Apache-2.0 OR MIT
// Flash reads as in flash_phy_rd: each bank has four read buffers of 64 bits for instructions and
// data. The array delivers 64 bits two cycles after a request. Program and erase are not modelled.
//
// A request passes four points, and each waits for the request before it: it enters its bank, its
// data leave the read buffer, the answer is done, and the answer leaves the flash.
#pragma once

#include "memory.h"

namespace earlgrey {

class Flash {
public:
    explicit Flash(Storage &storage) : storage_(storage) {}

    bool ready(Cycle now, const Request &request) const {
        // The request FIFO accepts an entry only if it was empty when the cycle began.
        if constexpr (machine::kFlashFifos)
            return now > entered_;
        const Bank &bank = banks_[bank_of(request)];
        return now >= room_.from() && !shut(bank, now) &&
               (now >= bank.fill_ends || bank.find(word_of(request)) < kCount);
    }

    Promise accept(Cycle now, const Request &request) {
        Bank &bank = banks_[bank_of(request)];
        const uint32_t word = word_of(request);
        unsigned buffer = bank.find(word);
        const bool hit = buffer < kCount;
        Cycle enters = now;
        if constexpr (machine::kFlashFifos) {
            enters = std::max(now + 1, room_.from());
            if (!hit)
                enters = std::max(enters, bank.fill_ends);
            if (shut(bank, enters))
                enters = done_ + 1;
        }
        if (!hit) {
            buffer = bank.fill(word);
            bank.fill_ends = enters + machine::kFlashArrayRead;
        }
        pass_over(bank, buffer, enters);
        // Each bank moves one word per cycle out of its buffers, and both banks one answer, in
        // order.
        const Cycle filled = buffer == bank.filled ? bank.fill_ends : 0;
        const Cycle may_go = std::max(enters + 1, filled);
        const Cycle done = std::max(may_go, done_ + 1);
        goes_ = &bank == bank_ ? done : may_go;
        done_ = done;
        bank_ = &bank;
        buffer_ = buffer;
        entered_ = enters;

        // The answer FIFO, too, accepts an entry only if it was empty when the cycle began.
        constexpr Cycle kFifo = machine::kFlashFifos ? 1 : 0;
        const Cycle leaves = std::max(done, room_.last() + 1 + kFifo);
        room_.add(leaves);
        return {{request.we ? 0 : storage_.read(request.addr), request.we, request.host},
                leaves + kFifo};
    }

private:
    static constexpr unsigned kCount = machine::kFlashBuffers;

    struct Bank {
        std::array<uint32_t, kCount> words; // the flash word number in each buffer
        unsigned used = 0;                  // buffers that are not empty: the first ones
        unsigned start = 0;                 // where the round robin starts
        unsigned filled = 0;                // the buffer that was filled last
        Cycle fill_ends = 0;

        Bank() { words.fill(~0u); }
        // Returns the buffer of a word, kCount if there is none.
        unsigned find(uint32_t word) const {
            unsigned i = 0;
            while (i < kCount && words[i] != word)
                ++i;
            return i;
        }
        // Selects the lowest empty buffer. If none is empty, uses round robin.
        unsigned fill(uint32_t word) {
            if (used < kCount) {
                filled = used++;
            } else {
                filled = start;
                start = (start + 1) % kCount;
            }
            words[filled] = word;
            return filled;
        }
    };

    static uint32_t word_of(const Request &request) {
        return request.addr / machine::kFlashWordBytes;
    }
    static unsigned bank_of(const Request &request) {
        return request.addr >> machine::kFlashBankBit & 1;
    }

    // An answer that waits for the other bank occupies the only slot after its own bank, which
    // accepts no request meanwhile.
    bool shut(const Bank &bank, Cycle now) const {
        return now <= done_ && now > goes_ && &bank == bank_;
    }

    // The round robin passes over buffers that (since 2022-07, OpenTitan 6f4a41e7aa) owe an answer.
    // The arbiter (prim_arbiter_tree) keeps a winner that has to wait, so a buffer that owes an
    // answer loses its turn to the next one at once, even without a miss. Owing buffers are that of
    // a request that enters and that of the request before it, if its data are still there.
    void pass_over(Bank &bank, unsigned buffer, Cycle enters) {
        if (!machine::kFlashKeepsOwed || bank.used < kCount)
            return;
        const unsigned before = &bank == bank_ && goes_ > enters ? buffer_ : buffer;
        while (bank.start == buffer || bank.start == before)
            bank.start = (bank.start + 1) % kCount;
    }

    Storage &storage_;
    std::array<Bank, 2> banks_;
    Room<machine::kOutstanding> room_;
    // Of the last request: its bank and buffer, and the cycles in which it enters the bank, its
    // data go from the buffer, and its answer is done.
    const Bank *bank_ = nullptr;
    unsigned buffer_ = 0;
    Cycle entered_ = 0, goes_ = 0, done_ = 0;
};

} // namespace earlgrey
