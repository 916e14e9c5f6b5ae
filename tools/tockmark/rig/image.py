# SPDX-License-Identifier: Apache-2.0 OR MIT
"""From a kernel ELF and an app's objects to a flash image.

Where apps may lie is the kernel's decision, so each app is linked for the kernel at hand: its
symbols say where (or the board profile, if it has none), gcc links, elf2tab packs, and tockloader
lays the app behind the kernel's own segments.
"""

import hashlib
import json
import re
import struct
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import msgspec

from tockmark import BASELINE, paths
from tockmark.errors import TockmarkError
from tockmark.plain import LONGEST_NAME, showable
from tockmark.rig import elf as elf_sizes
from tockmark.rig.board import BoardProfile, Slots
from tockmark.rig.boot_manifest import boot_manifest
from tockmark.rig.elf import read_elf
from tockmark.rig.origin import OPT_LEVELS, agreed, of_checkout, of_manifest, rustc_of
from tockmark.rig.tool import TOCKLOADER, call
from tockmark.suite.catalogue import Boot, Lang

RECORD = 0x800  # bytes behind an app's grants that Tock takes unasked for its record of the process
RAM_ALIGN = 0x400
SLICE_WORD = "TOCKMARK_SLICE_US"  # in the baseline kernel: kernel/README.md
RESTARTS_WORD = "TOCKMARK_FAULT_RESTARTS"
STEADY_STOP_WORD = "tm_link_steady_stop"  # in an app: apps/runtime/bench.h
IMAGE_WORD = "tm_link_image"
NO_CONTROLS = 1 << 31  # of an app's tm_only: apps/runtime/bench.h
NO_APP = b"\0"  # as tockloader leaves it there
_OURS = re.compile(rf"{BASELINE} (?P<version>\S+) abi(?P<abi>\d) (?P<machine>\w+)")  # its name
OPT_LEVEL = " opt-level="  # behind this the baseline kernel's name has it


@dataclass(frozen=True)
class KernelElf:
    """What the tool reads from a kernel's ELF."""

    path: Path
    name: str | None  # only the baseline kernel says its name, and with what opt-level it was built
    sha256: str
    slots: Slots | None
    segments: tuple[tuple[int, bytes], ...]
    words: dict[str, int] = field(default_factory=dict)  # where the words are that one may patch
    opt_level: str | None = None
    commit: str | None = None  # of its source
    flags: str | None = None
    rustc: str | None = None
    entry: int = 0  # address of its first instruction
    flash_bytes: int | None = None  # target/contents.py says what counts

    @property
    def is_baseline(self) -> bool:
        """Whether it is the baseline kernel, wherever it was built: no other has the word."""
        return SLICE_WORD in self.words

    @property
    def is_ours(self) -> bool:
        """Whether it was built in this checkout."""
        return self.name is not None and self.path.resolve().is_relative_to(paths.ROOT)


@dataclass(frozen=True)
class AppBuild:
    """Built apps that are not linked yet: where their objects are, for which interface, and in
    which language."""

    folder: Path
    abi: int
    lang: Lang = "c"

    @staticmethod
    def built(abi: int, lang: Lang = "c") -> "AppBuild":
        """Those that `make apps` makes."""
        return AppBuild(paths.APPS / f"{lang}-abi{abi}", abi, lang)


@dataclass(frozen=True)
class AppSlot:
    """One app in the image, and where it was linked."""

    name: str
    elf: Path
    flash_start: int
    ram_start: int
    ram_length: int
    elf_sha256: str
    flash_length: int
    symbols: Mapping[str, int]

    def layout(self) -> dict[str, int | str]:
        return {
            "name": self.name,
            "flash_start": self.flash_start,
            "ram_start": self.ram_start,
            "ram_length": self.ram_length,
            "elf_sha256": self.elf_sha256,
            "flash_length": self.flash_length,
        }


@dataclass(frozen=True)
class Image:
    """A flash image: the kernel, and the apps of a boot behind it without gaps."""

    flash: Path
    slots: tuple[AppSlot, ...]
    id: str  # 8 hexadecimal digits, which its app says, too: target/identity.py


def read_kernel(path: Path) -> KernelElf:
    """Read a kernel ELF. TockmarkError if it is none."""
    elf = read_elf(path)
    symbols, segments = elf.addresses, elf.segments
    names = ("_sapps", "_eapps", "_sappmem", "_eappmem")
    slots = Slots(*(symbols[n] for n in names)) if all(n in symbols for n in names) else None
    words = {name: symbols[name] for name in (SLICE_WORD, RESTARTS_WORD) if name in symbols}
    name, _, opt_level = (_name(symbols, segments) or "").partition(OPT_LEVEL)
    own = opt_level if OPT_LEVELS.fullmatch(opt_level) else None
    rustc = rustc_of(elf.content(".comment"))
    return KernelElf(
        path,
        name.strip() or None,
        elf.sha256,
        slots,
        segments,
        words,
        own,
        rustc=rustc,
        entry=elf.entry,
        flash_bytes=elf_sizes.kernel_flash_bytes(elf),
    )


