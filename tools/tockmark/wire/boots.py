# SPDX-License-Identifier: Apache-2.0 OR MIT
"""From the records of a log to rows as apps measured them, app by app and boot by boot.

Of which boot a record is, the marks of whoever captured the log say or, without them, what the apps
say of themselves. Nothing is guessed: where marks and apps contradict each other, or what would
tell was lost, the boot is one of which nothing is known (docs/contributing.md); and what was lost
before a series keeps it from counting. All that is found amiss becomes a problem of `Measured`.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import astuple, dataclass, field, replace
from itertools import pairwise
from typing import NamedTuple

from msgspec import structs

from tockmark.base.documents import DIGITS, MAX_COUNT
from tockmark.suite.catalogue import COUNTERS, LANGS, PERF, CounterName, Key, Lang, Params, language
from tockmark.wire.captured import Captured, log_lines
from tockmark.wire.records import (
    BOOT_NAME,
    CLOSED,
    Back,
    BootMark,
    Cut,
    Gap,
    Item,
    Mark,
    Marks,
    Problem,
    Record,
    Restart,
    compress,
    decode,
    durations,
    expand,
)
from tockmark.wire.rows import EVENTS, PASSES, SERIES, Absent, Extra, StoredRow


@dataclass
class App:
    """What one app said of itself, and what it measured."""

    name: str
    begin: dict[str, str] | None = None
    rows_by_key: dict[Key, StoredRow] = field(default_factory=dict)  # rows, in their order
    absent_rows: list[tuple[str, Absent]] = field(
        default_factory=list
    )  # `fail` or `skip`, and the row
    ended: bool = False
    lost: bool = False  # something of it was, within
    open: StoredRow | None = None  # the bench record that data records now belong to
    lengths: dict[str, int] = field(default_factory=dict)  # samples in its series, by their LENGTHS
    stacks: dict[Key, int] = field(default_factory=dict)  # of the rows whose bench comes yet
    extra: dict[Key, Extra] = field(default_factory=dict)  # likewise
    last_line: int = 0  # of the log: where its previous record began
    lang: Lang = "c"  # that it is written in

    @property
    def rows(self) -> tuple[StoredRow, ...]:
        """All rows that the app measured."""
        return tuple(self.rows_by_key.values())

    @property
    def counter(self) -> CounterName:
        """What it reads; Perf, if nothing is known."""
        return next((one for one in COUNTERS if one in (self.begin or {})), PERF)

    @property
    def only(self) -> int:
        """The benchmarks that it was told to run, a bit each; 0: all."""
        return int((self.begin or {}).get("only", 0)) & ~(1 << 31)

    def put(self, row: StoredRow) -> None:
        """Take what is now known of a row, to which data records belong from here on."""
        self.open = self.rows_by_key[row.key] = row


@dataclass(eq=False)  # one is found among many by what it is
class MeasuredBoot:
    """What one boot said. Its name is known by a mark in the log, or by what its app says; the
    cache setting by a mark alone."""

    name: str | None = None
    icache: bool | None = None
    reporter: str | None = None  # the app that may report, if a mark says so
    apps: dict[str, App] = field(default_factory=dict)
    marks: Marks = field(default_factory=Marks)  # of the simulator's clock
    closed: bool = False  # by an end that fits its mark: all between is this boot's
    lang: Lang | None = None  # of its apps, if a mark says so
    image: str | None = None  # that it ran, if its app says so
    # What apps said before they began again, each with where it did, in their order.
    runs: list[tuple[App, Problem]] = field(default_factory=list)

    def name_for(self, app: App) -> str:
        """Return the name of the boot; a boot without one has the name of the app."""
        return self.name or app.name


@dataclass
class Measured:
    """All that a log holds."""

    boots: list[MeasuredBoot] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    ends: bool = False  # the log has ends of boots, as all have that `tockmark run` writes now
    langs: set[Lang] = field(default_factory=set)  # that its marks say
    again: dict[str, Problem] = field(default_factory=dict)  # apps whose next record is a new begin
    named: dict[str, MeasuredBoot] = field(
        default_factory=dict
    )  # those that apps named, by that name

    def each(self) -> Iterator[tuple[MeasuredBoot, App]]:
        """Return every app of every boot."""
        return ((boot, app) for boot in self.boots for app in boot.apps.values())

    def add_problem(self, app: str | None, what: str, line: int | None = None) -> None:
        """Note a problem."""
        self.problems.append(Problem(app, what, line))

    def open(self, boot: MeasuredBoot) -> MeasuredBoot:
        """Begin a boot."""
        self.boots.append(boot)
        return boot

    @property
    def last(self) -> MeasuredBoot:
        """The boot that speaks now; of a log that begins without a mark, one without a name."""
        return self.boots[-1] if self.boots else self.open(MeasuredBoot())


_IMAGE = re.compile("[0-9a-f]{8}")


class BootOfBegin(NamedTuple):
    """The boot and the image that an app's `begin` names."""

    boot: str
    image: str


