# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Assemble the records of a log into rows, by app and by boot.

The boot of a record is known from the marks in the log or, without marks, from what the apps print.
Nothing is guessed: if marks and apps contradict each other, or the evidence was lost, the boot has
no name (docs/contributing.md). A series counts only if nothing was lost before it. Everything that
is wrong becomes a problem of `Measured`.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import astuple, dataclass, field, replace
from itertools import pairwise
from typing import NamedTuple

from msgspec import structs

from tockmark.base.documents import DIGITS, MAX_COUNT
from tockmark.suite.catalogue import (
    COUNTERS,
    LANGS,
    PERF,
    CounterName,
    Key,
    Lang,
    Params,
    parse_language,
)
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
    expand,
    intervals,
)
from tockmark.wire.rows import EVENTS, PASSES, SERIES, Absent, Extra, StoredRow


@dataclass
class App:
    """An app of a boot: what it prints about itself, and its rows."""

    name: str
    begin: dict[str, str] | None = None
    rows_by_key: dict[Key, StoredRow] = field(default_factory=dict)
    absent_rows: list[tuple[str, Absent]] = field(default_factory=list)  # with `fail` or `skip`
    ended: bool = False
    lost: bool = False  # some of its lines were lost
    open_row: StoredRow | None = None  # the row of the next data records
    lengths: dict[str, int] = field(default_factory=dict)  # samples per series of the open row
    stacks: dict[Key, int] = field(default_factory=dict)  # of rows whose bench record follows
    extra: dict[Key, Extra] = field(default_factory=dict)  # of such rows
    last_line: int = 0  # of the log, where its previous record begins
    lang: Lang = "c"

    @property
    def rows(self) -> tuple[StoredRow, ...]:
        """The rows that the app measured."""
        return tuple(self.rows_by_key.values())

    @property
    def counter(self) -> CounterName:
        """The counter that it reads; Perf if it does not say."""
        return next((counter for counter in COUNTERS if counter in (self.begin or {})), PERF)

    @property
    def only(self) -> int:
        """The benchmarks that it was told to run, one bit each; 0: all."""
        return int((self.begin or {}).get("only", 0)) & ~(1 << 31)

    def store(self, row: StoredRow) -> None:
        """Store a row. The next data records belong to it."""
        self.open_row = self.rows_by_key[row.key] = row


@dataclass(eq=False)  # compared by identity
class MeasuredBoot:
    """A boot in a log. A mark or an app gives its name; only a mark gives its cache setting."""

    name: str | None = None
    icache: bool | None = None
    reporter: str | None = None  # the app that may report, from the mark
    apps: dict[str, App] = field(default_factory=dict)
    marks: Marks = field(default_factory=Marks)  # of the simulator's clock
    closed: bool = False  # its end mark fits, so all lines before that belong to it
    lang: Lang | None = None  # of its apps, from the mark
    image: str | None = None  # its id, from the app
    # Apps before they began again, in order, each with the problem that reports it.
    earlier_runs: list[tuple[App, Problem]] = field(default_factory=list)

    def name_for(self, app: App) -> str:
        """Return the name of the boot, or of the app if the boot has none."""
        return self.name or app.name


@dataclass
class Measured:
    """The content of a log."""

    boots: list[MeasuredBoot] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    has_ends: bool = False  # it has end marks, as every log of `tockmark run` has now
    langs: set[Lang] = field(default_factory=set)  # from its marks
    restarts: dict[str, Problem] = field(default_factory=dict)  # of apps, until their next begin
    boots_by_name: dict[str, MeasuredBoot] = field(default_factory=dict)  # the names from apps

    def each(self) -> Iterator[tuple[MeasuredBoot, App]]:
        """Return every app with its boot."""
        return ((boot, app) for boot in self.boots for app in boot.apps.values())

    def add_problem(self, app: str | None, message: str, line: int | None = None) -> None:
        """Add a problem."""
        self.problems.append(Problem(app, message, line))

    def open(self, boot: MeasuredBoot) -> MeasuredBoot:
        """Add a boot, or go back to it: it becomes the last. `finish` drops its earlier places."""
        self.boots.append(boot)
        return boot

    @property
    def last(self) -> MeasuredBoot:
        """The current boot. A log that begins without a mark begins with an unnamed boot."""
        return self.boots[-1] if self.boots else self.open(MeasuredBoot())


