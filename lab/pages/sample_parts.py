# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Breakdowns of a sample, from the committed profiles: by part of the system call and by function,
and the changes by another kernel or opt-level."""

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
from tockmark.profile.sample import APP, CAPSULE, ENTRY, KERNEL, PMP, RETURN, SCHEDULER, Cause
from tockmark.show import text
from tockmark.suite import catalogue as catalogues

FOLDER = RESULTS / "profiles"
SAMPLE = "sample of"  # the head of the names in a table of whole samples, with their counter reads

# The phases of a profile, grouped for the pages: each cycle is in one part.
PARTS = {
    "registers": (ENTRY, RETURN),
    "PMP": (PMP,),
    "scheduler": (SCHEDULER,),
    "driver": (CAPSULE,),
    "app": (APP,),
    "the rest": (KERNEL,),
}

CODE: tuple[Cause, ...] = ("fetch", "branch")  # causes of waiting for code

# Functions of one kind, in any phase.
KINDS = {
    "grant": re.compile(r"kernel/src/grant\.rs"),
    "copies": re.compile(r"compiler_builtins|^mem(cpy|move|set|cmp)\b"),
    "outlined": re.compile(r"^OUTLINED_FUNCTION"),
}


@cache
def profiles(kernel: str) -> dict[tuple[str, bool], StoredProfile]:
    """Return all profiles of a kernel at one level, by row and i-cache setting."""
    loaded = map(file.load, sorted((FOLDER / kernel).glob("*.json")))
    return {(profile.label, profile.icache): profile for profile in loaded}


def path(kernel: str, row: str, icache: bool) -> str:
    """Return the path of a profile, from the top folder."""
    cache = "on" if icache else "off"
    stored = FOLDER / kernel / f"{row.replace(' ', '-').replace('=', '')}-{cache}.json"
    if not stored.exists():
        raise FileNotFoundError(stored)
    return str(stored.relative_to(RESULTS.parent))


def most_expensive(kernel: str, count: int) -> list[str]:
    """Return the most expensive rows, of those profiled with both cache settings."""
    own = profiles(kernel)
    both = [row for row, icache in own if icache and (row, False) in own]
    return sorted(both, key=lambda row: -own[row, False].cycles)[:count]


def split_parts(profile: StoredProfile, what: str = "instructions") -> dict[str, int]:
    """Return the `instructions` or `cycles` of each part, which add up to the sample, or the cycles
    `in_body`; and of the functions of each kind, whichever part called them."""
    count = attrgetter(what)
    by_phase = Counter({share.name: count(share) for share in profile.phases})
    parts = {part: sum(by_phase[name] for name in names) for part, names in PARTS.items()}
    return parts | {
        kind: sum(
            count(function) for function in profile.functions if pattern.search(function.name)
        )
        for kind, pattern in KINDS.items()
    }


# The parts in words, for readers who want one call, not a table of samples.
WORDS = {
    "the rest": "kernel: find the call, the process and its driver",
    "PMP": "PMP: close and open the app's memory",
    "registers": "into the kernel and back, registers",
    "scheduler": "scheduler",
    "driver": "driver",
    "app": "app",
}


def operation_parts(profile: StoredProfile) -> dict[str, int]:
    """Return the cycles of one operation by part, without the sample's counter reads."""
    cycles = split_parts(profile, "in_body")
    return {part: cycles[part] for part in PARTS}


def operation(kernels: Mapping[str, str], row: str) -> str:
    """Return a table of the cycles of one operation by part, i-cache on. `kernels` maps folders to
    titles."""
    parts = [operation_parts(profiles(folder)[row, True]) for folder in kernels]
    lines = [[words, *(number(each[part]) for each in parts)] for part, words in WORDS.items()]
    lines.append(["sum", *(number(sum(each.values())) for each in parts)])
    return markdown(["part", *kernels.values()], lines)


