# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Build flash images from a kernel ELF and the object files of apps.

The kernel decides where apps are placed, so each app is linked for one kernel. The addresses come
from the kernel's symbols, or else from the board profile. GNU ld links the apps, elf2tab packs
them, and they follow the kernel's segments in flash as tockloader would place them.

Some boot ROMs expect a boot manifest before the kernel. Its format is OpenTitan's public one, from
the commit that Tock's CW310 board names (earlgrey_es, edf5e35f5d). The fields are declared in
`opentitan/sw/device/silicon_creator/lib/manifest.h`, the constants in `lib/base/chip.h` and
`sw/device/lib/base/hardened.h`. Two ROMs read it:

- the *test ROM* of FPGA bitstreams reads `address_translation` and `entry_point`, and jumps;
- the *ROM* of the product also checks a signature, which we cannot make: the manifest from
  `boot_manifest` is unsigned, so only the test ROM boots it.
"""

import hashlib
import json
import re
import shlex
import struct
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Literal

import msgspec

from tockmark.base import paths, processes
from tockmark.base.documents import Part, Sha256
from tockmark.base.errors import INCOMPLETE, TockmarkError
from tockmark.base.paths import shown
from tockmark.suite.catalogue import (
    COUNTERS,
    CYCLECOUNT,
    LANGS,
    PERF,
    Boot,
    CounterName,
    Lang,
)
from tockmark.target import sources
from tockmark.target.board import Address, BoardProfile, Room
from tockmark.target.elf import ISAS, RISC_V, Isa, archive_members, read_elf
from tockmark.target.kernel import SLICE_WORD, KernelElf, app_room, with_words

TOCKLOADER = Path(sys.executable).with_name("tockloader")
SETUP = f"{paths.make_command('setup')}, or `tockmark doctor`"

HEADER = 0x80  # bytes of the TBF header at the start of a slot
GRANTS = 0x800  # bytes at the end of an app's RAM for the kernel's grants
RECORD = 0x800  # bytes after the grants that Tock uses for its record of the process
RAM_ALIGN = 0x400
# Where tockloader expects an app to begin. It would fill gaps with padding apps.
FLASH_ALIGN = 0x400
END_OF_APPS = b"\0"  # terminator that tockloader writes after the last app

STEADY_STOP_WORD = "tm_link_steady_stop"  # a symbol of an app: apps/runtime/bench.h
IMAGE_WORD = "tm_link_image"
NO_CONTROLS = 1 << 31  # bit of an app's tm_only: apps/runtime/bench.h
NAME_BYTES = 24  # of a boot's name in tm_link with its NUL; apps/generate.py checks it

FLASH_WORD = 8  # bytes per flash read, and per cache line
DOES_NOT_FIT = "does not fit"  # app.ld's message for an app that is too large
UNLIMITED = 1 << 27  # bytes: more than any app takes, and less than between flash and RAM
CACHE_WAY = 2048  # bytes of a way of the instruction cache
SHORTEST_INSTRUCTION = 2  # bytes
MAX_LAYOUTS = 1024  # of one run

# A relative path inside a folder, without "..".
File = Annotated[str, msgspec.Meta(pattern=r"^(?!/|(?:.*/)?\.\.(?:/|$))[^\0]+$")]


@dataclass(frozen=True)
class AppBuild:
    """Apps that are compiled but not linked: their folder, interface version and language."""

    folder: Path
    abi: int
    lang: Lang = "c"
    # Flash is allocated to apps in multiples of this. With CACHE_WAY, a program uses the same sets
    # of the cache next to another app as alone.
    align: int = FLASH_ALIGN
    isa: Isa = RISC_V
    target: str = "build"  # the make target that builds them

    @staticmethod
    def built(
        abi: int,
        lang: Lang = "c",
        counter: CounterName = PERF,
        catalogue: str | None = None,
        isa: str = RISC_V.name,
    ) -> "AppBuild":
        """Return the apps of `make apps`, of `make setup-qemu` for another ISA, or of another
        catalogue by its name. TockmarkError if no apps use this counter."""
        if ISAS[isa].counts_cycles_only:
            if abi != 2 or counter != CYCLECOUNT or catalogue is not None:
                raise TockmarkError(
                    f"the apps for {isa} are of version 2 and read {COUNTERS[CYCLECOUNT]}",
                    "omit --abi, --counter and --catalogue",
                )
            return AppBuild(paths.APPS / f"{lang}-abi{abi}-{isa}", abi, lang, isa=ISAS[isa])
        suffix = f"-{counter}" * (counter != PERF)
        name = f"{lang}-abi{abi}{suffix}"
        if catalogue is not None:
            folder = paths.APPS / f"{catalogue}-{name}"
            if not folder.is_dir():
                raise TockmarkError(
                    f"there is no {shown(folder)}", f"build the apps of the catalogue {catalogue}"
                )
            return AppBuild(folder, abi, lang, CACHE_WAY)
        if counter != PERF and (lang, abi) != ("c", 2):
            raise TockmarkError(
                f"there are no apps in {LANGS[lang]} for version {abi} of the interface that use"
                f" {COUNTERS[counter]}",
                "measure apps in C for version 2, or use Perf",
            )
        return AppBuild(paths.APPS / name, abi, lang)


class DoesNotFitError(TockmarkError):
    """An app needs more flash or RAM than the kernel and the apps before it leave."""

    def __init__(self, app: str, full: Literal["flash", "RAM"], takes: int, left: int) -> None:
        super().__init__(
            f"{app} {DOES_NOT_FIT} in the {full} that the kernel leaves: it takes {takes:,} bytes,"
            f" and {left:,} are left"
        )
        self.full = full


class AppSlot(Part, frozen=True):
    """An app in an image, and the addresses and sizes it was linked for. In a manifest, its files
    are relative to the manifest's folder."""

    name: str
    tab: File
    elf: File
    elf_sha256: Sha256
    flash_start: Address
    flash_length: Address
    ram_start: Address
    ram_length: Address
    parts_sha256: Sha256 | None = None  # of its linker inputs, in order

    def renamed(self, rename: Callable[[str], str]) -> "AppSlot":
        """Return the slot with other paths of its files."""
        return msgspec.structs.replace(self, tab=rename(self.tab), elf=rename(self.elf))

    @property
    def symbols(self) -> Mapping[str, int]:
        """The addresses of its symbols."""
        return read_elf(Path(self.elf)).addresses


