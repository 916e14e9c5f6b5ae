# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Catalogues: the benchmarks, their boots, and the rows to expect.

The default is apps/catalogue.toml. Another catalogue has the same format and a name."""

import hashlib
import itertools
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Annotated, Literal, TypeVar

import msgspec
from msgspec import Meta

from tockmark.base import paths
from tockmark.base.documents import Part
from tockmark.base.errors import TockmarkError
from tockmark.base.files import reading

OTHER_ROWS = "Not in this catalogue"  # the last section: rows of another catalogue
OVERHEAD = "time.read"  # the cost of reading the counters; every app measures it

HASH = 16  # hexadecimal digits of a hash of an entry

Reader = Literal["sampler", "reading"]  # the code that reads the counters
By = Literal[Reader, "mark"]  # how samples are taken; "mark": by the simulator's clock
OVERHEADS: dict[By, str] = {"sampler": OVERHEAD, "reading": "time.reading"}
CONTROLS: dict[By, str] = {  # rows that measure nothing, taken in the same way
    "sampler": "null.sample",
    "reading": "null.reading",
    "mark": "null.mark",
}
HARNESS_ROWS = frozenset({*OVERHEADS.values(), *CONTROLS.values()})  # every boot measures its own

ICACHE = {True: "on", False: "off", None: "unknown"}

Lang = Literal["c", "rust"]  # language of the apps, as in their `begin` records
LANGS: dict[Lang, str] = {"c": "C", "rust": "Rust"}  # the main language first

# The source of counter values in a build of the apps, as in their `begin` records.
CounterName = Literal["perf", "cyclecount", "csr"]
COUNTERS: dict[CounterName, str] = {
    "perf": "Perf",
    "cyclecount": "CycleCount",
    "csr": "the core's own instructions",
}
PERF: CounterName = "perf"
CYCLECOUNT: CounterName = "cyclecount"  # it counts no instructions

CatalogueName = Annotated[str, Meta(pattern="^[a-z][a-z0-9_-]*$")]

Params = dict[str, int | str]
RowKey = tuple[str, frozenset[tuple[str, int | str]]]
Key = tuple[str, frozenset[tuple[str, int | str]], bool | None, Lang]
Item = TypeVar("Item")
Positive = Annotated[int, Meta(ge=1)]


class Benchmark(Part, frozen=True):
    """An entry of the catalogue.

    Only types are checked here. apps/generate.py, which needs only Python, checks all other rules
    when the apps are built."""

    id: str
    section: str
    # whether the body calls the kernel; a control has no body
    touches: Literal["kernel", "app", "control"]
    samples: Positive
    inner: Positive
    what: str
    counts: str
    budget: float  # limit of its samples: millions of simulated cycles, with the cache on and off
    params: dict[str, list[int | str]] = msgspec.field(default_factory=dict)
    unit: str = "call"
    bytes: str | None = None  # the parameter with the number of bytes that a sample moves
    bodies: tuple[str, ...] = ()  # its procedures in assembly
    skip_v1: str | None = None  # why it does not exist in version 1 of the interface
    skip_c: str | None = None  # why it does not exist in this language
    skip_rust: str | None = None
    skip_libtock_rs: str | None = None  # why it does not exist with libtock-rs
    by: By = "sampler"
    waits: bool = False  # whether a sample waits for time to pass
    # Whether a clock ends a sample, so that its instructions also depend on the layout.
    timed: bool = False
    # Whether languages differ only in a few loads around calls of the kernel.
    alike: bool = False
    passes: int = 0  # of the body, if the figure is their slope; 0: the figure is a sample
    distribution: Literal["cached"] | None = None  # without a single figure in this setting

    @property
    def group(self) -> str:
        return self.id.partition(".")[0]

    @property
    def measured_as(self) -> str:
        """The hash of what its figures depend on: not of texts, budget and parameters."""
        measurement = self.id, self.samples, self.inner, self.bodies, self.by, self.passes
        return hashlib.sha256(msgspec.json.encode(measurement)).hexdigest()[:HASH]

    def skipped_in(self, lang: Lang) -> str | None:
        """Return why it does not exist in a language, or None."""
        return self.skip_c if lang == "c" else self.skip_rust

    def variants(self) -> list[Params]:
        """Return every combination of the parameters, in the catalogue's order."""
        names = list(self.params)
        return [
            dict(zip(names, values, strict=True))
            for values in itertools.product(*self.params.values())
        ]


