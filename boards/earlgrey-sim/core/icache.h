// SPDX-License-Identifier: Apache-2.0 OR MIT
// The fetch of an Ibex with an instruction cache (ibex_icache.sv), also while the cache is off: 256
// sets of two lines of 8 bytes, and four fill buffers.
//
// A lookup takes a fill buffer, which asks for the words that the cache does not have, gives the
// words to the decode stage, and writes its line to the cache. The oldest buffer goes first in
// everything. A buffer is a bit in each of the masks below: a younger buffer has a higher bit, and
// bits are not used again until the highest is reached.
#pragma once

#include "fetch_output.h"
#include "key_source.h"
#include "secded.h"
#include "types.h"
#include <array>
#include <bit>
#include <utility>

namespace earlgrey::ibex {

class ICache {
public:
    // The address of the instruction that is offered next (addr_o).
    uint32_t address() const { return output_.address(); }
    // Whether there is a scrambling key, as cpuctrl shows it: one cycle late.
    bool key_valid() const { return key_shown_; }
    // Whether the last cycle changed nothing, so that the next one will not without a grant, an
    // answer or a change of the control.
    bool still() const { return still_; }
    // busy_o: an invalidation or an answer is still to come.
    bool busy() const { return invalidation_ != kIdle || (busy_ & ~all_answered()); }
    uint32_t fills() const { return fills_; } // lines written since the reset

    // A cycle. Sets `out`; `granted(out)` tells whether the bus takes the request.
    [[gnu::always_inline]] Fetched step(const PortIn &in, const FetchControl &control, PortOut &out,
                                        const auto &granted) {
        const uint32_t busy = busy_, stale = stale_;
        const uint32_t discarded = control.redirects ? ~0u : stale;

        // Lookup (lookup_req_ic0): of the target of a redirect, else while fewer than three buffers
        // hold lines to come.
        const bool looks = control.fetches && may_look_up(control.redirects);
        const uint32_t looked_up = control.redirects ? control.target : prefetch_address_;

        // Request: of the oldest buffer with one to make (fill_ext_req), else of the lookup, before
        // it is known whether it hits (fill_spec_req). One that is not granted is never taken back
        // (fill_ext_hold_q).
        const uint32_t no_more = without_request(discarded);
        const uint32_t asking = lowest(busy & ~no_more);
        bool speculates = false, grant = false;
        if (asking) {
            out.request.addr = requested(asking);
            out.req = true;
            grant = granted(out);
        } else if (looks && (control.redirects || !control.enabled)) {
            speculates = true;
            out.request.addr = looked_up & ~3u;
            out.req = true;
            grant = granted(out);
        }

        // Output: of the oldest buffer with words left (fill_out_arb): stored, or just arriving
        // (fill_data_rvd). The answer goes to the oldest buffer that expects one (fill_rvd_arb).
        const uint32_t given_all = given_.twice | (given_.once & second_first_);
        const uint32_t giving = lowest(busy & ~stale & ~given_all);
        const uint32_t answered_all = all_answered();
        const uint32_t answered = in.rvalid ? lowest(busy & ~answered_all) : 0;
        const uint32_t stored = hit_ | arrived_.more_than(given_);
        const uint32_t number = output_.word_number();
        bool has_word = false, word_error = false, uses_word;
        uint32_t word = 0;
        if (giving & stored) {
            has_word = true;
            word = buffer(giving).words[number];
            word_error = errors_[number] & ~hit_ & giving;
        } else if (giving & answered) {
            has_word = true;
            word = in.answer.data;
            word_error = in.answer.err;
        }
        const Fetched fetched = output_.step(has_word, word, word_error, control.ready, uses_word);

        // The end of the cycle. A buffer is done (fill_done) when its line is stored or will not
        // be, its words are given or discarded, and its requests answered. The cache is written
        // (fill_grant_ic0) only in a cycle without a lookup.
        const uint32_t errors = errors_[0] | errors_[1];
        busy_ = busy &
                ~((written_ | hit_ | ~cached_ | errors) & (given_all | discarded) & answered_all);
        const uint32_t asked_all = no_more & busy;
        still_ =
            !((asking ^ held_) | (busy_ ^ busy) | (asked_all ^ asked_all_)) &&
            !(grant | looks | in.rvalid | uses_word | control.redirects | control.invalidates) &&
            invalidation_ == kIdle && !double_hit_ && !disagrees_;
        asked_all_ = asked_all;
        if (!looks)
            write_line(busy & arrived_.twice & ~hit_ & cached_ & ~errors & ~written_);
        if (invalidation_ == kInvalidating || double_hit_) [[unlikely]] {
            // A double hit in both ways; an invalidation at the same time clears its own set
            // instead.
            const uint32_t set =
                invalidation_ == kInvalidating ? invalidated_set_ : double_hit_set_;
            lines_[0][set].tag = lines_[1][set].tag = 0;
        }
        if (disagrees_ || double_hit_) [[unlikely]] {
            double_hit_ = std::exchange(disagrees_, false);
            double_hit_set_ = disagreeing_set_;
        }
        if (answered)
            store(answered, in.answer);
        if (uses_word)
            given_.count(giving);
        held_ = grant ? 0 : asking;
        if (grant)
            asked_.count(asking);
        if (control.redirects) {
            stale_ |= busy;
            output_.redirect(control.target);
            prefetch_address_ = control.target;
        }
        const bool caches = control.enabled && !control.invalidates && invalidation_ == kIdle;
        if (!control.enabled || control.invalidates)
            cached_ = 0;
        if (looks) {
            prefetch_address_ = (looked_up & ~7u) + 8;
            const uint32_t bit = allocate(looked_up);
            if (speculates && grant)
                asked_.count(bit);
            else if (speculates)
                held_ |= bit;
            if (caches)
                look_up(bit, looked_up);
        }
        if (invalidation_ != kIdle || control.invalidates) [[unlikely]]
            step_invalidation(control.invalidates);
        return fetched;
    }

