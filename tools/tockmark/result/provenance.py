# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The provenance of a result: what a run knows in addition to its samples.

These types define the JSON of the result file, and msgspec checks each field. docs/contributing.md
explains the fields. None means unknown.
"""

from collections.abc import Collection, Iterable, Sequence
from functools import cache
from pathlib import Path
from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from tockmark import BASELINE, STAND_IN
from tockmark.base import paths
from tockmark.base.documents import Count, Date, Part, Positive, Sha256, read_toml
from tockmark.suite.catalogue import (
    COUNTERS,
    CYCLECOUNT,
    PERF,
    Benchmark,
    CatalogueName,
    CounterName,
    Lang,
)

OptLevel = Annotated[str, Meta(pattern="^[0-3sz]$")]  # Rust's opt-levels
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
    commit: str | None = None  # of its checkout; ends in -dirty if that has changes


class Kernel(Part, frozen=True):
    """The kernel that was measured."""

    name: str | None = None
    file: str | None = None
    sha256: Sha256 | None = None  # of the ELF
    commit: str | None = None  # of the source
    opt_level: OptLevel | None = None
    flags: str | None = None  # further build options
    rustc: str | None = None  # the compiler's version
    flash_bytes: Count | None = None
    ram_bytes: Count | None = None  # without the apps

    @property
    def title(self) -> str:
        """The kernel's name, or else its file name."""
        return self.name or self.file or UNKNOWN_KERNEL

    @property
    def built(self) -> str:
        """The opt-level and flags, for headings."""
        return f"opt-level {self.opt_level or 'unknown'}" + (
            f", {self.flags}" if self.flags else ""
        )

    @property
    def is_baseline(self) -> bool:
        return self.title.startswith(BASELINE)

    @property
    def own(self) -> str | None:
        """A note on a kernel of this project; None for any other kernel."""
        if self.title.startswith(STAND_IN):
            return "a stand-in for trying apps: neither Tock nor the baseline"
        return "the baseline: our own kernel, not Tock" if self.is_baseline else None


Engine = Literal["fast", "rtl"]  # what simulates the core: C++, or its RTL
BitManip = Literal["none", "balanced", "otearlgrey", "full"]


class Core(Part, frozen=True):
    """A core that replaces the machine's own. None: a user's core does not state it."""

    name: str  # of Ibex's configuration, or of the folder of a user's core
    bitmanip: BitManip
    pmp_regions: Annotated[int, Meta(ge=0, le=64)]  # 0: no PMP
    icache: bool
    foreign: bool = False  # a user's own RTL
    multiplier: Literal["none", "slow", "fast", "single-cycle"] | None = None
    branch_target_alu: bool | None = None
    writeback_stage: bool | None = None
    branch_predictor: bool | None = None

    @property
    def title(self) -> str:
        """The core's name for headings."""
        return f"{self.name} (a user's own)" if self.foreign else self.name


class Board(Part, frozen=True):
    """The board or simulator that measured a result."""

    name: str | None = None
    machine: str | None = None
    clock_hz: Positive | None = None
    timing: Timing = "unchecked"
    simulator_sha256: Sha256 | None = None  # of its binary; None: not a simulator
    uart_cycles_per_byte: Positive | None = None
    sram_seed: Annotated[int, Meta(ge=0)] = 0  # of a simulator's main SRAM; 0: zeros
    engine: Engine | None = None  # None: not a simulator, or RTL in older results
    verilator: str | None = None  # the versions that a simulator of RTL was built from
    ibex: str | None = None
    opentitan: str | None = None
    core: Core | None = None  # None: the machine's own

    @property
    def chip(self) -> str | None:
        """The machine, with the name of a replaced core."""
        core = f", core {self.core.title}" if self.core else ""
        return f"{self.machine}{core}" if self.machine else None

    @property
    def title(self) -> str:
        """The machine in words; a simulated one is named as such."""
        simulated = self.simulator_sha256 or self.timing not in ("hardware", "unchecked")
        return f"{'simulated ' if simulated else ''}{self.chip or self.name or 'unknown machine'}"

    @property
    def simulated_by(self) -> Engine | None:
        """The engine that simulated the core; None: not a simulator that counts cycles."""
        return (self.engine or "rtl") if self.simulator_sha256 and self.counts_cycles else None

    @property
    def counts_cycles(self) -> bool:
        """Whether its cycle counter measures time."""
        return self.timing != FUNCTIONAL

    @property
    def validity(self) -> str:
        """The validity of its timing, for headings."""
        return self.timing if self.counts_cycles else f"{self.timing}, not timing-valid"

    @property
    def clock(self) -> str:
        """The clock with its unit, for headings."""
        return f"{self.clock_hz / 1e6:g} MHz" if self.clock_hz else "clock unknown"


