// SPDX-License-Identifier: Apache-2.0 OR MIT
// Random instructions, and their random parts: registers, values, addresses and CSRs.
#pragma once

#include "instructions.h"
#include "writer.h"
#include <utility>

namespace lockstep {

// Every CSR of the configuration, and some that it lacks.
inline constexpr uint16_t kCsrs[] = {
    0x300, 0x301, 0x304, 0x305, 0x306, 0x30a, 0x310, 0x31a, 0x320, 0x323, 0x324, 0x32c, 0x32d,
    0x33f, 0x340, 0x341, 0x342, 0x343, 0x344, 0x3a0, 0x3a1, 0x3a2, 0x3a3, 0x3b0, 0x3b1, 0x3b2,
    0x3b3, 0x3b4, 0x3b5, 0x3b6, 0x3b7, 0x3b8, 0x3b9, 0x3ba, 0x3bb, 0x3bc, 0x3bd, 0x3be, 0x3bf,
    0x5a8, 0x747, 0x757, 0x7a0, 0x7a1, 0x7a2, 0x7a3, 0x7a8, 0x7aa, 0x7c0, 0x7c1, 0xb00, 0xb02,
    0xb03, 0xb04, 0xb05, 0xb06, 0xb07, 0xb08, 0xb09, 0xb0a, 0xb0b, 0xb0c, 0xb0d, 0xb1f, 0xb80,
    0xb82, 0xb83, 0xb84, 0xb87, 0xb8a, 0xb8c, 0xb8d, 0xb9f, 0xf11, 0xf12, 0xf13, 0xf14, 0xf15};
// CSRs of a debugger, of user mode, and others.
inline constexpr uint16_t kAbsentCsrs[] = {0x7b0, 0x7b1, 0x7b2, 0x7b3, 0xc00, 0xc02,
                                           0x100, 0x000, 0x3a4, 0x3c0, 0xb01, 0x30b};
inline constexpr uint16_t kCounters[] = {0xb00, 0xb02, 0xb03, 0xb04, 0xb05, 0xb06, 0xb07,
                                         0xb08, 0xb09, 0xb0a, 0xb0b, 0xb0c, 0xb80, 0xb82};

// Registers with a use: x2, x8 and x9 hold addresses, x28 and x29 count loops, x30 and x31 belong
// to the handlers. Random code seldom overwrites them.
class RandomCode : public Writer {
public:
    static constexpr uint32_t kData = 0xf000; // where the data are; all before is code

protected:
    RandomCode(std::vector<uint32_t> &words, uint64_t seed, Flavour flavour)
        : Writer(words), rng_(seed), flavour_(flavour) {
        base_ = rng_.pick(
            {0x00000000u, 0x10000000u, 0x20000000u, 0x7fff0000u, 0x80000000u, 0xffff0000u});
        for (uint32_t &edge : edges_)
            edge = base_ + (rng_.one_in(3) ? kData + rng_.below(0x1000) : rng_.below(kData));
        edges_[0] = refused_block_ = base_ + ((0x1800 + rng_.below(0xd000)) & ~15u);
        strict_ = flavour == Flavour::kUser && rng_.percent(40);
        if (flavour == Flavour::kUser && rng_.percent(40))
            for (uint32_t &edge : edges_)
                edge &= ~7u;
    }

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
    // The address of a new 32-bit instruction with an edge between its halves.
    uint32_t straddling() {
        const uint32_t here = std::exchange(at_, (edge() & ~3u) - 2), address = at_;
        const bool pad = std::exchange(pad_, false);
        put(rng_.one_in(3) ? 0x00000013 : fill(patterns()[rng_.below(40)]));
        at_ = here;
        pad_ = pad;
        return address;
    }
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
        default:
            return any_edge_address();
        }
    }
    uint32_t any_edge_address() {
        if (rng_.one_in(4)) // a small power of two
            return (edge() >> 2 & ~7u) | ((1u << rng_.below(4)) - 1);
        return (edge() >> 2) + rng_.below(3) - 1;
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
        if (address == 0x3a3 || (address >= 0x3bd && address < 0x3c0)) // what lets all run
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

    Rng rng_;
    const Flavour flavour_;
    uint32_t base_;          // of the memory, as the program addresses it
    bool strict_;            // with the rules of Smepmp
    uint32_t refused_block_; // 16 bytes that the bus may refuse

private:
    static constexpr unsigned kEdges = 8;
    uint32_t edges_[kEdges]; // of PMP regions
};

} // namespace lockstep
