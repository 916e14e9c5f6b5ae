# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Errors, messages for the user, and exit codes.

An error is one line on stderr: what is wrong, where, and what to do. `print_message` prints such a
line when the verb goes on. Text from files and programs passes through `one_line`, `quoted` or
`file_name` before it becomes part of a message or of a file's name.
"""

import re
import sys

OK = 0
INCOMPLETE = 1  # something failed or is missing; the good part is kept
UNUSABLE = 2  # unusable input, or wrong usage
REGRESSION = 3  # beyond a hard limit
INTERRUPTED = 130  # Ctrl-C, the code that shells use; the good part is kept

MEANING = {  # for the help; a verb may define its codes more precisely
    OK: "success",
    INCOMPLETE: "something failed or is missing; the rest is kept",
    UNUSABLE: "unusable input, or wrong usage",
    REGRESSION: "a regression (compare --limits, judge, latency)",
    INTERRUPTED: "Ctrl-C",
}
KEPT = "Ctrl-C; builds and simulations are kept, and the same command continues from there"


class TockmarkError(Exception):
    """An error that ends the verb: what is wrong (and where), then what to do."""

    def __init__(self, problem: str, todo: str = "", code: int = UNUSABLE) -> None:
        super().__init__(with_advice(problem, todo))
        self.problem = problem
        self.code = code


def with_advice(problem: str, todo: str) -> str:
    """Return a message of two sentences: what is wrong, and what to do, if anything."""
    if not todo:
        return problem
    if not set(todo.split(maxsplit=1)[0]) & set("/."):  # the name of a file keeps its case
        todo = todo[0].upper() + todo[1:]
    return f"{problem.rstrip('.')}. {todo}{'' if todo[-1] in '.?' else '.'}"


def print_message(text: str) -> None:
    """Print a line for the user on stderr; stdout is for the output of the verb."""
    print(f"tockmark: {text}", file=sys.stderr, flush=True)


LONGEST = 300  # characters of an error that quotes a file
LONGEST_NAME = 100  # characters of a file's name

# Characters that act on a terminal or have no width: C0 and C1 controls, Unicode line ends, and
# those that Unicode calls default ignorable. Halves of surrogate pairs cannot be written at all.
UNSEEN = re.compile(
    "[\x00-\x1f\x7f-\x9f\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u2028-\u202e"
    "\u2060-\u206f\u3164\ud800-\udfff\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb"
    "\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff]"
)


def printable_text(text: str) -> str:
    """Return a text with each unprintable character replaced by a question mark, for a result."""
    return UNSEEN.sub("?", text)


def one_line(text: object) -> str:
    """Return a message as one line, without characters that act on a terminal."""
    return "".join(c if c.isprintable() else " " for c in UNSEEN.sub(" ", str(text)))


def quoted(error: object) -> str:
    """Return a message that may quote a file, as one line of limited length."""
    text = one_line(error)
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}…"


def file_name(text: str) -> str:
    """Return a text as a safe part of a file's name: letters, digits, dots and dashes.

    The first character is not a dot, so that the file is visible and stays in its folder."""
    return re.sub(r"[^A-Za-z0-9.]+", "-", text)[:LONGEST_NAME].lstrip(".-").rstrip("-") or "unnamed"
