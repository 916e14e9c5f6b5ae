# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The kernel that is measured: its ELF, its origin, its links, and the cores that it runs on.

The origin (name, commit, flags and more) comes from the ELF, from the user's options and manifest,
and for the baseline kernel from this checkout. Contradictions are errors.

A link is one build of a kernel with its functions in one order. Two links are the same if their
symbols have equal addresses. They are of one source if their functions and constants are equal
except for what a linker changes; code.py compares them.

A core must have the PMP regions and the cache that a kernel needs, and every instruction of bit
manipulation in its functions. Bytes between functions may be data. They count only if the ELF was
built for that extension, or does not state its extensions.
"""

import functools
import hashlib
import itertools
import json
import re
import struct
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal, NamedTuple

from tockmark import BASELINE
from tockmark.base import paths
from tockmark.base.documents import Part, read_toml
from tockmark.base.errors import LONGEST_NAME, TockmarkError, print_message, printable_text
from tockmark.base.paths import make_command, shown
from tockmark.result.provenance import BitManip, Core
from tockmark.target import sources
from tockmark.target.board import BoardProfile, Room
from tockmark.target.code import LinkedCode, differences
from tockmark.target.elf import (
    ALLOCATED,
    IS_FUNCTION,
    IS_OBJECT,
    RISC_V,
    Elf,
    Section,
    pieces,
    read_elf,
)
from tockmark.target.rv32 import DRAFT, decode

SLICE_WORD = "TOCKMARK_SLICE_US"  # a symbol of the baseline kernel: kernel/README.md
RESTARTS_WORD = "TOCKMARK_FAULT_RESTARTS"
OPT_LEVEL = " opt-level="  # precedes it in the name of the baseline kernel
_OPT_LEVEL_VALUE = re.compile("[0-3sz]")
SECTION_TOLERANCE = (1024, 100)  # padding may change a section by these bytes, or one part in N
SHOWN_END = 32  # characters of each end of a long symbol in messages
PANICS = (  # symbols of functions that run only in a panic; a kernel may have several
    # Rust's handler: of the baseline kernel, and of Tock's boards, 1.x and 2.x.
    re.compile(r"(?:^|\d)rust_begin_unwind$"),
    # Its caller in Rust's core library, since the linker may have inlined the handler there.
    re.compile(r"\dcore9panicking\d+panic_(?:nounwind_)?fmt"),
)
SLOT = 8  # bytes per entry in Tock's process table: a pointer and its vtable
PROCESS_TABLE = "9PROCESSES"  # the end of its symbol, up to Tock 2.2
PROCESS_TABLE_TYPE = re.compile(rb"\bProcessArray<(\d+)>")  # its type in later debug information
EIGHT_APPS = "eight-apps"  # in the name of a baseline kernel for eight apps
_ROOM = ("_sapps", "_eapps", "_sappmem", "_eappmem")  # symbols of the bounds of Room
_BASELINE_NAME = re.compile(rf"{BASELINE} (?P<version>\S+) abi(?P<abi>\d) (?P<machine>\w+)")
_RUSTC = re.compile(rb"rustc version ([ -~]+)")
EXECUTABLE = 0x4  # bit of sh_flags
BASELINE_REGIONS = {True: 8, False: 16}  # PMP regions that it needs; True: if built for eight
EXTENSIONS: dict[BitManip, frozenset[str]] = {  # by Ibex's parameter RV32B
    "none": frozenset(),
    "balanced": frozenset({"zba", "zbb", "zbs"}),
    "otearlgrey": frozenset({"zba", "zbb", "zbs", "zbc", DRAFT}),
    "full": frozenset({"zba", "zbb", "zbs", "zbc", DRAFT}),
}
_ARCH = re.compile(rb"rv32[a-z0-9_]+")
_NAMED = re.compile(r"_(zb[a-z]+)\d")


class Origin(Part, frozen=True):
    """The origin of a kernel, as a manifest also states it. None: not known."""

    name: str | None = None
    commit: str | None = None  # of the source
    opt_level: str | Literal[0, 1, 2, 3] | None = None
    flags: str | None = None  # of the compiler and linker, if they affect the code
    rustc: str | None = None


@dataclass(frozen=True)
class KernelElf:
    """A kernel's ELF, and its origin."""

    path: Path
    name: str | None  # from the baseline kernel's image, or stated by the user
    sha256: str
    room: Room | None  # the memory for apps, if the ELF has it
    segments: tuple[tuple[int, bytes], ...]
    words: dict[str, int] = field(default_factory=dict)  # addresses of words that can be patched
    opt_level: str | None = None
    commit: str | None = None  # of its source
    flags: str | None = None
    rustc: str | None = None
    entry: int = 0  # address of its first instruction
    panics: tuple[int, ...] = ()  # addresses where a panic begins; empty: not known
    flash_bytes: int | None = None  # without padding: target/elf.py
    isa: str = RISC_V.name

    @property
    def is_baseline(self) -> bool:
        """Whether it is the baseline kernel: no other has this word."""
        return SLICE_WORD in self.words


