# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Names of functions as a person writes them: `kernel::grant::Grant::enter`."""

import re
import subprocess
from collections.abc import Iterable

from tockmark.plain import showable

FILT = "riscv64-unknown-elf-c++filt"
LONGEST = 60  # seconds for all names, of which a kernel's take less than one
MOST_TYPES = 100  # in one name; what has more was made to be read by nobody
# What a Rust compiler adds to tell two builds of a crate apart, in its new names and in its old.
_HASH = re.compile(r"\[[0-9a-f]{8,16}\]|::h[0-9a-f]{16}$")


def readable(names: Iterable[str]) -> dict[str, str]:
    """Rust's and C++'s symbols without their encoding, if binutils is there to tell, and without
    the hashes that another build changes."""
    known = sorted(set(names))
    plain = [showable(name) for name in known]
    told = plain
    try:
        done = subprocess.run(
            [FILT],
            input="\n".join(plain),
            capture_output=True,
            encoding="utf-8",
            errors="replace",
            check=True,
            timeout=LONGEST,
        )
        lines = [showable(line) for line in done.stdout.split("\n")]
        told = lines if len(lines) == len(plain) else plain
    except (OSError, subprocess.SubprocessError):
        pass
    return {name: _HASH.sub("", text) for name, text in zip(known, told, strict=True)}


def path(name: str) -> str:
    """A readable name without types: `<Grant<T> as Entering>::enter::<U>` as `Grant::enter`."""
    if name.count("<") > MOST_TYPES:
        return name
    if name.startswith("<"):
        end = _closing(name, 0)
        own = name[1:end]
        of = next((at for at in _outside(own) if own.startswith(" as ", at)), len(own))
        return path(own[:of].lstrip("&*")) + path(name[end + 1 :])
    kept = "".join(name[at] for at in _outside(name) if name[at] != ">")
    return kept.replace("::<", "").replace("<", "")


def _outside(name: str) -> Iterable[int]:
    """The places of the characters that no pair of angle brackets holds, the brackets too."""
    at = 0
    while at < len(name):
        yield at
        at = _closing(name, at) if name[at] == "<" else at + 1


def _closing(name: str, opening: int) -> int:
    """Where the bracket closes; the end if it never does."""
    depth = 0
    for at in range(opening, len(name)):
        if name[at] == "<":
            depth += 1
        elif name[at] == ">" and name[at - 1] != "-":
            depth -= 1
            if not depth:
                return at
    return len(name)
