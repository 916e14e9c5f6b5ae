# SPDX-License-Identifier: Apache-2.0 OR MIT
"""From what a log holds, and what only a run knows besides, to the one typed result.

`build` says which rows stand and which are missing; `joined` puts several layouts of kernel and
apps together. A run and `tockmark board parse` make their results alike, from what was captured
(target/results.py, target/parse.py).
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any, TypeVar

from msgspec import structs

from tockmark import __version__
from tockmark.base.errors import printable_text
from tockmark.base.paths import commit_of_checkout
from tockmark.result.file import decoded
from tockmark.result.model import ABSENT_LISTS, Result, Row, with_readings
from tockmark.result.provenance import (
    Apps,
    Board,
    BootHost,
    BootRun,
    Kernel,
    Layout,
    Provenance,
    Tool,
)
from tockmark.suite.catalogue import (
    OF_BOOT,
    PERF,
    Benchmark,
    Boot,
    BootRowName,
    Catalogue,
    CounterName,
    Lang,
    Params,
)
from tockmark.suite.selection import Selection
from tockmark.wire.boots import App, Measured, MeasuredBoot
from tockmark.wire.rows import SERIES, Absent, StoredRow, is_whole, series_names

OF_ONE_BOOT = {"apps", "boot", "image"}  # of what a begin record says
WAITED = "it ran; but it waits for time to pass, of which this target has no model"
LISTS = {"fail": "failed", "skip": "skipped"}  # from records to the lists of the result
UNCOUNTED: dict[str, Any] = {  # where cycles are not counted, nor are events
    f"{name}_runs": None for name in ("cycles", "short_cycles", "long_cycles", "events")
}

Placed = TypeVar("Placed", StoredRow, Absent)


@dataclass(frozen=True)
class Expected:
    """A boot that there should be, with its cache setting and the language of its apps."""

    boot: Boot
    icache: bool | None
    skipped: str | None = None  # why this kernel cannot run it: then its rows are skipped
    lang: Lang = "c"

    def rows(self, wanted: Selection) -> Iterator[Absent]:
        """Return the rows that the boot must give, in the catalogue's order, as if they were not
        there."""
        for id_, params in wanted.catalogue.rows_given(self.boot):
            if wanted.matches(id_, params, self.icache, self.lang):
                yield self.absent(id_, params)

    def absent(self, id_: str, params: Params) -> Absent:
        """Return a row of the boot as one that is not there."""
        return Absent(id_, self.boot.name, params, self.icache, self.skipped, self.lang)


@dataclass(frozen=True)
class Context:
    """What only a run knows, by the names of Provenance; of a bare log nothing is known but what
    the apps said."""

    kernel: Kernel = field(default_factory=Kernel)
    board: Board = field(default_factory=Board)
    abi: int | None = None
    boots: tuple[BootRun, ...] = ()
    layouts: tuple[Layout, ...] = ()
    cached: int = 0
    hosts: tuple[BootHost, ...] = ()


def build(
    measured: Measured,
    catalogue: Catalogue,
    context: Context | None = None,
    expected: Sequence[Expected] | None = None,
    wanted: Selection | None = None,
    notes: Sequence[str] = (),
) -> Result:
    """Return the whole result; `wanted` limits it to these rows (and what their boots must have
    besides). Without `expected` a log is asked for all that the boots and apps that it holds could
    give."""
    context = context or Context()
    boots = expected if expected is not None else _held(measured, catalogue)
    wanted = wanted if wanted is not None else Selection(catalogue)
    taken = [_placed(row, boot, app) for boot, app in measured.each() for row in app.rows]
    dropped = [
        (LISTS[kind], _placed(row, boot, app))
        for boot, app in measured.each()
        for kind, row in app.absent_rows
    ]
    said = {app.lang for _, app in measured.each() if app.begin} if expected else set()
    strange = sorted(said - {one.lang for one in boots})
    problems = [f"the apps are in {lang}: give --lang {lang}" for lang in strange]
    problems += [printable_text(str(problem)) for problem in (*notes, *measured.problems)]
    counters = sorted({app.counter for _, app in measured.each()}) or [PERF]
    if len(counters) > 1:
        problems.append(f"apps read by {' and by '.join(counters)}, which cost different cycles")
    counter: CounterName = counters[0]
    kept: dict[object, StoredRow] = {}
    gone = [(name, row) for name, row in dropped if row.id in OF_BOOT or wanted.includes(row)]
    for row in taken:
        if not series_names(row) or not (row.id in OF_BOOT or wanted.includes(row)):
            continue
        known = catalogue.benchmarks.get(row.id)
        if not context.board.counts_cycles and known is not None and known.waits:
            gone.append(("skipped", _absent(row, WAITED)))
        elif row.identity in kept:
            problems.append(f"{row.boot}: {row.name} was measured before; the first counts")
        else:
            counted = {} if context.board.counts_cycles else UNCOUNTED
            kept[row.identity] = structs.replace(row, **counted)
    impossible = [one for one in boots if one.skipped is not None]
    gone += [("skipped", row) for one in impossible for row in one.rows(wanted)]
    gone += [("missing", row) for row in _missing(taken, dropped, boots, wanted, counter)]
    measured_rows = [decoded(row, context.board.clock_hz, counter) for row in kept.values()]
    rows = {row.identity: row for row in with_readings(measured_rows)}
    lists: dict[str, dict[object, Absent]] = {name: {} for name in ABSENT_LISTS}
    for name, absent in gone:
        there = rows.get(absent.identity)
        if there is None and not any(absent.identity in others for others in lists.values()):
            lists[name][absent.identity] = absent
        elif name == "failed":
            problems.append(f"{absent.boot}: {absent.name} failed, too: {absent.why}")
        elif name == "missing" and there is not None:  # for one of its series is not
            lacks = " and ".join(there.missing_series)
            problems.append(f"{absent.boot}: {absent.name} lacks {lacks}")
    return Result(
        provenance=Provenance(
            date=datetime.now(UTC).isoformat(timespec="seconds"),
            tool=Tool("tockmark", __version__, commit_of_checkout()),
            catalogue=catalogue.name,
            catalogue_sha256=catalogue.sha256,
            benchmarks=_others(catalogue, [*rows.values(), *(row for _, row in gone)]),
            entries={
                id_: catalogue.benchmarks[id_].measured_as
                for id_ in dict.fromkeys(row.id for row in rows.values())
                if id_ in catalogue.benchmarks
            },
            apps=_said(measured),
            counter=counter,
            **vars(context),
        ),
        rows=tuple(rows.values()),
        problems=tuple(problems),
        **{name: tuple(found.values()) for name, found in lists.items()},
    )


def _others(catalogue: Catalogue, rows: Iterable[BootRowName]) -> tuple[Benchmark, ...]:
    """Return the benchmarks of rows, if they are not of the usual catalogue."""
    ids = {row.id for row in rows} - OF_BOOT if catalogue.name else set()
    return tuple(one for id_, one in catalogue.benchmarks.items() if id_ in ids)


def _placed(row: Placed, boot: MeasuredBoot, app: App) -> Placed:
    """Return a row of an app with what only its boot says of it."""
    name = boot.name_for(app)
    own = {"own_app": app.name if app.name != name else None} if isinstance(row, StoredRow) else {}
    return structs.replace(row, boot=name, icache=boot.icache, lang=app.lang, **own)


def _absent(row: StoredRow, why: str | None = None) -> Absent:
    return Absent(row.id, row.boot, row.params, row.icache, why, row.lang)


def _said(measured: Measured) -> tuple[Apps, ...]:
    """Return the apps' `begin` records, those that say the same together."""
    of: dict[tuple[tuple[str, str], ...], dict[str, None]] = {}
    for boot, app in measured.each():
        said = tuple((k, v) for k, v in (app.begin or {}).items() if k not in OF_ONE_BOOT)
        of.setdefault(said, {})[boot.name_for(app)] = None
    return tuple(Apps(tuple(boots), dict(said)) for said, boots in of.items())


