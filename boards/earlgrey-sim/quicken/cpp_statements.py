# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Splits straight C++, as Verilator writes it, into statements, and says what each reads and
writes."""

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
    """Where the bracket that opens at `start` closes."""
    depth = 0
    for match in re.compile(r"[(){}\[\]]").finditer(text, start):
        depth += 1 if match[0] in PAIRS else -1
        if depth == 0:
            return match.start()
    raise ValueError("a bracket does not close")


def statements(text: str) -> Iterator[str]:
    """The statements of a block, in their order; together they are its text."""
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
    """Return the variables in an expression."""
    return {name for name in NAME.findall(expression) if not NO_VARIABLE.fullmatch(name)}


@dataclass
class Effects:
    """What a statement does to variables."""

    reads: set[str] = field(default_factory=set)  # values from before it
    writes: set[str] = field(default_factory=set)  # in whatever case, all or a part
    sets: set[str] = field(default_factory=set)  # in every case, all of it
    plain: bool = True  # these are known; else it must not be touched

    def then(self, other: "Effects") -> None:
        """Another statement follows."""
        self.reads |= other.reads - self.sets
        self.writes |= other.writes
        self.sets |= other.sets
        self.plain &= other.plain


def effects(statement: str) -> Effects:
    """Return what one statement does."""
    text = re.sub(r"^(?:\s*//[^\n]*\n)*", "", statement).strip()
    if not text or DECLARATION.match(text):
        return Effects()
    if re.match(r"if\b", text):
        return _effects_of_if(text)
    if text.startswith("{"):
        return of_all(effects(one) for one in statements(text[1 : closing(text, 0)]))
    match = ASSIGNMENT.match(text)
    if match is None:
        found = names(text)
        return Effects(found, set(found), set(), plain=False)
    whole = {match[1]} if not match[2] else set()
    return Effects(names(match[2]) | names(match[3]), {match[1]}, whole)


def _effects_of_if(text: str) -> Effects:
    end = closing(text, text.index("("))
    rest = text[end + 1 :].lstrip()
    yes, no = Effects(), Effects()
    if rest.startswith("{"):
        close = closing(rest, 0)
        yes = effects(rest[: close + 1])
        rest = rest[close + 1 :].strip()
        if rest:
            no = effects(rest.removeprefix("else"))
    else:
        yes = effects(rest)
    condition = names(text[: end + 1])
    return Effects(
        condition | yes.reads | no.reads,
        yes.writes | no.writes,
        yes.sets & no.sets,
        yes.plain and no.plain,
    )


def of_all(these: Iterable[Effects]) -> Effects:
    """Return what statements in a row do."""
    sum_ = Effects()
    for one in these:
        sum_.then(one)
    return sum_


@dataclass
class StatementTree:
    """A statement as a tree: an `if` has its branches."""

    code: str  # of an `if`: up to its condition's end
    known: Effects  # of the whole
    branches: list[list["StatementTree"]] = field(default_factory=list)

    @property
    def mentions(self) -> set[str]:
        return self.known.reads | self.known.writes | names(self.code)

    def text(self) -> str:
        if not self.branches:
            return self.code
        inner = ["".join(one.text() for one in branch) for branch in self.branches]
        return f"{self.code} {{" + "\n } else {".join(inner) + "\n }"


def node(statement: str) -> StatementTree:
    """The tree of a statement."""
    text = re.sub(r"^(?:\s*//[^\n]*\n)*", "", statement).strip()
    if not re.match(r"if\b", text):
        return StatementTree(f"\n{text}", effects(text))
    end = closing(text, text.index("("))
    rest = text[end + 1 :].lstrip()
    if not rest.startswith("{"):
        return StatementTree(f"\n{text}", effects(text))
    close = closing(rest, 0)
    branches = [[node(one) for one in statements(rest[1:close]) if one.strip()]]
    rest = rest[close + 1 :].strip().removeprefix("else").strip()
    if rest:
        inner = rest[1 : closing(rest, 0)] if rest.startswith("{") else rest
        branches.append([node(one) for one in statements(inner) if one.strip()])
    return StatementTree(f"\n{text[: end + 1]}", effects(text), branches)


def needs(code: str) -> str | None:
    """The variable without which an `if` of the form `if ((variable & (…)))` is not entered."""
    found = NEEDS.match(code)
    if found and code[closing(code, found.end()) + 1 :].split() == ["))"]:
        return found[1]
    return None


def gather(block: list[StatementTree], registers: set[str], written: str) -> None:
    """Where logic writes one of these registers, make it say so in the variable `written`. And put
    `if`s in a row that write no more, and each need a variable, into one `if` of these."""
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
                    f"\nif (VL_UNLIKELY({either}))", of_all(o.known for o in row), [row[:]]
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
            user.known = of_all([one.known, user.known])
    else:
        block.insert(0, one)
