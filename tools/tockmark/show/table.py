# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Every row of one result or of several, as text; the first screen is summary.py's."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product

from tockmark.result.model import Result, Row, ratio
from tockmark.show import text
from tockmark.show.text import LINE, number
from tockmark.suite.catalogue import (
    ICACHE,
    LANGS,
    OVERHEAD,
    Catalogue,
    Params,
    RowKey,
    aside,
    label,
    row_key,
)

NAME = 35
REASONS = 10  # of an incomplete result; the file has them all
CHUNK = 3  # as many results go beside the first in one table

COLUMNS = {"net cyc": 8, "net ins": 7, "per op": 9, "µs/op": 8, "MB/s": 5, "steady": 6}
RANGE = {"range": 13}  # behind the net, in several layouts: then a cache setting has its own table
RAW = {"cycles": 8, "instr": 6}  # behind them, if there is one cache setting only
OTHER = {"off: net": 8, "off/on": 6}  # or these, if there are both

LEGEND = """\
net cyc, ins   median of the steady samples, less time.read of the same boot; the cold first sample
               is not among them. "!": an error, named below. time.read itself: as measured
per op         net cycles for one inner operation, named below each section
µs/op          the same in microseconds, at the clock above; MB/s = 10^6 bytes/s
steady         "=" all steady samples equal; "p2" to "p4" they repeat with that period;
               "~5" they vary until sample 5 and repeat from there; "~" they vary;
               "w" they wander: the end is not as the beginning; "1" there is only one.
               Below a section: least, median and most of rows that no one figure stands for"""
RANGES = """\
range          least and most net cycles of the layouts, of which net cyc, ins are the median;
               "-": in one layout only. "steady" tells of the first layout"""
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
EVENT_WIDTH = 5  # at least
EVENTS_LEGEND = """\
Events of one sample (median, less those of the readings; time.read as measured). "!" behind a row:
it has an error, named below.
ld/st, fetch   cycles that the core waited for data memory, for an instruction
mul, div       cycles that it waited for the multiplier, for the divider
loads, stores, jumps, branch (conditional), taken (of these), 16-bit (retired): how many"""


@dataclass(frozen=True)
class TableLine:
    """One benchmark with one set of parameters, and what each result has for it."""

    id: str
    params: Params
    rows: tuple[Row | None, ...]

    @property
    def label(self) -> str:
        return label(self.id, self.params)


Column = Mapping[RowKey, Row]  # of a result, with one cache setting and in one language


def sections(columns: Sequence[Column], catalogue: Catalogue) -> list[tuple[str, list[TableLine]]]:
    """The rows of several columns side by side: by section, in the catalogue's order, strangers at
    the end."""
    order = {row_key(i, p): (i, p) for i, p in catalogue.rows(catalogue.benchmarks)}
    order |= {key: (row.id, row.params) for column in columns for key, row in column.items()}
    lines = []
    for key, (id_, params) in order.items():
        cells = tuple(column.get(key) for column in columns)
        lines += [TableLine(id_, params, cells)] if any(cells) else []
    return catalogue.in_sections(lines, lambda line: line.id)


def render(result: Result, catalogue: Catalogue) -> str:
    """One result, all columns."""
    caches = result.icaches[:2]
    several = result.layouts > 1
    both = len(caches) > 1 and not several
    legend = [*LEGEND.splitlines(), *OFF.splitlines() * both, *RANGES.splitlines() * several]
    out = [*header(result), "", *legend, LAST, ""]
    for lang in result.langs:
        for some in [[cache] for cache in caches] if several else [caches]:
            title = [LANGS[lang]] * (len(result.langs) > 1)
            title += [f"i-cache {ICACHE[some[0]]}"] * several
            out += [text.sentence(", ".join(title)), ""] if title else []
            out += _sections([result.column(cache, lang) for cache in some], several, catalogue)
    out += _overheads(result)
    out += _errors(result.rows)
    why = [reason for reason in result.incomplete if not reason.startswith("wrong: ")]
    out += [f"{text.bad('INCOMPLETE')} {reason}" for reason in why[:REASONS]]
    out += [f"INCOMPLETE and {len(why) - REASONS} more"] if len(why) > REASONS else []
    out += skipped(result)
    return "\n".join(out).rstrip() + "\n"


