# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The verb `table`: result files as text in lmbench's manner, readable at 100 columns."""

import textwrap
from collections.abc import Iterable, Iterator

from tockmark.result.result import Json, incomplete
from tockmark.show import view
from tockmark.suite.catalogue import OVERHEAD, STRANGERS, Catalogue, Params, label

LINE = 100
NAME = 35
REASONS = 10  # of an incomplete result; the file has them all

COLUMNS = {"net cyc": 8, "net ins": 8, "per op": 8, "µs": 8, "MB/s": 5, "steady": 6}
RAW = {"cycles": 8, "instr": 6}  # behind them, if there is one cache setting only
OTHER = {"off: net": 8, "off/on": 6}  # or these, if there are both

LEGEND = """\
net cyc, ins   median of the steady samples, less time.read of the same boot; the cold first sample
               is not among them. A value below zero is an error. time.read itself: as measured
per op         net cycles for one inner operation, named below each section
µs             net, of one sample, at the clock above; MB/s = 10^6 bytes/s
steady         "=" all steady samples equal; "p2" to "p4" they repeat with that period;
               "~5" they vary until sample 5 and repeat from there; "~" they vary;
               "1" there is only one"""
OFF = """\
off: net       net cycles with the i-cache off; all columns before are with the cache on"""
LAST = 'Lower is better in every column but MB/s. "-": not measured.'

EVENTS = {  # Ibex's hardware event counters, by the number of the counter (its documentation)
    3: "ld/st",
    4: "fetch",
    5: "loads",
    6: "stores",
    7: "jumps",
    8: "branch",
    9: "taken",
    10: "16-bit",
    11: "mul",
    12: "div",
}
EVENT_WIDTH = 6
EVENTS_LEGEND = """\
Events of one sample (median, less those of the readings; time.read as measured).
ld/st, fetch   cycles that the core waited for data memory, for an instruction
mul, div       cycles that it waited for the multiplier, for the divider
loads, stores, jumps, branch (conditional), taken (of these), 16-bit (retired): how many"""

Key = tuple[str, frozenset[tuple[str, int | str]]]
Rows = list[tuple[str, Params, list[Json | None]]]


def render(result: Json, catalogue: Catalogue) -> str:
    """One result, all columns."""
    caches = icaches([result])
    both = len(caches) > 1
    columns = {**COLUMNS, **(OTHER if both else RAW)}
    lines = [*_header(result), "", *LEGEND.splitlines(), *OFF.splitlines() * both, LAST, ""]
    tables = [_table(result, icache) for icache in caches[:2]]
    for section, rows in _sections(tables, catalogue):
        lines += _heading(section, _cells(columns, columns.values()))
        for id_, params, found in rows:
            values = _values(found[0]) + (_ratio_to(*found) if both else _raw(found[0]))
            lines.append(f"{label(id_, params):{NAME}}{_cells(values, columns.values())}")
        lines += [*_units([id_ for id_, _, _ in rows], catalogue), ""]
    lines += _overheads(result)
    lines += [
        f"ERROR {label(row['id'], row['params'])}, i-cache {view.ICACHE[row['icache']]}: {error}"
        for row in result["rows"]
        for error in row["errors"]
    ]
    why = [reason for reason in incomplete(result) if not reason.startswith("wrong: ")]
    lines += [f"INCOMPLETE {reason}" for reason in why[:REASONS]]
    lines += [f"INCOMPLETE and {len(why) - REASONS} more"] if len(why) > REASONS else []
    lines += _skipped(result)
    return "\n".join(lines).rstrip() + "\n"


