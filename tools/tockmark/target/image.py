# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Flash images are made here, of a kernel ELF and the objects of apps.

Where apps may lie is the kernel's decision, so each app is linked for the kernel at hand: its
symbols say where (or the board profile, if it has none), GNU ld links, elf2tab packs, and the apps
are laid behind the kernel's own segments as tockloader lays them.

In front of the kernel some boot ROMs look for a boot manifest. Its format is OpenTitan's public
one, of the commit that Tock's CW310 board names (earlgrey_es, edf5e35f5d): the fields and what they
mean are declared in `opentitan/sw/device/silicon_creator/lib/manifest.h`, the constants in
`lib/base/chip.h` and `sw/device/lib/base/hardened.h`. Two ROMs read it:

- the *test ROM* of FPGA bitstreams reads `address_translation` and `entry_point`, and jumps;
- the *ROM* of the product checks all of it and a signature, which nobody can make here: what
  `boot_manifest` gives is unsigned, and only the test ROM enters it.
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

HEADER = 0x80  # bytes that the TBF header takes at the start of a slot
GRANTS = 0x800  # bytes at the end of an app's RAM that are left to the kernel's grants
RECORD = 0x800  # bytes behind an app's grants that Tock takes unasked for its record of the process
RAM_ALIGN = 0x400
# Where tockloader expects an app to begin; it would fill gaps with apps of its own.
FLASH_ALIGN = 0x400
END_OF_APPS = b"\0"  # begins no app: as tockloader leaves it behind the last

STEADY_STOP_WORD = "tm_link_steady_stop"  # in an app: apps/runtime/bench.h
IMAGE_WORD = "tm_link_image"
NO_CONTROLS = 1 << 31  # of an app's tm_only: apps/runtime/bench.h
NAME_BYTES = 24  # of tm_link, a NUL among them; apps/generate.py holds the names to it

WORD = 8  # bytes of flash that come at once, and of a line of the cache
MISFIT = "does not fit"  # what app.ld says of an app that is too large
ROOMY = 1 << 27  # more bytes than any app takes, and than lie between flash and RAM and back
WAY = 2048  # bytes of the cache that lie in lines of their own
SHORTEST_INSTRUCTION = 2  # bytes of the shortest instruction, at which code may begin
MAX_LAYOUTS = 1024  # layouts of one run

# A file in a folder: its path does not begin at the root, and has no way out by "..".
File = Annotated[str, msgspec.Meta(pattern=r"^(?!/|(?:.*/)?\.\.(?:/|$))[^\0]+$")]


@dataclass(frozen=True)
class AppBuild:
    """Built apps that are not linked yet: where their objects are, for which interface, and in
    which language."""

    folder: Path
    abi: int
    lang: Lang = "c"
    # Bytes of flash of which each app takes a multiple. A program beside another app lies in the
    # same sets of the cache as alone.
    align: int = FLASH_ALIGN
    isa: Isa = RISC_V
    target: str = "build"  # the target of the Makefile that makes them

    @staticmethod
    def built(
        abi: int,
        lang: Lang = "c",
        counter: CounterName = PERF,
        catalogue: str | None = None,
        isa: str = RISC_V.name,
    ) -> "AppBuild":
        """Return those that `make apps` makes, or of another architecture `make setup-qemu`; or
        those of another catalogue, by its name. TockmarkError if none read by this counter."""
        if ISAS[isa].counts_cycles_only:
            if abi != 2 or counter != CYCLECOUNT or catalogue is not None:
                raise TockmarkError(
                    f"apps for {isa} are those of version 2 that read {COUNTERS[CYCLECOUNT]}",
                    "leave out --abi, --counter and --catalogue",
                )
            return AppBuild(paths.APPS / f"{lang}-abi{abi}-{isa}", abi, lang, isa=ISAS[isa])
        if catalogue is not None:
            read = f"-{counter}" * (counter != PERF)
            folder = paths.APPS / f"{catalogue}-{lang}-abi{abi}{read}"
            if not folder.is_dir():
                raise TockmarkError(
                    f"{shown(folder)} is not there", f"build the apps of the catalogue {catalogue}"
                )
            return AppBuild(folder, abi, lang, WAY)
        if counter == PERF:
            return AppBuild(paths.APPS / f"{lang}-abi{abi}", abi, lang)
        if (lang, abi) != ("c", 2):
            raise TockmarkError(
                f"no apps in {LANGS[lang]} for version {abi} of the interface read by"
                f" {COUNTERS[counter]}",
                "measure those in C for version 2, or use Perf",
            )
        return AppBuild(paths.APPS / f"{lang}-abi{abi}-{counter}", abi, lang)


