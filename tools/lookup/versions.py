# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Real Tock with version 1 and with version 2 of the system-call interface, on one machine: the
commit before the change, the commit of the change, and release 2.0."""

import re
from collections.abc import Sequence
from functools import cache

from lookup import levels, where
from lookup.figures import number, retired, share, span
from lookup.runs import Run

KERNELS = {"1": "version 1", "2": "first version 2", "2.0": "release 2.0"}

RETURNING = re.compile(r"set_syscall_return_value|encode_syscall_return|split_at_mut")


@cache
def run(name: str) -> Run:
    """One of the kernels."""
    return Run(f"versions/{name}")


def folder(name: str) -> str:
    """Where the profiles of one of the kernels are."""
    return f"version-{name}-{run(name).kernel.opt_level}"


def table(names: Sequence[str]) -> str:
    """Instructions, and net cycles of one operation, the least and the most over the links."""
    heads = [
        f"{of}: {title}"
        for of in ("instr.", "cycles, i-cache off", "on")
        for title in KERNELS.values()
    ]
    lines = [f"| row | {' | '.join(heads)} |", "|---|" + "--:|" * len(heads)]
    for name in names:
        cells = [number(retired(run(one).row(name, False))) for one in KERNELS]
        for icache in (False, True):
            cells += [span(run(one).row(name, icache)) for one in KERNELS]
        lines.append(f"| {name} | {' | '.join(cells)} |")
    return "\n".join(lines)


def mean(base: str, new: str, icache: bool) -> str:
    """The geometric mean of what touches the kernel, with its interval."""
    return levels.interval(levels.mean(run(base), run(new), icache))


def added(name: str, base: str = "1", new: str = "2") -> int:
    """Net instructions of one operation that the second has more than the first."""
    before, after = (retired(run(one).row(name, False)) for one in (base, new))
    assert before is not None
    assert after is not None
    return round(after - before)


def more(name: str, base: str = "1", new: str = "2") -> str:
    """The same by the first's, in percent, with its sign."""
    before = retired(run(base).row(name, False))
    assert before
    difference = share(added(name, base, new), before)
    return difference if difference.startswith("-") else f"+{difference}"


def returning(row: str, name: str) -> int:
    """Instructions of a whole sample that put a call's result into the app's registers."""
    functions = where.profiles(folder(name))[row, False].functions
    return sum(one.instructions for one in functions if RETURNING.search(one.name))
