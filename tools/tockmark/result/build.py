# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Build a result from a decoded log and the facts that only a run knows.

`build` collects the rows of one layout and lists those that failed, were skipped or are missing.
`merge_layouts` merges the results of several layouts. `tockmark run` (target/results.py) and
`tockmark board parse` (target/parse.py) both use them.
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
    HARNESS_ROWS,
    PERF,
    Boot,
    Catalogue,
    CounterName,
    Lang,
    Params,
)
from tockmark.suite.selection import Selection
from tockmark.wire.boots import App, Measured, MeasuredBoot
from tockmark.wire.rows import SERIES, Absent, StoredRow, is_whole, series_names

OF_ONE_BOOT = {"apps", "boot", "image"}  # keys of a begin record that differ from boot to boot
WAITED = "it ran, but it waits for time to pass, and this target does not model time"
LISTS = {"fail": "failed", "skip": "skipped"}  # a record's kind, and its list in the result
NO_NEW_IPC = "registry_discover returned NODEVICE"  # how ipc2 fails on a kernel without the new IPC
UNCOUNTED: dict[str, Any] = {  # dropped if the target does not count cycles
    f"{name}_runs": None for name in ("cycles", "short_cycles", "long_cycles", "events")
}

Placed = TypeVar("Placed", StoredRow, Absent)


@dataclass(frozen=True)
class Expected:
    """A boot that a result should have, with its cache setting and the language of its apps."""

    boot: Boot
    icache: bool | None
    skipped: str | None = None  # why this kernel cannot run it
    lang: Lang = "c"

    def rows(self, wanted: Selection) -> Iterator[Absent]:
        """Yield the rows that the boot must have, in the catalogue's order, as absent rows."""
        for id_, params in wanted.catalogue.measured_rows(self.boot):
            if wanted.matches(id_, params, self.icache, self.lang):
                yield self.absent(id_, params)

    def absent(self, id_: str, params: Params) -> Absent:
        """Return an absent row of the boot."""
        return Absent(id_, self.boot.name, params, self.icache, self.skipped, self.lang)


@dataclass(frozen=True)
class Context:
    """The facts that only a run knows, with the field names of Provenance. The defaults are for a
    log without its run."""

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
    """Return the result. `wanted` selects rows; overhead rows and controls always stay. `expected`
    lists the boots that must be there; by default the log's own boots and apps must be complete."""
    context = context or Context()
    boots = expected if expected is not None else _boots_in_log(measured, catalogue)
    wanted = wanted if wanted is not None else Selection(catalogue)
    stored_rows = [_with_boot(row, boot, app) for boot, app in measured.each() for row in app.rows]
    dropped = [
        _listed(kind, _with_boot(row, boot, app), context.kernel)
        for boot, app in measured.each()
        for kind, row in app.absent_rows
    ]
    langs_seen = {app.lang for _, app in measured.each() if app.begin} if expected else set()
    strange = sorted(langs_seen - {boot.lang for boot in boots})
    problems = [f"the apps are in {lang}; give --lang {lang}" for lang in strange]
    problems += [printable_text(str(problem)) for problem in (*notes, *measured.problems)]
    counters = sorted({app.counter for _, app in measured.each()}) or [PERF]
    if len(counters) > 1:
        problems.append(
            f"the apps read the counters in different ways ({', '.join(counters)}), which cost"
            " different cycles"
        )
    counter: CounterName = counters[0]
    kept: dict[object, StoredRow] = {}
    gone = [(name, row) for name, row in dropped if row.id in HARNESS_ROWS or wanted.includes(row)]
    for row in stored_rows:
        if not series_names(row) or not (row.id in HARNESS_ROWS or wanted.includes(row)):
            continue
        benchmark = catalogue.benchmarks.get(row.id)
        if not context.board.counts_cycles and benchmark is not None and benchmark.waits:
            gone.append(("skipped", _absent(row, WAITED)))
        elif row.identity in kept:
            problems.append(f"{row.boot}: {row.name} was measured twice; the first one counts")
        else:
            counted = {} if context.board.counts_cycles else UNCOUNTED
            kept[row.identity] = structs.replace(row, **counted)
    impossible = [boot for boot in boots if boot.skipped is not None]
    gone += [("skipped", row) for boot in impossible for row in boot.rows(wanted)]
    gone += [("missing", row) for row in _missing(stored_rows, dropped, boots, wanted, counter)]
    measured_rows = [decoded(row, context.board.clock_hz, counter) for row in kept.values()]
    rows = {row.identity: row for row in with_readings(measured_rows)}
    lists: dict[str, dict[object, Absent]] = {name: {} for name in ABSENT_LISTS}
    for name, absent in gone:
        measured_row = rows.get(absent.identity)
        if measured_row is None and not any(absent.identity in others for others in lists.values()):
            lists[name][absent.identity] = absent
        elif name == "failed":
            problems.append(f"{absent.boot}: {absent.name} also failed: {absent.why}")
        elif name == "missing" and measured_row is not None:  # one of its series is missing
            series = " and ".join(measured_row.missing_series)
            problems.append(f"{absent.boot}: {absent.name} has no {series}")
    ids = {row.id for row in (*rows.values(), *(row for _, row in gone))}
    foreign = ids - HARNESS_ROWS if catalogue.name else set()
    return Result(
        provenance=Provenance(
            date=datetime.now(UTC).isoformat(timespec="seconds"),
            tool=Tool("tockmark", __version__, commit_of_checkout()),
            catalogue=catalogue.name,
            catalogue_sha256=catalogue.sha256,
            benchmarks=tuple(b for b in catalogue.benchmarks.values() if b.id in foreign),
            entries={
                id_: catalogue.benchmarks[id_].measured_as
                for id_ in dict.fromkeys(row.id for row in rows.values())
                if id_ in catalogue.benchmarks
            },
            apps=_app_records(measured),
            counter=counter,
            **vars(context),
        ),
        rows=tuple(rows.values()),
        problems=tuple(problems),
        **{name: tuple(absent_rows.values()) for name, absent_rows in lists.items()},
    )