class DoesNotFitError(TockmarkError):
    """A kernel leaves less flash or RAM than an app takes, behind those that lie before it."""

    def __init__(self, app: str, full: Literal["flash", "RAM"], takes: int, left: int) -> None:
        super().__init__(
            f"{app} {MISFIT} in the {full} that the kernel leaves: it takes {takes:,} bytes, and"
            f" {left:,} are left"
        )
        self.full = full


class AppSlot(Part, frozen=True):
    """One app in the image, and where it was linked (addresses and bytes). In a manifest its files
    are named from the manifest's folder."""

    name: str
    tab: File
    elf: File
    elf_sha256: Sha256
    flash_start: Address
    flash_length: Address
    ram_start: Address
    ram_length: Address
    parts_sha256: Sha256 | None = None  # of what it was linked of, in this order

    def renamed(self, rename: Callable[[str], str]) -> "AppSlot":
        """Return it with other names for its files."""
        return msgspec.structs.replace(self, tab=rename(self.tab), elf=rename(self.elf))

    @property
    def symbols(self) -> Mapping[str, int]:
        """Return where its symbols are, by its ELF."""
        return read_elf(Path(self.elf)).addresses


@dataclass(frozen=True)
class Image:
    """A flash image: the kernel, and the apps of a boot behind it without gaps."""

    flash: Path
    slots: tuple[AppSlot, ...]
    id: str  # 8 hexadecimal digits, which its app says, too


