// SPDX-License-Identifier: Apache-2.0 OR MIT
// The bus takes the RTL's requests; both cores get its answers.
#include "machine_run.h"

#include "image.h"
#include "pair.h"

#include <chrono>
#include <cstdlib>

extern "C" const uint8_t boot_rom_begin[], boot_rom_end[];

namespace lockstep {

using earlgrey::Bus;
using earlgrey::Loader;
namespace machine = earlgrey::machine;

namespace {

void load(Bus &bus, const std::vector<std::string> &files) {
    earlgrey::load_bytes(bus.memories, boot_rom_begin,
                         static_cast<size_t>(boot_rom_end - boot_rom_begin), machine::kRomBase,
                         "boot ROM");
    Loader loader(bus.memories);
    for (const std::string &file : files) {
        const size_t at = file.rfind('@');
        if (at == std::string::npos)
            loader.elf(file);
        else
            loader.raw(file.substr(0, at), static_cast<uint32_t>(std::strtoul(
                                               file.c_str() + at + 1, nullptr, 0)));
    }
}

} // namespace

int run_boot(const BootOptions &options, unsigned every) try {
    std::string line, last;
    earlgrey::Settings settings;
    settings.cpuctrl = options.cpuctrl;
    settings.uart_sink = [&](uint8_t c) {
        line += static_cast<char>(c);
        if (c == '\n')
            last.swap(line), line.clear();
    };
    Bus bus(std::move(settings));
    load(bus, options.files);
    Pair pair(machine::kBootAddress, every);
    const auto start = std::chrono::steady_clock::now();
    earlgrey::Cycle now = 0;
    unsigned asleep = 0, faults = 0;
    const char *end = "limit";
    while (pair.cycles() < options.max_cycles) {
        if (!pair.cycle(bus.in, bus.timer_irq(), bus.external_irq())) {
            pair.print_difference(stdout);
            return 1;
        }
        bus.step(now, pair.rtl().requests());
        ++now;
        faults += pair.rtl().double_fault();
        if (bus.next_event() <= now) {
            bus.advance_devices(now);
            asleep = 0;
        }
        asleep = pair.rtl().asleep() && bus.idle() ? asleep + 1 : 0;
        // While the machine sleeps, only time passes: the cores see no clock.
        if (asleep > 4) {
            if (bus.next_event() == earlgrey::kNever) {
                end = "asleep";
                break;
            }
            now = std::max(now, bus.next_event());
            bus.advance_devices(now);
            asleep = 0;
        }
        if (faults > 16) {
            end = "lockup";
            break;
        }
    }
    const double seconds =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    while (!last.empty() && (last.back() == '\n' || last.back() == '\r'))
        last.pop_back();
    std::printf("lockstep: equal over %llu cycles (%.2f M cycles a second), end: %s, last line: %s\n",
                static_cast<unsigned long long>(pair.cycles()),
                static_cast<double>(pair.cycles()) / seconds / 1e6, end, last.c_str());
    return 0;
} catch (const earlgrey::ImageError &error) {
    std::fprintf(stderr, "lockstep: %s\n", error.what());
    return 2;
}

} // namespace lockstep
