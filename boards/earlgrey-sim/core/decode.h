// SPDX-License-Identifier: Apache-2.0 OR MIT
// Decodes instructions (ibex_decoder.sv, ibex_compressed_decoder.sv). Each instruction word is decoded
// once and kept in a table.
#pragma once

#include "config.h"
#include <array>
#include <cstdint>

namespace earlgrey::ibex {

// What the decode stage does with an instruction.
enum class Kind : uint32_t {
    kAlu,        // one cycle
    kTwoCycle,   // two cycles in the ALU; some read a third register in the second
    kMultiplyHigh,
    kDivide,
    kLoad,
    kStore,
    kBranch,
    kJump,
    kJumpRegister,
    kFenceI,
    kCsr,
    kMret,
    kWfi,
    kEcall,
    kEbreak,
    kIllegal,
    kFetchError, // set by the fetch, not by the decoder
};

enum class Op : uint32_t {
    kNone, kAdd, kSub, kXor, kOr, kAnd, kSll, kSrl, kSra, kSlt, kSltu, kAuipc, kMul,
    kMulh, kMulhsu, kMulhu, kDiv, kDivu, kRem, kRemu,
    kEq, kNe, kLt, kGe, kLtu, kGeu,
    kXnor, kOrn, kAndn, kSlo, kSro, kSh1add, kSh2add, kSh3add, kMin, kMax, kMinu, kMaxu,
    kPack, kPacku, kPackh, kBclr, kBset, kBinv, kBext, kBfp, kGrev, kGorc, kShfl, kUnshfl,
    kXpermN, kXpermB, kXpermH, kClmul, kClmulr, kClmulh, kClz, kCtz, kCpop, kSextB, kSextH,
    kRol, kRor, kFsl, kFsr, kCmix, kCmov, kCompress, kDecompress,
    kCrc32B, kCrc32H, kCrc32W, kCrc32cB, kCrc32cH, kCrc32cW,
};

enum class CsrOp : uint32_t { kRead, kWrite, kSet, kClear };

constexpr uint32_t kNoRegister = 32; // results for x0 go to this unused entry of the register file

struct Instruction {
    uint32_t text = 0; // as fetched: 16 bits if compressed
    Kind kind = Kind::kIllegal;
    Op op = Op::kNone;
    uint32_t rd = kNoRegister, rs1 = 0, rs2 = 0, rs3 = 0;
    uint64_t reads = 0;         // bit i: the first cycle reads register i
    uint32_t immediate = 0;     // operand b, or an offset; 0 if operand b is a register
    uint32_t register_b = 0;    // all ones if operand b is register rs2
    uint32_t bytes = 4;         // 2 if compressed
    uint32_t size = 0;          // of a load or store: log2 of its bytes
    bool sign_extends = false;  // a load
    CsrOp csr_op = CsrOp::kRead;
};

// Returns the 32-bit form of a compressed instruction, or 0, which is illegal.
inline uint32_t expand(uint32_t c) {
    const auto bits = [c](unsigned high, unsigned low) {
        return c >> low & ((1u << (high - low + 1)) - 1);
    };
    const auto bit = [c](unsigned i) { return c >> i & 1; };
    const uint32_t negative = bit(12) ? ~0u : 0;
    const uint32_t rd = bits(11, 7), low_rd = 8 + bits(4, 2), low_rs1 = 8 + bits(9, 7);
    const auto op_imm = [](uint32_t imm, uint32_t rs1, uint32_t funct3, uint32_t d) {
        return imm << 20 | rs1 << 15 | funct3 << 12 | d << 7 | 0x13;
    };
    const auto store = [](uint32_t offset, uint32_t rs2, uint32_t rs1) {
        return (offset >> 5) << 25 | rs2 << 20 | rs1 << 15 | 2 << 12 | (offset & 31) << 7 | 0x23;
    };
    const uint32_t imm6 = (negative & ~31u) | bits(6, 2);
    const uint32_t word_offset = bit(5) << 6 | bits(12, 10) << 3 | bit(6) << 2;
    switch (bits(1, 0) << 3 | bits(15, 13)) {
    case 000: { // c.addi4spn
        const uint32_t imm = bits(10, 7) << 6 | bits(12, 11) << 4 | bit(5) << 3 | bit(6) << 2;
        return imm ? op_imm(imm, 2, 0, low_rd) : 0;
    }
    case 002: // c.lw
        return word_offset << 20 | low_rs1 << 15 | 2 << 12 | low_rd << 7 | 0x03;
    case 006: // c.sw
        return store(word_offset, low_rd, low_rs1);
    case 010: // c.addi, c.nop
        return op_imm(imm6, rd, 0, rd);
    case 011:   // c.jal
    case 015: { // c.j
        const uint32_t link = bit(15) ? 0 : 1;
        const uint32_t offset = (negative & ~0x7ffu) | bit(8) << 10 | bits(10, 9) << 8 |
                                bit(6) << 7 | bit(7) << 6 | bit(2) << 5 | bit(11) << 4 |
                                bits(5, 3) << 1;
        return (offset >> 20 & 1) << 31 | (offset >> 1 & 0x3ff) << 21 | (offset >> 11 & 1) << 20 |
               (offset >> 12 & 0xff) << 12 | link << 7 | 0x6f;
    }
    case 012: // c.li
        return op_imm(imm6, 0, 0, rd);
    case 013: { // c.lui, c.addi16sp
        if (!bit(12) && !bits(6, 2))
            return 0;
        if (rd != 2)
            return imm6 << 12 | rd << 7 | 0x37;
        const uint32_t imm =
            (negative & ~0x1ffu) | bits(4, 3) << 7 | bit(5) << 6 | bit(2) << 5 | bit(6) << 4;
        return op_imm(imm, 2, 0, 2);
    }
    case 014: // arithmetic with registers x8 to x15
        switch (bits(11, 10)) {
        case 0:
        case 1: // c.srli, c.srai
            return bit(12) ? 0 : op_imm(bit(10) << 10 | bits(6, 2), low_rs1, 5, low_rs1);
        case 2: // c.andi
            return op_imm(imm6, low_rs1, 7, low_rs1);
        default: { // c.sub, c.xor, c.or, c.and
            constexpr uint32_t kFunct3[] = {0, 4, 6, 7};
            const uint32_t funct7 = bits(6, 5) == 0 ? 0x20 : 0;
            return bit(12) ? 0
                           : funct7 << 25 | low_rd << 20 | low_rs1 << 15 | kFunct3[bits(6, 5)] << 12 |
                                 low_rs1 << 7 | 0x33;
        }
        }
    case 016:   // c.beqz
    case 017: { // c.bnez
        const uint32_t offset = (negative & ~0xffu) | bits(6, 5) << 6 | bit(2) << 5 |
                                bits(11, 10) << 3 | bits(4, 3) << 1;
        return (offset >> 12 & 1) << 31 | (offset >> 5 & 0x3f) << 25 | low_rs1 << 15 |
               bit(13) << 12 | (offset >> 1 & 0xf) << 8 | (offset >> 11 & 1) << 7 | 0x63;
    }
    case 020: // c.slli
        return bit(12) ? 0 : op_imm(bits(6, 2), rd, 1, rd);
    case 022: { // c.lwsp
        const uint32_t offset = bits(3, 2) << 6 | bit(12) << 5 | bits(6, 4) << 2;
        return rd ? offset << 20 | 2 << 15 | 2 << 12 | rd << 7 | 0x03 : 0;
    }
    case 024: { // c.jr, c.mv, c.ebreak, c.jalr, c.add
        const uint32_t rs2 = bits(6, 2);
        if (rs2)
            return rs2 << 20 | (bit(12) ? rd : 0) << 15 | rd << 7 | 0x33;
        if (rd)
            return rd << 15 | bit(12) << 7 | 0x67;
        return bit(12) ? 0x00100073 : 0;
    }
    case 026: // c.swsp
        return store(bits(8, 7) << 6 | bits(12, 9) << 2, bits(6, 2), 2);
    default:
        return 0;
    }
}

// The operation of a register-register instruction, by funct7 and funct3.
template <Config config> Op register_op(uint32_t insn) {
    const uint32_t funct3 = insn >> 12 & 7;
    if ((insn >> 26 & 1) && (funct3 & 3) == 1) { // four registers
        if (insn >> 25 & 1)
            return funct3 == 1 ? Op::kCmix : Op::kCmov;
        return funct3 == 1 ? Op::kFsl : Op::kFsr;
    }
    switch ((insn >> 25) << 4 | funct3) {
    case 0x000: return Op::kAdd;
    case 0x200: return Op::kSub;
    case 0x001: return Op::kSll;
    case 0x002: return Op::kSlt;
    case 0x003: return Op::kSltu;
    case 0x004: return Op::kXor;
    case 0x005: return Op::kSrl;
    case 0x205: return Op::kSra;
    case 0x006: return Op::kOr;
    case 0x007: return Op::kAnd;
    case 0x010: return Op::kMul;
    case 0x011: return Op::kMulh;
    case 0x012: return Op::kMulhsu;
    case 0x013: return Op::kMulhu;
    case 0x014: return Op::kDiv;
    case 0x015: return Op::kDivu;
    case 0x016: return Op::kRem;
    case 0x017: return Op::kRemu;
    case 0x102: return Op::kSh1add;
    case 0x104: return Op::kSh2add;
    case 0x106: return Op::kSh3add;
    case 0x207: return Op::kAndn;
    case 0x206: return Op::kOrn;
    case 0x204: return Op::kXnor;
    case 0x301: return Op::kRol;
    case 0x305: return Op::kRor;
    case 0x054: return Op::kMin;
    case 0x056: return Op::kMax;
    case 0x055: return Op::kMinu;
    case 0x057: return Op::kMaxu;
    case 0x044: return Op::kPack;
    case 0x244: return Op::kPacku;
    case 0x047: return Op::kPackh;
    case 0x241: return Op::kBclr;
    case 0x141: return Op::kBset;
    case 0x341: return Op::kBinv;
    case 0x245: return Op::kBext;
    case 0x247: return Op::kBfp;
    case 0x345: return Op::kGrev;
    case 0x145: return Op::kGorc;
    case 0x041: return Op::kShfl;
    case 0x045: return Op::kUnshfl;
    case 0x142: return Op::kXpermN;
    case 0x144: return Op::kXpermB;
    case 0x146: return Op::kXpermH;
    case 0x101: return Op::kSlo;
    case 0x105: return Op::kSro;
    case 0x051: return Op::kClmul;
    case 0x052: return Op::kClmulr;
    case 0x053: return Op::kClmulh;
    case 0x246: return config.full_bitmanip ? Op::kDecompress : Op::kNone;
    case 0x046: return config.full_bitmanip ? Op::kCompress : Op::kNone;
    default: return Op::kNone;
    }
}

// The operation of a register-immediate instruction.
inline Op immediate_op(uint32_t insn) {
    const uint32_t funct5 = insn >> 27, bits_26_20 = insn >> 20 & 0x7f;
    const bool bit_26 = insn >> 26 & 1, plain = (insn >> 25 & 3) == 0;
    switch (insn >> 12 & 7) {
    case 0: return Op::kAdd;
    case 2: return Op::kSlt;
    case 3: return Op::kSltu;
    case 4: return Op::kXor;
    case 6: return Op::kOr;
    case 7: return Op::kAnd;
    case 1:
        switch (funct5) {
        case 0x00: return plain ? Op::kSll : Op::kNone;
        case 0x04: return Op::kSlo;
        case 0x09: return Op::kBclr;
        case 0x05: return Op::kBset;
        case 0x0d: return Op::kBinv;
        case 0x01: return bit_26 ? Op::kNone : Op::kShfl;
        case 0x0c:
            switch (bits_26_20) {
            case 0x00: return Op::kClz;
            case 0x01: return Op::kCtz;
            case 0x02: return Op::kCpop;
            case 0x04: return Op::kSextB;
            case 0x05: return Op::kSextH;
            case 0x10: return Op::kCrc32B;
            case 0x11: return Op::kCrc32H;
            case 0x12: return Op::kCrc32W;
            case 0x18: return Op::kCrc32cB;
            case 0x19: return Op::kCrc32cH;
            case 0x1a: return Op::kCrc32cW;
            default: return Op::kNone;
            }
        default: return Op::kNone;
        }
    default:
        if (bit_26)
            return Op::kFsr;
        switch (funct5) {
        case 0x00: return plain ? Op::kSrl : Op::kNone;
        case 0x08: return plain ? Op::kSra : Op::kNone;
        case 0x04: return Op::kSro;
        case 0x09: return Op::kBext;
        case 0x0c: return Op::kRor;
        case 0x0d: return Op::kGrev;
        case 0x05: return Op::kGorc;
        case 0x01: return Op::kUnshfl;
        default: return Op::kNone;
        }
    }
}

// How long an operation takes.
inline Kind kind_of(Op op) {
    if (op == Op::kNone)
        return Kind::kIllegal;
    if (op >= Op::kRol)
        return Kind::kTwoCycle;
    if (op >= Op::kDiv && op <= Op::kRemu)
        return Kind::kDivide;
    return op >= Op::kMulh && op <= Op::kMulhu ? Kind::kMultiplyHigh : Kind::kAlu;
}

// Decodes an instruction from its text: 32 bits, or 16 with zeros above.
template <Config config> Instruction decode(uint32_t text) {
    Instruction i;
    i.text = text;
    i.bytes = (text & 3) == 3 ? 4 : 2;
    const uint32_t insn = i.bytes == 4 ? text : expand(text);
    const auto sign = static_cast<int32_t>(insn);
    const uint32_t funct3 = insn >> 12 & 7, rd = insn >> 7 & 31;
    const uint32_t immediate_i = static_cast<uint32_t>(sign >> 20);
    i.rs1 = insn >> 15 & 31;
    i.rs2 = insn >> 20 & 31;
    i.rs3 = insn >> 27;
    bool reads_a = false, reads_b = false, writes = false;
    switch (insn & 0x7f) {
    case 0x6f: // jal
        i.kind = Kind::kJump;
        i.immediate = static_cast<uint32_t>(sign >> 31 << 20) | (insn & 0xff000) |
                      (insn >> 20 & 1) << 11 | (insn >> 21 & 0x3ff) << 1;
        writes = true;
        break;
    case 0x67: // jalr
        i.kind = funct3 == 0 ? Kind::kJumpRegister : Kind::kIllegal;
        i.immediate = immediate_i;
        reads_a = writes = true;
        break;
    case 0x63: { // branches
        constexpr Op kOps[] = {Op::kEq, Op::kNe,  Op::kNone, Op::kNone,
                               Op::kLt, Op::kGe, Op::kLtu,  Op::kGeu};
        i.op = kOps[funct3];
        i.kind = i.op == Op::kNone ? Kind::kIllegal : Kind::kBranch;
        i.immediate = static_cast<uint32_t>(sign >> 31 << 12) | (insn >> 7 & 1) << 11 |
                      (insn >> 25 & 0x3f) << 5 | (insn >> 8 & 0xf) << 1;
        reads_a = reads_b = true;
        break;
    }
    case 0x23: // stores
        i.kind = funct3 <= 2 ? Kind::kStore : Kind::kIllegal;
        i.size = funct3;
        i.immediate = static_cast<uint32_t>(sign >> 25 << 5) | rd;
        reads_a = reads_b = true;
        break;
    case 0x03: // loads
        i.kind = (funct3 & 3) == 3 || funct3 == 6 ? Kind::kIllegal : Kind::kLoad;
        i.size = funct3 & 3;
        i.sign_extends = funct3 < 4;
        i.immediate = immediate_i;
        reads_a = writes = true;
        break;
    case 0x37: // lui
        i.kind = Kind::kAlu;
        i.op = Op::kAdd;
        i.rs1 = 0;
        i.immediate = insn & ~0xfffu;
        writes = true;
        break;
    case 0x17: // auipc
        i.kind = Kind::kAlu;
        i.op = Op::kAuipc;
        i.immediate = insn & ~0xfffu;
        writes = true;
        break;
    case 0x13: // register-immediate
        i.op = immediate_op(insn);
        i.kind = kind_of(i.op);
        i.immediate = immediate_i;
        reads_a = writes = true;
        break;
    case 0x33: // register-register
        i.op = register_op<config>(insn);
        i.kind = kind_of(i.op);
        i.register_b = ~0u;
        reads_a = reads_b = writes = true;
        break;
    case 0x0f:
        i.kind = funct3 == 0 ? Kind::kAlu : funct3 == 1 ? Kind::kFenceI : Kind::kIllegal;
        break;
    case 0x73:
        if (funct3 & 3) {
            constexpr CsrOp kOps[] = {CsrOp::kRead, CsrOp::kWrite, CsrOp::kSet, CsrOp::kClear};
            i.kind = Kind::kCsr;
            i.immediate = insn >> 20; // the CSR
            i.csr_op = kOps[funct3 & 3];
            if (i.csr_op != CsrOp::kWrite && i.rs1 == 0)
                i.csr_op = CsrOp::kRead;
            i.register_b = funct3 < 4 ? ~0u : 0; // the operand is register rs1, not its number
            reads_a = funct3 < 4;
            writes = true;
        } else if (funct3 == 0 && (insn & 0xf8f80) == 0) {
            switch (insn >> 20) {
            case 0x000: i.kind = Kind::kEcall; break;
            case 0x001: i.kind = Kind::kEbreak; break;
            case 0x302: i.kind = Kind::kMret; break;
            case 0x105: i.kind = Kind::kWfi; break;
            default: break; // dret is illegal outside debug mode
            }
        }
        break;
    default:
        break;
    }
    if (i.kind == Kind::kIllegal)
        return i;
    if (writes && rd)
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
    DecodeTable() {
        for (Instruction &entry : entries_)
            entry.text = kEmpty;
    }

private:
    static constexpr unsigned kBits = 11;
    static constexpr uint32_t kEmpty = 0xffff0000; // no text: compressed, but with bits above
    std::array<Instruction, 1 << kBits> entries_;
};

} // namespace earlgrey::ibex
