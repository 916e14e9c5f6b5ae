# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The study ladder: what several clients get of one server, and how long they wait, from the
readings of all their requests.

A rung is one row of its catalogue. Its window is from the first request until the first client
has all its answers: as long all clients ask. In it every cycle lies between two readings, and which
two tells whose it was:

    server      from a request's taking to its being done
    clients     from an answer to its being held against the known one, and from there to the next
                request of a client that asks at once
    crossing    all else that leads from one process to another: IPC, kernel, its alarm
    idle        what the window is longer by than the core's counters, which stand still asleep:
                never while a request is open
    unaccounted what two readings do not tell

Where others ran while the server was at work, as much is the server's as the same work takes where
nobody did, the rest crossing; without such a request it is unaccounted.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import ceil
from pathlib import Path
from statistics import median
from typing import Annotated, Literal, NamedTuple, get_args

from typer import Argument, Exit

from tockmark.base import paths
from tockmark.base.errors import INCOMPLETE, TockmarkError
from tockmark.cli import options
from tockmark.cli.program import verb
from tockmark.result.file import load
from tockmark.result.model import Result, Row
from tockmark.show import text
from tockmark.show.text import LINE, Table, TableColumn, figures
from tockmark.suite.catalogue import ICACHE

Owner = Literal["server", "clients", "crossing", "idle", "unaccounted"]
OWNERS: tuple[Owner, ...] = get_args(Owner)
ALLOWED = 0.02  # of the window may be unaccounted

Moment = Literal["asked", "taken", "done", "answered", "ready"]
MOMENTS: tuple[Moment, ...] = get_args(Moment)


class ServedRequest(NamedTuple):
    """One request: whose, and when it was asked, taken by the server, done, answered, held against
    the known answer (ready), in cycles from the first on. `due` is when the client's alarm was due,
    with the cycles asleep; 0 in a closed loop. A row has a series of each field."""

    client: int
    due: int
    asked: int
    taken: int
    done: int
    answered: int
    ready: int

    @property
    def work(self) -> int:
        """What the server worked on it."""
        return self.done - self.taken

    @property
    def wait(self) -> int:
        """From when it was asked until it was answered, less the server's work."""
        return self.answered - self.asked - self.work


class TimedReading(NamedTuple):
    """A reading, and of which request."""

    time: int
    moment: Moment
    of: ServedRequest


