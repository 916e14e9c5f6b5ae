# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Here is what the tool knows of the kernel that is measured: what its ELF says, what it was made
of and by whom, and whether several links of it differ in their layout only.

What a kernel was made of is said by its ELF, by its user in options or in a manifest, and, of the
baseline kernel, by this checkout; who contradicts another is refused.

Links are told apart by the addresses of their symbols. They are of one source if nothing but the
linker makes their functions and constants differ: code.py compares these.

Whether a kernel can run on a core is a question of its PMP, its cache and its bit manipulation. A
kernel that holds bit manipulation runs only where the core has it. What its functions hold is read
from their instructions; of what lies between functions, where data may be, an instruction counts
only if the ELF says that it was built for that extension, or says nothing.
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

import msgspec

from tockmark import BASELINE
from tockmark.base import paths
from tockmark.base.documents import Part
from tockmark.base.errors import LONGEST_NAME, TockmarkError, print_message, printable_text
from tockmark.base.files import reading, toml
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

SLICE_WORD = "TOCKMARK_SLICE_US"  # in the baseline kernel: kernel/README.md
RESTARTS_WORD = "TOCKMARK_FAULT_RESTARTS"
OPT_LEVEL = " opt-level="  # behind this the baseline kernel's name has it
OPT_LEVELS = re.compile("[0-3sz]")
SECTION = (1024, 100)  # bytes, or one part in so many, by which a section's padding may differ
END = 32  # characters of either end of a long symbol that are shown
PANICS = (  # symbols of functions that only a panic comes by; a kernel may have several
    # Rust's handler: of the baseline kernel, and of Tock's boards, 1.x and 2.x.
    re.compile(r"(?:^|\d)rust_begin_unwind$"),
    # What calls it, in whatever is written in Rust: the linker may have put the handler into that.
    re.compile(r"\dcore9panicking\d+panic_(?:nounwind_)?fmt"),
)
SLOT = 8  # bytes of an entry of Tock's table of processes: a pointer and its vtable
TABLE = "9PROCESSES"  # how the symbol of that table ends: up to 2.2
TYPE = re.compile(rb"\bProcessArray<(\d+)>")  # its type, as debug information names it: later
EIGHT_APPS = "eight-apps"  # in the name of the baseline kernel that takes so many
_ROOM = ("_sapps", "_eapps", "_sappmem", "_eappmem")  # symbols of the bounds of Room
_OURS = re.compile(rf"{BASELINE} (?P<version>\S+) abi(?P<abi>\d) (?P<machine>\w+)")  # its name
_RUSTC = re.compile(rb"rustc version ([ -~]+)")
EXECUTABLE = 0x4  # of a section's flags
BASELINE_REGIONS = {True: 8, False: 16}  # that the baseline needs, by whether it is built for eight
EXTENSIONS: dict[BitManip, frozenset[str]] = {  # of Ibex's sets: docs of RV32B in Ibex's package
    "none": frozenset(),
    "balanced": frozenset({"zba", "zbb", "zbs"}),
    "otearlgrey": frozenset({"zba", "zbb", "zbs", "zbc", DRAFT}),
    "full": frozenset({"zba", "zbb", "zbs", "zbc", DRAFT}),
}
_ARCH = re.compile(rb"rv32[a-z0-9_]+")
_NAMED = re.compile(r"_(zb[a-z]+)\d")


class Origin(Part, frozen=True):
    """Says what a kernel was made of; a manifest has this form, too. None: not known."""

    name: str | None = None
    commit: str | None = None  # of the source
    opt_level: str | Literal[0, 1, 2, 3] | None = None
    flags: str | None = None  # of the compiler and the linker, as far as they shape the code
    rustc: str | None = None


