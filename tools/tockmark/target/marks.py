# SPDX-License-Identifier: Apache-2.0 OR MIT
"""What the simulator is asked to mark: where an app's functions begin, and what the core does
unasked. log/marks.py reads the lines that come of it."""

from collections.abc import Iterable, Mapping

SYMBOL = "tm_mark_"  # an app's symbol tm_mark_x is the address of the mark x
ENTRY = "_start"  # and this one that of the mark start
RESET = "reset"  # where the simulator began; the core comes by once
OWN = ("irq", "trap", "wake", RESET)  # marks that need no address


def options(apps: Iterable[Mapping[str, int]]) -> list[str]:
    """The simulator's options for the apps of a boot, each given by its symbols; none if they have
    nothing to mark."""
    marked: list[str] = []
    entries: list[str] = []
    for symbols in apps:
        for symbol, address in symbols.items():
            if symbol.startswith(SYMBOL):
                marked.append(f"{symbol.removeprefix(SYMBOL)}={address:#x}")
            elif symbol == ENTRY:
                entries.append(f"start={address:#x}")
    names = [*marked, *entries, *OWN] if marked else []
    return [word for name in names for word in ("--mark", name)]
