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
#include <map>
#include <memory>
#include <string>

namespace earlgrey {

class Bus {
public:
    explicit Bus(Settings settings);

    // Takes the core's requests of this cycle and sets in[] for the next.
    void step(Cycle now, const PortOut out[kHosts]);
    PortIn in[kHosts];

    bool idle() const; // no request or answer is in flight
    void advance_devices(Cycle now);
    Cycle next_event() const;
    bool timer_irq() const { return timer_.line(); }
    bool external_irq() const { return plic_.line(); }

    Memories memories;

    // Blocks without a model that were accessed: name -> accesses.
    const std::map<std::string, uint64_t> &touched() const { return touched_; }

private:
    // The crossbar's numbers of devices; register blocks have kRegisters and above.
    static constexpr uint8_t kSram = 0, kRom = 1, kFlash = 2, kPeri = 3, kNothing = 4,
                             kRegisters = 5;
    struct Port {
        Fifo<Request, machine::kPortFifoDepth> requests;
        Fifo<Answer, machine::kPortFifoDepth> answers;
        uint8_t target = kNothing; // of the request at the front
        uint8_t outstanding = 0;
        uint8_t outstanding_at = kNothing;
    };

    void step_flat(Cycle now, const PortOut out[kHosts]);
    Answer access(Cycle now, const Request &request);
    uint8_t decode(uint32_t addr) const;
    template <typename Device> void serve(Device &device, uint8_t target, Cycle now);
    Answer register_access(Cycle now, const Request &request);
    uint32_t device_read(Cycle now, uint32_t addr, const machine::Window &window);
    void device_write(Cycle now, uint32_t addr, uint32_t value, const machine::Window &window);
    void touch(const machine::Window &window) { ++touched_[window.name]; }
    void drive_interrupts();
    SramControl *sram_control(const machine::Window &window);

    Settings settings_;
    Port ports_[kHosts];
    Step steps_[kHosts]; // results of this cycle, per host

    Sram sram_device_;
    Rom rom_device_;
    Flash flash_device_;
    PeripheralBus peripherals_;
    RegisterBlock nothing_;
    std::vector<RegisterBlock> blocks_;

    Uart uart_;
    RvTimer timer_;
    Plic plic_;
    std::array<SramControl, machine::kSramControls.size()>
        sram_controls_; // the first is main SRAM's
    std::map<std::string, uint64_t> touched_;
};

} // namespace earlgrey