_IMAGE = re.compile("[0-9a-f]{8}")


class BootOfBegin(NamedTuple):
    """The boot and the image in an app's `begin`."""

    boot: str
    image: str


def parse_boot(begin: dict[str, str]) -> BootOfBegin | None:
    """Return the boot and the image in a `begin`, or None for an older app. ValueError if they are
    not valid."""
    if not {"boot", "image"} & begin.keys():
        return None
    boot, image = begin.get("boot", ""), begin.get("image", "")
    if not re.fullmatch(BOOT_NAME, boot) or not _IMAGE.fullmatch(image):
        raise ValueError(f"boot={boot} image={image} is not a boot and its image")
    return BootOfBegin(boot, image)


def take_boot_mark(measured: Measured, record: BootMark) -> None:
    """Begin a boot at its mark, or end the current boot if the mark fits."""
    if record.lang:
        measured.langs.add(record.lang)
    if not record.ends:
        measured.open(MeasuredBoot(record.name, record.icache, record.app, lang=record.lang))
        return
    measured.has_ends = True
    boot = measured.boots[-1] if measured.boots else MeasuredBoot()
    expected = boot.name, boot.icache, boot.reporter, True, boot.lang
    boot.closed = not boot.closed and expected == astuple(record)


def current_boot(
    measured: Measured, app: str, begins: BootOfBegin | None = None, back: bool = False
) -> MeasuredBoot:
    """Return the boot that an app is running in. `begins` comes from its `begin`, if this is one.
    `back` is true if its sequence numbers went back without a `begin`."""
    boot, again = measured.last, measured.restarts.pop(app, None)
    if boot.reporter is None:
        return _unmarked(measured, boot, app, begins, again)
    app_before = boot.apps.get(app)
    if again is None and not boot.closed and app_before is not None and (back or app_before.ended):
        # Two boots ran since the mark, and it is not known which of them it belongs to.
        anomaly = "goes on after its end" if app_before.ended else "goes back"
        problem = f"{anomaly} without a begin; its records in the boot {boot.name} are ignored"
        measured.add_problem(app, problem)
        boot.apps, boot.earlier_runs, boot.closed = {}, [], True
    return _marked(measured, boot, app, begins, again)


def _marked(
    log: Measured, boot: MeasuredBoot, app: str, begins: BootOfBegin | None, again: Problem | None
) -> MeasuredBoot:
    """Return the boot of an app after a mark. If the app does not fit the mark, another mark was
    lost."""
    is_foreign = app != boot.reporter or boot.closed
    is_other = not is_foreign and begins is not None and begins.boot != boot.name
    is_same_image = begins is not None and not is_other and begins.image == boot.image
    if is_foreign or is_other or (again is not None and not is_same_image):
        if again is not None:
            log.problems.append(again)
        problem = f"the mark of a boot is missing: {app} reports in the boot {boot.name}"
        if is_other and begins is not None:
            problem = f"its begin names the boot {begins.boot}, but the mark names {boot.name}"
        log.add_problem(app, problem)
        return log.open(MeasuredBoot())
    if again is not None:
        _run_again(boot, app, again)
    if begins is not None:
        boot.image = begins.image
    return boot