def _with_boot(row: Placed, boot: MeasuredBoot, app: App) -> Placed:
    """Return a row with the boot, cache setting, language and app that measured it."""
    name = boot.name_for(app)
    own = {"own_app": app.name if app.name != name else None} if isinstance(row, StoredRow) else {}
    return structs.replace(row, boot=name, icache=boot.icache, lang=app.lang, **own)


def _absent(row: StoredRow, why: str | None = None) -> Absent:
    return Absent(row.id, row.boot, row.params, row.icache, why, row.lang)


def _app_records(measured: Measured) -> tuple[Apps, ...]:
    """Return the apps' `begin` records; equal ones are grouped."""
    boots_by_record: dict[tuple[tuple[str, str], ...], dict[str, None]] = {}
    for boot, app in measured.each():
        record = tuple((k, v) for k, v in (app.begin or {}).items() if k not in OF_ONE_BOOT)
        boots_by_record.setdefault(record, {})[boot.name_for(app)] = None
    return tuple(Apps(tuple(boots), dict(record)) for record, boots in boots_by_record.items())


def _listed(kind: str, absent: Absent, kernel: Kernel) -> tuple[str, Absent]:
    """Return the list of an absent row, and the row. Rows of the new IPC are skipped on a kernel
    without it; our own kernel has it."""
    if absent.why == NO_NEW_IPC and not kernel.is_baseline:
        why = f"this kernel does not have the new IPC: {NO_NEW_IPC}"
        return "skipped", structs.replace(absent, why=why)
    return LISTS[kind], absent


def _boots_in_log(measured: Measured, catalogue: Catalogue) -> list[Expected]:
    """Return the boots of a log, by their names or by their apps."""
    boots_by_name = {boot.name: boot for boot in catalogue.boots()}
    return [
        Expected(catalogue.with_only(boots_by_name[name], app.only), boot.icache, lang=app.lang)
        for boot, app in measured.each()
        if (name := boot.name_for(app)) in boots_by_name
    ]


def _missing(
    stored_rows: Iterable[StoredRow],
    dropped: Iterable[tuple[str, Absent]],
    boots: Iterable[Expected],
    wanted: Selection,
    counter: CounterName,
) -> list[Absent]:
    """Return the rows that these boots lack, each with its first boot, and the rows that apps
    announced without measuring them, in the catalogue or not."""
    measured_rows = [
        *(row for row in stored_rows if is_whole(row, counter)),
        *(row for _, row in dropped),
    ]
    measured_keys = {row.key for row in measured_rows}
    in_boots = {(row.id, row.boot, row.icache, row.lang) for row in measured_rows}
    missing: dict[object, Absent] = {}
    for boot in boots:
        if boot.skipped is not None:
            continue
        for row in (boot.absent(id_, {}) for id_ in wanted.catalogue.reference_ids(boot.boot)):
            if row.identity not in in_boots:
                missing[row.identity] = row
        for row in boot.rows(wanted):
            if row.key not in measured_keys:
                missing.setdefault(row.key, row)
    for announced in stored_rows:
        if (
            not series_names(announced)
            and announced.key not in measured_keys
            and wanted.includes(announced)
        ):
            missing.setdefault(announced.key, _absent(announced))
    return list(missing.values())


def merge_layouts(results: Sequence[Result]) -> Result:
    """Return the first result with the layouts and samples of all. Problems of the other layouts
    become problems of the merged result; a row that is incomplete in another layout contributes no
    samples of that layout."""
    first, *others = results
    tables = [{row.identity: row for row in result.rows} for result in others]
    problems = [
        f"layout {layout}: {reason}"
        for layout, result in enumerate(others, 1)
        for reason in replace(result, rows=()).incomplete
    ]
    rows = []
    for row in first.rows:
        other_rows: list[Row | None] = [None] * len(others)
        for layout, table in enumerate(tables, 1):
            other = table.get(row.identity)
            obstacle = _merge_obstacle(row, other) if other is not None else None
            if obstacle is not None:
                problems.append(f"layout {layout}: {row.boot}: {row.name}: {obstacle}")
            elif other is not None:
                other_rows[layout - 1] = other
        rows.append(row.with_layouts(other_rows) if any(other_rows) else row)
    layouts = tuple(layout for result in results for layout in result.provenance.layouts)
    provenance = structs.replace(first.provenance, layouts=layouts)
    provenance = provenance.merged_with([result.provenance for result in others], layout=1)
    return replace(
        first, provenance=provenance, rows=tuple(rows), problems=(*first.problems, *problems)
    )


def _merge_obstacle(row: Row, other: Row) -> str | None:
    """Return why the same row of another layout cannot be merged; None if it can."""
    for name in SERIES:
        if (row.series(name) is None) != (other.series(name) is None):
            return f"it has {name} in one layout only"
    return other.faults[0] if other.faults else None
