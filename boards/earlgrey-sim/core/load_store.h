// SPDX-License-Identifier: Apache-2.0 OR MIT
// The load-store unit (ibex_load_store_unit.sv): one or, for a misaligned access, two requests, and
// the answer's value. A refused access makes no request, but takes the grant of one, which the
// registers at the port give whenever they have room; its error comes one cycle later.
#pragma once

#include "pmp.h"
#include "types.h"
#include <bit>

namespace earlgrey::ibex {

class LoadStore {
public:
    struct Command {
        uint32_t address, data, size; // size: log2 of the bytes
        bool write, sign_extends;
    };
    struct Reply {
        bool arrived = false, error = false;
    };

    bool busy() const { return state_ != kIdle; }
    uint32_t last_address() const { return last_address_; }

    // Whether an access at this offset in a word needs two requests.
    static bool splits(uint32_t offset, uint32_t size) { return offset + (1u << size) > 4; }

    // The reply to the load or store in write-back.
    Reply reply(const PortIn &in) const {
        if (state_ != kIdle || !(in.rvalid | refused_))
            return {};
        return {true, refused_ || failed_ || in.answer.err};
    }

    // The value of a load whose reply has arrived.
    uint32_t value(uint32_t data) const {
        const uint32_t offset = accepted_.address & 3, unused = 32 - (8u << accepted_.size);
        const uint64_t both = uint64_t{data} << 32 | first_data_;
        const uint64_t from = splits(offset, accepted_.size) ? both : data;
        const uint32_t word = static_cast<uint32_t>(from >> offset * 8) << unused;
        return accepted_.sign_extends ? static_cast<uint32_t>(static_cast<int32_t>(word) >> unused)
                                      : word >> unused;
    }

    // A cycle with one that may make its request. Sets `out`; `granted(out)` tells whether the bus
    // takes the request. Returns whether all its requests are done.
    bool step(const Command &command, const PortIn &in, Pmp &pmp, Privilege privilege, PortOut &out,
              const auto &granted) {
        const bool second =
            state_ == kSecond || state_ == kSecondGranted || (state_ == kWaits && split_);
        const uint32_t address = second ? last_address_ + 4 : command.address;
        const uint32_t offset = address & 3;
        const bool refuses =
            pmp.refuses(address & ~3u, command.write ? Access::kWrite : Access::kRead, privilege);
        const bool was_refused = state_ != kIdle && refused_;
        bool grant = false;
        if (state_ != kSecondGranted) {
            const uint32_t lanes = (0xfu >> (4 - (1 << command.size))) << offset;
            out.req = !refuses;
            out.request = {address & ~3u, std::rotl(command.data, static_cast<int>(8 * offset)),
                           static_cast<uint8_t>(split_ ? lanes >> 4 : lanes & 15), command.write,
                           kData};
            grant = granted(out);
        }
        switch (state_) {
        case kIdle:
            refused_ = refuses;
            failed_ = false;
            [[fallthrough]];
        case kFirstWaits: {
            const bool two = splits(offset, command.size);
            if (grant || was_refused) {
                accepted_ = command;
                last_address_ = address;
                split_ = two;
                state_ = two ? kSecond : kIdle;
            } else {
                state_ = two ? kFirstWaits : kWaits;
            }
            break;
        }
        case kSecond:
            if (in.rvalid || was_refused) {
                const bool error = was_refused || in.answer.err;
                first_data_ = accepted_.write ? first_data_ : in.answer.data & ~0xffu;
                refused_ = refuses;
                failed_ = error;
                state_ = grant ? kIdle : kWaits;
                if (grant && !error)
                    last_address_ = address & ~3u;
                split_ = !grant;
            } else if (grant) {
                state_ = kSecondGranted;
                split_ = false;
            }
            break;
        case kWaits:
            if (grant || was_refused) {
                accepted_ = command;
                if (!failed_)
                    last_address_ = split_ ? address & ~3u : address;
                state_ = kIdle;
                split_ = false;
            }
            break;
        case kSecondGranted:
            if (in.rvalid) {
                refused_ = refuses;
                failed_ = in.answer.err;
                if (!failed_)
                    last_address_ = address & ~3u;
                first_data_ = accepted_.write ? first_data_ : in.answer.data & ~0xffu;
                state_ = kIdle;
            }
            break;
        }
        return state_ == kIdle;
    }

private:
    // Names in the RTL: IDLE, WAIT_GNT, WAIT_GNT_MIS, WAIT_RVALID_MIS, WAIT_RVALID_MIS_GNTS_DONE.
    enum State : uint32_t { kIdle, kWaits, kFirstWaits, kSecond, kSecondGranted };

    State state_ = kIdle;
    bool split_ = false;   // handle_misaligned_q: the second request is next
    bool refused_ = false; // pmp_err_q
    bool failed_ = false;  // lsu_err_q: the first request's error
    Command accepted_{};
    uint32_t first_data_ = 0;   // of a misaligned load
    uint32_t last_address_ = 0; // of the last access, for mtval
};

} // namespace earlgrey::ibex
