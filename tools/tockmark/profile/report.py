# SPDX-License-Identifier: Apache-2.0 OR MIT
"""A profile as text: the tables by phase and by function, and the sample's listing."""

import re
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

from tockmark.profile import attribute
from tockmark.profile.attribute import CAUSES, Place, Profile, ProfileLine
from tockmark.show import text

OBJCOPY, OBJDUMP = "riscv64-unknown-elf-objcopy", "riscv64-unknown-elf-objdump"
LINE = 100
WIDTHS = (6, 6, 6, 6, 6, 6, 7, 5, 6, 6)
COLUMNS = ("cycles", "%", "instr", "exec", "fetch", "load/", "branch", "mul/", "trap/", "in")
SECOND = ("", "", "", "", "", "store", "", "div", "CSR", "body")
SHOWN = 24  # functions; the rest in one line


def tables(profile: Profile) -> str:
    """Both tables."""
    by_phase = profile.by(lambda place: place.phase)
    ordered = {phase: by_phase[phase] for phase in attribute.PHASES if phase in by_phase}
    by_function = profile.by(function)
    costly = dict(sorted(by_function.items(), key=lambda item: -item[1].cycles))
    return "\n".join(
        [
            *_table("phase", ordered, profile.sample.cycles),
            "",
            *_table("function", _first(costly), profile.sample.cycles),
        ]
    )


def function(place: Place) -> str:
    """The name of the innermost function, and where it is written."""
    return str(place.stack[-1])


def _first(lines: dict[str, ProfileLine]) -> dict[str, ProfileLine]:
    """The first of them, and the sum of the rest."""
    names = list(lines)
    if len(names) <= SHOWN:
        return lines
    shown = {name: lines[name] for name in names[: SHOWN - 1]}
    return {**shown, f"{len(names) - SHOWN + 1} more": _sum(lines[n] for n in names[SHOWN - 1 :])}


def _sum(lines: Iterator[ProfileLine] | list[ProfileLine]) -> ProfileLine:
    lines = list(lines)
    causes = sum((line.causes for line in lines), type(lines[0].causes)())
    return ProfileLine(causes, sum(x.instructions for x in lines), sum(x.in_body for x in lines))


def _table(what: str, lines: dict[str, ProfileLine], whole: int) -> Iterator[str]:
    total = _sum(list(lines.values()))
    assert total.cycles == whole
    yield f"{_cells(COLUMNS)}"
    yield f"{_cells(SECOND)}  {what}"
    yield "-" * LINE
    for name, line in {**lines, "sum": total}.items():
        if name == "sum":
            yield "-" * LINE
        share = text.points(line.cycles / whole, digits=1)
        causes = [str(line.causes[cause] or "-") for cause in CAUSES]
        body = str(line.in_body or "-")
        cells = _cells([str(line.cycles), share, str(line.instructions), *causes, body])
        yield f"{cells}  {fitting(name, LINE - len(cells) - 2)}"


def _cells(values: tuple[str, ...] | list[str]) -> str:
    return "".join(f"{value:>{width}}" for value, width in zip(values, WIDTHS, strict=True))


def fitting(name: str, room: int) -> str:
    """A name with its file, less the outer folders if it is too long."""
    function, _, path = name.partition(" (")
    folders = path.split("/")
    while len(name) > room and len(folders) > 1:
        folders = folders[1:]
        name = f"{function} (…/{'/'.join(folders)}"
    return name


def listing(profile: Profile, elves: list[Path]) -> Iterator[str]:
    """The sample, an instruction a line: its charges, its address, what it is, where it belongs."""
    instructions = _disassembly(elves)
    charged: dict[int, list[str]] = {}
    cycles: dict[int, int] = {}
    for charge in profile.charges:
        cycles[charge.step] = cycles.get(charge.step, 0) + charge.cycles
        charged.setdefault(charge.step, []).append(f"{charge.cause} {charge.cycles}")
    yield f"{'cycles':>6} {'address':8}  {'instruction':34} {'function, phase':40} charged"
    for number in range(profile.sample.first + 1, profile.sample.last + 1):
        step, place = profile.sample.steps[number], profile.places[number]
        where = f"{place.stack[-1].name}, {place.phase}"
        assembly = instructions.get(step.pc, f"{step.insn:#x}")
        why = ", ".join(sorted(charged[number]))
        yield f"{cycles[number]:6} {step.pc:08x}  {assembly:34} {where:40} {why}"


def _disassembly(elves: list[Path]) -> dict[int, str]:
    line = re.compile(r"\s*([0-9a-f]+):\t[0-9a-f ]+\t(.*)")
    found: dict[int, str] = {}
    with tempfile.TemporaryDirectory() as folder:
        for elf in elves:
            # Without the attributes, which name no Zicsr, objdump knows the CSR instructions too.
            bare = str(Path(folder) / elf.name)
            strip = [OBJCOPY, "--remove-section=.riscv.attributes", str(elf), bare]
            if subprocess.run(strip, capture_output=True, check=False).returncode:
                continue  # tockmark reads some files that binutils does not
            done = subprocess.run([OBJDUMP, "-d", bare], capture_output=True, check=False)
            for match in filter(
                None, map(line.match, done.stdout.decode("utf-8", "replace").splitlines())
            ):
                found[int(match[1], 16)] = " ".join(re.sub("[#<].*", "", match[2]).split())
    return found