class SameSimulator(Part, frozen=True):
    """A proof by the lab's simulators.py that two builds of a simulator give the same results."""

    machine: str
    old: Sha256  # of the binaries
    new: Sha256
    boots: Positive  # that ran on both
    cycles: Positive  # total over the boots, on one of them
    kernels: tuple[Sha256, ...]  # of the ELFs
    date: Annotated[str, Meta(pattern="^[0-9]{4}-[0-9]{2}-[0-9]{2}$")]
    unlike: tuple[str, ...] = ()  # benchmarks whose rows may differ


@cache
def proofs(path: Path = SIMULATORS) -> tuple[SameSimulator, ...]:
    """Return the table of proofs. Raise TockmarkError if the file is invalid."""
    fault, todo = "has an invalid table of proofs", "restore it from git"
    return read_toml(path, dict[str, tuple[SameSimulator, ...]], fault, todo).get("same", ())


def unlike_benchmarks(
    first: str | None, other: str | None, path: Path = SIMULATORS
) -> frozenset[str] | None:
    """Return the benchmarks whose rows may differ between two simulators, given by the SHA-256 of
    their binaries. None: one is unknown, or no proofs connect them."""
    if first is None or other is None:
        return None
    reached, edge = {first: frozenset[str]()}, [first]
    for near in edge:  # grows
        for proof in proofs(path):
            sides = {proof.old, proof.new}
            for far in sides - reached.keys() if near in sides else ():
                reached[far] = reached[near] | set(proof.unlike)
                edge.append(far)
    return reached.get(other)


def same_simulator(
    first: str | None,
    other: str | None,
    benchmarks: Collection[str] | None = None,
    path: Path = SIMULATORS,
) -> bool:
    """Return whether two simulators are equal or proved equivalent for these benchmarks (None: for
    all), directly or through others."""
    unlike = unlike_benchmarks(first, other, path)
    return unlike is not None and not (unlike if benchmarks is None else unlike & set(benchmarks))


class Slot(Part, frozen=True):
    """One app in the flash of a boot, with its addresses and sizes in bytes."""

    name: str
    flash_start: Count
    ram_start: Count
    ram_length: Count
    elf_sha256: Sha256
    flash_length: Count | None = None  # code, constants and initial data, without the TBF header
    parts_sha256: Sha256 | None = None  # of its object, library and linker script, in this order


class BootRun(Part, frozen=True):
    """One boot: its apps in flash order, and its cycles by i-cache setting (0 if it was stopped or
    resumed)."""

    boot: str
    cycles: dict[Literal["on", "off"], Count]
    slots: tuple[Slot, ...]
    lang: Lang = "c"  # of the apps


class BootHost(Part, frozen=True):
    """The remote machine that simulated a boot."""

    host: str
    boot: str
    icache: Literal["on", "off"]
    lang: Lang = "c"
    layout: Count = 0


class Apps(Part, frozen=True):
    """The values of a `begin` record, and all boots whose apps sent the same."""

    boots: tuple[str, ...] = msgspec.field(name="of")
    record: dict[str, str] = msgspec.field(name="said")

    @property
    def lang(self) -> str:
        """The language of the apps; C if the record does not have it."""
        return self.record.get("lang", "c")


class Layout(Part, frozen=True):
    """One measured layout of kernel and apps."""

    file: str | None = None  # the ELF of the kernel's link
    sha256: Sha256 | None = None  # of that ELF
    link: Sha256 | None = None  # of its symbols and their addresses; None: it has no symbols
    seed: Count = 0  # of the apps' layout; 0: the default layout