def _unmarked(
    log: Measured, boot: MeasuredBoot, app: str, begins: BootOfBegin | None, again: Problem | None
) -> MeasuredBoot:
    """Return the boot of an app without a mark: the one that it names, or the only one."""
    if begins is None:
        app_before = boot.apps.get(app)
        if boot.name is not None and (again is not None or app_before is None or app_before.ended):
            log.add_problem(app, "its boot is not known: the line that names it was lost")
            return log.open(MeasuredBoot())
        if again is not None:
            log.problems.append(again)
            boot.apps[app] = App(app)
        return boot
    boot_before = log.boots_by_name.get(begins.boot)
    if boot_before is None:
        if again is not None:
            _report_unended(log, boot, app)
        is_blank = boot.name is None and not boot.apps  # only marks so far, for example
        named = boot if is_blank else log.open(MeasuredBoot())
        named.name, named.image = begins.boot, begins.image
        log.boots_by_name[begins.boot] = named
        return named
    if boot_before is not boot:
        _report_unended(log, boot, app)
        log.open(boot_before)
    if boot_before.image != begins.image:
        problem = "began again from another image; its earlier records are ignored"
        log.add_problem(app, f"the boot {begins.boot} {problem}")
        boot_before.apps, boot_before.earlier_runs, boot_before.image = {}, [], begins.image
    elif app in boot_before.apps:
        _run_again(boot_before, app, again or Problem(app, "began again"))
    return boot_before


def _report_unended(measured: Measured, boot: MeasuredBoot, app: str) -> None:
    """Report that another boot begins before an app has ended."""
    if app in boot.apps and not boot.apps[app].ended:
        name = boot.name_for(boot.apps[app])
        measured.add_problem(app, f"the boot {name} stops before its 'end'")


def _run_again(boot: MeasuredBoot, app: str, again: Problem) -> None:
    """Begin another run of the same image, for example after a reset."""
    boot.earlier_runs.append((boot.apps.get(app, App(app)), again))
    boot.apps[app] = App(app)
    boot.marks = Marks()


def finish(measured: Measured) -> None:
    """Finish at the end of the log: choose one run of each boot, and remove the names of uncertain
    boots."""
    measured.boots = list(dict.fromkeys(reversed(measured.boots)))[::-1]
    for boot in measured.boots:
        for earlier, again in reversed(boot.earlier_runs):
            problem = "began again; its earlier records are ignored"
            # The later run counts, unless only an earlier one ended: a board may be reset once more
            # before it gets its next image.
            if earlier.ended and not boot.apps[earlier.name].ended:
                boot.apps[earlier.name] = earlier
                problem = "began again, and did not end; its earlier records count"
            measured.add_problem(earlier.name, problem, again.line)
        missing = 0
        for app in boot.apps.values():  # the first `begin` of a boot has the number of apps
            if app.begin is not None and missing == 0:
                missing = int(app.begin["apps"])
            missing = max(missing - 1, 0)
        if missing and boot.reporter is None:  # with a mark, the reporter is known
            measured.add_problem(None, f"{missing} of the announced apps never began")
        needs_end = measured.has_ends or (boot.reporter is not None and boot.earlier_runs)
        if needs_end and boot.name is not None and not boot.closed:
            problem = f"the end of the boot {boot.name} is missing, so others may have followed"
            measured.add_problem(boot.reporter, problem)
            boot.name = boot.icache = boot.image = None
    _remove_uncertain_apps(measured)
    _set_languages(measured)


def _remove_uncertain_apps(measured: Measured) -> None:
    """Remove uncertain apps, if apps name their boots: apps without a known boot, and apps that
    lost lines and have no `end` to confirm that the boot is still the same."""
    if not any(app.begin and "boot" in app.begin for _, app in measured.each()):
        return
    for boot, app in list(measured.each()):
        is_uncertain = boot.name is None or (app.lost and not app.ended)
        if is_uncertain and boot.reporter is None:
            measured.add_problem(app.name, "ignored: its boot is not certain, as lines were lost")
            del boot.apps[app.name]