class Boot(Part, frozen=True):
    """A flash image: apps that run together, in the order of the flash.

    The app of the group reports; any others only take part."""

    name: str
    group: str
    slots: tuple[str, ...]  # object files of the apps, without suffix
    measures: tuple[str, ...]  # ids of benchmarks that have rows in this boot
    scene: int = 0  # its number in the group; 0: the app is alone
    slice_us: int | None = None  # time slice of the baseline kernel, if not the default
    panics: str | None = None  # why its rows are skipped if it makes the kernel panic
    only: int = 0  # bit set of the benchmarks of its group to run; 0: all
    # Whether controls also run. They do not if an alarm may interrupt them, and rows are so long
    # that a few cycles do not matter.
    controls: bool = True

    @property
    def alone(self) -> bool:
        """Whether there is one app."""
        return len(self.slots) == 1

    def processes(self) -> list[str]:
        """Return the names of the processes: of their objects, with 2, 3, … for repetitions."""
        seen: dict[str, int] = {}
        names = []
        for slot in self.slots:
            seen[slot] = seen.get(slot, 0) + 1
            names.append(slot if seen[slot] == 1 else f"{slot}{seen[slot]}")
        return names


@dataclass(frozen=True, eq=False)
class Catalogue:
    """All benchmarks by id, in order, and the boots that are more than a group's app alone."""

    benchmarks: dict[str, Benchmark]
    named_boots: tuple[Boot, ...]
    headings: tuple[str, ...]  # sections of the tables, in order
    budget: float  # limit of all boots from reset to end, in the unit of a benchmark's; 0: unknown
    sha256: str
    name: str | None = None  # None: the default catalogue
    silence: int | None = None  # cycles without output after which an app has hung

    def with_others(self, benchmarks: Iterable[Benchmark]) -> "Catalogue":
        """Return the catalogue with benchmarks of other catalogues added, for reading results."""
        others = {other.id: other for other in benchmarks if other.id not in self.benchmarks}
        headings = dict.fromkeys((*self.headings, *(other.section for other in others.values())))
        return replace(self, benchmarks=self.benchmarks | others, headings=tuple(headings))

    def boots(self) -> list[Boot]:
        """Return all boots of a complete run, by group.

        The first is the group's app alone, for benchmarks that no other boot measures."""
        boots: list[Boot] = []
        for group in self.groups():
            named = [boot for boot in self.named_boots if boot.group == group]
            in_named = {id_ for boot in named for id_ in boot.measures}
            own = tuple(b.id for b in self.benchmarks.values() if b.group == group)
            rest = tuple(id_ for id_ in own if id_ not in in_named)
            if rest and all(boot.scene for boot in named):
                boots.append(Boot(group, group, (group,), rest))
            boots += [
                boot if boot.scene else msgspec.structs.replace(boot, measures=rest + boot.measures)
                for boot in named
            ]
        return boots

    def measured_rows(self, boot: Boot) -> list[tuple[str, Params]]:
        """Return the rows of a boot without harness rows, in the catalogue's order.

        If a benchmark has several boots, each measures one value of the first parameter, in the
        order of their scenes."""
        rows = []
        for id_, params in self.rows(set(boot.measures) - HARNESS_ROWS):
            scenes = sorted(other.scene for other in self.boots() if id_ in other.measures)
            first = next(iter(self.benchmarks[id_].params.items()), None)
            if len(scenes) > 1 and first is not None:
                name, values = first
                if params[name] != values[scenes.index(boot.scene)]:
                    continue
            rows.append((id_, params))
        return rows

    def narrowed(self, boot: Boot, ids: Collection[str]) -> Boot:
        """Return the boot with only these benchmarks and the rows of the harness."""
        own = self._own(boot)
        if HARNESS_ROWS.issuperset(own) or set(boot.measures).issubset(ids):
            return boot
        only = sum(1 << own.index(id_) for id_ in boot.measures if id_ in ids)
        return self.with_only(boot, only)

    def with_only(self, boot: Boot, only: int) -> Boot:
        """Return the boot with only the benchmarks of this bit set, as its app reports it."""
        selected = {id_ for i, id_ in enumerate(self._own(boot)) if only >> i & 1}
        measures = tuple(id_ for id_ in boot.measures if id_ in selected) if only else boot.measures
        return msgspec.structs.replace(boot, measures=measures, only=only)

    def _own(self, boot: Boot) -> list[str]:
        """Return the ids of a boot's group, in the order of its app."""
        return [b.id for b in self.benchmarks.values() if b.group == boot.group]

    def rows_of(self, boot: Boot) -> int:
        """Return the number of rows of a boot, including harness rows."""
        return len(self.measured_rows(boot)) + len(self.reference_ids(boot))

    def reference_ids(self, boot: Boot) -> list[str]:
        """Return the ids of the harness in a boot: overheads and controls of its ways to sample."""
        ways: dict[By, None] = dict.fromkeys(
            ["sampler", *(self.benchmarks[id_].by for id_ in boot.measures)]
        )
        tables = (OVERHEADS, CONTROLS) if boot.controls else (OVERHEADS,)
        ids = [table[by] for table in tables for by in ways if by in table]
        return [id_ for id_ in ids if id_ in self.benchmarks]

    def cost(self, boot: Boot) -> float:
        """Return the approximate cost of a boot; expensive ones start first."""
        return sum(self.benchmarks[id_].budget for id_ in boot.measures)

    def groups(self) -> list[str]:
        """Return the groups (one app each), in the catalogue's order."""
        measured = [
            benchmark
            for benchmark in self.benchmarks.values()
            if benchmark.touches != "control" and not (self.name and benchmark.id in HARNESS_ROWS)
        ]
        return list(dict.fromkeys(benchmark.group for benchmark in measured))

    def sections(self) -> list[str]:
        """Return the sections that have rows, in the order of the tables."""
        used = {benchmark.section for benchmark in self.benchmarks.values()}
        return [heading for heading in self.headings if heading in used]

    def section_of(self, id_: str) -> str:
        """Return the section of a row, or OTHER_ROWS."""
        benchmark = self.benchmarks.get(id_)
        return benchmark.section if benchmark else OTHER_ROWS

    def is_distribution(self, id_: str, icache: bool | None) -> bool:
        """Return whether the row has no single figure with this cache setting.

        Such rows are shown, but not judged."""
        benchmark = self.benchmarks.get(id_)
        cached = benchmark is not None and benchmark.distribution == "cached"
        return cached and icache is not False

    def bytes_moved(self, id_: str, params: Params) -> int | None:
        """Return the number of bytes that a sample of this row moves, or None."""
        benchmark = self.benchmarks.get(id_)
        count = params.get(benchmark.bytes) if benchmark and benchmark.bytes else None
        return count if isinstance(count, int) else None

    def rows(self, ids: Iterable[str]) -> list[tuple[str, Params]]:
        """Return the rows of these benchmarks, in the catalogue's order."""
        wanted = set(ids)
        return [
            (benchmark.id, params)
            for benchmark in self.benchmarks.values()
            if benchmark.id in wanted
            for params in benchmark.variants()
        ]

    def in_sections(
        self, rows: Iterable[Item], id_of: Callable[[Item], str]
    ) -> list[tuple[str, list[Item]]]:
        """Group rows by section, both in the catalogue's order; rows of other catalogues come last.

        The rows of one benchmark keep their order."""
        order = {id_: i for i, id_ in enumerate(self.benchmarks)}
        by_section: dict[str, list[Item]] = {name: [] for name in [*self.sections(), OTHER_ROWS]}
        for row in sorted(rows, key=lambda row: order.get(id_of(row), len(order))):
            by_section[self.section_of(id_of(row))].append(row)
        return [(section, items) for section, items in by_section.items() if items]


