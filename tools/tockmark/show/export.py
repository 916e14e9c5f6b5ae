# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The verb `export`: a result in the forms that other tools read.

csv      every row with its statistics, one line each
bmf      Bencher Metric Format (JSON): by benchmark and measure, value with its range
github   github-action-benchmark's customSmallerIsBetter (JSON): a list of name, unit, value
lmbench  the lines and blocks of an lmbench result file, in microseconds and MB/s

All but csv give the cost of one inner operation. A row with an error has no number that another
tool should take: csv names the error, the other forms leave the row out.
"""

import csv
import io
import json
from collections.abc import Callable

from tockmark.result.result import Json
from tockmark.show import view
from tockmark.suite.catalogue import Catalogue, label

STATS = ("n", "first", "min", "median", "mean", "sd", "p99", "max")


def export(result: Json, catalogue: Catalogue, form: str) -> str:
    """The whole text; `form` is one of FORMS."""
    return FORMS[form](result, catalogue)


def left_out(result: Json) -> list[str]:
    """The rows that only csv has, and why."""
    return [f"{view.name(row)}: {row['errors'][0]}" for row in view.rows(result) if row["errors"]]


def _csv(result: Json, catalogue: Catalogue) -> str:
    out = io.StringIO()
    header = ["id", "params", "icache", "boot", "app", "unit", "inner"]
    for series in ("cycles", "instret"):
        header += [f"{series}_{name}" for name in (*STATS, "overhead", "net", "net_per_op")]
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow([*header, "cpi", "us", "mb_per_s", "errors"])
    for row in view.rows(result):
        known = catalogue.benchmarks.get(row["id"])
        line = [
            row["id"],
            " ".join(f"{name}={value}" for name, value in row["params"].items()),
            view.ICACHE[row["icache"]],
            row["boot"],
            row["app"],
            known.unit if known else "",
            row["inner"],
        ]
        for series in ("cycles", "instret"):
            found = row[series] or {}
            stats = found.get("stats") or {}
            line += [stats.get(name) for name in STATS]
            line += [found.get(name) for name in ("overhead", "net", "net_per_op")]
        line += [row["cpi"], row["us"], row["mb_per_s"], "; ".join(row["errors"])]
        writer.writerow(line)
    return out.getvalue()


def _bmf(result: Json, catalogue: Catalogue) -> str:
    """Latency is in nanoseconds there; cycles and instructions are measures of our own."""
    out: dict[str, dict[str, dict[str, float]]] = {}
    for row in view.rows(result):
        measures = {}
        for measure, series in (("cycles", "cycles"), ("instructions", "instret")):
            value = view.per_op(row, series)
            if value is not None:
                measures[measure] = _range(row, series, value)
        if "cycles" in measures and row["us"] is not None:
            scale = result["provenance"]["board"]["clock_hz"] / 1e9
            latency = {name: round(v / scale, 3) for name, v in measures["cycles"].items()}
            measures["latency"] = latency
        if measures:
            out[view.name(row)] = measures
    return _json(out)


def _range(row: Json, series: str, value: float) -> dict[str, float]:
    """A value with the least and the greatest steady sample, net and for one operation like it."""
    stats = row[series]["stats"]
    if not stats:
        return {"value": value}
    return {
        "value": value,
        "lower_value": value - (stats["median"] - stats["min"]) / row["inner"],
        "upper_value": value + (stats["max"] - stats["median"]) / row["inner"],
    }


def _github(result: Json, catalogue: Catalogue) -> str:
    out = []
    for row in view.rows(result):
        value = view.per_op(row)
        if value is None:
            continue
        stats = row["cycles"]["stats"]
        entry: Json = {"name": view.name(row), "unit": "cycles", "value": value}
        if stats:
            entry["range"] = f"± {stats['sd'] / row['inner']:g}"
        known = catalogue.benchmarks.get(row["id"])
        what = [known.what] if known else []
        entry["extra"] = "\n".join([*what, view.provenance(result)])
        out.append(entry)
    return _json(out)


def _lmbench(result: Json, catalogue: Catalogue) -> str:
    """One line for a time; a block, titled with a quote, for what has a size or is a sweep."""
    lines = [f"[tockmark: {result['provenance']['tool']['version']}]"]
    lines += [f"[OS: {view.kernel(result)}]", f"[machine: {view.provenance(result)}]", ""]
    blocks: dict[str, list[str]] = {}
    for row in view.rows(result):
        if view.net(row) is None or row["us"] is None:
            continue
        size = row["params"].get("size")
        if row["mb_per_s"] is not None and isinstance(size, int):
            rest = {name: value for name, value in row["params"].items() if name != "size"}
            title = label(row["id"], rest)
            line = f"{size / 1e6:.6f} {row['mb_per_s']:.2f}"
            blocks.setdefault(f'"{_cached(title, row)}', []).append(line)
        else:
            time = f"{row['us'] / row['inner']:.4f} microseconds"
            lines.append(f"{_cached(label(row['id'], row['params']), row)}: {time}")
    for title, block in blocks.items():
        lines += ["", title, *block]
    return "\n".join(lines) + "\n"


def _cached(title: str, row: Json) -> str:
    return title if row["icache"] is None else f"{title} icache={view.ICACHE[row['icache']]}"


def _json(data: object) -> str:
    return json.dumps(data, indent=1, ensure_ascii=False) + "\n"


FORMS: dict[str, Callable[[Json, Catalogue], str]] = {
    "csv": _csv,
    "bmf": _bmf,
    "github": _github,
    "lmbench": _lmbench,
}
