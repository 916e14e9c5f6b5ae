// SPDX-License-Identifier: Apache-2.0 OR MIT
// The other end of the UART's line, which sends bytes to the chip when a program asks for them.
#pragma once

#include "machine.h"
#include "types.h"
#include <algorithm>
#include <array>

namespace earlgrey {

// A request is a line of the program's output, which goes no further:
//     ENQ (0x05), then up to three decimal numbers with spaces between: count, pace, delay; newline
// The peer then sends `count` bytes, 0, 1, 2 and so on. A byte takes `pace` cycles of the core (0:
// as long as the UART is set to), and the first one begins after `delay` cycles. A new request ends
// the one before.
class LinePeer {
public:
    // Takes a byte that the chip has sent; returns whether it belongs to a request. `pace` is how
    // many cycles a byte takes as the UART is set.
    bool takes(Cycle now, uint8_t byte, Cycle pace) {
        if (byte == kEnquiry) {
            asked_ = {};
            at_ = 0;
        } else if (at_ == kNoRequest) {
            return false;
        } else if (byte == '\n') {
            pace_ = asked_[1] ? asked_[1] : std::max<Cycle>(pace, 1);
            left_ = asked_[0];
            value_ = 0;
            arrives_ = now + asked_[2] + pace_;
            at_ = kNoRequest;
        } else if (byte == ' ') {
            at_ = std::min<unsigned>(at_ + 1, asked_.size() - 1);
        } else if (byte >= '0' && byte <= '9') {
            asked_[at_] = asked_[at_] * 10 + (byte - '0');
        }
        return true;
    }
    // The edge of the UART's clock at which the next byte has arrived.
    Cycle arrives() const {
        constexpr Cycle kClock = machine::kPeripheralClock;
        return left_ ? (arrives_ + kClock - 1) / kClock * kClock : kNever;
    }
    // Is a byte on the line?
    bool sends(Cycle now) const { return left_ && now + pace_ > arrives_; }
    uint8_t next() {
        --left_;
        arrives_ += pace_;
        return value_++;
    }

private:
    static constexpr uint8_t kEnquiry = 5;
    static constexpr unsigned kNoRequest = ~0u;
    unsigned at_ = kNoRequest; // the number that is being read
    std::array<Cycle, 3> asked_{};
    Cycle left_ = 0, pace_ = 1, arrives_ = 0;
    uint8_t value_ = 0;
};

} // namespace earlgrey