@dataclass(frozen=True)
class RunLayout:
    """A layout to run: a link of the kernel, and the seed of the apps' layout."""

    kernel: KernelElf
    link: str | None  # hash of the kernel's symbols with their addresses; None: it has no symbols
    seed: int = 0  # 0: the apps' default layout


def read_kernel(path: Path) -> KernelElf:
    """Read a kernel ELF. TockmarkError if it is not one, or is out of date with this checkout."""
    sources.check(path)
    elf = read_elf(path)
    symbols = elf.addresses
    address, name_bytes = symbols.get("TOCKMARK_KERNEL", -1), b""
    for start, data in elf.segments:
        if start <= address < start + len(data):
            name_bytes = data[address - start :][:LONGEST_NAME].split(b"\0")[0]
    functions = (symbol for symbol in elf.symbols if symbol.in_section and symbol.kind != IS_OBJECT)
    panics = {f.address for f in functions if any(panic.search(f.name) for panic in PANICS)}
    name, _, opt_level = printable_text(name_bytes.decode("ascii", "replace")).partition(OPT_LEVEL)
    return KernelElf(
        path,
        name.strip() or None,
        elf.sha256,
        Room(*(symbols[bound] for bound in _ROOM)) if symbols.keys() >= set(_ROOM) else None,
        elf.segments,
        {word: symbols[word] for word in (SLICE_WORD, RESTARTS_WORD) if word in symbols},
        opt_level if _OPT_LEVEL_VALUE.fullmatch(opt_level) else None,
        rustc=rustc_versions(elf.content(".comment")),
        entry=elf.entry,
        panics=tuple(sorted(panics)),
        flash_bytes=sum(piece.size for piece in pieces(elf) if piece.in_flash),
        isa=elf.isa.name,
    )


class AppCapacity(NamedTuple):
    """The number of apps that a kernel can run, and how it is known."""

    apps: int
    by: Literal["the kernel's symbols", "the kernel's types", "its name"]
    evidence: str


