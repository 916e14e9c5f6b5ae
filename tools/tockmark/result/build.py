# SPDX-License-Identifier: Apache-2.0 OR MIT
"""From what the apps of a log measured to a result: which rows stand, and which are missing."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime

from tockmark import __version__
from tockmark.log.measured import SERIES, App, Booted, Measured, RawRow
from tockmark.plain import showable
from tockmark.result.kept import Kept, Layouts, Samples, assembled
from tockmark.result.model import GONE, Absent, Result
from tockmark.result.provenance import Apps, Board, BootRun, Kernel, Layout, Provenance, Tool
from tockmark.suite.catalogue import OF_BOOT, Boot, Catalogue, Lang, Params, row_key
from tockmark.suite.select import Selection
from tockmark.target.origin import commit_of_checkout

OF_ONE_BOOT = {"apps", "boot", "image"}  # of what a begin record says
WAITED = "it ran; but it waits for time to pass, of which this target has no model"
KINDS = {"fail": "failed", "skip": "skipped"}  # from records to the lists of the result


@dataclass(frozen=True)
class Expected:
    """A boot that there should be, with its cache setting and the language of its apps."""

    boot: Boot
    icache: bool | None
    skipped: str | None = None  # why this kernel cannot run it: then its rows are skipped
    lang: Lang = "c"


@dataclass(frozen=True)
class Context:
    """What only a run knows; of a bare log nothing is known but what the apps said."""

    kernel: Kernel = field(default_factory=Kernel)
    board: Board = field(default_factory=Board)
    abi: int | None = None
    boots: tuple[BootRun, ...] = ()
    layouts: tuple[Layout, ...] = ()
    cached: int = 0


def build(
    measured: Measured,
    catalogue: Catalogue,
    context: Context | None = None,
    expected: Sequence[Expected] | None = None,
    wanted: Selection | None = None,
    notes: Sequence[str] = (),
) -> Result:
    """The whole result; `wanted` limits it to these rows (and what their boots must have besides).

    Without `expected` a log is asked for all that the boots and apps that it holds could give."""
    context = context or Context()
    boots = expected if expected is not None else _held(measured, catalogue)

    wanted = wanted if wanted is not None else Selection(catalogue)
    asked_for = wanted.fits

    kept: dict[object, tuple[Kept, Layouts]] = {}
    waited: list[Absent] = []
    said = {app.lang for _, app in measured.each() if app.begin} if expected else set()
    strange = sorted(said - {one.lang for one in boots})
    problems = [f"the apps are in {lang}: give --lang {lang}" for lang in strange]
    problems += [showable(str(problem)) for problem in (*notes, *measured.problems)]
    for boot, app in measured.each():
        for row in app.rows:
            if not row.series:
                continue
            if not (row.id in OF_BOOT or asked_for(row.id, row.params, boot.icache, app.lang)):
                continue
            place = Absent(row.id, boot.of(app), row.params, boot.icache, WAITED, app.lang)
            if _waited(row.id, catalogue, context.board):
                waited.append(place)
            elif place.identity in kept:
                problems.append(f"{place.boot}: {place.name} was measured before; the first counts")
            else:
                samples = _samples(row, context.board.counts_cycles)
                kept[place.identity] = _kept(boot, app, row), (samples,)
    # Together, as the file gives them: two boots of one name share the readings of the first.
    together = assembled(list(kept.values()), context.board.clock_hz)
    rows = {row.identity: row for row in together}
    gone = [
        (
            KINDS[dropped.kind],
            Absent(dropped.id, boot.of(app), dropped.params, boot.icache, dropped.why, app.lang),
        )
        for boot, app in measured.each()
        for dropped in app.no_rows
        if dropped.id in OF_BOOT or asked_for(dropped.id, dropped.params, boot.icache, app.lang)
    ]
    gone += [("skipped", absent) for absent in (*waited, *_skipped(boots, wanted))]
    gone += [("missing", absent) for absent in _missing(measured, boots, wanted)]
    lists: dict[str, dict[object, Absent]] = {name: {} for name in GONE}
    for name, absent in gone:
        there = rows.get(absent.identity)
        if there is None and not any(absent.identity in others for others in lists.values()):
            lists[name][absent.identity] = absent
        elif name == "failed":
            problems.append(f"{absent.boot}: {absent.name} failed, too: {absent.why}")
        elif name == "missing" and there is not None:  # for one of its series is not
            lacks = " and ".join(there.lacks)
            problems.append(f"{absent.boot}: {absent.name} lacks {lacks}")
    return Result(
        provenance=Provenance(
            date=datetime.now(UTC).isoformat(timespec="seconds"),
            tool=Tool("tockmark", __version__, commit_of_checkout()),
            kernel=context.kernel,
            board=context.board,
            abi=context.abi,
            catalogue_sha256=catalogue.sha256,
            boots=context.boots,
            apps=_said(measured),
            layouts=context.layouts,
            cached=context.cached,
        ),
        rows=tuple(rows.values()),
        problems=tuple(problems),
        **{name: tuple(found.values()) for name, found in lists.items()},
    )


def _waited(id_: str, catalogue: Catalogue, board: Board) -> bool:
    """Whether nothing of a row can be kept: no cycles, and instructions of a wait."""
    known = catalogue.benchmarks.get(id_)
    return not board.counts_cycles and known is not None and known.waits


def _kept(boot: Booted, app: App, row: RawRow) -> Kept:
    """What the file keeps of a row, but for its samples."""
    name = boot.of(app)
    return Kept(
        id=row.id,
        boot=name,
        asked=row.asked,
        params=row.params,
        app=app.name if app.name != name else None,
        icache=boot.icache,
        inner=row.inner,
        reads=0 if row.clock == "sim" else 1,  # nothing reads the simulator's clock
        by=row.by,
        passes=row.passes,
        clock=row.clock,
        without_cold=tuple(name for name in SERIES if name in row.without_cold),  # type: ignore[misc]
        faults=tuple(row.faults),
        lang=app.lang,
    )


def _samples(row: RawRow, cycles: bool) -> Samples:
    """All series; where cycles are not counted, only instructions: nor are events."""
    return {
        **{name: tuple(taken) for name, taken in row.series.items() if cycles or "instret" in name},
        **{number: tuple(taken) for number, taken in row.events.items() if cycles},
    }


def _said(measured: Measured) -> tuple[Apps, ...]:
    """The apps' `begin` records, those that say the same together."""
    of: dict[tuple[tuple[str, str], ...], dict[str, None]] = {}
    for boot, app in measured.each():
        said = tuple((k, v) for k, v in (app.begin or {}).items() if k not in OF_ONE_BOOT)
        of.setdefault(said, {})[boot.of(app)] = None
    return tuple(Apps(tuple(boots), dict(said)) for said, boots in of.items())


