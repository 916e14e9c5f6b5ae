# SPDX-License-Identifier: Apache-2.0 OR MIT
"""What each row of a result is worth when results are judged: a net value, how sure it is, and
what it stands for. Rows of several results are the same row if id, parameters and cache agree."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from functools import cached_property

import numpy as np

from tockmark.judge.estimate import Floats, net_medians
from tockmark.log.protocol import expand
from tockmark.result.result import Json
from tockmark.suite.catalogue import OVERHEAD, STRANGERS, Catalogue, Params, label

Key = tuple[str, frozenset[tuple[str, int | str]], bool | None]


def steady_of(samples: str) -> list[int]:
    """The samples behind the cold one; a single one stands for itself, as in stats.py."""
    found = expand(samples)
    return found[1:] or found


@dataclass(frozen=True)
class Value:
    """A net median: exact, or as sure as its samples and those of the overhead make it."""

    net: float
    exact: bool
    steady: str  # run-length, as in the file, with the cold sample before
    overhead: str | None  # the same of time.read, if that was taken off
    reads: float  # how often
    parts: int = 1  # the net is that of one of so many operations in a sample

    @cached_property
    def draws(self) -> Floats:
        """What the net could have been as well: a single value if it is exact."""
        if self.exact:
            return np.array([self.net])
        steady = steady_of(self.steady)
        if self.overhead:
            return net_medians(steady, steady_of(self.overhead), self.reads) / self.parts
        drawn: Floats = (net_medians(steady) - np.median(steady)) / self.parts + self.net
        return drawn

    @cached_property
    def samples(self) -> Floats:
        """The steady samples, each less the overhead's median."""
        steady = np.array(steady_of(self.steady), dtype=np.float64)
        net: Floats = (steady - np.median(steady)) / self.parts + self.net
        return net

    def of_one(self, inner: int) -> "Value":
        """The same of one operation, where a sample holds several."""
        return replace(self, net=self.net / inner, parts=inner)


@dataclass(frozen=True)
class Entry:
    """One row of a result."""

    id: str
    params: Params
    icache: bool | None
    inner: int  # operations in a sample
    cycles: Value | None
    instret: Value | None
    errors: tuple[str, ...]

    @property
    def key(self) -> Key:
        return self.id, frozenset(self.params.items()), self.icache

    @property
    def label(self) -> str:
        return label(self.id, self.params)

    @property
    def full_label(self) -> str:
        """The label with the cache setting, where that is known."""
        return f"{self.label}{CACHE[self.icache]}"

    def per_operation(self) -> "Entry":
        """The same of one operation: what samples of another make can be compared by."""
        cycles, instret = (v.of_one(self.inner) if v else None for v in (self.cycles, self.instret))
        return replace(self, inner=1, cycles=cycles, instret=instret)

    def fits(self, pattern: str) -> bool:
        """Whether a pattern such as `mem.*`, `call.args n=?` or `* icache=off` means this row."""
        return any(fnmatchcase(text, pattern) for text in (self.id, self.label, self.full_label))


CACHE = {True: " icache=on", False: " icache=off", None: ""}


def patterns(option: str | None) -> tuple[str, ...]:
    """What was given to --only: patterns, separated by commas; none means all rows."""
    return tuple(filter(None, (part.strip() for part in (option or "").split(","))))


def simulated(result: Json) -> bool:
    """Whether a simulator measured this: its figures come out the same each time."""
    return result["provenance"]["board"]["simulator_sha256"] is not None


def entries(result: Json, only: tuple[str, ...] = ()) -> dict[Key, Entry]:
    """The rows of a result, or those that a pattern names. Of the many time.read, that of the app
    `time` counts."""
    reads = {(row["boot"], row["icache"]): row for row in result["rows"] if row["id"] == OVERHEAD}
    own = OVERHEAD.partition(".")[0]
    found: dict[Key, Entry] = {}
    for row in sorted(result["rows"], key=lambda row: row["id"] == OVERHEAD and row["app"] != own):
        read = reads.get((row["boot"], row["icache"]))
        cycles, instret = (
            _value(row, read, series, simulated(result)) for series in ("cycles", "instret")
        )
        errors = tuple(row["errors"])
        what = row["id"], row["params"], row["icache"], row["inner"]
        entry = Entry(*what, cycles, instret, errors)
        if not only or any(map(entry.fits, only)):
            found.setdefault(entry.key, entry)
    return found


def _value(row: Json, read: Json | None, name: str, simulator: bool) -> Value | None:
    series = row[name]
    stats = series and series["stats"]
    if not stats:
        return None
    if row["id"] == OVERHEAD:
        return Value(stats["median"], _exact(series, simulator), series["samples"], None, 0)
    if series["net"] is None:
        return None
    overhead = (read or {}).get(name) if row["reads"] else None
    if not overhead or not overhead["stats"]:  # none was taken off, or what it varied by is lost
        return Value(series["net"], _exact(series, simulator), series["samples"], None, 0)
    exact = _exact(series, simulator) and _exact(overhead, simulator)
    return Value(series["net"], exact, series["samples"], overhead["samples"], row["reads"])


def _exact(series: Json, simulator: bool) -> bool:
    """All samples are equal; or they come to repeat themselves, on a simulator, which would give
    the same ones again."""
    stats = series["stats"]
    return bool(stats["deterministic"] or (simulator and stats["settled"] is not None))


def in_sections(found: Iterable[Entry], catalogue: Catalogue) -> list[tuple[str, list[Entry]]]:
    """The rows by section and cache setting, in the catalogue's order, strangers at the end."""
    known = list(catalogue.benchmarks)
    sections = [*catalogue.sections(), STRANGERS]
    groups: dict[tuple[int, int], list[Entry]] = {}
    for entry in found:
        section = sections.index(catalogue.section_of(entry.id))
        groups.setdefault((section, (True, False, None).index(entry.icache)), []).append(entry)
    place = {id_: i for i, id_ in enumerate(known)}
    cache = (", i-cache on", ", i-cache off", "")
    return [
        (
            f"{sections[section]}{cache[setting]}",
            sorted(groups[section, setting], key=lambda entry: place.get(entry.id, len(known))),
        )
        for section, setting in sorted(groups)
    ]