class CatalogueFile(Part, frozen=True):
    """The content of a catalogue file."""

    sections: tuple[str, ...]
    benchmark: tuple[Benchmark, ...]
    boot: tuple[Boot, ...] = ()
    budget: float = 0
    name: CatalogueName | None = None
    silence: Positive | None = None


def load(path: Path = paths.CATALOGUE) -> Catalogue:
    """Read and check a catalogue. A named one gets the harness benchmarks of the default one."""
    with reading(path, "run the tool from a checkout of tockmark", "the catalogue "):
        data = path.read_bytes()
    return _parsed(path, data)


@cache
def _parsed(path: Path, data: bytes) -> Catalogue:
    try:
        file = msgspec.toml.decode(data, type=CatalogueFile)
    except ValueError as error:
        raise TockmarkError(f"{paths.shown(path)}: not a valid catalogue: {error}") from error
    by_id = {benchmark.id: benchmark for benchmark in file.benchmark}
    if len(by_id) != len(file.benchmark):
        raise TockmarkError(f"{paths.shown(path)}: two benchmarks have the same id")
    unknown = {id_ for boot in file.boot for id_ in boot.measures} - by_id.keys()
    unknown |= {b.section for b in file.benchmark} - set(file.sections)
    if unknown:
        raise TockmarkError(f"{paths.shown(path)}: {min(unknown)} is used, but not defined")
    sha256 = hashlib.sha256(data).hexdigest()
    catalogue = Catalogue(
        by_id, file.boot, file.sections, file.budget, sha256, file.name, file.silence
    )
    if file.name is None:
        return catalogue
    default = load()
    harness = {id_: default.benchmarks[id_] for id_ in default.benchmarks if id_ in HARNESS_ROWS}
    headings = (*file.sections, *default.headings)
    return replace(catalogue, benchmarks=harness | by_id, headings=headings)


