# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The study ladder: what several clients get from one server, and how long they wait. It is
computed from the counter reads of all their requests.

A rung is one row of its catalogue. Its window is from the first request until the first client has
all its answers: until then all clients ask. Each cycle in the window is between two reads, which
show who used it:

    server      from the taking of a request until it is done
    clients     from an answer until it is compared with the known one, and from there to the next
                request of a client that asks at once
    crossing    the rest of what leads from one process to another: IPC, kernel, its alarm
    idle        the window minus the core's counters, which stop while the core sleeps: never while
                a request is open
    unaccounted what two reads do not show

If other apps ran while the server worked, the server gets as many cycles as the same work takes
without them, and the rest is crossing. Without such a request the cycles are unaccounted.
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
ALLOWED = 0.02  # share of the window that may be unaccounted

Moment = Literal["asked", "taken", "done", "answered", "ready"]
MOMENTS: tuple[Moment, ...] = get_args(Moment)


class ServedRequest(NamedTuple):
    """One request: its client, and the times at which it was asked, taken by the server, done,
    answered, and compared with the known answer (ready), in cycles since the first request. `due`
    is the time of the client's alarm, including cycles asleep; 0 in a closed loop. A row has a
    series for each field.
    """

    client: int
    due: int
    asked: int
    taken: int
    done: int
    answered: int
    ready: int

    @property
    def work(self) -> int:
        """The cycles that the server worked on it."""
        return self.done - self.taken

    @property
    def wait(self) -> int:
        """The cycles from its asking to its answer, without the server's work."""
        return self.answered - self.asked - self.work


class TimedReading(NamedTuple):
    """A counter read, and the request that it belongs to."""

    time: int
    moment: Moment
    request: ServedRequest


@dataclass(frozen=True)
class Rung:
    """All requests of a row, in the order of their answers."""

    requests: tuple[ServedRequest, ...]
    closed: bool  # clients ask again as soon as they can

    @cached_property
    def clients(self) -> int:
        """The number of clients."""
        return len({request.client for request in self.requests})

    @cached_property
    def last(self) -> ServedRequest:
        """The request that ended the window: with it, the first client had all its answers."""
        by_client = {request.client: request for request in self.requests}
        return min(by_client.values(), key=lambda request: request.answered)

    @property
    def end(self) -> int:
        """The end of the window on the core's counters. It starts at 0."""
        return self.last.answered

    @property
    def window(self) -> int:
        """The cycles of the window, including those asleep."""
        last = self.last
        return max(self.end, last.due + last.answered - last.asked)

    @cached_property
    def answers(self) -> tuple[int, ...]:
        """The number of answers of each client within the window."""
        within = [request.client for request in self.requests if request.answered <= self.end]
        return tuple(
            within.count(client) for client in {request.client for request in self.requests}
        )

    @property
    def per_answer(self) -> float:
        """The cycles of the window per answer in it: the inverse of the throughput."""
        return self.window / sum(self.answers)

    @property
    def least(self) -> float:
        """The share of the least served client: 1 if all had as many answers."""
        return min(self.answers) * self.clients / sum(self.answers)

    def wait(self, part: float) -> int:
        """Return the wait that this part of all requests did not exceed; 1: the longest wait."""
        waits = sorted(request.wait for request in self.requests)
        return waits[max(ceil(part * len(waits)), 1) - 1]

    @cached_property
    def readings(self) -> list[TimedReading]:
        """All counter reads, in order."""
        readings = (
            TimedReading(getattr(request, moment), moment, request)
            for request in self.requests
            for moment in MOMENTS
        )
        order = {moment: i for i, moment in enumerate(MOMENTS)}
        return sorted(readings, key=lambda reading: (reading.time, order[reading.moment]))

    @cached_property
    def interrupted(self) -> set[ServedRequest]:
        """The requests on which the server worked while other apps read the counters."""
        return {
            before.request
            for before, after in zip(self.readings, self.readings[1:], strict=False)
            if before.moment == "taken"
            and after != TimedReading(before.request.done, "done", before.request)
        }

    @cached_property
    def cycles(self) -> dict[Owner, int]:
        """The cycles of the window by owner."""
        cycles: dict[Owner, int] = dict.fromkeys(OWNERS, 0)
        whole = [request.work for request in self.requests if request not in self.interrupted]
        usual = int(median(whole)) if whole else 0
        open_, working = 0, None
        for before, after in zip(self.readings, self.readings[1:], strict=False):
            if before.time >= self.end:
                break
            open_ += {"asked": 1, "answered": -1}.get(before.moment, 0)
            if before.moment == "taken":
                working, left = before.request, usual if before.request in self.interrupted else 0
            elif before.moment == "done":
                working = None
            length = min(after.time, self.end) - before.time
            owner = self._owner(before, after, open_)
            if owner == "crossing" and working is not None:
                # A part of it is the interrupted work, at most what is left of it.
                if not whole:
                    owner = "unaccounted"
                else:
                    own = min(left, length)
                    left -= own
                    cycles["server"] += own
                    length -= own
            cycles[owner] += length
        cycles["idle"] = self.window - self.end
        return cycles

    def _owner(self, before: TimedReading, after: TimedReading, open_: int) -> Owner:
        same = before.request == after.request
        if same and (before.moment, after.moment) == ("taken", "done"):
            return "server"
        if same and (before.moment, after.moment) == ("answered", "ready"):
            return "clients"
        own = before.request.client == after.request.client and after.moment == "asked"
        if before.moment == "ready" and own and self.closed:
            return "clients"
        if open_ > 0 or after.moment in ("asked", "ready"):
            return "crossing"
        return "unaccounted"

    def share(self, owner: Owner) -> float:
        """Return the owner's share of the window."""
        return self.cycles[owner] / self.window


