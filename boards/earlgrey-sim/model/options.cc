// SPDX-License-Identifier: Apache-2.0 OR MIT
// The command line: a table of options, their help text and their effects.
#include "options.h"

#include "machine.h"
#include "retirement.h"
#include "waves.h"
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <getopt.h>

namespace earlgrey {

namespace {

constexpr const char *kHelp =
    "earlgrey-sim: a cycle-accurate simulated Earl Grey (Ibex RTL, modelled memories and devices)\n"
    "\n"
    "  --flash FILE        raw flash image, from 0x20000000\n"
    "  --elf FILE          load an ELF's segments (may be given more than once)\n"
    "  --load FILE@ADDR    load a file's bytes at an address\n"
    "                      Of several files the later wins, and an overlap is told\n"
    "  --icache on|off     instruction cache, as the boot ROM sets it (default on)\n"
    "  --sram-exec on|off|register\n"
    "                      whether code in main SRAM may be executed: as the life cycle says, or "
    "as\n"
    "                      the register EXEC does where the machine has it (default on)\n"
    "  --sram-seed N       what main SRAM holds at the start: 0 is zeros (default), another "
    "number\n"
    "                      random words of its own\n"
    "  --boot ADDR         start at ADDR + 0x80 instead of in the boot ROM\n"
    "  --max-cycles N      stop after N cycles (default 2000000000)\n"
    "  --silence N         stop after N cycles without a byte of the UART\n"
    "  --app NAME          the suite closes when this app has ended, of several when all have;\n"
    "                      without it as many as the first says that there are\n"
    "  --panic ADDR        the kernel's panic begins at ADDR; of several the first that is "
    "reached\n"
    "  --uart FILE|-       where UART bytes go (default -, standard output)\n"
    "  --uart pty[:LINK]   a pseudo-terminal instead; its name comes on standard error, and LINK\n"
    "                      is a link to it for as long as the run takes\n"
    "  --uart-cycles N     cycles that a byte takes on the line (default 16)\n"
    "  --status SECONDS    a progress line on standard error every so often\n"
    "  --touched           tell at the end which devices without a model were accessed\n"
    "  --mailbox ADDR      print words stored at ADDR; a word stored at ADDR+4 ends the run\n"
    "  --mark NAME=ADDR    print «CYCLE NAME» whenever the core comes by ADDR: a line among those\n"
    "                      of the UART that begins with the byte 0x1e, as none of them does (one\n"
    "                      that did gets a second)\n"
    "  --mark irq          likewise when its interrupt line rises; trap: when it takes an\n"
    "                      interrupt; wake: when it goes on after a sleep; reset: at the start.\n"
    "                      At most 100000 lines, then one that says full\n"
    "  --itrace FILE|-     every retired instruction, a line each; if the run fails, also the "
    "last\n"
    "                      ones on standard error (for RTL only in a build by `make sim-retire`)\n"
    "  --trace FILE        the core's signals as FST waves (needs a build by `make sim-waves`)\n"
    "  --from N, --to N    trace only these cycles\n"
    "\n"
    "exit: 0 suite closed (or mailbox closed with 0), 1 cannot go on, 2 usage or unusable input,\n"
    "      3 asleep and nothing can wake the core, 4 cycle limit, 5 core locked up,\n"
    "      6 mailbox closed with another word, 7 the kernel panicked, 8 silence\n"
    "\n"
    "example: earlgrey-sim --flash board.bin --icache off --max-cycles 50000000\n";

[[noreturn]] void usage(const std::string &problem) {
    std::fprintf(stderr, "earlgrey-sim: %s; see --help\n", problem.c_str());
    std::exit(2);
}

uint64_t number(const char *option, const char *text, uint64_t least, uint64_t most) {
    char *end = nullptr;
    errno = 0;
    const uint64_t value = std::strtoull(text, &end, 0);
    if (errno || *text == '-' || end == text || *end || value < least || value > most)
        usage(std::string("--") + option + " " + text + " is not a number from " +
              std::to_string(least) + " to " + std::to_string(most));
    return value;
}

bool is_on(const char *option, const std::string &text) {
    if (text != "on" && text != "off")
        usage(std::string("--") + option + " is on or off, not " + text);
    return text == "on";
}

SramExec sram_exec(const std::string &text) {
    if (text == "on" || text == "off")
        return text == "on" ? SramExec::kOn : SramExec::kOff;
    if (machine::kSramControls.empty())
        usage("--sram-exec is on or off, not " + text);
    if (text != "register")
        usage("--sram-exec is on, off or register, not " + text);
    return SramExec::kRegister;
}

Mark mark(const std::string &text) {
    const auto at = text.find('=');
    const std::string name = text.substr(0, at);
    const bool own =
        name == "irq" || name == "trap" || name == "wake" || name == "reset" || name == "full";
    if (at == std::string::npos) {
        if (!own || name == "full")
            usage("--mark wants NAME=ADDR, or one of irq, trap, wake, reset");
        return {name, std::nullopt};
    }
    constexpr const char *kLetters = "abcdefghijklmnopqrstuvwxyz0123456789_";
    if (own || name.empty() || name.find_first_not_of(kLetters) != std::string::npos)
        usage("--mark " + text + " has no name of small letters, or one of the simulator's own");
    return {name, static_cast<uint32_t>(number("mark", text.c_str() + at + 1, 0, 0xffffffff))};
}

} // namespace

Options parse_options(int argc, char **argv) {
    enum {
        kFlash,
        kElf,
        kLoad,
        kIcache,
        kSramExec,
        kSramSeed,
        kBoot,
        kMax,
        kSilence,
        kApp,
        kPanicAt,
        kUart,
        kPace,
        kStatus,
        kTouched,
        kMail,
        kMark,
        kItrace,
        kTrace,
        kFrom,
        kTo,
        kHelpO
    };
    static const option kTable[] = {
        {"flash", 1, nullptr, kFlash},
        {"elf", 1, nullptr, kElf},
        {"load", 1, nullptr, kLoad},
        {"icache", 1, nullptr, kIcache},
        {"sram-exec", 1, nullptr, kSramExec},
        {"sram-seed", 1, nullptr, kSramSeed},
        {"boot", 1, nullptr, kBoot},
        {"max-cycles", 1, nullptr, kMax},
        {"silence", 1, nullptr, kSilence},
        {"app", 1, nullptr, kApp},
        {"panic", 1, nullptr, kPanicAt},
        {"uart", 1, nullptr, kUart},
        {"uart-cycles", 1, nullptr, kPace},
        {"status", 1, nullptr, kStatus},
        {"touched", 0, nullptr, kTouched},
        {"mailbox", 1, nullptr, kMail},
        {"mark", 1, nullptr, kMark},
        {"itrace", 1, nullptr, kItrace},
        {"trace", 1, nullptr, kTrace},
        {"from", 1, nullptr, kFrom},
        {"to", 1, nullptr, kTo},
        {"help", 0, nullptr, kHelpO},
        {nullptr, 0, nullptr, 0},
    };
    constexpr uint64_t kAddress = 0xffffffff;
    Options options;
    opterr = 0;
    for (;;) {
        int index = 0;
        const int choice = getopt_long(argc, argv, "", kTable, &index);
        if (choice == -1)
            break;
        const char *name = choice == '?' ? "" : kTable[index].name;
        const std::string value = optarg ? optarg : "";
        switch (choice) {
        case kFlash:
            options.files.emplace_back(value, machine::kFlashBase);
            break;
        case kElf:
            options.files.emplace_back(value, std::nullopt);
            break;
        case kLoad: {
            const auto at = value.rfind('@');
            if (at == std::string::npos)
                usage("--load wants FILE@ADDR");
            const uint64_t address = number(name, value.c_str() + at + 1, 0, kAddress);
            options.files.emplace_back(value.substr(0, at), static_cast<uint32_t>(address));
            break;
        }
        case kIcache:
            options.icache = is_on(name, value);
            break;
        case kSramExec:
            options.sram_exec = sram_exec(value);
            break;
        case kSramSeed:
            options.sram_seed = static_cast<uint32_t>(number(name, optarg, 0, kAddress));
            break;
        case kBoot:
            options.boot = static_cast<uint32_t>(number(name, optarg, 0, kAddress));
            break;
        case kMax:
            options.max_cycles = number(name, optarg, 1, ~uint64_t{0});
            break;
        case kSilence:
            options.silence = number(name, optarg, 1, ~uint64_t{0});
            break;
        case kApp:
            options.apps.push_back(value);
            break;
        case kPanicAt:
            options.panics.push_back(static_cast<uint32_t>(number(name, optarg, 0, kAddress)));
            break;
        case kUart:
            options.uart = value;
            options.pty.reset();
            if (value == "pty")
                options.pty = "";
            else if (value.starts_with("pty:"))
                options.pty = value.substr(4);
            if (value == "pty:")
                usage("--uart pty:LINK wants the path of a link");
            break;
        case kPace:
            options.uart_cycles = number(name, optarg, 1, 1'000'000);
            break;
        case kStatus:
            options.status_seconds = std::atof(optarg);
            if (options.status_seconds <= 0)
                usage("--status wants seconds above 0");
            break;
        case kTouched:
            options.touched = true;
            break;
        case kMail:
            options.mailbox = static_cast<uint32_t>(number(name, optarg, 0, kAddress));
            break;
        case kMark:
            options.marks.push_back(mark(value));
            break;
        case kItrace:
            if (!Retirements::kBuilt)
                usage("--itrace wants a simulator built with VARIANT=retire: `make sim-retire`");
            options.itrace = value;
            break;
        case kTrace:
            if (!Waves::kBuilt)
                usage("--trace wants a simulator built with VARIANT=waves: `make sim-waves`");
            options.waves = value;
            break;
        case kFrom:
            options.from = number(name, optarg, 0, ~uint64_t{0});
            break;
        case kTo:
            options.to = number(name, optarg, 0, ~uint64_t{0});
            break;
        case kHelpO:
            std::fputs(kHelp, stdout);
            std::exit(0);
        default:
            usage(std::string("unknown option or missing value: ") + argv[optind - 1]);
        }
    }
    if (optind < argc)
        usage(std::string("unexpected argument ") + argv[optind]);
    if (options.files.empty())
        usage("nothing to run: give --flash or --elf");
    return options;
}

} // namespace earlgrey
