// SPDX-License-Identifier: Apache-2.0 OR MIT
// A flat memory that repeats over the whole address space, so that every address works, behind
// ports with random grants, delays and errors; and random interrupt lines.
#pragma once

#include "bus.h"
#include "program.h"
#include <deque>
#include <vector>

namespace lockstep {

using earlgrey::PortIn;
using earlgrey::PortOut;

class RandomBus {
public:
    RandomBus(uint64_t seed, Program &program) : rng_(seed), program_(program) { change_habits(); }

    PortIn in[earlgrey::kHosts];
    bool timer = false, external = false;

    // Raises both lines for a while.
    void wake() { timer_left_ = external_left_ = 8; }

    // Takes the requests of a cycle and sets the inputs of the next.
    void step(const PortOut out[earlgrey::kHosts]) {
        ++now_;
        if (now_ >= habits_end_)
            change_habits();
        for (unsigned host = 0; host < earlgrey::kHosts; ++host) {
            Port &port = ports_[host];
            if (out[host].req && in[host].gnt)
                accept(port, out[host].request);
            in[host].gnt = rng_.below(256) < port.grants;
            in[host].rvalid = !port.queue.empty() && port.queue.front().due <= now_;
            if (in[host].rvalid) {
                in[host].answer = port.queue.front().answer;
                port.queue.pop_front();
            } else {
                in[host].answer.data = rng_.next(); // the core must ignore it
            }
        }
        toggle(timer, timer_left_, 0);
        toggle(external, external_left_, 1);
    }

private:
    struct Waiting {
        uint64_t due;
        earlgrey::Answer answer;
    };
    struct Port {
        unsigned grants = 256; // of 256
        unsigned delay = 0;    // at most
        unsigned errors = 0;   // of 4096
        std::deque<Waiting> queue;
    };

    void accept(Port &port, const earlgrey::Request &request) {
        uint32_t &word = program_.words[request.addr % Program::kSize / 4];
        earlgrey::Answer answer;
        answer.err =
            request.addr >> 28 == program_.refused_region || rng_.below(4096) < port.errors;
        answer.data = request.we || answer.err ? rng_.next() : word;
        // Programs live longer with handlers that nearly nothing overwrites.
        const bool writes = !Program::is_of_handlers(request.addr) || rng_.one_in(64);
        if (request.we && !answer.err && writes)
            for (unsigned lane = 0; lane < 4; ++lane)
                if (request.be >> lane & 1) {
                    const uint32_t bits = 0xffu << 8 * lane;
                    word = (word & ~bits) | (request.wdata & bits);
                }
        uint64_t due = now_ + (port.delay ? rng_.below(port.delay + 1) : 0);
        if (!port.queue.empty())
            due = std::max(due, port.queue.back().due + 1);
        port.queue.push_back({due, answer});
    }

    void change_habits() {
        habits_end_ = now_ + 100 + rng_.below(2000);
        for (Port &port : ports_) {
            port.grants = rng_.pick({256u, 256u, 256u, 230u, 128u, 60u});
            port.delay = rng_.pick({0u, 0u, 0u, 1u, 2u, 6u, 20u});
            port.errors = rng_.pick({0u, 0u, 0u, 0u, 4u, 40u});
        }
        for (unsigned line = 0; line < 2; ++line) {
            // 2,000: rare; 20: nearly every phase of every instruction.
            line_rarity_[line] = rng_.pick({0u, 2000u, 400u, 100u, 20u});
            line_length_[line] = rng_.pick({1u, 4u, 20u, 60u});
        }
    }

    void toggle(bool &line, unsigned &left, unsigned number) {
        if (left) {
            line = true;
            --left;
        } else {
            line = false;
            if (line_rarity_[number] && rng_.one_in(line_rarity_[number]))
                left = 1 + rng_.below(line_length_[number] * 2);
        }
    }

    Rng rng_;
    Program &program_;
    Port ports_[earlgrey::kHosts];
    uint64_t now_ = 0, habits_end_ = 0;
    unsigned line_rarity_[2] = {}, line_length_[2] = {}, timer_left_ = 0, external_left_ = 0;
};

} // namespace lockstep
