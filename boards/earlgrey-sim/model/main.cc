// SPDX-License-Identifier: Apache-2.0 OR MIT
// The simulator's main loop: a cycle of the core and a cycle of the bus, until an end condition.
#include "image.h"
#include "marks.h"
#include "options.h"
#include "retirement.h"
#include "suite_watch.h"
#include "terminal.h"
#include "waves.h"
#include SYSTEM_H

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <optional>

extern "C" const uint8_t boot_rom_begin[], boot_rom_end[];

namespace earlgrey {
namespace {

// Exit codes, and the reasons printed for them in the last line.
enum Exit {
    kClosed = 0,
    kCannot = 1,
    kUsage = 2,
    kAsleep = 3,
    kLimit = 4,
    kLockup = 5,
    kMail = 6,
    kPanic = 7,
    kSilent = 8,
    kBite = 9
};
constexpr const char *kReason[] = {"suite-closed", "error",   "usage", "asleep",  "cycle-limit",
                                   "lockup",       "mailbox", "panic", "silence", "watchdog"};

class Simulation {
public:
    explicit Simulation(const Options &options)
        : options_(options), suite_(options.apps), marks_(options.marks, options.panics),
          system_(settings(), options.boot) {
        load_bytes(system_.memories(), boot_rom_begin, boot_rom_end - boot_rom_begin,
                   machine::kRomBase, "boot ROM");
        if (options_.sram_seed)
            system_.memories().sram.fill(options_.sram_seed);
        Loader loader(system_.memories());
        for (const auto &[path, address] : options.files)
            address ? loader.raw(path, *address) : loader.elf(path);
        system_.start();
    }

    int run() {
        if (options_.pty)
            uart_ = terminal_.open(*options_.pty);
        else if (options_.uart != "-")
            uart_ = std::fopen(options_.uart.c_str(), "wb");
        if (!uart_)
            return options_.pty ? kUsage : cannot_write(options_.uart);
        if (!options_.itrace.empty() &&
            !retirements_.open(options_.itrace, options_.from, options_.to))
            return cannot_write(options_.itrace);
        if (!options_.waves.empty() &&
            !waves_.open(system_.core(), options_.waves, options_.from, options_.to))
            return cannot_write(options_.waves);
        const int code = run_loop();
        if (!retirements_.close())
            return cannot_write(options_.itrace);
        if (std::fflush(uart_) != 0 || uart_failed_) {
            std::fprintf(stderr, "earlgrey-sim: writing UART output failed: %s\n",
                         std::strerror(errno));
            return finish(kCannot);
        }
        terminal_.drain();
        return finish(code);
    }

private:
    static int cannot_write(const std::string &path) {
        std::fprintf(stderr, "earlgrey-sim: cannot write %s: %s\n", path.c_str(),
                     std::strerror(errno));
        return kCannot;
    }

    Settings settings() {
        Settings settings;
        settings.uart_cycles_per_byte = options_.uart_cycles;
        settings.uart_sink = [this](uint8_t c) {
            if (marks_.doubles(c))
                uart_failed_ |= std::putc(c, uart_) == EOF;
            uart_failed_ |= std::putc(c, uart_) == EOF;
            if (c == '\n')
                uart_failed_ |= std::fflush(uart_) != 0;
            suite_.byte(c, marks_.panicked());
            longest_silence_ = std::max(longest_silence_, now_ - last_byte_);
            last_byte_ = now_;
            if (suite_.over())
                end();
        };
        settings.cpuctrl = options_.icache ? 1 : 0;
        settings.sram_exec = options_.sram_exec;
        settings.mailbox = options_.mailbox;
        settings.mail = [this](uint32_t offset, uint32_t word) {
            if (offset == 0) {
                std::fprintf(uart_, "%u\n", word);
            } else {
                end();
                end_ = word ? kMail : kClosed;
            }
        };
        settings.bite = [this] {
            end();
            end_ = kBite;
        };
        return settings;
    }

    int run_loop() {
#if defined(TRACES_INSTRUCTIONS) && !defined(ENGINE_RTL)
        if (!options_.itrace.empty())
            return loop([this] { system_.trace_core(now_, retirements_); });
#endif
        return loop([this] { system_.step_core(now_); });
    }

    template <typename Step> int loop(Step &&step_core) {
        const Core &core = system_.core();
        plan();
        for (;;) {
            step_core();
            waves_.cycle(now_);
            if (marks_.watches(core.pc())) [[unlikely]]
                mark();
            system_.step_bus(now_);
            ++now_;
            if (now_ < stop_ && now_ < system_.next_event() && !core.asleep() &&
                !core.double_fault())
                continue;
            if (const std::optional<int> code = look())
                return *code;
        }
    }

    // Looks whether anything but a plain cycle is due. Returns the exit code if the run is over.
    std::optional<int> look() {
        const Core &core = system_.core();
        if (now_ != looked_ + 1)
            asleep_for_ = 0; // the core was awake in between
        if (system_.next_event() <= now_) {
            system_.advance_devices(now_);
            asleep_for_ = 0; // the device may wake the core
        }
        if (over_)
            return end_;
        if (core.double_fault() && locked_up())
            return kLockup;
        // An interrupt takes a few cycles to wake the core; a masked one never does.
        asleep_for_ = core.asleep() && system_.idle() ? asleep_for_ + 1 : 0;
        if (asleep_for_ > kWakes && !skip_sleep())
            return marks_.panicked() ? kPanic : kAsleep;
        if (now_ >= options_.max_cycles)
            return kLimit;
        if (now_ >= silent_at())
            return kSilent;
        if (now_ >= status_at_) {
            status_at_ = now_ + kStatusEvery;
            status();
            if (marks_.panicked() && now_ - last_byte_ > kQuiet + options_.uart_cycles)
                return kPanic;
            if (uart_failed_)
                return kCannot;
        }
        looked_ = now_;
        plan();
        return std::nullopt;
    }

