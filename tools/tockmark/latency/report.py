# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The result of `tockmark latency`: its file, its text, and which waits of one kernel are longer
than another's.

Two kernels are compared by two rows per load: the worst alarm and the 99th percentile. Both kernels
get the same alarms at the same phases, and a repetition gives the same cycles, so there is no
random error. But the layout of the code differs from kernel to kernel, so there is a margin
(docs/method.md). A wait that is longer by more exceeds a hard limit.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from msgspec import Meta

from tockmark.base import documents
from tockmark.base.documents import Count, Part, Positive
from tockmark.base.errors import TockmarkError
from tockmark.compare.limits import Limit
from tockmark.compare.verdict import RowVerdict, Verdict
from tockmark.latency import FORM
from tockmark.latency.chain import ALARM, UART, WaitSpread
from tockmark.result.model import microseconds
from tockmark.result.provenance import Kernel, same_simulator
from tockmark.show.text import Table, TableColumn, figures, sentence
from tockmark.suite.catalogue import ICACHE, Lang, Params, RowName

VERSION = 1
Day = Annotated[str, Meta(pattern="^[0-9]{4}-[0-9]{2}-[0-9]{2}$")]
TODO = "give a file that `tockmark latency -o` made"
QUIET = "nothing"  # the name of the empty load
NOUN = {ALARM: "alarm", UART: "sent line"}  # by chain
FROM = {ALARM: "an alarm is due", UART: "a line is sent"}
OFF, LOOK, CALL, CORE = (
    "interrupts off",
    "kernel asks for no interrupt",
    "a deferred call waits",
    "one process has the core",
)
KINDS = {
    OFF: "interrupts are off",
    LOOK: "the kernel runs and does not check for pending interrupts",
    CALL: "a deferred call waits",
    CORE: "one process runs, or the kernel for it",
}
OTHER_STACKS = ("elsewhere",)  # the stack of the remaining cycles
MARGIN = 0.05  # a wait is a finding if it is longer by this share
LEAST = 200  # and by this number of cycles
WORST, MOST = "worst", "99%"
WHICH: dict[str, Callable[[WaitSpread], int]] = {
    WORST: lambda waits: waits.worst,
    MOST: lambda waits: waits.most_of,
}


class StackPart(Part, frozen=True):
    """A part of a stretch: its innermost functions, callers first, and their cycles."""

    stack: tuple[str, ...]
    cycles: Count


class LongestStretch(Part, frozen=True):
    """The longest stretch of its kind: its cycles, its load, and its parts, largest first."""

    kind: str
    cycles: Count
    load: str
    parts: tuple[StackPart, ...]


class LoadWaits(Part, frozen=True):
    """The alarms under a load: the whole wait, and each stage by name, in order."""

    name: str
    what: str
    whole: WaitSpread
    stages: dict[str, WaitSpread]


class WorstAlarm(Part, frozen=True):
    """The alarm with the longest wait: its load, its stages, and its parts, largest first."""

    load: str
    cycles: Count
    stages: dict[str, Count]
    parts: tuple[StackPart, ...]


class NeverCame(Part, frozen=True):
    """A load whose boot ended without the last alarm: how many cycles it waited, and the last stage
    that ended."""

    name: str
    what: str
    cycles: Count
    ended: str


class StoredLatency(Part, frozen=True):
    """The file of a measurement of one kernel."""

    format: str
    version: int
    date: Day
    kernel: Kernel
    board: str
    clock_hz: Positive
    icache: bool
    simulator: dict[str, str]
    family: str
    cycles: Count  # simulated in total
    stages: dict[str, str]  # a description of each
    loads: tuple[LoadWaits, ...]
    worst: WorstAlarm
    stretches: tuple[LongestStretch, ...]
    tool: str | None = None  # the commit of tockmark
    never: tuple[NeverCame, ...] = ()
    chain: str = ALARM

    @property
    def every_load(self) -> tuple[LoadWaits | NeverCame, ...]:
        """The loads; those without a last alarm come last."""
        return (*self.loads, *self.never)

    @property
    def longest_stage(self) -> str:
        """The stage with most cycles of the worst alarm."""
        return max(self.worst.stages, key=self.worst.stages.__getitem__)


def format_file(latency: StoredLatency) -> str:
    """Return a measurement as the text of its file."""
    return documents.text_of(latency, ("loads", "stretches"))


def load(path: Path) -> StoredLatency:
    """Read a file. Raise TockmarkError if it is not a measurement."""
    return documents.read(path, StoredLatency, FORM, VERSION, TODO)


