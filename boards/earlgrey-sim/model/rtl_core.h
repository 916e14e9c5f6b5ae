// SPDX-License-Identifier: Apache-2.0 OR MIT
// The core in RTL, translated by Verilator and stepped by cycles.
#pragma once

#include "Vcore.h"
#include "bus.h"
#include "key_source.h"
#include "verilated.h"

namespace earlgrey {

class RtlCore {
public:
    explicit RtlCore(uint32_t boot_address) {
#ifdef VARIANT_WAVES
        context_.traceEverOn(true);
#endif
        top_.boot_addr_i = boot_address;
        top_.rst_ni = 0;
        top_.eval();
        for (int i = 0; i < 4; ++i)
            clock(true);
        top_.rst_ni = 1;
        clock(true); // after reset the core appears asleep until its first edge
    }
    ~RtlCore() { top_.final(); }

    // Sets the core's inputs and starts a cycle. While the core sleeps, only the registers in front
    // of it are clocked, so that an interrupt can wake it.
    void cycle(const PortIn in[kHosts], bool timer_irq, bool external_irq) {
        top_.instr_gnt_i = in[kInstr].gnt;
        top_.instr_rvalid_i = in[kInstr].rvalid;
        top_.instr_rdata_i = in[kInstr].answer.data;
        top_.instr_err_i = in[kInstr].answer.err;
        top_.data_gnt_i = in[kData].gnt;
        top_.data_rvalid_i = in[kData].rvalid;
        top_.data_rdata_i = in[kData].answer.data;
        top_.data_err_i = in[kData].answer.err;
        top_.irq_timer_i = timer_irq;
        top_.irq_external_i = external_irq;
        top_.scramble_key_valid_i = key_source_.step(top_.scramble_req_o);
        clock(!asleep());
        read_requests();
    }

    const PortOut *requests() const { return out_; }

    bool asleep() const { return top_.core_sleep_o; }
    bool double_fault() const { return top_.double_fault_o; }
    uint32_t pc() const { return top_.pc_o; }
    bool refused() const { return top_.refused_o; } // whether the fetch at that pc failed
    uint32_t exception_pc() const { return top_.exception_pc_o; }
    uint32_t exception_addr() const { return top_.exception_addr_o; }
    uint32_t last_data_addr() const { return top_.last_data_addr_o; }
    uint32_t minstret() const { return top_.minstret_o; }
    uint32_t trap_vector() const { return top_.trap_vector_o; }

#ifdef VARIANT_WAVES
    void trace(VerilatedTraceBaseC &file) { top_.trace(&file, 99); }
#endif

private:
    void clock(bool core) {
        top_.clk_i = 0;
        top_.clk_core_i = 0;
        top_.eval();
        top_.clk_i = 1;
        top_.clk_core_i = core;
        top_.eval();
    }

    void read_requests() {
        out_[kInstr].req = top_.instr_req_o;
        out_[kInstr].request = {top_.instr_addr_o, 0, 0xf, false, kInstr};
        out_[kData].req = top_.data_req_o;
        out_[kData].request = {top_.data_addr_o, top_.data_wdata_o, top_.data_be_o,
                               top_.data_we_o != 0, kData};
    }

    PortOut out_[kHosts];
    KeySource key_source_;

protected: // the lockstep in the lab has a top module with more outputs
    VerilatedContext context_;
    Vcore top_{&context_};
};

} // namespace earlgrey
