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
class Climbed:
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
    found = map(file.load, sorted(folder.glob("*.json")))
    return tuple(sorted(found, key=lambda one: one.provenance.kernel.is_baseline))


@cache
def climbed(folder: Path = FOLDER) -> tuple[Climbed, ...]:
    """Return all rungs."""
    found = []
    for result in results(folder):
        kernel = short(result.provenance.kernel.title)
        for row, rung in rungs(result.rows):
            way, _, loop = row.id.partition(".")
            order, _, clients = str(row.params["set"]).rpartition("_")
            of = kernel, way, loop, order, int(clients), int(row.params["size"])
            found.append(Climbed(*of, row.icache, rung))
    return tuple(found)


def some(**wanted: object) -> list[Climbed]:
    """Return the rungs of which all this is true."""
    return [
        one
        for one in climbed()
        if all(getattr(one, name) == value for name, value in wanted.items())
    ]


def _sets(
    loop: str, icache: bool, folder: Path = FOLDER
) -> Iterator[tuple[list[str], dict[int, Rung]]]:
    """Yield what names a set of rungs of one client, and of as many as ran, with these by size."""
    found: dict[tuple[str, str, str], dict[int, dict[int, Rung]]] = {}
    for one in climbed(folder):
        if (one.loop, one.icache) != (loop, icache):
            continue
        by_clients = found.setdefault((one.kernel, one.way, one.order), {})
        by_clients.setdefault(one.clients, {})[one.size] = one.rung
    for (kernel, way, order), by_clients in found.items():
        for clients in sorted({min(by_clients), max(by_clients)}):
            yield [kernel, WAYS[way], ORDERS[order], str(clients)], by_clients[clients]


def _waits(rung: Rung) -> str:
    """Write the median, the 90th percentile and the worst of a rung's waits, in cycles."""
    return "/".join(f"{rung.wait(part):,}" for part in (0.5, 0.9, 1))


def closed(icache: bool, folder: Path = FOLDER, large: int = LARGE) -> str:
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


def eight() -> str:
    """Return the same of kernels built for eight apps."""
    return closed(True, FOR_EIGHT, LARGE_OF_EIGHT)


def strays() -> str:
    """Return how far the median wait of three clients strays over layouts of the apps, in percent
    of the first, over all ways, orders and sizes; and how many layouts there are."""
    (result,) = results(IN_LAYOUTS)
    nets = [row.cycles.nets for row, _ in rungs(result.rows) if isinstance(row, Row) and row.cycles]
    spans = [100 * (max(one) - min(one)) / one[0] for one in nets]
    assert all(len(one) == result.layouts for one in nets)
    return f"{between(spans, '{:.1f}'.format)} % over {result.layouts} layouts"


def opened(icache: bool) -> str:
    """Return the table of the open loop: waits, and whose the core was."""
    lines = []
    for names, by_size in _sets("open", icache):
        cells = []
        for size in (SMALL, LARGE):
            rung = by_size[size]
            cells += [
                _waits(rung),
                "/".join(_percent(rung, one) for one in ("server", "crossing", "idle")),
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


def lost() -> str:
    """Return the most that is unaccounted for in any rung, in percent."""
    return f"{100 * max(one.rung.share('unaccounted') for one in climbed()):.1f}"


def accounted() -> str:
    """Return the parts into which each window falls."""
    return ", ".join(OWNERS)


def answers(kernel: str, way: str, size: int, icache: bool = True) -> str:
    """Return the cycles for an answer in the closed loop, over orders and numbers of clients."""
    wanted = {"kernel": kernel, "way": way, "size": size, "icache": icache, "loop": "closed"}
    return between([one.rung.per_answer for one in some(**wanted)])


def crossing(kernel: str, way: str, size: int, icache: bool = True) -> str:
    """Return the share of the core in the closed loop that is IPC and kernel, in percent."""
    wanted = {"kernel": kernel, "way": way, "size": size, "icache": icache, "loop": "closed"}
    shares = [100 * one.rung.share("crossing") for one in some(**wanted)]
    return between(shares, "{:.0f}".format)


UNFAIR = "Tock dev/ipc-initial"  # its relay's queue is not fair


def least(order: str, icache: bool = True, kernel: str = "") -> str:
    """Return the share of the least served where several ask in a closed loop: on one kernel, or on
    all but UNFAIR."""
    wanted = {"order": order, "icache": icache, "loop": "closed"}
    shares = [
        one.rung.least
        for one in some(**wanted)
        if one.clients > 1 and (one.kernel == kernel if kernel else one.kernel != UNFAIR)
    ]
    return between(shares, "{:.2f}".format)


def beside_alarm() -> str:
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
                *(_late(one) for one in (alone, many)),
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
        found = instancing.load(path)
        for stack in dict.fromkeys(one.stack for one in found.attempts):
            tried = [one for one in found.attempts if one.stack == stack]
            ran = [one for one in tried if one.refused is None]
            end = tried[-1].refused
            last = ran[-1]
            name = short(found.kernel.title) + ", for eight apps" * (EIGHT in found.kernel.title)
            why = "none was refused"
            if end is not None:
                said = f" ({end.message})" if end.message else ""
                why = f"{end.full}, by {end.by}{said}"
            lines.append(
                [
                    name,
                    number(stack),
                    str(last.asked),
                    number(ran[0].per_run),
                    number(last.per_run),
                    between([one.per_run for one in last.instances]),
                    between([float(one.first) for one in last.instances]),
                    why,
                    f"{end.flash_left:,} / {end.ram_left:,}" if end is not None else "",
                ]
            )
    heads = ["kernel", "stack", "run", "a run, alone", "a run, all", "a run, each"]
    heads += ["first answer", "the next one: what gave out", "flash / RAM left, bytes"]
    return markdown(heads, lines, (0, 7))
