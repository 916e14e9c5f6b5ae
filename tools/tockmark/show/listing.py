# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The verb `list`: the catalogue by section, with what each benchmark means."""

import textwrap

from tockmark.suite.catalogue import Catalogue


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
            for text in (benchmark.what, f"Counted: {benchmark.counts}", size):
                lines += textwrap.wrap(text, 100, initial_indent="    ", subsequent_indent="      ")
        lines.append("")
    return "\n".join(lines).rstrip() + "\n"
