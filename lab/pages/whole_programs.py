# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The cost of isolation for whole programs (lab/studies/programs, lab/studies/isolation), and the
sources of the programs."""

import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from statistics import median

from markupsafe import Markup

from committed import between, number
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
CATALOGUE = catalogues.load(STUDY / "catalogue.toml")
KERNEL_PHASES = (CAPSULE, SCHEDULER, PMP, ENTRY, RETURN, KERNEL)


@cache
def results() -> tuple[Result, ...]:
    """Return all committed results of programs."""
    return tuple(file.load(path) for path in sorted((STUDY / "data").glob("*.json")))


@cache
def kernels() -> tuple[KernelResults, ...]:
    """Return the bare measurements, then each kernel's."""
    return tuple(programs.group_by_kernel(results()))


def format_ratio(ratios: Ratios | None) -> str:
    """Format a ratio: its median, and its range if layouts differ."""
    if ratios is None:
        return text.NONE
    least, most = min(ratios.by_layout), max(ratios.by_layout)
    if len(ratios.by_layout) == 1 or round(least, 3) == round(most, 3):
        return f"{ratios.median:.3f}"
    return f"{ratios.median:.3f} ({least:.3f}–{most:.3f})"


def table(icache: bool) -> str:
    """Return the table for one cache setting: by kernel, alone and with another app's alarm."""
    bare, *others = kernels()
    lines = []
    shown = [(kernel, load) for kernel in others for load in (ALONE, WITH_ALARM)]
    keys = [key for key in programs.programs(kernels(), CATALOGUE) if bare.nets(key, ALONE, icache)]
    columns = [[kernel.ratios(bare, key, load, icache) for key in keys] for kernel, load in shown]
    for i, key in enumerate(keys):
        cycles = number(median(bare.nets(key, ALONE, icache)))
        lines.append([key.label, cycles, *(format_ratio(column[i]) for column in columns)])
    of_many = [layouts(key, True) > 1 for key in keys]
    means = [
        programs.mean([ratios for ratios, many in zip(column, of_many, strict=True) if many])
        for column in columns
    ]
    lines.append(["geometric mean of the short ones", "", *map(format_ratio, means)])
    with_alarm = [kernel if load == WITH_ALARM else None for kernel, load in shown]
    if icache:
        costs = (expected(kernel.name) if kernel else "" for kernel in with_alarm)
        lines.append(["expected from the cost per alarm", "", *costs])
    counts = (starved(kernel, keys, icache) if kernel else "" for kernel in with_alarm)
    lines.append(["starved runs, not counted", "", *counts])
    heads = [kernel.name + (", + alarm" if load == WITH_ALARM else "") for kernel, load in shown]
    return markdown(["program", "bare, cycles", *heads], lines)


def expected(name: str) -> str:
    """Format the ratio to be expected if each alarm takes what it takes in the traced runs."""
    runs = [run for run in counted_runs()[name].values() if run.alarms]
    cost = median([run.of_alarm(run.with_alarm.kernel + run.with_alarm.others) for run in runs])
    (kernel,) = (kernel for kernel in kernels() if kernel.name == name)
    return f"{1 / (1 - cost / kernel.period):.3f}"


def period(name: str) -> str:
    """Format the mean time between two alarms of the other app, in cycles."""
    (kernel,) = (kernel for kernel in kernels() if kernel.name == name)
    return f"{kernel.period:,.0f}"


def starved(kernel: KernelResults, keys: Sequence[programs.ProgramKey], icache: bool) -> str:
    """Format the number of starved runs next to an alarm."""
    counts = [kernel.starved(key, icache) for key in keys]
    lost, total = (sum(parts) for parts in zip(*counts, strict=True))
    return f"{lost} of {total}"


def layouts(key: programs.ProgramKey, icache: bool) -> int:
    """Return the number of layouts in which a program was measured bare."""
    return len(kernels()[0].nets(key, ALONE, icache))


def sizes() -> str:
    """Return the table of the programs' sizes as apps."""
    columns = programs.sizes(kernels(), CATALOGUE)
    return "\n".join(columns.markdown()).rstrip()


def mean(name: str, load: str, icache: bool) -> str:
    """Format the geometric mean over the programs with several layouts on one kernel, in percent
    above bare."""
    bare, *others = kernels()
    (kernel,) = (kernel for kernel in others if kernel.name == name)
    keys = [key for key in programs.programs(kernels(), CATALOGUE) if layouts(key, True) > 1]
    mean = programs.mean([kernel.ratios(bare, key, load, icache) for key in keys])
    if mean is None:
        return text.NONE
    return between([100 * (value - 1) for value in mean.by_layout], "{:.1f} %".format)


