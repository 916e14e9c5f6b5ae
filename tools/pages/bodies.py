# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Disassembles the measured bodies out of the built apps into the file that the site shows them
from, tools/tockmark/site/bodies.txt."""

import re
import subprocess
from collections.abc import Iterator
from itertools import groupby
from pathlib import Path
from typing import NamedTuple

from tockmark.base import paths
from tockmark.site.pages import BODIES, BOTH, Body
from tockmark.suite.catalogue import load
from tockmark.target.elf import parse_elf

HEAD = "# The measured bodies. tools/pages/bodies.py makes this file from the built apps.\n"
_LINE = re.compile(r"\s*(?P<at>[0-9a-f]+):\t(?P<what>[^\n]*)")
_RELOCATED = re.compile(r"\s*[0-9a-f]+: R_RISCV_(?P<kind>\w+)\t(?P<to>\S+)")
JUMPS = ("JAL", "BRANCH", "RVC_JUMP", "RVC_BRANCH", "CALL", "CALL_PLT")  # relocations of jumps
SAME = 4  # so many equal instructions and more are told, not listed


def made() -> dict[Path, bytes]:
    """Return the whole file."""
    versions = {abi: disassembled(abi) for abi in BOTH}
    names = dict.fromkeys(name for one in load().benchmarks.values() for name in one.bodies)
    bodies: list[Body] = []
    for name in sorted(names):
        listings = {abi: found[name] for abi, found in versions.items() if name in found}
        if not listings:
            raise SystemExit(f"no app holds {name}, which the catalogue names; run `make apps`")
        for one in dict.fromkeys(listings.values()):
            abis = tuple(abi for abi, other in listings.items() if other == one)
            bodies.append(Body(name, abis, one))
    return {BODIES: "\n".join([HEAD, *(body.text for body in bodies)]).encode()}


def disassembled(abi: int) -> dict[str, str]:
    """Return every procedure of apps/asm by its name."""
    folder = paths.APPS / f"c-abi{abi}" / "asm"
    objects = sorted(folder.glob("*.o"))
    if not objects:
        raise SystemExit(f"{paths.shown(folder)} holds no object; run `make apps`")
    return {name: text for path in objects for name, text in procedures(path)}


def procedures(path: Path) -> Iterator[tuple[str, str]]:
    """Yield the procedures of one object: the symbols that have a size."""
    symbols = [one for one in parse_elf(path.read_bytes()).symbols if one.in_section]
    # objdump writes the byte in the name of a numeric label so.
    places = {one.name.replace("\x02", "^B"): one.address for one in symbols}
    lines = instructions(path)
    for one in symbols:
        if one.size:
            first = one.address
            own = [line for line in lines if first <= line.at < first + one.size]
            texts = [(line.at - first, line.text(first, places)) for line in own]
            yield one.name, "\n".join(listed(texts))


class BodyInstruction(NamedTuple):
    """A line of objdump's, and its relocation."""

    at: int
    what: str
    relocated: tuple[str, str] | None = None  # kind and target

    def text(self, first: int, places: dict[str, int]) -> str:
        """Return the instruction, where a jump inside goes as an offset from the procedure's
        beginning, and what the linker fills in by its name."""
        name, _, operands = self.what.partition("\t")
        parts = operands.split(",") if operands else []
        kind, to = self.relocated or ("", "")
        inside = to.startswith(".L")
        if kind in JUMPS:
            parts[-1:] = [f"{places[to] - first:x}" if inside and to in places else to]
        elif kind and not inside:
            parts[-1:] = [f"{parts[-1]}  # {to}"]
        return f"{name:8} {', '.join(parts)}".rstrip()


def instructions(path: Path) -> list[BodyInstruction]:
    """Return the instructions of an object."""
    found: list[BodyInstruction] = []
    command = [paths.OBJDUMP, "-d", "-r", "--no-show-raw-insn", str(path)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    for line in done.stdout.replace("\x02", "^B").split("\n"):
        if (match := _RELOCATED.match(line)) and found:
            if not match["to"].startswith("*"):
                found[-1] = found[-1]._replace(relocated=(match["kind"], match["to"]))
        elif match := _LINE.match(line):
            what = re.sub(r"\s*(#|<).*", "", match["what"])
            found.append(BodyInstruction(int(match["at"], 16), what))
    return found


def listed(found: list[tuple[int, str]]) -> list[str]:
    """Return a line each; of many equal ones in a row the first, and how many more there are."""
    lines = []
    for what, some in groupby(found, key=lambda one: one[1]):
        at = [place for place, _ in some]
        shown = at if len(at) < SAME else at[:1]
        lines += [f"{place:5x}  {what}" for place in shown]
        if len(at) > len(shown):
            lines.append(f"    …  the same {len(at) - 1} times more")
    return lines
