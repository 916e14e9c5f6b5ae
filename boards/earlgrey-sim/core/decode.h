// SPDX-License-Identifier: Apache-2.0 OR MIT
// Decodes instructions (ibex_decoder.sv, ibex_compressed_decoder.sv). Each instruction word is
// decoded once and kept in a table.
#pragma once

#include "config.h"
#include <algorithm>
#include <array>
#include <cstdint>
#include <initializer_list>
#include <iterator>
#include <span>

namespace earlgrey::ibex {

// clang-format off

// What the decode stage does with an instruction. kAlu takes one cycle. kTwoCycle takes two cycles in the
// ALU; some of these read a third register in the second.
enum class Kind : uint32_t {
    kIllegal, kAlu, kTwoCycle, kMultiplyHigh, kDivide, kLoad, kStore, kBranch, kJump, kJumpRegister,
    kFenceI, kCsr, kMret, kWfi, kEcall, kEbreak
};

enum class Op : uint32_t {
    kNone, kAdd, kSub, kXor, kOr, kAnd, kSll, kSrl, kSra, kSlt, kSltu, kAuipc, kMul, kMulh, kMulhsu,
    kMulhu, kDiv, kDivu, kRem, kRemu, kEq, kNe, kGe, kGeu, kXnor, kOrn, kAndn, kSlo, kSro,
    kSh1add, kSh2add, kSh3add, kMin, kMax, kMinu, kMaxu, kPack, kPacku, kPackh, kBclr, kBset, kBinv,
    kBext, kBfp, kGrev, kGorc, kShfl, kUnshfl, kXpermN, kXpermB, kXpermH, kClmul, kClmulr, kClmulh,
    kClz, kCtz, kCpop, kSextB, kSextH, kRol, kRor, kFsl, kFsr, kCmix, kCmov, kCompress, kDecompress,
    kCrc32B, kCrc32H, kCrc32W, kCrc32cB, kCrc32cH, kCrc32cW
};

// clang-format on

enum class CsrOp : uint32_t { kRead, kWrite, kSet, kClear };

constexpr uint32_t kNoRegister = 32; // results for x0 go to this unused entry of the register file

struct Instruction {
    uint32_t text = 0; // as fetched: 16 bits if compressed
    Kind kind = Kind::kIllegal;
    Op op = Op::kNone;
    uint32_t rd = kNoRegister, rs1 = 0, rs2 = 0, rs3 = 0;
    uint64_t reads = 0;        // bit i: the first cycle reads register i
    uint32_t immediate = 0;    // operand b, or an offset, or a CSR; 0 if operand b is a register
    uint32_t register_b = 0;   // all ones if operand b (of a CSR: the operand) is a register
    uint32_t bytes = 4;        // 2 if compressed
    uint32_t size = 0;         // of a load or store: log2 of its bytes
    bool sign_extends = false; // a load
    CsrOp csr_op = CsrOp::kRead;
};

// Moves the bits of c from `high` down to these positions, as the manual writes immediates.
inline uint32_t place(uint32_t c, unsigned high, std::initializer_list<unsigned> positions) {
    uint32_t value = 0;
    for (const unsigned position : positions)
        value |= (c >> high-- & 1) << position;
    return value;
}

// Returns the 32-bit form of a compressed instruction, or 0, which is illegal.
inline uint32_t expand(uint32_t c) {
    const uint32_t rd = c >> 7 & 31, rs2 = c >> 2 & 31;
    const uint32_t low_rs1 = 8 + (rd & 7), low_rs2 = 8 + (rs2 & 7);
    const bool bit12 = c >> 12 & 1;
    const uint32_t sign = bit12 ? ~0u : 0, imm6 = sign << 5 | rs2, two_bits = c >> 10 & 3;
    const uint32_t word_offset = place(c, 12, {5, 4, 3}) | place(c, 6, {2, 6});
    const auto with_immediate = [](uint32_t opcode, uint32_t imm, uint32_t rs1, uint32_t funct3,
                                   uint32_t d) {
        return imm << 20 | rs1 << 15 | funct3 << 12 | d << 7 | opcode;
    };
    const auto store = [](uint32_t offset, uint32_t from, uint32_t rs1) {
        return (offset >> 5) << 25 | from << 20 | rs1 << 15 | 2 << 12 | (offset & 31) << 7 | 0x23;
    };
    switch ((c & 3) << 3 | c >> 13) {
    case 000: // c.addi4spn
        if (const uint32_t imm = place(c, 12, {5, 4, 9, 8, 7, 6, 2, 3}))
            return with_immediate(0x13, imm, 2, 0, low_rs2);
        return 0;
    case 002: return with_immediate(0x03, word_offset, low_rs1, 2, low_rs2); // c.lw
    case 006: return store(word_offset, low_rs2, low_rs1);                   // c.sw
    case 010: return with_immediate(0x13, imm6, rd, 0, rd);                  // c.addi, c.nop
    case 011:                                                                // c.jal
    case 015:                                                                // c.j
        return (sign & 0x801ff000) | place(c, 11, {24, 29, 28, 30, 26, 27, 23, 22, 21, 25}) |
               (c >> 15 ? 0 : 1 << 7) | 0x6f;
    case 012: return with_immediate(0x13, imm6, 0, 0, rd); // c.li
    case 013:                                              // c.lui, c.addi16sp
        if (!imm6)
            return 0;
        if (rd != 2)
            return imm6 << 12 | rd << 7 | 0x37;
        return with_immediate(0x13, sign << 9 | place(c, 6, {4, 6, 8, 7, 5}), 2, 0, 2);
    case 014:              // arithmetic with registers x8 to x15
        if (two_bits == 2) // c.andi
            return with_immediate(0x13, imm6, low_rs1, 7, low_rs1);
        if (bit12)
            return 0;
        if (two_bits == 3) { // c.sub, c.xor, c.or, c.and
            constexpr uint32_t kFunct[] = {0x40000000, 0x4000, 0x6000, 0x7000};
            return kFunct[c >> 5 & 3] | with_immediate(0x33, low_rs2, low_rs1, 0, low_rs1);
        }
        return with_immediate(0x13, two_bits << 10 | rs2, low_rs1, 5, low_rs1); // c.srli, c.srai
    case 016:                                                                   // c.beqz
    case 017:                                                                   // c.bnez
        return (sign & 0xf0000080) | place(c, 11, {11, 10}) | place(c, 6, {27, 26, 9, 8, 25}) |
               low_rs1 << 15 | (c >> 13 & 1) << 12 | 0x63;
    case 020: return bit12 ? 0 : with_immediate(0x13, rs2, rd, 1, rd); // c.slli
    case 022:                                                          // c.lwsp
        return rd ? with_immediate(0x03, place(c, 12, {5}) | place(c, 6, {4, 3, 2, 7, 6}), 2, 2, rd)
                  : 0;
    case 024: // c.jr, c.mv, c.ebreak, c.jalr, c.add
        if (rs2)
            return with_immediate(0x33, rs2, bit12 ? rd : 0, 0, rd);
        return rd ? with_immediate(0x67, 0, rd, 0, bit12) : bit12 ? 0x00100073 : 0;
    case 026: return store(place(c, 12, {5, 4, 3, 2, 7, 6}), rs2, 2); // c.swsp
    default: return 0;
    }
}

// Instructions of one format: the bits that distinguish them, and for each their value and meaning.
struct Pattern {
    uint32_t match;
    Kind kind;
    Op op = Op::kNone;
};
struct Format {
    uint32_t mask;
    std::span<const Pattern> patterns;
};

// clang-format off

// All instructions but the compressed ones.
template <Config config> Pattern pattern_of(uint32_t insn) {
    using enum Kind;
    using enum Op;
    static constexpr Pattern kOpcode[] = {
        {0x6f, kJump}, {0x37, kAlu, kAdd}, {0x17, kAlu, kAuipc}};
    static constexpr Pattern kFunct3[] = {
        {0x0067, kJumpRegister}, {0x0063, kBranch, kEq}, {0x1063, kBranch, kNe}, {0x4063, kBranch, kSlt},
        {0x5063, kBranch, kGe}, {0x6063, kBranch, kSltu}, {0x7063, kBranch, kGeu}, {0x0003, kLoad},
        {0x1003, kLoad}, {0x2003, kLoad}, {0x4003, kLoad}, {0x5003, kLoad}, {0x0023, kStore},
        {0x1023, kStore}, {0x2023, kStore}, {0x000f, kAlu}, {0x100f, kFenceI}, {0x1073, kCsr},
        {0x2073, kCsr}, {0x3073, kCsr}, {0x5073, kCsr}, {0x6073, kCsr}, {0x7073, kCsr},
        {0x0013, kAlu, kAdd}, {0x2013, kAlu, kSlt}, {0x3013, kAlu, kSltu}, {0x4013, kAlu, kXor},
        {0x6013, kAlu, kOr}, {0x7013, kAlu, kAnd}};
    static constexpr Pattern kAll[] = {
        {0x00000073, kEcall}, {0x00100073, kEbreak}, {0x30200073, kMret}, {0x10500073, kWfi}};
    static constexpr Pattern kBits31To27[] = {
        {0x20001013, kAlu, kSlo}, {0x48001013, kAlu, kBclr}, {0x28001013, kAlu, kBset},
        {0x68001013, kAlu, kBinv}};
    static constexpr Pattern kBits31To26[] = {
        {0x08001013, kAlu, kShfl}, {0x20005013, kAlu, kSro}, {0x48005013, kAlu, kBext},
        {0x60005013, kTwoCycle, kRor}, {0x68005013, kAlu, kGrev}, {0x28005013, kAlu, kGorc},
        {0x08005013, kAlu, kUnshfl}};
    static constexpr Pattern kBits31To20[] = {
        {0x60001013, kAlu, kClz}, {0x60101013, kAlu, kCtz}, {0x60201013, kAlu, kCpop},
        {0x60401013, kAlu, kSextB}, {0x60501013, kAlu, kSextH}, {0x61001013, kTwoCycle, kCrc32B},
        {0x61101013, kTwoCycle, kCrc32H}, {0x61201013, kTwoCycle, kCrc32W},
        {0x61801013, kTwoCycle, kCrc32cB}, {0x61901013, kTwoCycle, kCrc32cH},
        {0x61a01013, kTwoCycle, kCrc32cW}};
    static constexpr Pattern kBit26[] = {{0x04005013, kTwoCycle, kFsr}};
    static constexpr Pattern kBits26To25[] = {
        {0x04001033, kTwoCycle, kFsl}, {0x04005033, kTwoCycle, kFsr}, {0x06001033, kTwoCycle, kCmix},
        {0x06005033, kTwoCycle, kCmov}};
    static constexpr Pattern kFunct7[] = {
        {0x00001013, kAlu, kSll}, {0x00005013, kAlu, kSrl}, {0x40005013, kAlu, kSra},
        {0x00000033, kAlu, kAdd}, {0x40000033, kAlu, kSub}, {0x00001033, kAlu, kSll},
        {0x00002033, kAlu, kSlt}, {0x00003033, kAlu, kSltu}, {0x00004033, kAlu, kXor},
        {0x00005033, kAlu, kSrl}, {0x40005033, kAlu, kSra}, {0x00006033, kAlu, kOr},
        {0x00007033, kAlu, kAnd}, {0x02000033, kAlu, kMul}, {0x02001033, kMultiplyHigh, kMulh},
        {0x02002033, kMultiplyHigh, kMulhsu}, {0x02003033, kMultiplyHigh, kMulhu},
        {0x02004033, kDivide, kDiv}, {0x02005033, kDivide, kDivu}, {0x02006033, kDivide, kRem},
        {0x02007033, kDivide, kRemu}, {0x20002033, kAlu, kSh1add}, {0x20004033, kAlu, kSh2add},
        {0x20006033, kAlu, kSh3add}, {0x40007033, kAlu, kAndn}, {0x40006033, kAlu, kOrn},
        {0x40004033, kAlu, kXnor}, {0x60001033, kTwoCycle, kRol}, {0x60005033, kTwoCycle, kRor},
        {0x0a004033, kAlu, kMin}, {0x0a006033, kAlu, kMax}, {0x0a005033, kAlu, kMinu},
        {0x0a007033, kAlu, kMaxu}, {0x08004033, kAlu, kPack}, {0x48004033, kAlu, kPacku},
        {0x08007033, kAlu, kPackh}, {0x48001033, kAlu, kBclr}, {0x28001033, kAlu, kBset},
        {0x68001033, kAlu, kBinv}, {0x48005033, kAlu, kBext}, {0x48007033, kAlu, kBfp},
        {0x68005033, kAlu, kGrev}, {0x28005033, kAlu, kGorc}, {0x08001033, kAlu, kShfl},
        {0x08005033, kAlu, kUnshfl}, {0x28002033, kAlu, kXpermN}, {0x28004033, kAlu, kXpermB},
        {0x28006033, kAlu, kXpermH}, {0x20001033, kAlu, kSlo}, {0x20005033, kAlu, kSro},
        {0x0a001033, kAlu, kClmul}, {0x0a002033, kAlu, kClmulr}, {0x0a003033, kAlu, kClmulh}};
    static constexpr Pattern kFullFunct7[] = {
        {0x48006033, kTwoCycle, kDecompress}, {0x08006033, kTwoCycle, kCompress}};
    static constexpr Format kFormats[] = {
        {0x7f, kOpcode}, {0x707f, kFunct3}, {0xffffffff, kAll}, {0xf800707f, kBits31To27},
        {0xfc00707f, kBits31To26}, {0xfff0707f, kBits31To20}, {0x0400707f, kBit26},
        {0x0600707f, kBits26To25}, {0xfe00707f, kFunct7}, {0xfe00707f, kFullFunct7}};
    constexpr size_t kKnown = std::size(kFormats) - (config.full_bitmanip ? 0 : 1);
    for (size_t i = 0; i < kKnown; ++i)
        for (const Pattern &pattern : kFormats[i].patterns)
            if ((insn & kFormats[i].mask) == pattern.match)
                return pattern;
    return {0, kIllegal};
}

// clang-format on

// Decodes an instruction from its text: 32 bits, or 16 with zeros above.
template <Config config> Instruction decode(uint32_t text) {
    const bool compressed = (text & 3) != 3;
    const uint32_t insn = compressed ? expand(text) : text;
    const auto [match, kind, op] = pattern_of<config>(insn);
    Instruction i{.text = text, .kind = kind, .op = op, .bytes = compressed ? 2u : 4u};
    if (i.kind == Kind::kIllegal)
        return i;
    const auto sign = static_cast<int32_t>(insn);
    const uint32_t opcode = insn & 0x7f, funct3 = insn >> 12 & 7, rd = insn >> 7 & 31;
    const bool is_csr = i.kind == Kind::kCsr;
    const auto is_one_of = [opcode](std::initializer_list<uint32_t> opcodes) {
        return std::find(opcodes.begin(), opcodes.end(), opcode) != opcodes.end();
    };
    i.rs1 = opcode == 0x37 ? 0 : insn >> 15 & 31;
    i.rs2 = insn >> 20 & 31;
    i.rs3 = insn >> 27;
    switch (opcode) {
    case 0x6f:
        i.immediate = static_cast<uint32_t>(sign >> 31 << 20) | (insn & 0xff000) |
                      place(insn, 30, {10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 11});
        break;
    case 0x63:
        i.immediate = static_cast<uint32_t>(sign >> 31 << 12) |
                      place(insn, 30, {10, 9, 8, 7, 6, 5}) | place(insn, 11, {4, 3, 2, 1, 11});
        break;
    case 0x23: i.immediate = static_cast<uint32_t>(sign >> 25 << 5) | rd; break;
    case 0x03:
    case 0x13:
    case 0x67: i.immediate = static_cast<uint32_t>(sign >> 20); break;
    case 0x17:
    case 0x37: i.immediate = insn & ~0xfffu; break;
    case 0x0f: i.immediate = i.bytes; break; // fence.i jumps to its successor
    case 0x33: i.register_b = ~0u; break;
    case 0x73: i.immediate = insn >> 20; break;
    }
    i.size = funct3 & 3;
    i.sign_extends = funct3 < 4;
    if (is_csr) {
        i.csr_op = static_cast<CsrOp>(funct3 & 3);
        if (i.csr_op != CsrOp::kWrite && i.rs1 == 0)
            i.csr_op = CsrOp::kRead;
        i.register_b = funct3 < 4 ? ~0u : 0;
    }
    const bool reads_a =
        is_one_of({0x67, 0x63, 0x23, 0x03, 0x13, 0x33}) || (is_csr && i.register_b);
    const bool reads_b = is_one_of({0x63, 0x23, 0x33});
    if (rd && (is_csr || is_one_of({0x6f, 0x67, 0x03, 0x37, 0x17, 0x13, 0x33})))
        i.rd = rd;
    i.reads = (uint64_t{reads_a} << i.rs1 | uint64_t{reads_b} << i.rs2) & ~uint64_t{1};
    return i;
}

// Decoded instructions by their text.
template <Config config> class DecodeTable {
public:
    const Instruction &operator[](uint32_t text) {
        Instruction &entry = entries_[(text * 0x9e3779b1u) >> (32 - kBits)];
        if (entry.text != text) [[unlikely]]
            entry = decode<config>(text);
        return entry;
    }
    DecodeTable() { entries_.fill({.text = kEmpty}); }

private:
    static constexpr unsigned kBits = 11;
    static constexpr uint32_t kEmpty = 0xffff0000; // no text: compressed, but with bits above
    std::array<Instruction, 1 << kBits> entries_;
};

} // namespace earlgrey::ibex