def rung(row: Row) -> Rung | None:
    """Return the requests of a row; None if it has none."""
    if not row.extra:
        return None
    series = [row.extra[name] for name in ServedRequest._fields]
    return Rung(
        tuple(map(ServedRequest._make, zip(*series, strict=True))), row.id.endswith(".closed")
    )


def check_requests(row: Row) -> str | None:
    """Return what is wrong with the requests of a row; None if nothing is. Clients must be numbered
    from 0, and each must have asked the same number of requests."""
    if set(row.extra) not in (set(), set(ServedRequest._fields)):
        return f"its requests do not have the series {', '.join(ServedRequest._fields)}"
    checked = rung(row)
    if checked is None:
        return "there are no requests"
    askers = [request.client for request in checked.requests]
    clients = str(row.params.get("set", "")).rpartition("_")[2]
    served = {client: askers.count(client) for client in sorted(set(askers))}
    each, rest = divmod(row.asked, int(clients) if clients.isdecimal() else len(served))
    if rest or len(askers) != row.asked or served != dict.fromkeys(range(row.asked // each), each):
        return f"the server did not serve what was asked: {served}, of {row.asked}"
    if any(sorted(request[2:]) != list(request[2:]) for request in checked.requests):
        return "a request was answered before it was asked"
    if checked.end < 1:
        return "its requests took no time"
    if checked.share("unaccounted") > ALLOWED:
        return f"{checked.share('unaccounted'):.1%} of the window are unaccounted for"
    return None


def rungs(rows: Sequence[Row]) -> list[tuple[Row, Rung]]:
    """Return the rows with requests, and these. TockmarkError if the requests of a row are
    wrong."""
    found_rungs = []
    for row in rows:
        if row.extra:
            if why := check_requests(row):
                raise TockmarkError(f"row {row.name}: {why}")
            found_rungs += [(row, requests) for requests in [rung(row)] if requests is not None]
    return found_rungs


# The study's tables.

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
    "Cycles per answer while all clients ask; the wait of a request from asking to answer, without"
    " the server's work: median, 90th percentile, worst; the share of the least served client,"
    " relative to an even share; then who used the cycles, in per cent. crossing: IPC and kernel;"
    " lost: cycles that no two reads explain (at most 2). 8 requests per client; open: each client"
    " asks by its alarm, every 8 + size / 40 ticks of 9,600 cycles."
)


def cells(rung: Rung) -> list[str]:
    """Return the cells of a rung."""
    return [
        f"{rung.per_answer:,.0f}",
        *(f"{rung.wait(part):,}" for part in (0.5, 0.9, 1)),
        f"{rung.least:.2f}",
        *(f"{100 * rung.share(owner):.1f}" for owner in OWNERS),
    ]


def label(row: Row) -> str:
    """Return the name of a rung: `server first, 3 × 256`."""
    order, _, clients = str(row.params["set"]).rpartition("_")
    return f"{order.replace('_', ' ')}, {clients} × {row.params['size']}"


def tables(result: Result, icache: bool | None) -> list[tuple[str, Table]]:
    """Return the tables of a result for a cache setting, each with its title."""
    by_title: dict[str, Table] = {}
    for row, rung in rungs([row for row in result.rows if row.icache is icache]):
        way, _, loop = row.id.partition(".")
        title = f"{WAYS[way]}, {loop} loop, i-cache {ICACHE[icache]}"
        head = TableColumn("clients × bytes", LABEL, 0, left=True)
        table = by_title.setdefault(title, Table([head, *figures(COLUMNS)]))
        table.add(label(row), *cells(rung))
    return list(by_title.items())


def screen(named: Sequence[tuple[str, Result]], width: int = LINE) -> str:
    """Format the study's screen: for each result a table per way, loop and cache setting."""
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
    """Show what clients get from one server, how long they wait, and who uses the cycles."""
    named = [(paths.shown(path), load(path)) for path in files]
    options.show(screen(named, text.columns()))
    raise Exit(options.incomplete_code(*(result for _, result in named)))