def render_side_by_side(named: list[tuple[str, Json]], catalogue: Catalogue) -> str:
    """Several results, the net cycles of one sample each, and their ratios to the first."""
    lines: list[str] = []
    letters = [chr(ord("A") + i % 26) for i in range(len(named))]
    for letter, (name, result) in zip(letters, named, strict=True):
        lines += [f"{letter} = {name}", *(f"    {line}" for line in _header(result))]
        why = incomplete(result)
        lines += [f"    INCOMPLETE: {why[0]} ({len(why)} in all)"] if why else []
    lines += ["", "Net cycles of one operation (median, less time.read of the same boot; time.read"]
    lines += ['as measured), and its ratio to A. Lower is better. "-": not measured. "!": below']
    lines += ["zero, an error.", ""]
    columns = {"A": 10} | {name: w for x in letters[1:] for name, w in ((x, 10), (f"{x}/A", 7))}
    for icache in icaches([result for _, result in named]):
        lines += [f"I-cache {view.ICACHE[icache]}", ""]
        tables = [_table(result, icache) for _, result in named]
        for section, rows in _sections(tables, catalogue):
            lines += _heading(section, _cells(columns, columns.values()))
            for id_, params, found in rows:
                values = [_per_op(found[0])]
                for row in found[1:]:
                    values += [_per_op(row), _ratio(found[0], row)]
                lines.append(f"{label(id_, params):{NAME}}{_cells(values, columns.values())}")
            lines.append("")
    return "\n".join(lines).rstrip() + "\n"


def render_events(result: Json, catalogue: Catalogue) -> str:
    """What the core's hardware event counters say of each row, net of the readings'."""
    lines = [*_header(result), "", *EVENTS_LEGEND.splitlines(), ""]
    columns = dict.fromkeys(EVENTS.values(), EVENT_WIDTH)
    counted = {
        icache: {key: row for key, row in _table(result, icache).items() if row["events"]}
        for icache in icaches([result])
    }
    if not any(counted.values()):
        lines.append("No row has events: this kernel's Perf driver does not count them.")
    for icache, rows in counted.items():
        lines += [f"I-cache {view.ICACHE[icache]}", ""] * bool(rows)
        for section, entries in _sections([rows], catalogue):
            lines += _heading(section, _cells(columns, columns.values()))
            for id_, params, (row,) in entries:
                cells = _cells([_event(row, number) for number in EVENTS], columns.values())
                lines.append(f"{label(id_, params):{NAME}}{cells}")
            lines.append("")
    return "\n".join(lines).rstrip() + "\n"


def _event(row: Json | None, number: int) -> str:
    found = ((row or {}).get("events") or {}).get(str(number)) or {}
    own = row is not None and row["id"] == OVERHEAD
    return _number(found.get("median" if own else "net"))


def as_json(named: list[tuple[str, Json]], catalogue: Catalogue) -> list[Json]:
    """The same rows for other programs: one entry a row, the results in the order given."""
    results = [result for _, result in named]
    return [
        {"icache": icache, "section": section, "id": id_, "params": params, "results": found}
        for icache in icaches(results)
        for section, rows in _sections([_table(r, icache) for r in results], catalogue)
        for id_, params, found in rows
    ]


def icaches(results: list[Json]) -> list[bool | None]:
    """The cache settings that these results have rows for: on, off, unknown."""
    found = {row["icache"] for result in results for row in result["rows"]}
    return [setting for setting in (True, False, None) if setting in found] or [None]


def _table(result: Json, icache: bool | None) -> dict[Key, Json]:
    """The rows of one cache setting."""
    return {_key(row): row for row in view.rows(result) if row["icache"] is icache}


def _sections(tables: list[dict[Key, Json]], catalogue: Catalogue) -> Iterator[tuple[str, Rows]]:
    """Sections in order, each with its rows: in the catalogue's order, strangers at the end."""
    order: dict[Key, tuple[str, Params]] = {
        _key({"id": id_, "params": params}): (id_, params)
        for id_, params in catalogue.rows(catalogue.benchmarks)
    }
    for table in tables:
        for key, row in table.items():
            order.setdefault(key, (row["id"], row["params"]))
    by_section: dict[str, Rows] = {}
    for key, (id_, params) in order.items():
        found = [table.get(key) for table in tables]
        if any(found):
            by_section.setdefault(catalogue.section_of(id_), []).append((id_, params, found))
    for section in [*catalogue.sections(), STRANGERS]:
        if section in by_section:
            yield section, by_section[section]


def _key(row: Json) -> Key:
    return row["id"], frozenset(row["params"].items())


