# SPDX-License-Identifier: Apache-2.0 OR MIT
"""`profile --functions`: what a call of each function costs, in a steady sample of a benchmark or
in all of its app's run, from the kernel's first instruction on."""

import bisect
import gzip
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from tockmark.profile.attribute import charged
from tockmark.profile.calls import KERNEL, Code, Tracker
from tockmark.profile.functions import Function, Functions, Spread, chosen, spread
from tockmark.profile.symbols import Program
from tockmark.profile.trace import MODE, PC, Step, parse
from tockmark.profile.traced import Options, kernel_of, traced
from tockmark.show import text
from tockmark.suite.catalogue import ICACHE, Catalogue
from tockmark.target.image import Image

WIDTHS = (6, 5, 12, 11, 14, 13)
FIRST = ("", "", "cycles", "instr.", "with callees:", "")
SECOND = ("calls", "cut", "of its own", "of its own", "cycles", "instr.")
SHOWN = 40  # functions, where no name chooses them


@dataclass(frozen=True)
class Costs:
    """What functions cost in a trace."""

    options: Options
    whole: bool  # of the run, else of a steady sample
    cycles: int  # of the trace
    lines: bool  # whether the kernel's inlined functions are known
    functions: Sequence[Function]


class Codes:
    """The kernel, and the apps of an image by their number."""

    def __init__(self, kernel: Program, image: Image) -> None:
        self.kernel = kernel
        self._apps = [Program(slot.elf) for slot in image.slots]
        self._starts = [slot.flash_start for slot in image.slots]

    def study(self, addresses: Iterable[tuple[bool, int]]) -> None:
        """Look all code up that runs: in user mode or not, and where."""
        ran: dict[int, set[int]] = {}
        for user, address in addresses:
            ran.setdefault(self._number(address) if user else KERNEL, set()).add(address)
        for number, of in ran.items():
            (self.kernel if number == KERNEL else self._apps[number]).study(of)

    def of(self, step: Step) -> tuple[int, Code]:
        """Whose stack an instruction is of, and its code."""
        if not step.user:
            return KERNEL, self.kernel
        number = self._number(step.pc)
        return number, self._apps[number]

    def _number(self, address: int) -> int:
        return max(bisect.bisect_right(self._starts, address) - 1, 0)


def costs(
    options: Options, catalogue: Catalogue, names: Sequence[str] = (), whole: bool = False
) -> Costs:
    """Count the calls of all functions, and choose those that `names` mean. TockmarkError as for a
    profile, or if a name means no function that ran."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "trace.gz" if whole else None
        run = traced(options, catalogue, file)
        sample = run.sample
        codes = Codes(kernel_of(options.kernel), run.image)
        found = Functions()
        if file is None:
            steps = sample.steps[sample.first + 1 : sample.last + 1]
            codes.study((step.user, step.pc) for step in steps)
            cycles = count(steps, codes, found)
        else:
            codes.study({(line[MODE] == "U", int(line[PC], 16)) for line in _lines(file)})
            cycles = count(map(parse, _lines(file)), codes, found)
    functions = chosen(found.found.values(), names)
    return Costs(options, whole, cycles, codes.kernel.lines, functions)


def count(steps: Iterable[Step], codes: Codes, found: Functions) -> int:
    """Follow a trace, and count the calls in it. Gives its cycles."""
    tracker = Tracker(codes.of, found.ended, found.cut)
    tracker.follow(charged(steps))
    tracker.close()
    return sum(function.cycles for function in found.found.values())


def _lines(file: Path) -> Iterator[str]:
    with gzip.open(file, "rt", encoding="ascii") as lines:
        yield from lines


def render(found: Costs) -> str:
    """As text: a function a line, those with the most cycles of their own first."""
    options = found.options
    of = "the whole run" if found.whole else "one steady sample"
    shown = found.functions[:SHOWN]
    lines = [
        f"{options.label}, i-cache {ICACHE[options.icache]}: calls in {of}, {found.cycles} cycles",
        f"kernel  {options.kernel.name or options.kernel.path.name}"
        f" sha256 {options.kernel.sha256[:12]}"
        f"{'' if found.lines else ', by symbol: what was inlined is not known'}",
        "",
        text.cells(FIRST, WIDTHS).rstrip(),
        f"{text.cells(SECOND, WIDTHS)}  function",
        "-" * text.LINE,
        *(_line(function) for function in shown),
        "-" * text.LINE,
        *text.wrap(
            "Of calls that differ: least-median-most. ~: put into other functions by the compiler."
            " Calls that are cut by the ends have no part in the figures.",
            "",
        ),
    ]
    if len(found.functions) > SHOWN:
        lines.append(f"{len(found.functions) - SHOWN} more; a name behind --functions chooses.")
    return "\n".join(lines)


def _line(function: Function) -> str:
    columns = text.cells(
        [
            f"{function.calls}{'~' if function.inlined else ''}",
            str(function.cut or text.NONE),
            *map(_told, _spreads(function).values()),
        ],
        WIDTHS,
    )
    room = text.LINE - len(columns) - 2
    name = function.path
    return f"{columns}  {name if len(name) <= room else f'…{name[1 - room :]}'}"


def _spreads(function: Function) -> dict[str, Spread | None]:
    return {
        "own_cycles": spread(function.own_cycles),
        "own_instructions": spread(function.own_instructions),
        "whole_cycles": spread(function.whole_cycles),
        "whole_instructions": spread(function.whole_instructions),
    }


def _told(of: Spread | None) -> str:
    if of is None:
        return text.NONE
    if of.least == of.most:
        return str(of.least)
    return f"{of.least}-{of.median}-{of.most}"


def as_json(found: Costs) -> dict[str, object]:
    """The same for other programs, without a limit."""
    return {
        "row": found.options.label,
        "icache": found.options.icache,
        "kernel": found.options.kernel.name or found.options.kernel.path.name,
        "sha256": found.options.kernel.sha256,
        "of": "run" if found.whole else "sample",
        "cycles": found.cycles,
        "functions": [
            {
                "path": one.path,
                "calls": one.calls,
                "inlined": one.inlined,
                "cut": one.cut,
                "cycles": one.cycles,
                **{name: of and asdict(of) for name, of in _spreads(one).items()},
            }
            for one in found.functions
        ],
    }