def _sections(shown: list[Column], several: bool, catalogue: Catalogue) -> list[str]:
    """The rows with one cache setting, or with two beside each other; in several layouts?"""
    both = len(shown) > 1
    net, *rest = COLUMNS.items()
    columns = dict([net, *RANGE.items(), *rest]) if several else COLUMNS
    columns = {**columns, **(OTHER if both else {} if several else RAW)}
    widths = list(columns.values())
    out: list[str] = []
    for section, lines in sections(shown, catalogue):
        out += _heading(section, text.cells(columns, widths))
        first = [line.rows[0] for line in lines]
        nets = text.aligned([row.net if row else None for row in first], 1, [*map(mark, first)])
        grid = [
            [*map(_coloured, nets, first)],
            *([[spread(row) if row else text.NONE for row in first]] * several),
            text.aligned([row.instructions if row else None for row in first], 1),
            text.aligned([text.rounded(row.per_op) if row else None for row in first]),
            text.aligned([text.rounded(row.us) if row else None for row in first], 2),
            text.aligned([_rate(row, catalogue) for row in first], 2),
            [(row.steadiness if row else None) or text.NONE for row in first],
        ]
        for line, *values in zip(lines, *grid, strict=True):
            values += _off(line) if both else [] if several else _raw(line.rows[0])
            out.append(f"{line.label:{NAME}}{text.cells(values, widths)}".rstrip())
        out += [*_units([line.id for line in lines], catalogue), *_spreads(first, catalogue), ""]
    return out