@dataclass(frozen=True)
class Rung:
    """All requests of a row, in the order in which they were answered."""

    requests: tuple[ServedRequest, ...]
    closed: bool  # clients ask as soon as they can

    @cached_property
    def clients(self) -> int:
        """How many they were."""
        return len({one.client for one in self.requests})

    @cached_property
    def last(self) -> ServedRequest:
        """The request that ended the window: the first client had all its answers."""
        by_client = {one.client: one for one in self.requests}
        return min(by_client.values(), key=lambda one: one.answered)

    @property
    def end(self) -> int:
        """When that was by the core's counters; the window begins at 0."""
        return self.last.answered

    @property
    def window(self) -> int:
        """The cycles of the window, those asleep among them."""
        last = self.last
        return max(self.end, last.due + last.answered - last.asked)

    @cached_property
    def answers(self) -> tuple[int, ...]:
        """How many answers each client had within the window."""
        within = [one.client for one in self.requests if one.answered <= self.end]
        return tuple(within.count(client) for client in {one.client for one in self.requests})

    @property
    def per_answer(self) -> float:
        """Cycles of the window for each answer in it: the throughput, turned over."""
        return self.window / sum(self.answers)

    @property
    def least(self) -> float:
        """The share of the least served: 1 where all had as many answers."""
        return min(self.answers) * self.clients / sum(self.answers)

    def wait(self, part: float) -> int:
        """Return the wait that such a part of all requests did not exceed; 1: the worst."""
        waits = sorted(one.wait for one in self.requests)
        return waits[max(ceil(part * len(waits)), 1) - 1]

    @cached_property
    def readings(self) -> list[TimedReading]:
        """All readings, in their order."""
        every = (
            TimedReading(getattr(one, moment), moment, one)
            for one in self.requests
            for moment in MOMENTS
        )
        place = {moment: i for i, moment in enumerate(MOMENTS)}
        return sorted(every, key=lambda one: (one.time, place[one.moment]))

    @cached_property
    def interrupted(self) -> set[ServedRequest]:
        """The requests on which the server worked while others took readings."""
        return {
            before.of
            for before, after in zip(self.readings, self.readings[1:], strict=False)
            if before.moment == "taken" and after != TimedReading(before.of.done, "done", before.of)
        }

    @cached_property
    def cycles(self) -> dict[Owner, int]:
        """Whose the cycles of the window were."""
        found: dict[Owner, int] = dict.fromkeys(OWNERS, 0)
        whole = [one.work for one in self.requests if one not in self.interrupted]
        usual = int(median(whole)) if whole else 0
        open_, working = 0, None
        for before, after in zip(self.readings, self.readings[1:], strict=False):
            if before.time >= self.end:
                break
            open_ += {"asked": 1, "answered": -1}.get(before.moment, 0)
            if before.moment == "taken":
                working, left = before.of, usual if before.of in self.interrupted else 0
            elif before.moment == "done":
                working = None
            length = min(after.time, self.end) - before.time
            owner = self._owner(before, after, open_)
            if owner == "crossing" and working is not None:
                # Part of it is the work that was interrupted, as much as is left of it.
                if not whole:
                    owner = "unaccounted"
                else:
                    own = min(left, length)
                    left -= own
                    found["server"] += own
                    length -= own
            found[owner] += length
        found["idle"] = self.window - self.end
        return found

    def _owner(self, before: TimedReading, after: TimedReading, open_: int) -> Owner:
        same = before.of == after.of
        if same and (before.moment, after.moment) == ("taken", "done"):
            return "server"
        if same and (before.moment, after.moment) == ("answered", "ready"):
            return "clients"
        own = before.of.client == after.of.client and after.moment == "asked"
        if before.moment == "ready" and own and self.closed:
            return "clients"
        if open_ > 0 or after.moment in ("asked", "ready"):
            return "crossing"
        return "unaccounted"

    def share(self, owner: Owner) -> float:
        """Return whose share of the window it was."""
        return self.cycles[owner] / self.window


def rung(row: Row) -> Rung | None:
    """Return the requests of a row; None if it has none."""
    if not row.extra:
        return None
    series = [row.extra[name] for name in ServedRequest._fields]
    return Rung(
        tuple(map(ServedRequest._make, zip(*series, strict=True))), row.id.endswith(".closed")
    )


