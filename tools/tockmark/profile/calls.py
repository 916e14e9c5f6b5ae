# SPDX-License-Identifier: Apache-2.0 OR MIT
"""This shows what a call of each function costs in a steady sample, or in all of its app's run from
the kernel's first instruction on: `profile --functions`. What counts as a call is in follow.py.
"""

import re
import tempfile
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from fnmatch import fnmatchcase
from pathlib import Path

from tockmark.base.errors import TockmarkError
from tockmark.profile import callgrind
from tockmark.profile.file import hashed_title
from tockmark.profile.follow import Function, Graph, follow
from tockmark.profile.report import RULE, NamedTable
from tockmark.profile.run import Codes, ProfileOptions, load_kernel_program, read_trace, trace_row
from tockmark.profile.sample import MODE, PC, Step, parse
from tockmark.show import text
from tockmark.suite.catalogue import ICACHE, Catalogue

COUNTS = ("path", "calls", "inlined", "cut", "cycles")  # of a function, in JSON

COLUMNS = (
    ("", "calls", 6),
    ("", "cut", 5),
    ("cycles", "of its own", 12),
    ("instr.", "of its own", 11),
    ("with callees:", "cycles", 14),
    ("", "instr.", 13),
)
SHOWN = 40  # functions, where no name chooses them


@dataclass(frozen=True)
class Costs:
    """What functions cost in a trace."""

    options: ProfileOptions
    whole: bool  # of the run, else of a steady sample
    cycles: int  # of the trace
    lines: bool  # whether the kernel's inlined functions are known
    functions: Sequence[Function]


def count_costs(
    options: ProfileOptions, catalogue: Catalogue, names: Sequence[str] = (), whole: bool = False
) -> Costs:
    """Count the calls of all functions, and choose those that `names` mean. TockmarkError as for a
    profile, or if a name means no function that ran."""
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
        found = follow(steps, codes.code_of, graph).values()
    cycles = sum(function.cycles for function in found)
    shown = Costs(options, whole, cycles, kernel.lines, select_functions(found, names))
    if options.callgrind is not None:
        callgrind.write(options.callgrind, graph, _title(shown))
    return shown


def select_functions(functions: Iterable[Function], names: Sequence[str]) -> list[Function]:
    """Return those that a name means, the costly ones first; without names all but those of
    libraries. TockmarkError if a name means none."""
    everything = sorted(functions, key=lambda one: (-one.cycles, one.path))
    if not names:
        return [one for one in everything if not one.in_library]
    for name in names:
        if not any(matches(name, one.path) for one in everything):
            raise TockmarkError(
                f"no function that ran is called {name!r}",
                "names are paths or parts of them, as grant or '*::enter'; without one all are"
                " shown",
            )
    return [one for one in everything if any(matches(name, one.path) for name in names)]


def matches(name: str, path: str) -> bool:
    """Return whether a name means a path: as a pattern of all of it, or as some of its parts that
    follow one another."""
    if re.search(r"[*?\[]", name):
        return fnmatchcase(path, name)
    return f"::{name}::" in f"::{path}::"


def costs_text(found: Costs) -> str:
    """Show a function a line, those with the most cycles of their own first."""
    options = found.options
    unknown = "" if found.lines else ", by symbol: what was inlined is not known"
    table = NamedTable("function", COLUMNS, _fitting)
    for one in found.functions[:SHOWN]:
        called = f"{one.calls}{'~' if one.inlined else ''}"
        table.add_named(one.path, called, one.cut, *one.spreads.values())
    lines = [
        _title(found),
        f"kernel  {hashed_title(options.measured)}{unknown}",
        "",
        *table.text(),
        RULE,
        *text.wrap(
            "Of calls that differ: least-median-most. ~: put into other functions by the compiler."
            " Calls that are cut by the ends have no part in the figures.",
            "",
        ),
    ]
    if len(found.functions) > SHOWN:
        lines.append(f"{len(found.functions) - SHOWN} more; a name behind --functions chooses.")
    return "\n".join(lines)


def _title(found: Costs) -> str:
    of = "the whole run" if found.whole else "one steady sample"
    cached = ICACHE[found.options.icache]
    return f"{found.options.label}, i-cache {cached}: calls in {of}, {found.cycles} cycles"


def _fitting(path: str, room: int) -> str:
    return path if len(path) <= room else f"…{path[1 - room :]}"


def costs_json(found: Costs) -> dict[str, object]:
    """Return what costs_text shows for other programs, without a limit."""
    return {
        "row": found.options.label,
        "icache": found.options.icache,
        "kernel": found.options.measured.title,
        "sha256": found.options.kernel.sha256,
        "of": "run" if found.whole else "sample",
        "cycles": found.cycles,
        "functions": [
            {
                **{name: getattr(one, name) for name in COUNTS},
                **{name: of and asdict(of) for name, of in one.spreads.items()},
            }
            for one in found.functions
        ],
    }