def parse_boot(begin: dict[str, str]) -> BootOfBegin | None:
    """Return the boot and the image of a `begin`; older apps say none. ValueError if they cannot
    be."""
    if not {"boot", "image"} & begin.keys():
        return None
    boot, image = begin.get("boot", ""), begin.get("image", "")
    if not re.fullmatch(BOOT_NAME, boot) or not _IMAGE.fullmatch(image):
        raise ValueError(f"boot={boot} image={image} is no boot and its image")
    return BootOfBegin(boot, image)


def mark(measured: Measured, record: BootMark) -> None:
    """Begin a boot by its mark, or end the one at hand if the mark fits that."""
    if record.lang:
        measured.langs.add(record.lang)
    if not record.ends:
        measured.open(MeasuredBoot(record.name, record.icache, record.app, lang=record.lang))
        return
    measured.ends = True
    boot = measured.boots[-1] if measured.boots else MeasuredBoot()
    own = boot.name, boot.icache, boot.reporter, True, boot.lang
    boot.closed = not boot.closed and own == astuple(record)


def current_boot(
    measured: Measured, app: str, begins: BootOfBegin | None = None, back: bool = False
) -> MeasuredBoot:
    """Return the boot that an app now speaks in; `begins` is what its `begin` says, if this is one;
    `back` if its lines went back to a smaller number without one."""
    boot, again = measured.last, measured.again.pop(app, None)
    if boot.reporter is None:
        return _unmarked(measured, boot, app, begins, again)
    own = boot.apps.get(app)
    if again is None and not boot.closed and own is not None and (back or own.ended):
        # Two ran since the boot's mark, and which of them is the mark's was lost. All is left out,
        # and what follows is of no known boot.
        how = "goes on after its end" if own.ended else "goes back"
        what = f"{how} without a begin; what it said in the boot {boot.name} is left out"
        measured.add_problem(app, what)
        boot.apps, boot.runs, boot.closed = {}, [], True
    return _marked(measured, boot, app, begins, again)


def _marked(
    measured: Measured,
    boot: MeasuredBoot,
    app: str,
    begins: BootOfBegin | None,
    again: Problem | None,
) -> MeasuredBoot:
    """Return the boot of an app behind a mark. One that cannot be of it tells that a mark was
    lost."""
    strange = app != boot.reporter or boot.closed
    other = not strange and begins is not None and begins.boot != boot.name
    same = begins is not None and not other and begins.image == boot.image
    if strange or other or (again is not None and not same):
        if again is not None:
            measured.problems.append(again)
        what = f"the mark of a boot is missing: {app} reports in the boot {boot.name}"
        if other and begins is not None:
            what = f"its begin says boot={begins.boot}, but the mark of its boot {boot.name}"
        measured.add_problem(app, what)
        return measured.open(MeasuredBoot())
    if again is not None:
        _run_again(boot, app, again)
    if begins is not None:
        boot.image = begins.image
    return boot


