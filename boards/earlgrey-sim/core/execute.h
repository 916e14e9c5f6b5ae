// SPDX-License-Identifier: Apache-2.0 OR MIT
// The results of the ALU, the multiplier and the divider (ibex_alu.sv, ibex_multdiv_fast.sv). The
// bit manipulation follows draft 0.93, as Ibex does.
#pragma once

#include "decode.h"
#include <bit>

namespace earlgrey::ibex {

// Swaps neighbouring groups of bits, in the sizes that `sizes` selects; gorc also keeps the old
// bits.
inline uint32_t reverse_groups(uint32_t x, uint32_t sizes, bool keep) {
    constexpr uint32_t kLow[] = {0x55555555, 0x33333333, 0x0f0f0f0f, 0x00ff00ff, 0x0000ffff};
    for (unsigned i = 0; i < 5; ++i)
        if (sizes >> i & 1)
            x = (keep ? x : 0) | (x & kLow[i]) << (1 << i) | (x >> (1 << i) & kLow[i]);
    return x;
}
inline uint32_t reverse_bits(uint32_t x) { return reverse_groups(x, 31, false); }

// Exchanges the inner two quarters of every group of bits, in the sizes that `sizes` selects.
inline uint32_t shuffle(uint32_t x, uint32_t sizes, bool inverse) {
    constexpr uint32_t kLeft[] = {0x44444444, 0x30303030, 0x0f000f00, 0x00ff0000};
    for (unsigned k = 0; k < 4; ++k) {
        const unsigned i = inverse ? k : 3 - k, by = 1 << i;
        if (sizes >> i & 1)
            x = (x & ~(kLeft[i] | kLeft[i] >> by)) | (x << by & kLeft[i]) | (x & kLeft[i]) >> by;
    }
    return x;
}

// Looks up each group of 2^log bits of b as an index into the groups of a.
inline uint32_t permute(uint32_t a, uint32_t b, unsigned log) {
    const uint32_t width = 1u << log, mask = (1u << width) - 1;
    uint32_t result = 0;
    for (unsigned at = 0; at < 32; at += width) {
        const uint32_t from = (b >> at & mask) << log;
        if (from < 32)
            result |= (a >> from & mask) << at;
    }
    return result;
}

// The low half of a product without carries.
inline uint32_t carryless(uint32_t a, uint32_t b) {
    uint32_t product = 0;
    for (unsigned i = 0; i < 32; ++i)
        if (b >> i & 1)
            product ^= a << i;
    return product;
}

// A step of a CRC over the low `bits` bits of a, by Barrett's reduction.
inline uint32_t crc(uint32_t a, unsigned bits, uint32_t polynomial, uint32_t inverse) {
    const uint32_t quotient = reverse_bits(carryless(a << (32 - bits), inverse));
    return reverse_bits(carryless(quotient, polynomial)) ^ (bits == 32 ? 0 : a >> bits);
}

// The bits of a that b selects, moved to the low end, or back from there.
inline uint32_t compress(uint32_t a, uint32_t b) {
    uint32_t result = 0;
    for (unsigned at = 0; b; b &= b - 1)
        result |= (a >> std::countr_zero(b) & 1) << at++;
    return result;
}
inline uint32_t decompress(uint32_t a, uint32_t b) {
    uint32_t result = 0;
    for (; b; b &= b - 1, a >>= 1)
        result |= (a & 1) << std::countr_zero(b);
    return result;
}

// bfp: places a field from the low half of b into a; its high half has the length and offset.
inline uint32_t place_field(uint32_t a, uint32_t b) {
    const uint32_t code = b >> 24 & 15, length = code ? code : 16, offset = b >> 16 & 31;
    const uint32_t mask = (1u << length) - 1;
    return (a & ~(mask << offset)) | (b & mask) << offset;
}

// The bits of a shifted by b out of the word `next`, by up to 63 (fsl, fsr).
inline uint32_t funnel(uint32_t a, uint32_t next, uint32_t b, bool left) {
    if (b & 32)
        std::swap(a, next);
    const uint64_t both = left ? uint64_t{a} << 32 | next : uint64_t{next} << 32 | a;
    return static_cast<uint32_t>(left ? both << (b & 31) >> 32 : both >> (b & 31));
}

// The result of an operation; c is the third register. A branch is taken if its result is not 0.
inline uint32_t alu(Op op, uint32_t a, uint32_t b, uint32_t c = 0) {
    constexpr uint32_t kCrc = 0x04c11db7, kCrcInverse = 0xf7011641;
    constexpr uint32_t kCrcC = 0x1edc6f41, kCrcCInverse = 0xdea713f1;
    const auto sa = static_cast<int32_t>(a), sb = static_cast<int32_t>(b);
    const auto high = [](int64_t x, int64_t y) { return static_cast<uint32_t>(x * y >> 32); };
    const bool overflows = a == 0x80000000 && b == ~0u;
    const uint32_t by = b & 31;
    switch (op) {
    case Op::kAdd: return a + b;
    case Op::kSub: return a - b;
    case Op::kXor: return a ^ b;
    case Op::kOr: return a | b;
    case Op::kAnd: return a & b;
    case Op::kSll: return a << by;
    case Op::kSrl: return a >> by;
    case Op::kSra: return static_cast<uint32_t>(sa >> by);
    case Op::kSlt: return sa < sb;
    case Op::kSltu: return a < b;
    case Op::kEq: return a == b;
    case Op::kNe: return a != b;
    case Op::kGe: return sa >= sb;
    case Op::kGeu: return a >= b;
    case Op::kMul: return a * b;
    case Op::kMulh: return high(sa, sb);
    case Op::kMulhsu: return high(sa, b);
    case Op::kMulhu: return static_cast<uint32_t>(uint64_t{a} * b >> 32);
    case Op::kDiv: return !b ? ~0u : overflows ? a : static_cast<uint32_t>(sa / sb);
    case Op::kDivu: return !b ? ~0u : a / b;
    case Op::kRem: return !b ? a : overflows ? 0 : static_cast<uint32_t>(sa % sb);
    case Op::kRemu: return !b ? a : a % b;
    case Op::kXnor: return ~(a ^ b);
    case Op::kOrn: return a | ~b;
    case Op::kAndn: return a & ~b;
    case Op::kSlo: return ~(~a << by);
    case Op::kSro: return ~(~a >> by);
    case Op::kSh1add: return (a << 1) + b;
    case Op::kSh2add: return (a << 2) + b;
    case Op::kSh3add: return (a << 3) + b;
    case Op::kMin: return sa < sb ? a : b;
    case Op::kMax: return sa < sb ? b : a;
    case Op::kMinu: return a < b ? a : b;
    case Op::kMaxu: return a < b ? b : a;
    case Op::kPack: return b << 16 | (a & 0xffff);
    case Op::kPacku: return (b & 0xffff0000) | a >> 16;
    case Op::kPackh: return (b & 0xff) << 8 | (a & 0xff);
    case Op::kBclr: return a & ~(1u << by);
    case Op::kBset: return a | 1u << by;
    case Op::kBinv: return a ^ 1u << by;
    case Op::kBext: return a >> by & 1;
    case Op::kBfp: return place_field(a, b);
    case Op::kGrev: return reverse_groups(a, by, false);
    case Op::kGorc: return reverse_groups(a, by, true);
    case Op::kShfl: return shuffle(a, by & 15, false);
    case Op::kUnshfl: return shuffle(a, by & 15, true);
    case Op::kXpermN: return permute(a, b, 2);
    case Op::kXpermB: return permute(a, b, 3);
    case Op::kXpermH: return permute(a, b, 4);
    case Op::kClmul: return carryless(a, b);
    case Op::kClmulr: return reverse_bits(carryless(reverse_bits(a), reverse_bits(b)));
    case Op::kClmulh: return reverse_bits(carryless(reverse_bits(a), reverse_bits(b))) >> 1;
    case Op::kClz: return static_cast<uint32_t>(std::countl_zero(a));
    case Op::kCtz: return static_cast<uint32_t>(std::countr_zero(a));
    case Op::kCpop: return static_cast<uint32_t>(std::popcount(a));
    case Op::kSextB: return static_cast<uint32_t>(static_cast<int8_t>(a));
    case Op::kSextH: return static_cast<uint32_t>(static_cast<int16_t>(a));
    case Op::kRol: return std::rotl(a, static_cast<int>(by));
    case Op::kRor: return std::rotr(a, static_cast<int>(by));
    case Op::kFsl: return funnel(a, c, b, true);
    case Op::kFsr: return funnel(a, c, b, false);
    case Op::kCmix: return (a & b) | (c & ~b);
    case Op::kCmov: return b ? a : c;
    case Op::kCompress: return compress(a, b);
    case Op::kDecompress: return decompress(a, b);
    case Op::kCrc32B: return crc(a, 8, kCrc, kCrcInverse);
    case Op::kCrc32H: return crc(a, 16, kCrc, kCrcInverse);
    case Op::kCrc32W: return crc(a, 32, kCrc, kCrcInverse);
    case Op::kCrc32cB: return crc(a, 8, kCrcC, kCrcCInverse);
    case Op::kCrc32cH: return crc(a, 16, kCrcC, kCrcCInverse);
    case Op::kCrc32cW: return crc(a, 32, kCrcC, kCrcCInverse);
    default: return 0; // of an instruction without a result
    }
}

} // namespace earlgrey::ibex
