# SPDX-License-Identifier: Apache-2.0 OR MIT
"""What `tockmark latency` found: the file that keeps it, and the text for its reader, the answer
first; and which waits of one kernel are longer than another's.

Two kernels are compared by two rows beside each load, of the worst alarm and of the time that 99 %
of them stay within. Each is one of the alarms that came at the same phases: on one kernel it comes
out the same each time, so there is no chance to reckon with. What differs from kernel to kernel
without anybody's doing is the layout of the code, for which there is a margin (docs/method.md). A
wait that is longer by more is beyond a hard limit.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import msgspec
from msgspec import Meta

from tockmark.base import documents
from tockmark.base.documents import Count, Part, Positive
from tockmark.base.errors import TockmarkError
from tockmark.compare.limits import Limit
from tockmark.compare.verdict import RowVerdict, Verdict
from tockmark.latency.chain import ALARM, UART, WaitSpread
from tockmark.result.provenance import Kernel
from tockmark.show.text import Table, TableColumn, figures
from tockmark.suite.catalogue import ICACHE, Lang, Params, RowName

FORM, VERSION = "tockmark-latency", 1
Day = Annotated[str, Meta(pattern="^[0-9]{4}-[0-9]{2}-[0-9]{2}$")]
TODO = "give a file that `tockmark latency -o` made"
QUIET = "nothing"  # the load that is none
NOUN = {ALARM: "alarm", UART: "sent line"}  # what waits, by chain
FROM = {ALARM: "an alarm is due", UART: "a line is sent"}
OFF, LOOK, CALL, CORE = (
    "interrupts off",
    "kernel asks for no interrupt",
    "a deferred call waits",
    "one process has the core",
)
KINDS = {
    OFF: "interrupts are off",
    LOOK: "the kernel runs and does not ask what is pending",
    CALL: "a deferred call waits until it is served",
    CORE: "one process runs, the kernel for it, and nobody else",
}
ELSEWHERE = ("elsewhere",)  # the stack of all that is left
MARGIN = 0.05  # a wait that is longer by so much of it is a finding
LEAST = 200  # and by so many cycles
WORST, MOST = "worst", "99%"
WHICH: dict[str, Callable[[WaitSpread], int]] = {
    WORST: lambda one: one.worst,
    MOST: lambda one: one.most_of,
}


class StackPart(Part, frozen=True):
    """Part of a stretch: its innermost functions, callers first, and their cycles."""

    stack: tuple[str, ...]
    cycles: Count


class LongestStretch(Part, frozen=True):
    """The longest of a kind: in cycles, beside which load, and where they went, most first."""

    kind: str
    cycles: Count
    load: str
    parts: tuple[StackPart, ...]


class LoadWaits(Part, frozen=True):
    """The alarms beside a load: the whole, and each stage by its name, in order."""

    name: str
    what: str
    whole: WaitSpread
    stages: dict[str, WaitSpread]


class WorstAlarm(Part, frozen=True):
    """The alarm that took longest: beside which load, its stages, and where its cycles went."""

    load: str
    cycles: Count
    stages: dict[str, Count]
    parts: tuple[StackPart, ...]


class NeverCame(Part, frozen=True):
    """A load beside which an alarm did not come while the boot ran: so many cycles it waited, and
    which was the last stage that ended."""

    name: str
    what: str
    cycles: Count
    ended: str


class StoredLatency(Part, frozen=True):
    """The file: on one kernel."""

    format: str
    version: int
    date: Day
    kernel: Kernel
    board: str
    clock_hz: Positive
    icache: bool
    simulator: dict[str, str]
    family: str
    cycles: Count  # that were simulated
    stages: dict[str, str]  # what each is
    loads: tuple[LoadWaits, ...]
    worst: WorstAlarm
    stretches: tuple[LongestStretch, ...]
    tool: str | None = None  # the commit of the checkout
    never: tuple[NeverCame, ...] = ()
    chain: str = ALARM

    @property
    def longest_stage(self) -> str:
        """The stage that took most of the worst alarm."""
        return max(self.worst.stages, key=self.worst.stages.__getitem__)


def format_file(found: StoredLatency) -> str:
    """Return the file."""
    return documents.text_of(found, ("loads", "stretches"))


def load(path: Path) -> StoredLatency:
    """Read such a file. TockmarkError if it is none."""
    return documents.read(path, StoredLatency, FORM, VERSION, TODO)


def format_answer(found: StoredLatency) -> str:
    """Return the answer in words."""
    worst, by, noun = found.worst, found.longest_stage, NOUN[found.chain]
    beside = {one.name: one for one in found.loads}
    never = "; ".join(
        f"beside {one.what} its upcall never came within {_time(one.cycles, found.clock_hz)}, the"
        f" stage '{one.ended}' was over"
        for one in found.never
    )
    words = f"An app may keep another's {noun} waiting for ever: {never}.\n" if never else ""
    words += "Where it comes, an" if never else "An"
    words += (
        f" app may keep another's {noun} waiting {_time(worst.cycles, found.clock_hz)}: beside"
        f" {beside[worst.load].what}, {worst.stages[by]:,} of it in the stage '{by}'"
        f" ({found.stages[by]})."
    )
    if (alone := beside.get(QUIET)) is not None:
        words += f" Beside nothing it takes {alone.whole.worst:,} at most."
    return words


def _time(cycles: int, clock_hz: int) -> str:
    return f"{cycles:,} cycles ({cycles * 1e6 / clock_hz:,.0f} µs)"


def format_report(found: StoredLatency) -> str:
    """Return all of it for its reader."""
    about = f"{found.kernel.title}, {found.board}, i-cache {ICACHE[found.icache]}"
    lines = [
        format_answer(found),
        "",
        f"kernel  {about}",
        f"took    {found.cycles:,} simulated cycles",
        "",
    ]
    columns = {"median": 9, "99 %": 9, "worst": 9, "seen": 7}
    table = Table([TableColumn("beside, stage", 26, 0, left=True), *figures(columns)])
    for one in found.loads:
        table.add(one.name, *_cells(one.whole))
        for name, stage in one.stages.items():
            table.add(f"  {name}", *_cells(stage))
    for lost in found.never:
        table.add(lost.name, "", "", "never", "")
    lines += table.text(f"From when {FROM[found.chain]} to its upcall; cycles", "")
    lines += ["", f"The worst {NOUN[found.chain]}'s stages, and where its cycles went:"]
    stages = ", ".join(f"{name} {cycles:,}" for name, cycles in found.worst.stages.items())
    lines += [f"  {stages}", *_parts(found.worst.parts), ""]
    if found.stretches:
        lines.append("The longest stretches while some alarms came, and where their cycles went:")
    for stretch in found.stretches:
        what = f"{KINDS[stretch.kind]}, beside {stretch.load}"
        lines += [f"  {stretch.cycles:8,}  {what}", *_parts(stretch.parts)]
    return "\n".join(lines) + "\n"


def as_json(found: StoredLatency) -> object:
    """Return all of it as records."""
    return msgspec.to_builtins(found)


def _cells(one: WaitSpread) -> Iterable[str]:
    return (f"{one.median:,}", f"{one.most_of:,}", f"{one.worst:,}", f"{one.count:,}")


def _parts(parts: Iterable[StackPart]) -> list[str]:
    return [f"      {part.cycles:8,}  {' > '.join(part.stack)}" for part in parts]


@dataclass(frozen=True)
class WaitName(RowName):
    """What a wait is called: `wait.alarm load=console of=worst`."""

    id: str
    params: Params
    icache: bool | None
    lang: Lang = "c"


def wait_verdicts(base: StoredLatency, new: StoredLatency) -> list[RowVerdict]:
    """Return what is said of the waits beside each load. TockmarkError if the files are not of the
    same machine, stages and alarms."""
    for what, one, other in (
        ("kernels with other stages", base.family, new.family),
        ("other chains", base.chain, new.chain),
        ("other boards", base.board, new.board),
        ("other settings of the cache", base.icache, new.icache),
        ("other simulators", base.simulator, new.simulator),
        ("other loads", _names(base), _names(new)),
        ("other numbers of alarms", _counts(base, new), _counts(new, base)),
    ):
        if one != other:
            raise TockmarkError(f"these are of {what}", "measure both alike, on one machine")
    return list(_verdicts(base, new))


def _verdicts(base: StoredLatency, new: StoredLatency) -> Iterator[RowVerdict]:
    known = {load.name: load for load in base.loads}
    for lost in new.never:
        if lost.name in known:
            why = f"never comes within {lost.cycles:,} cycles, the stage {lost.ended} was over"
            name = _name(new, lost.name, WORST)
            yield RowVerdict(name, Verdict.GONE, limit=Limit.HARD, why=why)
    for load in new.loads:
        if (old := known.get(load.name)) is not None:  # else it never came on the other
            for of, value in WHICH.items():
                traced = base.worst.load == new.worst.load == load.name and of == WORST
                worst = (base.worst, new.worst) if traced else None
                yield judge_wait(_name(new, load.name, of), old, load, value, worst)


def judge_wait(
    name: RowName,
    old: LoadWaits,
    new: LoadWaits,
    value: Callable[[WaitSpread], int],
    worst: tuple[WorstAlarm, WorstAlarm] | None = None,
) -> RowVerdict:
    """Judge one wait, and name the stage that changed most the same way: grew, or shrank where it
    waits no longer than before. `worst` alarms that were traced on both kernels name the function,
    too."""
    before, after = value(old.whole), value(new.whole)
    verdict = Verdict.SAME
    if abs(after - before) > max(LEAST, before * MARGIN):
        verdict = Verdict.WORSE if after > before else Verdict.BETTER
    grown = {name: value(one) - value(old.stages[name]) for name, one in new.stages.items()}
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


def _name(found: StoredLatency, load: str, of: str) -> WaitName:
    return WaitName(f"wait.{found.chain}", {"load": load, "of": of}, found.icache)


def _function(base: WorstAlarm, new: WorstAlarm) -> str | None:
    """Return the function that took most cycles more, whoever called it; None if none did."""
    grown = Counter[str]()
    for alarm, sign in ((new, 1), (base, -1)):
        for part in alarm.parts:
            if part.stack != ELSEWHERE:
                grown[part.stack[-1]] += sign * part.cycles
    most = max(grown, key=grown.__getitem__, default=None)
    return most if most is not None and grown[most] > 0 else None


def _names(one: StoredLatency) -> set[str]:
    return {load.name for load in one.loads} | {load.name for load in one.never}


def _counts(one: StoredLatency, other: StoredLatency) -> dict[str, int]:
    """Return how many alarms came beside each load, of those beside which they come on both."""
    both = {load.name for load in other.loads}
    return {load.name: load.whole.count for load in one.loads if load.name in both}
