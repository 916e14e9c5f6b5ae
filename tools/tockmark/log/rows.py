# SPDX-License-Identifier: Apache-2.0 OR MIT
"""From protocol records to measured rows: which series belongs to which benchmark, and which do
not count because something was lost before them."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import Literal

from tockmark.log.marks import Mark, durations, of_row
from tockmark.log.protocol import MAX_COUNT, BootMark, Gap, Item, Problem, Record, Restart, expand
from tockmark.suite.catalogue import LANGS, Lang, Params, Reader, RowKey, language, row_key

Clock = Literal["core", "sim"]

SERIES = ("cycles", "instret")
LENGTHS = ("short", "long")  # 1 + n calls of the body in a sample, and 1 + 2 n
PASSES = tuple(f"{length}_{name}" for length in LENGTHS for name in SERIES)
EVENTS = range(3, 13)  # the core's hardware event counters, as Perf command 6 numbers them
PANICKED = ("panicked",)  # an `end` that is not one of all rows
HOW = ("passes", "by", "clock", "from", "to")  # what a bench record may add at its end


@dataclass
class RawRow:
    """One benchmark with one set of parameters, as an app measured it."""

    app: str
    id: str
    params: Params
    inner: int
    asked: int
    clock: Clock = "core"  # or "sim": the simulator's own, which goes on while the core sleeps
    by: Reader = "sampler"  # what reads the core's counters
    passes: int = 0  # n of the series of several passes; 0: there are none
    series: dict[str, list[int]] = field(default_factory=dict)
    events: dict[int, list[int]] = field(default_factory=dict)
    faults: list[str] = field(default_factory=list)  # what is wrong with it, in words

    def key(self) -> RowKey:
        return row_key(self.id, self.params)

    def whole(self) -> bool:
        """Has every series that it should: the simulator counts no instructions."""
        wanted = set(SERIES) if self.clock == "core" else {"cycles"}
        return set(self.series) == wanted | (set(PASSES) if self.passes else set())


@dataclass(frozen=True)
class NoRow:
    """A benchmark that an app gave up (`fail`) or did not try (`skip`), and why."""

    app: str
    kind: str
    id: str
    params: Params
    why: str

    def key(self) -> RowKey:
        return row_key(self.id, self.params)


@dataclass
class App:
    """What one app said of itself, and what it measured."""

    name: str
    begin: dict[str, str] | None = None
    rows: list[RawRow] = field(default_factory=list)
    no_rows: list[NoRow] = field(default_factory=list)
    ended: bool = False
    open: RawRow | None = None  # the bench record that data records now belong to
    last_line: int = 0  # of the log: where its previous record began
    lang: Lang = "c"  # that it is written in


@dataclass
class Booted:
    """What one boot said. Without a mark in the log, name and cache setting are not known."""

    name: str | None = None
    icache: bool | None = None
    reporter: str | None = None  # the app that may report, if a mark says so
    apps: dict[str, App] = field(default_factory=dict)
    marks: list[Mark] = field(default_factory=list)  # of the simulator's clock
    closed: bool = False  # by an end that fits its mark: all between is this boot's
    lang: Lang | None = None  # of its apps, if a mark says so

    def of(self, app: App) -> str:
        """The boot's name; a boot without one is called by the app."""
        return self.name or app.name


@dataclass
class Measured:
    """All of a log."""

    boots: list[Booted] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    ends: bool = False  # the log has ends of boots, as all have that `tockmark run` writes now
    langs: set[Lang] = field(default_factory=set)  # that its marks say

    def each(self) -> Iterator[tuple[Booted, App]]:
        """Every app of every boot."""
        return ((boot, app) for boot in self.boots for app in boot.apps.values())


def assemble(records: Iterable[Item]) -> Measured:
    """Put the records of a whole log together."""
    measured = Measured()
    for record in records:
        take(measured, record)
    for boot in measured.boots:
        announced(measured, boot)
        if measured.ends and boot.name is not None and not boot.closed:
            what = f"the end of the boot {boot.name} is missing: what follows it may be another's"
            measured.problems.append(Problem(boot.reporter, what))
            boot.name = boot.icache = None
    _attribute(measured)
    return measured


