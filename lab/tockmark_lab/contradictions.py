# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Contradictions within a simulated result, which no honest run has.

A simulator gives the same counts each time, and no layout changes what is executed. So the parts of
a result must agree: its rows with its boots, its layouts and the readings of its boots with each
other, and its rows with the catalogue that it names. `verify` looks for contradictions first, since
that covers all boots and simulates none.

An entry of the catalogue binds only the rows of a result that has the entry's hash: an earlier
catalogue had other rows.
"""

from collections import defaultdict
from collections.abc import Iterator
from itertools import chain, pairwise

from tockmark.result.model import Result, Row
from tockmark.result.stats import steady, steady_median
from tockmark.suite import catalogue
from tockmark.suite.catalogue import (
    ICACHE,
    LANGS,
    OF_BOOT,
    Benchmark,
    Catalogue,
    Lang,
    row_key,
)
from tockmark.wire.rows import SERIES
from tockmark_lab.studies import ladder

STRAY = 3  # instructions that layouts, and cache settings, may differ by with the cache on
# Readings of the counters in other boots with the cache off: what no instruction makes dearer stays
# within a share, and each further instruction takes so many cycles.
ALIKE = 0.01
# The same on another core: one without a cache fetches ahead, and so what a reading takes depends
# on where its code lies.
ALIKE_ON_ANOTHER = 0.05
PER_INSTRUCTION = (1.5, 25)
# An app beside that has ended, as a service does whose driver the kernel lacks, is passed over by
# another way than one that waits: two branches more or less are taken.
BRANCHES = 8

Place = tuple[str, Lang, bool | None]  # a boot with a setting of the cache


def contradiction(result: Result, known: Catalogue) -> str | None:
    """Return the first contradiction, which begins with its row or boot; None if there is none, or
    the result is of a board, of an emulator that counts no cycles, or of a log without layouts."""
    provenance = result.provenance
    if not (result.simulated and provenance.board.counts_cycles and provenance.layouts):
        return None
    found = chain(
        _of_boots(result),
        _of_cycles(result),
        _of_catalogue(result, known),
        _of_requests(result),
        _of_layouts(result, known),
        _of_readings(result),
    )
    return next(found, None)


def _place(row: Row) -> Place:
    return row.boot, row.lang, row.icache


def _said(place: Place) -> str:
    boot, lang, icache = place
    return f"{boot}, i-cache {ICACHE[icache]}{catalogue.lang_suffix(lang)}"


def _boots(result: Result) -> dict[Place, int]:
    """Return the cycles of each boot that provenance has."""
    return {
        (run.boot, run.lang, setting == "on"): cycles
        for run in result.provenance.boots
        for setting, cycles in run.cycles.items()
    }


def _of_boots(result: Result) -> Iterator[str]:
    """The boots of rows are those of provenance."""
    boots = _boots(result)
    for row in result.rows:
        if _place(row) not in boots:
            yield f"row {row.name}: provenance has no boot {_said(_place(row))}"
    gone = (*result.failed, *result.skipped, *result.missing)
    there = {_place(row) for row in result.rows} | {(g.boot, g.lang, g.icache) for g in gone}
    for place in boots:
        if place not in there:
            yield f"the boot {_said(place)}: no row is of it"


def _of_cycles(result: Result) -> Iterator[str]:
    """A boot takes longer than its samples; one of `--resume`, or cut off, has 0."""
    took: dict[Place, int] = defaultdict(int)
    boots = _boots(result)
    for row in result.rows:
        counted = [sum(taken) for name, taken in row.samples[0].items() if "cycles" in name]
        if row.clock == "core" and not row.extra:
            took[_place(row)] += sum(counted)
        else:  # these may lie within each other
            took[_place(row)] = max(took[_place(row)], *row.samples[0].get("cycles", (0,)))
        if 0 < boots[_place(row)] < took[_place(row)]:
            boot = f"its boot, {_said(_place(row))}, took {boots[_place(row)]} cycles"
            yield f"row {row.name}: {boot}, and its samples more"


def _of_catalogue(result: Result, known: Catalogue) -> Iterator[str]:
    """Rows are as in the catalogue, if they name its entries; and they are in its boots, if the
    result names the whole catalogue."""
    given = {
        boot.name: {row_key(id_, params) for id_, params in known.rows_given(boot)}
        | {row_key(id_, {}) for id_ in known.reference_ids(boot)}
        for boot in known.boots()
    }
    entries = result.provenance.entries
    same = result.provenance.catalogue_sha256 == known.sha256
    asked: dict[Place, int] = defaultdict(int)
    for row in result.rows:
        if not row.extra:  # of which clients may ask more
            asked[_place(row)] = max(asked[_place(row)], row.asked)
    for row in result.rows:
        meant = known.benchmarks.get(row.id)
        if meant is None or not (same or entries.get(row.id) == meant.measured_as):
            continue
        if same and row_key(row.id, row.params) not in given.get(row.boot, ()):
            yield f"row {row.name}: the catalogue has no such row in the boot {row.boot}"
        for name, wanted in _constants(row, meant, asked[_place(row)]).items():
            if (held := getattr(row, name)) != wanted:
                yield f"row {row.name}: its {name} is {held}, and {wanted} by the catalogue"
        why = meant.skip_c if row.lang == "c" else meant.skip_rust
        if result.provenance.abi == 1:
            why = why or meant.skip_v1
        if why:
            yield f"row {row.name}: it cannot be in {LANGS[row.lang]}: {why}"


def _constants(row: Row, meant: Benchmark, asked: int) -> dict[str, object]:
    """Return what stands in a row for its benchmark, of whose boot at most so many samples a row
    were asked for. With the cache off one pass tells as much as many; of readings and controls the
    harness says it."""
    passes = meant.passes if row.icache else min(meant.passes, 1)
    return {
        "inner": meant.inner,
        "reads": 0 if meant.by == "mark" else 1,
        "by": "reading" if meant.by == "reading" else "sampler",
        "clock": "sim" if meant.by == "mark" else "core",
        "passes": row.passes if row.id in OF_BOOT else passes,
        # As many as its clients asked, which `_of_requests` looks at.
        "asked": row.asked if row.extra else min(asked, meant.samples),
    }


def _of_requests(result: Result) -> Iterator[str]:
    """What a server served is what its clients asked, in their order, and no cycle is lost."""
    for row in result.rows:
        if row.extra and (why := ladder.wrong(row)):
            yield f"row {row.name}: {why}"


def _counted(row: Row, name: str) -> list[tuple[int, float]]:
    """Return the median of a series, as counted, in each layout that has it."""
    every = ((layout, row.samples[layout].get(name)) for layout in row.layouts)
    return [(layout, steady_median(steady(taken))) for layout, taken in every if taken]


def _of_layouts(result: Result, known: Catalogue) -> Iterator[str]:
    """Layouts execute the same, after the same rows: what a boot ran before may leave the kernel's
    scheduler at another process."""
    timed = {id_ for id_, meant in known.benchmarks.items() if meant.timed}
    ran: dict[object, set[str]] = defaultdict(set)
    for row in result.rows:
        for layout in row.layouts:
            ran[row.boot, row.lang, row.icache, layout].add(row.name)
    for row in result.rows:
        if len(row.layouts) < 2 or row.id in timed:
            continue
        allowed = 0 if row.icache is False else STRAY
        for name in ("instret", "short_instret", "long_instret"):
            alike: dict[frozenset[str], list[tuple[int, float]]] = defaultdict(list)
            for layout, count in _counted(row, name):
                alike[frozenset(ran[row.boot, row.lang, row.icache, layout])].append(
                    (layout, count)
                )
            for counts in alike.values():
                least, most = (pick(counts, key=lambda one: one[1]) for pick in (min, max))
                if most[1] - least[1] > allowed:
                    yield (
                        f"row {row.name} of {row.boot}: {most[1]:g} instructions in layout"
                        f" {most[0]}, {least[1]:g} in layout {least[0]}"
                    )


def _of_readings(result: Result) -> Iterator[str]:
    """Readings of the counters cost alike in all boots of a layout, with the cache off; with it on
    they execute what they do with it off."""
    rows = [row for row in result.rows if row.is_overhead]
    alike = ALIKE if result.provenance.board.core is None else ALIKE_ON_ANOTHER
    found: dict[object, list[tuple[float, float, Row]]] = defaultdict(list)
    off: dict[object, float] = {}
    for row in rows:
        if row.icache is False:
            for layout, cycles, count in _readings(row):
                found[row.id, row.lang, layout].append((count, cycles, row))
                off[row.id, row.boot, row.lang, layout] = count
    for row in rows:
        for layout, _, count in _readings(row) if row.icache else ():
            without = off.get((row.id, row.boot, row.lang, layout), count)
            if abs(count - without) > STRAY:
                yield (
                    f"row {row.name} of {row.boot}: {count:g} instructions with the cache on,"
                    f" {without:g} with it off"
                )
    for several in found.values():
        several.sort(key=lambda one: one[:2])
        for (fewer, fast, one), (more, slow, other) in pairwise(several):
            low, high = (bound * (more - fewer) for bound in PER_INSTRUCTION)
            apart = more > fewer
            least, most = (low - BRANCHES, high + BRANCHES) if apart else (0, alike * slow)
            if not least <= slow - fast <= most:
                yield (
                    f"row {other.name} of {other.boot}: {slow:g} cycles and {more:g} instructions,"
                    f" but {fast:g} and {fewer:g} in the boot {one.boot}"
                )


def _readings(row: Row) -> Iterator[tuple[int, float, float]]:
    """Yield the layouts in which a reading was measured, with its cycles and instructions."""
    for (layout, cycles), (_, count) in zip(*(_counted(row, n) for n in SERIES), strict=False):
        yield layout, cycles, count
