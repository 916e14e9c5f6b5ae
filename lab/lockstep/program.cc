// SPDX-License-Identifier: Apache-2.0 OR MIT
// The generator of random programs.
//
// The memory repeats over the address space, so a program survives any jump. Layout (64 KiB):
//   0x0000  first vectors, start (0x80)
//   0x1000  handlers
//   0x0400, 0x0800, ...  vectors again: any mtvec leads to some code, often to these
//   0xf000  data, also at the negative addresses that x0 reaches
// All else is random code. Registers with a use: x2, x8 and x9 hold addresses, x28 and x29 count
// loops, x30 and x31 belong to the handlers. Random code seldom overwrites them.
#include "program.h"

#include "instructions.h"

namespace lockstep {
namespace {

constexpr uint32_t kData = 0xf000;
constexpr uint32_t kHandlers = 0x1000, kHandlerSize = 0x100;
constexpr unsigned kHandlerCount = 6;

// Every CSR of the configuration, and some that it lacks.
constexpr uint16_t kCsrs[] = {
    0x300, 0x301, 0x304, 0x305, 0x306, 0x30a, 0x310, 0x31a, 0x320, 0x323, 0x324, 0x32c, 0x32d,
    0x33f, 0x340, 0x341, 0x342, 0x343, 0x344, 0x3a0, 0x3a1, 0x3a2, 0x3a3, 0x3b0, 0x3b1, 0x3b2,
    0x3b3, 0x3b4, 0x3b5, 0x3b6, 0x3b7, 0x3b8, 0x3b9, 0x3ba, 0x3bb, 0x3bc, 0x3bd, 0x3be, 0x3bf,
    0x5a8, 0x747, 0x757, 0x7a0, 0x7a1, 0x7a2, 0x7a3, 0x7a8, 0x7aa, 0x7c0, 0x7c1, 0xb00, 0xb02,
    0xb03, 0xb04, 0xb05, 0xb06, 0xb07, 0xb08, 0xb09, 0xb0a, 0xb0b, 0xb0c, 0xb0d, 0xb1f, 0xb80,
    0xb82, 0xb83, 0xb84, 0xb87, 0xb8a, 0xb8c, 0xb8d, 0xb9f, 0xf11, 0xf12, 0xf13, 0xf14, 0xf15};
// Of a debugger, of user mode, and others.
constexpr uint16_t kAbsentCsrs[] = {0x7b0, 0x7b1, 0x7b2, 0x7b3, 0xc00, 0xc02,
                                    0x100, 0x000, 0x3a4, 0x3c0, 0xb01, 0x30b};
constexpr uint16_t kCounters[] = {0xb00, 0xb02, 0xb03, 0xb04, 0xb05, 0xb06, 0xb07,
                                  0xb08, 0xb09, 0xb0a, 0xb0b, 0xb0c, 0xb80, 0xb82};

} // namespace

class Program::Generator {
public:
    Generator(Program &program, uint64_t seed, Flavour flavour)
        : rng_(seed), flavour_(flavour), words_(program.words) {
        words_.resize(kSize / 4);
        starts_.resize(kSize / 2);
        promised_.resize(kSize / 2);
        base_ = rng_.pick(
            {0x00000000u, 0x10000000u, 0x20000000u, 0x7fff0000u, 0x80000000u, 0xffff0000u});
        do
            refused_region_ = rng_.percent(50) ? 16 : rng_.below(16);
        while (refused_region_ == base_ >> 28 || refused_region_ == 0 || refused_region_ == 15);
        for (uint32_t &edge : edges_)
            edge = base_ + (rng_.one_in(3) ? kData + rng_.below(0x1000) : rng_.below(0xf000));
        strict_ = flavour == Flavour::kUser && rng_.percent(40);
        if (flavour == Flavour::kUser && rng_.percent(40))
            for (uint32_t &edge : edges_)
                edge &= ~7u;
    }

    uint32_t base() const { return base_; }
    uint32_t refused_region() const { return refused_region_; }

    void make() {
        for (at_ = 0; at_ < kSize - 4;)
            block();
        at_ = kData - 4;
        jump(0, kHandlers + kHandlerCount * kHandlerSize); // not into the data
        for (uint32_t vectors = 0; vectors < kData; vectors += 0x400)
            if (vectors < kHandlers || vectors >= kHandlers + kHandlerCount * kHandlerSize)
                if (vectors == 0 || rng_.percent(70))
                    place_vectors(vectors);
        for (unsigned i = 0; i < kHandlerCount; ++i) {
            at_ = kHandlers + i * kHandlerSize;
            handler(i);
        }
        if (flavour_ == Flavour::kCache || rng_.one_in(4))
            for (unsigned i = 0; i < 3; ++i)
                ring();
        at_ = 0x80;
        start();
    }