def take(measured: Measured, record: Item) -> None:
    """Add one record, begin a boot, keep a mark of the simulator, or note one problem."""
    if isinstance(record, BootMark) and record.lang:
        measured.langs.add(record.lang)
    if isinstance(record, BootMark) and record.ends:
        measured.ends = True
        boot = measured.boots[-1] if measured.boots else Booted()
        mark = record.name, record.icache, record.app, record.lang
        own = boot.name, boot.icache, boot.reporter, boot.lang
        boot.closed = not boot.closed and own == mark
        return
    if isinstance(record, BootMark):
        measured.boots.append(Booted(record.name, record.icache, record.app, lang=record.lang))
        return
    if isinstance(record, Mark):
        measured.boots = measured.boots or [Booted()]
        measured.boots[-1].marks.append(record)
        return
    if isinstance(record, Problem):
        measured.problems.append(record)
        if isinstance(record, Restart) and record.app:
            _boot_of(measured, record.app, restarted=True).apps[record.app] = App(record.app)
        elif isinstance(record, Gap) and record.app:
            _boot_of(measured, record.app).apps.setdefault(record.app, App(record.app)).open = None
        return
    if _of_a_panic_beside(measured, record):
        return
    boot = _boot_of(measured, record.app)
    app = boot.apps.setdefault(record.app, App(record.app))
    handler = _RECORDS.get(record.kind)
    try:
        if handler is None:
            raise ValueError("there is no such record")
        handler(app, record)
        if app.open is not None and app.open.clock == "sim":
            _take_marks(boot, app, record)
    except ValueError as error:
        measured.problems.append(Problem(app.name, f"{record.kind}: {error}", record.line))
    app.last_line = record.line


def _of_a_panic_beside(measured: Measured, record: Record) -> bool:
    """Whether a record is one of the two that an app has which measures no rows, and panics."""
    if record.kind == "fail" and record.words == ("panic",):
        what = f"{record.app} {_why(dict(record.pairs))}"
        measured.problems.append(Problem(None, what, record.line))
        return True
    reporter = measured.boots[-1].reporter if measured.boots else None
    beside = reporter is not None and reporter != record.app
    return beside and record.kind == "end" and record.words == PANICKED


def _take_marks(boot: Booted, app: App, record: Record) -> None:
    """The samples of a row by the simulator's clock: the marks since the record before."""
    row, app.open = app.open, None
    assert row is not None
    how = dict(record.pairs)
    if not boot.marks:
        why = "needs the simulator's clock, whose marks this log does not hold"
        _give_up(app, NoRow(app.name, "skip", row.id, row.params, why))
        return
    try:
        seen = of_row(boot.marks, how["from"], app.last_line, record.line)
        samples = durations(seen, how["from"], how["to"], row.asked)
    except ValueError as error:
        _give_up(app, NoRow(app.name, "fail", row.id, row.params, f"marks: {error}"))
        return
    row.series["cycles"] = samples


def _boot_of(measured: Measured, app: str, restarted: bool = False) -> Booted:
    """The boot that now speaks. An app that cannot be of the marked one tells that a mark was
    lost: what follows is of a boot of which nothing is known."""
    if not measured.boots:
        measured.boots.append(Booted())
    boot = measured.boots[-1]
    if boot.reporter is not None and (restarted or app != boot.reporter or boot.closed):
        what = f"the mark of a boot is missing: {app} reports in the boot {boot.name}"
        measured.problems.append(Problem(app, what))
        boot = Booted()
        measured.boots.append(boot)
    return boot


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
            measured.problems.append(Problem(app.name, what))
        unsure = measured.langs and measured.ends and not boot.closed
        if unsure or (own is None and others):
            what = "left out: of which language it is was lost"
            measured.problems.append(Problem(app.name, what))
            del boot.apps[app.name]
        else:
            app.lang = own or first


def announced(measured: Measured, boot: Booted) -> None:
    """Count the apps of a boot: its first `begin` says how many there are."""
    left = 0
    for app in boot.apps.values():
        if app.begin is not None and left == 0:
            left = int(app.begin["apps"])
        left = max(left - 1, 0)
    if left:
        what = f"{left} of the announced apps never began"
        measured.problems.append(Problem(None, what))


