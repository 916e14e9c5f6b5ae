// SPDX-License-Identifier: Apache-2.0 OR MIT
// The core in RTL, with its state.
#pragma once

#include "rtl_core.h"

namespace lockstep {

using earlgrey::PortIn;
using earlgrey::PortOut;

class RtlProbe : public earlgrey::RtlCore {
public:
    using RtlCore::RtlCore;

    // The state of this cycle. The fast core has the same values before its call for this cycle,
    // for it writes a result when the instruction leaves decode.
    uint32_t reg(unsigned n) const {
        return n && top_.wb_writes_o && top_.wb_rd_o == n ? top_.wb_result_o : top_.regs_o[n];
    }
    uint32_t csr(unsigned address) const {
        if (address >= 0x3a0 && address < 0x3a4) {
            uint32_t word = 0;
            for (unsigned i = 0; i < 4; ++i)
                word |= static_cast<uint32_t>(top_.pmp_cfg_o[(address - 0x3a0) * 4 + i]) << 8 * i;
            return word;
        }
        if (address >= 0x3b0 && address < 0x3c0)
            return top_.pmp_addr_o[address - 0x3b0];
        if (address >= 0xb00 && address < 0xb0d)
            return static_cast<uint32_t>(top_.counters_o[address - 0xb00]);
        if (address >= 0xb80 && address < 0xb8d)
            return static_cast<uint32_t>(top_.counters_o[address - 0xb80] >> 32);
        switch (address) {
        case 0x300:
            return top_.mstatus_o;
        case 0x304:
            return top_.mie_o;
        case 0x305:
            return top_.mtvec_o;
        case 0x320:
            return top_.mcountinhibit_o;
        case 0x340:
            return top_.mscratch_o;
        case 0x341:
            return top_.mepc_o;
        case 0x342:
            return top_.mcause_o;
        case 0x343:
            return top_.mtval_o;
        case 0x747:
            return top_.mseccfg_o;
        case 0x7c0:
            return top_.cpuctrl_o;
        default:
            return 0;
        }
    }
    unsigned privilege() const { return top_.privilege_o; }
    bool scramble_request() const { return top_.scramble_req_o; }

    // Events of this cycle.
    const Vcore &signals() const { return top_; }
};

} // namespace lockstep
