# SPDX-License-Identifier: Apache-2.0 OR MIT
"""This parts straight C++ as Verilator writes it into statements, and says what each reads and
writes, so that statements can be moved to where their values are used."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

NAME = re.compile(r"(?:vlSelfRef\.)?\b([A-Za-z_]\w*)\b")
NO_VARIABLE = re.compile(
    r"VL_\w+|[CSIQ]Data|vlSelfRef|vlSelf|vlSymsp|if|else|const|auto|Vcore__ConstPool__\w+|seldom_\w+|inputs_\d+|known_\d+|changed|find|keep"
)
TYPE = r"(?:[CSIQ]Data|VlWide<\d+>|VlUnpacked<[^;]*>)"
DECLARATION = re.compile(rf"^(?:\s*//[^\n]*\n)*\s*({TYPE})(?:/\*[\d:]+\*/)? (\w+);$")
ASSIGNMENT = re.compile(r"^(?:vlSelfRef\.)?(\w+)((?:\s*\[[^\]]*\])*)\s*=(?!=)(.*);$", re.DOTALL)
NEEDS = re.compile(r"\s*if \(\(\(IData\)\(((?:vlSelfRef\.)?\w+)\)\s*&\s*(?=\()")
PAIRS = {"(": ")", "[": "]", "{": "}"}


def closing(text: str, start: int) -> int:
    """Return where the bracket that opens at `start` closes."""
    depth = 0
    for match in re.compile(r"[(){}\[\]]").finditer(text, start):
        depth += 1 if match[0] in PAIRS else -1
        if depth == 0:
            return match.start()
    raise ValueError("a bracket does not close")


def statements(text: str) -> Iterator[str]:
    """Yield the statements of a block, in their order; together they are its text."""
    start = at = 0
    for match in re.compile(r'"[^"\n]*"|[;({\[]').finditer(text):
        if match.start() < at or match[0].startswith('"'):
            continue
        end = match.start()
        if match[0] != ";":
            at = end = closing(text, end)
            if match[0] != "{" or re.compile(r"\s*else\b").match(text, end + 1):
                continue
        yield text[start : end + 1]
        start = at = end + 1
    if text[start:].strip():
        yield text[start:]


def names(expression: str) -> set[str]:
    """Return the variables in it."""
    return {name for name in NAME.findall(expression) if not NO_VARIABLE.fullmatch(name)}


@dataclass
class Effects:
    """What a statement does to variables."""

    reads: set[str] = field(default_factory=set)  # values from before it
    writes: set[str] = field(default_factory=set)  # in whatever case, all or a part
    sets: set[str] = field(default_factory=set)  # in every case, all of it
    plain: bool = True  # these are known; else it must not be touched

    @staticmethod
    def of_all(these: Iterable["Effects"]) -> "Effects":
        """Return the effects of statements in a row."""
        sum_ = Effects()
        for other in these:
            sum_.reads |= other.reads - sum_.sets
            sum_.writes |= other.writes
            sum_.sets |= other.sets
            sum_.plain &= other.plain
        return sum_


@dataclass
class StatementTree:
    """A statement as a tree: an `if` has its branches."""

    code: str  # of an `if`: up to its condition's end
    known: Effects  # of the whole
    branches: list[list["StatementTree"]] = field(default_factory=list)

    @property
    def mentions(self) -> set[str]:
        """All variables in it."""
        return self.known.reads | self.known.writes | names(self.code)

    def text(self) -> str:
        """Return it as C++."""
        if not self.branches:
            return self.code
        inner = ["".join(one.text() for one in branch) for branch in self.branches]
        return f"{self.code} {{" + "\n } else {".join(inner) + "\n }"


def parsed(statement: str) -> StatementTree:
    """Return the tree of a statement."""
    text = re.sub(r"^(?:\s*//[^\n]*\n)*", "", statement).strip()
    if not re.match(r"if\b", text):
        return StatementTree(f"\n{text}", _effects(text))
    end = closing(text, text.index("(")) + 1
    condition, rest = names(text[:end]), text[end:].lstrip()
    if not rest.startswith("{"):
        only = parsed(rest).known
        known = Effects(condition | only.reads, only.writes, set(), only.plain)
        return StatementTree(f"\n{text}", known)
    close = closing(rest, 0)
    blocks, rest = [rest[1:close]], rest[close + 1 :].strip().removeprefix("else").strip()
    if rest:
        blocks.append(rest[1 : closing(rest, 0)] if rest.startswith("{") else rest)
    branches = [[parsed(one) for one in statements(block) if one.strip()] for block in blocks]
    cases = [Effects.of_all(one.known for one in branch) for branch in branches]
    known = Effects(
        condition.union(*(case.reads for case in cases)),
        set().union(*(case.writes for case in cases)),
        set.intersection(*(case.sets for case in cases)) if len(cases) == 2 else set(),
        all(case.plain for case in cases),
    )
    return StatementTree(f"\n{text[:end]}", known, branches)


def _effects(text: str) -> Effects:
    """Return the effects of a statement that is no `if`."""
    if not text or DECLARATION.match(text):
        return Effects()
    if text.startswith("{"):
        return Effects.of_all(parsed(one).known for one in statements(text[1 : closing(text, 0)]))
    match = ASSIGNMENT.match(text)
    if match is None:
        found = names(text)
        return Effects(found, set(found), set(), plain=False)
    whole = {match[1]} if not match[2] else set()
    return Effects(names(match[2]) | names(match[3]), {match[1]}, whole)


def needs(code: str) -> str | None:
    """Return the variable without which an `if ((variable & (…)))` is not entered."""
    found = NEEDS.match(code)
    if found and code[closing(code, found.end()) + 1 :].split() == ["))"]:
        return found[1]
    return None


def gather(block: list[StatementTree], registers: set[str], written: str) -> None:
    """Make logic that writes one of these registers say so in the variable `written`. And put `if`s
    in a row that write no more, and each need a variable, into one `if` of these."""
    rows: list[list[StatementTree]] = [[]]
    for one in block:
        for branch in one.branches:
            gather(branch, registers, written)
        if one.known.writes <= registers and len(one.branches) == 1 and needs(one.code):
            rows[-1].append(one)
        else:
            rows += [[one], []]
    for row in rows:
        if len(row) > 1:
            either = " | ".join(f"(IData)({needs(one.code)})" for one in row)
            row[:] = [
                StatementTree(
                    f"\nif (VL_UNLIKELY({either}))", Effects.of_all(o.known for o in row), [row[:]]
                )
            ]
    block[:] = [one for row in rows for one in row]
    if any(not one.branches and one.known.writes & registers for one in block):
        block.insert(0, StatementTree(f"\n{written} = true;", Effects()))


def sink(one: StatementTree, block: list[StatementTree], several: bool = False) -> None:
    """Put a statement before those of a block that use what it writes: into the branches that do,
    where only branches of one `if` do, or of `several`; else to the front."""
    users = [i for i, other in enumerate(block) if other.mentions & one.known.writes]
    passed = set().union(*(other.known.writes for other in block[: max(users, default=0)]))
    if (
        users
        and (several or len(users) == 1)
        and all(block[i].branches for i in users)
        and not any(names(block[i].code) & one.known.writes for i in users)
        and not passed & one.known.reads
    ):
        for user in (block[i] for i in users):
            for branch in user.branches:
                if any(other.mentions & one.known.writes for other in branch):
                    sink(one, branch)
            user.known = Effects.of_all([one.known, user.known])
    else:
        block.insert(0, one)
