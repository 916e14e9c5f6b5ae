# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Layouts to run in, and whether several links of a kernel differ in their layout only.

Links are told apart by the addresses of their symbols. They count as alike in all else if they have
the same functions and sections, in sizes that what a linker does by itself explains: it pads
sections, and where a call reaches farther it takes another instruction.
"""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass

from tockmark.errors import TockmarkError
from tockmark.paths import shown
from tockmark.rig.elf import ALLOCATED, IS_FUNCTION, IS_OBJECT, read_elf
from tockmark.rig.image import KernelElf

SECTION = (1024, 100)  # a section may differ by so many bytes, or by one part in so many
FUNCTION = (16, 16)  # the same of a function: a few calls in a short one, more in a long one
END = 32  # characters of either end of a long symbol that are shown


@dataclass(frozen=True)
class RunLayout:
    """One layout to run in: a link of the kernel, and the seed of the apps' layout."""

    kernel: KernelElf
    link: str | None  # hash of the kernel's symbols and their addresses; None: it has none
    seed: int = 0  # 0: the apps as they are without a seed


@dataclass(frozen=True)
class _Link:
    """What is compared of a link; sizes in bytes."""

    sections: dict[str, int]
    symbols: tuple[tuple[str, int], ...]  # functions and objects by name and address
    functions: dict[str, list[int]]  # the sizes of those that have the same name, sorted

    @property
    def hash(self) -> str | None:
        text = "".join(f"{name} {address:#x}\n" for name, address in self.symbols)
        return hashlib.sha256(text.encode()).hexdigest() if text else None


def layouts(kernels: Sequence[KernelElf], seeds: int) -> tuple[RunLayout, ...]:
    """As many layouts as there are kernels or seeds, whichever are more: both are used in turn.
    TockmarkError if the kernels are not links of one source that differ in their layout."""
    links = [_read(kernel) for kernel in kernels]
    base, *others = links
    seen: dict[str | None, KernelElf] = {base.hash: kernels[0]}
    for kernel, link in zip(kernels[1:], others, strict=True):
        if why := _unlike(kernels[0], kernel, base, link):
            raise TockmarkError(
                f"{shown(kernel.path)} is no other link of the same source as"
                f" {shown(kernels[0].path)}: {why}",
                "run each kernel by itself, and compare the results",
            )
        if link.hash in seen:
            raise TockmarkError(
                f"{shown(kernel.path)} has the layout of {shown(seen[link.hash].path)}",
                "give links with another order of functions: docs/layouts.md",
            )
        seen[link.hash] = kernel
    count = len(kernels)
    return tuple(
        RunLayout(kernels[i % count], links[i % count].hash, i % seeds)
        for i in range(max(seeds, count))
    )


def _read(kernel: KernelElf) -> _Link:
    elf = read_elf(kernel.path)
    sections = {one.name: one.size for one in elf.sections if one.flags & ALLOCATED}
    symbols = [
        (one.name, one.address) for one in elf.symbols if one.kind in (IS_OBJECT, IS_FUNCTION)
    ]
    functions: dict[str, list[int]] = {}
    for one in elf.symbols:
        if one.kind == IS_FUNCTION:
            functions.setdefault(one.name, []).append(one.size)
    return _Link(sections, tuple(sorted(symbols)), {n: sorted(s) for n, s in functions.items()})


def _unlike(first: KernelElf, second: KernelElf, base: _Link, other: _Link) -> str | None:
    """In what two kernels differ besides their layout, if in anything."""
    if not (base.functions and other.functions):
        bare = first if not base.functions else second
        return f"{shown(bare.path)} has no symbols to tell by"
    if first.name != second.name:
        return f"it says that it is {second.name or 'none of ours'}"
    for name in sorted(base.sections.keys() | other.sections.keys()):
        sizes = base.sections.get(name, 0), other.sections.get(name, 0)
        if beyond(sizes, SECTION):
            return f"section {name} has {sizes[1]} bytes, not {sizes[0]}"
    for name in sorted(base.functions.keys() | other.functions.keys()):
        here, there = base.functions.get(name, []), other.functions.get(name, [])
        if len(here) != len(there):
            return f"it has {len(there)} functions {_short(name)}, not {len(here)}"
        for sizes in zip(here, there, strict=True):
            if beyond(sizes, FUNCTION):
                return f"function {_short(name)} has {sizes[1]} bytes, not {sizes[0]}"
    return None


def _short(name: str) -> str:
    """Both ends of a symbol, which in Rust may have hundreds of characters."""
    return name if len(name) <= 2 * END else f"{name[:END]}…{name[-END:]}"


def beyond(sizes: tuple[int, int], limits: tuple[int, int]) -> bool:
    """Whether two sizes differ by more than some bytes, and by more than one part in some."""
    least, part = limits
    return abs(sizes[0] - sizes[1]) > max(least, sizes[0] / part)
