# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Makes docs/findings.md from its template and the committed results: `make findings`.

The template, docs/findings.md.j2, has the words; every number in the page is looked up in a result
file or a profile under results/. With --check nothing is written, and the exit code is 1 if the
page is not what the results say.
"""

import json
import sys
from pathlib import Path
from typing import Any

import jinja2

from tockmark.result import result as results
from tockmark.show import view
from tockmark.suite import catalogue as catalogues
from tockmark.suite.catalogue import label

ROOT = Path(__file__).resolve().parents[1]
TEMPLATE, PAGE = ROOT / "docs" / "findings.md.j2", ROOT / "docs" / "findings.md"
PROFILES = ROOT / "results" / "profiles"
Json = dict[str, Any]


class Run:
    """A result file, by row."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.result = results.load(ROOT / "results" / f"{name}.json")
        self.kernel: Json = self.result["provenance"]["kernel"]
        self.board: Json = self.result["provenance"]["board"]
        self.rows = {
            (row["icache"], label(row["id"], row["params"])): row for row in view.rows(self.result)
        }

    def row(self, name: str, icache: bool = True) -> Json | None:
        return self.rows.get((icache, name))

    def net(self, name: str, icache: bool = True) -> float | None:
        """Net cycles of one sample; time.read as measured."""
        return view.signed(self.row(name, icache))

    def per_op(self, name: str, icache: bool = True) -> float | None:
        return view.signed_per_op(self.row(name, icache))

    def instructions(self, name: str, icache: bool = True) -> float | None:
        """Net instructions of one sample; of time.read as measured."""
        return view.signed(self.row(name, icache), "instret")

    def skipped(self) -> list[tuple[str, str]]:
        """What was not measured, and why, each once."""
        return list(dict.fromkeys((row["id"], row["why"]) for row in self.result["skipped"]))


class Findings:
    """What the template can ask for."""

    def __init__(self) -> None:
        self.catalogue = catalogues.load()
        self.runs: dict[str, Run] = {}

    def run(self, name: str) -> Run:
        if name not in self.runs:
            self.runs[name] = Run(name)
        return self.runs[name]

    def table(self, columns: dict[str, str], groups: list[str], icache: bool = True) -> str:
        """Net cycles of one operation; `columns` has a heading for each run. From the second run
        on each has its ratio to the first. A row that only the first run has is left out."""
        runs = [self.run(name) for name in columns.values()]
        heads = list(columns)
        lines = ["| row | " + " | ".join([heads[0], *(f"{h} | ×" for h in heads[1:])]) + " |"]
        lines.append("|---|" + "--:|" * (2 * len(runs) - 1))
        for name in self._labels(groups):
            found = [run.per_op(name, icache) for run in runs]
            if not any(value is not None for value in found[1:] or found):
                continue
            cells = [number(found[0])]
            for value in found[1:]:
                cells += [number(value), ratio(found[0], value)]
            lines.append(f"| {name} | " + " | ".join(cells) + " |")
        return "\n".join(lines)

    def _labels(self, groups: list[str]) -> list[str]:
        """The rows of groups, of benchmarks, or single ones, in the catalogue's order."""
        return [
            label(id_, params)
            for id_, params in self.catalogue.rows(self.catalogue.benchmarks)
            if {id_, id_.partition(".")[0], label(id_, params)}.intersection(groups)
        ]

    def profiles(self, kernel: str) -> list[Json]:
        """All stored profiles of a kernel, by name."""
        return [json.loads(p.read_text()) for p in sorted(PROFILES.glob(f"{kernel}-*.json"))]


def number(value: float | None) -> str:
    """As many digits as a reader needs."""
    if value is None:
        return "-"
    return f"{value:,.0f}" if abs(value) >= 100 or value == int(value) else f"{value:.2f}"


def ratio(base: float | None, value: float | None) -> str:
    return f"{value / base:.2f}" if base and value and base > 0 else "-"


def share(part: float, whole: float) -> str:
    return f"{100 * part / whole:.0f} %"


def render() -> str:
    """The whole page."""
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(TEMPLATE.parent),
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        autoescape=False,
    )
    environment.filters["number"] = number
    template = environment.from_string(TEMPLATE.read_text(encoding="utf-8"))
    made = template.render(f=Findings(), number=number, ratio=ratio, share=share)
    return made.rstrip() + "\n"


def main() -> int:
    made = render()
    fresh = PAGE.exists() and PAGE.read_text(encoding="utf-8") == made
    if "--check" in sys.argv:
        if not fresh:
            print(f"{PAGE.relative_to(ROOT)}: not what the results say; run `make findings`")
        return 0 if fresh else 1
    PAGE.write_text(made, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