def _held(measured: Measured, catalogue: Catalogue) -> list[Expected]:
    """Return the boots that a log holds: those that it names, or those of the apps that it
    knows."""
    known = {boot.name: boot for boot in catalogue.boots()}
    return [
        Expected(catalogue.with_only(known[name], app.only), boot.icache, lang=app.lang)
        for boot, app in measured.each()
        if (name := boot.name_for(app)) in known
    ]


def _missing(
    taken: Iterable[StoredRow],
    dropped: Iterable[tuple[str, Absent]],
    boots: Iterable[Expected],
    wanted: Selection,
    counter: CounterName,
) -> list[Absent]:
    """Return the rows that these boots should have given and did not, each with its first boot, and
    those that apps announced and gave nothing of, whatever the catalogue knows of them."""
    measured_rows = [
        *(row for row in taken if is_whole(row, counter)),
        *(row for _, row in dropped),
    ]
    there = {row.key for row in measured_rows}
    in_boots = {(row.id, row.boot, row.icache, row.lang) for row in measured_rows}
    missing: dict[object, Absent] = {}
    for one in boots:
        if one.skipped is not None:
            continue
        for row in (one.absent(id_, {}) for id_ in wanted.catalogue.reference_ids(one.boot)):
            if row.identity not in in_boots:
                missing[row.identity] = row
        for row in one.rows(wanted):
            if row.key not in there:
                missing.setdefault(row.key, row)
    for announced in taken:
        if (
            not series_names(announced)
            and announced.key not in there
            and wanted.includes(announced)
        ):
            missing.setdefault(announced.key, _absent(announced))
    return list(missing.values())


def merge_layouts(results: Sequence[Result]) -> Result:
    """Return the first result in the layouts of all, its rows with the samples that the others have
    of them. What went wrong in these is a problem of the whole, and of a row that is not whole
    there nothing is taken."""
    first, *others = results
    tables = [{row.identity: row for row in result.rows} for result in others]
    problems = [
        f"layout {layout}: {reason}"
        for layout, result in enumerate(others, 1)
        for reason in replace(result, rows=()).incomplete
    ]
    rows = []
    for row in first.rows:
        there: list[Row | None] = [None] * len(others)
        for layout, table in enumerate(tables, 1):
            other = table.get(row.identity)
            wrong = _unlike(row, other) if other is not None else None
            if wrong is not None:
                problems.append(f"layout {layout}: {row.boot}: {row.name}: {wrong}")
            elif other is not None:
                there[layout - 1] = other
        rows.append(row.with_layouts(there) if any(there) else row)
    layouts = tuple(layout for result in results for layout in result.provenance.layouts)
    provenance = structs.replace(first.provenance, layouts=layouts)
    provenance = provenance.merged_with([result.provenance for result in others], layout=1)
    return replace(
        first, provenance=provenance, rows=tuple(rows), problems=(*first.problems, *problems)
    )


def _unlike(row: Row, other: Row) -> str | None:
    """Return why a row of another layout cannot stand beside this one, if so."""
    for name in SERIES:
        if (row.series(name) is None) != (other.series(name) is None):
            return f"{name} is in one layout only"
    return other.faults[0] if other.faults else None
