// SPDX-License-Identifier: Apache-2.0 OR MIT
// The last cycles of the RTL, printed in front of a difference.
#pragma once

#include "instructions.h"
#include "rtl_probe.h"
#include <cstdio>

namespace lockstep {

class History {
public:
    void add(const RtlProbe &rtl, const PortIn in[earlgrey::kHosts], bool timer, bool external) {
        const Vcore &now = rtl.signals();
        Cycle &cycle = cycles_[count_++ % kCycles];
        cycle = {now.decode_valid_o != 0,
                 now.leaves_o != 0,
                 now.trap_o != 0,
                 now.mret_o != 0,
                 rtl.asleep(),
                 now.cache_hit_o != 0,
                 now.cache_miss_o != 0,
                 now.cache_fill_o != 0,
                 now.decode_pc_o,
                 now.insn_o,
                 now.cause_o,
                 rtl.privilege(),
                 timer,
                 external,
                 {in[0], in[1]},
                 {rtl.requests()[0], rtl.requests()[1]}};
    }

    // One line a cycle: decode, then each port's request and answer, then events.
    void print(std::FILE *file) const {
        std::fprintf(file, "the last cycles of the RTL (>: the instruction leaves decode)\n"
                           "  cycle       mode   pc       insn\n");
        for (uint64_t i = count_ > kCycles ? count_ - kCycles : 0; i < count_; ++i) {
            const Cycle &at = cycles_[i % kCycles];
            std::fprintf(file, "  %-11llu %c ", static_cast<unsigned long long>(i + 1),
                         at.privilege ? 'M' : 'U');
            if (at.valid)
                std::fprintf(file, "%c %08x %08x %-9s", at.leaves ? '>' : ' ', at.pc, at.insn,
                             name_of(at.insn));
            else
                std::fprintf(file, "%29s", "");
            print_port(file, 'I', at.in[earlgrey::kInstr], at.out[earlgrey::kInstr]);
            print_port(file, 'D', at.in[earlgrey::kData], at.out[earlgrey::kData]);
            if (at.trap)
                std::fprintf(file, " trap %08x", at.cause);
            std::fprintf(file, "%s%s%s%s%s%s%s\n", at.mret ? " mret" : "",
                         at.asleep ? " asleep" : "", at.hit ? " hit" : "", at.miss ? " miss" : "",
                         at.fill ? " fill" : "", at.timer ? " timer" : "",
                         at.external ? " external" : "");
        }
    }

private:
    struct Cycle {
        bool valid, leaves, trap, mret, asleep, hit, miss, fill;
        uint32_t pc, insn, cause;
        unsigned privilege;
        bool timer, external;
        PortIn in[earlgrey::kHosts];
        PortOut out[earlgrey::kHosts];
    };
    static constexpr unsigned kCycles = 48;

    static void print_port(std::FILE *file, char name, const PortIn &in, const PortOut &out) {
        char request[32] = "", answer[20] = "";
        if (out.req) {
            const int length =
                std::snprintf(request, sizeof request, "%c%08x%s", out.request.we ? 'w' : 'r',
                              out.request.addr, in.gnt ? "+" : "-");
            if (out.request.we)
                std::snprintf(request + length, sizeof request - length, " %x", out.request.be);
        }
        if (in.rvalid)
            std::snprintf(answer, sizeof answer, "=%08x%s", in.answer.data,
                          in.answer.err ? "!" : "");
        std::fprintf(file, " %c %-12s %-10s", name, request, answer);
    }

    Cycle cycles_[kCycles];
    uint64_t count_ = 0;
};

} // namespace lockstep
