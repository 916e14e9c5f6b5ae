# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Where a sample goes, from the committed profiles: by part of the system call, by function, and
what another kernel or opt-level changes of it."""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from functools import cache
from pathlib import Path

from lookup.figures import number
from tockmark.paths import RESULTS
from tockmark.profile import file
from tockmark.profile.attribute import APP, CAPSULE, ENTRY, KERNEL, PMP, RETURN, SCHEDULER
from tockmark.profile.file import Share, StoredProfile

FOLDER = RESULTS / "profiles"

# The phases of a profile as the pages put them together: each cycle is in one of these.
PARTS = {
    "registers": (ENTRY, RETURN),
    "PMP": (PMP,),
    "scheduler": (SCHEDULER,),
    "driver": (CAPSULE,),
    "app": (APP,),
    "the rest": (KERNEL,),
}

# Functions of one kind, whatever the phase that they are called in.
KINDS = {
    "grant": re.compile(r"kernel/src/grant\.rs"),
    "copies": re.compile(r"compiler_builtins|^mem(cpy|move|set|cmp)\b"),
    "outlined": re.compile(r"^OUTLINED_FUNCTION"),
}


@cache
def profiles(kernel: str) -> dict[tuple[str, bool], StoredProfile]:
    """All profiles of a kernel at one level, by row and setting of the i-cache."""
    found = map(file.load, sorted((FOLDER / kernel).glob("*.json")))
    return {(one.label, one.icache): one for one in found}


def path(kernel: str, row: str, icache: bool) -> str:
    """Where a profile lies, as a command names it."""
    cache = "on" if icache else "off"
    found = FOLDER / kernel / f"{row.replace(' ', '-').replace('=', '')}-{cache}.json"
    if not found.exists():
        raise FileNotFoundError(found)
    return str(found.relative_to(Path(RESULTS).parent))


def dearest(kernel: str, count: int) -> list[str]:
    """The rows that cost most, of those that are there with both settings of the cache."""
    own = profiles(kernel)
    both = [row for row, icache in own if icache and (row, False) in own]
    return sorted(both, key=lambda row: -own[row, False].cycles)[:count]


def parts(profile: StoredProfile, of: Callable[[Share], int]) -> dict[str, int]:
    """What each part took: all of the sample."""
    by_phase = Counter({share.name: of(share) for share in profile.phases})
    return {part: sum(by_phase[name] for name in names) for part, names in PARTS.items()}


def kind(profile: StoredProfile, name: str, of: Callable[[Share], int]) -> int:
    """What the functions of one kind took themselves."""
    return sum(of(one) for one in profile.functions if KINDS[name].search(one.name))


def instructions(share: Share) -> int:
    return share.instructions


def cycles(share: Share) -> int:
    return share.cycles


def table(kernels: Mapping[str, str], rows: Iterable[str]) -> str:
    """Of each row and kernel (by its folder; with what to call it): sums, and shares of the
    instructions and of the cycles with the i-cache off."""
    kinds = ["grant", "copies"]
    heads = ["row", "kernel", "instr.", "cycles off", "cycles on", *PARTS, *kinds]
    lines = [f"| {' | '.join(heads)} |", "|---|---|" + "--:|" * (len(heads) - 2)]
    for row in rows:
        for place, (folder, title) in enumerate(kernels.items()):
            off, on = (profiles(folder)[row, icache] for icache in (False, True))
            first, second = parts(off, instructions), parts(off, cycles)
            first |= {name: kind(off, name, instructions) for name in kinds}
            second |= {name: kind(off, name, cycles) for name in kinds}
            shares = [
                f"{100 * count / off.instructions:.0f} / {100 * second[name] / off.cycles:.0f}"
                for name, count in first.items()
            ]
            sums = [number(n) for n in (off.instructions, off.cycles, on.cycles)]
            lines.append(f"| {' | '.join(['' if place else row, title, *sums, *shares])} |")
    return "\n".join(lines)


def functions(kernels: Mapping[str, str], rows: Iterable[str], count: int) -> str:
    """The functions that cost most in these rows together, of the first kernel, and what the others
    have of the same name in a file of the same name."""
    rows = list(rows)
    sums: list[tuple[Counter[str], Counter[str]]] = []
    for folder in kernels:
        retired, took = Counter[str](), Counter[str]()
        for row in rows:
            for one in profiles(folder)[row, False].functions:
                retired[_short(one.name)] += one.instructions
                took[_short(one.name)] += one.cycles
        sums.append((retired, took))
    heads = [f"{title}: instr. | cycles | %" for title in kernels.values()]
    lines = [f"| function | {' | '.join(heads)} |", "|---|" + "--:|" * (3 * len(heads))]
    for name, _ in sums[0][1].most_common(count):
        cells = [
            cell
            for retired, took in sums
            for cell in (
                number(retired[name]),
                number(took[name]),
                f"{100 * took[name] / took.total():.1f}",
            )
        ]
        lines.append(f"| `{name}` | {' | '.join(cells)} |")
    return "\n".join(lines)


def _short(name: str) -> str:
    """A function with its file's name alone: versions of crates stand in the folders' names. What
    the compiler outlined is one."""
    if KINDS["outlined"].search(name):
        return "OUTLINED_FUNCTION_…"
    head, _, rest = name.partition(" (")
    return f"{head} ({rest.rstrip(')').rpartition('/')[2]})" if rest else head


def changes(base: str, new: str, rows: Iterable[str]) -> str:
    """Instructions of whole samples: those of one kernel, and what another has more, by part."""
    heads = ["row", "instr.", "change", *PARTS, "of these: grant", "copies", "cycles off, change"]
    lines = [f"| {' | '.join(heads)} |", "|---|" + "--:|" * (len(heads) - 1)]
    for row in rows:
        one, two = (profiles(folder)[row, False] for folder in (base, new))
        before, after = parts(one, instructions), parts(two, instructions)
        for name in ("grant", "copies"):
            before[name], after[name] = (kind(p, name, instructions) for p in (one, two))
        more = [f"{after[name] - before[name]:+d}" for name in before]
        total = f"{two.instructions / one.instructions - 1:+.1%}".replace("%", " %")
        took = f"{two.cycles / one.cycles - 1:+.1%}".replace("%", " %")
        lines.append(f"| {' | '.join([row, number(one.instructions), total, *more, took])} |")
    return "\n".join(lines)


def by_level(kernel: str, levels: Iterable[str], row: str) -> str:
    """One row at several levels: instructions by part and kind, and cycles by cause."""
    found = {level: profiles(f"{kernel}-{level}")[row, False] for level in levels}
    names = [*PARTS, *KINDS]
    heads = ["opt-level", "instr.", *PARTS, *(f"of these: {k}" for k in KINDS)]
    heads += ["cycles off", "waiting for code", "for memory"]
    lines = [f"| {' | '.join(heads)} |", "|---|" + "--:|" * (len(heads) - 1)]
    for level, one in found.items():
        counts = parts(one, instructions) | {k: kind(one, k, instructions) for k in KINDS}
        waits = [one.caused("fetch") + one.caused("branch"), one.caused("load/store")]
        cells = [level, number(one.instructions), *(number(counts[name]) for name in names)]
        cells += map(number, [one.cycles, *waits])
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)