@dataclass(frozen=True)
class KernelElf:
    """Holds what the tool reads from a kernel's ELF, and what else is known of its origin."""

    path: Path
    name: str | None  # only the baseline kernel says its name, and with what opt-level it was built
    sha256: str
    room: Room | None  # that it leaves to apps, if it says so
    segments: tuple[tuple[int, bytes], ...]
    words: dict[str, int] = field(default_factory=dict)  # where the words are that one may patch
    opt_level: str | None = None
    commit: str | None = None  # of its source
    flags: str | None = None
    rustc: str | None = None
    entry: int = 0  # address of its first instruction
    panics: tuple[int, ...] = ()  # where its panic begins; none: its symbols do not say
    flash_bytes: int | None = None  # without what only fills up: target/elf.py says what counts
    isa: str = RISC_V.name

    @property
    def is_baseline(self) -> bool:
        """Whether it is the baseline kernel, wherever it was built: no other has the word."""
        return SLICE_WORD in self.words


@dataclass(frozen=True)
class RunLayout:
    """One layout to run in: a link of the kernel, and the seed of the apps' layout."""

    kernel: KernelElf
    link: str | None  # hash of the kernel's symbols and their addresses; None: it has none
    seed: int = 0  # 0: the apps as they are without a seed


def read_kernel(path: Path) -> KernelElf:
    """Read a kernel ELF. TockmarkError if it is none, or was built of other sources than ours are
    now."""
    sources.check(path)
    elf = read_elf(path)
    symbols = elf.addresses
    address, said = symbols.get("TOCKMARK_KERNEL", -1), b""
    for start, data in elf.segments:
        if start <= address < start + len(data):
            said = data[address - start :][:LONGEST_NAME].split(b"\0")[0]
    name, _, opt_level = printable_text(said.decode("ascii", "replace")).partition(OPT_LEVEL)
    return KernelElf(
        path,
        name.strip() or None,
        elf.sha256,
        Room(*(symbols[one] for one in _ROOM)) if symbols.keys() >= set(_ROOM) else None,
        elf.segments,
        {word: symbols[word] for word in (SLICE_WORD, RESTARTS_WORD) if word in symbols},
        opt_level if OPT_LEVELS.fullmatch(opt_level) else None,
        rustc=rustc_versions(elf.content(".comment")),
        entry=elf.entry,
        panics=panic_addresses(elf),
        flash_bytes=sum(piece.size for piece in pieces(elf) if piece.in_flash),
        isa=elf.isa.name,
    )


def panic_addresses(elf: Elf) -> tuple[int, ...]:
    """Return where a kernel's panic begins, by its symbols (PANICS)."""
    functions = (one for one in elf.symbols if one.in_section and one.kind != IS_OBJECT)
    found = {one.address for one in functions if any(how.search(one.name) for how in PANICS)}
    return tuple(sorted(found))


class AppCapacity(NamedTuple):
    """How many apps a kernel takes, and what says so."""

    apps: int
    by: Literal["the kernel's symbols", "the kernel's types", "its name"]
    said: str


