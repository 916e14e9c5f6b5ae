# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The verb `export`: write a result in the formats of other tools.

csv      one line per row, with all statistics
bmf      Bencher Metric Format (JSON): value and range, by benchmark and measure
github   github-action-benchmark's customSmallerIsBetter (JSON): a list of name, unit, value
lmbench  the lines and blocks of an lmbench result file, in microseconds and MB/s

The figures are the cost of one inner operation; in csv, only net_per_op and us are. The range of a
figure is over the layouts, or in one layout over its samples; in csv, the other statistics are of
the raw samples of the first layout. Other tools
should not use the figures of a row with an error: csv names the error, and the other formats omit
the row.
"""

import csv
import io
import json
from collections.abc import Callable

from tockmark.base.errors import TockmarkError
from tockmark.result.model import Result, Row, Series, microseconds
from tockmark.result.stats import plain_number
from tockmark.show.text import csv_cell
from tockmark.suite.catalogue import ICACHE, Catalogue, row_name
from tockmark.wire.rows import SERIES

NOTHING = Series(())
STATS = ("n", "first", "min", "median", "mean", "sd", "p99", "max")


def export(result: Result, catalogue: Catalogue, form: str) -> str:
    """Return a result in one of FORMS. Raise TockmarkError if the format needs cycles that the
    result does not have."""
    board = result.provenance.board
    if form != "csv" and not board.counts_cycles:
        raise TockmarkError(
            f"the result has no cycles to export ({board.validity})",
            "use --format csv, which has its instructions",
        )
    return FORMS[form](result, catalogue)


def omitted_rows(result: Result) -> list[str]:
    """Return the rows that only csv contains, each with its error."""
    return [f"{row.name}: {row.errors[0]}" for row in result.table.values() if row.errors]


def _sound(result: Result) -> list[Row]:
    return [row for row in result.table.values() if row.sound]


def _csv(result: Result, catalogue: Catalogue) -> str:
    """Return every row with all figures and errors."""
    board = result.provenance.board
    out = io.StringIO()
    header = ["id", "params", "icache", "lang", "boot", "app", "unit", "inner"]
    for name in SERIES:
        figures = (*STATS, "overhead", "net", "net_low", "net_high", "net_per_op")
        header += [f"{name}_{figure}" for figure in figures]
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow([*header, "us", "mb_per_s", "errors"])
    for row in result.table.values():
        benchmark = catalogue.benchmarks.get(row.id)
        line: list[object] = [
            csv_cell(row.id),
            csv_cell(" ".join(f"{name}={value}" for name, value in row.params.items())),
            ICACHE[row.icache],
            row.lang,
            csv_cell(row.boot),
            csv_cell(row.app),
            benchmark.unit if benchmark else "",
            row.inner,
        ]
        for name in SERIES:
            series = row.series(name) or NOTHING
            line += [getattr(series.stats, figure, None) for figure in STATS]
            line += [series.overhead if series.reads else None, series.net, *_range(series)]
            line += [None if series.per_op is None else plain_number(series.per_op)]
        rate = row.mb_per_s(catalogue.bytes_moved(row.id, row.params))
        validity = [] if board.counts_cycles else [board.validity]
        line += [_short(row.us), _short(rate), csv_cell("; ".join([*row.errors, *validity]))]
        writer.writerow(line)
    return out.getvalue()


def _short(value: float | None) -> str:
    """Format a figure with six digits."""
    return "" if value is None else f"{value:.6g}"


def _bmf(result: Result, catalogue: Catalogue) -> str:
    """Return cycles and instructions, and the latency in nanoseconds if the clock is known."""
    out: dict[str, dict[str, dict[str, float]]] = {}
    clock = result.provenance.board.clock_hz
    for row in _sound(result):
        measures = {}
        for measure, series in (("cycles", row.cycles), ("instructions", row.instret)):
            if series is not None and series.per_op is not None:
                measures[measure] = _metric(series, series.per_op)
        if "cycles" in measures and clock:
            cycles = measures["cycles"].items()
            measures["latency"] = {
                name: round(microseconds(value, clock) * 1000, 3) for name, value in cycles
            }
        if measures:
            out[row.name] = measures
    return _json(out)


def _range(series: Series) -> tuple[float | None, float | None]:
    """Return the least and the most net of a sample: of all layouts, or of the steady samples if
    there is one layout; None if only the net is known."""
    if len(series.nets) > 1:
        return min(series.nets), max(series.nets)
    low, _, high = series.net_range or (None, None, None)
    return low, high


def _metric(series: Series, per_op: float) -> dict[str, float]:
    """Return the net of one operation with its range, in Bencher's names."""
    low, high = (None if net is None else net / series.inner for net in _range(series))
    named = {"value": per_op, "lower_value": low, "upper_value": high}
    return {name: value for name, value in named.items() if value is not None}


def _github(result: Result, catalogue: Catalogue) -> str:
    out = []
    for row in _sound(result):
        entry: dict[str, object] = {"name": row.name, "unit": "cycles", "value": row.per_op}
        if row.cycles and row.per_op is not None:
            value, *ends = _metric(row.cycles, row.per_op).values()
            entry |= {"range": f"± {max(abs(end - value) for end in ends):g}"} if ends else {}
        benchmark = catalogue.benchmarks.get(row.id)
        description = [benchmark.what] if benchmark else []
        entry["extra"] = "\n".join([*description, result.provenance.line])
        out.append(entry)
    return _json(out)


def _lmbench(result: Result, catalogue: Catalogue) -> str:
    """Return a line per time; rows with a size become blocks whose titles begin with a quote."""
    provenance = result.provenance
    lines = [f"[tockmark: {provenance.tool.version}]"]
    lines += [f"[OS: {provenance.kernel.title}]", f"[machine: {provenance.line}]", ""]
    blocks: dict[str, list[str]] = {}
    for row in _sound(result):
        size = row.params.get("size")
        rate = row.mb_per_s(catalogue.bytes_moved(row.id, row.params))
        if rate is not None and isinstance(size, int):
            rest = {name: value for name, value in row.params.items() if name != "size"}
            title = row_name(row.id, rest, row.icache, row.lang)
            blocks.setdefault(f'"{title}', []).append(f"{size / 1e6:.6f} {rate:.2f}")
        elif row.us is not None:
            lines.append(f"{row.name}: {row.us:.4f} microseconds")
    for title, block in blocks.items():
        lines += ["", title, *block]
    return "\n".join(lines) + "\n"


def _json(data: object) -> str:
    return json.dumps(data, indent=1, ensure_ascii=False, allow_nan=False) + "\n"


FORMS: dict[str, Callable[[Result, Catalogue], str]] = {
    "csv": _csv,
    "bmf": _bmf,
    "github": _github,
    "lmbench": _lmbench,
}
