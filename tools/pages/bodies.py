# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Disassembles the measured bodies in the built apps, and writes them to
tools/tockmark/site/bodies.txt, for the site."""

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
_LINE = re.compile(r"\s*(?P<at>[0-9a-f]+):\t(?P<text>[^\n]*)")
_RELOCATED = re.compile(r"\s*[0-9a-f]+: R_RISCV_(?P<kind>\w+)\t(?P<to>\S+)")
JUMPS = ("JAL", "BRANCH", "RVC_JUMP", "RVC_BRANCH", "CALL", "CALL_PLT")  # relocations of jumps
SAME = 4  # from this number on, equal instructions are counted, not listed


def generate() -> dict[Path, bytes]:
    """Return the content of the file."""
    versions = {abi: disassembled(abi) for abi in BOTH}
    benchmarks = load().benchmarks.values()
    names = dict.fromkeys(name for benchmark in benchmarks for name in benchmark.bodies)
    bodies: list[Body] = []
    for name in sorted(names):
        listings = {abi: texts[name] for abi, texts in versions.items() if name in texts}
        if not listings:
            raise SystemExit(f"no app has the body {name} of the catalogue. Run `make apps`.")
        for listing in dict.fromkeys(listings.values()):
            abis = tuple(abi for abi, other in listings.items() if other == listing)
            bodies.append(Body(name, abis, listing))
    return {BODIES: "\n".join([HEAD, *(body.text for body in bodies)]).encode()}


def disassembled(abi: int) -> dict[str, str]:
    """Return the listings of all procedures of apps/asm, by name."""
    folder = paths.APPS / f"c-abi{abi}" / "asm"
    objects = sorted(folder.glob("*.o"))
    if not objects:
        raise SystemExit(f"{paths.shown(folder)} has no object files. Run `make apps`.")
    return {name: text for path in objects for name, text in procedures(path)}


def procedures(path: Path) -> Iterator[tuple[str, str]]:
    """Yield name and listing of the procedures (symbols with a size) of an object file."""
    symbols = [symbol for symbol in parse_elf(path.read_bytes()).symbols if symbol.in_section]
    # objdump writes the byte 2 in the name of a numeric label as ^B.
    addresses = {symbol.name.replace("\x02", "^B"): symbol.address for symbol in symbols}
    lines = instructions(path)
    for symbol in symbols:
        if symbol.size:
            first = symbol.address
            own = [line for line in lines if first <= line.at < first + symbol.size]
            texts = [(line.at - first, line.text(first, addresses)) for line in own]
            yield symbol.name, "\n".join(listed(texts))


class BodyInstruction(NamedTuple):
    """An instruction in the output of objdump, and its relocation."""

    at: int
    instruction: str
    relocation: tuple[str, str] | None = None  # type and target

    def text(self, first: int, addresses: dict[str, int]) -> str:
        """Return the instruction as text, for a procedure that starts at `first`.

        Targets of jumps inside the procedure are offsets; symbols are shown by name."""
        name, _, operands = self.instruction.partition("\t")
        parts = operands.split(",") if operands else []
        kind, to = self.relocation or ("", "")
        inside = to.startswith(".L")
        if kind in JUMPS:
            parts[-1:] = [f"{addresses[to] - first:x}" if inside and to in addresses else to]
        elif kind and not inside:
            parts[-1:] = [f"{parts[-1]}  # {to}"]
        return f"{name:8} {', '.join(parts)}".rstrip()


def instructions(path: Path) -> list[BodyInstruction]:
    """Return the instructions of an object file."""
    instructions: list[BodyInstruction] = []
    command = [paths.OBJDUMP, "-d", "-r", "--no-show-raw-insn", str(path)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    for line in done.stdout.replace("\x02", "^B").split("\n"):
        if (match := _RELOCATED.match(line)) and instructions:
            if not match["to"].startswith("*"):
                instructions[-1] = instructions[-1]._replace(
                    relocation=(match["kind"], match["to"])
                )
        elif match := _LINE.match(line):
            instruction = re.sub(r"\s*(#|<).*", "", match["text"])
            instructions.append(BodyInstruction(int(match["at"], 16), instruction))
    return instructions


def listed(instructions: list[tuple[int, str]]) -> list[str]:
    """Return one line per instruction (offset and text); equal ones in a row are counted."""
    lines = []
    for text, group in groupby(instructions, key=lambda instruction: instruction[1]):
        at = [offset for offset, _ in group]
        shown = at if len(at) < SAME else at[:1]
        lines += [f"{offset:5x}  {text}" for offset in shown]
        if len(at) > len(shown):
            lines.append(f"    …  the same {len(at) - 1} times more")
    return lines
