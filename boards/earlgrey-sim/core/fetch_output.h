// SPDX-License-Identifier: Apache-2.0 OR MIT
// The end of the fetch: makes instructions from the words that the cache delivers (the output stage of
// ibex_icache.sv). An instruction of 32 bits may be spread over two words; then its first half waits in
// the skid register.
#pragma once

#include "fetch.h"

namespace earlgrey::ibex {

class FetchOutput {
public:
    uint32_t address() const { return address_; }

    // The word of the line (0 or 1) that is needed next.
    uint32_t word_number() const { return (address_ >> 2 & 1) ^ skid_valid_; }

    // Offers an instruction, given the next word if there is one.
    Fetched offer(bool has_word, uint32_t word, bool error) {
        has_word_ = has_word;
        word_ = word;
        error_ = error;
        complete_ = skid_valid_ && (skid_compressed() || skid_error_);
        const bool upper = address_ & 2;
        Fetched fetched;
        fetched.text = upper ? word << 16 | (skid_valid_ ? skid_ : word >> 16) : word;
        fetched.valid = complete_ || (has_word && (!upper || skid_valid_ || error ||
                                                   (word >> 16 & 3) != 3));
        fetched.error = (skid_valid_ && skid_error_) || (!complete_ && error);
        fetched.error_in_second = skid_valid_ && !skid_error_;
        return fetched;
    }

    // Ends the cycle after offer(). Returns whether the word is used up.
    bool end(const Fetched &fetched, bool ready) {
        const bool upper = address_ & 2;
        const bool fills_skid = upper && !skid_valid_ && (!fetched.compressed() || error_);
        const bool takes_word = (ready || fills_skid) && !complete_;
        const bool used = has_word_ && takes_word;
        if (has_word_ && (ready || fills_skid)) {
            skid_ = word_ >> 16;
            const bool complete = complete_;
            const bool was_valid = skid_valid_;
            skid_valid_ = was_valid ? !(ready && complete)
                                    : fills_skid || (!upper && fetched.compressed() && !error_ && ready);
            skid_error_ = error_;
        } else if (ready && complete_) {
            skid_valid_ = false;
        }
        if (ready && fetched.valid)
            address_ += fetched.compressed() && !fetched.error ? 2 : 4;
        return used;
    }

    void redirect(uint32_t address) {
        address_ = address;
        skid_valid_ = false;
    }

private:
    bool skid_compressed() const { return (skid_ & 3) != 3; }

    uint32_t address_ = 0; // of the instruction that is offered next
    uint32_t skid_ = 0;
    bool skid_valid_ = false, skid_error_ = false;
    // Of this cycle, from offer() to end().
    bool has_word_ = false, error_ = false, complete_ = false;
    uint32_t word_ = 0;
};

} // namespace earlgrey::ibex
