# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The verb `table`: result files as text in lmbench's manner, readable at 100 columns."""

import textwrap
from collections.abc import Iterator

from tockmark.catalogue import OVERHEAD, Catalogue, Params, label
from tockmark.result import Json, incomplete

LINE = 100
NAME = 25
COLUMNS = ("cycles", "instr", "net cyc", "net ins", "per op", "µs", "MB/s", "n", "steady")
REASONS = 10  # of an incomplete result; the file has them all
WIDTHS = (8, 7, 8, 8, 9, 8, 7, 5, 6)

LEGEND = """\
cycles, instr  median of the steady samples, as measured; the cold first sample is not among them
net cyc/ins    the same less time.read of the same app; a value below zero is an error
per op         net cycles for one inner operation, named below each section
µs             net, of one sample, at the clock above (time.read: as measured); MB/s = 10^6 bytes/s
n, steady      samples; "=" all steady ones equal; "p2" to "p4" they repeat with that period;
               "~5" they vary until sample 5 and repeat from there; "~" they vary
Lower is better in every column but MB/s. "-": not measured."""

Key = tuple[str, frozenset[tuple[str, int | str]]]


def render(result: Json, catalogue: Catalogue) -> str:
    """One result, all columns."""
    lines = [*_header(result), "", *LEGEND.splitlines(), ""]
    notes: list[str] = []
    for section, rows in _sections([result], catalogue):
        lines += _heading(section, _cells(COLUMNS, WIDTHS))
        for id_, params, (row,) in rows:
            assert row is not None  # the rows are those of the only result
            lines.append(f"{label(id_, params):{NAME}}{_cells(_values(row), WIDTHS)}")
            notes += [f"ERROR {label(id_, params)}: {error}" for error in row["errors"]]
        lines += [*_units([id_ for id_, _, _ in rows], catalogue), ""]
    lines += _overheads(result)
    lines += notes
    why = [reason for reason in incomplete(result) if not reason.startswith("wrong: ")]
    lines += [f"INCOMPLETE {reason}" for reason in why[:REASONS]]
    lines += [f"INCOMPLETE and {len(why) - REASONS} more"] if len(why) > REASONS else []
    lines += [f"skipped {s['app']}: {s['id']}: {s['why']}" for s in result["skipped"]]
    return "\n".join(lines).rstrip() + "\n"


def render_side_by_side(named: list[tuple[str, Json]], catalogue: Catalogue) -> str:
    """Several results, the net cycles of one sample each."""
    lines: list[str] = []
    letters = [chr(ord("A") + i % 26) for i in range(len(named))]
    for letter, (name, result) in zip(letters, named, strict=True):
        lines += [f"{letter} = {name}", *(f"    {line}" for line in _header(result))]
        why = incomplete(result)
        lines += [f"    INCOMPLETE: {why[0]} ({len(why)} in all)"] if why else []
    lines += ["", "Net cycles of one sample (median, less time.read of the same app; time.read as"]
    lines += ['measured). Lower is better. "-": not measured. "!": below zero, an error.', ""]
    widths = (12,) * len(named)
    for section, rows in _sections([result for _, result in named], catalogue):
        lines += _heading(section, _cells(letters, widths))
        for id_, params, found in rows:
            cells = _cells([_net(row) for row in found], widths)
            lines.append(f"{label(id_, params):{NAME}}{cells}")
        lines.append("")
    return "\n".join(lines).rstrip() + "\n"


def as_json(named: list[tuple[str, Json]], catalogue: Catalogue) -> list[Json]:
    """The same rows for other programs: one entry a row, the results in the order given."""
    return [
        {"section": section, "id": id_, "params": params, "results": found}
        for section, rows in _sections([result for _, result in named], catalogue)
        for id_, params, found in rows
    ]


