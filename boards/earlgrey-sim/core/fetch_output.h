// SPDX-License-Identifier: Apache-2.0 OR MIT
// The end of the fetch: makes instructions from the words that the cache delivers (the output stage
// of ibex_icache.sv). An instruction of 32 bits may be spread over two words; then its first half
// waits in the skid register.
#pragma once

#include "fetch.h"

namespace earlgrey::ibex {

class FetchOutput {
public:
    uint32_t address() const { return address_; }

    // The word of the line (0 or 1) that is needed next.
    uint32_t word_number() const { return (address_ >> 2 & 1) ^ skid_valid_; }

    // A cycle: offers an instruction, given the next word if there is one. `ready`: it is taken.
    // Sets `uses_word` if the word is not needed any more.
    Fetched step(bool has_word, uint32_t word, bool error, bool ready, bool &uses_word) {
        const bool upper = address_ & 2;
        Fetched fetched;
        fetched.text = upper ? word << 16 | (skid_valid_ ? skid_ : word >> 16) : word;
        const bool compressed = fetched.compressed();
        uses_word = false;
        if (skid_valid_) {
            const bool complete = compressed || skid_error_;
            fetched.valid = complete || has_word;
            fetched.error = skid_error_ || (!complete && error);
            fetched.error_in_second = !skid_error_;
            if (!ready)
                return fetched;
            if (complete)
                skid_valid_ = false;
            else
                uses_word = has_word;
            if (has_word)
                fill_skid(word, error);
        } else if (has_word) {
            fetched.valid = !upper || error || compressed;
            fetched.error = error;
            const bool has_half = upper ? !compressed || error : compressed && !error && ready;
            uses_word = ready || (upper && has_half);
            skid_valid_ = has_half;
            if (uses_word)
                fill_skid(word, error);
        }
        if (ready && fetched.valid)
            address_ += compressed && !fetched.error ? 2 : 4;
        return fetched;
    }

    void redirect(uint32_t address) {
        address_ = address;
        skid_valid_ = false;
    }

private:
    void fill_skid(uint32_t word, bool error) {
        skid_ = word >> 16;
        skid_error_ = error;
    }

    uint32_t address_ = 0; // of the instruction that is offered next
    uint32_t skid_ = 0;
    uint32_t skid_valid_ = 0;
    bool skid_error_ = false;
};

} // namespace earlgrey::ibex
