// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "statistics.h"

namespace lockstep {

Statistics::Statistics() : insns_(patterns().size()) {
    // Exceptions: fetch fault, illegal, breakpoint, load and store fault, calls from both modes.
    for (const uint32_t cause : {1u, 2u, 3u, 5u, 7u, 8u, 11u, 0x80000007u, 0x8000000bu})
        causes_[cause] = 0;
}

// The first PMP region that has the address; -1: none.
int Statistics::region_of(const RtlProbe &rtl, uint32_t address) const {
    const Vcore &now = rtl.signals();
    const uint32_t word = address >> 2;
    for (int i = 0; i < 16; ++i) {
        const uint32_t limit = now.pmp_addr_o[i];
        switch (now.pmp_cfg_o[i] >> 3 & 3) {
        case 1:
            if (word >= (i ? now.pmp_addr_o[i - 1] : 0) && word < limit)
                return i;
            break;
        case 2:
            if (word == limit)
                return i;
            break;
        case 3:
            if (((word ^ limit) & ~(limit ^ (limit + 1))) == 0)
                return i;
            break;
        default:
            break;
        }
    }
    return -1;
}

void Statistics::cycle(const RtlProbe &rtl, bool timer, bool external) {
    const Vcore &now = rtl.signals();
    ++cycles_;
    (void)timer;
    (void)external;
    const bool asleep = rtl.asleep();
    count(kSleep, asleep && !was_asleep_);
    count(kWake, !asleep && was_asleep_);
    was_asleep_ = asleep;
    if (asleep)
        return;
    const bool user = rtl.privilege() == 0;
    if (now.leaves_o) {
        ++retired_;
        auto place = seen_[now.decode_pc_o % Program::kSize / 2];
        places_ += !place;
        place = true;
        count(user ? kUserInsn : kMachineInsn, true);
        const int index = pattern_of(now.insn_o);
        if (index >= 0)
            ++insns_[index];
        count(kUnalignedInsn, (now.decode_pc_o & 2) && !now.compressed_o);
    } else if (now.trap_o && !(now.cause_o >> 31) && now.decode_valid_o) {
        const int index = pattern_of(now.insn_o);
        if (index >= 0 && patterns()[index].traps)
            ++insns_[index];
    }
    if (now.trap_o) {
        ++causes_[now.cause_o];
        count(kIrqInUser, user && now.cause_o >> 31);
        count(kTimer, now.cause_o == 0x80000007);
        count(kExternal, now.cause_o == 0x8000000b);
        count(kFetchFault, now.cause_o == 1);
        if (user && (now.cause_o == 5 || now.cause_o == 7))
            count(kUserDataNoMatch, true);
    }
    count(kMret, now.mret_o);
    count(kMretToUser, now.mret_o && (now.mstatus_o >> 11 & 3) == 0);
    count(kDoubleFault, rtl.double_fault());
    count(kHit, now.cache_hit_o);
    count(kMiss, now.cache_miss_o);
    count(kFill, now.cache_fill_o);
    count(kEccError, now.cache_error_o);
    count(kInhibited, now.mcountinhibit_o >> 2 & 1);
    count(kMml, now.mseccfg_o & 1);
    count(kMmwp, now.mseccfg_o >> 1 & 1);
    count(kRlb, now.mseccfg_o >> 2 & 1);
    count(kKeyRequest, rtl.scramble_request() && !was_key_);
    was_key_ = rtl.scramble_request();
    const PortOut &data = rtl.requests()[earlgrey::kData];
    if (data.req) {
        const int region = region_of(rtl, data.request.addr);
        const unsigned config = region < 0 ? 0 : now.pmp_cfg_o[region];
        const unsigned mode = config >> 3 & 3;
        count(kUserDataAllowed, user);
        count(kUserDataTor, user && mode == 1);
        count(kUserDataNa4, user && mode == 2);
        count(kUserDataNapot, user && mode == 3);
        count(kMachineLocked, !user && (config & 0x80));
        count(kMprvData, !user && (now.mstatus_o >> 17 & 1) && (now.mstatus_o >> 11 & 3) == 0);
        count(kMisaligned, data.request.be != 0xf && data.request.be != 0x3 &&
                               data.request.be != 0xc && data.request.be != 6 &&
                               (data.request.be & (data.request.be - 1)) != 0);
        count(kIrqWhileLoad, timer || external);
    }
}

void Statistics::print(std::FILE *file) const {
    std::fprintf(file, "%llu programs, %.3f M cycles, %.3f M instructions, %.3f M places\n",
                 static_cast<unsigned long long>(programs_), cycles_ / 1e6, retired_ / 1e6,
                 places_ / 1e6);
    for (unsigned i = 0; i < kEvents; ++i)
        std::fprintf(file, "  %-48s %llu\n", kNames[i],
                     static_cast<unsigned long long>(events_[i]));
    for (const auto &[cause, times] : causes_)
        std::fprintf(file, "  trap with cause %08x %31s %llu\n", cause, "",
                     static_cast<unsigned long long>(times));
    for (unsigned i = 0; i < insns_.size(); ++i)
        std::fprintf(file, "  %-12s %9llu%s", patterns()[i].name,
                     static_cast<unsigned long long>(insns_[i]), i % 5 == 4 ? "\n" : "");
    std::fprintf(file, "\n");
}

bool Statistics::complete(std::FILE *file) const {
    bool all = true;
    const auto never = [&](const char *name) {
        std::fprintf(file, "lockstep: the generator never did: %s\n", name);
        all = false;
    };
    for (unsigned i = 0; i < kEvents; ++i)
        if (!events_[i] && !(earlgrey::machine::kFlat && of_cache(i))) // flat has no cache
            never(kNames[i]);
    for (const auto &[cause, times] : causes_)
        if (!times)
            never(("trap with cause " + std::to_string(cause)).c_str());
    for (unsigned i = 0; i < insns_.size(); ++i)
        if (!insns_[i])
            never(patterns()[i].name);
    return all;
}

} // namespace lockstep
