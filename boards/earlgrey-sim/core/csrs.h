// SPDX-License-Identifier: Apache-2.0 OR MIT
// Control and status registers, counters and traps (ibex_cs_registers.sv). A write takes effect at
// the end of its cycle: the core calls write() last.
#pragma once

#include "config.h"
#include "decode.h"
#include "pmp.h"
#include <algorithm>
#include <iterator>

namespace earlgrey::ibex {

// clang-format off

enum Csr : uint32_t {
    kMstatus = 0x300, kMisa = 0x301, kMie = 0x304, kMtvec = 0x305, kMcounteren = 0x306,
    kMenvcfg = 0x30a, kMstatush = 0x310, kMenvcfgh = 0x31a, kMcountinhibit = 0x320, kMscratch = 0x340,
    kMepc = 0x341, kMcause = 0x342, kMtval = 0x343, kMip = 0x344, kPmpcfg0 = 0x3a0, kPmpaddr0 = 0x3b0,
    kScontext = 0x5a8, kMseccfg = 0x747, kMseccfgh = 0x757, kTselect = 0x7a0, kTdata1 = 0x7a1,
    kTdata2 = 0x7a2, kTdata3 = 0x7a3, kMcontext = 0x7a8, kMscontext = 0x7aa, kCpuctrl = 0x7c0,
    kSecureseed = 0x7c1, kMvendorid = 0xf11, kMarchid = 0xf12, kMconfigptr = 0xf15
};

enum Cause : uint32_t {
    kNoException = 0, kFetchFault = 1, kIllegalInstruction = 2, kBreakpoint = 3, kLoadFault = 5,
    kStoreFault = 7, kEcallFromUser = 8, kEcallFromMachine = 11, kInterrupt = 0x80000000
};

// CSRs outside these ranges.
constexpr Csr kOthers[] = {
    kMstatus, kMisa, kMie, kMtvec, kMcounteren, kMenvcfg, kMstatush, kMenvcfgh, kMscratch, kMepc, kMcause,
    kMtval, kMip, kMseccfg, kMseccfgh, kCpuctrl, kSecureseed};
constexpr Csr kTriggers[] = {kScontext, kTselect, kTdata1, kTdata2, kTdata3, kMcontext, kMscontext};

// Counters by their numbers: mcycle, minstret, and mhpmcounter3 to 12.
enum Event : uint32_t {
    kCycle = 0, kNothing = 1, // never counts
    kRetired = 2, kDataWait = 3, kFetchWait = 4, kLoads = 5, kStores = 6, kJumps = 7, kBranches = 8,
    kBranchesTaken = 9, kRetiredCompressed = 10, kMultiplyWait = 11, kDivideWait = 12, kCounters = 13
};

// clang-format on

template <Config config> class Csrs {
public:
    Privilege privilege = Privilege::kMachine;
    uint32_t mip = 0; // the interrupt lines: bit 7 timer, bit 11 external
    uint32_t mie = 0, mtvec = 1, mepc = 0, mcause = 0, mtval = 0;
    bool mstatus_mie = false;  // mstatus.MIE
    bool timeout_wait = false; // mstatus.TW
    bool cache_on = false;     // cpuctrl.icache_enable
    Pmp pmp;

    bool takes_interrupts() const { return mstatus_mie || privilege == Privilege::kUser; }
    Privilege data_privilege() const { return mprv_ ? mpp_ : privilege; }

    // --- counters ------------------------------------------------------------------------------

    void count(Event event, bool happens = true) { counters_[event] += enabled_[event] & happens; }

    // --- access by instructions ----------------------------------------------------------------

    bool allows(uint32_t address, CsrOp op) const {
        const bool writes_constant = address >> 10 == 3 && op != CsrOp::kRead;
        return (address >> 8 & 3) <= static_cast<uint32_t>(privilege) && !writes_constant &&
               exists(address);
    }

    // Whether a write flushes the pipeline (csr_pipeline_flushes in ibex_id_stage.sv). Clearing
    // does not.
    static bool flushes(uint32_t address, CsrOp op) {
        return (op == CsrOp::kWrite || op == CsrOp::kSet) &&
               (address == kMstatus || address == kMie || address == kMseccfg ||
                address >> 5 == 0x3a0 >> 5);
    }

    // The value that an instruction reads. minstret and mhpmcounter10 show one more for the last
    // instruction that went through write-back, even if write-back has been empty since
    // (instr_ret_spec_i): `last_retired` and `last_compressed` describe it.
    uint32_t read(uint32_t address, uint32_t last_retired, uint32_t last_compressed) const {
        if (address >> 8 == 0xb) {
            const uint32_t number = address & 31;
            uint64_t value = number < kCounters ? counters_[number] : 0;
            if (number == kRetired)
                value += last_retired & enabled_[kRetired];
            if (number == kRetiredCompressed)
                value += last_compressed & enabled_[number];
            if (number > kRetired) // the event counters have 32 bits
                value = static_cast<uint32_t>(value);
            return static_cast<uint32_t>(address & 0x80 ? value >> 32 : value);
        }
        if (address >= kPmpcfg0 && address < kPmpcfg0 + 4)
            return pmp.configuration(address - kPmpcfg0);
        if (address >= kPmpaddr0 && address < kPmpaddr0 + Pmp::kRegions)
            return pmp.address(address - kPmpaddr0);
        if (address >> 5 == kMcountinhibit >> 5 && address != kMcountinhibit) // mhpmevent
            return (address & 31) < kCounters ? 1u << ((address & 31) - 3) : 0;
        switch (address) {
        case kMstatus:
            return mstatus_mie << 3 | mpie_ << 7 | static_cast<uint32_t>(mpp_) << 11 | mprv_ << 17 |
                   timeout_wait << 21;
        case kMisa: return 0x40901104; // RV32IMC with user mode and non-standard extensions
        case kMie: return mie;
        case kMtvec: return mtvec;
        case kMcountinhibit: {
            uint32_t inhibited = 0;
            for (unsigned i = 0; i < kCounters; ++i)
                inhibited |= (enabled_[i] ^ 1) << i;
            return inhibited & ~2u;
        }
        case kMscratch: return mscratch_;
        case kMepc: return mepc;
        case kMcause: return mcause;
        case kMtval: return mtval;
        case kMip: return mip;
        case kMseccfg: return pmp.mseccfg();
        case kTdata1: return 0x28001048; // a trigger on an address, only for debug mode; off
        case kCpuctrl: return cache_on | exception_seen_ << 6 | double_fault_seen_ << 7;
        case kMarchid: return 22;
        default: return 0;
        }
    }

    // Performs a write at the end of its cycle. `value` is the new value; before the counters of
    // this cycle, a written counter had the value `before`.
    void write(uint32_t address, uint32_t value, uint64_t before) {
        if (address >> 8 == 0xb) {
            const uint32_t number = address & 31;
            if (number >= kCounters)
                return;
            const uint64_t high = before >> 32, low = static_cast<uint32_t>(before);
            counters_[number] = address & 0x80 ? uint64_t{value} << 32 | low : high << 32 | value;
            return;
        }
        if (address >= kPmpcfg0 && address < kPmpcfg0 + 4)
            return pmp.write_configuration(address - kPmpcfg0, value);
        if (address >= kPmpaddr0 && address < kPmpaddr0 + Pmp::kRegions)
            return pmp.write_address(address - kPmpaddr0, value);
        switch (address) {
        case kMstatus:
            mstatus_mie = value >> 3 & 1;
            mpie_ = value >> 7 & 1;
            mpp_ = (value >> 11 & 3) == 3 ? Privilege::kMachine : Privilege::kUser;
            mprv_ = value >> 17 & 1;
            timeout_wait = value >> 21 & 1;
            break;
        case kMie: mie = value & 0x7fff0888; break;
        case kMtvec: mtvec = (value & ~0xffu) | 1; break;
        case kMcountinhibit:
            for (unsigned i = 0; i < kCounters; ++i)
                enabled_[i] = ~value >> i & 1;
            enabled_[1] = 0;
            break;
        case kMscratch: mscratch_ = value; break;
        case kMepc: mepc = value & ~1u; break;
        case kMcause:
            mcause = (value & 31) | (value >> 30 == 2 ? kInterrupt : value >> 30 == 3 ? ~31u : 0);
            break;
        case kMtval: mtval = value; break;
        case kMseccfg: pmp.write_mseccfg(value); break;
        case kCpuctrl:
            cache_on = config.icache && (value & 1);
            exception_seen_ = value >> 6 & 1;
            double_fault_seen_ = value >> 7 & 1;
            break;
        }
    }

    uint64_t counter(uint32_t number) const { return counters_[number]; }
    bool counts(uint32_t number) const { return enabled_[number]; }

    // --- traps ---------------------------------------------------------------------------------

    // Enters a trap; returns whether it is a double fault.
    bool enter(uint32_t cause, uint32_t pc, uint32_t value) {
        mtval = value;
        mpie_ = mstatus_mie;
        mstatus_mie = false;
        mpp_ = privilege;
        privilege = Privilege::kMachine;
        mepc = pc;
        mcause = cause;
        if (cause & kInterrupt)
            return false;
        const bool doubles = exception_seen_;
        double_fault_seen_ |= doubles;
        exception_seen_ = true;
        return doubles;
    }

    void leave() { // mret
        privilege = mpp_;
        mstatus_mie = mpie_;
        if (mpp_ != Privilege::kMachine)
            mprv_ = false;
        mpie_ = true;
        mpp_ = Privilege::kUser;
        exception_seen_ = false;
    }

private:
    static bool exists(uint32_t address) {
        const uint32_t number = address & 31;
        switch (address >> 5) {
        case 0xb00 >> 5: // counters, and their high halves
        case 0xb80 >> 5: return number != 1;
        case kMcountinhibit >> 5: return number == 0 || number >= 3;
        case kPmpcfg0 >> 5: return number < 4 || number >= 16;
        case kMvendorid >> 5: return address >= kMvendorid && address <= kMconfigptr;
        }
        const auto is_in = [address](const auto &list) {
            return std::find(std::begin(list), std::end(list), address) != std::end(list);
        };
        return is_in(kOthers) || (config.debug_triggers && is_in(kTriggers));
    }

    uint32_t mscratch_ = 0;
    bool mpie_ = true, mprv_ = false;
    Privilege mpp_ = Privilege::kUser;
    bool exception_seen_ = false, double_fault_seen_ = false;
    std::array<uint64_t, kCounters> counters_{};
    std::array<uint32_t, kCounters> enabled_{1, 0, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1};
};

} // namespace earlgrey::ibex