def _set_languages(measured: Measured) -> None:
    """Set the language of each app, from its `begin`, the mark of its boot, or the whole log.
    Remove apps whose language is not certain."""
    langs_by_app: dict[int, Lang] = {
        id(app): parse_language(app.begin["lang"])
        for _, app in measured.each()
        if app.begin and "lang" in app.begin
    }
    first, *other_langs = sorted({*langs_by_app.values(), *measured.langs}) or list(LANGS)[:1]
    for boot, app in list(measured.each()):
        lang = langs_by_app.get(id(app), boot.lang)
        if boot.lang and lang != boot.lang:
            problem = f"its begin has lang={lang}, but the mark of its boot has lang={boot.lang}"
            measured.add_problem(app.name, problem)
        # Without its end mark and a begin, the lines may belong to a boot whose mark was lost.
        is_cut = not boot.closed and (measured.has_ends or app.begin is None)
        is_uncertain = measured.langs and is_cut
        if is_uncertain or (lang is None and other_langs):
            problem = "ignored: its language is not certain, as lines were lost"
            measured.add_problem(app.name, problem)
            del boot.apps[app.name]
        else:
            app.lang = lang or first


PANICKED = ("panicked",)  # words of an `end` after a panic
BENCH_KEYS = ("passes", "by", "clock", "from", "to")  # optional, after n of a bench record


def read_boots(boots: Sequence[Captured]) -> Measured:
    """Return what boots measured, or the content of a log. If no mark gives the cache setting, it
    is the one with which the log was captured."""
    measured = assemble(decode(log_lines(boots)))
    log = next((captured for captured in boots if captured.boot is None), None)
    if log is not None and not any(boot.reporter for boot in measured.boots):
        for boot in measured.boots:
            boot.icache = log.icache
    return measured


def assemble(records: Iterable[Item]) -> Measured:
    """Assemble the records of a whole log."""
    measured = Measured()
    for record in records:
        take(measured, record)
    finish(measured)
    return measured


def take(measured: Measured, record: Item) -> None:
    """Add a record, a boot mark, a mark of the simulator, or a problem."""
    if isinstance(record, BootMark):
        take_boot_mark(measured, record)
    elif isinstance(record, Mark):
        measured.last.marks.append(record)
    elif isinstance(record, Restart) and record.app:
        measured.restarts[record.app] = record  # its begin will tell whether the boot is the same
    elif isinstance(record, Problem):
        measured.problems.append(record)
        if isinstance(record, Gap) and record.app:
            boot = current_boot(measured, record.app, back=isinstance(record, Back))
            app = boot.apps.setdefault(record.app, App(record.app))
            app.open_row, app.lost = None, app.lost or not isinstance(record, Cut)
    elif not _is_panic_of_other_app(measured, record):
        _take_record(measured, record)


def _take_record(measured: Measured, record: Record) -> None:
    """Add a record of an app."""
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
            raise ValueError("unknown record")
        handler(app, record)
        if app.open_row is not None and app.open_row.clock == "sim":
            _take_marks(boot, app, record)
    except ValueError as error:
        measured.add_problem(app.name, f"{record.kind}: {error}", record.line)
    app.last_line = record.line


def _is_panic_of_other_app(measured: Measured, record: Record) -> bool:
    """Return whether a record is of a panic in an app that does not report."""
    if record.kind == "fail" and record.words == ("panic",):
        failure = _format_failure(dict(record.pairs))
        measured.add_problem(None, f"{record.app} {failure}", record.line)
        return True
    reporter = measured.boots[-1].reporter if measured.boots else None
    is_other_app = reporter is not None and reporter != record.app
    return is_other_app and record.kind == "end" and record.words == PANICKED


