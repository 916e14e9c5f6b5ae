# SPDX-License-Identifier: Apache-2.0 OR MIT
"""What clients get of one server, how many instances a kernel runs, and what its scheduler gives
them: the data of the studies ladder, instances and schedulers."""

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
IN_LAYOUTS = FOLDER / "layouts"  # of the apps: the baseline's, three clients
SMALL, LARGE, LARGE_OF_EIGHT = 16, 4096, 1024
SCHEDULERS = ("priority", "round-robin", "cooperative", "mlfq")
EIGHT = "eight-apps"  # in the name of our own kernel where it was built for so many
ORDERS = {"server_first": "server first", "clients_first": "clients first"}


@dataclass(frozen=True)
class Climb:
    """One rung of a committed result, and what it is of."""

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
    """Return all committed results of the ladder; our own kernel's last."""
    loaded = map(file.load, sorted(folder.glob("*.json")))
    return tuple(sorted(loaded, key=lambda result: result.provenance.kernel.is_baseline))


@cache
def climbs(folder: Path = FOLDER) -> tuple[Climb, ...]:
    """Return all rungs."""
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
    """Return the rungs of which all this is true."""
    return [
        climb
        for climb in climbs()
        if all(getattr(climb, name) == value for name, value in wanted.items())
    ]


def _sets(
    loop: str, icache: bool, folder: Path = FOLDER
) -> Iterator[tuple[list[str], dict[int, Rung]]]:
    """Yield what names a set of rungs of one client, and of as many as ran, with these by size."""
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
    """Write the median, the 90th percentile and the worst of a rung's waits, in cycles."""
    return "/".join(f"{rung.wait(part):,}" for part in (0.5, 0.9, 1))


def closed_loop(icache: bool, folder: Path = FOLDER, large: int = LARGE) -> str:
    """Return the table of the closed loop, of the smallest and the largest request."""
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
        for head in (f"{size} bytes: an answer", "wait: median/90th/worst", "least", "server, %")
    ]
    return markdown(["kernel", "IPC", "order", "clients", *heads], lines, (0, 1, 2))


def eight_apps() -> str:
    """Return the same of kernels built for eight apps."""
    return closed_loop(True, FOR_EIGHT, LARGE_OF_EIGHT)


def wait_variation() -> str:
    """Return how far the median wait of three clients strays over layouts of the apps, in percent
    of the first, over all ways, orders and sizes; and how many layouts there are."""
    (result,) = results(IN_LAYOUTS)
    nets = [row.cycles.nets for row, _ in rungs(result.rows) if isinstance(row, Row) and row.cycles]
    spans = [100 * (max(medians) - min(medians)) / medians[0] for medians in nets]
    assert all(len(medians) == result.layouts for medians in nets)
    return f"{between(spans, '{:.1f}'.format)} % over {result.layouts} layouts"


def open_loop(icache: bool) -> str:
    """Return the table of the open loop: waits, and whose the core was."""
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
    """Return the most that is unaccounted for in any rung, in percent."""
    return f"{100 * max(climb.rung.share('unaccounted') for climb in climbs()):.1f}"


def owners() -> str:
    """Return the parts into which each window falls."""
    return ", ".join(OWNERS)


def answers(kernel: str, way: str, size: int, icache: bool = True) -> str:
    """Return the cycles for an answer in the closed loop, over orders and numbers of clients."""
    wanted = {"kernel": kernel, "way": way, "size": size, "icache": icache, "loop": "closed"}
    return between([climb.rung.per_answer for climb in select_climbs(**wanted)])


def crossing(kernel: str, way: str, size: int, icache: bool = True) -> str:
    """Return the share of the core in the closed loop that is IPC and kernel, in percent."""
    wanted = {"kernel": kernel, "way": way, "size": size, "icache": icache, "loop": "closed"}
    shares = [100 * climb.rung.share("crossing") for climb in select_climbs(**wanted)]
    return between(shares, "{:.0f}".format)


UNFAIR = "Tock dev/ipc-initial"  # its relay's queue is not fair


def least_served(order: str, icache: bool = True, kernel: str = "") -> str:
    """Return the share of the least served where several ask in a closed loop: on one kernel, or on
    all but UNFAIR."""
    wanted = {"order": order, "icache": icache, "loop": "closed"}
    shares = [
        climb.rung.least
        for climb in select_climbs(**wanted)
        if climb.clients > 1 and (climb.kernel == kernel if kernel else climb.kernel != UNFAIR)
    ]
    return between(shares, "{:.2f}".format)


def scheduler_table() -> str:
    """Return the table of schedulers: what each instance gets beside others and an alarm, and how
    late that is."""
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
    return markdown([*heads, "alarm beside one: times, late", "beside three"], lines)


def _late(attempt: instancing.Attempt) -> str:
    """Write how often an alarm came, and how late: the median and the worst."""
    late = attempt.lateness
    if not late:
        return "never while one ran"
    return f"{len(late)}: " + " / ".join(map(number, (median(late), late[-1])))


def instances() -> str:
    """Return the table of instances: how fast, when the first answer came, what gave out."""
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
                message = f" ({end.said})" if end.said else ""
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
    heads = ["kernel", "stack", "run", "a run, alone", "a run, all", "a run, each"]
    heads += ["first answer", "the next one: what gave out", "flash / RAM left, bytes"]
    return markdown(heads, lines, (0, 7))
