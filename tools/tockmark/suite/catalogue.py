# SPDX-License-Identifier: Apache-2.0 OR MIT
"""A catalogue: what every benchmark means, and which rows to expect. The usual one is
apps/catalogue.toml; another of the same form has a name."""

import hashlib
import itertools
import tomllib
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Literal, TypeVar

import msgspec
from msgspec import Meta

from tockmark.base import paths
from tockmark.base.documents import Part
from tockmark.base.errors import TockmarkError
from tockmark.base.files import reading

OTHER_ROWS = "Not in this catalogue"  # behind its sections: rows of another catalogue
OVERHEAD = "time.read"  # what a reading itself costs; every app measures it for itself

HASH = 16  # hexadecimal digits of a hash of an entry

Reader = Literal["sampler", "reading"]  # what reads the core's counters
By = Literal[Reader, "mark"]  # how samples are taken: by these, or by the simulator's clock
OVERHEADS: dict[By, str] = {"sampler": OVERHEAD, "reading": "time.reading"}  # and what that costs
CONTROLS: dict[By, str] = {  # rows that measure nothing by the same means
    "sampler": "null.sample",
    "reading": "null.reading",
    "mark": "null.mark",
}
OF_BOOT = frozenset({*OVERHEADS.values(), *CONTROLS.values()})  # each boot has its own

ICACHE = {True: "on", False: "off", None: "unknown"}

Lang = Literal["c", "rust"]  # that apps are written in, as their `begin` records have it
LANGS: dict[Lang, str] = {"c": "C", "rust": "Rust"}  # the one that leads first

# What reads the counters for a build of the apps, as their `begin` records have it.
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
One = TypeVar("One")
Positive = Annotated[int, Meta(ge=1)]


class Benchmark(Part, frozen=True):
    """One entry of the catalogue. Its types are checked here; apps/generate.py, which needs nothing
    but Python, checks all other rules of the file when the apps are built."""

    id: str
    section: str
    # whether what is measured goes through the kernel, or is nothing
    touches: Literal["kernel", "app", "control"]
    samples: Positive
    inner: Positive
    what: str
    counts: str
    budget: float  # what its samples may take: millions of simulated cycles, the cache on and off
    params: dict[str, list[int | str]] = msgspec.field(default_factory=dict)
    unit: str = "call"
    bytes: str | None = None  # the parameter that holds the bytes moved in a sample
    bodies: tuple[str, ...] = ()  # its procedures in assembly, for the apps' build
    skip_v1: str | None = None  # why it cannot be on version 1 of the interface
    skip_c: str | None = None  # why it cannot be in that language
    skip_rust: str | None = None
    skip_libtock_rs: str | None = None  # why it cannot be by libtock-rs
    by: By = "sampler"
    waits: bool = False  # whether a sample waits for time to pass, be it asleep
    # Whether a clock sets how long a sample is, so that its instructions depend on the layout, too.
    timed: bool = False
    # Whether all that differs by language is a few loads before and behind calls of the kernel.
    alike: bool = False
    passes: int = 0  # of the body, whose slope is its figure; 0: a sample is
    distribution: Literal["cached"] | None = None  # with which setting no one figure is the row's

    @property
    def group(self) -> str:
        return self.id.partition(".")[0]

    @property
    def measured_as(self) -> str:
        """Return a hash of what its figures hang on: of all but its texts, its budget and which
        parameters it has."""
        said = self.id, self.samples, self.inner, self.bodies, self.by, self.passes
        return hashlib.sha256(msgspec.json.encode(said)).hexdigest()[:HASH]

    def skipped_in(self, lang: Lang) -> str | None:
        """Return why it is not tried in a language; None: it is."""
        return self.skip_c if lang == "c" else self.skip_rust

    def variants(self) -> list[Params]:
        """Return every combination of the parameters, in the catalogue's order."""
        names = list(self.params)
        return [
            dict(zip(names, values, strict=True))
            for values in itertools.product(*self.params.values())
        ]


