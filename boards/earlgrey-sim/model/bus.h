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
            step_busy(now, out);
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

    void step_busy(Cycle now, const PortOut out[kHosts]);
    template <Host host> void step_port(Cycle now, const PortOut &out, bool offers);
    template <Host host> void deliver();
    template <Host host> bool offer(Cycle now);
    bool offer_to_other(Port &port, Cycle now);
    template <typename Device, typename... Access>
    bool offer_to(Device &device, Port &port, Cycle now, const Access &...access);
    void step_flat(Cycle now, const PortOut out[kHosts]);
    Answer access(Cycle now, const Request &request);
    static Target decode(uint32_t addr);
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

} // namespace earlgrey
