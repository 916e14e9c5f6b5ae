# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Contradictions in a simulated result. No honest run has one.

A simulator gives the same counts each time, and all layouts execute the same instructions. So the
parts of a result must agree: its rows with its boots, its layouts with each other, the counter
reads of its boots with each other, and its rows with the catalogue that it names. `verify` looks
for contradictions first, because this covers all boots and simulates none.

A catalogue entry is compared only with rows of a result that has the entry's hash: an earlier
catalogue had other rows.
"""

from collections import defaultdict
from collections.abc import Iterator
from itertools import chain, pairwise

from tockmark.result.model import Result, Row
from tockmark.result.stats import steady, steady_median
from tockmark.suite.catalogue import (
    HARNESS_ROWS,
    ICACHE,
    LANGS,
    Benchmark,
    Catalogue,
    Lang,
    lang_suffix,
    row_key,
)
from tockmark.wire.rows import SERIES
from tockmark_lab.studies import ladder

STRAY = 3  # most instructions between layouts, or cache settings, with the cache on
# Counter reads in different boots, cache off: with equal instructions, cycles differ by at most
# this share; each further instruction takes between PER_INSTRUCTION cycles.
ALIKE = 0.01
# The same on another core. A core without a cache fetches ahead, so the cost of a read depends on
# the address of its code.
ALIKE_ON_ANOTHER = 0.05
PER_INSTRUCTION = (1.5, 25)
# The kernel skips an app that has ended (such as a service whose driver the kernel lacks) in
# another way than an app that waits: it takes two branches more or less.
BRANCHES = 8

BootSetting = tuple[str, Lang, bool | None]  # a boot and its cache setting


def contradiction(result: Result, catalogue: Catalogue) -> str | None:
    """Return the first contradiction, which starts with its row or boot. None without one, or
    if the result is from a board, an emulator that counts no cycles, or a log without layouts.
    """
    provenance = result.provenance
    if not (result.simulated and provenance.board.counts_cycles and provenance.layouts):
        return None
    messages = chain(
        _check_boots(result),
        _check_cycles(result),
        _check_catalogue(result, catalogue),
        _check_requests(result),
        _check_layouts(result, catalogue),
        _check_reads(result),
    )
    return next(messages, None)


def _setting(row: Row) -> BootSetting:
    return row.boot, row.lang, row.icache


def _setting_text(setting: BootSetting) -> str:
    boot, lang, icache = setting
    return f"{boot}, i-cache {ICACHE[icache]}{lang_suffix(lang)}"


def _boots(result: Result) -> dict[BootSetting, int]:
    """Return the cycles of each boot in the provenance."""
    return {
        (run.boot, run.lang, setting == "on"): cycles
        for run in result.provenance.boots
        for setting, cycles in run.cycles.items()
    }


def _check_boots(result: Result) -> Iterator[str]:
    """Check that rows and provenance have the same boots."""
    boots = _boots(result)
    for row in result.rows:
        if _setting(row) not in boots:
            yield f"row {row.name}: provenance has no boot {_setting_text(_setting(row))}"
    absent = (*result.failed, *result.skipped, *result.missing)
    row_settings = {_setting(row) for row in result.rows} | {
        (entry.boot, entry.lang, entry.icache) for entry in absent
    }
    for setting in boots:
        if setting not in row_settings:
            yield f"the boot {_setting_text(setting)} has no row"


def _check_cycles(result: Result) -> Iterator[str]:
    """Check that no boot is shorter than its samples. Boots of `--resume` and boots that were cut
    off have 0 cycles and are not checked."""
    sample_cycles: dict[BootSetting, int] = defaultdict(int)
    boots = _boots(result)
    for row in result.rows:
        counted = [sum(values) for name, values in row.samples[0].items() if "cycles" in name]
        if row.clock == "core" and not row.extra:
            sample_cycles[_setting(row)] += sum(counted)
        else:  # these samples may overlap
            longest = max(sample_cycles[_setting(row)], *row.samples[0].get("cycles", (0,)))
            sample_cycles[_setting(row)] = longest
        cycles = boots[_setting(row)]
        if 0 < cycles < sample_cycles[_setting(row)]:
            boot = f"its boot, {_setting_text(_setting(row))}, took {cycles} cycles"
            yield f"row {row.name}: {boot}, fewer than its samples"


def _check_catalogue(result: Result, catalogue: Catalogue) -> Iterator[str]:
    """Compare rows with the catalogue entries that the result names. If it names the whole
    catalogue, also check that each row is in its boot."""
    boot_rows = {
        boot.name: {row_key(id_, params) for id_, params in catalogue.measured_rows(boot)}
        | {row_key(id_, {}) for id_ in catalogue.reference_ids(boot)}
        for boot in catalogue.boots()
    }
    entries = result.provenance.entries
    same = result.provenance.catalogue_sha256 == catalogue.sha256
    asked: dict[BootSetting, int] = defaultdict(int)
    for row in result.rows:
        if not row.extra:  # clients may ask for more
            asked[_setting(row)] = max(asked[_setting(row)], row.asked)
    for row in result.rows:
        benchmark = catalogue.benchmarks.get(row.id)
        if benchmark is None or not (same or entries.get(row.id) == benchmark.measured_as):
            continue
        if same and row_key(row.id, row.params) not in boot_rows.get(row.boot, ()):
            yield f"row {row.name}: the catalogue has no such row in the boot {row.boot}"
        for name, expected in _constants(row, benchmark, asked[_setting(row)]).items():
            if (value := getattr(row, name)) != expected:
                yield f"row {row.name}: its {name} is {value}, but {expected} in the catalogue"
        why = benchmark.skip_c if row.lang == "c" else benchmark.skip_rust
        if result.provenance.abi == 1:
            why = why or benchmark.skip_v1
        if why:
            yield f"row {row.name}: it cannot be measured in {LANGS[row.lang]}: {why}"


def _constants(row: Row, benchmark: Benchmark, asked: int) -> dict[str, object]:
    """Return the fields of a row that its benchmark determines. Its boot asked for at most `asked`
    samples of a row. With the cache off one pass is enough. For counter reads and controls the
    harness determines the passes."""
    passes = benchmark.passes if row.icache else min(benchmark.passes, 1)
    return {
        "inner": benchmark.inner,
        "reads": 0 if benchmark.by == "mark" else 1,
        "by": "reading" if benchmark.by == "reading" else "sampler",
        "clock": "sim" if benchmark.by == "mark" else "core",
        "passes": row.passes if row.id in HARNESS_ROWS else passes,
        # Its clients determine this; `_check_requests` checks it.
        "asked": row.asked if row.extra else min(asked, benchmark.samples),
    }


def _check_requests(result: Result) -> Iterator[str]:
    """Check that a server served what its clients asked, in order, and that no cycle is lost."""
    for row in result.rows:
        if row.extra and (why := ladder.check_requests(row)):
            yield f"row {row.name}: {why}"


def _medians(row: Row, name: str) -> list[tuple[int, float]]:
    """Return the median of a series, as counted, in each layout that has the series."""
    series = ((layout, row.samples[layout].get(name)) for layout in row.layouts)
    return [(layout, steady_median(steady(values))) for layout, values in series if values]


def _check_layouts(result: Result, catalogue: Catalogue) -> Iterator[str]:
    """Check that layouts execute the same instructions. Only layouts that ran the same rows before
    are compared: earlier rows may leave the kernel's scheduler at another process."""
    timed = {id_ for id_, benchmark in catalogue.benchmarks.items() if benchmark.timed}
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
            for layout, count in _medians(row, name):
                alike[frozenset(ran[row.boot, row.lang, row.icache, layout])].append(
                    (layout, count)
                )
            for counts in alike.values():
                least, most = (
                    pick(counts, key=lambda layout_and_count: layout_and_count[1])
                    for pick in (min, max)
                )
                if most[1] - least[1] > allowed:
                    yield (
                        f"row {row.name} of {row.boot}: {most[1]:g} instructions in layout"
                        f" {most[0]}, {least[1]:g} in layout {least[0]}"
                    )