def named(
    kernel: KernelElf,
    name: str | None = None,
    opt_level: str | None = None,
    manifest: Path | None = None,
) -> KernelElf:
    """The kernel with what its user says of it, by options and in a manifest, beside what its ELF
    says. Raises TockmarkError where they contradict each other."""
    elf = {"name": kernel.name, "opt_level": kernel.opt_level, "rustc": kernel.rustc}
    said = {
        paths.shown(kernel.path): {key: value for key, value in elf.items() if value is not None},
        "--kernel-name": {} if name is None else {"name": name},
        "--opt-level": {} if opt_level is None else {"opt_level": opt_level},
    }
    if manifest is not None:
        said[paths.shown(manifest)] = of_manifest(manifest)
    ours = of_checkout() if kernel.is_ours else {}
    return replace(kernel, **{**ours, **agreed(said)})  # type: ignore[arg-type]


def baseline(kernel: KernelElf) -> re.Match[str] | None:
    """What the name of the baseline kernel says, if that is the one."""
    return _OURS.fullmatch(kernel.name or "")


def runs(kernel: KernelElf, abi: int, board: BoardProfile) -> None:
    """TockmarkError if the kernel says that it has another version of the interface, or is built
    for another machine than this board's."""
    said = baseline(kernel)
    if said and said["abi"] != str(abi):
        raise TockmarkError(f"the kernel is {kernel.name}", f"it runs no apps of --abi {abi}")
    if said and said["machine"] != board.machine:
        raise TockmarkError(
            f"{paths.shown(kernel.path)} is built for {said['machine']}, but {board.name} is a"
            f" {board.machine}",
            f"give the kernel for it, {paths.shown(board.kernels[abi])}",
        )


