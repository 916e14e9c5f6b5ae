// SPDX-License-Identifier: Apache-2.0 OR MIT
// Blocks of random code, for what single random instructions seldom do: loops, changed code,
// accesses and returns at the edges of PMP regions, a sleep, conflicts in the cache.
#pragma once

#include "random_code.h"

namespace lockstep {

class RandomBlocks : public RandomCode {
protected:
    using RandomCode::RandomCode;

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
            if (flavour_ == Flavour::kUser && rng_.one_in(6))
                csr(rng_.pick({6u, 6u, 7u}), any_rd(), 0x747, rng_.pick({4u, 4u, 4u, 6u}));
            else if (flavour_ == Flavour::kUser)
                csrw(rng_.one_in(3) ? 0x3a0 + rng_.below(3) : 0x3b0 + rng_.below(13), load_pmp());
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
        li(rs, rng_.one_in(3) ? any_pmp_config()
               : strict_      ? any_edge_address()
                              : any_pmp_address());
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
        const uint32_t target = rng_.one_in(6)   ? straddling()
                                : rng_.one_in(6) ? edge() + rng_.below(8) - 4
                                                 : any_code();
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
        const uint32_t target = rng_.one_in(3)   ? straddling()
                                : rng_.one_in(5) ? edge() + rng_.below(16) - 8
                                : rng_.one_in(3) ? any_code()
                                                 : base_ + at_ + 24;
        li(rs, target);
        csrw(0x341, rs);
        li(rs, 0x80 | (rng_.percent(75) ? 0u : 0x1800u) | (rng_.one_in(4) ? 0x20000u : 0) |
                   (rng_.one_in(5) ? 0x200000u : 0)); // MPRV, TW
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

    uint32_t ring_entry_ = 0; // 0: there is no ring
};

} // namespace lockstep