    // Sets the cycle of the next look. A byte moves the end of the silence, but only to later.
    void plan() { stop_ = over_ ? 0 : std::min({status_at_, options_.max_cycles, silent_at()}); }

    // Ends the run with the next look.
    void end() {
        over_ = true;
        plan();
    }

    // Marks wait for the end of the current UART line, so that no line is split.
    void mark() {
        const Core &core = system_.core();
        marks_.cycle(now_, core.pc(), core.refused(), core.asleep(), system_.timer_irq(),
                     system_.external_irq(), core.trap_vector());
        if (marks_.can_print())
            uart_failed_ |= std::fputs(marks_.take().c_str(), uart_) == EOF;
    }

    // A single fault in a fault handler is not a lock-up: the kernel may report it next. A core
    // that does nothing else is locked up.
    bool locked_up() {
        faults_ = now_ - last_fault_ < kFaultApart ? faults_ + 1 : 1;
        if (faults_ == 1)
            retirements_.mark();
        last_fault_ = now_;
        return faults_ >= kFaultsInARow;
    }

    // Nothing happens until a device's next event, so jump there.
    bool skip_sleep() {
        const Cycle event = system_.next_event();
        if (event == kNever)
            return false;
        now_ = std::max(now_, std::min({event, options_.max_cycles, silent_at()}));
        system_.advance_devices(now_);
        asleep_for_ = 0;
        return true;
    }

    // The cycle when the silence will be too long unless a byte is sent before.
    Cycle silent_at() const {
        return options_.silence > kNever - last_byte_ ? kNever : last_byte_ + options_.silence;
    }

    double wall() const {
        return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
    }

    void status() {
        if (options_.status_seconds <= 0 || wall() < next_status_)
            return;
        next_status_ = wall() + options_.status_seconds;
        std::fprintf(stderr, "earlgrey-sim: status cycles=%llu wall=%.2f\n",
                     static_cast<unsigned long long>(now_), wall());
    }

    int finish(int code) {
        const Core &core = system_.core();
        const bool ended_well = code == kClosed || code == kMail;
        if (!ended_well)
            retirements_.explain(stderr, code == kLockup);
        if (options_.touched || (retirements_.any() && !ended_well))
            for (const auto &[name, times] : system_.touched())
                std::fprintf(stderr, "earlgrey-sim: touched %s %llu times\n", name.c_str(),
                             static_cast<unsigned long long>(times));
        if (!ended_well)
            std::fprintf(
                stderr, "earlgrey-sim: at pc=0x%08x mepc=0x%08x mtval=0x%08x last-data=0x%08x\n",
                core.pc(), core.exception_pc(), core.exception_addr(), core.last_data_addr());
        if (code == kPanic && !suite_.panic().empty())
            std::fprintf(stderr, "earlgrey-sim: %s\n", suite_.panic().c_str());
        if (code == kSilent)
            std::fprintf(stderr, "earlgrey-sim: no output for %.3g M cycles\n",
                         static_cast<double>(options_.silence) / 1e6);
        std::fprintf(
            stderr, "earlgrey-sim: end reason=%s cycles=%llu instret=%u silence=%llu wall=%.2f\n",
            kReason[code], static_cast<unsigned long long>(now_), core.minstret(),
            static_cast<unsigned long long>(std::max(longest_silence_, now_ - last_byte_)), wall());
        return code;
    }

    static constexpr Cycle kStatusEvery = 1 << 14;
    static constexpr Cycle kWakes = 4;
    static constexpr Cycle kQuiet = 1'000'000; // after a panic: the kernel's output is complete
    static constexpr Cycle kFaultApart = 1000;
    static constexpr unsigned kFaultsInARow = 16;

    const Options &options_;
    Terminal terminal_;
    std::FILE *uart_ = stdout;
    bool uart_failed_ = false;
    bool over_ = false;
    int end_ = kClosed; // the exit code then
    SuiteWatch suite_;
    Marks marks_;
    System system_;
    Waves waves_;
    Cycle now_ = 0;
    Cycle stop_ = 0; // look() is called then at the latest
    Cycle looked_ = 0;
    Cycle status_at_ = kStatusEvery;
    Retirements retirements_{now_};
    Cycle asleep_for_ = 0;
    Cycle last_byte_ = 0;
    Cycle longest_silence_ = 0;
    Cycle last_fault_ = 0;
    unsigned faults_ = 0;
    std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
    double next_status_ = 0;
};

} // namespace
} // namespace earlgrey

int main(int argc, char **argv) {
    const earlgrey::Options options = earlgrey::parse_options(argc, argv);
    try {
        return earlgrey::Simulation(options).run();
    } catch (const earlgrey::ImageError &error) {
        std::fprintf(stderr, "earlgrey-sim: %s\n", error.what());
        return earlgrey::kUsage;
    }
}
