// SPDX-License-Identifier: Apache-2.0 OR MIT
// Is there a shorter way to distinguish Perf's command from all other traps? (README.md, "What is
// proved")
//
// A way is a number of computing instructions and of branches that leave the path. It is right if
// it stays on the path for a0 = Perf, a1 = 3, a4 = 2, mcause = 8 and leaves it for everything else.
// We list all ways of a length and reject each at the first trap that it handles wrongly. If none
// is left, that is a proof, for any choice of traps. A way need not keep any register here, and
// constants may have any useful value, so the search covers everything that a kernel could do with
// these instructions.
//
//   search COMPUTING BRANCHES [few|fewest]
// searches all ways with COMPUTING computing instructions and at most BRANCHES branches. It prints
// the number of ways to compute, and each way that is left. `few`: immediates from -8 to 8 and a
// quarter of the shifts; `fewest`: from -3 to 3. With 4 computing instructions it tries only one
// branch.
#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

namespace {

constexpr uint32_t kPerf = 0x90010;
constexpr int kLanes = 8, kTiers = 9;

using Lanes = uint32_t __attribute__((vector_size(4 * kLanes)));
using Signed = int32_t __attribute__((vector_size(4 * kLanes)));

struct Trap {
    uint32_t a0, a1, a4, cause;
};

constexpr Trap kGood = {kPerf, 3, 2, 8};

// Traps that must leave the path. The first tier rejects most ways.
std::vector<Trap> wrong_traps() {
    std::vector<Trap> all = {
        {kPerf + 1, 3, 2, 8}, {kPerf - 1, 3, 2, 8}, {kPerf, 4, 2, 8}, {kPerf, 2, 2, 8},
        {kPerf, 3, 3, 8},     {kPerf, 3, 1, 8},     {kPerf, 3, 2, 7}, {kPerf ^ 1u << 31, 3, 2, 8},
    };
    for (uint32_t cause : {1, 2, 3, 5})
        all.push_back({kPerf, 3, 2, cause});
    for (int bit : {31, 30, 29, 28, 16, 8, 4, 1})
        all.push_back({kPerf, 3 ^ 1u << bit, 2, 8});
    for (int bit : {30, 29, 28, 19, 16, 12, 8, 4, 2, 1})
        all.push_back({kPerf ^ 1u << bit, 3, 2, 8});
    for (uint32_t a4 : {0, 4, 5, 6, 7, 8, 10, 18, 34, 130, 255})
        all.push_back({kPerf, 3, a4, 8});
    for (uint32_t cause : {1, 2, 3, 5, 7})
        for (uint32_t a4 : {0, 1, 3, 4})
            all.push_back({kPerf, a4 + 1, a4, cause});
    for (uint32_t d : {1, 2, 3})
        all.push_back({kPerf + d, 3 + d, 2, 8}), all.push_back({kPerf + d, 3 - d, 2, 8});
    while (all.size() < kLanes * kTiers)
        all.push_back(all[all.size() % 32]);
    all.resize(kLanes * kTiers);
    return all;
}

// A last, long check of the remaining ways. A fault may have any value in a4, a call a class of one
// byte.
std::vector<Trap> many_traps() {
    std::vector<Trap> all;
    std::vector<uint32_t> words = {kPerf,      130,        0xffffffff, 0x80000002,
                                   0x40000002, 0x20000002, 0x80000003};
    for (uint32_t word = 0; word < 40; word++)
        words.push_back(word);
    std::vector<uint32_t> drivers = {kPerf + 1, kPerf - 1, kPerf + 16, kPerf + 8, kPerf * 2,
                                     0,         1,         2,          3,         8};
    drivers.push_back(kPerf);
    for (uint32_t a0 : drivers)
        for (uint32_t a1 : words)
            for (uint32_t a4 : words)
                for (uint32_t cause : {1, 2, 3, 5, 7, 8})
                    if ((cause != 8 || a4 < 256) &&
                        !(a0 == kPerf && a1 == 3 && a4 == 2 && cause == 8))
                        all.push_back({a0, a1, a4, cause});
    return all;
}

enum Op { ADD, SUB, XOR, OR, AND, SLL, SRL, SRA, SLT, SLTU, MUL, SH1ADD, SH2ADD, SH3ADD, OPS };
const char *const kNames[] = {"add", "sub", "xor",  "or",  "and",    "sll",    "srl",
                              "sra", "slt", "sltu", "mul", "sh1add", "sh2add", "sh3add"};
constexpr bool kCommutes[] = {true,  false, true,  true, true,  false, false,
                              false, false, false, true, false, false, false};

template <class U, class S> inline U compute(Op op, U a, U b) {
    switch (op) {
    case ADD:
        return a + b;
    case SUB:
        return a - b;
    case XOR:
        return a ^ b;
    case OR:
        return a | b;
    case AND:
        return a & b;
    case SLL:
        return a << (b & 31);
    case SRL:
        return a >> (b & 31);
    case SRA:
        return (U)((S)a >> (S)(b & 31));
    case SLT:
        return (U)((S)a < (S)b) & 1;
    case SLTU:
        return (U)(a < b) & 1;
    case MUL:
        return a * b;
    case SH1ADD:
        return (a << 1) + b;
    case SH2ADD:
        return (a << 2) + b;
    default:
        return (a << 3) + b;
    }
}

// An instruction with two registers, with one and an immediate, or that loads a constant.
struct Instruction {
    Op op;
    int one, other; // other < 0: the immediate
    uint32_t immediate;
    bool constant;
};

struct Value {
    uint32_t good;
    std::array<Lanes, kTiers> wrong;
};

constexpr int kLeaves = 6; // a0, a1, a4, mcause, x0, and 130, which the answer needs anyway
constexpr int kMost = kLeaves + 4;
const char *const kLeaf[] = {"a0", "a1", "a4", "mcause", "x0", "130"};

Value values[kMost];
Instruction chosen[4];
std::vector<uint32_t> immediates, shifts, constants;
std::vector<Trap> tries, last_look;
uint64_t ways = 0, left = 0;
int computing, branches;

// A comparison that stays on the path in the good case, and the traps at which it leaves. If both
// values are equal in the good case, "equal" leaves most often; otherwise the two orders, signed
// and unsigned.
struct Comparison {
    int one, other, kind; // 0: equal, 1: less, 2: less, unsigned
};

inline bool equal(int one, int other) { return values[one].good == values[other].good; }

inline Lanes leaves(const Comparison &c, int tier) {
    Lanes a = values[c.one].wrong[tier], b = values[c.other].wrong[tier];
    if (c.kind == 0)
        return (Lanes)(a != b);
    if (c.kind == 1)
        return (Lanes)((Signed)a >= (Signed)b);
    return (Lanes)(a >= b);
}

void add_comparisons(std::vector<Comparison> &to, int one, int other) {
    uint32_t a = values[one].good, b = values[other].good;
    if (a == b) {
        to.push_back({one, other, 0});
        return;
    }
    to.push_back((int32_t)a < (int32_t)b ? Comparison{one, other, 1} : Comparison{other, one, 1});
    to.push_back(a < b ? Comparison{one, other, 2} : Comparison{other, one, 2});
}

inline bool all_set(Lanes lanes) {
    uint32_t both = ~0u;
    for (int i = 0; i < kLanes; i++)
        both &= lanes[i];
    return both == ~0u;
}

bool right(const std::vector<Comparison> &taken) {
    for (const Trap &trap : last_look) {
        uint32_t at[kMost] = {trap.a0, trap.a1, trap.a4, trap.cause, 0, 130};
        for (int i = 0; i < computing; i++) {
            const Instruction &in = chosen[i];
            at[kLeaves + i] =
                in.constant ? in.immediate
                            : compute<uint32_t, int32_t>(
                                  in.op, at[in.one], in.other < 0 ? in.immediate : at[in.other]);
        }
        bool gone = false;
        for (const Comparison &c : taken) {
            uint32_t a = at[c.one], b = at[c.other];
            gone |= c.kind == 0 ? a != b : c.kind == 1 ? (int32_t)a >= (int32_t)b : a >= b;
        }
        if (!gone)
            return false;
    }
    return true;
}

std::string named(int value) {
    return value < kLeaves ? kLeaf[value] : "v" + std::to_string(value - kLeaves);
}

void report(const std::vector<Comparison> &taken) {
    if (!right(taken))
        return;
    left++;
    if (left > 40)
        return;
    for (int i = 0; i < computing; i++) {
        const Instruction &in = chosen[i];
        if (in.constant)
            std::printf("v%d = %#x; ", i, in.immediate);
        else
            std::printf("v%d = %s %s, %s; ", i, kNames[in.op], named(in.one).c_str(),
                        in.other < 0 ? std::to_string((int32_t)in.immediate).c_str()
                                     : named(in.other).c_str());
    }
    for (const Comparison &c : taken)
        std::printf("%s %s %s; ", named(c.one).c_str(),
                    c.kind ? (c.kind == 1 ? "<" : "<u") : "==", named(c.other).c_str());
    std::printf("\n");
}

std::vector<Comparison> among(int count) {
    std::vector<Comparison> found;
    for (int one = 0; one < count; one++)
        for (int other = one + 1; other < count; other++)
            add_comparisons(found, one, other);
    return found;
}

// The first tier's traps at which a comparison leaves the path, one bit each.
inline unsigned first_tier(const Comparison &c) {
    Lanes at = leaves(c, 0);
    unsigned bits = 0;
    for (int i = 0; i < kLanes; i++)
        bits |= (at[i] & 1) << i;
    return bits;
}

// All comparisons; first the comparisons of values before the last one.
std::vector<Comparison> asked;
std::vector<unsigned> asked_bits;
size_t asked_before;

void ask(const Comparison &c) {
    asked.push_back(c);
    asked_bits.push_back(first_tier(c));
}

void prepare(int count) {
    asked.clear();
    asked_bits.clear();
    for (const Comparison &c : among(count))
        ask(c);
    asked_before = asked.size();
}

void fill(int depth, int from, int to);

// Searches for this many more comparisons that together leave at all traps. One of them must leave
// at the first remaining trap.
void cover(std::vector<Comparison> &taken, unsigned gone, int more) {
    if (gone == 0xff) {
        if (computing)
            fill(computing - 1, 1, kTiers);
        for (int tier = 0; tier < kTiers; tier++) {
            Lanes at = {};
            for (const Comparison &c : taken)
                at |= leaves(c, tier);
            for (int i = 0; i < kLanes; i++)
                if (!at[i]) {
                    if (more == 0)
                        return;
                    for (const Comparison &c : asked)
                        if (leaves(c, tier)[i]) {
                            taken.push_back(c);
                            cover(taken, gone, more - 1);
                            taken.pop_back();
                        }
                    return;
                }
        }
        report(taken);
        return;
    }
    if (more == 0)
        return;
    unsigned first = ~gone & (gone + 1);
    for (size_t i = 0; i < asked.size(); i++)
        if (asked_bits[i] & first && (more > 1 || (asked_bits[i] | gone) == 0xff)) {
            taken.push_back(asked[i]);
            cover(taken, gone | asked_bits[i], more - 1);
            taken.pop_back();
        }
}

void with_branches(int count) {
    static std::vector<Comparison> taken;
    if (computing == 0)
        prepare(count - 1);
    asked.resize(asked_before);
    asked_bits.resize(asked_before);
    unsigned all = 0;
    for (int other = 0; other + 1 < count; other++)
        add_comparisons(asked, other, count - 1);
    for (size_t i = asked_before; i < asked.size(); i++)
        asked_bits.push_back(first_tier(asked[i]));
    for (unsigned bits : asked_bits)
        all |= bits;
    if (all == 0xff)
        cover(taken, 0, branches);
}

void with_one_branch(int count, unsigned unused) {
    std::vector<Comparison> added;
    for (int one = 0; one < count; one++)
        for (int other = one + 1; other < count; other++)
            if (!(unused & ~(1u << one | 1u << other)))
                add_comparisons(added, one, other);
    for (const Comparison &c : added) {
        if (!all_set(leaves(c, 0)))
            continue;
        fill(computing - 1, 1, kTiers);
        int tier = 1;
        while (tier < kTiers && all_set(leaves(c, tier)))
            tier++;
        if (tier == kTiers)
            report({c});
    }
}

void choose(int depth, unsigned unused);

// The values of an instruction at the traps of some tiers. For the last instruction, the first tier
// is mostly enough.
void fill(int depth, int from, int to) {
    const Instruction &in = chosen[depth];
    Value &into = values[kLeaves + depth];
    for (int tier = from; tier < to; tier++) {
        Lanes other = in.other < 0 ? Lanes{} + in.immediate : values[in.other].wrong[tier];
        into.wrong[tier] =
            in.constant ? other : compute<Lanes, Signed>(in.op, values[in.one].wrong[tier], other);
    }
}

void go_on(int depth, unsigned unused, const Instruction &in) {
    int count = kLeaves + depth;
    Value &to = values[count];
    chosen[depth] = in;
    if (in.constant) {
        to.good = in.immediate;
        for (auto &wrong : to.wrong)
            wrong = Lanes{} + in.immediate;
    } else {
        const Value &a = values[in.one];
        to.good = compute<uint32_t, int32_t>(in.op, a.good,
                                             in.other < 0 ? in.immediate : values[in.other].good);
        fill(depth, 0, depth + 1 == computing ? 1 : kTiers);
        unused &= ~(1u << in.one);
        if (in.other >= 0)
            unused &= ~(1u << in.other);
    }
    // Skip an instruction that gives no new value at any trap.
    for (int old = 0; depth + 1 < computing && old < count; old++)
        if (values[old].good == to.good &&
            !std::memcmp(&values[old].wrong, &to.wrong, sizeof to.wrong))
            return;
    unused |= 1u << count;
    choose(depth + 1, unused);
}

// Whether two independent instructions are in the order that we try.
bool in_order(int depth, const Instruction &in) {
    if (depth == 0 || in.one == kLeaves + depth - 1 || in.other == kLeaves + depth - 1)
        return true;
    const Instruction &last = chosen[depth - 1];
    auto key = [](const Instruction &i) {
        return std::array<int64_t, 5>{i.constant, i.op, i.one, i.other, i.immediate};
    };
    return key(last) < key(in);
}

void choose(int depth, unsigned unused) {
    int count = kLeaves + depth;
    // Computed values must be used, and so must the trap's four values: an instruction with two
    // registers leaves one value less, and each branch uses two.
    int open = __builtin_popcount(unused), more = computing - depth;
    if (open - more > 2 * branches)
        return;
    if (more == 0) {
        ways++;
        if (computing == 4)
            with_one_branch(count, unused);
        else
            with_branches(count);
        return;
    }
    if (more == 1 && computing < 4)
        prepare(count);
    auto take = [&](const Instruction &in) {
        if (in_order(depth, in))
            go_on(depth, unused, in);
    };
    for (uint32_t constant : constants)
        take({ADD, -1, -1, constant, true});
    for (int one = 0; one < count; one++) {
        if (one == 4 || one == 5)
            continue; // that would be a constant
        for (int op = ADD; op <= SLTU; op++) {
            if (op == SUB)
                continue;
            const auto &from = op == SLL || op == SRL || op == SRA ? shifts : immediates;
            for (uint32_t immediate : from)
                take({(Op)op, one, -1, immediate, false});
        }
    }
    for (int op = 0; op < OPS; op++)
        for (int one = 0; one < count; one++)
            for (int other = kCommutes[op] ? one : 0; other < count; other++)
                if (!((one == 4 || one == 5) && (other == 4 || other == 5)))
                    take({(Op)op, one, other, 0, false});
}

} // namespace