@dataclass(frozen=True)
class Image:
    """A flash image: the kernel, followed by the apps of a boot without gaps."""

    flash: Path
    slots: tuple[AppSlot, ...]
    id: str  # 8 hexadecimal digits, which its app also prints


def build_image(
    boot: Boot,
    apps: AppBuild,
    kernel: KernelElf,
    board: BoardProfile,
    out: Path,
    symbols: Mapping[str, int] | None = None,
    seed: int = 0,
) -> Image:
    """Link and pack the apps of a boot for a kernel, and write the flash image.

    `symbols` are further linker symbols for the apps. `seed` selects the layout of their code."""
    sources.check(apps.folder)
    out.mkdir(parents=True, exist_ok=True)
    room = app_room(kernel, board)
    kernel = with_words(kernel, {} if boot.slice_us is None else {SLICE_WORD: boot.slice_us})
    words = {
        "tm_apps": 1,  # only one app reports
        "tm_steady_stop": 0,
        "tm_scene": boot.scene,
        "tm_slots": len(boot.slots),
        "tm_most_samples": 0,  # 0: the catalogue's number
        "tm_only": boot.only | (0 if boot.controls else NO_CONTROLS),
        **name_words(boot.name),
        **layout_symbols(seed),
        **(symbols or {}),
    }
    path = out / f"{boot.name}.flash"
    write_flash(kernel, board, path)
    content = bytearray(path.read_bytes())
    parts = [path, *(part for slot in boot.slots for part in _link_inputs(slot, apps))]
    inputs = [boot.slots, *msgspec.structs.astuple(room), apps.lang, apps.abi, words, seed]
    words["tm_image"] = image_id(inputs, parts)
    flash_align, ram_align = apps.align, RAM_ALIGN
    if apps.isa.has_power_of_two_mpu:
        flash_align, ram_align = _power_of_two_sizes(boot, apps, room, words, out)
    flash, ram = room.flash_start, room.ram_start
    slots: list[AppSlot] = []
    tbfs = b""
    for index, (object_, name) in enumerate(zip(boot.slots, boot.processes(), strict=True)):
        elf, tab = out / f"{boot.name}.{index}.elf", out / f"{boot.name}.{index}.tab"
        ram = -(-ram // ram_align) * ram_align
        start, ram_free = flash + HEADER, room.ram_end - ram - GRANTS - RECORD
        link_symbols = {
            "tm_flash_start": start,
            "tm_flash_length": room.flash_end - start,
            "tm_ram_start": ram,
            "tm_ram_length": ram_free,
            "tm_slot": index,
            **words,
        }
        app_parts = _link_inputs(object_, apps)
        try:
            link(object_, app_parts, elf, link_symbols, seed, apps.isa)
        except TockmarkError as error:
            if DOES_NOT_FIT not in error.problem:
                raise
            raise _fit_error(name, object_, app_parts, elf, link_symbols, apps.isa) from error
        linked = read_elf(elf)
        addresses = linked.addresses
        fixed = addresses["_app_end"] - ram
        heap = min(addresses.get("tm_heap", 0), ram_free - fixed)  # or less if RAM is short
        flash_length = _flash_end(addresses) - start
        flash += pack(name, elf, tab, apps.abi, heap, flash_align, apps.isa)
        tbfs += elf.with_suffix(".tbf").read_bytes()
        files = str(tab), str(elf), linked.sha256
        parts_sha256 = hashlib.sha256(b"".join(part.read_bytes() for part in app_parts)).hexdigest()
        slots.append(AppSlot(name, *files, start, flash_length, ram, fixed + heap, parts_sha256))
        ram += fixed + heap + GRANTS + RECORD
    # As tockloader would place them. Calling it would take ten times as long as all the rest.
    _write_at(content, room.flash_start - board.flash.base, tbfs + END_OF_APPS)
    path.write_bytes(content)
    return Image(path, tuple(slots), f"{words['tm_image']:08x}")


def _flash_end(symbols: Mapping[str, int]) -> int:
    """Return the end of an app's code, constants and initial data, from its symbols."""
    return symbols["_data_load"] + symbols["_data_end"] - symbols["_data_start"]


def _power_of_two_sizes(
    boot: Boot, apps: AppBuild, room: Room, words: Mapping[str, int], out: Path
) -> tuple[int, int]:
    """Return the powers of two that hold the flash and the RAM of the largest app of a boot. Each
    app gets as much, aligned to its size."""
    flash = ram = 1
    for object_ in dict.fromkeys(boot.slots):
        elf, start = out / f"{boot.name}.{object_}.elf", room.flash_start + HEADER
        link_symbols = {"tm_flash_start": start, "tm_ram_start": room.ram_start, "tm_slot": 0}
        link_symbols |= {**words, "tm_flash_length": UNLIMITED, "tm_ram_length": UNLIMITED}
        link(object_, _link_inputs(object_, apps), elf, link_symbols, 0, apps.isa)
        addresses = read_elf(elf).addresses
        flash = max(flash, _flash_end(addresses) - room.flash_start)
        app_ram = addresses["_app_end"] - room.ram_start + addresses.get("tm_heap", 0)
        ram = max(ram, app_ram + GRANTS + RECORD)
        elf.unlink()
    return 1 << (flash - 1).bit_length(), 1 << (ram - 1).bit_length()


def _fit_error(
    name: str, app: str, parts: Sequence[Path], elf: Path, symbols: Mapping[str, int], isa: Isa
) -> DoesNotFitError:
    """Return an error with the size of an app: link it again without limits."""
    unlimited = {"tm_flash_length": UNLIMITED, "tm_ram_length": UNLIMITED}
    link(app, parts, elf, {**symbols, **unlimited}, 0, isa)
    addresses = read_elf(elf).addresses
    code = _flash_end(addresses) - symbols["tm_flash_start"]
    ram = addresses["_app_end"] - symbols["tm_ram_start"]
    if ram > symbols["tm_ram_length"]:
        return DoesNotFitError(name, "RAM", ram, symbols["tm_ram_length"])
    return DoesNotFitError(name, "flash", code, symbols["tm_flash_length"])


def with_early_stop(image: Image, board: BoardProfile, path: Path) -> Image:
    """Return an image, written to `path`, whose apps end a row once its samples repeat. It has
    another id."""
    flash = bytearray(image.flash.read_bytes())
    number = image_id([image.id, STEADY_STOP_WORD])
    for slot in image.slots:
        symbols = slot.symbols
        for word, value in ((STEADY_STOP_WORD, 1), (IMAGE_WORD, number)):
            if word in symbols:
                struct.pack_into("<I", flash, symbols[word] - board.flash.base, value)
    path.write_bytes(flash)
    return replace(image, flash=path, id=f"{number:08x}")


def image_id(inputs: Sequence[object], files: Iterable[Path] = ()) -> int:
    """Return a number that identifies an image: the first 32 bits of a SHA-256 of all that
    determines its content: `inputs`, as JSON, and the content of each file."""
    digest = hashlib.sha256(json.dumps(inputs).encode())
    for path in dict.fromkeys(files):
        digest.update(hashlib.sha256(path.read_bytes()).digest())
    return int.from_bytes(digest.digest()[:4], "big")


def name_words(name: str) -> dict[str, int]:
    """Return a boot's name, with a NUL, as linker symbols for the words of tm_link."""
    padded = name.encode("ascii").ljust(NAME_BYTES, b"\0")
    return {f"tm_boot_{i}": word for i, (word,) in enumerate(struct.iter_unpack("<I", padded))}


def layout_symbols(seed: int) -> dict[str, int]:
    """Return the linker symbols for a layout seed: positions in the flash word and in the sets of
    the instruction cache. 0 moves nothing."""
    if not seed:
        return {"tm_pad": 0, "tm_shift": 0, "tm_align": FLASH_WORD}
    # Consecutive seeds cycle through the shifts, so that a few cover all. The set is hashed.
    shift = SHORTEST_INSTRUCTION * (seed % (FLASH_WORD // SHORTEST_INSTRUCTION))
    pad = FLASH_WORD * (_seeded_hash(seed) % (CACHE_WAY // FLASH_WORD))
    return {"tm_pad": pad, "tm_shift": shift, "tm_align": SHORTEST_INSTRUCTION}


def _seeded_hash(seed: int, *words: str) -> int:
    """Return a reproducible pseudo-random number."""
    return int(hashlib.sha256(" ".join([str(seed), *words]).encode()).hexdigest(), 16)


def write_flash(kernel: KernelElf, board: BoardProfile, path: Path) -> None:
    """Write the kernel's segments as a flash image, with erased bytes in the gaps. A baseline
    kernel gets a boot manifest if the board needs one; another kernel must contain its own."""
    segments = list(kernel.segments)
    if board.boot.manifest is not None and kernel.is_baseline:
        segments.append((board.flash.base, boot_manifest(segments, kernel.entry, board.flash.base)))
    image = bytearray()
    for address, data in sorted(segments):
        start = address - board.flash.base
        if start < 0 or start + len(data) > board.flash.size:
            raise TockmarkError(
                f"{paths.shown(kernel.path)} has a segment at {address:#x}, outside the flash of"
                f" {board.name}",
                "give a kernel that was linked for this board",
            )
        _write_at(image, start, data)
    path.write_bytes(image)


def _write_at(flash: bytearray, at: int, data: bytes) -> None:
    """Write data into flash, filling a gap before it with erased bytes."""
    flash.extend(b"\xff" * (at + len(data) - len(flash)))
    flash[at : at + len(data)] = data


def install_with_tockloader(
    tabs: Sequence[Path], flash: Path, board: BoardProfile, room: Room
) -> None:
    """Let tockloader install TABs into a flash file, replacing all apps in it."""
    where = ["--board", board.tockloader_board, "--app-address", hex(room.flash_start)]
    command = [str(TOCKLOADER), "install", "--erase", "--flash-file", str(flash), *where]
    names = ", ".join(tab.name for tab in tabs)
    run_tool([*command, *map(str, tabs)], f"installing {names} into flash")


def _link_inputs(app: str, apps: AppBuild) -> list[Path]:
    """Return the linker inputs of an app: its object, the runtime library and the linker script."""
    own = apps.folder / paths.LINKER_SCRIPT.name
    script = own if own.exists() else paths.LINKER_SCRIPT
    parts = [apps.folder / f"{app}.o", apps.folder / "libtockmark.a", script]
    command = paths.make_command(apps.target if apps.isa is RISC_V else apps.isa.setup)
    for part in (*parts, *apps.isa.compiler_libraries):
        if not part.exists():
            raise TockmarkError(f"{paths.shown(part)} does not exist", command)
    return parts


def link(
    app: str,
    parts: Sequence[Path],
    elf: Path,
    symbols: Mapping[str, int],
    seed: int,
    isa: Isa = RISC_V,
) -> None:
    """Link an app from its object, the runtime library and the linker script, in this order, with
    symbols by name. A seed other than 0 puts the same objects into another order."""
    object_, library, script = parts
    defsyms = [f"--defsym={name}={value:#x}" for name, value in symbols.items()]
    command = [isa.linker, "-m", isa.emulation, "--gc-sections", *defsyms, "-o", str(elf)]
    # In the order in which the compiler passes them.
    libraries = map(str, isa.compiler_libraries)
    ending = ["--start-group", *libraries, "--end-group", "-T", str(script)]
    doing = f"linking {app}"
    trace = run_tool([*command, "-t", "-t", str(object_), str(library), *ending], doing)
    if not seed:
        return
    folder, member = elf.with_suffix(".members"), f"({library})"
    folder.mkdir(exist_ok=True)
    members = {line.removeprefix(member) for line in trace.splitlines() if line.startswith(member)}
    for name, content in archive_members(library.read_bytes()):
        if name in members:
            (folder / name).write_bytes(content)
    objects = sorted(
        [object_, *(folder / name for name in members)],
        key=lambda path: _seeded_hash(seed, path.parent.name, path.name),
    )
    run_tool([*command, *map(str, objects), *ending], f"{doing} in another order")


def pack(
    name: str,
    elf: Path,
    tab: Path,
    abi: int,
    heap: int,
    align: int = FLASH_ALIGN,
    isa: Isa = RISC_V,
) -> int:
    """Make the TAB of an app with this many bytes of heap. Return its size in flash, a multiple of
    `align`."""
    sizes = ["--protected-region-size", str(HEADER), "--kernel-heap", str(GRANTS)]
    version = ["--kernel-major", str(abi), "--kernel-minor", "0", "--deterministic"]
    command = [str(paths.ELF2TAB), "-n", name, "-o", str(tab), *sizes, "--app-heap", str(heap)]
    footer = 0
    while True:
        more = ["--minimum-footer-size", str(footer)]
        run_tool([*command, *version, *more, f"{elf},{isa.name}"], f"packing {name}")
        total = struct.unpack_from("<I", elf.with_suffix(".tbf").read_bytes(), 4)[0]
        if total % align == 0:
            return int(total)
        footer += align - total % align


def run_tool(command: Sequence[str], doing: str, todo: str = SETUP) -> str:
    """Run an external tool, and return its output. If it fails, the error quotes its last line; if
    it is missing, the error says `todo`."""
    done = processes.run(command, doing=doing, todo=todo)
    if done.code:
        # Some tools print a level first: `[ERROR  ] no such file`.
        messages = [
            re.sub(r"^\[[A-Z]+ *\] ", "", line.strip())
            for line in (done.error_text or done.text).splitlines()
            if line.strip()
        ]
        last = messages[-1] if messages else f"exit code {done.code}"
        raise TockmarkError(
            f"{doing}: {Path(command[0]).name} failed: {last}",
            "see the command with --debug",
            INCOMPLETE,
        ) from RuntimeError(f"code {done.code} of {shlex.join(command)}: {done.error_text}")
    return done.text


MANIFEST_SIZE = 0x400  # bytes of a boot manifest
LONGEST_IMAGE = 0x10000  # bytes of an image of the first boot stage, with its manifest
ANY_DEVICE = 0xA5A5A5A5  # in place of an unused constraint


def boot_manifest(segments: Iterable[tuple[int, bytes]], entry: int, base: int) -> bytes:
    """Return the boot manifest of a kernel with these segments (address, content) and this entry
    point, in flash that begins at `base`.

    TockmarkError if the format, or its check in the ROM of the product (`manifest_check` and
    `boot_policy_manifest_check`), does not allow such a kernel."""
    segments, first = list(segments), base + MANIFEST_SIZE
    ends = (start + len(data) - base for start, data in segments)
    length = -(-max(ends, default=MANIFEST_SIZE) // 4) * 4  # code ends at a word
    why = None
    if below := [start for start, _ in segments if start < first]:
        why = f"it has a segment at {below[0]:#x}", f"link it for {first:#x} or higher"
    elif length > LONGEST_IMAGE:
        why = f"it ends {length} bytes into flash", f"make it {LONGEST_IMAGE} at most"
    elif entry % 4 or not any(start <= entry < start + len(data) for start, data in segments):
        why = f"its entry {entry:#x} is not a word of its code", "check how it was linked"
    if why is not None:
        raise TockmarkError(f"this kernel cannot have a boot manifest: {why[0]}", why[1])
    # All fields in order, as words of 4 bytes. Lengths and offsets are in bytes from the start of
    # the manifest. Constants and initial data follow the code in the same region.
    words = [
        *[0] * 96,  # rsa_signature: none
        0,  # selector_bits, the constraints to check: none, so it runs on any chip
        *[ANY_DEVICE] * 8,  # device_id
        *[ANY_DEVICE] * 2,  # manuf_state_creator and manuf_state_owner
        ANY_DEVICE,  # life_cycle_state
        *[0] * 96,  # rsa_modulus: none
        0x1D4,  # address_translation: "false", hardened against glitches
        int.from_bytes(b"OTRE", "little"),  # identifier: an image of the first boot stage
        0x71C36C47,  # manifest_version, major and minor
        length,  # signed_region_end
        length,  # length, with the manifest
        *[0] * 2,  # version_major and version_minor: free to use
        0,  # security_version: the oldest, since there is nothing to roll back to
        *[0] * 2,  # timestamp: 1970, so that the image is reproducible
        *[0] * 8,  # binding_value, for keys that we do not use
        0,  # max_key_version
        MANIFEST_SIZE,  # code_start
        length,  # code_end, exclusive
        entry - base,  # entry_point
        *[0] * 15 * 2,  # extension table, two words each
    ]
    return struct.pack(f"<{len(words)}I", *words)
