// SPDX-License-Identifier: Apache-2.0 OR MIT
// The crossbar: slow devices, the registers behind it and its address decoder.
#include "bus.h"

#include <algorithm>
#include <utility>

namespace earlgrey {

namespace {
bool inside(uint32_t addr, const machine::Window &window) {
    return addr - window.base < window.size;
}

const machine::Window *window_of(uint32_t addr) {
    for (const auto &window : machine::kPeripherals)
        if (inside(addr, window))
            return &window;
    for (const auto &window : machine::kRegisterBlocks)
        if (inside(addr, window))
            return &window;
    return nullptr;
}
} // namespace

Bus::Bus(Settings settings)
    : settings_(std::move(settings)), sram_device_(memories.sram), rom_device_(memories.rom),
      flash_device_(memories.flash), uart_(settings_.uart_cycles_per_byte, settings_.uart_sink) {
    sram_device_.executable = settings_.sram_exec == SramExec::kOn;
}

Bus::Target Bus::decode_other(uint32_t addr) {
    if (addr - machine::kRomBase < machine::kRomSize)
        return kRom;
    for (const auto &window : machine::kPeripherals)
        if (inside(addr, window))
            return kPeri;
    for (size_t i = 0; i < kBlocks; ++i)
        if (inside(addr, machine::kRegisterBlocks[i]))
            return Target(kRegisters + i);
    return kUnmapped;
}

// At both ports, grants every request at once and answers it in the next cycle.
void Bus::step_flat(Cycle now, const PortOut out[kHosts]) {
    for (unsigned host = 0; host < kHosts; ++host) {
        in[host].rvalid = out[host].req;
        if (out[host].req)
            in[host].answer = access(now, out[host].request);
    }
}

Answer Bus::access(Cycle now, const Request &request) {
    for (Storage *storage : {&memories.flash, &memories.sram, &memories.rom})
        if (storage->holds(request.addr)) {
            if (request.we)
                storage->write(request.addr, request.wdata, request.be);
            return {request.we ? 0 : storage->read(request.addr), false, request.host};
        }
    if (!window_of(request.addr))
        return {0, true, request.host};
    return register_access(now, request);
}

// A cycle of the devices with registers, and of the boot ROM.
void Bus::step_others(Cycle now) {
    const auto access = [this](Cycle at, const Request &r) { return register_access(at, r); };
    if (now == peripherals_.access_at()) {
        peripherals_.access(now, access);
        --waiting_;
    }
    for (const Host host : {kInstr, kData})
        if (std::exchange(offers_to_other_[host], false))
            settle(host, offer_to_other(ports_[host], now));
    others_ = peripherals_.access_at() != kNever;
}

bool Bus::offer_to_other(Port &port, Cycle now) {
    const auto access = [this](Cycle at, const Request &r) { return register_access(at, r); };
    const Target target = port.requests.front.target;
    switch (target) {
    case kRom:
        return offer_to(rom_device_, port, now);
    case kPeri: {
        const bool accepted = offer_to(peripherals_, port, now);
        waiting_ += accepted; // for the access
        return accepted;
    }
    case kUnmapped:
        return offer_to(nothing_, port, now, [](Cycle, const Request &r) {
            return Answer{0, true, r.host};
        });
    default:
        return offer_to(blocks_[target - kRegisters], port, now, access);
    }
}

bool Bus::idle() const {
    if constexpr (machine::kFlat)
        return true;
    for (const Host host : {kInstr, kData})
        if (in[host].rvalid || !ports_[host].promises.empty() || !ports_[host].requests.empty())
            return false;
    return true;
}

Answer Bus::register_access(Cycle now, const Request &request) {
    Answer answer{0, false, request.host};
    const machine::Window *window = window_of(request.addr);
    const uint32_t offset = machine::offset_in(*window, request.addr);
    if (!machine::has_register(*window, offset))
        answer.err = true;
    else if (request.we)
        device_write(now, *window, offset, request.wdata);
    else
        answer.data = device_read(now, *window, offset);
    external_irq_ = plic_.line();
    find_next_event();
    return answer;
}

uint32_t Bus::device_read(Cycle now, const machine::Window &window, uint32_t offset) {
    const uint32_t addr = window.base + offset;
    switch (window.base) {
    case machine::kUart0:
        return uart_.read(now, offset);
    case machine::kRvTimer:
        return timer_.read(now, offset);
    case machine::kAonTimer:
        return aon_timer_.read(now, offset);
    case machine::kPlic:
        plic_.advance(now + machine::kRegisterReached);
        return plic_.read(offset);
    default:
        if (addr == machine::kOtpCpuctrl)
            return settings_.cpuctrl;
        if (const SramControl *control = sram_control(window))
            return control->read(offset);
        touch(window);
        for (const auto &reset : machine::kResetValues)
            if (addr - reset.base < reset.count * 4)
                return reset.value;
        return 0;
    }
}

void Bus::device_write(Cycle now, const machine::Window &window, uint32_t offset, uint32_t value) {
    const uint32_t addr = window.base + offset;
    switch (window.base) {
    case machine::kUart0:
        uart_.write(now, offset, value);
        break;
    case machine::kRvTimer:
        timer_.write(now, offset, value);
        break;
    case machine::kAonTimer:
        aon_timer_.write(now, offset, value);
        break;
    case machine::kPlic:
        plic_.advance(now + machine::kRegisterReached);
        plic_.write(offset, value);
        break;
    default:
        if (settings_.mailbox && addr - settings_.mailbox < 8)
            settings_.mail(addr - settings_.mailbox, value);
        else if (SramControl *control = sram_control(window)) {
            control->write(offset, value);
            if (settings_.sram_exec == SramExec::kRegister)
                sram_device_.executable = sram_controls_.front().executable();
        } else
            touch(window);
    }
}

SramControl *Bus::sram_control(const machine::Window &window) {
    for (size_t i = 0; i < sram_controls_.size(); ++i)
        if (window.base == machine::kSramControls[i])
            return &sram_controls_[i];
    return nullptr;
}

void Bus::find_next_event() {
    next_event_ = std::min(
        {uart_.next_event(), timer_.next_event(), aon_timer_.next_event(), plic_.next_event()});
}

void Bus::advance_devices(Cycle now) {
    plic_.advance(now); // with the lines before this cycle
    uart_.advance(now);
    timer_.advance(now);
    aon_timer_.advance(now);
    if (aon_timer_.bites())
        settings_.bite();
    if (uart_.lines() != uart_lines_ || timer_.line() != timer_irq_ ||
        aon_timer_.lines() != aon_lines_) {
        uart_lines_ = uart_.lines();
        timer_irq_ = timer_.line();
        aon_lines_ = aon_timer_.lines();
        plic_.drive(machine::kUart0FirstIrq, machine::kUartIrqs, uart_lines_);
        plic_.drive(machine::kRvTimerIrq, 1, timer_irq_);
        plic_.drive(machine::kAonTimerFirstIrq, machine::kAonTimerIrqs, aon_lines_);
    }
    external_irq_ = plic_.line();
    find_next_event();
}

} // namespace earlgrey
