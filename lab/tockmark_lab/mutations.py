# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Makes mutants: copies of a source file with one guard changed.

GUARDS defines for each language, by regular expressions, what is a guard and what it becomes. They
apply to code only: comments, strings, attributes and tests are blanked first. rustfmt and ruff put
spaces around a binary operator but not into generics and borrows, so the patterns can distinguish
these. If a pattern is wrong, the compiler rejects the mutant and another one is drawn.
"""

import random
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

Change = (
    str | Callable[[str], str]
)  # what a guard becomes; in a string, {0} is the guard and {1} a group


@dataclass(frozen=True)
class Mutant:
    """A source file with one guard changed. File, function and change identify it, even if its line
    moves.
    """

    file: str
    function: str  # with the names around it: `Queue.push`
    change: str  # its line before and after: "if a < b: => if a <= b:"
    line: int
    text: str  # the whole file

    @property
    def key(self) -> tuple[str, str, str]:
        return self.file, self.function, self.change

    def __str__(self) -> str:
        return f"{self.file}:{self.line} {self.function}: {self.change}"


def _swap(*pairs: tuple[str, str]) -> Change:
    words = dict(pairs) | {right: left for left, right in pairs}
    return words.__getitem__


def _next(number: str) -> str:
    return str(int(number) + 1)


_GROUP = r"(\((?:[^()]|\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\))*\))"
_BOTH: tuple[tuple[str, Change], ...] = (
    (r"(?<=\s)(?:<|>)=?(?=\s)", _swap(("<", "<="), (">", ">="))),
    (r"(?<=\s)[!=]=(?=\s)", _swap(("==", "!="))),
    (r"(?<=[\w)\]] )&(?= )", "|"),
    (r"(?<=[<>=] )(?<!=> )(?<![<>]{2} )(?<![^<>=!]= )\d+\b(?![.\w])", _next),
    (r"(?<=\S) [+-] 1\b(?![.\w])", ""),
)
_RUST_IF = r"(?<=\bif )(?!let\b)(?:(?!\blet\b)[^{};])+?(?=\s+\{| =>)"
_PYTHON_IF = rf"(?<=if )(?:[^:()\[\]{{}}\n]|:=|{_GROUP}|\[[^\[\]]*\]|\{{[^{{}}]*\}})+(?=: *$)"
GUARDS: Mapping[str, tuple[tuple[str, Change], ...]] = {
    ".rs": (
        *_BOTH,
        (r"(?<=\s)(?:&&|(?<![=(,]\s)\|\|)(?=\s)", _swap(("&&", "||"))),
        (r"(?<=[\s(|])!(?=[\w(])", ""),
        (_RUST_IF, "({0}) && false"),
        (_RUST_IF, "({0}) || true"),
        (rf"(?:(?<=\.filter)|(?<=\.take_if)){_GROUP}", "(|_| true)"),
        (rf"(?:(?<=\.filter)|(?<=\.take_if)){_GROUP}", "(|_| false)"),
        (r"\.\.=", ".."),
        (r"\bis_(?:some|none)\(\)", _swap(("is_some()", "is_none()"))),
        (r"\.(?:min|max)(?=\([^)])", _swap((".min", ".max"))),
        (r"\.(?:any|all)(?=\()", _swap((".any", ".all"))),
        (rf"\bchecked_((?:add|sub|mul)(?:_signed)?){_GROUP}", "wrapping_{1}{2}.checked_add(0)"),
        (r"\bsaturating_(?=(?:add|sub)\()", "wrapping_"),
    ),
    ".py": (
        *_BOTH,
        (r"(?<=\s)(?:and|or)(?=\s)", _swap(("and", "or"))),
        (r"(?<!is )\bnot (?!in\b)", ""),
        (r"\bnot in\b", "in"),
        (r"\bis (?:not )?None\b", _swap(("is None", "is not None"))),
        (_PYTHON_IF, "({0}) and False"),
        (_PYTHON_IF, "({0}) or True"),
        (r"(?<![\w.])(?:min|max)(?=\()", _swap(("min", "max"))),
        (r"(?<![\w.])(?:any|all)(?=\()", _swap(("any", "all"))),
    ),
}
_TEXT = r'"(?:\\.|[^"\\])*"'
_NO_CODE = {  # comments, text, attributes, tests
    ".rs": r"//[^\n]*|^( *)#\[cfg\((?:all\()?test\b.*?^\1\}|#!?\[[^\]]*\]"
    rf"|{_TEXT}|b?'(?:\\[^']+|[^'\\])'",
    ".py": rf"#[^\n]*|\"\"\".*?\"\"\"|{_TEXT}|'(?:\\.|[^'\\])*'",
}
_NAMED = {  # lines that start a function, or what contains functions
    ".rs": r" *[\w\s():]*?\b(?P<is>fn) (\w+)| *(?:pub )?(?:mod|trait) (\w+)"
    r"| *impl\b.*?(\w+)(?:<[^{]*>)? (?:where|\{)",
    ".py": r" *(?:async )?(?P<is>def) (\w+)| *class (\w+)",
}


def mutants_of(file: str, text: str) -> list[Mutant]:
    """Return all mutants of a source, in the order of their positions."""
    suffix = file[file.rindex(".") :]
    mutants: dict[tuple[str, str, str], tuple[int, Mutant]] = {}
    code = re.sub(_NO_CODE[suffix], _blank, text, flags=re.DOTALL | re.MULTILINE)
    functions = list(_functions(code, suffix))
    for pattern, change in GUARDS[suffix]:
        for match in re.finditer(pattern, code, re.MULTILINE):
            line = code.count("\n", 0, match.start())
            if not functions[line]:
                continue
            parts = [text[match.start(n) : match.end(n)] for n in range(match.re.groups + 1)]
            new = change(parts[0]) if callable(change) else change.format(*parts)
            start, end = text.rfind("\n", 0, match.start()) + 1, text.index("\n", match.end())
            after = text[start : match.start()] + new + text[match.end() : end]
            change_text = f"{_one_line(text[start:end])} => {_one_line(after)}"
            mutant = Mutant(
                file, functions[line], change_text, line + 1, text[:start] + after + text[end:]
            )
            mutants.setdefault(mutant.key, (match.start(), mutant))
    return [mutant for _, mutant in sorted(mutants.values(), key=lambda entry: entry[0])]


def drawn(mutants: list[Mutant], seed: int) -> Iterator[Mutant]:
    """Yield mutants in the order in which a seed draws them."""
    yield from random.Random(seed).sample(mutants, len(mutants))


def _blank(match: re.Match[str]) -> str:
    return re.sub(r"[^\n]", " ", match[0])


def _one_line(text: str) -> str:
    return " ".join(text.split())


def _functions(code: str, suffix: str) -> Iterator[str]:
    """Yield the function that contains each line, by indentation; empty outside of functions."""
    named, around = re.compile(_NAMED[suffix]), list[tuple[int, str, bool]]()
    for line in code.split("\n"):
        own = line.lstrip()
        if own and own[0] not in ")]}":
            indent = len(line) - len(own)
            while around and around[-1][0] >= indent:
                around.pop()
            if name := named.match(line):
                (word,) = filter(None, name.groups()[1:])
                around.append((indent, word, bool(name["is"])))
        inside = any(function for _, _, function in around)
        yield ".".join(word for _, word, _ in around) if inside else ""