class Boot(Part, frozen=True):
    """What runs together: one flash image, its apps in the order of the flash.

    The app of the group reports; the others, if any, are there to be measured with.
    """

    name: str
    group: str
    slots: tuple[str, ...]  # object files of the apps, without their suffix
    measures: tuple[str, ...]  # ids, some or all of whose rows come from this boot
    scene: int = 0  # its number among those of the group; 0: the app stands alone
    slice_us: int | None = None  # the baseline kernel's time slice, if not as built
    panics: str | None = None  # why its rows are skipped on a kernel that it panics
    only: int = 0  # of its group's benchmarks only these, a bit each in their order; 0: all
    controls: bool = True  # whether rows that measure nothing run, too: not where a row is so long
    # that a few cycles are nothing, and an alarm may hit them

    @property
    def alone(self) -> bool:
        """Whether there is one app."""
        return len(self.slots) == 1

    def processes(self) -> list[str]:
        """Return the processes' names: the object's, with 2, 3, … for its repetitions."""
        seen: dict[str, int] = {}
        names = []
        for slot in self.slots:
            seen[slot] = seen.get(slot, 0) + 1
            names.append(slot if seen[slot] == 1 else f"{slot}{seen[slot]}")
        return names


@dataclass(frozen=True)
class Catalogue:
    """All benchmarks, by id, in order; and the boots that are not just a group's own app alone."""

    benchmarks: dict[str, Benchmark]
    named_boots: tuple[Boot, ...]
    headings: tuple[str, ...]  # of the tables, in their order
    budget: float  # what all boots may take, from reset to end, as a benchmark's; 0: not known
    sha256: str
    name: str | None = None  # None: the usual catalogue
    silence: int | None = None  # simulated cycles that an app may print nothing

    def with_others(self, benchmarks: Iterable[Benchmark]) -> "Catalogue":
        """Return it with benchmarks of other catalogues behind its own, to read results with."""
        others = {one.id: one for one in benchmarks if one.id not in self.benchmarks}
        headings = dict.fromkeys((*self.headings, *(one.section for one in others.values())))
        return replace(self, benchmarks=self.benchmarks | others, headings=tuple(headings))

    def boots(self) -> list[Boot]:
        """Return every boot of a whole run: a group's own app alone, for all that no boot measures,
        then the group's other boots."""
        found: list[Boot] = []
        for group in self.groups():
            named = [boot for boot in self.named_boots if boot.group == group]
            elsewhere = {id_ for boot in named for id_ in boot.measures}
            own = tuple(b.id for b in self.benchmarks.values() if b.group == group)
            rest = tuple(id_ for id_ in own if id_ not in elsewhere)
            if rest and all(boot.scene for boot in named):
                found.append(Boot(group, group, (group,), rest))
            found += [
                boot if boot.scene else msgspec.structs.replace(boot, measures=rest + boot.measures)
                for boot in named
            ]
        return found

    def rows_given(self, boot: Boot) -> list[tuple[str, Params]]:
        """Return the rows of a boot, but for those of the harness, in the catalogue's order. Of a
        benchmark with several boots each gives one value of the first parameter, in the order of
        their scenes."""
        given = []
        for id_, params in self.rows(set(boot.measures) - OF_BOOT):
            scenes = sorted(other.scene for other in self.boots() if id_ in other.measures)
            first = next(iter(self.benchmarks[id_].params.items()), None)
            if len(scenes) > 1 and first is not None:
                name, values = first
                if params[name] != values[scenes.index(boot.scene)]:
                    continue
            given.append((id_, params))
        return given

    def narrowed(self, boot: Boot, ids: Collection[str]) -> Boot:
        """Return the boot with these of its benchmarks only, and whatever the harness measures."""
        own = self._own(boot)
        if OF_BOOT.issuperset(own) or set(boot.measures).issubset(ids):
            return boot
        only = sum(1 << own.index(id_) for id_ in boot.measures if id_ in ids)
        return self.with_only(boot, only)

    def with_only(self, boot: Boot, only: int) -> Boot:
        """Return the boot as an app says it that has been told which of its benchmarks to run."""
        meant = {id_ for i, id_ in enumerate(self._own(boot)) if only >> i & 1}
        measures = tuple(id_ for id_ in boot.measures if id_ in meant) if only else boot.measures
        return msgspec.structs.replace(boot, measures=measures, only=only)

    def _own(self, boot: Boot) -> list[str]:
        """Return the ids of a boot's group, in the order in which the app has them."""
        return [b.id for b in self.benchmarks.values() if b.group == boot.group]

    def rows_of(self, boot: Boot) -> int:
        """Return how many rows a boot gives, those of the harness among them."""
        return len(self.rows_given(boot)) + len(self.reference_ids(boot))

    def reference_ids(self, boot: Boot) -> list[str]:
        """Return the ids that the harness measures in a boot: what readings cost, and controls, of
        the sampler and of whatever else its rows are taken by."""
        means: dict[By, None] = dict.fromkeys(
            ["sampler", *(self.benchmarks[id_].by for id_ in boot.measures)]
        )
        tables = (OVERHEADS, CONTROLS) if boot.controls else (OVERHEADS,)
        ids = [table[by] for table in tables for by in means if by in table]
        return [id_ for id_ in ids if id_ in self.benchmarks]

    def cost(self, boot: Boot) -> float:
        """Return what a boot may take, more or less, which tells which to start first."""
        return sum(self.benchmarks[id_].budget for id_ in boot.measures)

    def groups(self) -> list[str]:
        """Return the groups, which are the apps, in the catalogue's order."""
        measured = [
            benchmark
            for benchmark in self.benchmarks.values()
            if benchmark.touches != "control" and not (self.name and benchmark.id in OF_BOOT)
        ]
        return list(dict.fromkeys(benchmark.group for benchmark in measured))

    def sections(self) -> list[str]:
        """Return the sections that have rows, in the order of the tables."""
        found = {benchmark.section for benchmark in self.benchmarks.values()}
        return [heading for heading in self.headings if heading in found]

    def section_of(self, id_: str) -> str:
        """Return the section of a row, whether the catalogue knows it or not."""
        known = self.benchmarks.get(id_)
        return known.section if known else OTHER_ROWS

    def is_distribution(self, id_: str, icache: bool | None) -> bool:
        """Return whether no one figure is this row's with this cache setting: it is shown, not
        judged."""
        known = self.benchmarks.get(id_)
        return known is not None and known.distribution == "cached" and icache is not False

    def bytes_moved(self, id_: str, params: Params) -> int | None:
        """Return the bytes that a sample of this row moves, if it moves any."""
        known = self.benchmarks.get(id_)
        moved = params.get(known.bytes) if known and known.bytes else None
        return moved if isinstance(moved, int) else None

    def rows(self, ids: Iterable[str]) -> list[tuple[str, Params]]:
        """Return the rows that these benchmarks must give, in the catalogue's order."""
        wanted = set(ids)
        return [
            (benchmark.id, params)
            for benchmark in self.benchmarks.values()
            if benchmark.id in wanted
            for params in benchmark.variants()
        ]

    def in_sections(
        self, rows: Iterable[One], id_of: Callable[[One], str]
    ) -> list[tuple[str, list[One]]]:
        """Return rows of any kind by section, both in the catalogue's order; what it does not know
        comes last. The rows of one benchmark stay as they were given."""
        place = {id_: i for i, id_ in enumerate(self.benchmarks)}
        found: dict[str, list[One]] = {name: [] for name in [*self.sections(), OTHER_ROWS]}
        for row in sorted(rows, key=lambda row: place.get(id_of(row), len(place))):
            found[self.section_of(id_of(row))].append(row)
        return [(section, some) for section, some in found.items() if some]


