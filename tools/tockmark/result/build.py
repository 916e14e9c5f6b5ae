# SPDX-License-Identifier: Apache-2.0 OR MIT
"""What a result shall know of a kernel's file and of a board's profile: of a run, and of a log
whose reader names both.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime

import msgspec

from tockmark import __version__
from tockmark.log.protocol import BootMark, decode
from tockmark.log.rows import SERIES, App, Booted, Measured, RawRow, assemble
from tockmark.paths import commit_of_checkout
from tockmark.plain import showable
from tockmark.result.file import Layouts, Samples, StoredRow, assembled
from tockmark.result.model import GONE, Absent, Result, Row
from tockmark.result.provenance import Apps, Board, BootRun, Kernel, Layout, Provenance, Slot, Tool
from tockmark.rig import board as boards
from tockmark.rig.kernel import KernelElf
from tockmark.rig.run import Job, Ran, RunOptions
from tockmark.suite.catalogue import ICACHE, OF_BOOT, Boot, Catalogue, Lang, Params, row_key
from tockmark.suite.selection import Selection


def kernel_of(kernel: KernelElf, board: boards.BoardProfile | None) -> Kernel:
    """A kernel as its ELF and its user tell it. How much RAM it takes only the board knows."""
    return Kernel(
        name=showable(kernel.name) if kernel.name else None,
        file=showable(kernel.path.name),
        sha256=kernel.sha256,
        commit=kernel.commit,
        opt_level=kernel.opt_level,
        flags=kernel.flags,
        rustc=kernel.rustc,
        flash_bytes=kernel.flash_bytes,
        ram_bytes=kernel.room.ram_start - board.ram.base if kernel.room and board else None,
    )


def board_of(board: boards.BoardProfile) -> Board:
    """A board as its profile and its target tell it."""
    return msgspec.convert(  # checks what the profile says of its timing
        {
            "name": board.name,
            "machine": board.machine,
            "clock_hz": board.clock_hz,
            "timing": board.timing,
            **board.target.provenance(board.clock_hz),
        },
        Board,
    )


# From what the apps of a log measured to a result: which rows stand, and which are missing.


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

    kept: dict[object, tuple[StoredRow, Layouts]] = {}
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


def _kept(boot: Booted, app: App, row: RawRow) -> StoredRow:
    """What the file keeps of a row, but for its samples."""
    name = boot.of(app)
    return StoredRow(
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


# One result of the same rows, measured in several layouts of kernel and apps.


def joined(results: Sequence[Result]) -> Result:
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
        found = {}
        for layout, table in enumerate(tables, 1):
            other = table.get(row.identity)
            wrong = _unlike(row, other) if other is not None else None
            if wrong is not None:
                problems.append(f"layout {layout}: {row.boot}: {row.name}: {wrong}")
            elif other is not None:
                found[layout] = other
        rows.append(_with(row, found) if found else row)
    layouts = tuple(layout for result in results for layout in result.provenance.layouts)
    provenance = msgspec.structs.replace(first.provenance, layouts=layouts)
    return replace(
        first, provenance=provenance, rows=tuple(rows), problems=(*first.problems, *problems)
    )


def _unlike(row: Row, other: Row) -> str | None:
    """Why a row of another layout cannot stand beside this one, if so."""
    for name in SERIES:
        if (row.series(name) is None) != (other.series(name) is None):
            return f"{name} is in one layout only"
    return other.faults[0] if other.faults else None


def _with(row: Row, others: dict[int, Row]) -> Row:
    """The row with its series in further layouts, by their number."""
    series = {
        name: replace(
            one,
            further=tuple(taken for o in others.values() if (taken := o.series(name)) is not None),
        )
        for name in SERIES
        if (one := row.series(name)) is not None
    }
    return replace(row, **series, layouts=(0, *others))  # type: ignore[arg-type]


# From a run to a result: the boots' text becomes the log, and the result is made from that log
# alone, just as `tockmark parse` would make it, plus the provenance that only the run knows.


def result_of(ran: Ran, options: RunOptions, wanted: Selection) -> tuple[Result, str]:
    """The result, and the log that its first layout was made from. The others have none, and
    results/ stays small: what their boots printed, a second run prints again."""
    made, log = by_layout(ran, options, wanted)
    return joined(made), log


def by_layout(ran: Ran, options: RunOptions, wanted: Selection) -> tuple[list[Result], str]:
    """Return what was measured in each layout, and the log of the first."""
    context, varied = _context(ran, options), wanted.of_further_layouts()
    logs = [
        "".join(f"{line}\n" for job in jobs for line in _lines(job, options)) for jobs in ran.jobs
    ]
    made = []
    for number, (log, jobs) in enumerate(zip(logs, ran.jobs, strict=True)):
        own = replace(context, layouts=context.layouts[number : number + 1])
        expected = [Expected(job.boot, job.icache, job.skipped, job.apps.lang) for job in jobs]
        said = [] if number else [*ran.notes]
        said += [f"{job.name}: {job.note}" for job in jobs if job.note]
        decoded = assemble(decode(log.splitlines()))
        meant = varied if number else wanted
        made.append(build(decoded, wanted.catalogue, own, expected, meant, said))
    return made, logs[0]


def _lines(job: Job, options: RunOptions) -> list[str]:
    """What a boot said, between its marks; these say its language, unless all are in C."""
    if not job.started or job.skipped is not None:
        return []
    lang = None if options.langs == ["c"] else job.apps.lang
    begin, end = (
        BootMark(job.boot.name, job.icache, job.boot.group, ends, lang).encode()
        for ends in (False, True)
    )
    return [begin, *job.lines, *([end] if job.ended else [])]


def _context(ran: Ran, options: RunOptions) -> Context:
    return Context(
        kernel=kernel_of(options.kernel, options.board),
        board=board_of(options.board),
        abi=options.abi,
        boots=_boots(ran.jobs[0]),
        layouts=tuple(
            Layout(showable(one.kernel.path.name), one.kernel.sha256, one.link, one.seed)
            for one in ran.layouts
        ),
        cached=sum(job.taken == "cache" for jobs in ran.jobs for job in jobs),
    )


def _boots(jobs: list[Job]) -> tuple[BootRun, ...]:
    """The boots that were laid, each with the cycles that it took."""
    found: dict[tuple[str, Lang], BootRun] = {}
    for job in jobs:
        if job.image is None:
            continue
        key = name, lang = job.boot.name, job.apps.lang
        if key not in found:
            slots = msgspec.convert(job.image.slots, tuple[Slot, ...], from_attributes=True)
            found[key] = BootRun(name, {}, slots, lang)
        found[key].cycles[ICACHE[job.icache]] = job.cycles  # type: ignore[index]
    return tuple(found.values())
