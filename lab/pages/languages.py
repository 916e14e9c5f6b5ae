# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Apps in C and in Rust, and what a library adds to a call (lab/studies/languages)."""

from collections.abc import Callable
from operator import attrgetter

from committed import between, committed, retired
from tables import markdown
from tockmark.base.paths import ROOT
from tockmark.result import file
from tockmark.result.model import Row, ratio
from tockmark.show import text
from tockmark.show.text import NONE
from tockmark.suite import catalogue as catalogues
from tockmark.suite.catalogue import HARNESS_ROWS, label

TOCK = {"tock-2.2-cw310": "rust/tock-2.2", "tock-master-cw310": "rust/tock-master"}
CALLS = (  # rows whose work is the kernel's
    "syscall.command",
    "upcall.yield_wait",
    "ctx.ring processes=2 kib=0",
    "ipc.round_trip",
    "ipc.discover_hit part=all",
    "ipc.share",
)


def compiled(*sizes: int) -> list[str]:
    """Return the labels of the rows whose body is compiled. Memory sweeps: only these sizes."""
    catalogue = catalogues.load()
    ids = [
        benchmark.id
        for benchmark in catalogue.benchmarks.values()
        if not benchmark.bodies and benchmark.by != "mark" and benchmark.id not in HARNESS_ROWS
    ]
    return [
        label(id_, params)
        for id_, params in catalogue.rows(ids)
        if "size" not in params or params["size"] in sizes
    ]


def rust_by_c(*names: str) -> str:
    """Format the cycles of rows in Rust relative to C, on Tock 2.2 and master, i-cache on."""
    ratios = [
        ratio(committed(c, "c").row(name), committed(rust, "rust").row(name))
        for c, rust in TOCK.items()
        for name in names
    ]
    return between([value for value in ratios if value is not None], "{:.2f}".format)


def added_instructions(base: str, library: str, group: str) -> str:
    """Format the instructions that a library adds to one operation of a group's rows."""
    lang = committed(library).result.langs[0]
    with_library, own = committed(library, lang), committed(base, lang)
    added = [
        (retired(row) or 0.0) - (retired(own.row(name, icache)) or 0.0)
        for (icache, name), row in with_library.rows.items()
        if row.id.startswith(f"{group}.") and icache is False and own.row(name, icache)
    ]
    return between(added, "{:g}".format)


# The columns of `added_cost`: the i-cache setting, and the figure of a row.
FIGURES: dict[str, tuple[bool, Callable[[Row], float | None]]] = {
    "instructions": (False, retired),
    "cycles, cache on": (True, attrgetter("per_op")),
    "cycles, cache off": (False, attrgetter("per_op")),
}


def added_cost(argument: str) -> str:
    """Return a table of net instructions and cycles of one operation: the first result file's
    figures, and the difference of each other file. Rows that no other file has are skipped."""
    paths = [ROOT / name for name in argument.split()]
    base, *others = ({(r.label, r.icache): r for r in file.load(path).rows} for path in paths)
    names = [path.stem for path in paths]
    heads = [head for what in FIGURES for head in (f"{what}: {names[0]}", *names[1:])]
    calls = dict.fromkeys(r.label for r in base.values() if not (r.is_overhead or r.is_control))
    rows = []
    for call in calls:
        if not any((call, True) in other for other in others):
            continue
        cells: list[str] = [text.quoted(call)]
        for icache, figure in FIGURES.values():
            own = figure(base[call, icache])
            cells.append(NONE if own is None else f"{own:g}")
            more = [
                figure(row) if (row := rows_by_key.get((call, icache))) else None
                for rows_by_key in others
            ]
            cells += [NONE if m is None or own is None else f"{m - own:+g}" for m in more]
        rows.append(cells)
    return markdown(["", *heads], rows, words=range(1 + len(heads)))