def _header(result: Json) -> list[str]:
    provenance = result["provenance"]
    kernel, board = provenance["kernel"], provenance["board"]
    sha = f" sha256 {kernel['sha256'][:12]}" if kernel["sha256"] else ""
    name = kernel["name"] or kernel["file"] or "unknown"
    floor = name.startswith("tockmark-baseline")
    icache = " and ".join(view.ICACHE[setting] for setting in icaches([result]))
    return [
        f"kernel  {name}{sha}",
        *(["        the baseline kernel, not Tock: the floor that the interface allows"] * floor),
        f"board   {board['name'] or 'unknown'} ({board['machine'] or '?'}), {view.clock(result)},"
        f" i-cache {icache}",
        f"timing  {board['timing']}",
        f"date    {provenance['date']}, tockmark {provenance['tool']['version']}",
    ]


def _heading(section: str, columns: str) -> list[str]:
    return [section, f"{'':{NAME}}{columns}", "-" * (NAME + len(columns))]


def _units(ids: list[str], catalogue: Catalogue) -> list[str]:
    """What one inner operation is, where a sample holds several."""
    units: dict[str, list[str]] = {}
    for id_ in dict.fromkeys(ids):
        benchmark = catalogue.benchmarks.get(id_)
        if benchmark and benchmark.inner > 1:
            units.setdefault(f"{benchmark.unit} ({benchmark.inner})", []).append(id_)
    named = [f"{unit} in {', '.join(found)}" for unit, found in units.items()]
    return textwrap.wrap(f"op: {'; '.join(named)}", LINE) if named else []


def _values(row: Json | None) -> list[str]:
    if row is None:
        return ["-"] * len(COLUMNS)
    cycles = row["cycles"] or {}
    return [
        _net(row),
        _number(view.signed(row, "instret")),
        _number(cycles.get("net_per_op"), 3),
        _number(row["us"], 2),
        _number(row["mb_per_s"], 2),
        _steady(cycles.get("stats") or {}),
    ]


def _raw(row: Json | None) -> list[str]:
    return [
        _number((((row or {}).get(name) or {}).get("stats") or {}).get("median"))
        for name in ("cycles", "instret")
    ]


def _ratio_to(on: Json | None, off: Json | None) -> list[str]:
    return [_net(off), _ratio(on, off)]


def _per_op(row: Json | None) -> str:
    value = view.signed_per_op(row)
    return _number(value, 3) + ("!" if value is not None and value < 0 else "")


def _net(row: Json | None) -> str:
    value = view.signed(row)
    return _number(value) + ("!" if value is not None and value < 0 else "")


def _ratio(base: Json | None, row: Json | None) -> str:
    below, above = view.signed_per_op(base), view.signed_per_op(row)
    return f"{above / below:.2f}" if below and above and below > 0 and above > 0 else "-"


def _steady(stats: Json) -> str:
    if not stats:
        return "-"
    if stats["n"] == 1:
        return "1"
    if stats["period"]:
        return "=" if stats["period"] == 1 else f"p{stats['period']}"
    return f"~{stats['settled']}" if stats["settled"] else "~"


def _overheads(result: Json) -> list[str]:
    """The read overhead that was taken off: the boots that agree named together."""
    boots: dict[str, list[str]] = {}
    for row in result["rows"]:
        if row["id"] == OVERHEAD:
            cost = f"{'/'.join(_raw(row))} (i-cache {view.ICACHE[row['icache']]})"
            boots.setdefault(cost, []).append(row["boot"])
    said = [f"{cost}: {', '.join(names)}" for cost, names in boots.items()]
    text = f"Overhead (time.read) by boot, cycles/instr: {'; '.join(said)}"
    return textwrap.wrap(text, LINE) if said else []


def _skipped(result: Json) -> list[str]:
    """What was not tried, and why: once for all parameters and cache settings."""
    whys = dict.fromkeys((row["id"], row["why"]) for row in result["skipped"])
    return [f"skipped {id_}: {why}" for id_, why in whys]


def _cells(values: Iterable[str], widths: Iterable[int]) -> str:
    return "".join(f" {value:>{width}}" for value, width in zip(values, widths, strict=True))


def _number(value: float | None, digits: int = 1) -> str:
    """A number without superfluous zeros."""
    if value is None:
        return "-"
    return f"{value:.0f}" if value == int(value) else f"{value:.{digits}f}"