    void renew(uint32_t address) {
        const uint32_t start = address % kSize & ~3u, end = start + 32 + rng_.below(64);
        if (start < 0x30 || (start < kHandlers + kHandlerCount * kHandlerSize && end > kHandlers))
            return;
        for (at_ = start; at_ < end;)
            block();
    }

private:
    // --- writing instructions ---

    void put16(uint32_t half) {
        uint32_t &word = words_[at_ % Program::kSize / 4];
        word = at_ & 2 ? (word & 0xffff) | half << 16 : (word & ~0xffffu) | (half & 0xffff);
        at_ += 2;
    }
    // In random code, no instruction lies across a place to which others jump.
    void put(uint32_t insn) {
        const bool wide = (insn & 3) == 3;
        if (wide && pad_ && promised_[place(at_ + 2)])
            put(0x0001);
        starts_[place(at_)] = true;
        put16(insn & 0xffff);
        if (wide) {
            starts_[place(at_)] = false;
            put16(insn >> 16);
        }
    }
    static uint32_t place(uint32_t address) { return address % kSize / 2; }

    // Near `address`, a place where an instruction starts, or will start.
    uint32_t start_near(uint32_t address) {
        for (uint32_t i = 0; i < 8; ++i)
            if (starts_[place(address + 2 * i)])
                return address + 2 * i;
        promised_[place(address)] = true;
        return address;
    }
    void i_type(uint32_t opcode, uint32_t funct3, unsigned rd, unsigned rs1, int32_t imm) {
        put(static_cast<uint32_t>(imm) << 20 | rs1 << 15 | funct3 << 12 | rd << 7 | opcode);
    }
    void s_type(uint32_t funct3, unsigned rs1, unsigned rs2, int32_t imm) {
        const auto bits = static_cast<uint32_t>(imm);
        put((bits >> 5 & 127) << 25 | rs2 << 20 | rs1 << 15 | funct3 << 12 | (bits & 31) << 7 |
            0x23);
    }
    void addi(unsigned rd, unsigned rs1, int32_t imm) { i_type(0x13, 0, rd, rs1, imm); }
    void li(unsigned rd, uint32_t value) {
        put(((value + 0x800) & 0xfffff000) | rd << 7 | 0x37);
        addi(rd, rd, static_cast<int32_t>(value << 20) >> 20);
    }
    void lw(unsigned rd, unsigned rs1, int32_t imm) { i_type(0x03, 2, rd, rs1, imm); }
    void sw(unsigned rs2, unsigned rs1, int32_t imm) { s_type(2, rs1, rs2, imm); }
    void csr(uint32_t funct3, unsigned rd, uint32_t address, unsigned rs1) {
        put(address << 20 | rs1 << 15 | funct3 << 12 | rd << 7 | 0x73);
    }
    void csrw(uint32_t address, unsigned rs1) { csr(1, 0, address, rs1); }
    void csrr(unsigned rd, uint32_t address) { csr(2, rd, address, 0); }
    void jump(unsigned rd, uint32_t target) {
        put(jal_bits(static_cast<int32_t>(target - at_)) | rd << 7 | 0x6f);
    }
    void branch(uint32_t funct3, unsigned rs1, unsigned rs2, uint32_t target) {
        put(branch_bits(static_cast<int32_t>(target - at_)) | rs2 << 20 | rs1 << 15 | funct3 << 12 |
            0x63);
    }
    static uint32_t jal_bits(int32_t offset) {
        const auto bits = static_cast<uint32_t>(offset);
        return (bits >> 20 & 1) << 31 | (bits >> 1 & 0x3ff) << 21 | (bits >> 11 & 1) << 20 |
               (bits >> 12 & 0xff) << 12;
    }
    static uint32_t branch_bits(int32_t offset) {
        const auto bits = static_cast<uint32_t>(offset);
        return (bits >> 12 & 1) << 31 | (bits >> 5 & 0x3f) << 25 | (bits >> 1 & 0xf) << 8 |
               (bits >> 11 & 1) << 7;
    }

    // --- random parts ---