class CatalogueFile(Part, frozen=True):
    """What the file holds."""

    sections: tuple[str, ...]
    benchmark: tuple[Benchmark, ...]
    boot: tuple[Boot, ...] = ()
    budget: float = 0
    name: CatalogueName | None = None
    silence: Positive | None = None


def load(path: Path = paths.CATALOGUE) -> Catalogue:
    """Read and check a catalogue. One with a name gets the benchmarks of the harness from the
    usual one."""
    with reading(path, "run the tool from a checkout of tockmark", "the catalogue "):
        data = path.read_bytes()
    try:
        file = msgspec.convert(tomllib.loads(data.decode()), CatalogueFile)
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, msgspec.ValidationError) as error:
        raise TockmarkError(
            f"{paths.shown(path)} does not follow the catalogue's form: {error}"
        ) from error
    by_id = {benchmark.id: benchmark for benchmark in file.benchmark}
    if len(by_id) != len(file.benchmark):
        raise TockmarkError(f"{paths.shown(path)} has an id twice")
    unknown = {id_ for boot in file.boot for id_ in boot.measures} - by_id.keys()
    unknown |= {b.section for b in file.benchmark} - set(file.sections)
    if unknown:
        raise TockmarkError(f"{paths.shown(path)} does not say what {min(unknown)} is")
    sha256 = hashlib.sha256(data).hexdigest()
    found = Catalogue(by_id, file.boot, file.sections, file.budget, sha256, file.name, file.silence)
    if file.name is None:
        return found
    usual = load()
    harness = {id_: one for id_, one in usual.benchmarks.items() if id_ in OF_BOOT}
    headings = (*file.sections, *usual.headings)
    return replace(found, benchmarks=harness | by_id, headings=headings)


