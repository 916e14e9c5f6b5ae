# SPDX-License-Identifier: Apache-2.0 OR MIT
"""What clients get of one server, and how long they wait: the screen of the suite `ladder`."""

from collections.abc import Sequence

from tockmark.result.ladder import OWNERS, Rung, rungs
from tockmark.result.model import Result, Row
from tockmark.show import text
from tockmark.show.text import LINE, Table, TableColumn, figures
from tockmark.suite.catalogue import ICACHE, Catalogue

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
        assert isinstance(row, Row)
        way, _, loop = row.id.partition(".")
        title = f"{WAYS[way]}, {loop} loop, i-cache {ICACHE[icache]}"
        head = TableColumn("clients × bytes", LABEL, 0, left=True)
        table = found.setdefault(title, Table([head, *figures(COLUMNS)]))
        table.add(label(row), *cells(rung))
    return list(found.items())


def screen(named: Sequence[tuple[str, Result]], catalogue: Catalogue, width: int = LINE) -> str:
    """Show the screen of the suite: per result a table for each way, loop and cache setting."""
    out: list[str] = []
    for name, result in named:
        kernel = result.provenance.kernel
        levels = f", opt-level {kernel.opt_level}" if kernel.opt_level else ""
        out += [*text.wrap(f"{kernel.title}{levels}: {name}", "    ", width), ""]
        for icache in result.icaches:
            for title, table in tables(result, icache):
                out += [*table.text(title, ""), ""]
        for gone in (*result.skipped, *result.failed):
            if gone.id in catalogue.benchmarks and gone.params.get("size") in (None, 16):
                why = gone.why or "missing"
                out += text.wrap(f"{gone.id} {gone.params.get('set', '')}: {why}", "    ", width)
        if why_not := result.incomplete:
            more = f" (and {len(why_not) - 1} more)" if len(why_not) > 1 else ""
            out += text.wrap(f"INCOMPLETE: {why_not[0]}{more}", "    ", width)
    return "\n".join([*out, *text.wrap(LEGEND, "", width)]).rstrip() + "\n"
