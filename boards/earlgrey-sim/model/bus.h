// SPDX-License-Identifier: Apache-2.0 OR MIT
// The crossbar between the core's two ports and all devices: register stages at the ports (except
// in silicon), an arbiter per device, answers in order. A call of step() is one cycle. Every
// decision in it uses the state at the beginning of the cycle.
#pragma once

#include "aon_timer.h"
#include "devices.h"
#include "flash.h"
#include "machine.h"
#include "memory.h"
#include "settings.h"
#include <iterator>
#include <map>
#include <string>

namespace earlgrey {

class Bus {
public:
    explicit Bus(Settings settings);

    // Takes the core's requests of this cycle and sets in[] for the next.
    void step(Cycle now, const PortOut out[kHosts]) {
        if constexpr (machine::kFlat)
            return step_flat(now, out);
        if constexpr (!machine::kPortStage)
            return step_direct(now);
        // The core saw the answers in this cycle.
        in[kInstr].rvalid = in[kData].rvalid = false;
        if (waiting_ || out[kInstr].req || out[kData].req || now == ports_[kInstr].due ||
            now == ports_[kData].due)
            step_ports(now, out);
    }
    PortIn in[kHosts];

    // Without register stages: grants or refuses the requests of both ports in their cycle.
    void decide(Cycle now, const PortOut &instr, const PortOut &data);
    bool decided(Cycle now) const { return decided_at_ == now; }
    bool granted(Host host) const { return granted_[host]; }

    bool idle() const; // no request or answer is in flight
    void advance_devices(Cycle now);
    // The cycle of the next change of a device without an access; or kNever.
    Cycle next_event() const { return next_event_; }
    bool timer_irq() const { return timer_irq_; }
    bool external_irq() const { return external_irq_; }

    Memories memories;

    // Blocks without a model that were accessed: name -> accesses.
    const std::map<std::string, uint64_t> &touched() const { return touched_; }

private:
    // The devices on the crossbar; register blocks have the numbers from kRegisters on.
    enum Target : unsigned { kFlash, kSram, kRom, kPeri, kUnmapped, kRegisters };
    static constexpr size_t kBlocks = std::size(machine::kRegisterBlocks);
    static constexpr size_t kTargets = kRegisters + kBlocks;
    static constexpr Target kNone = Target(kTargets);

    // The register stage of a port: two requests of the host, each with its device.
    static_assert(machine::kPortFifoDepth == 2);
    struct Stage {
        struct Slot {
            Request request;
            Target target = kNone; // kNone: empty
        };
        Slot front, back;
        bool empty() const { return front.target == kNone; }
        bool full() const { return back.target != kNone; }
        void push(const Slot &slot) { (empty() ? front : back) = slot; }
        void pop() {
            if (full())
                front = back;
            (full() ? back : front).target = kNone;
        }
    };
    struct Port {
        Stage requests;
        Fifo<Promise, 4> promises;     // of accepted requests
        Cycle due = kNever;            // of the first promise
        Target outstanding_at = kNone; // the device that made the promises

        // Whether it offers the request at the front to its device: a host waits for all answers of
        // a device before it turns to another one.
        bool offers() const {
            return !requests.empty() &&
                   (requests.front.target == outstanding_at || outstanding_at == kNone);
        }
    };

    void step_ports(Cycle now, const PortOut out[kHosts]);
    template <Host host> void step_port(Cycle now, const PortOut &out);
    template <Host host> void deliver();
    template <Host host> void show_answer();
    template <Host host> void drop_promise();
    void step_direct(Cycle now);
    template <Host host> void step_direct_port(Cycle now);
    void offer(Cycle next);
    template <Host host> void offer_request(Cycle next);
    void step_others(Cycle now);
    bool offer_to_other(Port &port, Cycle now);
    template <typename Device, typename... Access>
    bool offer_to(Device &device, Port &port, Cycle now, const Access &...access);
    void settle(Host host, bool accepted);
    void step_flat(Cycle now, const PortOut out[kHosts]);
    Answer access(Cycle now, const Request &request);
    static Target decode(uint32_t addr) {
        if (addr - machine::kFlashBase < machine::kFlashSize)
            return kFlash;
        if (addr - machine::kSramBase < machine::kSramSize)
            return kSram;
        return decode_other(addr);
    }
    static Target decode_other(uint32_t addr);
    Answer register_access(Cycle now, const Request &request);
    uint32_t device_read(Cycle now, const machine::Window &window, uint32_t offset);
    void device_write(Cycle now, const machine::Window &window, uint32_t offset, uint32_t value);
    void touch(const machine::Window &window) { ++touched_[window.name]; }
    void find_next_event();
    SramControl *sram_control(const machine::Window &window);

    Settings settings_;
    Port ports_[kHosts];
    // Requests in the ports, and accesses to peripherals that were not made yet.
    unsigned waiting_ = 0;
    // Whether other devices than flash and SRAM act in the next cycle, or a peripheral later, and
    // the hosts that offer a request to them.
    bool others_ = false;
    std::array<bool, kHosts> offers_to_other_{};
    Cycle decided_at_ = kNever;
    std::array<bool, kHosts> granted_{};
    // Whose request the arbiter of a device prefers.
    std::array<Host, kTargets> preferred_{};

