// SPDX-License-Identifier: Apache-2.0 OR MIT
// Runs the fast core and the RTL in lockstep: random programs. (Boots: boot_core.h.)
// Exit codes: 0 equal, 1 a difference, 2 a wrong option, 3 the programs were too weak.
#include "pair.h"
#include "program.h"
#include "random_bus.h"
#include "statistics.h"

#include <chrono>
#include <cstdlib>
#include <cstring>

namespace lockstep {
namespace {

constexpr const char *kHelp =
    "usage: lockstep [--seed N] [--cycles N] [--flavour csr|user|cache] [--every N]\n"
    "       lockstep --program N --flavour NAME     one program, all compared in each cycle;\n"
    "                                           at its end (or after --cycles), the last cycles\n"
    "  --seed N       the first program's number (default: 1)\n"
    "  --cycles N     stop after about N cycles (default: 10,000,000)\n"
    "  --every N      compare registers and CSRs every N cycles (default: 16)\n"
    "  --statistics   print what the programs did, and fail if they left anything out\n";

struct Arguments {
    uint64_t seed = 1, cycles = 0;
    unsigned every = 16;
    bool statistics = false, single = false;
    int flavour = -1;
};

// Random code soon loops. So there is new code where the core is or will be, and an interrupt when
// it sleeps.
void keep_going(const RtlProbe &rtl, Program &program, RandomBus &bus, Statistics &statistics,
                Rng &rng) {
    if (rtl.asleep() && rng.one_in(2))
        bus.wake();
    if (rng.one_in(2)) {
        const uint32_t place = rtl.pc() + rng.below(64) - 16;
        program.renew(place);
        statistics.renewed(place);
    }
}

// Returns whether the program ended without a difference.
bool run_program(uint64_t seed, Flavour flavour, unsigned every, Statistics &statistics,
                 uint64_t &cycles, uint64_t last = 0) {
    Program program(seed, flavour);
    Rng rng(seed ^ 0xc4a05);
    RandomBus bus(seed ^ 0x5eed, program);
    Pair pair(program.boot_address, every);
    const unsigned length = 4000 + rng.below(24000);
    const uint64_t end = last ? std::min<uint64_t>(last, length) : length;
    const unsigned patience = flavour == Flavour::kCache ? 2000 : 600;
    statistics.begin_program();
    uint64_t places = statistics.places();
    unsigned new_at = 0;
    for (unsigned cycle = 0; cycle < end; ++cycle) {
        const bool equal = pair.cycle(bus.in, bus.timer, bus.external);
        statistics.cycle(pair.rtl(), bus.timer, bus.external);
        ++cycles;
        if (!equal) {
            if (every > 1) { // again, to find the first cycle
                std::printf("lockstep: a difference after %llu cycles\n",
                            static_cast<unsigned long long>(cycles));
                Statistics again;
                return run_program(seed, flavour, 1, again, cycles);
            }
            std::printf("lockstep: --program %llu --flavour %s\n",
                        static_cast<unsigned long long>(seed),
                        kFlavours[static_cast<unsigned>(flavour)]);
            pair.print_difference(stdout);
            return false;
        }
        bus.step(pair.rtl().requests());
        if (cycle % 64 == 63)
            keep_going(pair.rtl(), program, bus, statistics, rng);
        // Leave a program that only loops, traps or sleeps in spite of new code.
        if (statistics.places() != places)
            places = statistics.places(), new_at = cycle;
        if (cycle - new_at > patience)
            break;
    }
    if (last)
        pair.print_history(stdout);
    return true;
}

int run_random(const Arguments &arguments) {
    Statistics statistics;
    const auto start = std::chrono::steady_clock::now();
    const uint64_t limit = arguments.cycles ? arguments.cycles : 10'000'000;
    uint64_t cycles = 0;
    for (uint64_t seed = arguments.seed; cycles < limit; ++seed) {
        const unsigned flavour =
            arguments.flavour >= 0
                ? static_cast<unsigned>(arguments.flavour)
                : static_cast<unsigned>(seed % static_cast<unsigned>(Flavour::kCount));
        if (!run_program(seed, static_cast<Flavour>(flavour), arguments.every, statistics, cycles,
                         arguments.single ? limit : 0))
            return 1;
        if (arguments.single)
            break;
    }
    const double seconds =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    std::printf("lockstep: equal over %llu cycles (%.2f M cycles a second), seeds from %llu\n",
                static_cast<unsigned long long>(cycles), cycles / seconds / 1e6,
                static_cast<unsigned long long>(arguments.seed));
    if (arguments.statistics) {
        statistics.print(stdout);
        if (!statistics.complete(stdout))
            return 3;
    }
    return 0;
}

int usage(const char *problem) {
    std::fprintf(stderr, "lockstep: %s\n%s", problem, kHelp);
    return 2;
}

int run(int argc, char **argv) {
    Arguments arguments;
    for (int i = 1; i < argc; ++i) {
        const char *option = argv[i];
        const auto is = [&](const char *name) { return std::strcmp(option, name) == 0; };
        if (is("--help")) {
            std::fputs(kHelp, stdout);
            return 0;
        }
        if (is("--statistics")) {
            arguments.statistics = true;
            continue;
        }
        if (++i == argc)
            return usage("an option lacks its value");
        const char *value = argv[i];
        const uint64_t number = std::strtoull(value, nullptr, 0);
        if (is("--seed"))
            arguments.seed = number;
        else if (is("--cycles"))
            arguments.cycles = number;
        else if (is("--every"))
            arguments.every = number ? static_cast<unsigned>(number) : 1;
        else if (is("--program"))
            arguments.seed = number, arguments.every = 1, arguments.single = true;
        else if (is("--flavour")) {
            for (unsigned flavour = 0; flavour < static_cast<unsigned>(Flavour::kCount); ++flavour)
                if (std::strcmp(value, kFlavours[flavour]) == 0)
                    arguments.flavour = static_cast<int>(flavour);
            if (arguments.flavour < 0)
                return usage("unknown flavour");
        } else
            return usage("unknown option");
    }
    return run_random(arguments);
}

} // namespace
} // namespace lockstep

int main(int argc, char **argv) { return lockstep::run(argc, argv); }