    template <size_t N> uint32_t any_of(const uint16_t (&values)[N]) {
        return values[rng_.below(N)];
    }
    unsigned any_rd() {
        const unsigned rd = rng_.below(32);
        const bool used = rd == 2 || rd == 8 || rd == 9 || rd >= 28;
        return used && !rng_.one_in(40) ? 10 + rng_.below(8) : rd;
    }
    unsigned any_base() { return rng_.pick({2u, 8u, 9u, 8u, 9u, 0u, 0u + rng_.below(32)}); }
    // Few registers, so that sources are often fresh results.
    unsigned any_source() { return rng_.percent(60) ? 10 + rng_.below(6) : rng_.below(32); }
    unsigned scratch() { return 10 + rng_.below(8); }
    uint32_t any_data() { return base_ + kData + rng_.below(0x1000 - 64); }
    uint32_t any_code() { return base_ + start_near(rng_.below(kData) & ~1u); }
    uint32_t edge() { return edges_[rng_.below(kEdges)]; }
    uint32_t any_value() {
        switch (rng_.below(8)) {
        case 0:
            return rng_.pick({0u, 1u, ~0u, 0x80000000u, 0x7fffffffu, 0xffffu, 2u});
        case 1:
            return 1u << rng_.below(32);
        case 2:
            return ~0u << rng_.below(32);
        case 3:
            return any_data();
        case 4:
            return any_code();
        case 5:
            return rng_.below(64);
        default:
            return rng_.next();
        }
    }
    uint32_t any_pmp_address() {
        switch (rng_.below(16)) {
        case 0:
            return rng_.pick({~0u, 0u, 0x7fffffffu, 0x1fffffffu});
        case 1:
            return rng_.next();
        case 2:
        case 3: // a large power of two around the memory
            return base_ >> 2 | ((1u << rng_.pick({10u, 13u, 20u, 27u})) - 1);
        case 4:
        case 5:
        case 6: // a small one
            return (edge() >> 2 & ~7u) | ((1u << rng_.below(4)) - 1);
        default:
            return (edge() >> 2) + rng_.below(3) - 1;
        }
    }
    uint32_t any_pmp_config() {
        uint32_t word = 0;
        for (unsigned i = 0; i < 4; ++i) {
            uint32_t config = rng_.below(8) | rng_.pick({0u, 1u, 2u, 3u, 3u, 1u}) << 3;
            if (rng_.percent(60))
                config |= 3;
            if (rng_.percent(88)) // else little runs in user mode
                config |= 4;
            if (rng_.one_in(strict_ ? 2 : 50))
                config |= 0x80;
            word |= config << 8 * i;
        }
        return word;
    }

    // One instruction of any pattern.
    void any_instruction() {
        const unsigned kind = rng_.below(1000);
        if (kind < 6)
            return put(rng_.next() | 3); // any 32 bits
        if (kind < 10)
            return put16((rng_.next() & 0xfffc) | rng_.below(3)); // any compressed
        if (kind < 16) // a known opcode, with any other bits
            return put((rng_.next() & ~0x7fu) | rng_.pick({0x33u, 0x13u, 0x03u, 0x23u, 0x63u, 0x67u,
                                                           0x73u, 0x0fu, 0x33u, 0x13u}));
        const auto &all = patterns();
        const Pattern *pattern;
        do
            pattern = &all[rng_.below(static_cast<uint32_t>(all.size()))];
        while (!welcome(*pattern));
        put(fill(*pattern));
    }

    // Whether to take the pattern now: some in each program are enough.
    bool welcome(const Pattern &pattern) {
        if (pattern.traps)
            return rng_.one_in(flavour_ == Flavour::kCache ? 6 : 2);
        switch (pattern.operands) {
        case Operands::kJalr:
            return rng_.one_in(3);
        case Operands::kFixed:
            return rng_.one_in(pattern.match == 0x30200073 ? 20 : 3); // mret may repeat for ever
        case Operands::kCsr:
            return rng_.one_in(flavour_ == Flavour::kCsr ? 1 : flavour_ == Flavour::kUser ? 8 : 3);
        default:
            return pattern.match != 0x100f || rng_.one_in(3); // fence.i
        }
    }

