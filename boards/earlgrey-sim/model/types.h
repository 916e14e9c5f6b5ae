// SPDX-License-Identifier: Apache-2.0 OR MIT
// The types shared by the parts of the model: requests, answers, and the two ports of the core.
#pragma once

#include <array>
#include <cstdint>

namespace earlgrey {

using Cycle = uint64_t;
constexpr Cycle kNever = ~Cycle{0};

// The two hosts on the crossbar, in the order of Earl Grey's arbiters.
enum Host : uint8_t { kInstr = 0, kData = 1, kHosts = 2 };

struct Request {
    uint32_t addr = 0;  // word aligned
    uint32_t wdata = 0; // byte lanes as on the bus
    uint8_t be = 0;     // byte enables
    bool we = false;
    Host host = kInstr;
};

struct Answer {
    uint32_t data = 0;
    bool err = false;
    Host host = kInstr;
};

// The core's outputs at a port in a cycle, and its inputs in the next.
struct PortOut {
    bool req = false;
    Request request;
};
struct PortIn {
    bool gnt = true;
    bool rvalid = false;
    Answer answer;
};

// A queue of at most N entries. Its front has a fixed place, so reading it is fast.
template <typename T, unsigned N> class Fifo {
public:
    bool empty() const { return count_ == 0; }
    bool full() const { return count_ == N; }
    unsigned size() const { return count_; }
    T &front() { return slots_[0]; }
    T &at(unsigned i) { return slots_[i]; }
    void push(const T &value) { slots_[count_++] = value; }
    void pop() {
        --count_;
        for (unsigned i = 0; i < count_; ++i)
            slots_[i] = slots_[i + 1];
    }

private:
    std::array<T, N> slots_{};
    unsigned count_ = 0;
};

// The requests of the hosts to one device in a cycle; null if a host has none.
struct Offers {
    std::array<const Request *, kHosts> of{};
};

// The actions of a device in a cycle.
struct Step {
    const Request *accepted = nullptr; // the accepted offer
    bool answered = false;
    Answer answer;
};

// Round robin between the two hosts. A winner that has to wait remains the winner.
class Arbiter {
public:
    const Request *winner(const Offers &offers) const {
        const Request *first = offers.of[priority_];
        return first ? first : offers.of[priority_ ^ 1];
    }
    void settle(const Request &winner, bool taken) {
        priority_ = taken ? (winner.host ^ 1) : winner.host;
    }
    // Returns the winner if the device is ready for it.
    const Request *pick(const Offers &offers, bool ready) {
        const Request *request = winner(offers);
        if (request)
            settle(*request, ready);
        return ready ? request : nullptr;
    }

private:
    uint8_t priority_ = kInstr;
};

} // namespace earlgrey
