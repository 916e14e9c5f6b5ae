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

// A queue of at most N entries, N a power of two.
template <typename T, unsigned N> class Fifo {
    static_assert((N & (N - 1)) == 0);

public:
    bool empty() const { return head_ == tail_; }
    bool full() const { return size() == N; }
    unsigned size() const { return tail_ - head_; }
    T &front() { return at(0); }
    T &at(unsigned i) { return slots_[(head_ + i) % N]; }
    void push(const T &value) { slots_[tail_++ % N] = value; }
    void pop() { ++head_; }

private:
    std::array<T, N> slots_{};
    unsigned head_ = 0, tail_ = 0;
};

// An answer and the cycle in which the device gives it.
struct Promise {
    Answer answer;
    Cycle due = 0;
};

// The room in a device that answers N requests in order: the cycles when the last N leave.
// No request comes in cycle 0, so at first there is room.
template <unsigned N> class Room {
public:
    // The first cycle at whose beginning there is room for another request.
    Cycle from() const { return leaves_[0] + 1; }
    Cycle last() const { return leaves_[N - 1]; }
    void add(Cycle leaves) {
        for (unsigned i = 1; i < N; ++i)
            leaves_[i - 1] = leaves_[i];
        leaves_[N - 1] = leaves;
    }

private:
    std::array<Cycle, N> leaves_{};
};

} // namespace earlgrey
