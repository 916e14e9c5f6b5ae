// SPDX-License-Identifier: Apache-2.0 OR MIT
// Watches the core for a trace of instructions, and reports what the retirement port of the RTL
// reports (rtl/retirement.sv), in the same cycles. It compares the core's state before and after a
// cycle, so a core that nobody watches has no code for it.
#pragma once

#include "../core/fast_core.h"
#include "retirement.h"
#include <optional>

namespace earlgrey::ibex {

template <Config config> class Tracer {
public:
    explicit Tracer(Core<config> &core) : core_(core) {}

    // A cycle of the core. Reports what happened in the cycles before.
    void cycle(const PortIn in[kHosts], bool timer_irq, bool external_irq, Retirements &listener) {
        report(listener);
        const Before before = watch(in[kData]);
        core_.cycle(in, timer_irq, external_irq);
        if (!core_.asleep_)
            compare(before);
    }

private:
    // The port has registers: an instruction is reported a cycle later than the cycle when it
    // left write-back, and nothing while the core's clock stands still.
    void report(Retirements &listener) {
        if (!spent_)
            return;
        if (registered_)
            listener.retired(*registered_);
        registered_ = std::exchange(left_, std::nullopt);
        listener.core_cycle(*std::exchange(spent_, std::nullopt), mcycle_);
        for (uint32_t i = 0; i < fills_; ++i)
            listener.cache_fill();
    }

    // The core before a cycle.
    struct Before {
        bool valid = false;   // an instruction is in the decode stage
        bool refused = false; // its fetch failed
        uint32_t pc = 0;
        Instruction instruction; // a copy, since the decoder's table may replace it
        bool decodes = false;    // the controller lets the decode stage execute
        bool outstanding = false, error = false, hazard = false;
        uint32_t wb_rd = 0, loaded = 0;
        bool loads = false;             // a load is in write-back
        bool retires = false;           // the instruction in write-back
        uint32_t address = 0, size = 0; // of the load or store in the decode stage
        uint32_t stored = 0;
        uint8_t mode = 0;
        uint64_t mcycle = 0;
        uint32_t fills = 0; // since the reset
    };

    Before watch(const PortIn &data) const {
        Before before;
        before.valid = core_.id_.valid;
        before.refused = core_.id_.refused;
        before.pc = core_.id_.pc;
        before.decodes = core_.state_ == Core<config>::kDecode;
        before.loads = core_.wb_ == Core<config>::kLoad;
        const auto [answered, outstanding, error, retires] = core_.leaving(data);
        before.error = error;
        before.outstanding = outstanding;
        before.retires = answered || retires;
        before.wb_rd = core_.wb_rd_;
        before.loaded = core_.load_store_.value(data.answer.data);
        before.mode = static_cast<uint8_t>(core_.csrs_.privilege);
        before.mcycle = core_.csrs_.counter(kCycle);
        before.fills = core_.fetch_.fills();
        if (before.valid) {
            const Instruction &instruction = before.instruction = *core_.id_.instruction;
            before.hazard = before.loads && (instruction.reads >> before.wb_rd & 1) &&
                            !core_.exception_of(instruction);
            const auto read = [&](uint32_t number) {
                return before.loads && number == before.wb_rd ? forwarded_
                                                              : core_.registers_[number];
            };
            const Instruction access = legal_load(instruction);
            before.address = read(access.rs1) + access.immediate;
            before.size = access.size;
            before.stored = read(instruction.rs2);
        }
        return before;
    }

    // The port also has an address for an illegal load: as if it loaded a word (ibex_decoder.sv).
    static Instruction legal_load(const Instruction &instruction) {
        const uint32_t text = instruction.text;
        if (instruction.kind != Kind::kIllegal)
            return instruction;
        return decode<config>((text & 0x7f) == 0x03       ? (text & ~0x7000u) | 0x2000
                              : (text & 0xe003) == 0x4002 ? text | 0x80 // c.lwsp to x0
                                                          : text);
    }

    void compare(const Before &before) {
        if (core_.trapped_)
            handler_ = true;
        if (in_write_back_ && (before.retires || in_write_back_->trap))
            leave_write_back(before);
        const bool completes = !before.outstanding && core_.wb_ != Core<config>::kEmpty;
        const bool traps = before.valid && before.decodes && !before.error && core_.exception_;
        mcycle_ = before.mcycle;
        spent_ = completes || traps ? kLeaves : waits(before);
        fills_ = core_.fetch_.fills() - before.fills;
        if (completes || traps)
            enter_write_back(before, traps);
    }

    static Spent waits(const Before &before) {
        if (!before.valid)
            return kFetch;
        if (before.outstanding || before.hazard)
            return kBefore;
        switch (before.instruction.kind) {
        case Kind::kLoad:
        case Kind::kStore:
            return kMemory;
        case Kind::kMultiplyHigh:
        case Kind::kDivide:
            return before.decodes && !before.refused ? kMultiply : kOther;
        case Kind::kAlu: // a multiplication waits if the load or store before it fails
            return before.error && !before.refused && before.instruction.op == Op::kMul ? kMultiply
                                                                                        : kOther;
        default:
            return kOther;
        }
    }

    // An instruction leaves the decode stage. One that traps leaves write-back at once.
    void enter_write_back(const Before &before, bool traps) {
        const Instruction &instruction = before.instruction;
        Retired retired;
        retired.trap = traps;
        retired.handler = handler_;
        handler_ = false;
        retired.mode = before.mode;
        retired.pc = before.pc;
        retired.insn = instruction.text;
        retired.mem_addr = before.address;
        const bool writes = instruction.kind == Kind::kStore;
        const auto mask = static_cast<uint8_t>((1u << (1u << before.size)) - 1);
        retired.mem_read = mask;
        retired.mem_write = writes ? mask : 0;
        retired.mem_value = before.stored;
        if (!traps && instruction.rd < kNoRegister) {
            retired.rd = static_cast<uint8_t>(instruction.rd);
            retired.rd_value = core_.registers_[instruction.rd];
        }
        in_write_back_ = retired;
        const bool splits = LoadStore::splits(before.address & 3, before.size);
        forwarded_ = before.address + (splits ? 4 : 0);
    }

    void leave_write_back(const Before &before) {
        Retired retired = *in_write_back_;
        in_write_back_.reset();
        if (before.loads && retired.rd)
            retired.rd_value = before.loaded;
        if (before.error) {
            retired.trap = true;
            retired.rd = 0;
            retired.rd_value = 0;
        }
        left_ = retired;
    }

    Core<config> &core_;
    bool handler_ = false;
    // What an instruction that traps reads in place of the value that the load before it brings:
    // the load's last address (rf_wdata_wb_q in ibex_wb_stage.sv).
    uint32_t forwarded_ = 0;
    std::optional<Retired> in_write_back_, left_, registered_;
    std::optional<Spent> spent_ = kFetch;
    uint64_t mcycle_ = 0;
    uint32_t fills_ = 0;
};

} // namespace earlgrey::ibex
