# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Make the Verilated core skip logic whose inputs did not change. Reads C++ and writes C++.

Verilator evaluates all logic of a clock at every edge, although most results stay the same: little
changes while the core waits for memory, and the PMP's permissions change only with its registers.
dataflow.py finds such logic. This script guards each piece with a test whether an input has changed
since its last evaluation. All values stay the same. Without such logic the source is unchanged.
"""

import re
import sys

from dataflow import FUNCTION, ClockLogic

# Logic that is worth a test, by the variable of its result; inner logic precedes outer logic.
ENDS = (
    re.compile(r"\w*access_fault_check__\d+__final_perm_check"),  # PMP: permissions by region
    re.compile(r"\w*pmp_req_err"),  # PMP: whether a region permits this address
    re.compile(r"\w*clmul_result_raw"),  # the ALU: multiplication without carries
    re.compile(r"\w*ex_block_i__DOT__alu_result"),  # the rest of the ALU, with bit manipulation
)
# Registers that software seldom writes. One comparison serves all logic that depends only on them.
SELDOM = re.compile(r"\w*pmp_(?:addr_csr|cfg_csr|mseccfg)__DOT__rdata_q")
COSTS = 100  # operators of an expression of such registers that cost more than the test

PRELUDE = """
#include <tuple>
#include <type_traits>
namespace {
template <typename T> inline bool differs(const T &a, const T &b) {
    if constexpr (std::is_integral_v<T>) {
        return a != b;
    } else { // an array, byte by byte: a call of memcmp would cost more
        const auto *x = reinterpret_cast<const CData *>(&a);
        const auto *y = reinterpret_cast<const CData *>(&b);
        CData other = 0;
        for (unsigned i = 0; i < sizeof a; ++i) other |= x[i] ^ y[i];
        return other != 0;
    }
}
template <typename... T> struct Inputs { // of a piece of logic, as they were when it was evaluated
    std::tuple<T...> seen{};
    bool known = false;
    inline bool changed(const T &...now) {
        const bool same = known & std::apply(
            [&](const T &...before) { return !(differs(before, now) | ...); }, seen);
        if (VL_LIKELY(same)) return false;
        seen = std::tuple<T...>(now...), known = true;
        return true;
    }
};

// A piece of logic with one bit of a value: what it was for inputs that it had before, while the
// registers that are seldom written are as they were.
template <typename Out, typename... T> struct Known {
    struct Entry {
        std::tuple<T...> inputs{};
        QData number = ~0ULL;
        Out out = 0;
    };
    static constexpr unsigned kEntries = 512;
    Entry entries[kEntries];
    Entry *entry = entries;
    inline bool find(QData number, Out &out, const T &...now) {
        QData hash = 0;
        ((hash = (hash + bits(now)) * 0x9e3779b97f4a7c15ULL), ...);
        entry = &entries[hash >> 55];
        const bool same = (entry->number == number) & std::apply(
            [&](const T &...before) { return !(differs(before, now) | ...); }, entry->inputs);
        if (VL_LIKELY(same)) {
            out = entry->out;
            return true;
        }
        entry->inputs = std::tuple<T...>(now...), entry->number = number;
        return false;
    }
    inline void keep(Out out) { entry->out = out; }
    template <typename One> static inline QData bits(const One &one) {
        QData value = 0;
        __builtin_memcpy(&value, &one, sizeof one < sizeof value ? sizeof one : sizeof value);
        return value;
    }
};

// A number for each content of the registers that are seldom written: a kernel that switches
// between apps comes back to those it had.
template <typename... T> struct Numbers {
    static constexpr unsigned kEntries = 64;
    std::tuple<T...> contents[kEntries]{};
    QData numbers[kEntries]{};
    QData last = 0;
    QData of(const T &...now) {
        for (unsigned i = 0; i < kEntries; ++i) {
            const bool same = numbers[i] && std::apply(
                [&](const T &...before) { return !(differs(before, now) | ...); }, contents[i]);
            if (same) return numbers[i];
        }
        const unsigned oldest = last % kEntries;
        contents[oldest] = std::tuple<T...>(now...);
        return numbers[oldest] = ++last;
    }
};
QData seldom_number = 0; // of what they hold
bool seldom_written = true;
} // namespace
"""


def main() -> None:
    """Read C++ from standard input, and write it with tests before logic that may be skipped. With
    --registers-only, guard only logic that depends on seldom written registers alone."""
    source = sys.stdin.read()
    if FUNCTION not in source:
        sys.stdout.write(source)
        return
    logic = ClockLogic(source)
    logic.compare_once(SELDOM, COSTS)
    if "--registers-only" not in sys.argv:
        for end in ENDS:
            logic.guard_ends(end)
        logic.guard_of_one_input(COSTS)
    head, first, rest = logic.text().partition('#include "Vcore__pch.h"\n')
    sys.stdout.write(head + first + PRELUDE + logic.declarations() + rest)


if __name__ == "__main__":
    main()
