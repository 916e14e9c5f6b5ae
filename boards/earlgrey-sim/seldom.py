# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Makes the Verilated core skip work whose inputs did not change. Reads C++ and writes C++.

Verilator evaluates all logic of a clock at every edge. A quarter of the time goes to the address
masks of the 16 PMP regions: long expressions of two registers each, which software writes when it
switches processes. This script finds such assignments, of a variable from nothing but
configuration registers, and puts before each a test whether one of them has another value than at
the last time. The value is the same either way; where nothing matches, nothing is changed.
"""

import re
import sys

LONG = 2000  # characters of an expression that cost more than the test
PRELUDE = """
namespace {
struct Seldom { // the registers of an expression, as they were when it was last evaluated
    QData seen[2] = {~0ULL, ~0ULL};
    bool changed(QData a, QData b) {
        if (VL_LIKELY(seen[0] == a && seen[1] == b)) return false;
        seen[0] = a, seen[1] = b;
        return true;
    }
};
} // namespace
"""
ASSIGNMENT = re.compile(r"\bvlSelfRef\.(\w+)\s*=(?!=)([^;{}]*);")
MEMBER = re.compile(r"vlSelfRef\.(\w+)")
REGISTER = re.compile(r"\w*_csr__DOT__rdata_q")
# What else an expression may hold: casts and calls of Verilator's, and numbers.
OTHER = re.compile(r"\b(?!vlSelfRef\b|[CSIQ]Data\b|VL_|0x|\d)[A-Za-z_]\w*(?<!\.)")


def registers(expression: str) -> list[str]:
    """The registers that the expression reads, if it is long, reads two at most, and no more."""
    names = sorted(set(MEMBER.findall(expression)))
    plain = not OTHER.search(MEMBER.sub("0", expression))
    if len(expression) < LONG or not plain or not 1 <= len(names) <= 2:
        return []
    return names if all(map(REGISTER.fullmatch, names)) else []


def main() -> None:
    source = sys.stdin.read()
    meanings: dict[str, set[str]] = {}
    for name, expression in ASSIGNMENT.findall(source):
        meanings.setdefault(name, set()).add("".join(expression.split()))
    tests: list[str] = []

    def guarded(match: re.Match[str]) -> str:
        name, expression = match.groups()
        names = registers(expression)
        if not names or len(meanings[name]) > 1:
            return match[0]
        tests.append(name)
        values = ", ".join(f"vlSelfRef.{n}" for n in (names * 2)[:2])
        return f"if (VL_UNLIKELY(seldom_{name}.changed({values}))) {match[0]}"

    body = ASSIGNMENT.sub(guarded, source)
    head, first, rest = body.partition('#include "Vcore__pch.h"\n')
    objects = "".join(f"static Seldom seldom_{name};\n" for name in sorted(set(tests)))
    sys.stdout.write(head + first + PRELUDE + objects + rest)


if __name__ == "__main__":
    main()