def _unmarked(
    measured: Measured,
    boot: MeasuredBoot,
    app: str,
    begins: BootOfBegin | None,
    again: Problem | None,
) -> MeasuredBoot:
    """Return the boot of an app without a mark: the one that it names, or else one of all."""
    if begins is None:
        own = boot.apps.get(app)
        if boot.name is not None and (again is not None or own is None or own.ended):
            measured.add_problem(app, "of which boot it is was lost")
            return measured.open(MeasuredBoot())
        if again is not None:
            measured.problems.append(again)
            boot.apps[app] = App(app)
        return boot
    known = measured.named.get(begins.boot)
    if known is None:
        if again is not None:
            _name_unended(measured, boot, app)
        blank = boot.name is None and not boot.apps  # such as one of which only marks came so far
        named = boot if blank else measured.open(MeasuredBoot())
        named.name, named.image = begins.boot, begins.image
        measured.named[begins.boot] = named
        return named
    if known is not boot:
        _name_unended(measured, boot, app)
        measured.boots.remove(known)
        measured.boots.append(known)
    if known.image != begins.image:
        what = "began again from another image; what came before is set aside"
        measured.add_problem(app, f"the boot {begins.boot} {what}")
        known.apps, known.runs, known.image = {}, [], begins.image
    elif app in known.apps:
        _run_again(known, app, again or Problem(app, "began again"))
    return known


def _name_unended(measured: Measured, boot: MeasuredBoot, app: str) -> None:
    """Another boot begins; the decoder keeps of an app that speaks in both the last end only."""
    if app in boot.apps and not boot.apps[app].ended:
        measured.add_problem(
            app, f"the boot {boot.name_for(boot.apps[app])} stops before its 'end'"
        )


def _run_again(boot: MeasuredBoot, app: str, again: Problem) -> None:
    """Begin a second run of an image that has begun before, as after a reset."""
    boot.runs.append((boot.apps.get(app, App(app)), again))
    boot.apps[app] = App(app)
    boot.marks = Marks()


def finish(measured: Measured) -> None:
    """The log is over: choose among the runs of each boot, and take the names of boots back of
    which not everything is certain."""
    for boot in measured.boots:
        for before, again in reversed(boot.runs):
            what = "began again; what came before is set aside"
            # The later run counts; but if it did not end, one that did: a board may be reset once
            # more before it is given its next image.
            if before.ended and not boot.apps[before.name].ended:
                boot.apps[before.name] = before
                what = "began again, and did not end; what came before counts"
            measured.add_problem(before.name, what, again.line)
        left = 0
        for app in boot.apps.values():  # the first `begin` of a boot says how many there are
            if app.begin is not None and left == 0:
                left = int(app.begin["apps"])
            left = max(left - 1, 0)
        if left and boot.reporter is None:  # else whoever laid the image knows, and its mark says
            measured.add_problem(None, f"{left} of the announced apps never began")
        needs_end = measured.ends or (boot.reporter is not None and boot.runs)
        if needs_end and boot.name is not None and not boot.closed:
            what = f"the end of the boot {boot.name} is missing: what follows it may be another's"
            measured.add_problem(boot.reporter, what)
            boot.name = boot.icache = boot.image = None
    _leave_out_strays(measured)
    _attribute(measured)


def _leave_out_strays(measured: Measured) -> None:
    """Leave out, where apps name their boots, what could be of any for want of a mark: an app whose
    boot was lost, and one of which a piece was lost whose end does not say that it is the same
    behind that."""
    if not any(app.begin and "boot" in app.begin for _, app in measured.each()):
        return
    for boot, app in list(measured.each()):
        unsure = boot.name is None or (app.lost and not app.ended)
        if unsure and boot.reporter is None:
            measured.add_problem(
                app.name, "left out: of which boot it is was lost, or is not certain"
            )
            del boot.apps[app.name]


def _attribute(measured: Measured) -> None:
    """Give every app its language: what its `begin` says, or its boot's mark, or all of the log.
    Where that is not certain it is left out, so that no language's rows pass as another's."""
    begun: dict[int, Lang] = {
        id(app): language(app.begin["lang"])
        for _, app in measured.each()
        if app.begin and "lang" in app.begin
    }
    first, *others = sorted({*begun.values(), *measured.langs}) or list(LANGS)[:1]
    for boot, app in list(measured.each()):
        own = begun.get(id(app), boot.lang)
        if boot.lang and own != boot.lang:
            what = f"its begin says lang={own}, but the mark of its boot lang={boot.lang}"
            measured.add_problem(app.name, what)
        # Without its end and its begin a boot may have lent its mark to another's lines.
        torn = not boot.closed and (measured.ends or app.begin is None)
        unsure = measured.langs and torn
        if unsure or (own is None and others):
            measured.add_problem(app.name, "left out: of which language it is was lost")
            del boot.apps[app.name]
        else:
            app.lang = own or first