def operation_functions(kernel: str, row: str, count: int) -> str:
    """Return the functions that take most cycles of one operation, i-cache on, with these."""
    cycles = Counter[str]()
    for function in profiles(kernel)[row, True].functions:
        cycles[_short(function.name)] += function.in_body
    return ", ".join(f"{text.quoted(name)} {own}" for name, own in cycles.most_common(count))


def _sample_of(row: str) -> str:
    """Return a row's name, with the operations of its sample if there are several: other tables
    show one operation."""
    benchmark = catalogues.load().benchmarks[row.partition(" ")[0]]
    return f"{row} ({benchmark.inner} × {benchmark.unit})" if benchmark.inner > 1 else row


def table(kernels: Mapping[str, str], rows: Iterable[str]) -> str:
    """Return a table by row and kernel: sums, and shares of instructions and cycles (i-cache off)
    by part. `kernels` maps folders to titles."""
    names = [*PARTS, "grant", "copies"]
    lines = []
    for row in rows:
        for index, (folder, title) in enumerate(kernels.items()):
            off, on = (profiles(folder)[row, icache] for icache in (False, True))
            retired, took = split_parts(off), split_parts(off, "cycles")
            shares = [
                f"{100 * of_retired / off.instructions:.0f} / {100 * of_took / off.cycles:.0f}"
                for of_retired, of_took in ((retired[name], took[name]) for name in names)
            ]
            sums = map(number, (off.instructions, off.cycles, on.cycles))
            lines.append(["" if index else _sample_of(row), title, *sums, *shares])
    heads = [SAMPLE, "kernel", "instr.", "cycles off", "cycles on", *names]
    return markdown(heads, lines, words=(0, 1))


def functions(kernels: Mapping[str, str], rows: Iterable[str], count: int) -> str:
    """Return a table of the first kernel's most expensive functions, summed over these rows, with
    the other kernels' functions of the same name and file name."""
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
    """Return a function's name with its file's name, without folders, which contain versions of
    crates. All outlined functions have one name."""
    if KINDS["outlined"].search(name):
        return "OUTLINED_FUNCTION_…"
    head, _, rest = name.partition(" (")
    return f"{head} ({rest.rstrip(')').rpartition('/')[2]})" if rest else head


def changes(base: str, new: str, rows: Iterable[str]) -> str:
    """Return a table of the instructions of whole samples: one kernel's, and the difference of
    another by part."""
    lines = []
    for row in rows:
        base_profile, new_profile = (profiles(folder)[row, False] for folder in (base, new))
        before, after = split_parts(base_profile), split_parts(new_profile)
        more = [f"{after[name] - before[name]:+d}" for name in (*PARTS, "grant", "copies")]
        retired = _growth(base_profile.instructions, new_profile.instructions)
        lines.append(
            [
                _sample_of(row),
                number(base_profile.instructions),
                retired,
                *more,
                _growth(base_profile.cycles, new_profile.cycles),
            ]
        )
    heads = [SAMPLE, "instr.", "change", *PARTS, "of these: grant", "copies", "cycles off, change"]
    return markdown(heads, lines)


def _growth(before: int, after: int) -> str:
    return f"{100 * (after / before - 1):+.1f} %"


def cycles_of_causes(profile: StoredProfile, *causes: Cause) -> int:
    """Return the cycles of a sample with these causes."""
    return sum(phase.causes.get(cause, 0) for phase in profile.phases for cause in causes)


def by_level(kernel: str, levels: Iterable[str], row: str) -> str:
    """Return a table of one row at several levels: instructions by part, cycles by cause."""
    lines = []
    for level in levels:
        profile = profiles(f"{kernel}-{level}")[row, False]
        waits = [cycles_of_causes(profile, *causes) for causes in (CODE, ("load/store",))]
        figures = [profile.instructions, *split_parts(profile).values(), profile.cycles, *waits]
        lines.append([level, *map(number, figures)])
    heads = ["opt-level", "instr.", *PARTS, *(f"of these: {kind}" for kind in KINDS)]
    return markdown([*heads, "cycles off", "waiting for code", "for memory"], lines)
