# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Text from outside is made plain: fit to be shown, to be quoted in a line, to name a file."""

import re

LONGEST = 300  # characters of an error that quotes a file
LONGEST_NAME = 100  # characters of a file's name

# What a terminal acts on: C0 and C1 controls, line ends of Unicode, changes of the direction; and
# halves of surrogate pairs, which cannot be written at all.
UNSEEN = re.compile("[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")


def showable(text: str) -> str:
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