    uint32_t fill(const Pattern &pattern) {
        uint32_t bits = rng_.next() & ~pattern.mask;
        const bool wide = !pattern.compressed();
        if (wide && pattern.operands != Operands::kFixed) {
            bits = (bits & ~(31u << 7)) | any_rd() << 7;
            bits = (bits & ~(31u << 15 | 31u << 20)) | any_source() << 15 | any_source() << 20;
            if (!(pattern.mask & 31u << 20) && rng_.percent(50))
                bits = (bits & ~(31u << 20)) | rng_.below(32) << 20;
        }
        switch (pattern.operands) {
        case Operands::kJal:
            if (wide)
                bits = jal_bits(near()) | (bits & 31 << 7);
            else if (rng_.percent(85))
                bits &= ~(1u << 12); // forward
            break;
        case Operands::kBranch:
            if (wide) {
                const auto ahead = static_cast<int32_t>(rng_.below(40)) * 2 + 4;
                bits = branch_bits(rng_.percent(88) ? distance_to_start(ahead) : near()) |
                       (bits & (31u << 15 | 31u << 20));
            } else if (rng_.percent(85)) {
                bits &= ~(1u << 12);
            }
            break;
        case Operands::kLoad:
        case Operands::kStore:
            if (wide) {
                bits = (bits & ~(31u << 15)) | any_base() << 15;
                if (rng_.percent(60)) // a small offset
                    bits &= pattern.operands == Operands::kLoad ? ~(0xfe0u << 20) : ~(0x7fu << 25);
            } else if (rng_.percent(70) && !(pattern.match & 2)) {
                bits = (bits & ~(7u << 7)) | rng_.below(2) << 7; // base x8 or x9
            }
            break;
        case Operands::kCsr:
            bits = (bits & 0xfffff) | any_csr() << 20;
            break;
        default:
            break;
        }
        return pattern.match | (bits & ~pattern.mask);
    }

    uint32_t any_csr() {
        if (rng_.one_in(30))
            return rng_.one_in(2) ? rng_.below(4096) : any_of(kAbsentCsrs);
        uint32_t address;
        do
            address = any_of(kCsrs);
        while (!csr_welcome(address));
        return address;
    }
    bool csr_welcome(uint32_t address) {
        if (address == 0x747)
            return rng_.one_in(20);
        if (address == 0x3a3 || address == 0x3bf) // the region that lets user mode run
            return rng_.one_in(20);
        if (address == 0x305)
            return rng_.one_in(3);
        if (address >= 0x3a0 && address < 0x3c0)
            return rng_.one_in(flavour_ == Flavour::kUser ? 2 : 6);
        return true;
    }

    int32_t distance_to_start(int32_t distance) {
        if (rng_.one_in(20))
            return distance; // perhaps into an instruction
        return static_cast<int32_t>(start_near(at_ + static_cast<uint32_t>(distance)) - at_);
    }
    // A distance of a jump, seldom backward: back is often for ever.
    int32_t near() {
        return distance_to_start(rng_.percent(85) ? static_cast<int32_t>(rng_.below(0x200)) * 2 + 4
                                                  : -static_cast<int32_t>(rng_.below(0x200)) * 2);
    }

    // --- blocks of random code ---

    void block() {
        pad_ = true;
        one_block();
        pad_ = false;
    }

    void one_block() {
        switch (const unsigned kind = rng_.below(40); kind) {
        case 0:
            li(rng_.pick({2u, 8u, 9u}), rng_.percent(70) ? any_data() : edge() + rng_.below(8) - 4);
            break;
        case 1:
            loop();
            break;
        case 2:
            access_near_edge();
            break;
        case 3:
            change_code();
            break;
        case 4:
            far_jump();
            break;
        case 5:
            use_csr();
            break;
        case 6:
            if (flavour_ != Flavour::kCache || rng_.one_in(3))
                return_somewhere();
            break;
        case 7:
            switch_cache();
            break;
        case 8:
            sleep();
            break;
        case 9:
            if (flavour_ == Flavour::kUser)
                csrw(rng_.one_in(3) ? 0x3a0 + rng_.below(3) : 0x3b0 + rng_.below(15), load_pmp());
            else
                csrr(scratch(), any_of(kCounters));
            break;
        case 10:
            if (flavour_ == Flavour::kCache || rng_.one_in(4))
                change_line_in_flight();
            else
                li(scratch(), any_value());
            break;
        case 11: // counters next to what they count
            csrr(scratch(), any_of(kCounters));
            break;
        default:
            if (flavour_ == Flavour::kUser && kind < 16)
                access_near_edge();
            else if (flavour_ == Flavour::kUser && kind < 18)
                return_somewhere();
            else
                any_instruction();
        }
    }

    // A register with a value for a PMP CSR.
    unsigned load_pmp() {
        const unsigned rs = scratch();
        li(rs, rng_.one_in(3) ? any_pmp_config() : any_pmp_address());
        return rs;
    }

