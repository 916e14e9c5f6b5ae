# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Split the straight-line C++ of Verilator into statements, with the variables that each reads and
writes, so that statements can be moved to where their values are used.
"""

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
    """Return the variables in a text."""
    return {name for name in NAME.findall(expression) if not NO_VARIABLE.fullmatch(name)}


@dataclass
class Effects:
    """The effects of a statement on variables."""

    reads: set[str] = field(default_factory=set)  # values from before it
    writes: set[str] = field(default_factory=set)  # in some case, all or a part
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
    effects: Effects  # of the whole statement
    branches: list[list["StatementTree"]] = field(default_factory=list)

    @property
    def mentions(self) -> set[str]:
        """All variables in it."""
        return self.effects.reads | self.effects.writes | names(self.code)

    def text(self) -> str:
        """Return it as C++."""
        if not self.branches:
            return self.code
        inner = ["".join(statement.text() for statement in branch) for branch in self.branches]
        return f"{self.code} {{" + "\n } else {".join(inner) + "\n }"


def parsed(statement: str) -> StatementTree:
    """Return the tree of a statement."""
    text = re.sub(r"^(?:\s*//[^\n]*\n)*", "", statement).strip()
    if not re.match(r"if\b", text):
        return StatementTree(f"\n{text}", _effects(text))
    end = closing(text, text.index("(")) + 1
    condition, rest = names(text[:end]), text[end:].lstrip()
    if not rest.startswith("{"):
        only = parsed(rest).effects
        effects = Effects(condition | only.reads, only.writes, set(), only.plain)
        return StatementTree(f"\n{text}", effects)
    close = closing(rest, 0)
    blocks, rest = [rest[1:close]], rest[close + 1 :].strip().removeprefix("else").strip()
    if rest:
        blocks.append(rest[1 : closing(rest, 0)] if rest.startswith("{") else rest)
    branches = [
        [parsed(statement) for statement in statements(block) if statement.strip()]
        for block in blocks
    ]
    cases = [Effects.of_all(statement.effects for statement in branch) for branch in branches]
    effects = Effects(
        condition.union(*(case.reads for case in cases)),
        set().union(*(case.writes for case in cases)),
        set.intersection(*(case.sets for case in cases)) if len(cases) == 2 else set(),
        all(case.plain for case in cases),
    )
    return StatementTree(f"\n{text[:end]}", effects, branches)


def _effects(text: str) -> Effects:
    """Return the effects of a statement that is no `if`."""
    if not text or DECLARATION.match(text):
        return Effects()
    if text.startswith("{"):
        return Effects.of_all(
            parsed(statement).effects for statement in statements(text[1 : closing(text, 0)])
        )
    match = ASSIGNMENT.match(text)
    if match is None:
        variables = names(text)
        return Effects(variables, set(variables), set(), plain=False)
    whole = {match[1]} if not match[2] else set()
    return Effects(names(match[2]) | names(match[3]), {match[1]}, whole)


def needs(code: str) -> str | None:
    """Return the variable that must be set to enter an `if ((variable & (…)))`."""
    match = NEEDS.match(code)
    if match and code[closing(code, match.end()) + 1 :].split() == ["))"]:
        return match[1]
    return None


def gather(block: list[StatementTree], registers: set[str], written: str) -> None:
    """Make logic that writes one of these registers also set the variable `written`. Merge adjacent
    `if`s that write nothing else, and that each need a variable, into one `if`."""
    rows: list[list[StatementTree]] = [[]]
    for statement in block:
        for branch in statement.branches:
            gather(branch, registers, written)
        if (
            statement.effects.writes <= registers
            and len(statement.branches) == 1
            and needs(statement.code)
        ):
            rows[-1].append(statement)
        else:
            rows += [[statement], []]
    for row in rows:
        if len(row) > 1:
            either = " | ".join(f"(IData)({needs(statement.code)})" for statement in row)
            row[:] = [
                StatementTree(
                    f"\nif (VL_UNLIKELY({either}))",
                    Effects.of_all(o.effects for o in row),
                    [row[:]],
                )
            ]
    block[:] = [statement for row in rows for statement in row]
    if any(not statement.branches and statement.effects.writes & registers for statement in block):
        block.insert(0, StatementTree(f"\n{written} = true;", Effects()))


def sink(statement: StatementTree, block: list[StatementTree], several: bool = False) -> None:
    """Move a statement into the branches of a block that use its result. This needs all users to be
    branches of one `if`, or of any number if `several`; otherwise move it to the front."""
    users = [i for i, other in enumerate(block) if other.mentions & statement.effects.writes]
    passed = set().union(*(other.effects.writes for other in block[: max(users, default=0)]))
    if (
        users
        and (several or len(users) == 1)
        and all(block[i].branches for i in users)
        and not any(names(block[i].code) & statement.effects.writes for i in users)
        and not passed & statement.effects.reads
    ):
        for user in (block[i] for i in users):
            for branch in user.branches:
                if any(other.mentions & statement.effects.writes for other in branch):
                    sink(statement, branch)
            user.effects = Effects.of_all([statement.effects, user.effects])
    else:
        block.insert(0, statement)