def _sections(
    results: list[Json], catalogue: Catalogue
) -> Iterator[tuple[str, list[tuple[str, Params, list[Json | None]]]]]:
    """Sections in order, each with its rows: in the catalogue's order, strangers at the end."""
    tables = [{_key(row): row for row in result["rows"] if _own(row)} for result in results]
    order: dict[Key, tuple[str, Params]] = {}
    for benchmark in catalogue.benchmarks.values():
        for params in benchmark.variants():
            order[_key({"id": benchmark.id, "params": params})] = (benchmark.id, params)
    for table in tables:
        for key, row in table.items():
            order.setdefault(key, (row["id"], row["params"]))
    by_section: dict[str, list[tuple[str, Params, list[Json | None]]]] = {}
    for key, (id_, params) in order.items():
        found = [table.get(key) for table in tables]
        if any(found):
            known = catalogue.benchmarks.get(id_)
            section = known.section if known else "Not in this catalogue"
            by_section.setdefault(section, []).append((id_, params, found))
    for section in [*catalogue.sections(), "Not in this catalogue"]:
        if section in by_section:
            yield section, by_section[section]


def _own(row: Json) -> bool:
    """The read overhead is measured by every app; the table shows that of its own app."""
    app: str = row["app"]
    return row["id"] != OVERHEAD or app == OVERHEAD.partition(".")[0]


def _key(row: Json) -> Key:
    return row["id"], frozenset(row["params"].items())


def _header(result: Json) -> list[str]:
    provenance = result["provenance"]
    kernel, board = provenance["kernel"], provenance["board"]
    sha = f" sha256 {kernel['sha256'][:12]}" if kernel["sha256"] else ""
    name = kernel["name"] or kernel["file"] or "unknown"
    floor = name.startswith("tockmark-baseline")
    clock = f"{board['clock_hz'] / 1e6:g} MHz" if board["clock_hz"] else "clock unknown"
    icache = {True: "on", False: "off", None: "unknown"}[board["icache"]]
    return [
        f"kernel  {name}{sha}",
        *(["        the baseline kernel, not Tock: the floor that the interface allows"] * floor),
        f"board   {board['name'] or 'unknown'} ({board['machine'] or '?'}), {clock}, i-cache"
        f" {icache}; timing: {board['timing']}",
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


def _values(row: Json) -> list[str]:
    cycles, instret = row["cycles"] or {}, row["instret"] or {}
    stats = cycles.get("stats") or {}
    return [
        _number(stats.get("median")),
        _number((instret.get("stats") or {}).get("median")),
        _number(cycles.get("net")),
        _number(instret.get("net")),
        _number(cycles.get("net_per_op"), 3),
        _number(row["us"], 2),
        _number(row["mb_per_s"], 2),
        _number(stats.get("n")),
        _steady(stats),
    ]


def _net(row: Json | None) -> str:
    cycles = (row or {}).get("cycles") or {}
    value = cycles.get("net")
    if row and row["id"] == OVERHEAD:
        value = (cycles.get("stats") or {}).get("median")
    return _number(value) + ("!" if value is not None and value < 0 else "")


def _steady(stats: Json) -> str:
    if not stats:
        return "-"
    if stats["period"]:
        return "=" if stats["period"] == 1 else f"p{stats['period']}"
    return f"~{stats['settled']}" if stats["settled"] else "~"


def _overheads(result: Json) -> list[str]:
    """The read overhead that was taken off, app by app."""
    found = [
        f"{row['app']} {_number(row['cycles']['stats']['median'])}"
        f"/{_number(row['instret']['stats']['median'])}"
        for row in result["rows"]
        if row["id"] == OVERHEAD
        and all(row[series] and row[series]["stats"] for series in ("cycles", "instret"))
    ]
    text = f"Overhead (time.read) by app, cycles/instr: {', '.join(found)}"
    return textwrap.wrap(text, LINE) if found else []


def _cells(values: list[str] | tuple[str, ...], widths: tuple[int, ...]) -> str:
    return "".join(f" {value:>{width}}" for value, width in zip(values, widths, strict=True))


def _number(value: float | None, digits: int = 1) -> str:
    """A number without superfluous zeros."""
    if value is None:
        return "-"
    return f"{value:.0f}" if value == int(value) else f"{value:.{digits}f}"