PANICKED = ("panicked",)  # an `end` that is not one of all rows
HOW = ("passes", "by", "clock", "from", "to")  # what a bench record may add at its end


def read_boots(boots: Sequence[Captured]) -> Measured:
    """Return what boots measured, or what a log of them holds. Where no mark of a log says the
    setting of the cache, whoever captured it does."""
    measured = assemble(decode(log_lines(boots)))
    log = next((captured for captured in boots if captured.boot is None), None)
    if log is not None and not any(boot.reporter for boot in measured.boots):
        for boot in measured.boots:
            boot.icache = log.icache
    return measured


def assemble(records: Iterable[Item]) -> Measured:
    """Put the records of a whole log together."""
    measured = Measured()
    for record in records:
        take(measured, record)
    finish(measured)
    return measured


def take(measured: Measured, record: Item) -> None:
    """Add one record, begin a boot, keep a mark of the simulator, or note one problem."""
    if isinstance(record, BootMark):
        mark(measured, record)
    elif isinstance(record, Mark):
        measured.last.marks.append(record)
    elif isinstance(record, Restart) and record.app:
        measured.again[record.app] = record  # what its begin says tells whether it is of this boot
    elif isinstance(record, Problem):
        measured.problems.append(record)
        if isinstance(record, Gap) and record.app:
            boot = current_boot(measured, record.app, back=isinstance(record, Back))
            app = boot.apps.setdefault(record.app, App(record.app))
            app.open, app.lost = None, app.lost or not isinstance(record, Cut)
    elif not _of_a_panic_beside(measured, record):
        _take_record(measured, record)


def _take_record(measured: Measured, record: Record) -> None:
    """Add one record of an app."""
    try:
        begins = parse_boot(_unique(record.pairs)) if record.kind == "begin" else None
    except ValueError as error:
        measured.add_problem(record.app, f"{record.kind}: {error}", record.line)
        begins = None
    boot = current_boot(measured, record.app, begins)
    app = boot.apps.setdefault(record.app, App(record.app))
    handler = _RECORDS.get(record.kind)
    try:
        if handler is None:
            raise ValueError("there is no such record")
        handler(app, record)
        if app.open is not None and app.open.clock == "sim":
            _take_marks(boot, app, record)
    except ValueError as error:
        measured.add_problem(app.name, f"{record.kind}: {error}", record.line)
    app.last_line = record.line


def _of_a_panic_beside(measured: Measured, record: Record) -> bool:
    """Return whether a record is one of the two that an app has which measures no rows, and
    panics."""
    if record.kind == "fail" and record.words == ("panic",):
        measured.add_problem(None, f"{record.app} {_why(dict(record.pairs))}", record.line)
        return True
    reporter = measured.boots[-1].reporter if measured.boots else None
    beside = reporter is not None and reporter != record.app
    return beside and record.kind == "end" and record.words == PANICKED


def _take_marks(boot: MeasuredBoot, app: App, record: Record) -> None:
    """Take the samples of a row by the simulator's clock: the marks since the record before."""
    row, app.open = app.open, None
    assert row is not None
    how = dict(record.pairs)
    if not boot.marks:
        why = "needs the simulator's clock, whose marks this log does not hold"
        _give_up(app, "skip", row.id, row.params, why)
        return
    try:
        seen = boot.marks.of_row(how["from"], how["to"], app.last_line, record.line)
        samples = durations(seen, how["from"], how["to"], row.asked)
    except ValueError as error:
        _give_up(app, "fail", row.id, row.params, f"marks: {error}")
        return
    app.rows_by_key[row.key] = structs.replace(row, cycles_runs=compress(samples))