def _check_reads(result: Result) -> Iterator[str]:
    """Check that counter reads cost the same in all boots of a layout with the cache off, and
    execute the same instructions with it on."""
    rows = [row for row in result.rows if row.is_overhead]
    alike = ALIKE if result.provenance.board.core is None else ALIKE_ON_ANOTHER
    by_layout: dict[object, list[tuple[float, float, Row]]] = defaultdict(list)
    off: dict[object, float] = {}
    for row in rows:
        if row.icache is False:
            for layout, cycles, count in _reads(row):
                by_layout[row.id, row.lang, layout].append((count, cycles, row))
                off[row.id, row.boot, row.lang, layout] = count
    for row in rows:
        for layout, _, count in _reads(row) if row.icache else ():
            count_off = off.get((row.id, row.boot, row.lang, layout), count)
            if abs(count - count_off) > STRAY:
                yield (
                    f"row {row.name} of {row.boot}: {count:g} instructions with the cache on,"
                    f" {count_off:g} with it off"
                )
    for readings in by_layout.values():
        readings.sort(key=lambda reading: reading[:2])
        for (fewer, fast, first_row), (more, slow, later_row) in pairwise(readings):
            low, high = (bound * (more - fewer) for bound in PER_INSTRUCTION)
            least, most = (low - BRANCHES, high + BRANCHES) if more > fewer else (0, alike * slow)
            if not least <= slow - fast <= most:
                yield (
                    f"row {later_row.name} of {later_row.boot}: {slow:g} cycles and {more:g}"
                    f" instructions, but {fast:g} and {fewer:g} in the boot {first_row.boot}"
                )


def _reads(row: Row) -> Iterator[tuple[int, float, float]]:
    """Yield each layout in which the counter reads were measured, with their cycles and
    instructions."""
    for (layout, cycles), (_, count) in zip(*(_medians(row, n) for n in SERIES), strict=False):
        yield layout, cycles, count
