# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Show what a call of each function costs, in a steady sample or from the kernel's first
instruction to the end of the run (`profile --functions`). follow.py defines what counts as a call.
"""

import re
import tempfile
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from fnmatch import fnmatchcase
from pathlib import Path

from tockmark.base.errors import TockmarkError
from tockmark.base.files import write_whole
from tockmark.profile import callgrind
from tockmark.profile.file import hashed_title
from tockmark.profile.follow import Function, Graph, follow
from tockmark.profile.report import figure_cells, named_table
from tockmark.profile.run import Codes, ProfileOptions, load_kernel_program, read_trace, trace_row
from tockmark.profile.sample import MODE, PC, Step, parse
from tockmark.show import text
from tockmark.suite.catalogue import ICACHE, Catalogue

COUNTS = ("path", "calls", "inlined", "cut", "cycles")  # fields of a function in JSON

COLUMNS = (
    "\ncalls",
    "\ncut",
    "cycles\nof its own",
    "instr.\nof its own",
    "cycles\nwith callees",
    "instr.\nwith callees",
)
SHOWN = 40  # functions


@dataclass(frozen=True)
class Costs:
    """The costs of functions in a trace."""

    options: ProfileOptions
    whole: bool  # whether the trace is the whole run, not a steady sample
    cycles: int  # in the trace
    lines: bool  # whether line tables show the kernel's inlined functions
    functions: Sequence[Function]


def count_costs(
    options: ProfileOptions, catalogue: Catalogue, names: Sequence[str] = (), whole: bool = False
) -> Costs:
    """Count the calls of all functions and select those that match `names`.

    Raise TockmarkError as `profile` does, or if a name matches no function that ran."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "trace.gz" if whole else None
        run = trace_row(options, catalogue, file)
        kernel = load_kernel_program(options.kernel)
        codes = Codes(kernel, run.image)
        steps: Iterable[Step] = run.sample.steps[run.sample.first + 1 : run.sample.last + 1]
        if file is None:
            codes.look_up((step.user, step.pc) for step in steps)
        else:
            codes.look_up({(line[MODE] == "U", int(line[PC], 16)) for line in read_trace(file)})
            steps = map(parse, read_trace(file))
        graph = Graph()
        functions = follow(steps, codes.code_of, graph).values()
    cycles = sum(function.cycles for function in functions)
    shown = Costs(options, whole, cycles, kernel.lines, select_functions(functions, names))
    if options.callgrind is not None:
        write_whole({options.callgrind: callgrind.text(graph, _title(shown))})
    return shown


def select_functions(functions: Iterable[Function], names: Sequence[str]) -> list[Function]:
    """Return the functions that match a name, the most expensive first; without names, all
    functions outside libraries. Raise TockmarkError if a name matches none."""
    everything = sorted(functions, key=lambda function: (-function.cycles, function.path))
    if not names:
        return [function for function in everything if not function.in_library]
    for name in names:
        if not any(matches(name, function.path) for function in everything):
            raise TockmarkError(
                f"no function that ran is called {name!r}",
                "give a path or a part of one, like grant or '*::enter', or no name to see all",
            )
    return [
        function for function in everything if any(matches(name, function.path) for name in names)
    ]


def matches(name: str, path: str) -> bool:
    """Return whether a name matches a path: as a pattern for the whole path, or as consecutive
    parts of it."""
    if re.search(r"[*?\[]", name):
        return fnmatchcase(path, name)
    return f"::{name}::" in f"::{path}::"


def costs_text(costs: Costs) -> str:
    """Format a table with a line per function, most own cycles first."""
    options = costs.options
    unknown = "" if costs.lines else ", by symbol: inlined functions are not known"
    table = named_table("function", COLUMNS)
    for function in costs.functions[:SHOWN]:
        called = f"{function.calls}{'~' if function.inlined else ''}"
        cells = figure_cells(called, function.cut, *function.spreads.values())
        table.add(*cells, function.path)
    table.add(text.RULE)
    lines = [
        _title(costs),
        f"kernel  {hashed_title(options.measured)}{unknown}",
        "",
        *table.text(),
        *text.wrap(
            "Calls that differ: least-median-most. ~: inlined. Calls cut off by an end"
            " of the trace are not in the figures.",
            "",
        ),
    ]
    if len(costs.functions) > SHOWN:
        lines.append(f"{len(costs.functions) - SHOWN} more; name some after --functions.")
    return "\n".join(lines)


def _title(costs: Costs) -> str:
    trace = "the whole run" if costs.whole else "one steady sample"
    cached = ICACHE[costs.options.icache]
    return f"{costs.options.label}, i-cache {cached}: calls in {trace}, {costs.cycles} cycles"


def costs_json(costs: Costs) -> dict[str, object]:
    """Return the costs as JSON values, of all selected functions."""
    return {
        "row": costs.options.label,
        "icache": costs.options.icache,
        "kernel": costs.options.measured.title,
        "sha256": costs.options.kernel.sha256,
        "of": "run" if costs.whole else "sample",
        "cycles": costs.cycles,
        "functions": [
            {
                **{name: getattr(function, name) for name in COUNTS},
                **{name: spread and asdict(spread) for name, spread in function.spreads.items()},
            }
            for function in costs.functions
        ],
    }