def render_side_by_side(
    named: list[tuple[str, Result]], catalogue: Catalogue, width: int = LINE
) -> str:
    """Several results, the net cycles of one operation each, and their ratios to the first."""
    named = apart(named)
    letters = text.letters(len(named))
    out: list[str] = []
    for letter, (name, result) in zip(letters, named, strict=True):
        why = result.incomplete
        told = [f"INCOMPLETE: {why[0]} ({len(why)} in all)"] if why else []
        out.append(f"{letter} = {name}")
        for line in [*header(result), *told]:
            out += text.wrap(f"    {line}", " " * 12, width)
    out += ["", *text.wrap(SIDE_BY_SIDE, "", width), ""]
    fit = max(1, min(CHUNK, (width - NAME - 11) // 19))
    for icache in (True, False, None):
        columns = [result.column(icache, result.langs[0]) for _, result in named]
        if not any(columns):
            continue
        out += [f"I-cache {ICACHE[icache]}", ""]
        for at in range(1, len(named), fit):
            some = [0, *range(at, min(at + fit, len(named)))]
            out += _side_by_side([letters[i] for i in some], [columns[i] for i in some], catalogue)
    return "\n".join(out).rstrip() + "\n"


SIDE_BY_SIDE = (
    "Net cycles of one operation (median, less time.read of the same boot; time.read as measured),"
    ' and its ratio to A. Lower is better. "-": not measured. "!": an error; it has no ratio.'
)


def apart(named: Iterable[tuple[str, Result]]) -> list[tuple[str, Result]]:
    """Results by their names; each of several languages as several, of one language each."""
    return [
        (f"{name}, {LANGS[lang]}" if len(result.langs) > 1 else name, result.of_lang(lang))
        for name, result in named
        for lang in result.langs
    ]


def _side_by_side(letters: list[str], shown: list[Column], catalogue: Catalogue) -> list[str]:
    base, *others = letters
    columns = [base, *(text_ for letter in others for text_ in (letter, f"{letter}/{base}"))]
    widths = [10, *([10, 7] * len(others))]
    out: list[str] = []
    for section, lines in sections(shown, catalogue):
        out += _heading(section, text.cells(columns, widths))
        for line in lines:
            values = [_per_op(line.rows[0])]
            for row in line.rows[1:]:
                values += [_per_op(row), text.coloured_ratio(text.ratio(ratio(line.rows[0], row)))]
            out.append(f"{line.label:{NAME}}{text.cells(values, widths)}")
        out.append("")
    return out


def render_events(result: Result, catalogue: Catalogue) -> str:
    """What the core's hardware event counters say of each row, net of the readings'."""
    out = [*header(result), "", *EVENTS_LEGEND.splitlines(), ""]
    widths = [max(EVENT_WIDTH, len(name)) for name in EVENTS.values()]
    counted = replace(result, rows=tuple(row for row in result.rows if row.events))
    if not counted.table:
        out.append("No row has events: this kernel's Perf driver does not count them.")
    for lang, icache in product(result.langs, result.icaches) if counted.table else []:
        title = [LANGS[lang]] * (len(result.langs) > 1) + [f"i-cache {ICACHE[icache]}"]
        out += [text.sentence(", ".join(title)), ""]
        for section, lines in sections([counted.column(icache, lang)], catalogue):
            out += _heading(section, text.cells(EVENTS.values(), widths))
            for line in lines:
                (row,) = line.rows
                events = row.events if row else {}
                values = [_event(events[n].net if n in events else None) for n in EVENTS]
                out.append(f"{line.label + mark(row):{NAME}}{text.cells(values, widths)}")
            out.append("")
    out += _errors(counted.table.values())
    return "\n".join(out).rstrip() + "\n"


def as_json(results: list[Result], catalogue: Catalogue) -> list[dict[str, object]]:
    """The same rows for other programs: one entry a row, the results in the order given."""
    return [
        {
            "icache": icache,
            "lang": lang,
            "section": section,
            "id": line.id,
            "params": line.params,
            "results": [row and row_json(row, catalogue) for row in line.rows],
        }
        for lang in LANGS
        for icache in (True, False, None)
        for section, lines in sections([r.column(icache, lang) for r in results], catalogue)
        for line in lines
    ]


def row_json(row: Row, catalogue: Catalogue) -> dict[str, object]:
    """The figures of a row; per operation where it says so."""
    return {
        "boot": row.boot,
        "inner": row.inner,
        "cycles": row.net,
        "instructions": row.instructions,
        "cycles_per_op": row.per_op,
        "us_per_op": row.us,
        "mb_per_s": row.mb_per_s(catalogue.moved(row.id, row.params)),
        "cycles_by_layout": list(row.cycles.nets) if row.cycles else [],
        "steady": row.steadiness,
        "errors": list(row.errors),
    }


def header(result: Result) -> list[str]:
    """Where the figures come from."""
    provenance = result.provenance
    kernel, board = provenance.kernel, provenance.board
    sha = f" sha256 {kernel.sha256[:12]}" if kernel.sha256 else ""
    icache = " and ".join(ICACHE[setting] for setting in result.icaches)
    return [
        *text.wrap(f"kernel  {kernel.title}, {kernel.built}{sha}", " " * 8),
        *([f"        {OUR_OWN}"] if kernel.is_baseline else []),
        *text.wrap(f"apps    {', '.join(provenance.said('cc')) or 'unknown'}", " " * 8),
        f"board   {board.name or 'unknown'} ({board.machine or '?'}), {board.clock},"
        f" i-cache {icache}",
        f"        {layouts(result)}",
        f"timing  {board.validity}",
        *(line for told in readings(result) for line in text.wrap(f"reading {told}", " " * 8)),
        f"date    {provenance.date}, tockmark {provenance.tool.version}",
    ]


def readings(result: Result) -> list[str]:
    """What comes off, and by how much the rows that measure nothing are off; none where only other
    rows are shown."""
    told = []
    for lang, icache in product(result.langs, result.icaches):
        row = result.table.get((*row_key(OVERHEAD, {}), icache, lang))
        error = result.stated_error(icache, lang)
        if row is not None and row.net is not None:
            off = "no null controls" if error is None else f"null controls within {number(error)}"
            of = f" in {LANGS[lang]}" * (len(result.langs) > 1)
            told.append(f"{number(row.net)} ({off}) with the i-cache {ICACHE[icache]}{of}")
    return [f"{OVERHEAD} {', '.join(told)}"] if told else []


OUR_OWN = "the baseline, our own kernel, not Tock"


def layouts(result: Result) -> str:
    """In how many layouts of kernel and apps it was measured, as a heading says it."""
    if result.layouts == 1:
        return "one layout"
    links = f" of {result.links} links of the kernel" if result.links > 1 else ", of the apps alone"
    return f"{result.layouts} layouts{links}"


def spread(row: Row, inner: int = 1) -> str:
    """The least and the most net cycles over the layouts, of one of `inner` operations."""
    nets = row.cycles.nets if row.cycles else ()
    if len(nets) < 2:
        return text.NONE
    least, most = (number(text.rounded(net / inner)) for net in (min(nets), max(nets)))
    return least if least == most else f"{least}–{most}"


def skipped(result: Result) -> list[str]:
    """What was not tried, and why: once for all parameters and cache settings."""
    whys = dict.fromkeys((gone.id, gone.lang, gone.why) for gone in result.skipped)
    return [f"skipped {id_}{aside(lang)}: {why}" for id_, lang, why in whys]


def _errors(rows: Iterable[Row]) -> list[str]:
    return [
        f"{text.bad('ERROR')} {row.label}, i-cache {ICACHE[row.icache]}{aside(row.lang)}: {error}"
        for row in rows
        for error in row.errors
    ]


def _event(count: float | None) -> str:
    """Half an event is of interest only where there are few."""
    return number(count, 0 if count is not None and abs(count) >= 1000 else 1)


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
    return text.wrap(f"op: {'; '.join(named)}", "") if named else []


def _spreads(rows: list[Row | None], catalogue: Catalogue) -> list[str]:
    """The rows that are distributions, as such."""
    told = []
    for row in rows:
        if row is None or not (row.wanders or catalogue.is_distribution(row.id, row.icache)):
            continue
        if row.cycles and (spread := row.cycles.spread):
            told.append(f"{row.label} {'–'.join(map(number, spread))}")
    return text.wrap(f"net cyc: {'; '.join(told)}", "") if told else []


def _rate(row: Row | None, catalogue: Catalogue) -> float | None:
    return row.mb_per_s(catalogue.moved(row.id, row.params)) if row else None


def _raw(row: Row | None) -> list[str]:
    both = (row.cycles, row.instret) if row else (None, None)
    return [number(series.median if series else None) for series in both]


def _off(line: TableLine) -> list[str]:
    on, off = line.rows
    return [_net(off), text.coloured_ratio(text.ratio(ratio(on, off)))]


def _per_op(row: Row | None) -> str:
    return _coloured(number(row.per_op if row else None, 3) + mark(row), row)


def _net(row: Row | None) -> str:
    return _coloured(number(row.net if row else None) + mark(row), row)


def _coloured(figure: str, row: Row | None) -> str:
    return text.bad(figure) if mark(row) else figure


def mark(row: Row | None) -> str:
    """What stands behind a figure of a row with an error."""
    return "!" if row is not None and row.errors else ""


def _overheads(result: Result) -> list[str]:
    """The read overhead that was taken off: the boots that agree named together."""
    boots: dict[str, list[str]] = {}
    for row in result.rows:
        if row.id == OVERHEAD:
            cost = f"{'/'.join(_raw(row))} (i-cache {ICACHE[row.icache]}{aside(row.lang)})"
            boots.setdefault(cost, []).append(row.boot)
    said = [f"{cost}: {', '.join(names)}" for cost, names in boots.items()]
    return text.wrap(f"Overhead (time.read) by boot, cycles/instr: {'; '.join(said)}", "") * bool(
        said
    )