    void loop() {
        const unsigned counter = 28 + rng_.below(2);
        addi(counter, 0, 2 + rng_.below(flavour_ == Flavour::kCache ? 30 : 8));
        const uint32_t top = at_;
        for (unsigned i = rng_.below(flavour_ == Flavour::kCache ? 24 : 8); i > 0; --i)
            any_instruction();
        count_down(counter, 31);
        branch(1, counter, 0, top);
    }

    // Bounded, even if the program jumped into the loop with any value in the counter.
    void count_down(unsigned counter, int32_t limit) {
        i_type(0x13, 7, counter, counter, limit);
        addi(counter, counter, -1);
    }

    void access_near_edge() {
        const unsigned rs = rng_.pick({8u, 9u});
        li(rs, edge() + rng_.below(16) - 8);
        for (unsigned i = 1 + rng_.below(3); i > 0; --i) {
            const int32_t offset = static_cast<int32_t>(rng_.below(16)) - 8;
            if (rng_.percent(50))
                i_type(0x03, rng_.pick({0u, 1u, 2u, 4u, 5u, 2u, 1u}), any_rd(), rs, offset);
            else
                s_type(rng_.pick({0u, 1u, 2u, 2u, 1u}), rs, any_source(), offset);
        }
    }

    // Writes over code that comes soon, or far away, with or without fence.i.
    void change_code() {
        const unsigned rs = 8 + rng_.below(2), value = scratch();
        const Pattern &pattern = patterns()[rng_.below(static_cast<uint32_t>(patterns().size()))];
        uint32_t insn = fill(pattern);
        if (pattern.compressed())
            insn = (insn & 0xffff) | (rng_.percent(50) ? 0x00010000 : rng_.next() << 16);
        li(value, insn);
        const uint32_t ahead = rng_.percent(80) ? at_ + 12 + rng_.below(24) - 8 : rng_.next();
        li(rs, base_ + (ahead & 0xfffe));
        s_type(rng_.pick({2u, 2u, 1u, 0u}), rs, value, 0);
        if (rng_.percent(50))
            put(0x100f);
        if (rng_.one_in(3)) {
            i_type(0x67, 0, rng_.below(2), rs, 0);
        }
    }

    void far_jump() {
        const unsigned rs = 10 + rng_.below(6);
        const uint32_t target = rng_.one_in(4) ? edge() + rng_.below(8) - 4 : any_code();
        // Another alias of the same memory has another tag in the cache.
        li(rs, target ^ (rng_.one_in(4) ? rng_.below(16) << 28 : 0));
        if (rng_.one_in(3))
            put16(rng_.pick({0x8002u, 0x9002u}) | rs << 7);
        else
            i_type(0x67, 0, rng_.below(2), rs, rng_.percent(70) ? 0 : rng_.below(16) - 8);
    }

    void use_csr() {
        const unsigned rs = scratch();
        const uint32_t address = any_csr();
        uint32_t value = any_value();
        if (address == 0x305 && rng_.percent(80))
            value = base_ + rng_.below(16) * 0x400;
        if (address >= 0x3b0 && address < 0x3c0)
            value = any_pmp_address();
        if (address >= 0x3a0 && address < 0x3a4)
            value = any_pmp_config();
        li(rs, value);
        csr(1 + rng_.below(3), any_rd(), address, rs);
        if (rng_.percent(50))
            csr(rng_.pick({2u, 2u, 7u, 3u}), any_rd(), address, 0);
    }

    // mret to code nearby or at an edge, mostly in user mode.
    void return_somewhere() {
        const unsigned rs = scratch();
        const uint32_t target = rng_.one_in(3)   ? edge() + rng_.below(16) - 8
                                : rng_.one_in(3) ? any_code()
                                                 : base_ + at_ + 24;
        li(rs, target);
        csrw(0x341, rs);
        li(rs, 0x80 | (rng_.percent(75) ? 0u : 0x1800u) | (rng_.one_in(4) ? 0x20000u : 0));
        csr(rng_.pick({1u, 1u, 2u}), 0, 0x300, rs);
        if (rng_.percent(40))
            any_instruction();
        put(0x30200073);
    }

    void switch_cache() {
        switch (rng_.below(flavour_ == Flavour::kCache ? 4 : 8)) {
        case 0:
            csr(5, 0, 0x7c0, 0); // off
            if (rng_.percent(70)) {
                for (unsigned i = rng_.below(4); i > 0; --i)
                    any_instruction();
                csr(5, 0, 0x7c0, 1);
            }
            break;
        case 1:
            csr(rng_.pick({6u, 7u, 5u}), any_rd(), 0x7c0, rng_.pick({1u, 1u, 3u, 0u}));
            break;
        case 2:
            put(0x100f);
            break;
        default:
            csr(6, 0, 0x7c0, 1);
        }
    }

