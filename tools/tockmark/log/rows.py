# SPDX-License-Identifier: Apache-2.0 OR MIT
"""From protocol records to measured rows: which series belongs to which benchmark, and which do
not count because something was lost before them."""

from collections.abc import Iterable
from dataclasses import replace
from itertools import pairwise

from tockmark.log import boots
from tockmark.log.marks import Mark, durations
from tockmark.log.measured import EVENTS, PASSES, SERIES, App, Booted, Measured, NoRow, RawRow
from tockmark.log.protocol import (
    CLOSED,
    MAX_COUNT,
    Back,
    BootMark,
    Cut,
    Gap,
    Item,
    Problem,
    Record,
    Restart,
    expand,
)
from tockmark.suite.catalogue import Params, language

PANICKED = ("panicked",)  # an `end` that is not one of all rows
HOW = ("passes", "by", "clock", "from", "to")  # what a bench record may add at its end


def assemble(records: Iterable[Item]) -> Measured:
    """Put the records of a whole log together."""
    measured = Measured()
    for record in records:
        take(measured, record)
    boots.settle(measured)
    return measured


def take(measured: Measured, record: Item) -> None:
    """Add one record, begin a boot, keep a mark of the simulator, or note one problem."""
    if isinstance(record, BootMark):
        boots.mark(measured, record)
    elif isinstance(record, Mark):
        measured.boots = measured.boots or [Booted()]
        measured.boots[-1].marks.append(record)
    elif isinstance(record, Restart) and record.app:
        measured.again[record.app] = record  # what its begin says tells whether it is of this boot
    elif isinstance(record, Problem):
        measured.problems.append(record)
        if isinstance(record, Gap) and record.app:
            boot = boots.speaking(measured, record.app, back=isinstance(record, Back))
            app = boot.apps.setdefault(record.app, App(record.app))
            app.open, app.lost = None, app.lost or not isinstance(record, Cut)
    elif not _of_a_panic_beside(measured, record):
        _take_record(measured, record)


def _take_record(measured: Measured, record: Record) -> None:
    """Add one record of an app."""
    try:
        begins = boots.said(_unique(record.pairs)) if record.kind == "begin" else None
    except ValueError as error:
        measured.problems.append(Problem(record.app, f"{record.kind}: {error}", record.line))
        begins = None
    boot = boots.speaking(measured, record.app, begins)
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
        seen = boot.marks.of_row(how["from"], how["to"], app.last_line, record.line)
        samples = durations(seen, how["from"], how["to"], row.asked)
    except ValueError as error:
        _give_up(app, NoRow(app.name, "fail", row.id, row.params, f"marks: {error}"))
        return
    row.series["cycles"] = samples


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
    row = RawRow(app.name, id_, params, _count(inner, "inner"), _count(asked, "n"))
    if any((key in how) != ("clock" in how) for key in ("from", "to")):
        raise ValueError("clock=sim, from and to belong together")
    row.clock = "sim" if "clock" in how else "core"
    row.passes = _count(how["passes"], "passes") if "passes" in how else 0
    row.by = "reading" if "by" in how else "sampler"
    app.add(row)
    app.open = row


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
    app.found.pop(dropped.key(), None)


def _end(app: App, record: Record) -> None:
    app.open = None
    if record.words == PANICKED:
        raise ValueError("the app panicked: what it had not measured by then is missing")
    if record.words != ("ok",):
        raise ValueError(f"the app ended with '{' '.join(record.words)}'")
    image, own = dict(record.pairs).get("image"), (app.begin or {}).get("image")
    if None not in (image, own) and image != own:
        app.found, app.no_rows = {}, []  # a piece was lost, from within one boot to within another
        raise ValueError(f"of image {image}, but its begin of {own}; what it said is left out")
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