def format_answer(latency: StoredLatency) -> str:
    """Return the main result in words."""
    worst, stage = latency.worst, latency.longest_stage
    words = "".join(
        f"{sentence(_lost(lost, latency))}; the last completed stage was '{lost.ended}'.\n"
        for lost in latency.never
    )
    words += (
        f"{sentence(_worst(latency))}; the stage '{stage}' takes {worst.stages[stage]:,} of them"
        f" ({latency.stages[stage]})."
    )
    for alone in (load_waits for load_waits in latency.loads if load_waits.name == QUIET):
        words += f" Without other apps, it is at most {alone.whole.worst:,} cycles."
    return words


def format_bound(latency: StoredLatency) -> str:
    """Return the worst wait in one sentence. If an upcall never came, say first that there is no
    bound."""
    longest = sorted(latency.never, key=lambda lost: lost.cycles)[-1:]
    no_bound = f"the wait for the {NOUN[latency.chain]} has no bound"
    words = "".join(f"{no_bound}: {_lost(lost, latency)}; " for lost in longest)
    return f"{words}{_worst(latency)}"


def _lost(lost: NeverCame, latency: StoredLatency) -> str:
    waited = _time(lost.cycles, latency.clock_hz)
    return f"with {lost.what}, the upcall of the {NOUN[latency.chain]} did not come within {waited}"


def _worst(latency: StoredLatency) -> str:
    (what,) = (waits.what for waits in latency.loads if waits.name == latency.worst.load)
    otherwise = "otherwise, " * bool(latency.never)
    waited = _time(latency.worst.cycles, latency.clock_hz)
    return f"{otherwise}the worst wait for the {NOUN[latency.chain]} is {waited}, with {what}"


def _time(cycles: int, clock_hz: int) -> str:
    return f"{cycles:,} cycles ({microseconds(cycles, clock_hz):,.0f} µs)"


def format_report(latency: StoredLatency) -> str:
    """Return the whole measurement as text."""
    board = f"simulated by {latency.board}, i-cache {ICACHE[latency.icache]}"
    lines = [
        format_answer(latency),
        "",
        f"kernel  {latency.kernel.title}, {board}",
        f"took    {latency.cycles:,} simulated cycles",
        "",
    ]
    columns = {"median": 9, "99 %": 9, "worst": 13, "seen": 7}
    table = Table([TableColumn("load, stage", 26, 0, left=True), *figures(columns)])
    for load_waits in latency.loads:
        table.add(load_waits.name, *_cells(load_waits.whole))
        for name, stage in load_waits.stages.items():
            table.add(f"  {name}", *_cells(stage))
    for lost in latency.never:
        table.add(lost.name, "", "", f"> {lost.cycles:,}", "")
    lines += table.text(f"From when {FROM[latency.chain]} to its upcall; cycles", "")
    lines += ["", f"The worst {NOUN[latency.chain]}'s stages, and where its cycles went:"]
    stages = ", ".join(f"{name} {cycles:,}" for name, cycles in latency.worst.stages.items())
    lines += [f"  {stages}", *_parts(latency.worst.parts), ""]
    if latency.stretches:
        lines.append("The longest stretches during some alarms, and where their cycles went:")
    for stretch in latency.stretches:
        title = f"{KINDS[stretch.kind]}; load: {stretch.load}"
        lines += [f"  {stretch.cycles:8,}  {title}", *_parts(stretch.parts)]
    return "\n".join(lines) + "\n"


def _cells(waits: WaitSpread) -> Iterable[str]:
    return (f"{waits.median:,}", f"{waits.most_of:,}", f"{waits.worst:,}", f"{waits.count:,}")


def _parts(parts: Iterable[StackPart]) -> list[str]:
    return [f"      {part.cycles:8,}  {' > '.join(part.stack)}" for part in parts]


def by_conditions(
    named: Iterable[tuple[str, StoredLatency]],
) -> dict[str, dict[str, StoredLatency]]:
    """Return latencies that can be compared, by their conditions in words and the kernels' names.
    The apps of all of them use interface version 2."""
    groups: dict[str, dict[str, StoredLatency]] = {}
    for name, latency in sorted(named, key=_rank):
        count = _count(latency)
        conditions = (
            f"simulated by {latency.board}, {latency.clock_hz / 1e6:g} MHz, i-cache"
            f" {ICACHE[latency.icache]}, interface version 2, {count} {NOUN[latency.chain]}s a load"
        )
        title = "baseline" if latency.kernel.is_baseline else latency.kernel.title
        kernel = f"{title} ({latency.kernel.opt_level or 'unknown opt-level'})"
        group = groups.setdefault(conditions, {})
        group[kernel if kernel not in group else f"{kernel}, {name}"] = latency
    return groups


def _count(latency: StoredLatency) -> int:
    return max((waits.whole.count for waits in latency.loads), default=0)


def _rank(named: tuple[str, StoredLatency]) -> tuple[bool, int, bool]:
    """Return the sort key: the cache on and most waits first, the baseline last."""
    _, latency = named
    return not latency.icache, -_count(latency), latency.kernel.is_baseline


