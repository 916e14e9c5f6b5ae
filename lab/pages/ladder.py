# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The figures of the studies ladder, instances and schedulers: how long clients of one server wait,
how many instances a kernel runs, and how its scheduler shares the core."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from statistics import median

from committed import between, number
from tables import markdown
from tockmark.result import file
from tockmark.result.model import Result, Row
from tockmark_lab.folders import STUDIES
from tockmark_lab.studies import instances as instancing
from tockmark_lab.studies.ladder import OWNERS, WAYS, Owner, Rung, rungs
from tockmark_lab.studies.programs import short

FOLDER = STUDIES / "ladder" / "data"
FOR_EIGHT = FOLDER / "eight"  # six and seven clients
IN_LAYOUTS = FOLDER / "layouts"  # the baseline, three clients, several layouts of the apps
SMALL, LARGE, LARGE_OF_EIGHT = 16, 4096, 1024
SCHEDULERS = ("priority", "round-robin", "cooperative", "mlfq")
EIGHT = "eight-apps"  # in the name of our kernel when built for eight apps
ORDERS = {"server_first": "server first", "clients_first": "clients first"}


@dataclass(frozen=True)
class Climb:
    """A rung of a committed result, with its conditions."""

    kernel: str
    way: str
    loop: str
    order: str
    clients: int
    size: int
    icache: bool | None
    rung: Rung


@cache
def results(folder: Path = FOLDER) -> tuple[Result, ...]:
    """Return all committed results of the ladder; the baseline is last."""
    loaded = map(file.load, sorted(folder.glob("*.json")))
    return tuple(sorted(loaded, key=lambda result: result.provenance.kernel.is_baseline))


@cache
def climbs(folder: Path = FOLDER) -> tuple[Climb, ...]:
    """Return all rungs of the results in a folder."""
    climbs = []
    for result in results(folder):
        kernel = short(result.provenance.kernel.title)
        for row, rung in rungs(result.rows):
            way, _, loop = row.id.partition(".")
            order, _, clients = str(row.params["set"]).rpartition("_")
            of = kernel, way, loop, order, int(clients), int(row.params["size"])
            climbs.append(Climb(*of, row.icache, rung))
    return tuple(climbs)


def select_climbs(**wanted: object) -> list[Climb]:
    """Return the rungs whose attributes have these values."""
    return [
        climb
        for climb in climbs()
        if all(getattr(climb, name) == value for name, value in wanted.items())
    ]


def _sets(
    loop: str, icache: bool, folder: Path = FOLDER
) -> Iterator[tuple[list[str], dict[int, Rung]]]:
    """Yield the name cells of each set of rungs, and its rungs by size: for the fewest and for the
    most clients."""
    rungs_by_set: dict[tuple[str, str, str], dict[int, dict[int, Rung]]] = {}
    for climb in climbs(folder):
        if (climb.loop, climb.icache) != (loop, icache):
            continue
        by_clients = rungs_by_set.setdefault((climb.kernel, climb.way, climb.order), {})
        by_clients.setdefault(climb.clients, {})[climb.size] = climb.rung
    for (kernel, way, order), by_clients in rungs_by_set.items():
        for clients in sorted({min(by_clients), max(by_clients)}):
            yield [kernel, WAYS[way], ORDERS[order], str(clients)], by_clients[clients]


def _waits(rung: Rung) -> str:
    """Format the median, 90th percentile and worst wait of a rung, in cycles."""
    return "/".join(f"{rung.wait(part):,}" for part in (0.5, 0.9, 1))


def closed_loop(icache: bool, folder: Path = FOLDER, large: int = LARGE) -> str:
    """Return the table of the closed loop, for the smallest and the largest request."""
    lines = []
    for names, by_size in _sets("closed", icache, folder):
        cells = []
        for size in (SMALL, large):
            rung = by_size[size]
            cells += [
                number(rung.per_answer),
                _waits(rung),
                f"{rung.least:.2f}",
                _percent(rung, "server"),
            ]
        lines.append([*names, *cells])
    heads = [
        head
        for size in (SMALL, large)
        for head in (f"{size} bytes: per answer", "wait: median/90th/worst", "least", "server, %")
    ]
    return markdown(["kernel", "IPC", "order", "clients", *heads], lines, (0, 1, 2))


def eight_apps() -> str:
    """Return the table of the closed loop for kernels built for eight apps."""
    return closed_loop(True, FOR_EIGHT, LARGE_OF_EIGHT)


def wait_variation() -> str:
    """Format the variation of three clients' median wait over layouts of the apps, in percent
    (range over all ways, orders and sizes), and the number of layouts."""
    (result,) = results(IN_LAYOUTS)
    nets = [row.cycles.nets for row, _ in rungs(result.rows) if isinstance(row, Row) and row.cycles]
    spans = [100 * (max(medians) - min(medians)) / medians[0] for medians in nets]
    assert all(len(medians) == result.layouts for medians in nets)
    return f"{between(spans, '{:.1f}'.format)} % over {result.layouts} layouts"