    // A line that is fetched again before it was written to the cache, with a store to it between.
    // If its set was full, it can then be in both ways with different contents. Each turn of the
    // outer loop runs another alias of the code, whose lines fill the same sets.
    void change_line_in_flight() {
        pad_ = false;
        const uint32_t patch = at_;
        at_ += 8; // x8 := the line
        li(10, fill(patterns()[rng_.below(40)]));
        addi(29, 0, 3 + rng_.below(13));
        const uint32_t top = at_;
        if (rng_.percent(10))
            put(0x100f);
        addi(15, 0, 1 + rng_.below(4));
        for (unsigned i = rng_.below(3); i > 0; --i)
            put(fill(patterns()[rng_.below(40)]));
        while (at_ % 8 != 4)
            put(0x0001);
        const uint32_t line = at_ + 4;
        sw(10, 8, 4);
        put(0x17fd); // c.addi x15, -1
        put(0xfffd); // c.bnez x15, -2
        put(fill(patterns()[rng_.below(40)]));
        addi(10, 10, 128);
        count_down(29, 15);
        const uint32_t leave = at_;
        at_ += 4;
        i_type(0x13, 1, 14, 29, 28); // slli
        li(13, base_ + top);
        put(0x33 | 14 << 7 | 13 << 15 | 14 << 20);
        i_type(0x67, 0, 0, 14, 0);
        patch_branch(leave, 0, 29);
        const uint32_t end = at_;
        at_ = patch;
        li(8, base_ + line);
        at_ = end;
    }

    void sleep() {
        const unsigned rs = scratch();
        li(rs, 0x880);
        csr(2, 0, 0x304, rs);
        if (rng_.percent(60))
            csr(6, 0, 0x300, 8);
        else if (rng_.one_in(3))
            csr(7, 0, 0x300, 8);
        if (rng_.percent(30))
            any_instruction();
        put(0x10500073);
    }

    // Blocks in the same set of the cache, entered one after another, some by several tags.
    void ring() {
        const uint32_t set = (rng_.below(0x700) + 0x80) & ~1u;
        const unsigned length = 2 + rng_.below(4), counter = 28 + rng_.below(2);
        uint32_t places[6];
        for (unsigned i = 0; i < length; ++i)
            places[i] = (3 + i + rng_.below(2) * 8) * 0x800 + set;
        for (unsigned i = 0; i < length; ++i) {
            at_ = places[i];
            for (unsigned j = rng_.below(5); j > 0; --j)
                any_instruction();
            if (rng_.one_in(8))
                switch_cache();
            if (i + 1 < length) {
                if (rng_.one_in(4)) {
                    li(14, (base_ ^ rng_.below(4) << 30) + places[i + 1]);
                    i_type(0x67, 0, 0, 14, 0);
                } else {
                    jump(0, places[i + 1]);
                }
            } else {
                count_down(counter, 63);
                branch(0, counter, 0, at_ + 8);
                jump(0, places[0]);
            }
        }
        at_ = ring_entry_ = (places[0] & 0xf800) - 0x40 + rng_.below(8) * 2;
        addi(counter, 0, 3 + rng_.below(40));
        jump(0, places[0]);
    }

    // --- handlers and start ---

    void place_vectors(uint32_t vectors) {
        at_ = vectors;
        while (at_ < vectors + 0x30) // the last is of the external interrupt
            jump(0, kHandlers + rng_.below(kHandlerCount) * kHandlerSize);
    }