def _begin(app: App, record: Record) -> None:
    begin = _unique(record.pairs)
    if begin.get("proto") != "1":
        raise ValueError(f"this tool reads proto=1, not proto={begin.get('proto', '')}")
    _count(begin.get("apps", ""), "apps")
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
    row = RawRow(app.name, id_, params, _count(inner, "inner"), _count(asked, "n"))
    if any((key in how) != ("clock" in how) for key in ("from", "to")):
        raise ValueError("clock=sim, from and to belong together")
    row.clock = "sim" if "clock" in how else "core"
    row.passes = _count(how["passes"], "passes") if "passes" in how else 0
    row.by = "reading" if "by" in how else "sampler"
    if any(row.key() == other.key() for other in app.rows):
        raise ValueError(f"{id_} was measured before; the first is kept")
    app.open = row
    app.rows.append(row)


def _data(app: App, record: Record) -> None:
    name, *runs = record.words
    if name not in (*SERIES, *PASSES, "events"):
        raise ValueError(f"unknown series {name!r}")
    if app.open is None:
        raise ValueError(f"{name} does not count: something was lost between it and its bench")
    if name in PASSES and not app.open.passes:
        raise ValueError(f"{name} of a row without passes")
    if name in app.open.series or (name == "events" and app.open.events):
        raise ValueError(f"{name} came twice")
    if name == "events":
        events = {n: expand(run) for n, run in zip(EVENTS, runs, strict=True)}
        if most := [taken for taken in events.values() if len(taken) > app.open.asked]:
            raise ValueError(f"{len(most[0])} samples of an event, but {app.open.asked} asked for")
        app.open.events = events
        return
    samples = expand(" ".join(runs))
    if len(samples) > app.open.asked:
        raise ValueError(f"{len(samples)} samples of {name}, but {app.open.asked} were asked for")
    length = name.rpartition("_")[0]
    others = [s for other, s in app.open.series.items() if other.rpartition("_")[0] == length]
    if any(len(samples) != len(other) for other in others):
        raise ValueError(f"{name} has another number of samples than the series before")
    app.open.series[name] = samples


def _fail(app: App, record: Record) -> None:
    id_, params, (call, err) = _named(record, "call", "err")
    _give_up(app, NoRow(app.name, record.kind, id_, params, _why({"call": call, "err": err})))


def _why(pairs: dict[str, str]) -> str:
    """What a fail record says, in words."""
    call, error = pairs.get("call", "?"), pairs.get("err", "?")
    return f"panicked at {error}" if call == "panic" else f"{call} returned {error}"


def _skip(app: App, record: Record) -> None:
    id_, params, (reason,) = _named(record, "reason")
    _give_up(app, NoRow(app.name, record.kind, id_, params, reason))


def _give_up(app: App, dropped: NoRow) -> None:
    app.no_rows.append(dropped)
    app.open = None
    # A benchmark that failed half way has no row, whatever it printed before.
    app.rows = [r for r in app.rows if (r.id, r.params) != (dropped.id, dropped.params)]


def _end(app: App, record: Record) -> None:
    app.open = None
    if record.words == PANICKED:
        raise ValueError("the app panicked: what it had not measured by then is missing")
    if record.words != ("ok",):
        raise ValueError(f"the app ended with '{' '.join(record.words)}'")
    app.ended = True


def _how(record: Record) -> tuple[Record, dict[str, str]]:
    """The record without the pairs that may stand behind n, and these."""
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
    """The one id, its parameters, and the values of the keys that must end the record."""
    params, own = record.pairs[: -len(keys)], record.pairs[-len(keys) :]
    if len(record.words) != 1 or [name for name, _ in own] != list(keys):
        raise ValueError(f"an id, its parameters and {', '.join(keys)} must stand there")
    typed = {
        name: int(text) if text.isdecimal() and int(text) <= MAX_COUNT else text
        for name, text in _unique(params).items()
    }
    return record.words[0], typed, [text for _, text in own]


_RECORDS = {
    "begin": _begin,
    "bench": _bench,
    "data": _data,
    "fail": _fail,
    "skip": _skip,
    "end": _end,
}
