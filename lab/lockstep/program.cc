// SPDX-License-Identifier: Apache-2.0 OR MIT
// The generator of random programs.
//
// The memory repeats over the address space, so a program survives any jump. Layout (64 KiB):
//   0x0000  first vectors, start (0x80)
//   0x1000  handlers
//   0x0400, 0x0800, ...  vectors again: any mtvec leads to some code, often to these
//   0xf000  data, also at the negative addresses that x0 reaches
// All else is random code.
#include "program.h"

#include "random_blocks.h"

namespace lockstep {
class Program::Generator : public RandomBlocks {
public:
    Generator(Program &program, uint64_t seed, Flavour flavour)
        : RandomBlocks(program.words, seed, flavour) {
        program.boot_address = base_ | (rng_.one_in(4) ? rng_.below(256) : 0); // of 256 bytes
        uint32_t &refused = program.refused_region;
        do
            refused = rng_.percent(50) ? 16 : rng_.below(16);
        while (refused == base_ >> 28 || refused == 0 || refused == 15);
        if (rng_.percent(60))
            program.refused_block = refused_block_ % kSize;
        make();
    }

    void renew(uint32_t address) {
        const uint32_t start = address % kSize & ~3u, end = start + 32 + rng_.below(64);
        if (is_of_handlers(start) || is_of_handlers(end))
            return;
        for (at_ = start; at_ < end;)
            block();
    }

private:
    void make() {
        for (at_ = 0; at_ < kSize - 4;)
            block();
        at_ = kData - 4;
        jump(0, kHandlers + kHandlerCount * kHandlerSize); // not into the data
        if (flavour_ == Flavour::kCache || rng_.one_in(4))
            for (unsigned i = 0; i < 3; ++i)
                ring();
        at_ = 0x80;
        start();
        for (uint32_t vectors = 0; vectors < kData; vectors += 0x400)
            if (vectors < kHandlers || vectors >= kHandlers + kHandlerCount * kHandlerSize)
                if (vectors == 0 || rng_.percent(70))
                    place_vectors(vectors);
        for (unsigned i = 0; i < kHandlerCount; ++i) {
            at_ = kHandlers + i * kHandlerSize;
            i < 2 ? handler(i) : short_handler();
        }
    }

    void place_vectors(uint32_t vectors) {
        at_ = vectors;
        while (at_ < vectors + 0x30) // the last is of the external interrupt
            jump(0, kHandlers + rng_.below(kHandlerCount) * kHandlerSize);
    }

    // Stores what happened, then goes on in one of many ways.
    void handler(unsigned number) {
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
            csrw(rng_.one_in(2) ? 0x3a0 + rng_.below(3) : 0x3b0 + rng_.below(13), load_pmp());
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
        // An exception goes on in one of three ways, by the cycle when it happens.
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
        // Keep the first vectors and this start: mtvec is the boot address.
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

    // Lets the last regions allow what the program needs.
    void allow_all() {
        li(31, ~0u);
        csrw(0x3bf, 31);
        li(31, last_four_);
        csrw(0x3a3, 31);
    }

    // Regions at the edges, mostly with one behind them that allows all. With the rules of Smepmp,
    // region 13 is the memory with the code, 14 a half of the address space or all of it, and 15
    // all.
    void start_pmp() {
        if (strict_)
            csr(6, 0, 0x747, 4); // rule locking bypass
        uint32_t config[4], address[16];
        for (uint32_t &four : config)
            four = any_pmp_config();
        for (unsigned i = 0; i < 16; ++i) {
            address[i] = strict_ || rng_.percent(70) ? any_edge_address() : any_pmp_address();
            if (i && (config[i / 4] >> i % 4 * 8 & 0x18) == 8 && rng_.percent(strict_ ? 95 : 60))
                address[i] = address[i - 1] + rng_.below(40); // a short range
        }
        address[15] = ~0u;
        if (strict_) {
            address[13] = base_ >> 2 | 0x1fff;
            address[14] = rng_.pick({~0u, 0x0fffffffu});
            last_four_ = (config[3] & 0xff) | 0x1f1b9d00;
        } else if (rng_.percent(90)) {
            last_four_ = (config[3] & 0xffffff) | 0x1f000000;
        }
        config[3] = last_four_;
        for (unsigned i = 0; i < 16; ++i) {
            li(11, address[i]);
            csrw(0x3b0 + i, 11);
        }
        for (unsigned i = 0; i < 4; ++i) {
            li(11, config[i]);
            csrw(0x3a0 + i, 11);
        }
        if (strict_)
            start_strict(config);
    }

    // Turns the rules on, and writes the settings that only they allow: regions that both modes
    // share.
    void start_strict(const uint32_t config[4]) {
        const uint32_t rules = rng_.pick({1u, 3u, 1u, 3u, 2u, 0u});
        li(10, rules | 4);
        csrw(0x747, 10);
        if (rules & 1)
            last_four_ = (config[3] & 0xff) | rng_.pick({0x9d00u, 0x9e00u, 0x9e00u, 0x9a00u}) |
                         rng_.pick({0x1e0000u, 0x1e0000u, 0x1a0000u, 0x9b0000u, 0x9f0000u}) |
                         rng_.pick({0x1e000000u, 0x1e000000u, 0x1f000000u});
        for (unsigned i = 0; i < 4; ++i) {
            li(11, i < 3 ? config[i] : last_four_);
            csrw(0x3a0 + i, 11);
        }
        if (rng_.percent(50)) {
            li(10, rules);
            csrw(0x747, 10);
            if (rng_.percent(30))
                csr(6, 0, 0x747, 4); // too late if a region is locked
        }
    }

    uint32_t last_four_ = 0x1f000000; // pmpcfg3
};

Program::Program(uint64_t seed, Flavour flavour)
    : generator_(std::make_unique<Generator>(*this, seed, flavour)) {}

Program::~Program() = default;

void Program::renew(uint32_t address) { generator_->renew(address); }

} // namespace lockstep
