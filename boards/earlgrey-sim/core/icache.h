// SPDX-License-Identifier: Apache-2.0 OR MIT
// The fetch of an Ibex with an instruction cache (ibex_icache.sv), also while the cache is off: 256
// sets of two lines of 8 bytes, and four fill buffers.
//
// A lookup takes a fill buffer, which asks for the words that the cache does not have, gives the words
// to the decode stage, and writes its line to the cache. The oldest buffer goes first in everything. A
// buffer is a bit in each of the masks below: a younger buffer has a higher bit, and bits are not
// used again until the highest is reached.
#pragma once

#include "fetch_output.h"
#include "secded.h"
#include "types.h"
#include <array>
#include <bit>

namespace earlgrey::ibex {

class ICache {
public:
    uint32_t address() const { return output_.address(); } // of the instruction that is offered next
    bool key_valid() const { return key_valid_; }
    bool busy() const { return invalidation_ != kIdle || (busy_ & ~all_answered()); }
    uint32_t fills() const { return fills_; } // lines written in this cycle

    // A cycle. Sets `out`; `granted(out)` tells whether the bus takes the request.
    template <typename Granted>
    Fetched step(const PortIn &in, const FetchControl &control, bool key_arrives, PortOut &out, Granted &&granted) {
        const uint32_t busy = busy_;
        const bool blocked = invalidation_ != kIdle || control.invalidates;
        const bool clears_lines = double_hit_;
        const uint32_t looked = lookup_ ? 1u << (next_ - 1) : 0; // looked up in the last cycle
        const uint32_t hit_now = lookup_ && found_.hit ? looked : 0;
        const uint32_t stale = stale_;

        // Lookup: redirects at once, else two lines ahead.
        const bool room = std::popcount(busy) < 4;
        const bool looks = control.fetches && room && !clears_lines &&
                           (control.redirects || std::popcount(busy & ~stale) < 3);
        const uint32_t looked_up = control.redirects ? control.target : prefetch_address_;
        const bool real_lookup = looks && control.enabled && !blocked;

        // Requests: those of buffers first. `asks` are the buffers with requests to make.
        const uint32_t no_more = ((asked_twice_ | hit_now | hit_) |
                                  (~cached_ & ((control.redirects ? ~0u : stale) | asked_twice_ |
                                               (asked_ & second_first_)))) &
                                 ~held_;
        const uint32_t asks = busy & ~no_more;
        const uint32_t asking = asks & -asks;
        const bool speculates = (!control.enabled || control.redirects) && !asks;
        if (asks) {
            const FillBuffer &buffer = buffers_[std::countr_zero(asking)];
            const bool second_word = ((asked_ & asking) != 0) != ((second_first_ & asking) != 0);
            out.req = true;
            out.request = {(buffer.address & ~7u) | (second_word ? 4u : 0), 0, 0xf, false, kInstr};
        } else if (speculates && looks) {
            out.req = true;
            out.request = {looked_up & ~3u, 0, 0xf, false, kInstr};
        }
        const bool grant = out.req && granted(out);

        // The answer goes to the oldest buffer that expects one.
        const uint32_t answered_all = all_answered();
        const uint32_t expects = busy & ~answered_all;
        const uint32_t answered = in.rvalid ? expects & -expects : 0;

        // Output: the oldest buffer with words left.
        const uint32_t given_all = given_twice_ | (given_ & second_first_);
        const uint32_t live = busy & ~stale & ~given_all;
        const uint32_t giving = live & -live;
        const uint32_t stored = (arrived_ & ~given_) | (arrived_twice_ & ~given_twice_);
        bool has_word = false, word_error = false;
        uint32_t word = 0;
        if (giving & (hit_now | hit_ | stored | answered)) {
            has_word = true;
            const uint32_t number = output_.word_number();
            if (giving & hit_now) {
                word = found_.words[number];
            } else if (giving & (hit_ | stored)) {
                const FillBuffer &buffer = buffers_[std::countr_zero(giving)];
                word = buffer.words[number];
                word_error = (errors_[number] & ~hit_ & giving) != 0;
            } else {
                word = in.answer.data;
                word_error = in.answer.err;
            }
        }
        const Fetched fetched = output_.offer(has_word, word, word_error);
        const bool used = output_.end(fetched, control.ready);

        // --- the end of the cycle ---

        const uint32_t errors = errors_[0] | errors_[1];
        const uint32_t writes = busy & arrived_twice_ & ~hit_ & cached_ & ~errors & ~written_;
        const bool invalidates_line = invalidation_ == kInvalidating;
        const uint32_t writing =
            !looks && !invalidates_line && !clears_lines ? writes & -writes : 0;
        const uint32_t done = busy & (written_ | hit_ | ~cached_ | errors) &
                              (given_all | stale | (control.redirects ? ~0u : 0)) & answered_all;
        fills_ = writing ? 1 : 0;
        if (writing) {
            const FillBuffer &buffer = buffers_[std::countr_zero(writing)];
            lines_[buffer.way][buffer.address >> 3 & (kSets - 1)] = {buffer.address >> 11 | kValid,
                                                                     buffer.words};
        }
        if (invalidates_line || clears_lines) {
            // A double hit in both ways; an invalidation at the same time clears its own set instead.
            const uint32_t set = invalidates_line ? invalidated_set_ : double_hit_set_;
            lines_[0][set].tag = lines_[1][set].tag = 0;
        }
        if (looked) {
            FillBuffer &buffer = buffers_[next_ - 1];
            buffer.way = found_.way;
            if (hit_now)
                buffer.words = found_.words;
        }
        if (answered) {
            FillBuffer &buffer = buffers_[std::countr_zero(answered)];
            const uint32_t number =
                ((arrived_ & answered) != 0) != ((second_first_ & answered) != 0);
            if (!(answered & (hit_ | hit_now)))
                buffer.words[number] = in.answer.data;
            if (in.answer.err)
                errors_[number] |= answered;
            arrived_twice_ |= arrived_ & answered;
            arrived_ |= answered;
        }
        if (used) {
            given_twice_ |= given_ & giving;
            given_ |= giving;
        }
        if (grant) {
            asked_twice_ |= asked_ & asking;
            asked_ |= asking;
            held_ = 0;
        } else {
            held_ = asking;
        }
        written_ |= writing;
        hit_ |= hit_now;
        asked_all_ = no_more & busy;
        if (control.redirects) {
            stale_ |= busy;
            output_.redirect(control.target);
            prefetch_address_ = control.target;
        }
        if (!control.enabled || control.invalidates)
            cached_ = 0;
        busy_ = busy & ~done;
        double_hit_ = lookup_ && found_.disagrees;
        if (double_hit_)
            double_hit_set_ = found_.set;
        lookup_ = real_lookup;
        if (looks) {
            prefetch_address_ = (looked_up & ~7u) + 8;
            allocate(looked_up, real_lookup, speculates && grant, speculates && !grant);
            if (real_lookup)
                look_up(looked_up);
        }
        step_key(control.invalidates, key_arrives);
        return fetched;
    }

