// SPDX-License-Identifier: Apache-2.0 OR MIT
// Writes instructions into the memory of a random program.
#pragma once

#include "program.h"

namespace lockstep {

class Writer {
protected:
    explicit Writer(std::vector<uint32_t> &words) : words_(words) {
        words_.resize(Program::kSize / 4);
        starts_.resize(Program::kSize / 2);
        promised_.resize(Program::kSize / 2);
    }

    void put16(uint32_t half) {
        uint32_t &word = words_[at_ % Program::kSize / 4];
        word = at_ & 2 ? (word & 0xffff) | half << 16 : (word & ~0xffffu) | (half & 0xffff);
        at_ += 2;
    }
    // In random code, no instruction lies across the target of a jump.
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
    static uint32_t place(uint32_t address) { return address % Program::kSize / 2; }

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

    // Writes the branch at `place` to here.
    void patch_branch(uint32_t place, uint32_t funct3, unsigned rs1) {
        const uint32_t target = at_;
        at_ = place;
        branch(funct3, rs1, 0, target);
        at_ = target;
    }

    std::vector<uint32_t> &words_;
    uint32_t at_ = 0;  // the address of the next instruction
    bool pad_ = false; // whether this is random code

private:
    std::vector<bool> starts_, promised_; // a half-word each: an instruction starts there, or shall
};

} // namespace lockstep
