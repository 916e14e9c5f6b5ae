// SPDX-License-Identifier: Apache-2.0 OR MIT
// The simulated machine's interface to the main loop: here, a core in a model of its chip. The
// whole chip in RTL is an alternative (../../../lab/chip/model/system.h); SYSTEM_H selects one.
#pragma once

#include "bus.h"
#if defined ENGINE_LOCKSTEP
#include "boot_core.h" // in ../../../lab/lockstep
#elif defined ENGINE_RTL
#include "rtl_core.h"
#else
#include "tracer.h"
#endif
#include <optional>

namespace earlgrey {

#if defined ENGINE_LOCKSTEP
#elif defined ENGINE_RTL
using Core = RtlCore;
#else
using Core = FastCore;
using Tracer = ibex::Tracer<kCoreConfig>;
#endif

class System {
public:
    System(Settings settings, std::optional<uint32_t> boot)
        : bus_(std::move(settings)), core_(boot.value_or(machine::kBootAddress)) {}

    Memories &memories() { return bus_.memories; }
    void start() {} // the memories are already loaded
    Core &core() { return core_; }

    // One cycle: first the core, then, with the core's new outputs, everything else.
    void step_core(Cycle now) { step(core_, now); }
#ifndef ENGINE_RTL
    void trace_core(Cycle now, Retirements &listener) {
        tracer_.cycle(bus_.in[kData], listener, [this, now] { step_core(now); });
    }
#endif
    void step_bus(Cycle now) { bus_.step(now, core_.requests()); }

    bool timer_irq() const { return bus_.timer_irq(); }
    bool external_irq() const { return bus_.external_irq(); }

    // The cycle of the next change of a device without an access; kNever if there is none.
    Cycle next_event() const { return bus_.next_event(); }
    void advance_devices(Cycle now) { bus_.advance_devices(now); }
    bool idle() const { return bus_.idle(); }

    // Blocks without a model that were accessed: name -> accesses.
    const std::map<std::string, uint64_t> &touched() const { return bus_.touched(); }

private:
    // Without registers at the ports, the core asks the bus for a grant in the cycle of a request:
    // for the data port first. A refused access gets none: the arbiter of a device grants only
    // requests (tlul_socket_m1.sv).
    [[gnu::always_inline]] void step(auto &core, Cycle now) {
        if constexpr (machine::kPortStage)
            core.cycle(bus_.in, bus_.timer_irq(), bus_.external_irq());
        else
            core.cycle(bus_.in, bus_.timer_irq(), bus_.external_irq(),
                       [&](Host host, const PortOut &out) {
                           if (!out.req)
                               return false;
                           if (!bus_.decided(now))
                               bus_.decide(now, host == kInstr ? out : core.fetch_request(),
                                           host == kData ? out : PortOut{});
                           return bus_.granted(host);
                       });
    }

    Bus bus_;
    Core core_;
#ifndef ENGINE_RTL
    Tracer tracer_{core_};
#endif
};

} // namespace earlgrey
