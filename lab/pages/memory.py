# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The cost of reading, writing and copying memory without a kernel: apps in C on the baseline."""

from committed import committed, per_op
from tables import markdown
from tockmark.show import text

RESULT = "baseline-cw310"
# By row: what it does, and the bytes of one operation.
ROWS = {
    "mem.read_asm size=16384": ("read RAM by words", 16384),
    "mem.write_asm size=16384": ("write RAM by words", 16384),
    "mem.copy_asm size=16384": ("copy RAM, 8 words per pass", 16384),
    "mem.copy_memcpy size=16384": ("copy RAM by memcpy", 16384),
    "flash.read_seq": ("read flash by words", 4),
    "mem.latency stride=64": ("a load from RAM that waits for the one before", 4),
    "flash.latency to=next": ("the same from flash", 4),
}


def rate(name: str, icache: bool = True) -> str:
    """Format the MB/s of a row."""
    row = committed(RESULT).row(name, icache)
    assert row is not None
    assert row.us
    return text.trimmed(text.three_digits(ROWS[name][1] / row.us) or 0)


def bandwidths() -> str:
    """Return a table of the cycles of one operation and of MB/s, with the i-cache on and off."""
    lines = []
    for name, (what, _) in ROWS.items():
        cells = []
        for icache in (True, False):
            cells += [per_op(committed(RESULT).row(name, icache)), rate(name, icache)]
        lines.append([f"{what} ({name})", *cells])
    heads = ["", "cycles, i-cache on", "MB/s", "cycles, off", "MB/s"]
    return markdown(heads, lines)