    bool asks_for_key() const { return key_asked_; }

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
        uint32_t way = 0; // to which it is written
        Words words{};
    };
    struct Found { // by a lookup; used in the next cycle
        bool hit = false, disagrees = false;
        uint32_t way = 0, set = 0;
        Words words{};
    };
    // inval_state_e: OUT_OF_RESET, AWAIT_SCRAMBLE_KEY, INVAL_CACHE, IDLE.
    enum Invalidation : uint32_t { kOutOfReset, kAwaitsKey, kInvalidating, kIdle };

    // Buffers whose requests are over, and all answered (fill_rvd_done).
    uint32_t all_answered() const {
        return asked_all_ & ~held_ & ~(asked_ ^ arrived_) & ~(asked_twice_ ^ arrived_twice_);
    }

    void allocate(uint32_t address, bool cached, bool asked, bool held) {
        if (next_ == 32)
            renumber();
        const uint32_t bit = 1u << next_;
        buffers_[next_].address = address;
        ++next_;
        busy_ |= bit;
        if (cached)
            cached_ |= bit;
        if (asked)
            asked_ |= bit;
        if (held)
            held_ |= bit;
        if (address & 4)
            second_first_ |= bit;
    }

    // Moves the buffers in use to the lowest bits.
    void renumber() {
        unsigned to = 0;
        std::array<uint32_t *, 14> masks = {&stale_,  &cached_,      &hit_,           &held_,
                                            &asked_,  &asked_twice_, &asked_all_,     &arrived_,
                                            &given_,  &given_twice_, &arrived_twice_, &written_,
                                            &errors_[0], &errors_[1]};
        uint32_t second_first = 0;
        std::array<uint32_t, 14> moved{};
        for (uint32_t left = busy_; left; left &= left - 1, ++to) {
            const auto from = static_cast<unsigned>(std::countr_zero(left));
            buffers_[to] = buffers_[from];
            second_first |= (second_first_ >> from & 1) << to;
            for (unsigned i = 0; i < masks.size(); ++i)
                moved[i] |= (*masks[i] >> from & 1) << to;
        }
        for (unsigned i = 0; i < masks.size(); ++i)
            *masks[i] = moved[i];
        second_first_ = second_first;
        busy_ = (1u << to) - 1;
        next_ = to;
    }

