# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Find phrases that are not plain English in comments, docstrings, messages and pages.

    python tests/plain_english.py            # a count for each folder
    python tests/plain_english.py FILE...    # each phrase, with the words to use instead

The list contains habits of this project, not errors of grammar. A phrase that is good English in
its sentence may stay: `make check` allows MOST phrases in 1,000 lines. CHANGELOG and texts for
other projects are not checked.
"""

import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[1]
MOST = 3  # phrases in 1,000 lines
SUFFIXES = {
    *(".py", ".rs", ".c", ".h", ".cc", ".sv", ".S", ".inc", ".toml", ".md", ".j2", ".html"),
    *(".mk", ".sh", ".ld"),
}
UNCHECKED = ("CHANGELOG.md", "lab/upstream/", "tests/goldens/", "tests/plain_english.py")
PAGES = (".md", ".j2", ".html")
# The part of a source line that people read: a comment, a string, or a line of a docstring.
TEXT = re.compile(r"""//.*|/\*.*|^\s*\*.*|#.*|"[^"].*|'.*|^[^=(){}\[\]]*$""")
INSTEAD = {
    "instead of": r"in (?:the|its|their) place of|in [\w']+'s place",
    "N; at most N": r"so many|as many as (?:are|is|there)",
    "more expensive": r"dearer|dearest",
    "again": r"anew",
    "next to; while … runs": r"besides?|likewise",
    "on another machine; in another file": r"elsewhere",
    "everyone who; anything that": r"whatever|whoever",
    "(split the sentence)": r"(?:of|by|to|from|for|in) which|with which (?:it|they)",
    "(name it)": r"which ones?|the ones|(?:is|are) (?:that|those) of",
    "(name it again)": r"those (?:of|by|in|with|whose)",
    "print, report": r"(?:is|are|was|were) (?:said|told)|says (?:of|by|nothing|no|whose)",
    "show, distinguish": r"tells? (?:of|what|which|how|apart)",
    "is": r"stands? (?:in|at|beside|behind|for|by|there)|lies? (?:at|in|between|within|there)",
    "results from; reaches": r"(?:comes?|came) (?:out|by|behind|of it)",
    "does not have": r"(?:is|are|be|were) none|where (?:it|they|there) (?:is|are) (?:one|none)",
    "difference": r"how far|far (?:off|out)|farther|farthest",
    "compared with": r"held against|holds? against",
    "is available": r"can(?:not)? be had|to be had|may be had",
    "omit, skip": r"left out|leaves? (?:out|it|them)",
    "certainly": r"surely|for certain|to be sure",
    "unchanged": r"as (?:it|they) (?:is|are|was|comes?|stands?)",
    "depends on": r"hangs? (?:on|together)",
    "(put the subject first)": r"^\W*Of (?:a|the|each|those|what|all|several|one|two) ",
}
PHRASES = [
    (re.compile(rf"\b(?:{words})\b" if words[0] != "^" else words), instead)
    for instead, words in INSTEAD.items()
]


class Phrase(NamedTuple):
    """A phrase that is not plain English, where it is, and what to write instead."""

    path: str  # from the root
    line: int
    words: str
    instead: str


def checked_files() -> list[str]:
    """Return the tracked files with text to check, as paths from the root."""
    listed = subprocess.run(
        ["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    return [
        path
        for path in listed.stdout.splitlines()
        if (Path(path).suffix in SUFFIXES or Path(path).name == "Makefile")
        and not path.startswith(UNCHECKED)
    ]


def phrases_in(path: str, lines: list[str]) -> Iterator[Phrase]:
    """Yield at most one phrase for each line."""
    for number, line in enumerate(lines, 1):
        text = [line] if path.endswith(PAGES) else TEXT.findall(line)
        for pattern, instead in PHRASES:
            if text and (match := pattern.search(text[0])):
                yield Phrase(path, number, match[0].strip(), instead)
                break


def read(paths: list[str]) -> tuple[int, list[Phrase]]:
    """Return the number of lines of these files, and their phrases."""
    lines = 0
    phrases: list[Phrase] = []
    for path in paths:
        text = (ROOT / path).read_text(encoding="utf-8").splitlines()
        lines += len(text)
        phrases += phrases_in(path, text)
    return lines, phrases


def main() -> None:
    """Print each phrase in the files given as arguments, or a count for each folder."""
    lines, phrases = read(sys.argv[1:] or checked_files())
    if sys.argv[1:]:
        for phrase in phrases:
            print(f"{phrase.path}:{phrase.line}: {phrase.words!r}: write {phrase.instead}")
    else:
        folders = Counter("/".join(phrase.path.split("/")[:2]) for phrase in phrases)
        for folder, count in folders.most_common():
            print(f"{count:6} {folder}")
    print(f"{len(phrases)} phrases in {lines} lines: {1000 * len(phrases) / lines:.1f} in 1,000")


if __name__ == "__main__":
    main()