def _take_marks(boot: MeasuredBoot, app: App, record: Record) -> None:
    """Take the samples of a row from the simulator's marks since the record before."""
    row, app.open_row = app.open_row, None
    assert row is not None
    pairs = dict(record.pairs)
    if not boot.marks:
        why = "needs the simulator's clock, and this log has no marks of it"
        _add_absent(app, "skip", row.id, row.params, why)
        return
    try:
        marks = boot.marks.row_marks(pairs["from"], pairs["to"], app.last_line, record.line)
        spans = intervals(marks, pairs["from"], pairs["to"], row.asked)
        samples = [end - start for start, end in spans]
    except ValueError as error:
        _add_absent(app, "fail", row.id, row.params, f"marks: {error}")
        return
    app.rows_by_key[row.key] = structs.replace(row, cycles_runs=compress(samples))


def _begin(app: App, record: Record) -> None:
    begin = _unique(record.pairs)
    if begin.get("proto") != "1":
        raise ValueError(f"this tool reads proto=1, not proto={begin.get('proto', '')}")
    _count(begin.get("apps", ""), "apps")
    _count(begin.get("only", "1"), "only")
    parse_language(begin.get("lang", "c"))
    app.begin = begin


def _bench(app: App, record: Record) -> None:
    app.open_row = None
    record, optional = _split_bench_keys(record)
    id_, params, (inner, asked) = _named(record, "inner", "n")
    if optional.get("clock", "sim") != "sim":
        raise ValueError("clock can only be sim")
    if optional.get("by", "reading") != "reading":
        raise ValueError("by can only be reading")
    if len({"by", "clock", "passes"} & optional.keys()) > 1:
        raise ValueError("by=reading, clock=sim and passes exclude each other")
    if any((key in optional) != ("clock" in optional) for key in ("from", "to")):
        raise ValueError("clock=sim, from and to belong together")
    row = StoredRow(
        id_,
        app.name,
        inner=_count(inner, "inner"),
        asked=_count(asked, "n"),
        params=params,
        reads=0 if "clock" in optional else 1,  # nothing reads the simulator's clock
        passes=_count(optional["passes"], "passes") if "passes" in optional else 0,
        by="reading" if "by" in optional else "sampler",
        clock="sim" if "clock" in optional else "core",
    )
    if row.key in app.rows_by_key:
        raise ValueError(f"{row.id} was measured before; only the first counts")
    app.lengths = {}
    app.store(structs.replace(row, stack=app.stacks.get(row.key), extra=app.extra.get(row.key, {})))


def _stack(app: App, record: Record) -> None:
    app.open_row = None
    id_, params, (most_bytes,) = _named(record, "bytes")
    row = StoredRow(id_, app.name, asked=1, params=params)
    if row.key in app.stacks:
        raise ValueError(f"the stack of {row.id} was given before; only the first counts")
    app.stacks[row.key] = _count(most_bytes, "bytes")


def _requests(app: App, record: Record) -> None:
    app.open_row = None
    id_, *words = record.words
    params = {name: _typed(name, text) for name, text in _unique(record.pairs).items()}
    row = StoredRow(id_, app.name, asked=1, params=params)
    if row.key in app.extra:
        raise ValueError(f"the requests of {row.id} were given before; only the first count")
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
        raise ValueError("it does not begin with the name of a series")
    for start, end in pairwise((*starts, len(words))):
        _take_series(app, words[start], words[start + 1 : end])


def _take_series(app: App, name: str, runs: tuple[str, ...]) -> None:
    if name not in (*SERIES, *PASSES, "events"):
        raise ValueError(f"unknown series {name!r}")
    if app.open_row is None:
        raise ValueError(f"{name} does not count: lines were lost between it and its bench")
    if name in PASSES and not app.open_row.passes:
        raise ValueError(f"{name} needs a row with passes")
    if getattr(app.open_row, f"{name}_runs") is not None:
        raise ValueError(f"{name} came twice")
    asked = app.open_row.asked
    if name == "events":
        events = [expand(run) for _, run in zip(EVENTS, runs, strict=True)]
        if too_long := [samples for samples in events if len(samples) > asked]:
            raise ValueError(f"{len(too_long[0])} samples of an event, but {asked} asked for")
        app.store(structs.replace(app.open_row, events_runs=" ".join(map(single_run, events))))
        return
    samples = expand(" ".join(runs))
    if len(samples) > asked:
        raise ValueError(f"{len(samples)} samples of {name}, but {asked} were asked for")
    if app.lengths.setdefault(name.rpartition("_")[0], len(samples)) != len(samples):
        raise ValueError(f"{name} has another number of samples than the series before")
    app.store(structs.replace(app.open_row, **{f"{name}_runs": compress(samples)}))