def app_capacity(kernel: KernelElf) -> AppCapacity | None:
    """Return how many apps a kernel can run, or None if the ELF does not show it."""
    if kernel.is_baseline:
        name = kernel.name or ""
        return AppCapacity(8 if EIGHT_APPS in name else 4, "its name", name)
    for symbol in read_elf(kernel.path).symbols:
        if symbol.name.endswith(PROCESS_TABLE) and symbol.size:
            evidence = f"PROCESSES has {symbol.size} bytes, {SLOT} a process"
            return AppCapacity(symbol.size // SLOT, "the kernel's symbols", evidence)
    counts = {int(count) for count in PROCESS_TABLE_TYPE.findall(kernel.path.read_bytes())}
    if len(counts) != 1:
        return None
    (count,) = counts
    return AppCapacity(count, "the kernel's types", f"its table is a ProcessArray<{count}>")


def check_app_capacity(kernel: KernelElf, count: int) -> None:
    """Raise a TockmarkError if a kernel is known to run fewer apps than this."""
    capacity = app_capacity(kernel)
    if capacity is not None and capacity.apps < count:
        raise TockmarkError(
            f"{kernel.name or shown(kernel.path)} can run {capacity.apps} apps; there are {count}",
            f"give --kernel a build for {count} apps; for ours {make_command('kernel-eight')}",
        )


@functools.cache
def warn_without_panics(path: Path) -> None:
    """Warn once per kernel that its panics are not recognised."""
    print_message(
        f"{shown(path)} has no symbol of Rust's panic handler: if it panics, its boot ends only at"
        " a limit. Give an ELF with symbols."
    )


def with_origin(
    kernel: KernelElf,
    name: str | None = None,
    opt_level: str | None = None,
    manifest: Path | None = None,
) -> KernelElf:
    """Return a kernel with its origin from options, a manifest and this checkout.

    TockmarkError if they contradict each other or the ELF."""
    facts_by_source = {
        shown(kernel.path): origin_facts(kernel),
        "--kernel-name": {} if name is None else {"name": name},
        "--opt-level": {} if opt_level is None else {"opt_level": opt_level},
    }
    if manifest is not None:
        facts_by_source[shown(manifest)] = read_manifest_facts(manifest)
    built_here = kernel.is_baseline and kernel.path.resolve().is_relative_to(paths.ROOT)
    facts = checkout_facts() if built_here else {}
    return replace(kernel, **{**facts, **merge_facts(facts_by_source)})  # type: ignore[arg-type]


def origin_facts(kernel: object) -> dict[str, str]:
    """Return the fields of Origin that an object has and that are not None."""
    facts = {key: getattr(kernel, key) for key in Origin.__struct_fields__}
    return {key: str(value) for key, value in facts.items() if value is not None}


def read_manifest_facts(path: Path) -> dict[str, str]:
    """Return the facts in a user's manifest. TockmarkError if it is not a valid one."""
    todo = f"use only the keys {', '.join(Origin.__struct_fields__)}"
    return origin_facts(read_toml(path, Origin, "is not a valid manifest of a kernel", todo))


def checkout_facts() -> dict[str, str]:
    """Return the baseline kernel's flags and commit by this checkout; its ELF has the rest."""
    release = tomllib.loads((paths.ROOT / "Cargo.toml").read_text())["profile"]["release"]
    flags = [
        f"{key}={value if isinstance(value, str) else json.dumps(value)}"
        for key, value in release.items()
        if key != "opt-level"
    ]
    commit = paths.commit_of_checkout()
    return {"flags": " ".join(flags), **({"commit": commit} if commit else {})}


def rustc_versions(comment: bytes) -> str | None:
    """Return the rustc versions in an ELF's section .comment, separated by commas."""
    versions = {match[1].decode("ascii") for match in _RUSTC.finditer(comment)}
    return ", ".join(sorted(versions)) or None


def merge_facts(facts_by_source: Mapping[str, Mapping[str, str]]) -> dict[str, str]:
    """Merge the facts about one kernel from several sources. TockmarkError if two contradict each
    other, or a value is not valid."""
    merged: dict[str, tuple[str, str]] = {}
    for source, facts in facts_by_source.items():
        for key, value in facts.items():
            is_option = source.startswith("--")
            fact = f"{source} {value!r}" if is_option else f"{key} {value!r} in {source}"
            if key == "opt_level" and not _OPT_LEVEL_VALUE.fullmatch(value):
                raise TockmarkError(f"{fact} is not an opt-level", "give 0, 1, 2, 3, s or z")
            if not value.isprintable():
                raise TockmarkError(f"{fact} is not printable", "give a line of plain text")
            if key == "rustc":
                value = value.removeprefix("rustc ")
            earlier_source, earlier = merged.setdefault(key, (source, value))
            # A source may give a shorter version of rustc: 1.95.0, without its commit and date.
            if value != earlier and not (key == "rustc" and earlier.startswith(value)):
                raise TockmarkError(
                    f"{earlier_source} states the {key} {earlier!r}, {source} states {value!r}",
                    "correct one of them",
                )
    return {key: value for key, (_, value) in merged.items()}


def match_baseline(kernel: KernelElf) -> re.Match[str] | None:
    """Return a match on the name of the baseline kernel, or None for another kernel."""
    return _BASELINE_NAME.fullmatch(kernel.name or "")


def check_runs(kernel: KernelElf, abi: int, board: BoardProfile) -> None:
    """Raise a TockmarkError if a kernel was built for another ISA, machine or interface version."""
    if kernel.isa != board.isa:
        baseline = board.kernels.get(abi)
        raise TockmarkError(
            f"{shown(kernel.path)} is built for {kernel.isa}, but {board.name} has {board.isa}",
            f"give the kernel for it, {shown(baseline)}" if baseline else "give a kernel for it",
        )
    name = match_baseline(kernel)
    if name and name["abi"] != str(abi):
        raise TockmarkError(
            f"the kernel is {kernel.name}: it does not run apps of --abi {abi}",
            "give a kernel or apps of the same version",
        )
    if name and name["machine"] != (board.kernel_machine or board.machine):
        raise TockmarkError(
            f"{shown(kernel.path)} is built for {name['machine']}, but {board.name} is a"
            f" {board.machine}",
            f"give the kernel for it, {shown(board.kernels[abi])}",
        )


def check_core(kernel: KernelElf, core: Core, icache: bool) -> None:
    """Raise a TockmarkError if a kernel cannot run on a core with this cache setting."""
    if icache and not core.icache:
        raise TockmarkError(f"the core {core.name} has no i-cache", "omit --icache on")
    if not core.pmp_regions:
        raise TockmarkError(
            f"the core {core.name} has no PMP, so no kernel boots there, only bare programs",
            "give a core with PMP, such as maxperf-pmp",
        )
    needed = BASELINE_REGIONS["pmp-8" in (kernel.name or "").split()]
    if kernel.is_baseline and core.pmp_regions < needed:
        raise TockmarkError(
            f"the core {core.name} has {core.pmp_regions} PMP regions, and this baseline kernel"
            f" needs {needed}",
            "build the one for eight: `make kernel-pmp-8`"
            if core.pmp_regions >= min(BASELINE_REGIONS.values())
            else "give a core with eight regions or more",
        )
    extensions = bit_manipulation(read_elf(kernel.path))
    lacking = {name: at for name, at in extensions.items() if name not in EXTENSIONS[core.bitmanip]}
    if lacking:
        name, at = min(lacking.items(), key=lambda extension_at: extension_at[1])
        raise TockmarkError(
            f"{shown(kernel.path)} has {' and '.join(map(str.capitalize, sorted(lacking)))}"
            f" instructions ({name} at {at:#x}), which the core {core.name} does not support",
            "give a core that has them, or the kernel built without them (rv32imc)",
        )


def bit_manipulation(elf: Elf) -> dict[str, int]:
    """Return the extensions of bit manipulation in an ELF, each with the address of its first
    instruction."""
    arch = _ARCH.search(elf.content(".riscv.attributes"))
    declared = None if arch is None else set(_NAMED.findall(arch[0].decode()))
    first_uses: dict[str, int] = {}
    for number, section in enumerate(elf.sections):
        if section.flags & ALLOCATED and section.flags & EXECUTABLE and section.in_file:
            for extension, at, in_function in _extensions_in(elf, section, number):
                if in_function or declared is None or extension in declared:
                    first_uses.setdefault(extension, at)
    return first_uses


def _extensions_in(elf: Elf, section: Section, number: int) -> Iterator[tuple[str, int, bool]]:
    """Yield the instructions of bit manipulation in a section: extension, address, and whether it
    is in a function. Decoding starts again at each function."""
    content, end = elf.section_bytes(section), section.address + section.size
    functions = {
        symbol.address: symbol.size
        for symbol in sorted(elf.symbols, key=lambda symbol: symbol.size)
        if symbol.kind == IS_FUNCTION and symbol.section == number and symbol.size
    }
    stops = {at + size for at, size in functions.items()}
    covered = at = section.address
    for start, stop in itertools.pairwise(sorted({section.address, *functions, *stops, end})):
        covered = max(covered, start + functions.get(start, 0))
        at = start
        while at + 2 <= min(stop, end):
            insn = decode(int.from_bytes(content[at - section.address :][:4], "little"))
            if insn.extension:
                yield insn.extension, at, start < covered
            at += insn.size


def app_room(kernel: KernelElf, board: BoardProfile) -> Room:
    """Return the memory for apps as the kernel states it, or else the board profile."""
    return kernel.room or board.slots


def with_words(kernel: KernelElf, words: Mapping[str, int]) -> KernelElf:
    """Return a kernel with words of its image patched. Ignore words that it does not have."""
    segments = [(start, bytearray(data)) for start, data in kernel.segments]
    for name in kernel.words.keys() & words.keys():
        for start, data in segments:
            at = kernel.words[name] - start
            if 0 <= at <= len(data) - 4:
                struct.pack_into("<I", data, at, words[name])
    return replace(kernel, segments=tuple((start, bytes(data)) for start, data in segments))


@dataclass(frozen=True)
class _Link:
    """The properties of a link that are compared."""

    kernel: KernelElf
    hash: str | None  # of its symbols with their addresses; None: it has no symbols
    sections: dict[str, int]  # bytes
    functions: frozenset[str]


def run_layouts(kernels: Sequence[KernelElf], seeds: int) -> tuple[RunLayout, ...]:
    """Return one layout per link or per seed, whichever are more; the fewer ones are repeated.

    TockmarkError if the kernels are not links of one source with different layouts."""
    links = [_read_link(kernel) for kernel in kernels]
    paths_by_hash: dict[str | None, str] = {}
    for link in links:
        path = shown(link.kernel.path)
        if paths_by_hash and (why := _source_difference(links[0], link)):
            raise TockmarkError(
                f"{path} is not a link of the source of {shown(links[0].kernel.path)}: {why}",
                "link all from the same objects, or run each separately and compare the results",
            )
        if link.hash in paths_by_hash:
            raise TockmarkError(
                f"{path} has the same layout as {paths_by_hash[link.hash]}",
                "give links with the functions in another order: docs/method.md",
            )
        paths_by_hash[link.hash] = path
    cycled = itertools.islice(itertools.cycle(links), max(seeds, len(links)))
    return tuple(RunLayout(link.kernel, link.hash, i % seeds) for i, link in enumerate(cycled))


def _read_link(kernel: KernelElf) -> _Link:
    elf = read_elf(kernel.path)
    symbols = [symbol for symbol in elf.symbols if symbol.kind in (IS_OBJECT, IS_FUNCTION)]
    addresses = sorted((symbol.name, symbol.address) for symbol in symbols)
    text = "".join(f"{name} {address:#x}\n" for name, address in addresses)
    return _Link(
        kernel,
        hashlib.sha256(text.encode()).hexdigest() if text else None,
        {section.name: section.size for section in elf.sections if section.flags & ALLOCATED},
        frozenset(symbol.name for symbol in elf.symbols if symbol.kind == IS_FUNCTION),
    )


def _source_difference(base: _Link, other: _Link) -> str | None:
    """Return how two kernels differ apart from their layout, or None if they do not."""
    for link in (base, other):
        if not link.functions:
            return f"{shown(link.kernel.path)} has no symbols to compare"
    if base.kernel.name != other.kernel.name:
        return f"it is {other.kernel.name or 'not a baseline kernel'}"
    files = ((link.kernel.path, link.kernel.sha256) for link in (base, other))
    if names := _differences(*files):
        # A Rust symbol may have hundreds of characters: show both ends.
        name, more = names[0], f", and {len(names) - 1} more" if len(names) > 1 else ""
        short = name if len(name) <= 2 * SHOWN_END else f"{name[:SHOWN_END]}…{name[-SHOWN_END:]}"
        alone = name in base.functions ^ other.functions
        return f"`{short}` {'is in only one of them' if alone else 'differs'}{more}"
    for name in sorted(base.sections.keys() | other.sections.keys()):
        sizes = base.sections.get(name, 0), other.sections.get(name, 0)
        if exceeds_limits(sizes, SECTION_TOLERANCE):
            return f"section {name} has {sizes[1]} bytes, not {sizes[0]}"
    return None


@functools.lru_cache(maxsize=2)
def _linked_code(path: Path, sha256: str) -> LinkedCode:
    """Read a kernel's code. The hash of the file is part of the key of the cache."""
    return LinkedCode(read_elf(path))


@functools.cache
def _differences(base: tuple[Path, str], other: tuple[Path, str]) -> list[str]:
    return differences(_linked_code(*base), _linked_code(*other))


def exceeds_limits(sizes: tuple[int, int], limits: tuple[int, int]) -> bool:
    """Return whether two sizes differ by more than both limits: bytes, and one part in N."""
    least, part = limits
    return abs(sizes[0] - sizes[1]) > max(least, sizes[0] / part)