def language(said: str) -> Lang:
    """Return one of LANGS. ValueError if it is none."""
    for lang in LANGS:
        if said == lang:
            return lang
    raise ValueError(f"lang={said} is not {' or '.join(LANGS)}")


def lang_suffix(lang: Lang) -> str:
    """Return what stands behind a heading or a name where the language is not C: `, Rust`."""
    return "" if lang == "c" else f", {LANGS[lang]}"


def row_key(id_: str, params: Params) -> RowKey:
    """Return what tells a row from all others that were measured with the same cache setting."""
    return id_, frozenset(params.items())


def label(id_: str, params: Params) -> str:
    """Return a row's name as it stands everywhere: the id, then its parameters."""
    return " ".join([id_, *(f"{name}={value}" for name, value in params.items())])


def named(id_: str, params: Params, icache: bool | None, lang: Lang = "c") -> str:
    """Return the label with the cache setting, where that is known, and any language but C."""
    cache = "" if icache is None else f" icache={ICACHE[icache]}"
    return label(id_, params) + cache + ("" if lang == "c" else f" lang={lang}")


class RowName:
    """What a row is called, be it measured, absent, or in a history."""

    __slots__ = ()

    id: str
    params: Params
    icache: bool | None
    lang: Lang

    @property
    def key(self) -> Key:
        """What tells a row from all others of a result, time.read of several boots apart."""
        return *row_key(self.id, self.params), self.icache, self.lang

    @property
    def label(self) -> str:
        """The id and the parameters."""
        return label(self.id, self.params)

    @property
    def name(self) -> str:
        """The label with the cache setting, where that is known, and with any language but C."""
        return named(self.id, self.params, self.icache, self.lang)


class BootRowName(RowName):
    """What a row of a known boot is called."""

    __slots__ = ()

    boot: str

    @property
    def identity(self) -> object:
        """What no two rows of a result share, there or not: every boot has its own readings and
        controls."""
        return (self.id, self.boot, self.icache, self.lang) if self.id in OF_BOOT else self.key

    @property
    def is_overhead(self) -> bool:
        """Whether the row is what a reading of the counters costs."""
        return self.id in OVERHEADS.values()

    @property
    def is_control(self) -> bool:
        """Whether the row measures nothing, and has to come out 0."""
        return self.id in CONTROLS.values()