    // The request of this cycle if nothing redirects the fetch, which does not depend on grants and
    // answers of the cycle.
    PortOut request(bool enabled) const {
        const uint32_t asking = lowest(busy_ & ~without_request(stale_));
        const uint32_t address = asking ? requested(asking) : prefetch_address_ & ~3u;
        return {asking || (!enabled && may_look_up(false)), {address, 0, 0xf, false, kInstr}};
    }

private:
    static constexpr unsigned kSets = 256;
    static constexpr uint32_t kValid = 1u << 31;
    using Words = std::array<uint32_t, 2>;

    struct Line {
        uint32_t tag = 0; // with kValid
        Words words{};
    };
    struct FillBuffer {
        uint32_t address = 0;
        uint32_t way = 0; // where it is written
        Words words{};
    };
    // A count of 0 to 2 for each buffer.
    struct Counts {
        uint32_t once = 0, twice = 0; // at least once
        void count(uint32_t buffer) {
            twice |= once & buffer;
            once |= buffer;
        }
        // The buffers with a higher count than in `other`.
        uint32_t more_than(Counts other) const {
            return (once & ~other.once) | (twice & ~other.twice);
        }
    };
    // inval_state_e: OUT_OF_RESET, AWAIT_SCRAMBLE_KEY, INVAL_CACHE, IDLE.
    enum Invalidation : uint32_t { kOutOfReset, kAwaitsKey, kInvalidating, kIdle };

    // Whether more than `count` bits are set.
    static bool has_more_than(unsigned count, uint32_t bits) {
        for (unsigned i = 0; i < count; ++i)
            bits &= bits - 1;
        return bits;
    }
    static uint32_t lowest(uint32_t bits) { return bits & -bits; }
    FillBuffer &buffer(uint32_t bit) { return buffers_[std::countr_zero(bit)]; }

    bool may_look_up(bool redirects) const {
        return !has_more_than(3, busy_) && !double_hit_ &&
               (redirects || !has_more_than(2, busy_ & ~stale_));
    }
    // Buffers that make no request (fill_ext_done_d), if the words of `discarded` are not needed.
    uint32_t without_request(uint32_t discarded) const {
        return (asked_.twice | hit_ | (~cached_ & (discarded | (asked_.once & second_first_)))) &
               ~held_;
    }
    // The address of a buffer's next request.
    uint32_t requested(uint32_t bit) const {
        const uint32_t second = asked_.once ^ second_first_;
        return (buffers_[std::countr_zero(bit)].address & ~7u) | (second & bit ? 4u : 0);
    }

    // Buffers whose requests are over, and all answered (fill_rvd_done).
    uint32_t all_answered() const { return asked_all_ & ~(held_ | asked_.more_than(arrived_)); }

    uint32_t allocate(uint32_t address) {
        if (next_ == 32) [[unlikely]]
            renumber();
        const uint32_t bit = 1u << next_;
        buffers_[next_].address = address;
        ++next_;
        busy_ |= bit;
        if (address & 4)
            second_first_ |= bit;
        return bit;
    }

    // Stores an answer's word.
    void store(uint32_t bit, const Answer &answer) {
        const uint32_t number = ((arrived_.once ^ second_first_) & bit) != 0;
        if (!(hit_ & bit))
            buffer(bit).words[number] = answer.data;
        if (answer.err)
            errors_[number] |= bit;
        arrived_.count(bit);
    }

    // Writes the line of the oldest of these buffers to the cache.
    void write_line(uint32_t complete) {
        if (!complete || invalidation_ == kInvalidating || double_hit_)
            return;
        const uint32_t bit = lowest(complete);
        const FillBuffer &from = buffer(bit);
        lines_[from.way][from.address >> 3 & (kSets - 1)] = {from.address >> 11 | kValid,
                                                             from.words};
        written_ |= bit;
        ++fills_;
        still_ = false;
    }

