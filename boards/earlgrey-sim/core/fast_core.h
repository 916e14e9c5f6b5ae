// SPDX-License-Identifier: Apache-2.0 OR MIT
// Ibex as a C++ model that is equal to its RTL in every cycle: decode stage, write-back and
// controller (ibex_id_stage.sv, ibex_wb_stage.sv, ibex_controller.sv). One call is one cycle: from
// the state and the inputs to the outputs and the next state.
#pragma once

#include "csrs.h"
#include "execute.h"
#include "icache.h"
#include "load_store.h"
#include "machine.h"
#include "prefetch_buffer.h"
#include <type_traits>

namespace earlgrey::ibex {

template <Config config> class Tracer; // ../model/tracer.h

template <Config config> class Core {
public:
    // Leaves reset as the RTL does in rtl_core.h: two cycles without a grant.
    explicit Core(uint32_t boot_address) : boot_address_(boot_address) {
        out_[kInstr].request = {0, 0, 0xf, false, kInstr};
        const PortIn nothing[kHosts];
        for (int i = 0; i < 2; ++i)
            cycle(nothing, false, false, [](Host, const PortOut &) { return false; });
    }

    // A cycle with the inputs of the registers in front of the core (earlgrey_sim_top.sv): a
    // request is granted in the cycle in which `gnt` is seen.
    [[gnu::always_inline]] void cycle(const PortIn in[kHosts], bool timer_irq, bool external_irq) {
        cycle(in, timer_irq, external_irq,
              [in](Host host, const PortOut &) { return in[host].gnt; });
    }

    // A cycle of a machine without these registers: `granted(host, out)` tells whether the bus
    // takes a request in the same cycle.
    [[gnu::always_inline]] void cycle(const PortIn in[kHosts], bool timer_irq, bool external_irq,
                                      const auto &granted) {
        shown_pc_ = decoded_pc_;
        shown_refused_ = decoded_refused_;
        const uint32_t interrupts = timer_irq << 7 | external_irq << 11;
        if (still_ && !in[kInstr].rvalid && !in[kData].rvalid && interrupts == csrs_.mip &&
            !(out_[kInstr].req && granted(kInstr, out_[kInstr]))) {
            csrs_.count(kCycle);
            csrs_.count(still_events_[0]);
            csrs_.count(still_events_[1]);
            return;
        }
        trapped_ = double_fault_ = accessed_ = retired_now_ = still_ = false;
        out_[kInstr].req = out_[kData].req = false;
        csrs_.mip = interrupts;
        const bool pending = interrupts & csrs_.mie;
        asleep_ = !(busy_ | pending);
        if (asleep_) [[unlikely]]
            return;

        const auto [answered, outstanding, error, retires] = leaving(in[kData]);
        if (retires && wb_ == kLoad)
            registers_[wb_rd_] = load_store_.value(in[kData].answer.data);

        // Decode stage and controller. An interrupt (handle_irq) keeps the next instruction out,
        // and is taken when both stages are empty.
        const bool interrupt = pending && csrs_.takes_interrupts();
        const bool was_valid = id_.valid;
        if (was_valid) {
            decoded_pc_ = id_.pc;
            decoded_refused_ = id_.refused;
        }
        const bool invalidates = was_valid && id_.instruction->kind == Kind::kFenceI;
        Decision decision;
        Control control;
        const bool decoding = state_ == kDecode;
        if (decoding) [[likely]] {
            if (was_valid)
                decision = decode(in[kData], outstanding, error,
                                  [&](const PortOut &out) { return granted(kData, out); });
            if (error) {
                exception_ = wb_ == kLoad ? kLoadFault : kStoreFault;
                decision.stays = decision.flushes = true;
            }
            control.ready = !decision.stays && !interrupt;
            control.clears = !decision.stays;
            if (decision.flushes)
                state_ = kFlush;
            else if (interrupt && !was_valid && !outstanding)
                state_ = kIrqTaken;
        } else {
            control = step_controller(pending, interrupt, decision);
        }
        busy_ = control.awake;

        // Fetch.
        if (control.ready && !was_valid)
            csrs_.count(kFetchWait);
        const uint32_t pc = fetch_.address();
        const Fetched fetched =
            fetch_.step(in[kInstr],
                        {control.fetches, decision.redirects, decision.target, control.ready,
                         csrs_.cache_on, invalidates},
                        out_[kInstr], [&](const PortOut &out) { return granted(kInstr, out); });

        // The end of the cycle.
        csrs_.count(kCycle);
        csrs_.count(kRetired, retires);
        csrs_.count(kRetiredCompressed, retires && retired_compressed_);
        retired_now_ = retires;
        if (fetch_.still() && !retires && !answered && decoding) {
            still_ = was_valid ? decision.still : control.ready && !fetched.valid;
            still_events_[0] = was_valid ? kDataWait : kFetchWait;
            still_events_[1] = decision.event;
        }
        if (decision.completes)
            enter_write_back();
        else if (!outstanding)
            wb_ = kEmpty;
        if (control.ready && fetched.valid && !decision.redirects)
            enter_decode(pc, fetched);
        else if (control.clears || control.ready)
            id_.valid = false;
        if (csr_write_.pending) [[unlikely]] {
            csr_write_.pending = false;
            csrs_.write(csr_write_.address, csr_write_.value, csr_write_.before);
        }
    }

    // The request at the instruction port in a cycle with one at the data port, for an arbiter that
    // must know both: no load or store redirects the fetch.
    PortOut fetch_request() const { return fetch_.request(csrs_.cache_on); }

    // The outputs of the last cycle.
    const PortOut *requests() const { return out_; }
    bool asleep() const { return asleep_; }
    bool double_fault() const { return double_fault_; }

    // The state that the last cycle began with, for marks and messages.
    uint32_t pc() const { return shown_pc_; } // the last instruction in the decode stage
    bool refused() const { return shown_refused_; }
    uint32_t exception_pc() const { return trapped_ ? before_.mepc : csrs_.mepc; }
    uint32_t exception_addr() const { return trapped_ ? before_.mtval : csrs_.mtval; }
    uint32_t last_data_addr() const {
        return accessed_ ? before_.data_address : load_store_.last_address();
    }
    uint32_t minstret() const {
        const auto after = static_cast<uint32_t>(csrs_.counter(kRetired));
        return after + (retired_any_ - retired_now_) * csrs_.counts(kRetired);
    }
    uint32_t trap_vector() const { return csrs_.mtvec & ~0xffu; }

    // The state after the last cycle, for a comparison with the RTL.
    uint32_t reg(unsigned number) const { return registers_[number]; }
    uint32_t csr(uint32_t address) const { return read_csr(address, false, false); }
    uint32_t privilege() const { return static_cast<uint32_t>(csrs_.privilege); }

private:
    friend class Tracer<config>;

    enum State { kReset, kBootSet, kFirstFetch, kDecode, kFlush, kIrqTaken, kWaitSleep, kSleep };
    // The instruction in write-back: none, one that is done, or a load or store.
    enum WriteBack : uint32_t { kEmpty, kDone, kLoad, kStore };

    // Decisions of the decode stage in a cycle.
    struct Decision {
        bool completes = false; // goes to write-back
        bool stays = false;     // remains in the decode stage: it waits, or a flush follows
        bool flushes = false;   // the controller flushes the pipeline next
        bool redirects = false;
        uint32_t target = 0;
        bool still = false;     // the next cycle is the same, unless an input changes
        Event event = kNothing; // that is counted, apart from the wait
    };

    // Decisions of the controller.
    struct Control {
        bool fetches = true; // asks for instructions
        bool ready = true;   // the decode stage takes the next instruction
        bool clears = false; // the decode stage loses its instruction
        bool awake = true;
    };

    // The instruction in the decode stage.
    struct Decode {
        bool valid = false;
        bool redirected = false; // has already redirected the fetch (branch_jump_set_done_q)
        bool refused = false;    // its fetch failed
        bool refused_in_second = false;
        bool started = false;     // an instruction of several cycles
        uint32_t cycles_left = 0; // until its result
        uint32_t pc = 0;
        const Instruction *instruction = nullptr;
    };

    // Write-back in a cycle (ibex_wb_stage.sv). Only a load or store may wait there.
    struct Leaving {
        bool answered, outstanding, error, retires;
    };
    [[gnu::always_inline]] Leaving leaving(const PortIn &data) const {
        if (wb_ != kLoad && wb_ != kStore)
            return {false, false, false, wb_ == kDone};
        const LoadStore::Reply reply = load_store_.reply(data);
        return {reply.arrived, !reply.arrived, reply.error, reply.arrived && !reply.error};
    }

    struct PendingWrite { // of a CSR, at the end of the cycle
        bool pending = false;
        uint32_t address = 0, value = 0;
        uint64_t before = 0;
    };

    using Fetch = std::conditional_t<config.icache, ICache, PrefetchBuffer>;

    // The controller in its other states (ibex_controller.sv).
    [[gnu::noinline]] Control step_controller(bool pending, bool interrupt, Decision &decision) {
        Control control;
        switch (state_) {
        case kFlush:
            control = {.ready = false, .clears = true};
            flush(decision);
            break;
        case kIrqTaken:
            state_ = kDecode;
            if (interrupt) {
                const bool external = csrs_.mip & csrs_.mie & 1u << 11;
                enter_trap(kInterrupt | (external ? 11 : 7), fetch_.address(), 0, decision);
            }
            break;
        case kFirstFetch:
            control.ready = !interrupt;
            state_ = interrupt ? kIrqTaken : kDecode;
            break;
        case kWaitSleep:
        case kSleep:
            control = {.fetches = false, .ready = false, .clears = true};
            control.awake = (state_ == kSleep && pending) || fetch_.busy() || load_store_.busy();
            state_ = state_ == kSleep && pending ? kFirstFetch : kSleep;
            break;
        default: // kReset, kBootSet
            control.fetches = state_ != kReset;
            state_ = state_ == kReset ? kBootSet : kFirstFetch;
            decision.redirects = true;
            decision.target = (boot_address_ & ~0xffu) | 0x80;
            csrs_.mtvec = (boot_address_ & ~0xffu) | 1;
            break;
        }
        return control;
    }

    [[gnu::always_inline]] void enter_write_back() {
        const Instruction &instruction = *id_.instruction;
        const Kind kind = instruction.kind;
        wb_ = kind == Kind::kLoad ? kLoad : kind == Kind::kStore ? kStore : kDone;
        wb_rd_ = instruction.rd;
        wb_pc_ = id_.pc;
        retired_any_ = true;
        retired_compressed_ = instruction.bytes == 2;
    }

    // The PMP checks an instruction when it enters the decode stage, not when it is fetched.
    [[gnu::always_inline]] void enter_decode(uint32_t pc, const Fetched &fetched) {
        const bool compressed = fetched.compressed();
        const auto refuses = [this](uint32_t address) {
            return csrs_.pmp.refuses(address, Access::kExecute, csrs_.privilege);
        };
        const bool first_refused = refuses(pc);
        const bool second_refused = (pc & 2) && !compressed && refuses(pc + 2);
        id_.valid = true;
        id_.redirected = id_.started = false;
        id_.refused = fetched.error || first_refused || second_refused;
        id_.refused_in_second = (second_refused || fetched.error_in_second) && !first_refused;
        id_.pc = pc;
        id_.instruction = &table_[compressed ? fetched.text & 0xffff : fetched.text];
    }

    // An instruction is in the decode stage (instr_executing). It waits for the answer to the load
    // or store before it (outstanding_memory_access), whose error kills it (wb_exception), and one
    // cycle longer for a register that a load writes (stall_ld_hz).
    [[gnu::always_inline]] Decision decode(const PortIn &in, bool outstanding, bool error,
                                           const auto &granted) {
        const Instruction &instruction = *id_.instruction;
        const bool hazard = wb_ == kLoad && (instruction.reads >> wb_rd_ & 1);
        if (id_.refused || outstanding || hazard || error) [[unlikely]]
            return wait(instruction, outstanding, hazard, error);
        return execute(instruction, in, granted);
    }

    [[gnu::always_inline]] Decision execute(const Instruction &i, const PortIn &in,
                                            const auto &granted) {
        constexpr Decision kCompletes{.completes = true}, kWaits{.stays = true};
        const uint32_t a = registers_[i.rs1];
        switch (i.kind) {
        case Kind::kAlu:
            registers_[i.rd] =
                i.op == Op::kAuipc ? id_.pc + i.immediate : alu(i.op, a, operand_b(i));
            return kCompletes;
        case Kind::kLoad:
        case Kind::kStore: {
            const bool writes = i.kind == Kind::kStore;
            accessed_ = true;
            before_.data_address = load_store_.last_address();
            if (!load_store_.busy())
                csrs_.count(writes ? kStores : kLoads);
            const LoadStore::Command command{a + i.immediate, registers_[i.rs2], i.size, writes,
                                             i.sign_extends};
            const bool done = load_store_.step(command, in, csrs_.pmp, csrs_.data_privilege(),
                                               out_[kData], granted);
            return done ? kCompletes : kWaits;
        }
        case Kind::kBranch: return redirect(i, true);
        case Kind::kJump:
        case Kind::kJumpRegister:
        case Kind::kFenceI: {
            const Decision decision = redirect(i, true);
            registers_[i.rd] = id_.pc + i.bytes;
            return decision;
        }
        case Kind::kTwoCycle:
        case Kind::kMultiplyHigh:
        case Kind::kDivide:
            if (!id_.started) {
                id_.started = true;
                id_.cycles_left = i.kind == Kind::kDivide && operand_b(i) ? 36 : 1;
            }
            if (id_.cycles_left) {
                --id_.cycles_left;
                csrs_.count(wait_of(i));
                return kWaits;
            }
            registers_[i.rd] = alu(i.op, a, operand_b(i), registers_[i.rs3]);
            return kCompletes;
        default:
            if (const uint32_t cause = exception_of(i))
                return raise(cause);
            if (i.kind == Kind::kCsr)
                return access_csr(i);
            return {.completes = true, .stays = true, .flushes = true}; // mret, wfi
        }
    }

    // The exception that an instruction raises before it executes.
    uint32_t exception_of(const Instruction &i) const {
        const bool machine = csrs_.privilege == Privilege::kMachine;
        if (id_.refused)
            return kFetchFault;
        switch (i.kind) {
        case Kind::kIllegal: return kIllegalInstruction;
        case Kind::kEcall: return machine ? kEcallFromMachine : kEcallFromUser;
        case Kind::kEbreak: return kBreakpoint;
        case Kind::kCsr:
            return csrs_.allows(i.immediate, i.csr_op) ? kNoException : kIllegalInstruction;
        case Kind::kMret: return machine ? kNoException : kIllegalInstruction;
        case Kind::kWfi: return machine || !csrs_.timeout_wait ? kNoException : kIllegalInstruction;
        default: return kNoException;
        }
    }

    // A cycle in which the instruction may not execute. Branches and jumps redirect the fetch all
    // the same (instr_executing_spec).
    [[gnu::noinline]] Decision wait(const Instruction &i, bool outstanding, bool hazard,
                                    bool error) {
        Decision decision{.stays = true};
        if (const uint32_t cause = exception_of(i))
            return outstanding ? decision : raise(cause);
        if (!error)
            csrs_.count(kDataWait);
        if (!hazard && (i.kind == Kind::kBranch || i.kind == Kind::kJump ||
                        i.kind == Kind::kJumpRegister || i.kind == Kind::kFenceI)) {
            decision = redirect(i, false);
        } else if (!hazard) {
            decision.event = wait_of(i);
            csrs_.count(decision.event);
        }
        decision.still = outstanding;
        return decision;
    }

    // The event that is counted while a product or quotient is not ready.
    static Event wait_of(const Instruction &i) {
        if (i.kind == Kind::kDivide)
            return kDivideWait;
        return i.kind == Kind::kMultiplyHigh || i.op == Op::kMul ? kMultiplyWait : kNothing;
    }

    // A cycle of a branch or jump, which redirects the fetch only once (branch_jump_set_done_q).
    Decision redirect(const Instruction &i, bool completes) {
        const bool branches = i.kind == Kind::kBranch;
        Decision decision{.completes = completes, .stays = !completes};
        if (branches)
            csrs_.count(decision.event = kBranches);
        if (id_.redirected || (branches && !alu(i.op, registers_[i.rs1], registers_[i.rs2])))
            return decision;
        csrs_.count(branches ? kBranchesTaken : kJumps);
        id_.redirected = decision.redirects = true;
        decision.target = i.kind == Kind::kJumpRegister ? (registers_[i.rs1] + i.immediate) & ~1u
                                                        : id_.pc + i.immediate;
        return decision;
    }

    [[gnu::noinline]] Decision access_csr(const Instruction &i) {
        const uint32_t address = i.immediate;
        const uint32_t operand = i.register_b ? registers_[i.rs1] : i.rs1;
        const uint32_t old = read_csr(address, retired_any_, retired_compressed_);
        registers_[i.rd] = old;
        Decision decision{.completes = true};
        if (i.csr_op == CsrOp::kRead)
            return decision;
        const uint32_t value = i.csr_op == CsrOp::kWrite ? operand
                               : i.csr_op == CsrOp::kSet ? old | operand
                                                         : old & ~operand;
        const uint32_t number = address & 31;
        csr_write_ = {true, address, value, number < kCounters ? csrs_.counter(number) : 0};
        decision.stays = decision.flushes = csrs_.flushes(address, i.csr_op);
        return decision;
    }

    [[gnu::noinline]] void enter_trap(uint32_t cause, uint32_t pc, uint32_t value,
                                      Decision &decision) {
        before_.mepc = csrs_.mepc;
        before_.mtval = csrs_.mtval;
        trapped_ = true;
        double_fault_ = csrs_.enter(cause, pc, value);
        decision.redirects = true;
        decision.target = (csrs_.mtvec & ~0xffu) | (cause & kInterrupt ? (cause & 31) << 2 : 0);
    }

    // The controller's FLUSH: takes an exception, or ends an mret, a wfi or a CSR write.
    [[gnu::noinline]] void flush(Decision &decision) {
        const uint32_t cause = std::exchange(exception_, 0);
        state_ = kDecode;
        if (cause == kLoadFault || cause == kStoreFault) {
            enter_trap(cause, wb_pc_, load_store_.last_address(), decision);
        } else if (cause) {
            const uint32_t fetched = id_.pc + (id_.refused_in_second ? 2 : 0);
            const uint32_t text = cause == kIllegalInstruction ? id_.instruction->text : 0;
            enter_trap(cause, id_.pc, cause == kFetchFault ? fetched : text, decision);
        } else if (id_.instruction->kind == Kind::kMret) {
            decision.redirects = true;
            decision.target = csrs_.mepc;
            csrs_.leave();
        } else if (id_.instruction->kind == Kind::kWfi) {
            state_ = kWaitSleep;
        }
    }

    Decision raise(uint32_t cause) {
        exception_ = cause;
        return {.stays = true, .flushes = true};
    }

    uint32_t read_csr(uint32_t address, bool last_retired, bool last_compressed) const {
        const uint32_t value = csrs_.read(address, last_retired, last_compressed);
        return address == kCpuctrl ? value | fetch_.key_valid() << 8 : value;
    }
    uint32_t operand_b(const Instruction &i) const {
        return (registers_[i.rs2] & i.register_b) | i.immediate;
    }

    const uint32_t boot_address_;
    PortOut out_[kHosts];
    State state_ = kReset;
    bool busy_ = true; // core_busy_q
    bool asleep_ = false, double_fault_ = false;

    Decode id_;
    WriteBack wb_ = kEmpty;
    uint32_t wb_rd_ = 0, wb_pc_ = 0;
    bool retired_any_ = false, retired_compressed_ = false; // wb_count_q, of the last instruction
    uint32_t exception_ = 0;                                // that the flush takes; 0: none
    std::array<uint32_t, 33> registers_{};
    PendingWrite csr_write_;

    Csrs<config> csrs_;
    Fetch fetch_;
    LoadStore load_store_;
    DecodeTable<config> table_;

    // A still cycle changes only counters. The next one is the same if no input changes.
    bool still_ = false;
    Event still_events_[2] = {};

    uint32_t decoded_pc_ = 0, shown_pc_ = 0;
    bool decoded_refused_ = false, shown_refused_ = false;
    // Changes of the last cycle, and the values before.
    bool trapped_ = false, accessed_ = false, retired_now_ = false;
    struct {
        uint32_t mepc = 0, mtval = 0, data_address = 0;
    } before_;
};

} // namespace earlgrey::ibex

namespace earlgrey {

// The core of the machine that this simulator models.
constexpr ibex::Config kCoreConfig = machine::kFlat ? ibex::kMaxPerf : ibex::kEarlGrey;
using FastCore = ibex::Core<kCoreConfig>;

} // namespace earlgrey