    // Stores what happened, then goes on in one of many ways.
    void handler(unsigned number) {
        if (number >= 2)
            return short_handler();
        const int32_t log = -256 + static_cast<int32_t>(number) * 32;
        if (rng_.one_in(3))
            csr(1, 30, 0x340, 30);
        csrr(30, 0x342);
        sw(30, 0, log);
        csrr(31, 0x343);
        sw(31, 0, log + 4);
        csrr(31, 0x300);
        sw(31, 0, log + 8);
        csrr(31, 0x341);
        sw(31, 0, log + 12);
        if (rng_.one_in(3))
            csrr(10 + rng_.below(6), any_of(kCounters));
        if (flavour_ == Flavour::kUser && rng_.one_in(3)) // let what failed pass for once
            csrw(rng_.one_in(2) ? 0x3a0 + rng_.below(3) : 0x3b0 + rng_.below(15), load_pmp());
        if (rng_.one_in(2)) // let user mode run again
            allow_all();
        if (flavour_ == Flavour::kCache && rng_.one_in(3))
            switch_cache();
        const uint32_t fork = at_;
        at_ += 4; // an exception goes on below
        // An interrupt: three of four return where they came from.
        csrr(31, 0xb00);
        i_type(0x13, 7, 31, 31, rng_.pick({12, 24, 6}));
        const uint32_t back = at_;
        at_ += 4;
        far_away();
        csrw(0x341, 31);
        patch_branch(back, 1, 31);
        put(0x30200073);
        patch_branch(fork, 5, 30);
        // An exception goes on in one of three ways, by the cycle in which it happens.
        csrr(30, 0xb00);
        i_type(0x13, 7, 30, 30, 3 << rng_.below(3));
        const uint32_t choice = at_;
        at_ += 4;
        addi(31, 31, rng_.pick({2, 4, 4, 8, 32})); // behind it, or inside of it
        csrw(0x341, 31);
        change_mode();
        put(0x30200073);
        patch_branch(choice, 1, 30);
        csrr(30, 0xb00);
        i_type(0x13, 7, 30, 30, 1 << rng_.below(2));
        const uint32_t second = at_;
        at_ += 4;
        far_away();
        csrw(0x341, 31);
        change_mode();
        if (rng_.one_in(3))
            any_instruction();
        put(0x30200073);
        patch_branch(second, 1, 30);
        li(31, rng_.percent(40) ? any_code() : edge() + rng_.below(16) - 8);
        csrw(0x341, 31);
        change_mode();
        if (rng_.one_in(2))
            li(9, rng_.percent(50) ? any_data() : edge() + rng_.below(8) - 4);
        if (rng_.one_in(6))
            any_instruction();
        put(0x30200073);
    }

    // Another place of the code each time, in x31.
    void far_away() {
        csrr(31, 0xb00);
        csrr(30, 0xb02);
        put(0x33 | 31 << 7 | 31 << 15 | 30 << 20); // add
        li(30, rng_.next() | 1);
        put(0x02000033 | 31 << 7 | 31 << 15 | 30 << 20);       // mul
        i_type(0x13, 5, 31, 31, 17);                           // srli
        put(31u << 7 | 1 << 12 | 31u << 15 | 1u << 20 | 0x13); // slli
        put(base_ | 30 << 7 | 0x37);                           // lui
        put(0x33 | 31 << 7 | 31 << 15 | 30 << 20);
    }

    // Goes on behind the exception in the mode that it came from, in most cycles.
    void short_handler() {
        csrr(30, 0x342);
        const uint32_t fork = at_;
        at_ += 4;
        if (rng_.one_in(4))
            csr(rng_.pick({6u, 6u, 7u}), 0, 0x7c0, 1);
        put(0x30200073);
        patch_branch(fork, 5, 30);
        csrr(30, 0xb00);
        csrr(31, 0x341);
        i_type(0x13, 7, 30, 30, rng_.pick({3, 7, 15, 28}));
        addi(31, 31, rng_.pick({2, 4, 4, 4, 6, 20}));
        const uint32_t usual = at_;
        at_ += 4;
        far_away();
        change_mode();
        patch_branch(usual, 1, 30);
        csrw(0x341, 31);
        if (rng_.one_in(3))
            any_instruction();
        put(0x30200073);
    }

    // Writes the branch at `place` to here.
    void patch_branch(uint32_t place, uint32_t funct3, unsigned rs1) {
        const uint32_t target = at_;
        at_ = place;
        branch(funct3, rs1, 0, target);
        at_ = target;
    }

    // Sets or clears the mode, MPRV and MPIE with which mret goes on.
    void change_mode() {
        if (rng_.percent(50)) {
            li(30, 0x1800);
            const bool user = rng_.percent(flavour_ == Flavour::kUser ? 80 : 40);
            csr(user ? 3 : 2, 0, 0x300, 30);
        }
        if (rng_.percent(30)) { // MPRV for the next accesses in machine mode
            li(30, 0x20000);
            csr(rng_.pick({2u, 2u, 3u}), 0, 0x300, 30);
        }
        if (rng_.one_in(2)) {
            li(30, 0x80);
            csr(2, 0, 0x300, 30);
        }
    }

