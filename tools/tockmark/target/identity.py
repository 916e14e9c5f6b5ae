# SPDX-License-Identifier: Apache-2.0 OR MIT
"""What an image is called: the boot's name and a number, as words that its apps are linked with, so
that they can say of which image they are."""

import hashlib
import json
import struct
from collections.abc import Iterable, Sequence
from pathlib import Path

NAME_BYTES = 24  # of tm_link, a NUL among them; apps/generate.py holds the names to it


def of(said: Sequence[object], files: Iterable[Path] = ()) -> int:
    """What tells images apart: the first 32 bits of a SHA-256 over all that decides what is in one,
    which is what is said (as JSON can hold it) and what these files hold, each once."""
    digest = hashlib.sha256(json.dumps(said).encode())
    for path in dict.fromkeys(files):
        digest.update(hashlib.sha256(path.read_bytes()).digest())
    return int.from_bytes(digest.digest()[:4], "big")


def name_words(name: str) -> dict[str, int]:
    """A boot's name as the words of tm_link, with a NUL behind it."""
    held = name.encode("ascii").ljust(NAME_BYTES, b"\0")
    return {f"tm_boot_{i}": word for i, (word,) in enumerate(struct.iter_unpack("<I", held))}
