// SPDX-License-Identifier: Apache-2.0 OR MIT
// The crossbar's cycle and its address decoder.
#include "bus.h"

namespace earlgrey {

namespace {
constexpr size_t kBlockCount = std::size(machine::kRegisterBlocks);

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
      flash_device_(memories.flash),
      peripherals_([this](Cycle now, const Request &r) { return register_access(now, r); }),
      nothing_(machine::kNothingAnswer,
               [](Cycle, const Request &r) {
                   return Answer{0, true, r.host};
               }),
      uart_(settings_.uart_cycles_per_byte, settings_.uart_sink) {
    for (size_t i = 0; i < kBlockCount; ++i)
        blocks_.emplace_back(machine::kRegisterAnswer, [this](Cycle now, const Request &r) {
            return register_access(now, r);
        });
    sram_device_.executable = settings_.sram_exec == SramExec::kOn;
}

uint8_t Bus::decode(uint32_t addr) const {
    if (memories.flash.holds(addr))
        return kFlash;
    if (memories.sram.holds(addr))
        return kSram;
    if (memories.rom.holds(addr))
        return kRom;
    for (const auto &window : machine::kPeripherals)
        if (inside(addr, window))
            return kPeri;
    for (size_t i = 0; i < kBlockCount; ++i)
        if (inside(addr, machine::kRegisterBlocks[i]))
            return static_cast<uint8_t>(kRegisters + i);
    return kNothing;
}

// Steps one device for a cycle and stores the result for the ports.
template <typename Device> void Bus::serve(Device &device, uint8_t target, Cycle now) {
    Offers offers;
    for (unsigned host = 0; host < kHosts; ++host) {
        Port &port = ports_[host];
        const bool other_device = port.outstanding && port.outstanding_at != target;
        if (!port.requests.empty() && port.target == target && !other_device)
            offers.of[host] = &port.requests.front();
    }
    if (!offers.any() && device.idle())
        return;
    const Step step = device.step(now, offers);
    if (step.answered) {
        steps_[step.answer.host].answered = true;
        steps_[step.answer.host].answer = step.answer;
    }
    if (step.accepted)
        steps_[step.accepted->host].accepted = step.accepted;
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

void Bus::step(Cycle now, const PortOut out[kHosts]) {
    if constexpr (machine::kFlat)
        return step_flat(now, out);
    steps_[kInstr] = steps_[kData] = Step{};
    serve(flash_device_, kFlash, now);
    serve(sram_device_, kSram, now);
    serve(rom_device_, kRom, now);
    serve(peripherals_, kPeri, now);
    serve(nothing_, kNothing, now);
    uint8_t served = kNothing;
    for (const Port &port : ports_) {
        const uint8_t at = port.outstanding ? port.outstanding_at : port.target;
        if (at >= kRegisters && at != served) {
            serve(blocks_[at - kRegisters], at, now);
            served = at;
        }
    }

    for (unsigned host = 0; host < kHosts; ++host) {
        Port &port = ports_[host];
        const bool granted = !port.requests.full();
        const uint8_t target = port.target;
        if (!port.answers.empty())
            port.answers.pop(); // the core saw it in this cycle
        if (steps_[host].answered) {
            port.answers.push(steps_[host].answer);
            --port.outstanding;
        }
        if (steps_[host].accepted) {
            port.requests.pop();
            ++port.outstanding;
            port.outstanding_at = target;
        }
        if (out[host].req && granted)
            port.requests.push(out[host].request);
        port.target = port.requests.empty() ? kNothing : decode(port.requests.front().addr);

        in[host].gnt = !port.requests.full();
        in[host].rvalid = !port.answers.empty();
        if (in[host].rvalid)
            in[host].answer = port.answers.front();
    }
}

bool Bus::idle() const {
    for (const Port &port : ports_)
        if (port.outstanding || !port.requests.empty() || !port.answers.empty())
            return false;
    return true;
}

Answer Bus::register_access(Cycle now, const Request &request) {
    Answer answer{0, false, request.host};
    const machine::Window *window = window_of(request.addr);
    if (request.we)
        device_write(now, request.addr, request.wdata, *window);
    else
        answer.data = device_read(now, request.addr, *window);
    return answer;
}

uint32_t Bus::device_read(Cycle now, uint32_t addr, const machine::Window &window) {
    switch (window.base) {
    case machine::kUart0:
        return uart_.read(now, addr - window.base);
    case machine::kRvTimer:
        return timer_.read(now, addr - window.base);
    case machine::kPlic: {
        const uint32_t value = plic_.read(addr - window.base);
        drive_interrupts();
        return value;
    }
    default:
        if (addr == machine::kOtpCpuctrl)
            return settings_.cpuctrl;
        if (const SramControl *control = sram_control(window))
            return control->read(addr - window.base);
        touch(window);
        for (const auto &reset : machine::kResetValues)
            if (addr - reset.base < reset.count * 4)
                return reset.value;
        return 0;
    }
}

void Bus::device_write(Cycle now, uint32_t addr, uint32_t value, const machine::Window &window) {
    switch (window.base) {
    case machine::kUart0:
        uart_.write(now, addr - window.base, value);
        break;
    case machine::kRvTimer:
        timer_.write(now, addr - window.base, value);
        break;
    case machine::kPlic:
        plic_.write(addr - window.base, value);
        break;
    default:
        if (settings_.mailbox && addr - settings_.mailbox < 8)
            settings_.mail(addr - settings_.mailbox, value);
        else if (SramControl *control = sram_control(window)) {
            control->write(addr - window.base, value);
            if (settings_.sram_exec == SramExec::kRegister)
                sram_device_.executable = sram_controls_.front().executable();
        } else
            touch(window);
    }
    drive_interrupts();
}

SramControl *Bus::sram_control(const machine::Window &window) {
    for (size_t i = 0; i < sram_controls_.size(); ++i)
        if (window.base == machine::kSramControls[i])
            return &sram_controls_[i];
    return nullptr;
}

void Bus::drive_interrupts() {
    plic_.drive(machine::kUart0FirstIrq, machine::kUartIrqs, uart_.lines());
    plic_.drive(machine::kRvTimerIrq, 1, timer_.line());
}

Cycle Bus::next_event() const { return std::min(uart_.next_event(), timer_.next_event()); }

void Bus::advance_devices(Cycle now) {
    uart_.advance(now);
    timer_.advance(now);
    drive_interrupts();
}

} // namespace earlgrey
