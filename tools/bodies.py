# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Disassembles the measured bodies out of the built apps into the file that the site shows them
from (tools/tockmark/site/bodies.txt). `make tables` calls it. With --check nothing is written, and
the exit code is 1 if the file is not what the apps hold."""

import re
import subprocess
import sys
from collections.abc import Iterable, Iterator
from itertools import groupby
from pathlib import Path

from tockmark import paths
from tockmark.site.pages import BOTH, FILE, Body
from tockmark.suite.catalogue import load

OBJDUMP, NM = "riscv64-unknown-elf-objdump", "riscv64-unknown-elf-nm"
HEAD = "# The measured bodies. tools/bodies.py makes this file from the built apps.\n"
_LINE = re.compile(r"\s*(?P<at>[0-9a-f]+):\t(?P<what>[^\n]*)")
_RELOCATED = re.compile(r"\s*[0-9a-f]+: R_RISCV_(?P<kind>\w+)\t(?P<to>\S+)")
_SYMBOL = re.compile(r"(?P<at>[0-9a-f]+) (?:(?P<size>[0-9a-f]+) )?\w (?P<name>\S+)")
JUMPS = ("JAL", "BRANCH", "RVC_JUMP", "RVC_BRANCH", "CALL", "CALL_PLT")  # relocations of jumps
SAME = 4  # so many equal instructions and more are told, not listed


def disassembled(abi: int) -> dict[str, str]:
    """Every procedure of apps/asm by its name."""
    folder = paths.APPS / f"c-abi{abi}" / "asm"
    objects = sorted(folder.glob("*.o"))
    if not objects:
        raise SystemExit(f"{paths.shown(folder)} holds no object; run `make apps`")
    return {name: text for path in objects for name, text in procedures(path).items()}


def procedures(path: Path) -> dict[str, str]:
    """Those of one object: the symbols that have a size."""
    symbols = [
        match.groups()
        for match in map(_SYMBOL.match, said(NM, "--special-syms", "-S", path))
        if match
    ]
    places = {name: int(at, 16) for at, _, name in symbols}
    lines = list(instructions(said(OBJDUMP, "-d", "-r", "--no-show-raw-insn", path)))
    found = {}
    for at, size, name in symbols:
        if size:
            first = int(at, 16)
            own = [line for line in lines if first <= line[0] < first + int(size, 16)]
            found[name] = "\n".join(told([placed(line, first, places) for line in own]))
    return found


def said(program: str, *arguments: str | Path) -> list[str]:
    """What a program of binutils prints."""
    command = [program, *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return done.stdout.replace("\x02", "^B").split("\n")  # nm and objdump write it differently


def instructions(lines: Iterable[str]) -> Iterator[tuple[int, str, tuple[str, str] | None]]:
    """Address, instruction and relocation of each."""
    last: tuple[int, str, tuple[str, str] | None] | None = None
    for line in lines:
        if (match := _RELOCATED.match(line)) and last:
            if not match["to"].startswith("*"):
                last = *last[:2], (match["kind"], match["to"])
        elif match := _LINE.match(line):
            if last:
                yield last
            last = int(match["at"], 16), re.sub(r"\s*(#|<).*", "", match["what"]), None
    if last:
        yield last


def placed(
    line: tuple[int, str, tuple[str, str] | None], first: int, places: dict[str, int]
) -> tuple[int, str]:
    """The offset and the instruction of one line; where a jump inside goes as an offset too, and
    what the linker fills in by its name."""
    at, what, relocated = line
    name, _, operands = what.partition("\t")
    parts = operands.split(",") if operands else []
    if relocated:
        kind, to = relocated
        inside = to.startswith(".L") and to in places
        target = f"{places[to] - first:x}" if inside else to
        if kind in JUMPS:
            parts[-1:] = [target]
        elif not to.startswith(".L"):
            parts[-1:] = [f"{parts[-1]}  # {target}"]
    return at - first, f"{name:8} {', '.join(parts)}".rstrip()


def told(found: list[tuple[int, str]]) -> list[str]:
    """A line each; of many equal ones in a row the first, and how many more there are."""
    lines = []
    for what, some in groupby(found, key=lambda one: one[1]):
        at = [place for place, _ in some]
        shown = at if len(at) < SAME else at[:1]
        lines += [f"{place:5x}  {what}" for place in shown]
        if len(at) > len(shown):
            lines.append(f"    …  the same {len(at) - 1} times more")
    return lines


def made() -> str:
    """The whole file."""
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
    return "\n".join([HEAD, *(body.text for body in bodies)])


def main() -> int:
    text = made()
    old = FILE.read_text(encoding="utf-8") if FILE.exists() else ""
    if text == old:
        return 0
    if "--check" in sys.argv:
        print(f"{paths.shown(FILE)}: stale; run `make tables`")
        return 1
    FILE.write_text(text, encoding="utf-8")
    print(f"{paths.shown(FILE)}: refreshed")
    return 0


if __name__ == "__main__":
    sys.exit(main())
