// SPDX-License-Identifier: Apache-2.0 OR MIT
// The crossbar between the core's two ports and all devices: register stages at the ports, an
// arbiter per device, answers in order. A call of step() is one cycle. Every decision in it uses
// the state at the beginning of the cycle. Only devices with work are stepped.
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
        if (work_ || out[kInstr].req || out[kData].req)
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
    // Sets of devices on the crossbar; register blocks have the bits from kRegisters on.
    using Devices = uint32_t;
    static constexpr Devices kFlash = 1, kSram = 2, kRom = 4, kPeri = 8, kNothing = 16,
                             kRegisters = 32;
    static constexpr size_t kBlocks = std::size(machine::kRegisterBlocks);

    struct Port {
        struct Entry {
            Request request;
            Devices target = 0;
        };
        Fifo<Entry, machine::kPortFifoDepth> requests;
        Devices offers_to = 0; // the device that may accept the request at the front
        Devices outstanding_at = 0;
        unsigned outstanding = 0;

        // A host waits for all answers of a device before it turns to another one.
        void offer() {
            const Devices target = requests.empty() ? 0 : requests.front().target;
            offers_to = outstanding && outstanding_at != target ? 0 : target;
        }
    };

    void step_busy(Cycle now, const PortOut out[kHosts]);
    void step_flat(Cycle now, const PortOut out[kHosts]);
    Answer access(Cycle now, const Request &request);
    static Devices decode(uint32_t addr);
    template <typename Device, typename... Access>
    void serve(Device &device, Devices bit, Cycle now, const Access &...access);
    void serve_registers(Devices devices, Cycle now);
    Answer register_access(Cycle now, const Request &request);
    uint32_t device_read(Cycle now, uint32_t addr, const machine::Window &window);
    void device_write(Cycle now, uint32_t addr, uint32_t value, const machine::Window &window);
    void touch(const machine::Window &window) { ++touched_[window.name]; }
    void drive_interrupts();
    SramControl *sram_control(const machine::Window &window);

    Settings settings_;
    Port ports_[kHosts];
    Devices busy_ = 0; // devices that are not idle
    Devices work_ = 0; // these and those with an offer

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
