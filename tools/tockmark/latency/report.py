# SPDX-License-Identifier: Apache-2.0 OR MIT
"""What `tockmark latency` found: the file that keeps it, and the text for its reader, the answer
first."""

from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import msgspec
from msgspec import Meta

from tockmark import documents, paths
from tockmark.documents import Count, Part, Positive
from tockmark.latency.chain import WaitSpread
from tockmark.latency.points import ALARM, UART, KernelFamily
from tockmark.latency.stretches import KINDS, LongestStretch, StackPart
from tockmark.result.build import kernel_of, simulator_of
from tockmark.result.provenance import Kernel
from tockmark.rig.board import BoardProfile
from tockmark.rig.kernel import KernelElf
from tockmark.show.text import Table, TableColumn, figures
from tockmark.suite.catalogue import ICACHE

FORM, VERSION = "tockmark-latency", 1
Day = Annotated[str, Meta(pattern="^[0-9]{4}-[0-9]{2}-[0-9]{2}$")]
TODO = "give a file that `tockmark latency -o` made"
QUIET = "nothing"  # the load that is none
NOUN = {ALARM: "alarm", UART: "sent line"}  # what waits, by chain
FROM = {ALARM: "an alarm is due", UART: "a line is sent"}


class LoadFound(Part, frozen=True):
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
    loads: tuple[LoadFound, ...]
    worst: WorstAlarm
    stretches: tuple[LongestStretch, ...]
    tool: str | None = None  # the commit of the checkout
    never: tuple[NeverCame, ...] = ()
    chain: str = ALARM

    @property
    def by(self) -> str:
        """The stage that took most of the worst alarm."""
        return max(self.worst.stages, key=self.worst.stages.__getitem__)


def stored(
    kernel: KernelElf,
    board: BoardProfile,
    icache: bool,
    chain: str,
    family: KernelFamily,
    loads: Iterable[LoadFound],
    worst: WorstAlarm,
    stretches: Iterable[LongestStretch],
    never: Iterable[NeverCame],
    cycles: int,
) -> StoredLatency:
    """Return what a file keeps."""
    return StoredLatency(
        FORM,
        VERSION,
        datetime.now(UTC).date().isoformat(),
        kernel_of(kernel, None),
        board.name,
        board.clock_hz,
        icache,
        simulator_of(board),
        family.name,
        cycles,
        {stage.name: stage.what for stage in family.stage},
        tuple(loads),
        worst,
        tuple(stretches),
        paths.commit_of_checkout(),
        tuple(never),
        chain,
    )


def text_of(found: StoredLatency) -> str:
    """Return the file."""
    return documents.text_of(found, ("loads", "stretches"))


def load(path: Path) -> StoredLatency:
    """Read such a file. TockmarkError if it is none."""
    return documents.read(path, StoredLatency, FORM, VERSION, TODO)


def answer(found: StoredLatency) -> str:
    """Return the answer in words."""
    worst, by, noun = found.worst, found.by, NOUN[found.chain]
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


def text(found: StoredLatency) -> str:
    """Return all of it for its reader."""
    about = f"{found.kernel.title}, {found.board}, i-cache {ICACHE[found.icache]}"
    lines = [
        answer(found),
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
