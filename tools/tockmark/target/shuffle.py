# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Where an app's code lies, by a seed: other places in the flash word and in the sets of the
instruction cache, and another link order. What is linked stays the same, to the object file."""

import hashlib
from collections.abc import Sequence
from pathlib import Path

WORD = 8  # bytes of flash that come at once, and of a line of the cache
WAY = 2048  # bytes of the cache that lie in lines of their own
LEAST = 2  # bytes of the shortest instruction, at which code may begin
MOST = 1024  # layouts of one run


def places(seed: int) -> dict[str, int]:
    """What app.ld takes of a seed; 0 moves nothing."""
    if not seed:
        return {"tm_pad": 0, "tm_shift": 0, "tm_align": WORD}
    # The shifts in turn, so that a few seeds have all of them; a place in the cache by chance.
    shift = LEAST * (seed % (WORD // LEAST))
    return {"tm_pad": WORD * (_drawn(seed) % (WAY // WORD)), "tm_shift": shift, "tm_align": LEAST}


def shuffled(objects: Sequence[Path], seed: int) -> list[Path]:
    """The objects in an order by the seed."""
    return sorted(objects, key=lambda path: _drawn(seed, path.parent.name, path.name))


def _drawn(seed: int, *what: str) -> int:
    """A number by chance, as far as anyone can tell, and the same everywhere."""
    return int(hashlib.sha256(" ".join([str(seed), *what]).encode()).hexdigest(), 16)
