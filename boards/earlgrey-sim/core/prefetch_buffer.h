// SPDX-License-Identifier: Apache-2.0 OR MIT
// The fetch of an Ibex without an instruction cache: two requests in flight and a queue of three
// words (ibex_prefetch_buffer.sv, ibex_fetch_fifo.sv).
#pragma once

#include "fetch.h"
#include "types.h"
#include <array>

namespace earlgrey::ibex {

class PrefetchBuffer {
public:
    uint32_t address() const { return address_; }
    bool busy() const { return in_flight_ || waits_; }
    bool key_valid() const { return false; }
    bool still() const { return false; }
    uint32_t fills() const { return 0; }

    Fetched step(const PortIn &in, const FetchControl &control, PortOut &out, const auto &granted) {
        const bool arrives = in.rvalid && !to_discard_;
        const Fetched fetched = offer(arrives, in.answer);

        const bool queue_full = (count_ > 1 || in_flight_ == 2) && (count_ > 2 || in_flight_);
        const bool asks = control.fetches && (!queue_full || control.redirects) && in_flight_ < 2;
        const bool asks_first_time = asks && !waits_;
        bool grant = false;
        const bool discards = waits_ && (control.redirects || discards_waiting_);
        if (asks || waits_) {
            const uint32_t next = control.redirects ? control.target : next_address_;
            const uint32_t address = waits_ ? waiting_address_ : next;
            out.req = true;
            out.request.addr = address & ~3u;
            grant = granted(out);
            waiting_address_ = address;
        }
        if (control.redirects || asks_first_time)
            next_address_ = (control.redirects ? control.target : next_address_ & ~3u) +
                            (asks_first_time ? 4 : 0);

        // The queue takes the answer and gives up a word.
        if (arrives && count_ < kDepth)
            queue_[count_++] = {in.answer.data, in.answer.err};
        if (control.ready && fetched.valid) {
            if (uses_word_) {
                queue_[0] = queue_[1];
                queue_[1] = queue_[2];
                --count_;
            }
            address_ += steps_two_ ? 2 : 4;
        }
        if (control.redirects) {
            count_ = 0;
            address_ = control.target;
        }

        waits_ = (asks || waits_) && !grant;
        discards_waiting_ = discards;
        if (control.redirects)
            to_discard_ = in_flight_;
        in_flight_ += grant;
        if (grant && discards)
            to_discard_ = in_flight_;
        if (in.rvalid) {
            --in_flight_;
            to_discard_ -= to_discard_ > 0;
        }
        return fetched;
    }

private:
    static constexpr unsigned kDepth = 3;
    struct Word {
        uint32_t data = 0;
        bool error = false;
    };

    // Makes an instruction from the first two words of the queue and the word that arrives.
    Fetched offer(bool arrives, const Answer &answer) {
        const Word arriving{answer.data, answer.err};
        const Word first = count_ > 0 ? queue_[0] : arriving;
        const Word second = count_ > 1 ? queue_[1] : arriving;
        const bool has_first = count_ > 0 || arrives;
        const bool has_second = count_ > 1 || (count_ > 0 && arrives);
        const bool upper = address_ & 2;
        const bool compressed = (first.data >> (upper ? 16 : 0) & 3) != 3 && !first.error;
        Fetched fetched;
        if (upper) {
            fetched.text = first.data >> 16 | second.data << 16;
            fetched.valid = compressed ? has_first : has_second;
            fetched.error = first.error || (second.error && !compressed);
            fetched.error_in_second = count_ > 0 && second.error && !first.error;
        } else {
            fetched.text = first.data;
            fetched.valid = has_first;
            fetched.error = first.error;
        }
        steps_two_ = compressed;
        uses_word_ = upper || !compressed;
        return fetched;
    }

    uint32_t address_ = 0;      // of the instruction that is offered next
    uint32_t next_address_ = 0; // of the next request
    uint32_t waiting_address_ = 0;
    bool waits_ = false;                      // a request waits for its grant
    bool discards_waiting_ = false;           // its answer will be discarded
    unsigned in_flight_ = 0, to_discard_ = 0; // the oldest ones are discarded
    std::array<Word, kDepth> queue_{};
    unsigned count_ = 0;
    bool uses_word_ = false, steps_two_ = false; // if the offer is taken
};

} // namespace earlgrey::ibex