def parse_language(text: str) -> Lang:
    """Return the language of this name. ValueError for an unknown name."""
    for lang in LANGS:
        if text == lang:
            return lang
    raise ValueError(f"lang={text} is not {' or '.join(LANGS)}")


def lang_suffix(lang: Lang) -> str:
    """Return the suffix of headings and names for languages other than C: `, Rust`."""
    return "" if lang == "c" else f", {LANGS[lang]}"


def row_key(id_: str, params: Params) -> RowKey:
    """Return the key of a row among rows of the same language and cache setting."""
    return id_, frozenset(params.items())


def label(id_: str, params: Params) -> str:
    """Return the label of a row: its id and parameters."""
    return " ".join([id_, *(f"{name}={value}" for name, value in params.items())])


def row_name(id_: str, params: Params, icache: bool | None, lang: Lang = "c") -> str:
    """Return the label with the cache setting, if known, and the language, if not C."""
    cache = "" if icache is None else f" icache={ICACHE[icache]}"
    return label(id_, params) + cache + ("" if lang == "c" else f" lang={lang}")


class RowName:
    """The name of a row, measured or missing."""

    __slots__ = ()

    id: str
    params: Params
    icache: bool | None
    lang: Lang

    @property
    def key(self) -> Key:
        """The key of the row in a result; harness rows of several boots share it."""
        return *row_key(self.id, self.params), self.icache, self.lang

    @property
    def label(self) -> str:
        """The id and the parameters."""
        return label(self.id, self.params)

    @property
    def name(self) -> str:
        """The label with the cache setting, if known, and the language, if not C."""
        return row_name(self.id, self.params, self.icache, self.lang)


class BootRowName(RowName):
    """The name of a row with its boot."""

    __slots__ = ()

    boot: str

    @property
    def identity(self) -> object:
        """The unique key of the row in a result; harness rows differ by their boot."""
        return (self.id, self.boot, self.icache, self.lang) if self.id in HARNESS_ROWS else self.key

    @property
    def is_overhead(self) -> bool:
        """Whether the row is the cost of reading the counters."""
        return self.id in OVERHEADS.values()

    @property
    def is_control(self) -> bool:
        """Whether the row measures nothing, so that its figure must be 0."""
        return self.id in CONTROLS.values()