def open_loop(icache: bool) -> str:
    """Return the table of the open loop: waits, and shares of the core."""
    lines = []
    for names, by_size in _sets("open", icache):
        cells = []
        for size in (SMALL, LARGE):
            rung = by_size[size]
            cells += [
                _waits(rung),
                "/".join(_percent(rung, owner) for owner in ("server", "crossing", "idle")),
            ]
        lines.append([*names, *cells])
    heads = [
        head
        for size in (SMALL, LARGE)
        for head in (f"{size} bytes: wait", "server/crossing/idle, %")
    ]
    return markdown(["kernel", "IPC", "order", "clients", *heads], lines, (0, 1, 2))


def _percent(rung: Rung, owner: Owner) -> str:
    return f"{100 * rung.share(owner):.0f}"


def unaccounted() -> str:
    """Format the largest unaccounted share of any rung, in percent."""
    return f"{100 * max(climb.rung.share('unaccounted') for climb in climbs()):.1f}"


def owners() -> str:
    """Name the owners of the cycles of a window."""
    return ", ".join(OWNERS)


def answers(kernel: str, way: str, size: int, icache: bool = True) -> str:
    """Format the cycles per answer in the closed loop (range over orders and client numbers)."""
    wanted = {"kernel": kernel, "way": way, "size": size, "icache": icache, "loop": "closed"}
    return between([climb.rung.per_answer for climb in select_climbs(**wanted)])


def crossing(kernel: str, way: str, size: int, icache: bool = True) -> str:
    """Format the share of IPC and kernel in the closed loop, in percent."""
    wanted = {"kernel": kernel, "way": way, "size": size, "icache": icache, "loop": "closed"}
    shares = [100 * climb.rung.share("crossing") for climb in select_climbs(**wanted)]
    return between(shares, "{:.0f}".format)


UNFAIR = "Tock dev/ipc-initial"  # its relay's queue is not fair


def least_served(order: str, icache: bool = True, kernel: str = "") -> str:
    """Format the share of the least served of several clients in a closed loop (range): on one
    kernel, or on all but UNFAIR."""
    wanted = {"order": order, "icache": icache, "loop": "closed"}
    shares = [
        climb.rung.least
        for climb in select_climbs(**wanted)
        if climb.clients > 1 and (climb.kernel == kernel if kernel else climb.kernel != UNFAIR)
    ]
    return between(shares, "{:.2f}".format)


def scheduler_table() -> str:
    """Return the table of schedulers: cycles of instances that share the core with an alarm's app,
    and how late the alarm is."""
    lines = []
    for name in SCHEDULERS:
        alone, many = instancing.load(
            STUDIES / "schedulers" / "data" / f"alarm-{name}.json"
        ).attempts
        lines.append(
            [
                name,
                number(alone.per_run),
                " / ".join(map(number, many.since)),
                number(many.per_run),
                *(_late(attempt) for attempt in (alone, many)),
            ]
        )
    heads = ["scheduler", "a run, alone", "each of three, from the first's start", "all"]
    return markdown([*heads, "alarm with one: times, late", "with three"], lines)


def _late(attempt: instancing.Attempt) -> str:
    """Format how often an alarm came and how late it was: median and worst."""
    late = attempt.lateness
    if not late:
        return "never while one ran"
    return f"{len(late)}: " + " / ".join(map(number, (median(late), late[-1])))


def instances() -> str:
    """Return the table of instances: speed, time of the first answer, and what ran out."""
    lines = []
    for path in sorted((STUDIES / "instances" / "data").glob("*.json"), reverse=True):
        report = instancing.load(path)
        for stack in dict.fromkeys(attempt.stack for attempt in report.attempts):
            tried = [attempt for attempt in report.attempts if attempt.stack == stack]
            ran = [attempt for attempt in tried if attempt.refused is None]
            end = tried[-1].refused
            last = ran[-1]
            name = short(report.kernel.title) + ", for eight apps" * (EIGHT in report.kernel.title)
            why = "none was refused"
            if end is not None:
                message = f" ({end.message})" if end.message else ""
                why = f"{end.full}, by {end.by}{message}"
            lines.append(
                [
                    name,
                    number(stack),
                    str(last.asked),
                    number(ran[0].per_run),
                    number(last.per_run),
                    between([instance.per_run for instance in last.instances]),
                    between([float(instance.first) for instance in last.instances]),
                    why,
                    f"{end.flash_left:,} / {end.ram_left:,}" if end is not None else "",
                ]
            )
    heads = ["kernel", "stack", "instances", "one alone", "all", "each"]
    heads += ["first answer", "what ran out for the next instance", "flash / RAM left, bytes"]
    return markdown(heads, lines, (0, 7))