def by_load(
    latencies: Mapping[str, StoredLatency],
) -> Iterator[tuple[str, list[LoadWaits | NeverCame | None]]]:
    """Yield each load in words, with its waits on each kernel."""
    whats = {
        waits.name: waits.what for latency in latencies.values() for waits in latency.every_load
    }
    for name, what in whats.items():
        by_name = (
            {waits.name: waits for waits in latency.every_load} for latency in latencies.values()
        )
        yield f"{name}: {what}", [waits.get(name) for waits in by_name]


@dataclass(frozen=True)
class WaitName(RowName):
    """The name of a wait: `wait.alarm load=console of=worst`."""

    id: str
    params: Params
    icache: bool | None
    lang: Lang = "c"


def wait_verdicts(base: StoredLatency, new: StoredLatency) -> list[RowVerdict]:
    """Return the verdicts on the waits under each load. Raise TockmarkError if the files differ in
    machine, stages, loads or alarms."""
    before, after = (waits.simulator.get("simulator_sha256") for waits in (base, new))
    same = base.simulator == new.simulator or same_simulator(before, after)
    for subject, base_value, new_value in (
        ("stages", base.family, new.family),
        ("chains", base.chain, new.chain),
        ("boards", base.board, new.board),
        ("cache settings", base.icache, new.icache),
        ("simulators", same, True),
        ("loads", _names(base), _names(new)),
        ("numbers of alarms", _counts(base, new), _counts(new, base)),
    ):
        if base_value != new_value:
            raise TockmarkError(
                f"the two measurements have different {subject}",
                "measure both with the same options, on one machine",
            )
    return list(_verdicts(base, new))


def _verdicts(base: StoredLatency, new: StoredLatency) -> Iterator[RowVerdict]:
    base_loads = {load.name: load for load in base.loads}
    for lost in new.never:
        if lost.name in base_loads:
            why = f"did not come within {lost.cycles:,} cycles; last stage: {lost.ended}"
            name = _name(new, lost.name, WORST)
            yield RowVerdict(name, Verdict.GONE, limit=Limit.HARD, why=why)
    for load in new.loads:
        if (old := base_loads.get(load.name)) is not None:  # else it never came on the base
            for percentile, value in WHICH.items():
                traced = base.worst.load == new.worst.load == load.name and percentile == WORST
                worst = (base.worst, new.worst) if traced else None
                yield judge_wait(_name(new, load.name, percentile), old, load, value, worst)


def judge_wait(
    name: RowName,
    old: LoadWaits,
    new: LoadWaits,
    value: Callable[[WaitSpread], int],
    worst: tuple[WorstAlarm, WorstAlarm] | None = None,
) -> RowVerdict:
    """Judge one wait and name the stage that changed most in the same direction, if the wait
    changed.

    `worst` has alarms that were traced on both kernels; with them, also name the function."""
    before, after = value(old.whole), value(new.whole)
    verdict = Verdict.SAME
    if abs(after - before) > max(LEAST, before * MARGIN):
        verdict = Verdict.WORSE if after > before else Verdict.BETTER
    grown = {name: value(waits) - value(old.stages[name]) for name, waits in new.stages.items()}
    stage = (max if before < after else min)(grown, key=grown.__getitem__)
    where = f"{stage} {grown[stage]:+,}"
    if worst and (function := _function(*worst if before < after else reversed(worst))):
        where += f", most in {function}"
    share = after / before - 1 if before else None
    return RowVerdict(
        name,
        verdict,
        before,
        after,
        share,
        None if share is None else (share, share),
        limit=Limit.HARD if verdict is Verdict.WORSE else Limit.NONE,
        where="" if verdict is Verdict.SAME else where,
    )


def _name(latency: StoredLatency, load: str, percentile: str) -> WaitName:
    return WaitName(f"wait.{latency.chain}", {"load": load, "of": percentile}, latency.icache)


def _function(base: WorstAlarm, new: WorstAlarm) -> str | None:
    """Return the function whose cycles grew most, over all callers; None if none grew."""
    grown = Counter[str]()
    for alarm, sign in ((new, 1), (base, -1)):
        for part in alarm.parts:
            if part.stack != OTHER_STACKS:
                grown[part.stack[-1]] += sign * part.cycles
    most = max(grown, key=grown.__getitem__, default=None)
    return most if most is not None and grown[most] > 0 else None


def _names(latency: StoredLatency) -> set[str]:
    return {load.name for load in latency.loads} | {load.name for load in latency.never}


def _counts(latency: StoredLatency, other: StoredLatency) -> dict[str, int]:
    """Return the number of alarms under each load that `other` also has."""
    both = {load.name for load in other.loads}
    return {load.name: load.whole.count for load in latency.loads if load.name in both}
