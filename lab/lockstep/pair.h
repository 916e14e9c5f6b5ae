// SPDX-License-Identifier: Apache-2.0 OR MIT
// Both cores, clocked with the same inputs and compared.
//
// In every cycle: both ports, sleep, double fault, pc, refused and last_data_addr.
// Every `every` cycles: the register file, all CSRs that can change, and the privilege mode. A
// difference in those rarely goes away; after one, the caller repeats the program with every = 1.
#pragma once

#include "history.h"
#include "rtl_probe.h"
#include <vector>

#ifdef TWIN
namespace lockstep {
using Other = RtlProbe;
}
#else
#include "core/fast_core.h"
namespace lockstep {
using Other = earlgrey::FastCore;
}
#endif

namespace lockstep {

class Pair {
public:
    Pair(uint32_t boot_address, unsigned every)
        : rtl_(boot_address), other_(boot_address), every_(every) {}

    // Makes one cycle. Returns false after the first difference.
    bool cycle(const PortIn in[earlgrey::kHosts], bool timer_irq, bool external_irq) {
#ifdef TWIN
        rtl_.cycle(in, timer_irq, external_irq);
        other_.cycle(in, timer_irq, external_irq);
        if (++cycles_ % every_ == 0)
            compare_state();
#else
        rtl_.cycle(in, timer_irq, external_irq);
        if (++cycles_ % every_ == 0) // the state before the fast core's cycle
            compare_state();
        other_.cycle(in, timer_irq, external_irq);
#endif
        compare_outputs();
        history_.add(rtl_, in, timer_irq, external_irq);
        return equal_;
    }

    const RtlProbe &rtl() const { return rtl_; }
    uint64_t cycles() const { return cycles_; }

    void print_history(std::FILE *file) const { history_.print(file); }
    // Prints what differs, the last cycles, and both states.
    void print_difference(std::FILE *file) const {
        std::fprintf(file, "lockstep: first difference in cycle %llu%s\n",
                     static_cast<unsigned long long>(cycles_),
                     every_ > 1 ? " (registers and CSRs: at most the stated interval ago)" : "");
        std::fprintf(file, "  %-22s %-10s %-10s\n", "differs", "rtl", "model");
        for (const Line &line : differences_)
            std::fprintf(file, "  %-22s 0x%08x 0x%08x\n", line.name, line.rtl, line.other);
        history_.print(file);
        std::fprintf(file, "state of the RTL%s\n", every_ > 1 ? "" : " in this cycle");
        for (unsigned i = 0; i < 32; ++i)
            std::fprintf(file, "  x%-2u %08x%s", i, rtl_.reg(i), i % 8 == 7 ? "\n" : "");
        unsigned column = 0;
        for (const Csr &csr : kCsrs)
            std::fprintf(file, "  %-14s %08x%s", csr.name, rtl_.csr(csr.address),
                         ++column % 5 == 0 ? "\n" : "");
        std::fprintf(file, "  privilege %u\n", rtl_.privilege());
    }

private:
    struct Csr {
        unsigned address;
        const char *name;
    };
    // The rest is constant (as misa and the triggers, which only a debugger can write) or an input
    // (mip).
    static constexpr Csr kCsrs[] = {
        {0x300, "mstatus"},       {0x304, "mie"},           {0x305, "mtvec"},
        {0x320, "mcountinhibit"}, {0x340, "mscratch"},      {0x341, "mepc"},
        {0x342, "mcause"},        {0x343, "mtval"},         {0x747, "mseccfg"},
        {0x7c0, "cpuctrl"},       {0x3a0, "pmpcfg0"},       {0x3a1, "pmpcfg1"},
        {0x3a2, "pmpcfg2"},       {0x3a3, "pmpcfg3"},       {0x3b0, "pmpaddr0"},
        {0x3b1, "pmpaddr1"},      {0x3b2, "pmpaddr2"},      {0x3b3, "pmpaddr3"},
        {0x3b4, "pmpaddr4"},      {0x3b5, "pmpaddr5"},      {0x3b6, "pmpaddr6"},
        {0x3b7, "pmpaddr7"},      {0x3b8, "pmpaddr8"},      {0x3b9, "pmpaddr9"},
        {0x3ba, "pmpaddr10"},     {0x3bb, "pmpaddr11"},     {0x3bc, "pmpaddr12"},
        {0x3bd, "pmpaddr13"},     {0x3be, "pmpaddr14"},     {0x3bf, "pmpaddr15"},
        {0xb00, "mcycle"},        {0xb80, "mcycleh"},       {0xb02, "minstret"},
        {0xb82, "minstreth"},     {0xb03, "mhpmcounter3"},  {0xb04, "mhpmcounter4"},
        {0xb05, "mhpmcounter5"},  {0xb06, "mhpmcounter6"},  {0xb07, "mhpmcounter7"},
        {0xb08, "mhpmcounter8"},  {0xb09, "mhpmcounter9"},  {0xb0a, "mhpmcounter10"},
        {0xb0b, "mhpmcounter11"}, {0xb0c, "mhpmcounter12"},
    };
    struct Line {
        const char *name;
        uint32_t rtl, other;
    };

    void check(const char *name, uint32_t rtl, uint32_t other) {
        if (rtl != other) [[unlikely]] {
            equal_ = false;
            differences_.push_back({name, rtl, other});
        }
    }

    void compare_outputs() {
        const PortOut *rtl = rtl_.requests(), *other = other_.requests();
        const PortOut &rtl_fetch = rtl[earlgrey::kInstr], &fetch = other[earlgrey::kInstr];
        check("instr_req", rtl_fetch.req, fetch.req);
        if (rtl_fetch.req)
            check("instr_addr", rtl_fetch.request.addr, fetch.request.addr);
        const PortOut &rtl_data = rtl[earlgrey::kData], &data = other[earlgrey::kData];
        check("data_req", rtl_data.req, data.req);
        if (rtl_data.req) {
            check("data_addr", rtl_data.request.addr, data.request.addr);
            check("data_we", rtl_data.request.we, data.request.we);
            check("data_be", rtl_data.request.be, data.request.be);
            if (rtl_data.request.we)
                check("data_wdata", rtl_data.request.wdata, data.request.wdata);
        }
        check("asleep", rtl_.asleep(), other_.asleep());
        check("double_fault", rtl_.double_fault(), other_.double_fault());
        check("pc", rtl_.pc(), other_.pc());
        check("refused", rtl_.refused(), other_.refused());
        check("last_data_addr", rtl_.last_data_addr(), other_.last_data_addr());
    }

    void compare_state() {
        static constexpr const char *kNames[32] = {
            "x0",  "x1",  "x2",  "x3",  "x4",  "x5",  "x6",  "x7",  "x8",  "x9",  "x10",
            "x11", "x12", "x13", "x14", "x15", "x16", "x17", "x18", "x19", "x20", "x21",
            "x22", "x23", "x24", "x25", "x26", "x27", "x28", "x29", "x30", "x31"};
        for (unsigned i = 1; i < 32; ++i)
            check(kNames[i], rtl_.reg(i), other_.reg(i));
        for (const Csr &csr : kCsrs)
            check(csr.name, rtl_.csr(csr.address), other_.csr(csr.address));
        check("privilege", rtl_.privilege(), other_.privilege());
    }

    RtlProbe rtl_;
    Other other_;
    unsigned every_;
    uint64_t cycles_ = 0;
    bool equal_ = true;
    std::vector<Line> differences_;
    History history_;
};

} // namespace lockstep