    // Moves the buffers in use to the lowest bits.
    void renumber() {
        uint32_t *masks[] = {&busy_,         &second_first_,  &stale_,      &cached_,
                             &hit_,          &held_,          &asked_all_,  &written_,
                             &errors_[0],    &errors_[1],     &asked_.once, &asked_.twice,
                             &arrived_.once, &arrived_.twice, &given_.once, &given_.twice};
        const uint32_t used = busy_;
        next_ = 0;
        for (uint32_t left = used; left; left &= left - 1, ++next_) {
            const auto from = static_cast<unsigned>(std::countr_zero(left));
            buffers_[next_] = buffers_[from];
            for (uint32_t *mask : masks)
                *mask = (*mask & ~(1u << next_)) | (*mask >> from & 1) << next_;
        }
        for (uint32_t *mask : masks)
            *mask &= (1u << next_) - 1;
    }

    // Looks up an address for a new buffer. The way for a miss is the lowest invalid one, else the
    // one whose turn it is; the turn changes with every lookup. The RTL has the result one cycle
    // later, which makes no difference except for a double hit.
    void look_up(uint32_t bit, uint32_t address) {
        const uint32_t set = address >> 3 & (kSets - 1), tag = address >> 11 | kValid;
        const Line &first = lines_[0][set], &second = lines_[1][set];
        FillBuffer &to = buffers_[next_ - 1];
        cached_ |= bit;
        to.way = !(first.tag & kValid) ? 0 : !(second.tag & kValid) ? 1 : turn_;
        turn_ ^= 1;
        if (first.tag == tag) {
            hit_ |= bit;
            to.words = first.words;
            if (second.tag == tag) [[unlikely]]
                double_hit(bit, set);
        } else if (second.tag == tag) {
            hit_ |= bit;
            to.words = second.words;
        }
    }

    // Code changed without fence.i may be in both ways. The RAMs' outputs are ORed; if the check
    // bits are then wrong, it is no hit, and both lines are dropped two cycles later.
    void double_hit(uint32_t bit, uint32_t set) {
        const Words &first = lines_[0][set].words, &second = lines_[1][set].words;
        FillBuffer &to = buffers_[next_ - 1];
        for (unsigned i = 0; i < 2; ++i) {
            to.words[i] = first[i] | second[i];
            disagrees_ |= first[i] != second[i] && !check_bits_agree(first[i], second[i]);
        }
        if (disagrees_)
            hit_ &= ~bit;
        disagreeing_set_ = set;
    }

    // The request for a new scrambling key and the invalidation that follows (ibex_top.sv has the
    // registers of the key).
    void step_invalidation(bool invalidates) {
        const bool asks = invalidates && (invalidation_ == kIdle || invalidation_ == kInvalidating);
        switch (invalidation_) {
        case kOutOfReset: invalidation_ = kAwaitsKey; break;
        case kAwaitsKey:
            if (key_valid_)
                invalidation_ = kInvalidating;
            invalidated_set_ = 0;
            break;
        case kInvalidating:
            if (asks)
                invalidation_ = kAwaitsKey;
            else if (invalidated_set_ == kSets - 1)
                invalidation_ = kIdle;
            invalidated_set_ = (invalidated_set_ + 1) % kSets;
            break;
        case kIdle: invalidation_ = kAwaitsKey; break;
        }
        key_shown_ = key_valid_;
        const bool asked = key_asked_, arrives = key_arrives_;
        if (asked || asks) {
            key_valid_ = asked && arrives;
            key_asked_ = !key_valid_;
        }
        key_arrives_ = key_source_.step(asked); // and through a register
    }

    FetchOutput output_;
    uint32_t prefetch_address_ = 0;

    // Masks of fill buffers.
    uint32_t next_ = 0; // the bit of the next buffer
    uint32_t busy_ = 0;
    uint32_t stale_ = 0;  // from before a redirect
    uint32_t cached_ = 0; // will be written to the cache
    uint32_t hit_ = 0;
    uint32_t second_first_ = 0;        // starts with the line's second word
    Counts asked_;                     // granted requests
    uint32_t held_ = 0;                // a request waits for its grant
    uint32_t asked_all_ = 0;           // no further requests, known since the last cycle
    Counts arrived_;                   // answers
    Counts given_;                     // words for the decode stage
    uint32_t written_ = 0;             // to the cache
    std::array<uint32_t, 2> errors_{}; // of the line's words
    std::array<FillBuffer, 32> buffers_{};

    uint32_t turn_ = 0;                           // the way that is replaced next
    bool disagrees_ = false, double_hit_ = false; // in the next cycle, and in this one
    uint32_t disagreeing_set_ = 0, double_hit_set_ = 0;

    std::array<std::array<Line, kSets>, 2> lines_{};
    Invalidation invalidation_ = kOutOfReset;
    uint32_t invalidated_set_ = 0;
    bool key_asked_ = false, key_valid_ = true; // scramble_req_q, scramble_key_valid_q
    bool key_shown_ = false, key_arrives_ = false;
    KeySource key_source_;
    bool still_ = false;
    uint32_t fills_ = 0;
};

} // namespace earlgrey::ibex