int main(int argc, char **argv) {
    if (argc < 3)
        return 2;
    bool fewest = !std::strcmp(argv[argc - 1], "fewest");
    bool few = fewest || !std::strcmp(argv[argc - 1], "few");
    computing = std::atoi(argv[1]);
    branches = std::atoi(argv[2]);
    int far = fewest ? 3 : few ? 8 : 16;
    for (int immediate = -far; immediate <= far; immediate++)
        immediates.push_back(immediate);
    if (!few) // from one of 0, 2, 3, 8 and 130 to another
        for (int immediate : {122, 127, 128, 130, -122, -127, -128, -130})
            immediates.push_back(immediate);
    for (int shift = 1; shift < 32; shift++)
        if (!few || shift < (fewest ? 4 : 5) || shift == 16 || shift == 29 || shift == 30)
            shifts.push_back(shift);
    constants = {1, 2, 3, 4, 5, 6, 7, 8, 16, 24, 32, ~0u, 1u << 31};
    for (int near = -16; near <= 16; near++) // by auipc, at the right place
        if (!few || (near > -9 && near < 9 && (!fewest || near % 3 == 0)))
            constants.push_back(kPerf + near);
    for (uint32_t other : {kPerf - 130, kPerf << 1, kPerf << 2, kPerf << 3, kPerf >> 1, kPerf >> 2,
                           kPerf >> 3, kPerf >> 4, 0x90000u})
        constants.push_back(other);

    tries = wrong_traps();
    last_look = many_traps();
    auto leaf = [&](int which, auto of) {
        values[which].good = of(kGood);
        for (int i = 0; i < kLanes * kTiers; i++)
            values[which].wrong[i / kLanes][i % kLanes] = of(tries[i]);
    };
    leaf(0, [](const Trap &t) { return t.a0; });
    leaf(1, [](const Trap &t) { return t.a1; });
    leaf(2, [](const Trap &t) { return t.a4; });
    leaf(3, [](const Trap &t) { return t.cause; });
    leaf(4, [](const Trap &) { return 0u; });
    leaf(5, [](const Trap &) { return 130u; });
    choose(0, 0b1111);
    std::printf("%llu ways, %llu left\n", (unsigned long long)ways, (unsigned long long)left);
    return 0;
}
