// SPDX-License-Identifier: Apache-2.0 OR MIT
// The crossbar between the core's two ports and all devices: register stages at the ports, an
// arbiter per device, answers in order. A call of step() is one cycle. Every decision in it uses
// the state at the beginning of the cycle.
#pragma once

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
        // The core saw the answers in this cycle.
        in[kInstr].rvalid = in[kData].rvalid = false;
        if (in_flight_ || out[kInstr].req || out[kData].req)
            step_ports(now, out);
    }
    PortIn in[kHosts];

    bool idle() const; // no request or answer is in flight
    void advance_devices(Cycle now);
    // The cycle of the next change of a device without an access; kNever if there is none.
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
        bool full() const { return back.target != kNone; }
        void push(const Slot &slot) { (front.target == kNone ? front : back) = slot; }
        void pop() {
            front = back;
            back.target = kNone;
        }
    };
    struct Port {
        Stage requests;
        Fifo<Promise, 4> promises;     // of accepted requests
        Cycle due = kNever;            // of the first promise
        Target outstanding_at = kNone; // the device that made the promises
        Target offers_to = kNone;      // the device that may accept the request at the front
    };

    void step_ports(Cycle now, const PortOut out[kHosts]);
    template <Host host> void step_port(Cycle now, const PortOut &out, bool offers);
    template <Host host> void deliver();
    bool offer(Port &port, Cycle now);
    bool offer_to_other(Port &port, Cycle now);
    template <typename Device, typename... Access>
    bool offer_to(Device &device, Port &port, Cycle now, const Access &...access);
    void access_peripheral(Cycle now);
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
    uint32_t device_read(Cycle now, uint32_t addr, const machine::Window &window);
    void device_write(Cycle now, uint32_t addr, uint32_t value, const machine::Window &window);
    void touch(const machine::Window &window) { ++touched_[window.name]; }
    void drive_interrupts();
    SramControl *sram_control(const machine::Window &window);

    Settings settings_;
    Port ports_[kHosts];
    unsigned in_flight_ = 0; // requests without an answer
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
    Plic plic_;
    Cycle next_event_ = kNever;
    uint32_t uart_lines_ = 0;
    bool timer_irq_ = false, external_irq_ = false;
    std::array<SramControl, machine::kSramControls.size()>
        sram_controls_; // the first is main SRAM's
    std::map<std::string, uint64_t> touched_;
};

// The functions of every cycle are inline, so that the main loop contains them.

inline void Bus::step_ports(Cycle now, const PortOut out[kHosts]) {
    if (now == peripherals_.access_at()) [[unlikely]]
        access_peripheral(now);
    const Target instr = ports_[kInstr].offers_to, data = ports_[kData].offers_to;
    const bool instr_offers = instr != kNone && (instr != data || preferred_[instr] == kInstr);
    const bool data_offers = data != kNone && (instr != data || !instr_offers);
    step_port<kInstr>(now, out[kInstr], instr_offers);
    step_port<kData>(now, out[kData], data_offers);
}

// A cycle of a port. `offers`: a device gets the request at the front.
template <Host host>
[[gnu::always_inline]] inline void Bus::step_port(Cycle now, const PortOut &out, bool offers) {
    Port &port = ports_[host];
    bool changed = out.req;
    if (now == port.due) {
        deliver<host>();
        changed = true;
    }
    if (offers) {
        // Round robin: a winner that has to wait remains the winner.
        const bool accepted = offer(port, now);
        preferred_[port.offers_to] = accepted ? Host(host ^ 1) : host;
        if (accepted) {
            port.requests.pop();
            port.outstanding_at = port.offers_to;
            port.due = port.promises.front().due;
            changed = true;
        }
    }
    if (!changed)
        return;
    if (out.req && in[host].gnt) {
        port.requests.push({out.request, decode(out.request.addr)});
        ++in_flight_;
    }
    in[host].gnt = !port.requests.full();
    // A host waits for all answers of a device before it turns to another one.
    const Target target = port.requests.front.target;
    const bool waits = port.outstanding_at != kNone && port.outstanding_at != target;
    port.offers_to = waits ? kNone : target;
}

// Passes on the answer that is due.
template <Host host> [[gnu::always_inline]] inline void Bus::deliver() {
    Port &port = ports_[host];
    in[host].rvalid = true;
    in[host].answer =
        port.outstanding_at == kPeri ? peripherals_.take() : port.promises.front().answer;
    port.promises.pop();
    if (port.promises.empty()) {
        port.outstanding_at = kNone;
        port.due = kNever;
    } else {
        port.due = port.promises.front().due;
    }
    --in_flight_;
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

[[gnu::always_inline]] inline bool Bus::offer(Port &port, Cycle now) {
    if (port.offers_to == kFlash)
        return offer_to(flash_device_, port, now);
    if (port.offers_to == kSram)
        return offer_to(sram_device_, port, now);
    return offer_to_other(port, now);
}

} // namespace earlgrey
