# SPDX-License-Identifier: Apache-2.0 OR MIT
"""What isolation costs whole programs: the results in lab/studies/programs, and where their sources
come from."""

import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from statistics import median

from committed import between, number, share
from tables import markdown
from tockmark.profile.sample import CAPSULE, ENTRY, KERNEL, PMP, RETURN, SCHEDULER
from tockmark.result import file
from tockmark.result.model import Result
from tockmark.show import text
from tockmark.suite import catalogue as catalogues
from tockmark.suite.catalogue import LANGS, label
from tockmark_lab.folders import STUDIES
from tockmark_lab.studies import isolation, programs
from tockmark_lab.studies.isolation import ProgramActivity
from tockmark_lab.studies.programs import ALONE, WITH_ALARM, KernelResults, Ratios

STUDY = STUDIES / "programs"
KNOWN = catalogues.load(STUDY / "catalogue.toml")
KERNEL_PHASES = (CAPSULE, SCHEDULER, PMP, ENTRY, RETURN, KERNEL)


@cache
def results() -> tuple[Result, ...]:
    """Return all committed results of programs."""
    return tuple(file.load(path) for path in sorted((STUDY / "data").glob("*.json")))


@cache
def kernels() -> tuple[KernelResults, ...]:
    """Return what was measured bare, then on each kernel."""
    return tuple(programs.group_by_kernel(results()))


def cell(found: Ratios | None) -> str:
    """Return a ratio: its median, and the least and the most over layouts, if there are some."""
    if found is None:
        return text.NONE
    least, most = min(found.by_layout), max(found.by_layout)
    if len(found.by_layout) == 1 or round(least, 3) == round(most, 3):
        return f"{found.median:.3f}"
    return f"{found.median:.3f} ({least:.3f}–{most:.3f})"


def table(icache: bool) -> str:
    """Return the table of one cache setting: per kernel alone, and beside an alarm."""
    bare, *others = kernels()
    lines = []
    shown = [(one, beside) for one in others for beside in (ALONE, WITH_ALARM)]
    keys = [key for key in programs.programs(kernels(), KNOWN) if bare.nets(key, ALONE, icache)]
    columns = [[one.ratios(bare, key, beside, icache) for key in keys] for one, beside in shown]
    for i, key in enumerate(keys):
        cycles = number(median(bare.nets(key, ALONE, icache)))
        lines.append([key.label, cycles, *(cell(column[i]) for column in columns)])
    of_many = [layouts(key, True) > 1 for key in keys]
    means = [
        programs.mean([one for one, many in zip(column, of_many, strict=True) if many])
        for column in columns
    ]
    lines.append(["geometric mean of the short ones", "", *map(cell, means)])
    heads = [one.name + (", + alarm" if beside == WITH_ALARM else "") for one, beside in shown]
    return markdown(["program", "bare, cycles", *heads], lines)


def layouts(key: programs.ProgramKey, icache: bool) -> int:
    """Return in how many layouts a program was measured bare."""
    return len(kernels()[0].nets(key, ALONE, icache))


def sizes() -> str:
    """Return what programs take as an app."""
    found = programs.sizes(kernels(), KNOWN)
    return "\n".join(found.markdown()).rstrip()


def mean(name: str, beside: str, icache: bool) -> str:
    """Return the geometric mean over the programs in several layouts on one kernel."""
    bare, *others = kernels()
    (one,) = (one for one in others if one.name == name)
    keys = [key for key in programs.programs(kernels(), KNOWN) if layouts(key, True) > 1]
    found = programs.mean([one.ratios(bare, key, beside, icache) for key in keys])
    if found is None:
        return text.NONE
    return between([100 * (value - 1) for value in found.by_layout], "{:.1f} %".format)


def conditions() -> str:
    """Return in how many layouts each kernel was measured."""
    return "; ".join(
        f"{one.name}: {most} layout{'s' * (most > 1)}"
        for one in kernels()
        if (most := max(result.layouts for result in one.results))
    )


def stack_beside() -> str:
    """Return what follows about the same in C, where that was measured."""
    there = any(row.id == "mlkem.exchange" and row.lang == "c" for r in results() for row in r.rows)
    return f" and {stack('mlkem.exchange', 'c')} in C, for about the same cycles" if there else ""