def app_capacity(kernel: KernelElf) -> AppCapacity | None:
    """Return how many apps a kernel takes, if it can be told without running it."""
    if kernel.is_baseline:
        name = kernel.name or ""
        return AppCapacity(8 if EIGHT_APPS in name else 4, "its name", name)
    for symbol in read_elf(kernel.path).symbols:
        if symbol.name.endswith(TABLE) and symbol.size:
            said = f"PROCESSES has {symbol.size} bytes, {SLOT} a process"
            return AppCapacity(symbol.size // SLOT, "the kernel's symbols", said)
    counts = {int(count) for count in TYPE.findall(kernel.path.read_bytes())}
    if len(counts) != 1:
        return None
    (count,) = counts
    return AppCapacity(count, "the kernel's types", f"its table is a ProcessArray<{count}>")


def check_app_capacity(kernel: KernelElf, count: int) -> None:
    """Refuse a kernel that takes fewer apps, where it can be told."""
    slots = app_capacity(kernel)
    if slots is not None and slots.apps < count:
        raise TockmarkError(
            f"{kernel.name or shown(kernel.path)} takes {slots.apps} apps, and there are {count}",
            f"give --kernel one that is built for {count}; for ours {make_command('kernel-eight')}",
        )


@functools.cache
def warn_without_panics(path: Path) -> None:
    """Tell the user, once for each kernel, that its panics are not recognised."""
    what = "has no symbol of Rust's panic handler: a panic of it is not recognised, and its boot"
    print_message(f"{shown(path)} {what} goes on to a limit")


def with_origin(
    kernel: KernelElf,
    name: str | None = None,
    opt_level: str | None = None,
    manifest: Path | None = None,
) -> KernelElf:
    """Return a kernel with what its user says of it, by options and in a manifest, beside what its
    ELF says. TockmarkError where they contradict each other."""
    said = {
        shown(kernel.path): origin_facts(kernel),
        "--kernel-name": {} if name is None else {"name": name},
        "--opt-level": {} if opt_level is None else {"opt_level": opt_level},
    }
    if manifest is not None:
        said[shown(manifest)] = read_manifest_facts(manifest)
    built_here = kernel.is_baseline and kernel.path.resolve().is_relative_to(paths.ROOT)
    ours = checkout_facts() if built_here else {}
    return replace(kernel, **{**ours, **merge_facts(said)})  # type: ignore[arg-type]


def origin_facts(kernel: object) -> dict[str, str]:
    """Return what is known of a kernel's origin, from anything that has the fields of Origin."""
    facts = {key: getattr(kernel, key) for key in Origin.__struct_fields__}
    return {key: str(value) for key, value in facts.items() if value is not None}


def read_manifest_facts(path: Path) -> dict[str, str]:
    """Return what a user's manifest says of a kernel. TockmarkError where it is none."""
    try:
        with reading(path, what="the manifest "):
            said = toml(path.read_text(encoding="utf-8"))
        return origin_facts(msgspec.convert(said, Origin))
    except (ValueError, msgspec.ValidationError) as error:
        raise TockmarkError(
            f"{shown(path)} is no kernel's manifest: {error}",
            f"it may have the keys {', '.join(Origin.__struct_fields__)}",
        ) from error


def checkout_facts() -> dict[str, str]:
    """Return what this checkout says of the baseline kernel; its ELF says the rest."""
    release = tomllib.loads((paths.ROOT / "Cargo.toml").read_text())["profile"]["release"]
    flags = [
        f"{key}={value if isinstance(value, str) else json.dumps(value)}"
        for key, value in release.items()
        if key != "opt-level"
    ]
    commit = paths.commit_of_checkout()
    return {"flags": " ".join(flags), **({"commit": commit} if commit else {})}


def rustc_versions(comment: bytes) -> str | None:
    """Return the version of rustc in an ELF's section .comment; several, if several made it."""
    found = {match[1].decode("ascii") for match in _RUSTC.finditer(comment)}
    return ", ".join(sorted(found)) or None


def merge_facts(said: Mapping[str, Mapping[str, str]]) -> dict[str, str]:
    """Join the facts of several who speak of one kernel, by who they are. TockmarkError where two
    say different things, or one says what cannot be."""
    found: dict[str, tuple[str, str]] = {}
    for who, facts in said.items():
        for key, value in facts.items():
            what = f"{who} {value!r}" if who.startswith("--") else f"{key} {value!r} in {who}"
            if key == "opt_level" and not OPT_LEVELS.fullmatch(value):
                raise TockmarkError(f"{what} is none", "give 0, 1, 2, 3, s or z")
            if not value.isprintable():
                raise TockmarkError(f"{what} cannot be shown", "give a line of plain text")
            if key == "rustc":
                value = value.removeprefix("rustc ")
            first, known = found.setdefault(key, (who, value))
            # Of rustc one may say less than the ELF does: 1.95.0, without its commit and date.
            if value != known and not (key == "rustc" and known.startswith(value)):
                raise TockmarkError(
                    f"{first} says that its {key} is {known!r}, {who} says {value!r}",
                    "leave out what is not so",
                )
    return {key: value for key, (_, value) in found.items()}


def match_baseline(kernel: KernelElf) -> re.Match[str] | None:
    """Return what the name of the baseline kernel says, if that is the one."""
    return _OURS.fullmatch(kernel.name or "")


def check_runs(kernel: KernelElf, abi: int, board: BoardProfile) -> None:
    """TockmarkError if the kernel says that it has another version of the interface, or is built
    for another machine than this board's."""
    if kernel.isa != board.isa:
        own = board.kernels.get(abi)
        raise TockmarkError(
            f"{shown(kernel.path)} is built for {kernel.isa}, but {board.name} has {board.isa}",
            f"give the kernel for it, {shown(own)}" if own else "give one for that board",
        )
    said = match_baseline(kernel)
    if said and said["abi"] != str(abi):
        raise TockmarkError(f"the kernel is {kernel.name}", f"it runs no apps of --abi {abi}")
    if said and said["machine"] != board.machine:
        raise TockmarkError(
            f"{shown(kernel.path)} is built for {said['machine']}, but {board.name} is a"
            f" {board.machine}",
            f"give the kernel for it, {shown(board.kernels[abi])}",
        )


def check_core(kernel: KernelElf, core: Core, icache: bool) -> None:
    """TockmarkError if this kernel cannot run on this core, or not with the cache on if that is
    asked for."""
    if icache and not core.icache:
        raise TockmarkError(f"the core {core.name} has no i-cache", "leave out --icache on")
    if not core.pmp_regions:
        raise TockmarkError(
            f"the core {core.name} has no PMP: no kernel boots there, only bare programs run",
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
    held = bit_manipulation(read_elf(kernel.path))
    lacking = {name: at for name, at in held.items() if name not in EXTENSIONS[core.bitmanip]}
    if lacking:
        name, at = min(lacking.items(), key=lambda one: one[1])
        raise TockmarkError(
            f"{shown(kernel.path)} holds {' and '.join(map(str.capitalize, sorted(lacking)))}"
            f" instructions ({name} at {at:#x}), which the core {core.name} lacks",
            "give a core that has them, or the kernel built without them (rv32imc)",
        )


def bit_manipulation(elf: Elf) -> dict[str, int]:
    """Return the extensions of bit manipulation of which an ELF holds instructions, each with the
    address of the first."""
    arch = _ARCH.search(elf.content(".riscv.attributes"))
    named = None if arch is None else set(_NAMED.findall(arch[0].decode()))
    found: dict[str, int] = {}
    for number, section in enumerate(elf.sections):
        if section.flags & ALLOCATED and section.flags & EXECUTABLE and section.in_file:
            for extension, at, in_function in _held_in(elf, section, number):
                if in_function or named is None or extension in named:
                    found.setdefault(extension, at)
    return found


def _held_in(elf: Elf, section: Section, number: int) -> Iterator[tuple[str, int, bool]]:
    """Yield the instructions of bit manipulation in a section: extension, address, and whether a
    function holds it. Where a function begins so does an instruction."""
    held, end = elf.section_bytes(section), section.address + section.size
    functions = {
        one.address: one.size
        for one in sorted(elf.symbols, key=lambda one: one.size)
        if one.kind == IS_FUNCTION and one.section == number and one.size
    }
    stops = {at + size for at, size in functions.items()}
    covered = at = section.address
    for start, stop in itertools.pairwise(sorted({section.address, *functions, *stops, end})):
        covered = max(covered, start + functions.get(start, 0))
        at = start
        while at + 2 <= min(stop, end):
            insn = decode(int.from_bytes(held[at - section.address :][:4], "little"))
            if insn.extension:
                yield insn.extension, at, start < covered
            at += insn.size


def app_room(kernel: KernelElf, board: BoardProfile) -> Room:
    """Return where apps may lie: the kernel's decision, or the profile's if it says nothing."""
    return kernel.room or board.slots


def with_words(kernel: KernelElf, words: Mapping[str, int]) -> KernelElf:
    """Return a kernel with words of its image changed; one without such a word stays as it is."""
    segments = [(start, bytearray(data)) for start, data in kernel.segments]
    for name in kernel.words.keys() & words.keys():
        for start, data in segments:
            at = kernel.words[name] - start
            if 0 <= at <= len(data) - 4:
                struct.pack_into("<I", data, at, words[name])
    return replace(kernel, segments=tuple((start, bytes(data)) for start, data in segments))


@dataclass(frozen=True)
class _Link:
    """Holds what is compared of a link."""

    kernel: KernelElf
    hash: str | None  # of its symbols and their addresses; None: it has none
    sections: dict[str, int]  # bytes
    functions: frozenset[str]


def run_layouts(kernels: Sequence[KernelElf], seeds: int) -> tuple[RunLayout, ...]:
    """Return the layouts of these links and of the seeds from 0 on, as many as there are more of:
    both are used in turn. TockmarkError if the kernels are not links of one source that differ in
    their layout."""
    links = [_read_link(kernel) for kernel in kernels]
    seen: dict[str | None, str] = {}
    for link in links:
        path = shown(link.kernel.path)
        if seen and (why := _unlike(links[0], link)):
            raise TockmarkError(
                f"{path} is no link of the source of {shown(links[0].kernel.path)}: {why}",
                "link all from the same objects, or run each by itself and compare the results",
            )
        if link.hash in seen:
            raise TockmarkError(
                f"{path} has the layout of {seen[link.hash]}",
                "give links with another order of functions: docs/method.md",
            )
        seen[link.hash] = path
    in_turn = itertools.islice(itertools.cycle(links), max(seeds, len(links)))
    return tuple(RunLayout(link.kernel, link.hash, i % seeds) for i, link in enumerate(in_turn))


def _read_link(kernel: KernelElf) -> _Link:
    elf = read_elf(kernel.path)
    symbols = sorted(
        (one.name, one.address) for one in elf.symbols if one.kind in (IS_OBJECT, IS_FUNCTION)
    )
    text = "".join(f"{name} {address:#x}\n" for name, address in symbols)
    return _Link(
        kernel,
        hashlib.sha256(text.encode()).hexdigest() if text else None,
        {one.name: one.size for one in elf.sections if one.flags & ALLOCATED},
        frozenset(one.name for one in elf.symbols if one.kind == IS_FUNCTION),
    )


def _unlike(base: _Link, other: _Link) -> str | None:
    """Say in what two kernels differ besides their layout, if in anything."""
    for bare in (base, other):
        if not bare.functions:
            return f"{shown(bare.kernel.path)} has no symbols to tell by"
    if base.kernel.name != other.kernel.name:
        return f"it says that it is {other.kernel.name or 'none of ours'}"
    if found := _differences(_key(base), _key(other)):
        # A symbol in Rust may have hundreds of characters: both its ends are shown.
        name, more = found[0], f", and {len(found) - 1} more" if len(found) > 1 else ""
        short = name if len(name) <= 2 * END else f"{name[:END]}…{name[-END:]}"
        alone = name in base.functions ^ other.functions
        return f"`{short}` {'is in one of them only' if alone else 'differs'}{more}"
    for name in sorted(base.sections.keys() | other.sections.keys()):
        sizes = base.sections.get(name, 0), other.sections.get(name, 0)
        if exceeds_limits(sizes, SECTION):
            return f"section {name} has {sizes[1]} bytes, not {sizes[0]}"
    return None


def _key(link: _Link) -> tuple[Path, str]:
    return link.kernel.path, link.kernel.sha256


@functools.lru_cache(maxsize=2)
def _image(path: Path, sha256: str) -> LinkedCode:
    """Read a kernel's code. The hash is that of the file: it may be another the next time."""
    return LinkedCode(read_elf(path))


@functools.cache
def _differences(base: tuple[Path, str], other: tuple[Path, str]) -> list[str]:
    return differences(_image(*base), _image(*other))


def exceeds_limits(sizes: tuple[int, int], limits: tuple[int, int]) -> bool:
    """Return whether two sizes differ by more than some bytes, and by more than one part in
    some."""
    least, part = limits
    return abs(sizes[0] - sizes[1]) > max(least, sizes[0] / part)