    Sram sram_device_;
    Rom rom_device_;
    Flash flash_device_;
    PeripheralBus peripherals_;
    RegisterBlock<machine::kNothingAnswer> nothing_;
    std::array<RegisterBlock<machine::kRegisterAnswer>, kBlocks> blocks_;

    Uart uart_;
    RvTimer timer_;
    AonTimer aon_timer_;
    Plic plic_;
    Cycle next_event_ = kNever;
    uint32_t uart_lines_ = 0, aon_lines_ = 0;
    bool timer_irq_ = false, external_irq_ = false;
    std::array<SramControl, machine::kSramControls.size()>
        sram_controls_; // the first is main SRAM's
    std::map<std::string, uint64_t> touched_;
};

// The functions of every cycle are inline, so that the main loop contains them.

inline void Bus::step_ports(Cycle now, const PortOut out[kHosts]) {
    if (others_) [[unlikely]]
        step_others(now);
    step_port<kInstr>(now, out[kInstr]);
    step_port<kData>(now, out[kData]);
    if (waiting_)
        offer(now + 1);
}

// A cycle of a port: the answer that is due, and the core's request.
template <Host host>
[[gnu::always_inline]] inline void Bus::step_port(Cycle now, const PortOut &out) {
    Port &port = ports_[host];
    if (now == port.due)
        deliver<host>();
    if (out.req && in[host].gnt) {
        port.requests.push({out.request, decode(out.request.addr)});
        ++waiting_;
    }
    in[host].gnt = !port.requests.full();
}

template <Host host> [[gnu::always_inline]] inline void Bus::deliver() {
    show_answer<host>();
    drop_promise<host>();
}

template <Host host> [[gnu::always_inline]] inline void Bus::show_answer() {
    Port &port = ports_[host];
    in[host].rvalid = true;
    in[host].answer =
        port.outstanding_at == kPeri ? peripherals_.take() : port.promises.front().answer;
}

template <Host host> [[gnu::always_inline]] inline void Bus::drop_promise() {
    Port &port = ports_[host];
    port.promises.pop();
    if (port.promises.empty()) {
        port.outstanding_at = kNone;
        port.due = kNever;
    } else {
        port.due = port.promises.front().due;
    }
}

// Offers the requests of the next cycle. Memories accept them at once, since nothing can happen
// before. Other devices accept them in that cycle, when their registers have its state.
[[gnu::always_inline]] inline void Bus::offer(Cycle next) {
    bool instr = ports_[kInstr].offers(), data = ports_[kData].offers();
    if (instr && data) [[unlikely]] {
        const Target target = ports_[kInstr].requests.front.target;
        if (target == ports_[kData].requests.front.target) {
            instr = preferred_[target] == kInstr;
            data = !instr;
        }
    }
    if (instr)
        offer_request<kInstr>(next);
    if (data)
        offer_request<kData>(next);
}

template <Host host> [[gnu::always_inline]] inline void Bus::offer_request(Cycle next) {
    Port &port = ports_[host];
    switch (port.requests.front.target) {
    case kFlash:
        return settle(host, offer_to(flash_device_, port, next));
    case kSram:
        return settle(host, offer_to(sram_device_, port, next));
    default:
        if constexpr (!machine::kPortStage)
            return settle(host, offer_to_other(port, next));
        others_ = offers_to_other_[host] = true;
    }
}

// Returns whether the device accepted the request.
template <typename Device, typename... Access>
[[gnu::always_inline]] inline bool Bus::offer_to(Device &device, Port &port, Cycle now,
                                                 const Access &...access) {
    const Request &request = port.requests.front.request;
    if (!device.ready(now, request))
        return false;
    port.promises.push(device.accept(now, request, access...));
    return true;
}

// Round robin: a winner that has to wait remains the winner.
[[gnu::always_inline]] inline void Bus::settle(Host host, bool accepted) {
    Port &port = ports_[host];
    const Target target = port.requests.front.target;
    preferred_[target] = accepted ? Host(host ^ 1) : host;
    if (!accepted)
        return;
    port.requests.pop();
    --waiting_;
    port.outstanding_at = target;
    port.due = port.promises.front().due;
}

// A cycle without register stages, after the decision about its requests. The core has seen the
// answers that are due; the answers of the next cycle replace them.
inline void Bus::step_direct(Cycle now) {
    if (now == peripherals_.access_at()) [[unlikely]]
        step_others(now);
    step_direct_port<kInstr>(now);
    step_direct_port<kData>(now);
}

template <Host host> [[gnu::always_inline]] inline void Bus::step_direct_port(Cycle now) {
    in[host].rvalid = false;
    if (now == ports_[host].due)
        drop_promise<host>();
    if (now + 1 == ports_[host].due)
        show_answer<host>();
}

inline void Bus::decide(Cycle now, const PortOut &instr, const PortOut &data) {
    decided_at_ = now;
    const PortOut *const out[] = {&instr, &data};
    for (const Host host : {kInstr, kData})
        if (out[host]->req) {
            ports_[host].requests.push({out[host]->request, decode(out[host]->request.addr)});
            ++waiting_;
        }
    offer(now);
    for (const Host host : {kInstr, kData}) {
        Stage &requests = ports_[host].requests;
        granted_[host] = out[host]->req && requests.empty();
        if (!requests.empty()) {
            requests.pop();
            --waiting_;
        }
    }
}

} // namespace earlgrey