    void start() {
        jump(0, 0x100);
        at_ = 0x100;
        for (unsigned r = 1; r < 32; ++r)
            if (rng_.percent(60))
                li(r, any_value());
        li(2, any_data() & ~3u);
        li(8, any_data() & ~3u);
        li(9, edge());
        // Leave the first vectors and this start as they are: mtvec is the boot address.
        if (flavour_ == Flavour::kUser || rng_.percent(40)) {
            start_pmp();
        } else { // user mode may do all
            allow_all();
        }
        if (flavour_ == Flavour::kCache ? !rng_.one_in(10) : rng_.percent(60))
            csr(5, 0, 0x7c0, 1);
        if (rng_.percent(85)) {
            li(10, rng_.pick({0x880u, 0x80u, 0x800u, 0x888u, ~0u}));
            csrw(0x304, 10);
            csr(6, 0, 0x300, 8);
        }
        if (rng_.one_in(3)) {
            li(10, rng_.one_in(2) ? rng_.next() : 4u);
            csrw(0x320, 10);
        }
        if (flavour_ == Flavour::kUser || rng_.one_in(3))
            return_somewhere();
        else if (ring_entry_ && rng_.percent(70))
            jump(0, ring_entry_);
        else
            jump(0, 0x1800 + rng_.below(0x100) * 4);
    }

    // Lets the last region allow all to user mode.
    void allow_all() {
        li(31, ~0u);
        csrw(0x3bf, 31);
        li(31, strict_ ? 0x1e000000 : 0x1f000000);
        csrw(0x3a3, 31);
    }

    // Regions at the edges, mostly with one behind them that allows all, and sometimes the rules of
    // Smepmp: then the first regions let machine mode go on.
    void start_pmp() {
        unsigned first = 0;
        if (strict_) {
            li(10, 4); // rule locking bypass
            csrw(0x747, 10);
            li(10, (base_ >> 2) | 0x1fff); // all of the memory, as one region of 64 KiB
            csrw(0x3b1, 10);
            li(10, ~0u);
            csrw(0x3b2, 10);
            first = 3;
        }
        for (unsigned i = first; i < 15; ++i)
            if (rng_.percent(80)) {
                li(11, any_pmp_address());
                csrw(0x3b0 + i, 11);
            }
        li(11, ~0u);
        csrw(0x3bf, 11);
        uint32_t first_four = any_pmp_config();
        for (unsigned i = 0; i < 4; ++i) {
            uint32_t config = i ? any_pmp_config() : first_four;
            if (i == 0 && strict_) // region 1: machine mode reads and executes
                config = (config & 0xff000000) | 0x1f9d00 | (rng_.percent(60) ? 0 : config & 0xff);
            if (i == 3 && rng_.percent(90))
                config = (config & 0xffffff) | (strict_ ? 0x1e000000u : 0x1f000000u);
            li(11, config);
            csrw(0x3a0 + i, 11);
        }
        if (!strict_)
            return;
        const uint32_t rules = rng_.pick({1u, 3u, 1u, 3u, 2u, 0u});
        li(10, rules | 4);
        csrw(0x747, 10);
        // Region 2 and the last: shared data of several kinds, which only exist with these rules.
        first_four = (first_four & 0xff0000ff) | rng_.pick({0x9d00u, 0x9e00u, 0x9e00u, 0x9a00u}) |
                     rng_.pick({0x1e0000u, 0x1e0000u, 0x1a0000u, 0x9b0000u});
        li(11, first_four);
        csrw(0x3a0, 11);
        if (rng_.percent(50)) {
            li(11, any_pmp_config());
            csrw(0x3a1 + rng_.below(3), 11);
        }
        if (rng_.percent(50)) {
            li(10, rules);
            csrw(0x747, 10);
        }
    }

    static constexpr unsigned kEdges = 8;
    Rng rng_;
    Flavour flavour_;
    std::vector<uint32_t> &words_;
    std::vector<bool> starts_, promised_; // a half-word each
    bool pad_ = false;
    uint32_t base_, refused_region_, edges_[kEdges];
    bool strict_; // with the rules of Smepmp
    uint32_t at_ = 0, ring_entry_ = 0;
};

Program::Program(uint64_t seed, Flavour flavour)
    : generator_(std::make_unique<Generator>(*this, seed, flavour)) {
    generator_->make();
    boot_address = generator_->base();
    refused_region = generator_->refused_region();
}

Program::~Program() = default;

void Program::renew(uint32_t address) { generator_->renew(address); }

} // namespace lockstep