def _begin(app: App, record: Record) -> None:
    begin = _unique(record.pairs)
    if begin.get("proto") != "1":
        raise ValueError(f"this tool reads proto=1, not proto={begin.get('proto', '')}")
    _count(begin.get("apps", ""), "apps")
    _count(begin.get("only", "1"), "only")
    language(begin.get("lang", "c"))
    app.begin = begin


def _bench(app: App, record: Record) -> None:
    app.open = None
    record, how = _how(record)
    id_, params, (inner, asked) = _named(record, "inner", "n")
    if how.get("clock", "sim") != "sim":
        raise ValueError("clock is sim, if it is given")
    if how.get("by", "reading") != "reading":
        raise ValueError("by is reading, if it is given")
    if len({"by", "clock", "passes"} & how.keys()) > 1:
        raise ValueError("a row is by=reading, or clock=sim, or has passes")
    if any((key in how) != ("clock" in how) for key in ("from", "to")):
        raise ValueError("clock=sim, from and to belong together")
    row = StoredRow(
        id_,
        app.name,
        inner=_count(inner, "inner"),
        asked=_count(asked, "n"),
        params=params,
        reads=0 if "clock" in how else 1,  # nothing reads the simulator's clock
        passes=_count(how["passes"], "passes") if "passes" in how else 0,
        by="reading" if "by" in how else "sampler",
        clock="sim" if "clock" in how else "core",
    )
    if row.key in app.rows_by_key:
        raise ValueError(f"{row.id} was measured before; the first is kept")
    app.lengths = {}
    app.put(structs.replace(row, stack=app.stacks.get(row.key), extra=app.extra.get(row.key, {})))


def _stack(app: App, record: Record) -> None:
    app.open = None
    id_, params, (most,) = _named(record, "bytes")
    row = StoredRow(id_, app.name, asked=1, params=params)
    if row.key in app.stacks:
        raise ValueError(f"the stack of {row.id} was told before; the first is kept")
    app.stacks[row.key] = _count(most, "bytes")


def _requests(app: App, record: Record) -> None:
    app.open = None
    id_, *words = record.words
    params = {name: _typed(name, text) for name, text in _unique(record.pairs).items()}
    row = StoredRow(id_, app.name, asked=1, params=params)
    if row.key in app.extra:
        raise ValueError(f"the requests of {row.id} were told before; the first are kept")
    starts = [i for i, word in enumerate(words) if word[0].isalpha()]
    series = {
        words[start]: expand(" ".join(words[start + 1 : end]))
        for start, end in pairwise((*starts, len(words)))
    }
    if len({len(samples) for samples in series.values()}) != 1:
        raise ValueError("its series have different lengths")
    app.extra[row.key] = {name: compress(samples) for name, samples in series.items()}


def _data(app: App, record: Record) -> None:
    words = record.words[: -1 if record.words[-1:] == (CLOSED,) else None]
    starts = [i for i, word in enumerate(words) if word[0].isalpha()] or [0]
    if starts[0] or not words:
        raise ValueError("it begins with no name of a series")
    for start, end in pairwise((*starts, len(words))):
        _take_series(app, words[start], words[start + 1 : end])


def _take_series(app: App, name: str, runs: tuple[str, ...]) -> None:
    if name not in (*SERIES, *PASSES, "events"):
        raise ValueError(f"unknown series {name!r}")
    if app.open is None:
        raise ValueError(f"{name} does not count: something was lost between it and its bench")
    if name in PASSES and not app.open.passes:
        raise ValueError(f"{name} of a row without passes")
    if getattr(app.open, f"{name}_runs") is not None:
        raise ValueError(f"{name} came twice")
    if name == "events":
        events = [expand(run) for _, run in zip(EVENTS, runs, strict=True)]
        if most := [taken for taken in events if len(taken) > app.open.asked]:
            raise ValueError(f"{len(most[0])} samples of an event, but {app.open.asked} asked for")
        app.put(structs.replace(app.open, events_runs=" ".join(map(single_run, events))))
        return
    samples = expand(" ".join(runs))
    if len(samples) > app.open.asked:
        raise ValueError(f"{len(samples)} samples of {name}, but {app.open.asked} were asked for")
    if app.lengths.setdefault(name.rpartition("_")[0], len(samples)) != len(samples):
        raise ValueError(f"{name} has another number of samples than the series before")
    app.put(structs.replace(app.open, **{f"{name}_runs": compress(samples)}))


