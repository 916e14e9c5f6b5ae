// SPDX-License-Identifier: Apache-2.0 OR MIT
// The Verilated core with the fast core's interface, and with its state.
#pragma once

#include "Vcore.h"
#include "bus.h"
#include "verilated.h"

namespace lockstep {

using earlgrey::PortIn;
using earlgrey::PortOut;

class RtlProbe {
public:
    explicit RtlProbe(uint32_t boot_address) : top_(&context_) {
        top_.boot_addr_i = boot_address;
        top_.rst_ni = 0;
        top_.eval();
        for (int i = 0; i < 4; ++i)
            clock(true);
        top_.rst_ni = 1;
        clock(true); // after reset the core appears asleep until its first edge
    }
    ~RtlProbe() { top_.final(); }

    void cycle(const PortIn in[earlgrey::kHosts], bool timer_irq, bool external_irq) {
        top_.instr_gnt_i = in[earlgrey::kInstr].gnt;
        top_.instr_rvalid_i = in[earlgrey::kInstr].rvalid;
        top_.instr_rdata_i = in[earlgrey::kInstr].answer.data;
        top_.instr_err_i = in[earlgrey::kInstr].answer.err;
        top_.data_gnt_i = in[earlgrey::kData].gnt;
        top_.data_rvalid_i = in[earlgrey::kData].rvalid;
        top_.data_rdata_i = in[earlgrey::kData].answer.data;
        top_.data_err_i = in[earlgrey::kData].answer.err;
        top_.irq_timer_i = timer_irq;
        top_.irq_external_i = external_irq;
        if (!top_.scramble_req_o)
            key_wait_ = earlgrey::machine::kScrambleKey;
        top_.scramble_key_valid_i = top_.scramble_req_o && key_wait_ == 0;
        if (key_wait_)
            --key_wait_;
        clock(!asleep());
        out_[earlgrey::kInstr].req = top_.instr_req_o;
        out_[earlgrey::kInstr].request = {top_.instr_addr_o, 0, 0xf, false, earlgrey::kInstr};
        out_[earlgrey::kData].req = top_.data_req_o;
        out_[earlgrey::kData].request = {top_.data_addr_o, top_.data_wdata_o, top_.data_be_o,
                                         top_.data_we_o != 0, earlgrey::kData};
    }
    const PortOut *requests() const { return out_; }

    bool asleep() const { return top_.core_sleep_o; }
    bool double_fault() const { return top_.double_fault_o; }
    uint32_t pc() const { return top_.pc_o; }
    bool refused() const { return top_.refused_o; }
    uint32_t exception_pc() const { return top_.exception_pc_o; }
    uint32_t exception_addr() const { return top_.exception_addr_o; }
    uint32_t last_data_addr() const { return top_.last_data_addr_o; }
    uint32_t minstret() const { return top_.minstret_o; }
    uint32_t trap_vector() const { return top_.trap_vector_o; }

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

    // What happens in this cycle.
    const Vcore &signals() const { return top_; }

private:
    void clock(bool core) {
        top_.clk_i = 1;
        top_.clk_core_i = core;
        top_.eval();
        top_.clk_i = 0;
        top_.clk_core_i = 0;
        top_.eval();
    }

    VerilatedContext context_;
    Vcore top_;
    PortOut out_[earlgrey::kHosts];
    unsigned key_wait_ = 0;
};

} // namespace lockstep