def stack(id_: str, lang: str) -> str:
    """Return the most bytes of its stack that a program ever used."""
    used = [
        row.stack
        for result in results()
        for row in result.rows
        if (row.id, row.lang) == (id_, lang) and row.stack is not None
    ]
    return number(max(used))


@dataclass(frozen=True)
class Counted:
    """A program in one run alone and in one beside the alarm, on one kernel."""

    alone: ProgramActivity
    beside: ProgramActivity

    @property
    def alarms(self) -> int:
        """How many alarms came to the other app."""
        return self.beside.upcalls

    def of_alarm(self, count: int) -> float:
        """Return how many of something there are for each alarm."""
        return count / self.alarms


@cache
def counted() -> dict[str, dict[str, Counted]]:
    """Return what happened in runs by kernel, as results have them, then by program. What ran alone
    had nothing happen to it: else a table would lack it."""
    found = {}
    for path in sorted((STUDIES / "isolation" / "data").glob("*.json")):
        stored = isolation.load(path)
        runs: dict[str, dict[object, ProgramActivity]] = {}
        for one in stored.rows:
            others = {name: value for name, value in one.params.items() if name != "beside"}
            name = f"{label(one.id, others)}, {LANGS[one.lang]}"
            runs.setdefault(name, {})[one.params["beside"]] = one
        some = {name: Counted(both[ALONE], both[WITH_ALARM]) for name, both in runs.items()}
        assert not any(one.alone.traps or one.alone.kernel for one in some.values())
        found[programs.short(stored.kernel.title)] = some
    return {one.name: found[one.name] for one in kernels() if one.name in found}


def per_alarm() -> str:
    """Return the table of what each alarm of the other app takes, over the programs."""
    lines = []
    for name, every in counted().items():
        some = [one for one in every.values() if one.alarms]
        of_many = [
            [one.of_alarm(getattr(one.beside, what)) for one in some]
            for what in ("interrupts", "traps", "switches", "pmp_writes")
        ]
        cycles = [one.of_alarm(one.beside.kernel) for one in some]
        phases = [
            median([one.of_alarm(one.beside.phases.get(phase, 0)) for one in some])
            for phase in KERNEL_PHASES
        ]
        others = [one.of_alarm(one.beside.others) for one in some]
        lines.append(
            [
                name,
                *(between(many, "{:.0f}".format) for many in of_many),
                between(cycles),
                *map("{:,.0f}".format, phases),
                between(others, "{:.0f}".format),
            ]
        )
    heads = ["kernel", "interrupts", "traps", "switches", "PMP writes", "kernel, cycles"]
    return markdown([*heads, *KERNEL_PHASES[:-1], "rest", "other app"], lines)


def share_of_pmp(name: str) -> str:
    """Return which part of the kernel's cycles for alarms goes to the PMP."""
    some = [one.beside for one in counted()[name].values()]
    return share(sum(one.phases.get(PMP, 0) for one in some), sum(one.kernel for one in some))


def explained() -> str:
    """Return the table of each program's alarms, what the kernel takes for one, and what the
    program itself takes more or less than alone."""
    every = counted()
    lines = []
    for name in next(iter(every.values())):
        cells = []
        for some in every.values():
            one = some[name]
            each = f" × {number(one.of_alarm(one.beside.kernel))}" if one.alarms else ""
            own = one.beside.program - one.alone.program
            cells += [f"{one.alarms}{each}", f"{own:+,}"]
        lines.append([name, *cells])
    heads = [head for name in every for head in (f"{name}, alarms", "itself")]
    return markdown(["program", *heads], lines)


def sources() -> str:
    """Return where the programs come from, and under which licence."""
    listed = tomllib.loads((STUDY / "sources.toml").read_text(encoding="utf-8"))["source"]
    heads = ("programs", "of", "version", "licence", "what")
    rows: list[Sequence[str]] = [
        (
            one["programs"],
            f"`{one['name']}` ({one['kind']})",
            one["version"],
            one["licence"],
            one["what"],
        )
        for one in listed
    ]
    return markdown(heads, rows, words=range(5))