def _merged(results: Iterable["Provenance"]) -> tuple[BootRun, ...]:
    """Return the boots of results of one layout, each once, with its cycles for all cache
    settings."""
    boots_by_key: dict[tuple[str, Lang], BootRun] = {}
    for boot in (boot for result in results for boot in result.boots):
        key = boot.boot, boot.lang
        merged = boots_by_key.get(key, boot)
        boots_by_key[key] = msgspec.structs.replace(merged, cycles=merged.cycles | boot.cycles)
    return tuple(boots_by_key.values())


class Provenance(Part, frozen=True, dict=True):
    """The provenance of a result."""

    date: Date  # ISO 8601 in UTC, or only a year
    tool: Tool
    kernel: Kernel
    board: Board
    abi: Abi | None = None  # version of the system-call interface
    counter: CounterName = PERF  # how the apps read the counters
    catalogue: CatalogueName | None = None  # None: the default catalogue
    catalogue_sha256: Sha256 | None = None
    benchmarks: tuple[Benchmark, ...] = ()  # definitions of those from another catalogue
    # By benchmark id, a hash of those parts of its definition that affect its figures.
    entries: dict[str, str] = msgspec.field(default_factory=dict)
    boots: tuple[BootRun, ...] = ()
    apps: tuple[Apps, ...] = ()
    layouts: tuple[Layout, ...] = ()  # `kernel` and `boots` describe the first
    cached: Count = 0  # boots of all layouts that came from the cache
    hosts: tuple[BootHost, ...] = ()  # of boots that Dask workers simulated

    @property
    def has_figures(self) -> bool:
        """Whether rows have figures. They have none if the apps count only cycles, and these do not
        measure time."""
        return self.board.counts_cycles or self.counter != CYCLECOUNT

    def app_values(self, name: str) -> list[str]:
        """Return the different values that apps reported under one name, such as `cc`, sorted."""
        return sorted({apps.record[name] for apps in self.apps if apps.record.get(name)})

    def benchmarks_run(self, boot: str, lang: Lang) -> str | None:
        """Return which benchmarks of its group a boot ran, as its app reported; None: all."""
        records = (apps.record for apps in self.apps if boot in apps.boots and apps.lang == lang)
        return next(records, {}).get("only")

    def of_langs(self, langs: Collection[Lang]) -> "Provenance":
        """Return the provenance with only the boots and apps in these languages."""
        return msgspec.structs.replace(
            self,
            boots=tuple(boot for boot in self.boots if boot.lang in langs),
            apps=tuple(apps for apps in self.apps if apps.lang in langs),
            hosts=tuple(boot for boot in self.hosts if boot.lang in langs),
        )

    def in_layouts(self, indices: Sequence[int]) -> "Provenance":
        """Return the provenance with these layouts, in this order. It has no boots unless layout 0
        comes first."""
        layouts = tuple(self.layouts[index] for index in indices)
        hosts = tuple(
            msgspec.structs.replace(boot, layout=index)
            for index, layout in enumerate(indices)
            for boot in self.hosts
            if boot.layout == layout
        )
        selected = msgspec.structs.replace(self, layouts=layouts, hosts=hosts)
        if not indices[0]:
            return selected
        file, sha256 = layouts[0].file, layouts[0].sha256
        kernel = msgspec.structs.replace(self.kernel, file=file, sha256=sha256)
        return msgspec.structs.replace(selected, kernel=kernel, boots=())

    def merged_with(
        self, others: Sequence["Provenance"], layout: int | None = None
    ) -> "Provenance":
        """Return the provenance with the entries, boots and hosts of others. `layout` is the number
        of the first of the others' layouts; None: all have the same layouts."""
        every = (self, *others)
        return msgspec.structs.replace(
            self,
            entries={id_: facts for one_side in every for id_, facts in one_side.entries.items()},
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
        """The total cycles of all boots."""
        return sum(sum(boot.cycles.values()) for boot in self.boots)

    @property
    def line(self) -> str:
        """The conditions in one line, for pictures and exports."""
        kernel, board = self.kernel, self.board
        parts = [
            kernel.title + (f" ({kernel.sha256[:8]})" if kernel.sha256 else ""),
            f"ABI {self.abi}" if self.abi else "",
            f"{board.title}, {board.clock}",
            f"timing: {board.validity}",
            f"read by {COUNTERS[self.counter]}" if self.counter != PERF else "",
            self.date[:10],
        ]
        return " · ".join(part for part in parts if part)
