// SPDX-License-Identifier: Apache-2.0 OR MIT
// Prints instructions as lines and keeps the last ones. A line:
//
//    cycle  mcycle mode pc insn cycles waits effects
//
// `cycles` counts the core cycles since the previous instruction left the decode stage: one to
// leave, plus the waits. Waits: f for the fetch of the instruction, w for the previous load or
// store, m for the bus to accept its own, x to multiply or divide, b to branch, o for the rest,
// which is traps and CSRs. Effects: `fills`, the lines that the instruction cache filled in these
// cycles; `trap`, it took an exception; `handler`, it is the first of a trap handler; the register
// written; the memory read (<) or written (>).
#include "retirement.h"

#ifdef TRACES_INSTRUCTIONS
#ifdef VARIANT_RETIRE
#include "Vcore__Dpi.h"
#endif

namespace earlgrey {

Retirements *Retirements::listening_ = nullptr;

namespace {
constexpr const char *kHeading = "#    cycle     mcycle m pc       insn     cyc waits    effects\n";
constexpr char kModes[] = {'U', 'S', 'H', 'M'};
constexpr char kWaits[kSpents] = {0, 'f', 'w', 'm', 'x', 'b', 'o'};

template <typename... Values> std::string text(const char *format, Values... values) {
    char buffer[160];
    std::snprintf(buffer, sizeof buffer, format, values...);
    return buffer;
}
} // namespace

std::string Retired::line() const {
    unsigned cycles = 0;
    std::string waits;
    for (unsigned i = 0; i < kSpents; ++i) {
        cycles += spent[i];
        if (kWaits[i] && spent[i])
            waits += text("%c%u", kWaits[i], spent[i]);
    }
    const bool compressed = (insn & 3) != 3;
    // The port has an address for every instruction, but only these use it. Compressed: lw, lwsp;
    // sw, swsp.
    const bool load =
        (insn & 0x7f) == 0x03 || (insn & 0xe003) == 0x4000 || (insn & 0xe003) == 0x4002;
    std::string out =
        text("%10llu %10llu %c %08x %*s%0*x %3u %-8s", static_cast<unsigned long long>(cycle),
             static_cast<unsigned long long>(mcycle), kModes[mode & 3], pc, compressed ? 4 : 0, "",
             compressed ? 4 : 8, insn, cycles, waits.empty() ? "-" : waits.c_str());
    if (fills)
        out += text(" fills=%u", fills);
    if (trap)
        out += " trap";
    if (handler)
        out += " handler";
    if (rd)
        out += text(" x%u=%08x", rd, rd_value);
    if (mem_write)
        out += text(" %08x>%08x/%u", mem_addr, mem_value, __builtin_popcount(mem_write));
    else if (load)
        out += text(" %08x</%u", mem_addr, __builtin_popcount(mem_read));
    return out;
}

Retirements::~Retirements() {
    close();
    listening_ = nullptr;
}

bool Retirements::open(const std::string &path, Cycle from, Cycle to) {
    from_ = from;
    to_ = to;
    file_ = path == "-" ? stdout : std::fopen(path.c_str(), "w");
    return file_ && std::fputs(kHeading, file_) >= 0;
}

bool Retirements::close() {
    if (!file_)
        return true;
    const bool written = !std::ferror(file_) && std::fflush(file_) == 0;
    const bool closed = file_ == stdout || std::fclose(file_) == 0;
    file_ = nullptr;
    return written && closed;
}

void Retirements::explain(std::FILE *out, bool at_mark) const {
    if (!any())
        return;
    const Past &past = at_mark ? marked_ : past_;
    std::fprintf(out, "earlgrey-sim: the last instructions%s\n%s",
                 at_mark ? " when a fault handler first faulted" : "", kHeading);
    const uint64_t first = past.count > Past::kLast ? past.count - Past::kLast : 0;
    for (uint64_t i = first; i < past.count; ++i)
        std::fprintf(out, "%s\n", past.last[i % Past::kLast].line().c_str());
    std::fprintf(out, "earlgrey-sim: the registers after them\n");
    for (unsigned i = 0; i < past.registers.size(); ++i)
        std::fprintf(out, "%*sx%u=%08x%s", i < 10 ? 4 : 3, "", i, past.registers[i],
                     i % 8 == 7 ? "\n" : "");
}

void Retirements::core_cycle(Spent what, uint64_t mcycle) {
    ++spent_[what];
    if (what != kLeaves)
        return;
    if (left_.full())
        left_.pop(); // never observed; a gap in the trace is better than an overflow
    Retired leaving;
    leaving.cycle = now_;
    leaving.mcycle = mcycle;
    leaving.spent = spent_;
    leaving.fills = fills_;
    left_.push(leaving);
    spent_ = {};
    fills_ = 0;
}

void Retirements::retired(Retired instruction) {
    if (!left_.empty()) {
        instruction.cycle = left_.front().cycle;
        instruction.mcycle = left_.front().mcycle;
        instruction.spent = left_.front().spent;
        instruction.fills = left_.front().fills;
        left_.pop();
    }
    past_.registers[instruction.rd & 31] = instruction.rd_value;
    past_.last[past_.count++ % Past::kLast] = instruction;
    if (file_ && instruction.cycle >= from_ && instruction.cycle <= to_)
        std::fprintf(file_, "%s\n", instruction.line().c_str());
}

} // namespace earlgrey
#endif

#ifdef VARIANT_RETIRE
// --- called by rtl/retirement.sv and rtl/fills.sv -----------------------------------------------

extern "C" void earlgrey_core_cycle(uint8_t what, unsigned long long mcycle) {
    if (auto *listening = earlgrey::Retirements::listening_)
        listening->core_cycle(static_cast<earlgrey::Spent>(what), mcycle);
}

extern "C" void earlgrey_cache_fill() {
    if (auto *listening = earlgrey::Retirements::listening_)
        listening->cache_fill();
}

extern "C" void earlgrey_core_retired(unsigned char trap, unsigned char intr, uint8_t mode,
                                      uint32_t pc, uint32_t insn, uint8_t rd, uint32_t rd_value,
                                      uint32_t mem_addr, uint8_t mem_read, uint8_t mem_write,
                                      uint32_t mem_value) {
    auto *listening = earlgrey::Retirements::listening_;
    if (!listening)
        return;
    earlgrey::Retired instruction;
    instruction.trap = trap;
    instruction.handler = intr;
    instruction.mode = mode;
    instruction.pc = pc;
    instruction.insn = insn;
    instruction.rd = rd;
    instruction.rd_value = rd_value;
    instruction.mem_addr = mem_addr;
    instruction.mem_read = mem_read;
    instruction.mem_write = mem_write;
    instruction.mem_value = mem_value;
    listening->retired(instruction);
}

#endif
