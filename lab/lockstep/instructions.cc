// SPDX-License-Identifier: Apache-2.0 OR MIT
// The patterns, by the tables of ibex_decoder.sv and ibex_compressed_decoder.sv.
#include "instructions.h"

#include "machine.h"

#include <array>

namespace lockstep {
namespace {

struct Named {
    const char *name;
    uint32_t a, b;
};

std::vector<Pattern> make() {
    std::vector<Pattern> all;
    const auto add = [&all](const char *name, uint32_t mask, uint32_t match,
                            Operands operands = Operands::kPlain, bool traps = false) {
        all.push_back({name, mask, match, operands, traps});
    };

    // Register-register: funct7, funct3.
    for (const Named &op : std::initializer_list<Named>{
             {"add", 0x00, 0},     {"sub", 0x20, 0},    {"sll", 0x00, 1},     {"slt", 0x00, 2},
             {"sltu", 0x00, 3},    {"xor", 0x00, 4},    {"srl", 0x00, 5},     {"sra", 0x20, 5},
             {"or", 0x00, 6},      {"and", 0x00, 7},    {"mul", 0x01, 0},     {"mulh", 0x01, 1},
             {"mulhsu", 0x01, 2},  {"mulhu", 0x01, 3},  {"div", 0x01, 4},     {"divu", 0x01, 5},
             {"rem", 0x01, 6},     {"remu", 0x01, 7},   {"sh1add", 0x10, 2},  {"sh2add", 0x10, 4},
             {"sh3add", 0x10, 6},  {"andn", 0x20, 7},   {"orn", 0x20, 6},     {"xnor", 0x20, 4},
             {"rol", 0x30, 1},     {"ror", 0x30, 5},    {"min", 0x05, 4},     {"max", 0x05, 6},
             {"minu", 0x05, 5},    {"maxu", 0x05, 7},   {"pack", 0x04, 4},    {"packu", 0x24, 4},
             {"packh", 0x04, 7},   {"bclr", 0x24, 1},   {"bset", 0x14, 1},    {"binv", 0x34, 1},
             {"bext", 0x24, 5},    {"bfp", 0x24, 7},    {"grev", 0x34, 5},    {"gorc", 0x14, 5},
             {"shfl", 0x04, 1},    {"unshfl", 0x04, 5}, {"xperm.n", 0x14, 2}, {"xperm.b", 0x14, 4},
             {"xperm.h", 0x14, 6}, {"slo", 0x10, 1},    {"sro", 0x10, 5},     {"clmul", 0x05, 1},
             {"clmulr", 0x05, 2},  {"clmulh", 0x05, 3}})
        add(op.name, 0xfe00707f, op.a << 25 | op.b << 12 | 0x33);
    if (earlgrey::machine::kFlat) { // RV32BFull
        add("bdecompress", 0xfe00707f, 0x48006033);
        add("bcompress", 0xfe00707f, 0x08006033);
    }
    // With a third source: bits 26 and 25, funct3.
    for (const Named &op :
         std::initializer_list<Named>{{"cmix", 3, 1}, {"cmov", 3, 5}, {"fsl", 2, 1}, {"fsr", 2, 5}})
        add(op.name, 0x0600707f, op.a << 25 | op.b << 12 | 0x33);

    for (const Named &op : std::initializer_list<Named>{{"addi", 0, 0},
                                                        {"slti", 2, 0},
                                                        {"sltiu", 3, 0},
                                                        {"xori", 4, 0},
                                                        {"ori", 6, 0},
                                                        {"andi", 7, 0}})
        add(op.name, 0x707f, op.a << 12 | 0x13);
    // One source: the upper 12 bits.
    for (const Named &op : std::initializer_list<Named>{{"clz", 0x600, 0},
                                                        {"ctz", 0x601, 0},
                                                        {"cpop", 0x602, 0},
                                                        {"sext.b", 0x604, 0},
                                                        {"sext.h", 0x605, 0},
                                                        {"crc32.b", 0x610, 0},
                                                        {"crc32.h", 0x611, 0},
                                                        {"crc32.w", 0x612, 0},
                                                        {"crc32c.b", 0x618, 0},
                                                        {"crc32c.h", 0x619, 0},
                                                        {"crc32c.w", 0x61a, 0}})
        add(op.name, 0xfff0707f, op.a << 20 | 0x1013);
    add("slli", 0xfe00707f, 0x00001013);
    add("srli", 0xfe00707f, 0x00005013);
    add("srai", 0xfe00707f, 0x40005013);
    add("shfli", 0xfc00707f, 0x08001013);
    add("unshfli", 0xfc00707f, 0x08005013);
    // The decoder looks at the upper five bits only; with funct3 5, bit 26 makes it fsri.
    for (const Named &op : std::initializer_list<Named>{
             {"sloi", 0x04, 0}, {"bclri", 0x09, 0}, {"bseti", 0x05, 0}, {"binvi", 0x0d, 0}})
        add(op.name, 0xf800707f, op.a << 27 | 0x1013);
    for (const Named &op : std::initializer_list<Named>{{"sroi", 0x04, 0},
                                                        {"rori", 0x0c, 0},
                                                        {"bexti", 0x09, 0},
                                                        {"grevi", 0x0d, 0},
                                                        {"gorci", 0x05, 0}})
        add(op.name, 0xfc00707f, op.a << 27 | 0x5013);
    add("fsri", 0x0400707f, 0x04005013);

    add("lui", 0x7f, 0x37);
    add("auipc", 0x7f, 0x17);
    add("jal", 0x7f, 0x6f, Operands::kJal);
    add("jalr", 0x707f, 0x67, Operands::kJalr);
    for (const Named &op : std::initializer_list<Named>{{"beq", 0, 0},
                                                        {"bne", 1, 0},
                                                        {"blt", 4, 0},
                                                        {"bge", 5, 0},
                                                        {"bltu", 6, 0},
                                                        {"bgeu", 7, 0}})
        add(op.name, 0x707f, op.a << 12 | 0x63, Operands::kBranch);
    for (const Named &op : std::initializer_list<Named>{
             {"lb", 0, 0}, {"lh", 1, 0}, {"lw", 2, 0}, {"lbu", 4, 0}, {"lhu", 5, 0}})
        add(op.name, 0x707f, op.a << 12 | 0x03, Operands::kLoad);
    for (const Named &op : std::initializer_list<Named>{{"sb", 0, 0}, {"sh", 1, 0}, {"sw", 2, 0}})
        add(op.name, 0x707f, op.a << 12 | 0x23, Operands::kStore);
    add("fence", 0x707f, 0x0f);
    add("fence.i", 0x707f, 0x100f);
    for (const Named &op : std::initializer_list<Named>{{"csrrw", 1, 0},
                                                        {"csrrs", 2, 0},
                                                        {"csrrc", 3, 0},
                                                        {"csrrwi", 5, 0},
                                                        {"csrrsi", 6, 0},
                                                        {"csrrci", 7, 0}})
        add(op.name, 0x707f, op.a << 12 | 0x73, Operands::kCsr);
    add("ecall", ~0u, 0x00000073, Operands::kFixed, true);
    add("ebreak", ~0u, 0x00100073, Operands::kFixed, true);
    add("dret", ~0u, 0x7b200073, Operands::kFixed, true);
    add("mret", ~0u, 0x30200073, Operands::kFixed);
    add("wfi", ~0u, 0x10500073, Operands::kFixed);

    // Compressed; earlier patterns have priority.
    add("c.lw", 0xe003, 0x4000, Operands::kLoad);
    add("c.sw", 0xe003, 0xc000, Operands::kStore);
    add("c.illegal0", 0xffe3, 0x0000, Operands::kPlain, true);
    add("c.addi4spn", 0xe003, 0x0000);
    add("c.nop", 0xffff, 0x0001, Operands::kFixed);
    add("c.addi", 0xe003, 0x0001);
    add("c.jal", 0xe003, 0x2001, Operands::kJal);
    add("c.j", 0xe003, 0xa001, Operands::kJal);
    add("c.li", 0xe003, 0x4001);
    add("c.illegal1", 0xf07f, 0x6001, Operands::kPlain, true); // c.lui and c.addi16sp of zero
    add("c.addi16sp", 0xef83, 0x6101);
    add("c.lui", 0xe003, 0x6001);
    add("c.srli", 0xfc03, 0x8001);
    add("c.srai", 0xfc03, 0x8401);
    add("c.andi", 0xec03, 0x8801);
    add("c.sub", 0xfc63, 0x8c01);
    add("c.xor", 0xfc63, 0x8c21);
    add("c.or", 0xfc63, 0x8c41);
    add("c.and", 0xfc63, 0x8c61);
    add("c.beqz", 0xe003, 0xc001, Operands::kBranch);
    add("c.bnez", 0xe003, 0xe001, Operands::kBranch);
    add("c.slli", 0xf003, 0x0002);
    add("c.illegal2", 0xef83, 0x4002, Operands::kPlain, true); // c.lwsp to x0
    add("c.lwsp", 0xe003, 0x4002, Operands::kLoad);
    add("c.illegal3", 0xffff, 0x8002, Operands::kFixed, true);
    add("c.jr", 0xf07f, 0x8002, Operands::kJalr);
    add("c.mv", 0xf003, 0x8002);
    add("c.ebreak", 0xffff, 0x9002, Operands::kFixed, true);
    add("c.jalr", 0xf07f, 0x9002, Operands::kJalr);
    add("c.add", 0xf003, 0x9002);
    add("c.swsp", 0xe003, 0xc002, Operands::kStore);
    return all;
}

// By the bits that most patterns have: opcode and funct3.
unsigned bucket_of(uint32_t insn) {
    return (insn & 3) == 3 ? (insn >> 2 & 31) << 3 | (insn >> 12 & 7)
                           : 256 + ((insn & 3) << 3 | (insn >> 13 & 7));
}

using Buckets = std::array<std::vector<int>, 256 + 24>;

Buckets make_buckets() {
    Buckets buckets;
    for (unsigned bucket = 0; bucket < buckets.size(); ++bucket) {
        const bool compressed = bucket >= 256;
        const uint32_t code = compressed ? (bucket >> 3 & 3) | (bucket & 7) << 13
                                         : 3 | (bucket >> 3) << 2 | (bucket & 7) << 12;
        const uint32_t looked_at = compressed ? 0xe003 : 0x707f;
        for (unsigned i = 0; i < patterns().size(); ++i) {
            const Pattern &pattern = patterns()[i];
            if (pattern.compressed() == compressed &&
                ((pattern.match ^ code) & pattern.mask & looked_at) == 0)
                buckets[bucket].push_back(static_cast<int>(i));
        }
    }
    return buckets;
}

} // namespace

const std::vector<Pattern> &patterns() {
    static const std::vector<Pattern> all = make();
    return all;
}

int pattern_of(uint32_t insn) {
    static const Buckets buckets = make_buckets();
    for (const int i : buckets[bucket_of(insn)])
        if ((insn & patterns()[i].mask) == patterns()[i].match)
            return i;
    return -1;
}

const char *name_of(uint32_t insn) {
    const int index = pattern_of(insn);
    return index < 0 ? "illegal" : patterns()[index].name;
}

} // namespace lockstep