def build_image(
    boot: Boot,
    apps: AppBuild,
    kernel: KernelElf,
    board: BoardProfile,
    out: Path,
    symbols: Mapping[str, int] | None = None,
    seed: int = 0,
) -> Image:
    """Link and pack the apps of a boot for this kernel, and lay all into a flash image; `symbols`
    are words for the apps besides those that all have, `seed` says where their code lies."""
    sources.check(apps.folder)
    out.mkdir(parents=True, exist_ok=True)
    room = app_room(kernel, board)
    kernel = with_words(kernel, {} if boot.slice_us is None else {SLICE_WORD: boot.slice_us})
    words = {
        "tm_apps": 1,  # one of them reports
        "tm_steady_stop": 0,
        "tm_scene": boot.scene,
        "tm_slots": len(boot.slots),
        "tm_most_samples": 0,  # as many as the catalogue says
        "tm_only": boot.only | (0 if boot.controls else NO_CONTROLS),
        **name_words(boot.name),
        **layout_symbols(seed),
        **(symbols or {}),
    }
    path = out / f"{boot.name}.flash"
    write_flash(kernel, board, path)
    content = bytearray(path.read_bytes())
    parts = [path, *(part for slot in boot.slots for part in _parts(slot, apps))]
    said = [boot.slots, *msgspec.structs.astuple(room), apps.lang, apps.abi, words, seed]
    words["tm_image"] = image_id(said, parts)
    flash_align, ram_align = apps.align, RAM_ALIGN
    if apps.isa.has_power_of_two_mpu:
        flash_align, ram_align = _powers(boot, apps, room, words, out)
    flash, ram = room.flash_start, room.ram_start
    slots: list[AppSlot] = []
    tbfs = b""
    for index, (object_, name) in enumerate(zip(boot.slots, boot.processes(), strict=True)):
        elf, tab = out / f"{boot.name}.{index}.elf", out / f"{boot.name}.{index}.tab"
        ram = -(-ram // ram_align) * ram_align
        start, ram_free = flash + HEADER, room.ram_end - ram - GRANTS - RECORD
        places = {
            "tm_flash_start": start,
            "tm_flash_length": room.flash_end - start,
            "tm_ram_start": ram,
            "tm_ram_length": ram_free,
            "tm_slot": index,
            **words,
        }
        own = _parts(object_, apps)
        try:
            link(object_, own, elf, places, seed, apps.isa)
        except TockmarkError as error:
            if MISFIT not in error.problem:
                raise
            raise _misfit(name, object_, own, elf, places, apps.isa) from error
        linked = read_elf(elf)
        at = linked.addresses
        fixed = at["_app_end"] - ram
        heap = min(at.get("tm_heap", 0), ram_free - fixed)  # as far as there is room
        flash_length = _flash_end(at) - start
        flash += pack(name, elf, tab, apps.abi, heap, flash_align, apps.isa)
        tbfs += elf.with_suffix(".tbf").read_bytes()
        files = str(tab), str(elf), linked.sha256
        hashed = hashlib.sha256(b"".join(part.read_bytes() for part in own)).hexdigest()
        slots.append(AppSlot(name, *files, start, flash_length, ram, fixed + heap, hashed))
        ram += fixed + heap + GRANTS + RECORD
    # What tockloader makes of them, which would take ten times as long as all the rest.
    _put(content, room.flash_start - board.flash.base, tbfs + END_OF_APPS)
    path.write_bytes(content)
    return Image(path, tuple(slots), f"{words['tm_image']:08x}")


def _flash_end(symbols: Mapping[str, int]) -> int:
    """Return where an app's code, constants and initial data end, by its symbols."""
    return symbols["_data_load"] + symbols["_data_end"] - symbols["_data_start"]


def _powers(
    boot: Boot, apps: AppBuild, room: Room, words: Mapping[str, int], out: Path
) -> tuple[int, int]:
    """Return the powers of two that hold the flash and the RAM of the largest app of a boot: each
    of them has as much, at a multiple of it."""
    flash = ram = 1
    for object_ in dict.fromkeys(boot.slots):
        elf, start = out / f"{boot.name}.{object_}.elf", room.flash_start + HEADER
        places = {"tm_flash_start": start, "tm_ram_start": room.ram_start, "tm_slot": 0, **words}
        places |= {"tm_flash_length": ROOMY, "tm_ram_length": ROOMY}
        link(object_, _parts(object_, apps), elf, places, 0, apps.isa)
        at = read_elf(elf).addresses
        flash = max(flash, _flash_end(at) - room.flash_start)
        own = at["_app_end"] - room.ram_start + at.get("tm_heap", 0)
        ram = max(ram, own + GRANTS + RECORD)
        elf.unlink()
    return 1 << (flash - 1).bit_length(), 1 << (ram - 1).bit_length()


def _misfit(
    name: str, app: str, parts: Sequence[Path], elf: Path, places: Mapping[str, int], isa: Isa
) -> DoesNotFitError:
    """Return by how much an app is too large: it is linked once more, with room enough."""
    link(app, parts, elf, {**places, "tm_flash_length": ROOMY, "tm_ram_length": ROOMY}, 0, isa)
    at = read_elf(elf).addresses
    code = _flash_end(at) - places["tm_flash_start"]
    ram = at["_app_end"] - places["tm_ram_start"]
    if ram > places["tm_ram_length"]:
        return DoesNotFitError(name, "RAM", ram, places["tm_ram_length"])
    return DoesNotFitError(name, "flash", code, places["tm_flash_length"])


def with_early_stop(image: Image, board: BoardProfile, path: Path) -> Image:
    """Return an image whose apps end a row that repeats: it is another file, at `path`, and has
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


def image_id(said: Sequence[object], files: Iterable[Path] = ()) -> int:
    """Return what tells images apart: the first 32 bits of a SHA-256 over all that decides what is
    in one, which is what is said (as JSON can hold it) and what these files hold, each once."""
    digest = hashlib.sha256(json.dumps(said).encode())
    for path in dict.fromkeys(files):
        digest.update(hashlib.sha256(path.read_bytes()).digest())
    return int.from_bytes(digest.digest()[:4], "big")


def name_words(name: str) -> dict[str, int]:
    """Return a boot's name as the words of tm_link, with a NUL behind it."""
    held = name.encode("ascii").ljust(NAME_BYTES, b"\0")
    return {f"tm_boot_{i}": word for i, (word,) in enumerate(struct.iter_unpack("<I", held))}


def layout_symbols(seed: int) -> dict[str, int]:
    """Return what app.ld takes of a seed: another place in the flash word and in the sets of the
    instruction cache; 0 moves nothing."""
    if not seed:
        return {"tm_pad": 0, "tm_shift": 0, "tm_align": WORD}
    # The shifts in turn, so that a few seeds have all of them; a place in the cache by the hash.
    shift = SHORTEST_INSTRUCTION * (seed % (WORD // SHORTEST_INSTRUCTION))
    pad = WORD * (_seeded_hash(seed) % (WAY // WORD))
    return {"tm_pad": pad, "tm_shift": shift, "tm_align": SHORTEST_INSTRUCTION}


def _seeded_hash(seed: int, *what: str) -> int:
    """Return a number that looks like one by chance, and is the same everywhere."""
    return int(hashlib.sha256(" ".join([str(seed), *what]).encode()).hexdigest(), 16)


def write_flash(kernel: KernelElf, board: BoardProfile, path: Path) -> None:
    """Write the kernel's segments as a raw image of the flash, erased bytes between them. The
    baseline kernel leaves the boot manifest to be laid here; any other kernel is taken as it is."""
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
        _put(image, start, data)
    path.write_bytes(image)


def _put(flash: bytearray, at: int, data: bytes) -> None:
    """Put data into flash, of which what nothing was put into is erased."""
    flash.extend(b"\xff" * (at + len(data) - len(flash)))
    flash[at : at + len(data)] = data


def install_with_tockloader(
    tabs: Sequence[Path], flash: Path, board: BoardProfile, room: Room
) -> None:
    """Let tockloader lay TABs into a flash file, in the place of all apps that it holds."""
    where = ["--board", board.tockloader_board, "--app-address", hex(room.flash_start)]
    command = [str(TOCKLOADER), "install", "--erase", "--flash-file", str(flash), *where]
    run_tool(
        [*command, *map(str, tabs)], f"laying {', '.join(tab.name for tab in tabs)} into flash"
    )


def _parts(app: str, apps: AppBuild) -> list[Path]:
    """Return what an app is linked of: its objects, and how the linker lays them."""
    own = apps.folder / paths.LINKER_SCRIPT.name
    script = own if own.exists() else paths.LINKER_SCRIPT
    parts = [apps.folder / f"{app}.o", apps.folder / "libtockmark.a", script]
    made = apps.target if apps.isa is RISC_V else apps.isa.setup
    for part in (*parts, *apps.isa.compiler_libraries):
        if not part.exists():
            raise TockmarkError(f"{paths.shown(part)} is not there", paths.make_command(made))
    return parts


def link(
    app: str,
    parts: Sequence[Path],
    elf: Path,
    symbols: Mapping[str, int],
    seed: int,
    isa: Isa = RISC_V,
) -> None:
    """Link an app of its object, the runtime's library and the linker script, in this order, with
    words given by name; by a seed other than 0 the very same objects in another order."""
    own, library, script = parts
    defsyms = [f"--defsym={name}={value:#x}" for name, value in symbols.items()]
    command = [isa.linker, "-m", isa.emulation, "--gc-sections", *defsyms, "-o", str(elf)]
    # As the compiler gives them to the linker.
    behind = ["--start-group", *map(str, isa.compiler_libraries), "--end-group", "-T", str(script)]
    doing = f"linking {app}"
    used = run_tool([*command, "-t", "-t", str(own), str(library), *behind], doing).splitlines()
    if not seed:
        return
    folder, member = elf.with_suffix(".members"), f"({library})"
    folder.mkdir(exist_ok=True)
    members = {line.removeprefix(member) for line in used if line.startswith(member)}
    for name, content in archive_members(library.read_bytes()):
        if name in members:
            (folder / name).write_bytes(content)
    objects = sorted(
        [own, *(folder / name for name in members)],
        key=lambda path: _seeded_hash(seed, path.parent.name, path.name),
    )
    run_tool([*command, *map(str, objects), *behind], f"{doing} in another order")


def pack(
    name: str,
    elf: Path,
    tab: Path,
    abi: int,
    heap: int,
    align: int = FLASH_ALIGN,
    isa: Isa = RISC_V,
) -> int:
    """Make the TAB of an app for a version of the interface, with so many bytes of heap; return the
    bytes that it takes in flash, a multiple of `align`."""
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
    """Run somebody else's tool, and return what it said. On failure the error is the last thing of
    that, and where the tool is not there what to do."""
    done = processes.run(command, doing=doing, todo=todo)
    if done.code:
        # Some put a level before what they say: `[ERROR  ] no such file`.
        said = [
            re.sub(r"^\[[A-Z]+ *\] ", "", line.strip())
            for line in (done.error_text or done.text).splitlines()
            if line.strip()
        ]
        last = said[-1] if said else f"without a word, code {done.code}"
        raise TockmarkError(
            f"{doing}: {Path(command[0]).name} failed: {last}",
            "--debug shows the command",
            INCOMPLETE,
        ) from RuntimeError(f"code {done.code} of {shlex.join(command)}: {done.error_text}")
    return done.text


MANIFEST_SIZE = 0x400  # bytes of a boot manifest
LONGEST_IMAGE = 0x10000  # bytes of an image in the first boot stage, the manifest included
ANY_DEVICE = 0xA5A5A5A5  # in the place of a constraint that is not set


def boot_manifest(segments: Iterable[tuple[int, bytes]], entry: int, base: int) -> bytes:
    """Make the manifest of a kernel of these segments (address, content) in the flash that begins
    at `base`, entered at `entry`.

    TockmarkError for a kernel to which the format, or the check of it in the ROM of the product
    (`manifest_check` and `boot_policy_manifest_check`), leaves no manifest."""
    segments, first = list(segments), base + MANIFEST_SIZE
    ends = (start + len(data) - base for start, data in segments)
    length = -(-max(ends, default=MANIFEST_SIZE) // 4) * 4  # code ends at a word
    why = None
    if below := [start for start, _ in segments if start < first]:
        why = f"it has a segment at {below[0]:#x}", f"link it from {first:#x} on"
    elif length > LONGEST_IMAGE:
        why = f"it ends {length} bytes into flash", f"make it {LONGEST_IMAGE} at most"
    elif entry % 4 or not any(start <= entry < start + len(data) for start, data in segments):
        why = f"its entry {entry:#x} is no word of its code", "see how it was linked"
    if why is not None:
        raise TockmarkError(f"this kernel cannot have a boot manifest: {why[0]}", why[1])
    # All fields in the order in which they lie, without gaps, as words of 4 bytes. Lengths and
    # places are bytes from the start of the manifest. Constants and initial data lie behind the
    # code: one region has them all.
    words = [
        *[0] * 96,  # rsa_signature, of all that follows: none
        0,  # selector_bits, which of the constraints count: none, it may run on any chip
        *[ANY_DEVICE] * 8,  # device_id
        *[ANY_DEVICE] * 2,  # manuf_state_creator and manuf_state_owner
        ANY_DEVICE,  # life_cycle_state
        *[0] * 96,  # rsa_modulus, of the key that signed: none
        0x1D4,  # address_translation: "false", hardened against glitches: it runs where it lies
        int.from_bytes(b"OTRE", "little"),  # identifier: an image of the first boot stage
        0x71C36C47,  # manifest_version, major and minor
        length,  # signed_region_end
        length,  # of the image, the manifest included
        *[0] * 2,  # version_major and version_minor, of the image, for its author
        0,  # security_version, the oldest: protects from going back, and there is nothing to
        *[0] * 2,  # timestamp, 1970: the same kernel gives the same image
        *[0] * 8,  # binding_value, which goes into keys, of which we use none
        0,  # max_key_version
        MANIFEST_SIZE,  # code_start: what may be executed,
        length,  # code_end: up to here, exclusive
        entry - base,  # entry_point
        *[0] * 15 * 2,  # the table of extensions, two words each
    ]
    return struct.pack(f"<{len(words)}I", *words)