def single_run(samples: Sequence[int]) -> str:
    """Encode a series as a single run, as a log does for events."""
    run = compress(samples)
    return f"({','.join(map(str, samples))})" if " " in run else run


def _fail(app: App, record: Record) -> None:
    id_, params, _ = _named(record, "call", "err")
    _add_absent(app, record.kind, id_, params, _format_failure(dict(record.pairs[-2:])))


def _format_failure(pairs: dict[str, str]) -> str:
    """Return the failure in a fail record in words."""
    call, error = pairs.get("call", "?"), pairs.get("err", "?")
    return f"panicked at {error}" if call == "panic" else f"{call} returned {error}"


def _skip(app: App, record: Record) -> None:
    id_, params, (reason,) = _named(record, "reason")
    _add_absent(app, record.kind, id_, params, reason)


def _add_absent(app: App, kind: str, id_: str, params: Params, why: str) -> None:
    absent = Absent(id_, app.name, params, why=why)
    app.absent_rows.append((kind, absent))
    app.open_row = None
    # It has no row, even if it printed data before.
    app.rows_by_key.pop(absent.key, None)


def _end(app: App, record: Record) -> None:
    app.open_row = None
    if record.words == PANICKED:
        raise ValueError("the app panicked: the rows that it had not measured are missing")
    if record.words != ("ok",):
        raise ValueError(f"the app ended with '{' '.join(record.words)}'")
    image, begin_image = dict(record.pairs).get("image"), (app.begin or {}).get("image")
    if None not in (image, begin_image) and image != begin_image:
        # Lines were lost from within one boot to within another.
        app.rows_by_key, app.absent_rows = {}, []
        raise ValueError(f"of image {image}, but its begin of {begin_image}; all rows are ignored")
    app.ended = True


def _split_bench_keys(record: Record) -> tuple[Record, dict[str, str]]:
    """Return a bench record without the optional keys after n, and these."""
    keys = [key for key, _ in record.pairs]
    end = len(keys)
    while end and keys[end - 1] in BENCH_KEYS and "n" in keys[:end]:
        end -= 1
    if end == 0 or keys[end - 1] != "n":  # they were parameters
        return record, {}
    return replace(record, pairs=record.pairs[:end]), _unique(record.pairs[end:])


def _count(text: str, name: str) -> int:
    if not text.isdecimal() or not 0 < int(text) <= MAX_COUNT:
        raise ValueError(f"{name}={text} is not a positive number, or too large")
    return int(text)


def _unique(pairs: tuple[tuple[str, str], ...]) -> dict[str, str]:
    if len(dict(pairs)) != len(pairs):
        raise ValueError("a name appears twice")
    return dict(pairs)


def _named(record: Record, *keys: str) -> tuple[str, Params, list[str]]:
    """Return the only word, the parameters, and the values of the keys that must come last."""
    params, key_pairs = record.pairs[: -len(keys)], record.pairs[-len(keys) :]
    if len(record.words) != 1 or [name for name, _ in key_pairs] != list(keys):
        raise ValueError(f"it needs an id, its parameters and {', '.join(keys)}")
    typed = {name: _typed(name, text) for name, text in _unique(params).items()}
    return record.words[0], typed, [text for _, text in key_pairs]


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