def _held(measured: Measured, catalogue: Catalogue) -> list[Expected]:
    """The boots that a log holds: those that it names, or those of the apps that it knows."""
    known = {boot.name: boot for boot in catalogue.boots()}
    return [
        Expected(catalogue.of_only(known[name], app.only), boot.icache, lang=app.lang)
        for boot, app in measured.each()
        if (name := boot.of(app)) in known
    ]


def _skipped(boots: Iterable[Expected], wanted: Selection) -> Iterator[Absent]:
    """The rows of the boots that this kernel cannot run."""
    for one in boots:
        if one.skipped is not None:
            for id_, params in _rows_of(one, wanted):
                yield Absent(id_, one.boot.name, params, one.icache, one.skipped, one.lang)


def _rows_of(one: Expected, wanted: Selection) -> list[tuple[str, Params]]:
    """The rows that a boot must give, in the catalogue's order."""
    rows = wanted.catalogue.rows_given(one.boot)
    return [(id_, params) for id_, params in rows if wanted.fits(id_, params, one.icache, one.lang)]


def _missing(measured: Measured, boots: Iterable[Expected], wanted: Selection) -> list[Absent]:
    """The rows that these boots should have given and did not, each with its first boot, and those
    that apps announced and gave nothing of."""
    there = {
        (boot.icache, app.lang, *key)
        for boot, app in measured.each()
        for key in [*(r.key() for r in app.rows if r.whole()), *(n.key() for n in app.no_rows)]
    }
    said = {
        (id_, boot.of(app), boot.icache, app.lang)
        for boot, app in measured.each()
        for id_ in [*(r.id for r in app.rows if r.whole()), *(n.id for n in app.no_rows)]
    }
    missing: dict[object, Absent] = {}
    for one in boots:
        if one.skipped is not None:
            continue
        name = one.boot.name
        for id_ in wanted.catalogue.of_boot(one.boot):
            own = id_, name, one.icache, one.lang
            if own not in said:
                missing[own] = Absent(id_, name, {}, one.icache, lang=one.lang)
        for id_, params in _rows_of(one, wanted):
            key = (one.icache, one.lang, *row_key(id_, params))
            if key not in there:
                missing.setdefault(key, Absent(id_, name, params, one.icache, lang=one.lang))
    for boot, app in measured.each():  # what an app announced, whatever the catalogue knows of it
        for row in app.rows:
            key = (boot.icache, app.lang, *row.key())
            if (
                not row.series
                and key not in there
                and wanted.fits(row.id, row.params, boot.icache, app.lang)
            ):
                gone = Absent(row.id, boot.of(app), row.params, boot.icache, lang=app.lang)
                missing.setdefault(key, gone)
    return list(missing.values())