def wrong(row: Row) -> str | None:
    """Return what is wrong with the requests of a row, which name their clients from 0 on, and of
    which each asked as many. None: nothing is."""
    if set(row.extra) not in (set(), set(ServedRequest._fields)):
        return f"its requests have not the series {', '.join(ServedRequest._fields)}"
    found = rung(row)
    if found is None:
        return "there are no requests"
    by = [one.client for one in found.requests]
    clients = str(row.params.get("set", "")).rpartition("_")[2]
    served = {client: by.count(client) for client in sorted(set(by))}
    each, rest = divmod(row.asked, int(clients) if clients.isdecimal() else len(served))
    if rest or len(by) != row.asked or served != dict.fromkeys(range(row.asked // each), each):
        return f"served is not asked: {served}, of {row.asked}"
    if any(sorted(one[2:]) != list(one[2:]) for one in found.requests):
        return "a request was answered before it was asked"
    if found.end < 1:
        return "its requests took no time"
    if found.share("unaccounted") > ALLOWED:
        return f"{found.share('unaccounted'):.1%} of the window are unaccounted for"
    return None


def rungs(rows: Sequence[Row]) -> list[tuple[Row, Rung]]:
    """Return the rows that have requests, with these. TockmarkError if some are wrong."""
    found = []
    for row in rows:
        if row.extra:
            if why := wrong(row):
                raise TockmarkError(f"row {row.name}: {why}")
            found += [(row, one) for one in [rung(row)] if one is not None]
    return found


# How it is shown.

LABEL = 26
COLUMNS = {
    "an answer": 10,
    "median": 9,
    "90th": 9,
    "worst": 9,
    "least": 6,
    "server": 7,
    "clients": 8,
    "crossing": 9,
    "idle": 6,
    "lost": 6,
}
WAYS = {"ladder": "old IPC", "ladder2": "new IPC"}
WAYS |= {"eight": WAYS["ladder"], "eight2": WAYS["ladder2"]}
LEGEND = (
    "Cycles for an answer while all clients ask; how long a request waited, from when it was asked"
    " until it was answered, less the server's work on it: median, 90th of a hundred, worst of all;"
    " the least served client's share of an even one; then whose the cycles were, in per cent:"
    " crossing is IPC and kernel, lost what no two readings tell (at most 2). 8 requests of each"
    " client; open: each asks by its alarm every 8 + size / 40 ticks of 9,600 cycles."
)


def cells(found: Rung) -> list[str]:
    """Return what a table says of a rung."""
    return [
        f"{found.per_answer:,.0f}",
        *(f"{found.wait(part):,}" for part in (0.5, 0.9, 1)),
        f"{found.least:.2f}",
        *(f"{100 * found.share(owner):.1f}" for owner in OWNERS),
    ]


def label(row: Row) -> str:
    """Say which rung it is: `server first, 3 x 256`."""
    order, _, clients = str(row.params["set"]).rpartition("_")
    return f"{order.replace('_', ' ')}, {clients} × {row.params['size']}"


def tables(result: Result, icache: bool | None) -> list[tuple[str, Table]]:
    """Return the tables of a result with a cache setting, each with its title."""
    found: dict[str, Table] = {}
    for row, rung in rungs([row for row in result.rows if row.icache is icache]):
        way, _, loop = row.id.partition(".")
        title = f"{WAYS[way]}, {loop} loop, i-cache {ICACHE[icache]}"
        head = TableColumn("clients × bytes", LABEL, 0, left=True)
        table = found.setdefault(title, Table([head, *figures(COLUMNS)]))
        table.add(label(row), *cells(rung))
    return list(found.items())


def screen(named: Sequence[tuple[str, Result]], width: int = LINE) -> str:
    """Show the screen of the study: per result a table for each way, loop and cache setting."""
    out: list[str] = []
    for name, result in named:
        kernel = result.provenance.kernel
        levels = f", opt-level {kernel.opt_level}" if kernel.opt_level else ""
        out += [*text.wrap(f"{kernel.title}{levels}: {name}", "    ", width), ""]
        for icache in result.icaches:
            for title, table in tables(result, icache):
                out += [*table.text(title, ""), ""]
        for gone in (*result.skipped, *result.failed):
            if gone.params.get("size") in (None, 16):
                why = gone.why or "missing"
                out += text.wrap(f"{gone.id} {gone.params.get('set', '')}: {why}", "    ", width)
        if why_not := result.incomplete:
            more = f" (and {len(why_not) - 1} more)" if len(why_not) > 1 else ""
            out += text.wrap(f"INCOMPLETE: {why_not[0]}{more}", "    ", width)
    return "\n".join([*out, *text.wrap(LEGEND, "", width)]).rstrip() + "\n"


@verb(
    "tockmark-lab ladder lab/studies/ladder/data/tock-2.2.json",
    exits={INCOMPLETE: "a result is incomplete"},
)
def ladder_verb(files: Annotated[list[Path], Argument(help="Result files.")]) -> None:
    """Show what clients get of one server, how long they wait, and whose the cycles are."""
    named = [(paths.shown(path), load(path)) for path in files]
    print(screen(named, text.width_of_terminal()), end="")
    raise Exit(options.incomplete_code(*(result for _, result in named)))