def conditions() -> str:
    """Name the number of layouts of each kernel."""
    return "; ".join(
        f"{kernel.name}: {most} layout{'s' * (most > 1)}"
        for kernel in kernels()
        if (most := max(result.layouts for result in kernel.results))
    )


def stack_in_c() -> str:
    """Return the clause on ML-KEM's stack in C, or "" if C was not measured."""
    there = any(row.id == "mlkem.exchange" and row.lang == "c" for r in results() for row in r.rows)
    return f" and {stack('mlkem.exchange', 'c')} in C, for about the same cycles" if there else ""


def stack(id_: str, lang: str) -> str:
    """Format the largest stack that a program used, in bytes."""
    used = [
        row.stack
        for result in results()
        for row in result.rows
        if (row.id, row.lang) == (id_, lang) and row.stack is not None
    ]
    return number(max(used))


@dataclass(frozen=True)
class CountedRuns:
    """A program's run alone and its run with another app's alarm, on one kernel."""

    alone: ProgramActivity
    with_alarm: ProgramActivity

    @property
    def alarms(self) -> int:
        """The number of alarms of the other app."""
        return self.with_alarm.upcalls

    def of_alarm(self, count: int) -> float:
        """Return a count per alarm."""
        return count / self.alarms


@cache
def counted_runs() -> dict[str, dict[str, CountedRuns]]:
    """Return the counts of runs by kernel, then by program. Runs alone must have no trap and no
    kernel cycle, since no table shows them."""
    runs_by_kernel = {}
    for path in sorted((STUDIES / "isolation" / "data").glob("*.json")):
        stored = isolation.load(path)
        runs: dict[str, dict[object, ProgramActivity]] = {}
        for row in stored.rows:
            others = dict(row.params)
            load = others.pop("beside")
            name = f"{label(row.id, others)}, {LANGS[row.lang]}"
            runs.setdefault(name, {})[load] = row
        some = {name: CountedRuns(both[ALONE], both[WITH_ALARM]) for name, both in runs.items()}
        assert not any(run.alone.traps or run.alone.kernel for run in some.values())
        runs_by_kernel[programs.short(stored.kernel.title)] = some
    return {
        kernel.name: runs_by_kernel[kernel.name]
        for kernel in kernels()
        if kernel.name in runs_by_kernel
    }


def per_alarm() -> str:
    """Return the table of the cost of each alarm of the other app (range over programs)."""
    lines = []
    for name, every in counted_runs().items():
        some = [run for run in every.values() if run.alarms]
        of_many = [
            [run.of_alarm(getattr(run.with_alarm, what)) for run in some]
            for what in ("interrupts", "traps", "switches", "pmp_writes")
        ]
        cycles = [run.of_alarm(run.with_alarm.kernel) for run in some]
        phases = [
            median([run.of_alarm(run.with_alarm.phases.get(phase, 0)) for run in some])
            for phase in KERNEL_PHASES
        ]
        others = [run.of_alarm(run.with_alarm.others) for run in some]
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


def alarms_table() -> str:
    """Return the table of each program's alarms, the kernel's cycles per alarm, and the change of
    the program's own cycles."""
    every = counted_runs()
    lines = []
    for name in next(iter(every.values())):
        cells = []
        for some in every.values():
            run = some[name]
            each = f" × {number(run.of_alarm(run.with_alarm.kernel))}" if run.alarms else ""
            own = run.with_alarm.program - run.alone.program
            cells += [f"{run.alarms}{each}", f"{own:+,}"]
        lines.append([name, *cells])
    heads = [head for name in every for head in (f"{name}, alarms", "itself")]
    return markdown(["program", *heads], lines)


def sources() -> str:
    """Return the table of the programs' sources and licences."""
    listed = tomllib.loads((STUDY / "sources.toml").read_text(encoding="utf-8"))["source"]
    heads = ("programs", "of", "version", "licence", "what")
    rows: list[Sequence[str]] = [
        (
            source["programs"],
            Markup(f"`{source['name']}` ({source['kind']})"),
            source["version"],
            source["licence"],
            source["what"],
        )
        for source in listed
    ]
    return markdown(heads, rows, words=range(5))
