// SPDX-License-Identifier: Apache-2.0 OR MIT
// Counts the RTL's events, to find a weak generator: an event that never happened is a failure.
#pragma once

#include "instructions.h"
#include "program.h"
#include "rtl_probe.h"
#include <array>
#include <cstdio>
#include <map>
#include <string>

namespace lockstep {

class Statistics {
public:
    Statistics();
    void cycle(const RtlProbe &rtl, bool timer, bool external);
    void begin_program() {
        ++programs_;
        seen_.assign(Program::kSize / 2, false);
    }
    // Code at the address has changed.
    void renewed(uint32_t address) {
        for (unsigned i = 0; i < 48; ++i)
            seen_[(address / 2 + i) % seen_.size()] = false;
    }
    void print(std::FILE *file) const;
    // Prints what never happened. Returns false if there is any.
    bool complete(std::FILE *file) const;
    uint64_t retired() const { return retired_; }
    // Places of code in memory that were reached, summed over all programs.
    uint64_t places() const { return places_; }

private:
    enum Event : uint8_t {
        kTimer,
        kExternal,
        kIrqInUser,
        kIrqWhileLoad,
        kMret,
        kMretToUser,
        kSleep,
        kWake,
        kDoubleFault,
        kUserInsn,
        kMachineInsn,
        kHit,
        kMiss,
        kFill,
        kEccError,
        kUnalignedInsn,
        kUserDataAllowed,
        kUserDataTor,
        kUserDataNa4,
        kUserDataNapot,
        kUserDataNoMatch,
        kMachineLocked,
        kMprvData,
        kMml,
        kMmwp,
        kRlb,
        kFetchFault,
        kMisaligned,
        kInhibited,
        kKeyRequest,
        kEvents
    };
    static constexpr const char *kNames[kEvents] = {
        "timer interrupt",
        "external interrupt",
        "interrupt in user mode",
        "interrupt line rises with an access outstanding",
        "mret",
        "mret to user mode",
        "sleep",
        "wake",
        "double fault",
        "instruction in user mode",
        "instruction in machine mode",
        "cache hit",
        "cache miss",
        "cache fill",
        "cache ECC error",
        "unaligned 32-bit instruction",
        "user data request",
        "user data in a TOR region",
        "user data in a NA4 region",
        "user data in a NAPOT region",
        "user fault without a match",
        "machine data in a locked region",
        "data with MPRV as user",
        "MML on",
        "MMWP on",
        "RLB on",
        "fetch fault",
        "misaligned access",
        "cycle with minstret inhibited",
        "request for a key"};

    static bool of_cache(unsigned event) {
        return (event >= kHit && event <= kEccError) || event == kKeyRequest;
    }
    void count(Event event, bool happened) { events_[event] += happened; }
    int region_of(const RtlProbe &rtl, uint32_t address) const;

    uint64_t programs_ = 0, cycles_ = 0, retired_ = 0, places_ = 0;
    std::array<uint64_t, kEvents> events_{};
    std::map<uint32_t, uint64_t> causes_;
    std::vector<uint64_t> insns_;
    std::vector<bool> seen_; // in this program
    bool was_asleep_ = false, was_key_ = false;
};

} // namespace lockstep