    // Reads the set of an address. The way for a miss is the lowest invalid one, else the one whose turn
    // it is; the turn changes with every lookup.
    void look_up(uint32_t address) {
        const uint32_t set = address >> 3 & (kSets - 1), tag = address >> 11 | kValid;
        const Line &first = lines_[0][set], &second = lines_[1][set];
        found_.way = !(first.tag & kValid) ? 0 : !(second.tag & kValid) ? 1 : turn_;
        turn_ ^= 1;
        found_.hit = first.tag == tag || second.tag == tag;
        found_.disagrees = false;
        if (first.tag == tag && second.tag == tag) [[unlikely]] {
            // Code changed without fence.i may be in both ways. The RAMs' outputs are ORed; if the
            // check bits are then wrong, it is no hit, and both lines are dropped two cycles later.
            found_.words = {first.words[0] | second.words[0], first.words[1] | second.words[1]};
            found_.hit = check_bits_agree(first.words[0], second.words[0]) &&
                         check_bits_agree(first.words[1], second.words[1]);
            found_.disagrees = !found_.hit;
            found_.set = set;
            return;
        }
        found_.words = second.tag == tag ? second.words : first.words;
    }

    // The request for a new scrambling key and the invalidation that follows (ibex_top.sv has the
    // registers of the key).
    void step_key(bool invalidates, bool arrives) {
        if (invalidation_ == kIdle && !invalidates) [[likely]]
            return;
        const bool asks = invalidates && (invalidation_ == kIdle || invalidation_ == kInvalidating);
        switch (invalidation_) {
        case kOutOfReset:
            invalidation_ = kAwaitsKey;
            break;
        case kAwaitsKey:
            if (key_valid_) {
                invalidation_ = kInvalidating;
                invalidated_set_ = 0;
            }
            break;
        case kInvalidating:
            if (asks)
                invalidation_ = kAwaitsKey;
            else if (invalidated_set_ == kSets - 1)
                invalidation_ = kIdle;
            invalidated_set_ = (invalidated_set_ + 1) % kSets;
            break;
        case kIdle:
            invalidation_ = kAwaitsKey;
            break;
        }
        if (key_asked_) {
            key_valid_ = arrives;
            key_asked_ = !arrives;
        } else if (asks) {
            key_valid_ = false;
            key_asked_ = true;
        }
    }

    FetchOutput output_;
    uint32_t prefetch_address_ = 0;

    // Masks of fill buffers.
    uint32_t next_ = 0;         // the bit of the next buffer
    uint32_t busy_ = 0;
    uint32_t stale_ = 0;        // from before a redirect
    uint32_t cached_ = 0;       // will be written to the cache
    uint32_t hit_ = 0;
    uint32_t second_first_ = 0; // starts with the line's second word
    uint32_t asked_ = 0, asked_twice_ = 0;     // granted requests
    uint32_t held_ = 0;         // a request waits for its grant
    uint32_t asked_all_ = 0;    // no further requests, known since the last cycle
    uint32_t arrived_ = 0, arrived_twice_ = 0; // answers
    uint32_t given_ = 0, given_twice_ = 0;     // words for the decode stage
    uint32_t written_ = 0;      // to the cache
    std::array<uint32_t, 2> errors_{};         // of the line's words
    std::array<FillBuffer, 32> buffers_{};

    // The lookup of the last cycle.
    bool lookup_ = false;
    Found found_;
    uint32_t turn_ = 0;
    bool double_hit_ = false; // ecc_correction_write_q
    uint32_t double_hit_set_ = 0;

    std::array<std::array<Line, kSets>, 2> lines_{};
    Invalidation invalidation_ = kOutOfReset;
    uint32_t invalidated_set_ = 0;
    bool key_asked_ = false, key_valid_ = true; // scramble_req_q, scramble_key_valid_q
    uint32_t fills_ = 0;
};

} // namespace earlgrey::ibex