def single_run(samples: Sequence[int]) -> str:
    """Encode a series as the one run that it was in the log."""
    run = compress(samples)
    return f"({','.join(map(str, samples))})" if " " in run else run


def _fail(app: App, record: Record) -> None:
    id_, params, _ = _named(record, "call", "err")
    _give_up(app, record.kind, id_, params, _why(dict(record.pairs[-2:])))


def _why(pairs: dict[str, str]) -> str:
    """Return what a fail record says, in words."""
    call, error = pairs.get("call", "?"), pairs.get("err", "?")
    return f"panicked at {error}" if call == "panic" else f"{call} returned {error}"


def _skip(app: App, record: Record) -> None:
    id_, params, (reason,) = _named(record, "reason")
    _give_up(app, record.kind, id_, params, reason)


def _give_up(app: App, kind: str, id_: str, params: Params, why: str) -> None:
    gone = Absent(id_, app.name, params, why=why)
    app.absent_rows.append((kind, gone))
    app.open = None
    # A benchmark that failed half way has no row, whatever it printed before.
    app.rows_by_key.pop(gone.key, None)


def _end(app: App, record: Record) -> None:
    app.open = None
    if record.words == PANICKED:
        raise ValueError("the app panicked: what it had not measured by then is missing")
    if record.words != ("ok",):
        raise ValueError(f"the app ended with '{' '.join(record.words)}'")
    image, own = dict(record.pairs).get("image"), (app.begin or {}).get("image")
    if None not in (image, own) and image != own:
        app.rows_by_key, app.absent_rows = (
            {},
            [],
        )  # a piece was lost, from within one boot to within another
        raise ValueError(f"of image {image}, but its begin of {own}; what it said is left out")
    app.ended = True


def _how(record: Record) -> tuple[Record, dict[str, str]]:
    """Return the record without the pairs that may stand behind n, and these."""
    end = len(record.pairs)
    while end and record.pairs[end - 1][0] in HOW and any(k == "n" for k, _ in record.pairs[:end]):
        end -= 1
    if end == 0 or record.pairs[end - 1][0] != "n":  # they were parameters
        return record, {}
    return replace(record, pairs=record.pairs[:end]), _unique(record.pairs[end:])


def _count(text: str, name: str) -> int:
    if not text.isdecimal() or not 0 < int(text) <= MAX_COUNT:
        raise ValueError(f"{name}={text} is not a positive number, or too large")
    return int(text)


def _unique(pairs: tuple[tuple[str, str], ...]) -> dict[str, str]:
    if len(dict(pairs)) != len(pairs):
        raise ValueError("a name is given twice")
    return dict(pairs)


def _named(record: Record, *keys: str) -> tuple[str, Params, list[str]]:
    """Return the one id, its parameters, and the values of the keys that must end the record."""
    params, own = record.pairs[: -len(keys)], record.pairs[-len(keys) :]
    if len(record.words) != 1 or [name for name, _ in own] != list(keys):
        raise ValueError(f"an id, its parameters and {', '.join(keys)} must stand there")
    typed = {name: _typed(name, text) for name, text in _unique(params).items()}
    return record.words[0], typed, [text for _, text in own]


def _typed(name: str, text: str) -> int | str:
    """Return a parameter as a number if it is one."""
    if not re.fullmatch(DIGITS, text):
        return text
    if len(text) > len(str(MAX_COUNT)) or abs(int(text)) > MAX_COUNT:
        raise ValueError(f"{name}={text} is too large")
    return int(text)


_RECORDS = {
    "begin": _begin,
    "bench": _bench,
    "stack": _stack,
    "requests": _requests,
    "data": _data,
    "fail": _fail,
    "skip": _skip,
    "end": _end,
}
