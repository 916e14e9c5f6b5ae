# SPDX-License-Identifier: Apache-2.0 OR MIT
"""From protocol records to measured rows: which series belongs to which benchmark, and which do
not count because something was lost before them."""

from collections.abc import Iterable
from dataclasses import dataclass, field

from tockmark.catalogue import Params
from tockmark.protocol import Gap, Problem, Record, Restart, expand

SERIES = ("cycles", "instret")


@dataclass
class Row:
    """One benchmark with one set of parameters, as an app measured it."""

    app: str
    id: str
    params: Params
    inner: int
    asked: int
    series: dict[str, list[int]] = field(default_factory=dict)

    def key(self) -> tuple[str, str, frozenset[tuple[str, int | str]]]:
        return self.app, self.id, frozenset(self.params.items())


@dataclass(frozen=True)
class NoRow:
    """A benchmark that an app gave up (`fail`) or did not try (`skip`), and why."""

    app: str
    kind: str
    id: str
    params: Params
    why: str


@dataclass
class App:
    """What one app said of itself, and what it measured."""

    name: str
    begin: dict[str, str] | None = None
    rows: list[Row] = field(default_factory=list)
    no_rows: list[NoRow] = field(default_factory=list)
    ended: bool = False
    open: Row | None = None  # the bench record that data records now belong to


@dataclass
class Measured:
    """All of a log."""

    apps: dict[str, App] = field(default_factory=dict)
    problems: list[Problem] = field(default_factory=list)

    def rows(self) -> list[Row]:
        return [row for app in self.apps.values() for row in app.rows]


def assemble(records: Iterable[Record | Problem]) -> Measured:
    """Put the records of a whole log together."""
    measured = Measured()
    for record in records:
        take(measured, record)
    announced(measured)
    return measured


def take(measured: Measured, record: Record | Problem) -> None:
    """Add one record, or note one problem."""
    if isinstance(record, Problem):
        measured.problems.append(record)
        if isinstance(record, Restart) and record.app:
            measured.apps[record.app] = App(record.app)
        elif isinstance(record, Gap) and record.app:
            measured.apps.setdefault(record.app, App(record.app)).open = None
        return
    app = measured.apps.setdefault(record.app, App(record.app))
    handler = _RECORDS.get(record.kind)
    try:
        if handler is None:
            raise ValueError("there is no such record")
        handler(app, record)
    except ValueError as error:
        measured.problems.append(Problem(app.name, f"{record.kind}: {error}", record.line))


def announced(measured: Measured) -> None:
    """Count the apps of each boot: its first `begin` says how many there are."""
    left = 0
    for app in measured.apps.values():
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
    app.begin = begin


def _bench(app: App, record: Record) -> None:
    app.open = None
    id_, params, (inner, asked) = _named(record, "inner", "n")
    row = Row(app.name, id_, params, _count(inner, "inner"), _count(asked, "n"))
    if any(row.key() == other.key() for other in app.rows):
        raise ValueError(f"{id_} was measured before; the first is kept")
    app.open = row
    app.rows.append(row)


def _data(app: App, record: Record) -> None:
    name, *runs = record.words
    if name not in SERIES:
        raise ValueError(f"unknown series {name!r}")
    if app.open is None:
        raise ValueError(f"{name} does not count: something was lost between it and its bench")
    if name in app.open.series:
        raise ValueError(f"{name} came twice")
    samples = expand(" ".join(runs))
    if len(samples) > app.open.asked:
        raise ValueError(f"{len(samples)} samples of {name}, but {app.open.asked} were asked for")
    if any(len(samples) != len(other) for other in app.open.series.values()):
        raise ValueError(f"{name} has another number of samples than the series before")
    app.open.series[name] = samples


def _fail(app: App, record: Record) -> None:
    id_, params, (call, error) = _named(record, "call", "err")
    _give_up(app, NoRow(app.name, record.kind, id_, params, f"{call} returned {error}"))


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
    if record.words != ("ok",):
        raise ValueError(f"the app ended with '{' '.join(record.words)}'")
    app.ended = True


def _count(text: str, name: str) -> int:
    if not text.isdecimal() or int(text) == 0:
        raise ValueError(f"{name}={text} is not a positive number")
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
        name: int(text) if text.isdecimal() else text for name, text in _unique(params).items()
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