def room_of(kernel: KernelElf, board: BoardProfile) -> Slots:
    """Where apps may lie: the kernel's decision, or the profile's if it says nothing."""
    return kernel.slots or board.slots


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
    out.mkdir(parents=True, exist_ok=True)
    room = room_of(kernel, board)
    kernel = with_words(kernel, {} if boot.slice_us is None else {SLICE_WORD: boot.slice_us})
    words = {
        "tm_apps": 1,  # one of them reports
        "tm_steady_stop": 0,
        "tm_scene": boot.scene,
        "tm_slots": len(boot.slots),
        "tm_most_samples": 0,  # as many as the catalogue says
        "tm_only": boot.only,
        **name_words(boot.name),
        **shuffled_places(seed),
        **(symbols or {}),
    }
    path = out / f"{boot.name}.flash"
    write_flash(kernel, board, path)
    parts = [path, *(part for slot in boot.slots for part in _parts(slot, apps))]
    said = [boot.slots, *msgspec.structs.astuple(room), apps.lang, apps.abi, words, seed]
    words["tm_image"] = image_id(said, parts)
    flash, ram = room.flash_start, room.ram_start
    slots: list[AppSlot] = []
    tbfs: list[bytes] = []
    for index, (object_, name) in enumerate(zip(boot.slots, boot.processes(), strict=True)):
        elf, tab = out / f"{boot.name}.{index}.elf", out / f"{boot.name}.{index}.tab"
        ram = -(-ram // RAM_ALIGN) * RAM_ALIGN
        start = flash + HEADER
        places = {
            "tm_flash_start": start,
            "tm_flash_length": room.flash_end - start,
            "tm_ram_start": ram,
            "tm_ram_length": room.ram_end - ram - GRANTS - RECORD,
            "tm_slot": index,
            **words,
        }
        link(object_, _parts(object_, apps), elf, places, seed)
        built = read_elf(elf)
        linked = built.addresses
        needs = _needs(linked, start, ram, room.ram_end - ram - GRANTS - RECORD)
        flash += pack(name, elf, tab, apps.abi, needs.heap)
        tbfs.append(elf.with_suffix(".tbf").read_bytes())
        slots.append(AppSlot(name, elf, start, ram, needs.ram, built.sha256, needs.flash, linked))
        ram += needs.ram + GRANTS + RECORD
    lay_apps(tbfs, path, room.flash_start - board.flash.base)
    return Image(path, tuple(slots), f"{words['tm_image']:08x}")


def stopping_early(image: Image, board: BoardProfile, path: Path) -> Image:
    """The same image, whose apps end a row that repeats: as a file of its own, at `path`, and with
    an id of its own."""
    flash = bytearray(image.flash.read_bytes())
    number = image_id([image.id, STEADY_STOP_WORD])
    for slot in image.slots:
        for word, value in ((STEADY_STOP_WORD, 1), (IMAGE_WORD, number)):
            if (address := slot.symbols.get(word)) is not None:
                struct.pack_into("<I", flash, address - board.flash.base, value)
    path.write_bytes(flash)
    return replace(image, flash=path, id=f"{number:08x}")


@dataclass(frozen=True)
class _Needs:
    """Bytes of an app: its flash, its RAM without grants, and the heap that is part of this."""

    flash: int
    ram: int
    heap: int


def _needs(symbols: Mapping[str, int], flash_start: int, ram_start: int, room: int) -> _Needs:
    """What a linked app wants: its sections, and its heap as far as there is room."""
    fixed = symbols["_app_end"] - ram_start
    heap = min(symbols.get("tm_heap", 0), room - fixed)
    data = symbols["_data_end"] - symbols["_data_start"]
    return _Needs(symbols["_data_load"] + data - flash_start, fixed + heap, heap)


def with_words(kernel: KernelElf, words: Mapping[str, int]) -> KernelElf:
    """The kernel with words of its image changed; one that has no such word stays as it is."""
    segments = kernel.segments
    for name, value in words.items():
        address = kernel.words.get(name)
        if address is not None:
            segments = tuple(_patched(*segment, address, value) for segment in segments)
    return replace(kernel, segments=segments)


def _patched(start: int, data: bytes, address: int, value: int) -> tuple[int, bytes]:
    at = address - start
    if not 0 <= at <= len(data) - 4:
        return start, data
    return start, data[:at] + value.to_bytes(4, "little") + data[at + 4 :]


def write_flash(kernel: KernelElf, board: BoardProfile, path: Path) -> None:
    """The kernel's segments as a raw image of the flash, erased bytes between them. The baseline
    kernel leaves the boot manifest to be laid here; any other kernel is taken as it is."""
    segments = list(kernel.segments)
    if board.profile.boot.manifest is not None and kernel.is_baseline:
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
        image.extend(b"\xff" * (start + len(data) - len(image)))
        image[start : start + len(data)] = data
    path.write_bytes(image)


def lay_apps(tbfs: Sequence[bytes], flash: Path, at: int) -> None:
    """Lay apps into a flash file from this offset on, one behind the other, and a byte behind them
    that begins no app: what tockloader makes of them, which would take ten times as long as all
    the rest of an image."""
    image = bytearray(flash.read_bytes())
    apps = b"".join(tbfs) + NO_APP
    image.extend(b"\xff" * (at - len(image)))
    image[at : at + len(apps)] = apps
    flash.write_bytes(image)


def install(tabs: Sequence[Path], flash: Path, board: BoardProfile, room: Slots) -> None:
    """Let tockloader lay TABs into a flash file, in the place of all apps that it holds."""
    where = ["--board", board.profile.tockloader_board, "--app-address", hex(room.flash_start)]
    command = [str(TOCKLOADER), "install", "--erase", "--flash-file", str(flash), *where]
    call([*command, *map(str, tabs)], f"laying {', '.join(tab.name for tab in tabs)} into flash")


def _parts(app: str, apps: AppBuild) -> list[Path]:
    """What an app is linked of: its objects, and how the linker lays them."""
    parts = [apps.folder / f"{app}.o", apps.folder / "libtockmark.a", paths.LINKER_SCRIPT]
    for part in parts:
        if not part.exists():
            raise TockmarkError(f"{paths.shown(part)} is not there", "run `make build`")
    return parts


def _name(symbols: dict[str, int], segments: tuple[tuple[int, bytes], ...]) -> str | None:
    """The NUL-terminated string at the symbol TOCKMARK_KERNEL, as far as it can be shown."""
    address = symbols.get("TOCKMARK_KERNEL")
    for start, data in segments:
        if address is not None and start <= address < start + len(data):
            text = data[address - start :][:LONGEST_NAME].split(b"\0")[0]
            return showable(text.decode("ascii", "replace"))
    return None


# What an image is called: the boot's name and a number, as words that its apps are linked with, so
# that they can say of which image they are.


NAME_BYTES = 24  # of tm_link, a NUL among them; apps/generate.py holds the names to it


def image_id(said: Sequence[object], files: Iterable[Path] = ()) -> int:
    """What tells images apart: the first 32 bits of a SHA-256 over all that decides what is in one,
    which is what is said (as JSON can hold it) and what these files hold, each once."""
    digest = hashlib.sha256(json.dumps(said).encode())
    for path in dict.fromkeys(files):
        digest.update(hashlib.sha256(path.read_bytes()).digest())
    return int.from_bytes(digest.digest()[:4], "big")


def name_words(name: str) -> dict[str, int]:
    """A boot's name as the words of tm_link, with a NUL behind it."""
    held = name.encode("ascii").ljust(NAME_BYTES, b"\0")
    return {f"tm_boot_{i}": word for i, (word,) in enumerate(struct.iter_unpack("<I", held))}


# From an app's objects to its ELF, by gcc, and to its TAB, by elf2tab.


HEADER = 0x80  # bytes that the TBF header takes at the start of a slot
GRANTS = 0x800  # bytes at the end of an app's RAM that are left to the kernel's grants
# Where tockloader expects an app to begin; it would fill gaps with apps of its own.
FLASH_ALIGN = 0x400
GCC = "riscv64-unknown-elf-gcc"
AR = "riscv64-unknown-elf-ar"


def link(app: str, parts: Sequence[Path], elf: Path, symbols: Mapping[str, int], seed: int) -> None:
    """Link an app of its object, the runtime's library and the linker script, in this order, with
    words given by name; by a seed other than 0 in another order of objects."""
    *objects, script = parts
    defsyms = [f"-Wl,--defsym={name}={value:#x}" for name, value in symbols.items()]
    machine = ["-march=rv32imc", "-mabi=ilp32", "-nostartfiles", "--specs=picolibc.specs"]
    command = [GCC, *machine, "-T", str(script), *defsyms, "-o", str(elf)]
    used = call([*command, "-Wl,-t,-t", *map(str, objects)], f"linking {app}")
    if seed:
        others = shuffled([objects[0], *_members(objects[1], used, elf)], seed)
        call([*command, *map(str, others)], f"linking {app} in another order")


def _members(library: Path, used: str, elf: Path) -> list[Path]:
    """The object files that a link took from a library, by what it said: in another order it shall
    take the very same."""
    folder = elf.with_suffix(".members")
    folder.mkdir(exist_ok=True)
    names = [line.removeprefix(f"({library})") for line in used.splitlines()]
    members = [name for name, line in zip(names, used.splitlines(), strict=True) if name != line]
    call(
        [AR, "x", "--output", str(folder), str(library.resolve()), *members],
        f"unpacking {library.name}",
    )
    return [folder / name for name in members]


def pack(name: str, elf: Path, tab: Path, abi: int, heap: int) -> int:
    """Make the TAB of an app for a version of the interface, with so many bytes of heap; the bytes
    that it takes in flash, a multiple of FLASH_ALIGN."""
    sizes = ["--protected-region-size", str(HEADER), "--kernel-heap", str(GRANTS)]
    version = ["--kernel-major", str(abi), "--kernel-minor", "0", "--deterministic"]
    command = [str(paths.ELF2TAB), "-n", name, "-o", str(tab), *sizes, "--app-heap", str(heap)]
    footer = 0
    while True:
        more = ["--minimum-footer-size", str(footer)]
        call([*command, *version, *more, f"{elf},rv32imc"], f"packing {name}")
        total = struct.unpack_from("<I", elf.with_suffix(".tbf").read_bytes(), 4)[0]
        if total % FLASH_ALIGN == 0:
            return int(total)
        footer += FLASH_ALIGN - total % FLASH_ALIGN


# Where an app's code lies, by a seed: other places in the flash word and in the sets of the
# instruction cache, and another link order. What is linked stays the same, to the object file.


WORD = 8  # bytes of flash that come at once, and of a line of the cache
WAY = 2048  # bytes of the cache that lie in lines of their own
LEAST = 2  # bytes of the shortest instruction, at which code may begin
MOST = 1024  # layouts of one run


def shuffled_places(seed: int) -> dict[str, int]:
    """What app.ld takes of a seed; 0 moves nothing."""
    if not seed:
        return {"tm_pad": 0, "tm_shift": 0, "tm_align": WORD}
    # The shifts in turn, so that a few seeds have all of them; a place in the cache by chance.
    shift = LEAST * (seed % (WORD // LEAST))
    return {"tm_pad": WORD * (_drawn(seed) % (WAY // WORD)), "tm_shift": shift, "tm_align": LEAST}


def shuffled(objects: Sequence[Path], seed: int) -> list[Path]:
    """The objects in an order by the seed."""
    return sorted(objects, key=lambda path: _drawn(seed, path.parent.name, path.name))


def _drawn(seed: int, *what: str) -> int:
    """A number by chance, as far as anyone can tell, and the same everywhere."""
    return int(hashlib.sha256(" ".join([str(seed), *what]).encode()).hexdigest(), 16)
