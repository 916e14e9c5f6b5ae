// SPDX-License-Identifier: Apache-2.0 OR MIT
// Flash reads as in flash_phy_rd: each bank has four read buffers of 64 bits for instructions and
// data. The array delivers 64 bits two cycles after a request. Program and erase are not modelled.
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
        return now >= room_.from() &&
               (request.we || (!shut(bank, now) &&
                               (now >= bank.fill_ends || bank.find(word_of(request)) < kCount)));
    }

    Promise accept(Cycle now, const Request &request) {
        if (request.we)
            return {{0, true, request.host}, refuse(now)};
        Bank &bank = banks_[bank_of(request)];
        const uint32_t word = word_of(request);
        unsigned buffer = bank.find(word);
        const bool hit = buffer < kCount;
        Cycle enters = now; // its bank, from the request FIFO
        if constexpr (machine::kFlashFifos)
            enters = hit ? now + 1 : std::max(now + 1, bank.fill_ends);
        if (!hit) {
            buffer = bank.fill(word);
            bank.fill_ends = enters + machine::kFlashArrayRead;
        }
        if constexpr (machine::kFlashKeepsOwed)
            bank.pass_over(buffer);
        const Cycle filled = buffer == bank.filled ? bank.fill_ends : 0;
        const Cycle done = std::max(enters + 1, filled);
        const Answer answer{storage_.read(request.addr), false, request.host};
        return {answer, machine::kFlashFifos ? leave_by_fifo(enters, done) : leave(bank, done)};
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
        // Returns the buffer of a word, or kCount.
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
        // Since 2022-07 (OpenTitan 6f4a41e7aa) the round robin passes over a buffer that owes an
        // answer. The arbiter (prim_arbiter_tree) keeps a winner that has to wait, so the buffer
        // loses its turn to the next one at once, even without a miss.
        void pass_over(unsigned buffer) {
            if (used == kCount && start == buffer)
                start = (start + 1) % kCount;
        }
    };

    static uint32_t word_of(const Request &request) {
        return request.addr / machine::kFlashWordBytes;
    }
    static unsigned bank_of(const Request &request) {
        return request.addr >> machine::kFlashBankBit & 1;
    }

    // The FIFOs admit a request in every second cycle at most. So at most one owes an answer, and
    // none waits for an older one, except to leave: the answer FIFO also accepts an entry only if
    // it was empty when the cycle began.
    static_assert(!machine::kFlashFifos || machine::kFlashArrayRead <= 2);
    static_assert(machine::kFlashFifos || !machine::kFlashKeepsOwed);
    Cycle leave_by_fifo(Cycle enters, Cycle done) {
        entered_ = enters;
        due_ = std::max(done + 1, due_ + 2);
        return due_;
    }

    // A store is no request to a bank: tlul_adapter_sram answers it with an error, in order.
    Cycle refuse(Cycle now) {
        if constexpr (machine::kFlashFifos)
            return leave_by_fifo(now + 1, now + 2);
        due_ = std::max(now + 1, due_ + 1);
        room_.add(due_);
        return due_;
    }

    // Each bank moves one word per cycle out of its buffers, and both banks one answer, in order.
    Cycle leave(const Bank &bank, Cycle goes) {
        leaves_ = std::max(goes, leaves_ + 1);
        due_ = std::max(leaves_, due_ + 1);
        goes_ = &bank == bank_ ? leaves_ : goes;
        bank_ = &bank;
        room_.add(due_);
        return due_;
    }

    // An answer that waits for the other bank occupies the only slot after its own bank, which
    // accepts no request meanwhile.
    bool shut(const Bank &bank, Cycle now) const {
        return &bank == bank_ && now > goes_ && now <= leaves_;
    }

    Storage &storage_;
    std::array<Bank, 2> banks_;
    Room<machine::kOutstanding> room_;
    // The last request: the cycles when it enters its bank, and when its answer comes.
    Cycle entered_ = 0, due_ = 0;
    // The last load: the cycles when its data go from the buffer and leave the banks; and its bank.
    Cycle goes_ = 0, leaves_ = 0;
    const Bank *bank_ = nullptr;
};

} // namespace earlgrey
