# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Where a sample goes, from the committed profiles: by part of the system call, by function, and
what another kernel or opt-level changes of it."""

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from functools import cache
from operator import attrgetter

from committed import number
from tables import markdown
from tockmark.base.paths import RESULTS
from tockmark.profile import file
from tockmark.profile.file import StoredProfile
from tockmark.profile.sample import APP, CAPSULE, ENTRY, KERNEL, PMP, RETURN, SCHEDULER
from tockmark.show import text

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
    """Return all profiles of a kernel at one level, by row and setting of the i-cache."""
    loaded = map(file.load, sorted((FOLDER / kernel).glob("*.json")))
    return {(profile.label, profile.icache): profile for profile in loaded}


def path(kernel: str, row: str, icache: bool) -> str:
    """Return where a profile lies, as a command names it."""
    cache = "on" if icache else "off"
    stored = FOLDER / kernel / f"{row.replace(' ', '-').replace('=', '')}-{cache}.json"
    if not stored.exists():
        raise FileNotFoundError(stored)
    return str(stored.relative_to(RESULTS.parent))


def most_expensive(kernel: str, count: int) -> list[str]:
    """Return the rows that cost most, of those that are there with both settings of the cache."""
    own = profiles(kernel)
    both = [row for row, icache in own if icache and (row, False) in own]
    return sorted(both, key=lambda row: -own[row, False].cycles)[:count]


def split_parts(profile: StoredProfile, what: str = "instructions") -> dict[str, int]:
    """Return the `instructions` or `cycles` of each part, which are all of the sample together; and
    those that functions of each kind took themselves, whatever part called them."""
    count = attrgetter(what)
    by_phase = Counter({share.name: count(share) for share in profile.phases})
    parts = {part: sum(by_phase[name] for name in names) for part, names in PARTS.items()}
    return parts | {
        kind: sum(
            count(function) for function in profile.functions if pattern.search(function.name)
        )
        for kind, pattern in KINDS.items()
    }


def table(kernels: Mapping[str, str], rows: Iterable[str]) -> str:
    """Return a table of each row and kernel (by its folder; with what to call it): sums, and shares
    of the instructions and of the cycles with the i-cache off."""
    names = [*PARTS, "grant", "copies"]
    lines = []
    for row in rows:
        for place, (folder, title) in enumerate(kernels.items()):
            off, on = (profiles(folder)[row, icache] for icache in (False, True))
            retired, took = split_parts(off), split_parts(off, "cycles")
            shares = [
                f"{100 * of_retired / off.instructions:.0f} / {100 * of_took / off.cycles:.0f}"
                for of_retired, of_took in ((retired[name], took[name]) for name in names)
            ]
            sums = map(number, (off.instructions, off.cycles, on.cycles))
            lines.append(["" if place else row, title, *sums, *shares])
    heads = ["row", "kernel", "instr.", "cycles off", "cycles on", *names]
    return markdown(heads, lines, words=(0, 1))


def functions(kernels: Mapping[str, str], rows: Iterable[str], count: int) -> str:
    """Return the functions that cost most in these rows together, of the first kernel, and what the
    others have of the same name in a file of the same name."""
    rows = list(rows)
    sums: list[tuple[Counter[str], Counter[str]]] = []
    for folder in kernels:
        retired, took = Counter[str](), Counter[str]()
        for function in (
            function for row in rows for function in profiles(folder)[row, False].functions
        ):
            retired[_short(function.name)] += function.instructions
            took[_short(function.name)] += function.cycles
        sums.append((retired, took))
    lines = []
    for name, _ in sums[0][1].most_common(count):
        cells: list[str] = [text.quoted(name)]
        for retired, took in sums:
            share = f"{100 * took[name] / took.total():.1f}"
            cells += [number(retired[name]), number(took[name]), share]
        lines.append(cells)
    heads = [head for title in kernels.values() for head in (f"{title}: instr.", "cycles", "%")]
    return markdown(["function", *heads], lines)


def _short(name: str) -> str:
    """Return a function with its file's name alone: versions of crates stand in the folders' names.
    What the compiler outlined is one."""
    if KINDS["outlined"].search(name):
        return "OUTLINED_FUNCTION_…"
    head, _, rest = name.partition(" (")
    return f"{head} ({rest.rstrip(')').rpartition('/')[2]})" if rest else head


def changes(base: str, new: str, rows: Iterable[str]) -> str:
    """Instructions of whole samples: those of one kernel, and what another has more, by part."""
    lines = []
    for row in rows:
        base_profile, new_profile = (profiles(folder)[row, False] for folder in (base, new))
        before, after = split_parts(base_profile), split_parts(new_profile)
        more = [f"{after[name] - before[name]:+d}" for name in (*PARTS, "grant", "copies")]
        retired = _growth(base_profile.instructions, new_profile.instructions)
        lines.append(
            [
                row,
                number(base_profile.instructions),
                retired,
                *more,
                _growth(base_profile.cycles, new_profile.cycles),
            ]
        )
    heads = ["row", "instr.", "change", *PARTS, "of these: grant", "copies", "cycles off, change"]
    return markdown(heads, lines)


def _growth(before: int, after: int) -> str:
    return f"{100 * (after / before - 1):+.1f} %"


def by_level(kernel: str, levels: Iterable[str], row: str) -> str:
    """Return one row at several levels: instructions by part and kind, and cycles by cause."""
    lines = []
    for level in levels:
        profile = profiles(f"{kernel}-{level}")[row, False]
        waits = (
            profile.cycles_of_cause("fetch") + profile.cycles_of_cause("branch"),
            profile.cycles_of_cause("load/store"),
        )
        figures = [profile.instructions, *split_parts(profile).values(), profile.cycles, *waits]
        lines.append([level, *map(number, figures)])
    heads = ["opt-level", "instr.", *PARTS, *(f"of these: {kind}" for kind in KINDS)]
    return markdown([*heads, "cycles off", "waiting for code", "for memory"], lines)
