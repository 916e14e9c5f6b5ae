# SPDX-License-Identifier: Apache-2.0 OR MIT
"""What a user reads where something goes wrong: errors are one line each and end in one of these
exit codes, `say` prints such a line where all goes on, and text from outside is made fit to be
shown in that line, to be quoted, or to name a file.
"""

import re
import sys

OK = 0
INCOMPLETE = 1  # something failed or is missing; what was good is kept
UNUSABLE = 2  # unusable input, or wrong usage
REGRESSION = 3  # beyond a hard limit
INTERRUPTED = 130  # Ctrl-C, as shells have it; what was good is kept

MEANING = {  # in the help; a verb may say more precisely what it means by a code
    OK: "all is well",
    INCOMPLETE: "something failed or is missing; what was good is kept",
    UNUSABLE: "unusable input, or wrong usage",
    REGRESSION: "a regression (compare --limits, judge, latency)",
    INTERRUPTED: "Ctrl-C",
}
KEPT = "Ctrl-C; what was built and simulated is kept: the same command goes on from there"


class TockmarkError(Exception):
    """One line for the user: what is wrong, and what to do next."""

    def __init__(self, problem: str, todo: str = "", code: int = UNUSABLE) -> None:
        super().__init__(f"{problem}; {todo}" if todo else problem)
        self.problem = problem
        self.code = code


def print_message(text: str) -> None:
    """Print a line for the user on stderr, beside what the verb prints for whoever takes it."""
    print(f"tockmark: {text}", file=sys.stderr, flush=True)


LONGEST = 300  # characters of an error that quotes a file
LONGEST_NAME = 100  # characters of a file's name

# What a terminal acts on: C0 and C1 controls, line ends of Unicode, changes of the direction; and
# halves of surrogate pairs, which cannot be written at all.
UNSEEN = re.compile("[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")


def printable_text(text: str) -> str:
    """Return a text as a result file takes it: what cannot be shown becomes a question mark."""
    return UNSEEN.sub("?", text)


def one_line(text: object) -> str:
    """Return any message as one line, without what a terminal acts on."""
    return "".join(c if c.isprintable() else " " for c in str(text))


def quoted(error: object) -> str:
    """Return a message, which may hold anything that a file holds, as a part of one line."""
    text = one_line(error)
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}…"


def file_name(text: str) -> str:
    """Return a name as a part of a file's name, which stays in its folder: letters, digits, dots
    and dashes, of which the first is no dot."""
    return re.sub(r"[^A-Za-z0-9.]+", "-", text)[:LONGEST_NAME].lstrip(".-").rstrip("-") or "unnamed"
