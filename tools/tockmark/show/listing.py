# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The verb `list`: the catalogue by section, with what each benchmark means."""

import textwrap

from tockmark.suite.catalogue import Catalogue

CORES = 2


def render(catalogue: Catalogue) -> str:
    """All benchmarks as text."""
    lines: list[str] = []
    for section, benchmarks in catalogue.in_sections(catalogue.benchmarks.values(), lambda b: b.id):
        lines += [section, "-" * len(section)]
        for benchmark in benchmarks:
            params = "; ".join(
                f"{name} = {', '.join(map(str, values))}"
                for name, values in benchmark.params.items()
            )
            lines.append(f"{benchmark.id}{f'  ({params})' if params else ''}")
            size = f"{benchmark.samples} samples"
            if benchmark.inner > 1:
                size += f" of {benchmark.inner} x {benchmark.unit}"
            size += f"; at most {benchmark.budget:g} M cycles of the simulator"
            for text in (benchmark.what, f"Counted: {benchmark.counts}", size):
                lines += textwrap.wrap(text, 100, initial_indent="    ", subsequent_indent="      ")
        lines.append("")
    lines += textwrap.wrap(_whole(catalogue), 100)
    return "\n".join(lines).rstrip() + "\n"


def as_json(catalogue: Catalogue) -> list[dict[str, object]]:
    """All benchmarks for other programs, in the catalogue's order."""
    return [
        {
            "section": section,
            "id": one.id,
            "params": one.params,
            "touches": one.touches,
            "what": one.what,
            "counts": one.counts,
            "unit": one.unit,
            "inner": one.inner,
            "samples": one.samples,
            "budget_mcycles": one.budget,
        }
        for section, some in catalogue.in_sections(catalogue.benchmarks.values(), lambda b: b.id)
        for one in some
    ]


def _whole(catalogue: Catalogue) -> str:
    """What `tockmark run` will take, by the budget; a core simulates a million cycles a second."""
    boots = 2 * len(catalogue.boots())
    minutes = catalogue.budget / CORES / 60
    return (
        f"`tockmark run` is {boots} boots, at most {catalogue.budget:g} M cycles of the simulator"
        f" on the baseline kernel: about {minutes:.0f} min on {CORES} cores of a million cycles"
        " a second."
        " A kernel that takes longer for its work takes longer here, Tock about four times as long."
        " Samples beyond 64 are taken with --all-samples only."
    )
