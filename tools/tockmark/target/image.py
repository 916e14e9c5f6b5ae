# SPDX-License-Identifier: Apache-2.0 OR MIT
"""From a kernel ELF and an app's objects to a flash image.

Where apps may lie is the kernel's decision, so each app is linked for the kernel at hand: its
symbols say where (or the board profile, if it has none), gcc links, elf2tab packs, and tockloader
lays the app behind the kernel's own segments.
"""

import hashlib
import struct
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from tockmark import paths
from tockmark.errors import INCOMPLETE, TockmarkError
from tockmark.plain import LONGEST_NAME, showable
from tockmark.suite.catalogue import Boot, Lang
from tockmark.target import shuffle
from tockmark.target.board import Board, Slots
from tockmark.target.elf import read_elf
from tockmark.target.manifest import boot_manifest
from tockmark.target.origin import OPT_LEVELS, agreed, of_checkout, of_manifest, rustc_of

HEADER = 0x80  # bytes that the TBF header takes at the start of a slot
GRANTS = 0x800  # bytes at the end of an app's RAM that are left to the kernel's grants
RECORD = 0x800  # and behind them to its own record of the process, which Tock puts there unasked
RAM_ALIGN = 0x400
FLASH_ALIGN = (
    0x400  # where tockloader expects an app to begin; it would fill gaps with apps of its own
)
SLICE_WORD = "TOCKMARK_SLICE_US"  # in the baseline kernel: kernel/README.md
RESTARTS_WORD = "TOCKMARK_FAULT_RESTARTS"
STEADY_STOP_WORD = "tm_link_steady_stop"  # in an app: apps/runtime/bench.h
OPT_LEVEL = " opt-level="  # behind this the baseline kernel's name has it
GCC = "riscv64-unknown-elf-gcc"
AR = "riscv64-unknown-elf-ar"


@dataclass(frozen=True)
class Kernel:
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

    @property
    def is_baseline(self) -> bool:
        """Whether it is the baseline kernel, wherever it was built: no other has the word."""
        return SLICE_WORD in self.words

    @property
    def is_ours(self) -> bool:
        """Whether it was built in this checkout."""
        return self.name is not None and self.path.resolve().is_relative_to(paths.ROOT)


@dataclass(frozen=True)
class Apps:
    """Built apps that are not linked yet: where their objects are, for which interface, and in
    which language."""

    folder: Path
    abi: int
    lang: Lang = "c"

    @staticmethod
    def built(abi: int, lang: Lang = "c") -> "Apps":
        """Those that `make apps` makes."""
        return Apps(paths.APPS / f"{lang}-abi{abi}", abi, lang)


@dataclass(frozen=True)
class Slot:
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
    slots: tuple[Slot, ...]


def read_kernel(path: Path) -> Kernel:
    """Read a kernel ELF. TockmarkError if it is none."""
    elf = read_elf(path)
    symbols, segments = elf.addresses, elf.segments
    names = ("_sapps", "_eapps", "_sappmem", "_eappmem")
    slots = Slots(*(symbols[n] for n in names)) if all(n in symbols for n in names) else None
    words = {name: symbols[name] for name in (SLICE_WORD, RESTARTS_WORD) if name in symbols}
    name, _, opt_level = (_name(symbols, segments) or "").partition(OPT_LEVEL)
    own = opt_level if OPT_LEVELS.fullmatch(opt_level) else None
    rustc = rustc_of(elf.content(".comment"))
    return Kernel(
        path,
        name.strip() or None,
        elf.sha256,
        slots,
        segments,
        words,
        own,
        rustc=rustc,
        entry=elf.entry,
    )


def named(
    kernel: Kernel,
    name: str | None = None,
    opt_level: str | None = None,
    manifest: Path | None = None,
) -> Kernel:
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


def build_image(
    boot: Boot,
    apps: Apps,
    kernel: Kernel,
    board: Board,
    out: Path,
    symbols: Mapping[str, int] | None = None,
    seed: int = 0,
) -> Image:
    """Link and pack the apps of a boot for this kernel, and lay all into a flash image; `symbols`
    are words for the apps besides those that all have, `seed` says where their code lies."""
    out.mkdir(parents=True, exist_ok=True)
    room = kernel.slots or board.slots
    flash, ram = room.flash_start, room.ram_start
    slots: list[Slot] = []
    tabs: list[Path] = []
    for index, (object_, name) in enumerate(zip(boot.slots, boot.processes(), strict=True)):
        elf, tab = out / f"{boot.name}.{index}.elf", out / f"{boot.name}.{index}.tab"
        ram = -(-ram // RAM_ALIGN) * RAM_ALIGN
        start = flash + HEADER
        places = {
            "tm_flash_start": start,
            "tm_flash_length": room.flash_end - start,
            "tm_ram_start": ram,
            "tm_ram_length": room.ram_end - ram - GRANTS - RECORD,
            "tm_apps": 1,  # one of them reports
            "tm_steady_stop": 0,
            "tm_scene": boot.scene,
            "tm_slot": index,
            "tm_slots": len(boot.slots),
            "tm_most_samples": 0,  # as many as the catalogue says
            "tm_only": 0,  # all benchmarks
            **shuffle.places(seed),
            **(symbols or {}),
        }
        _link(object_, elf, apps, places, seed)
        linked = read_elf(elf).addresses
        needs = _needs(linked, start, ram, room.ram_end - ram - GRANTS - RECORD)
        flash += _pack(name, elf, tab, apps, needs.heap)
        sha256 = hashlib.sha256(elf.read_bytes()).hexdigest()
        slots.append(Slot(name, elf, start, ram, needs.ram, sha256, needs.flash, linked))
        tabs.append(tab)
        ram += needs.ram + GRANTS + RECORD
    path = out / f"{boot.name}.flash"
    words = {} if boot.slice_us is None else {SLICE_WORD: boot.slice_us}
    write_flash(with_words(kernel, words), board, path)
    tockloader = [str(Path(sys.executable).with_name("tockloader")), "install"]
    where = ["--board", board.profile.tockloader_board, "--app-address", hex(room.flash_start)]
    files = ["--flash-file", str(path), *where, *map(str, tabs)]
    _call([*tockloader, *files], f"laying {boot.name} into flash")
    return Image(path, tuple(slots))


def stopping_early(image: Image, board: Board, path: Path) -> Image:
    """The same image, whose apps end a row that repeats: as a file of its own, at `path`."""
    flash = bytearray(image.flash.read_bytes())
    for slot in image.slots:
        if (address := slot.symbols.get(STEADY_STOP_WORD)) is not None:
            struct.pack_into("<I", flash, address - board.flash.base, 1)
    path.write_bytes(flash)
    return replace(image, flash=path)


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


def with_words(kernel: Kernel, words: Mapping[str, int]) -> Kernel:
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


def write_flash(kernel: Kernel, board: Board, path: Path) -> None:
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


def _link(app: str, elf: Path, apps: Apps, symbols: dict[str, int], seed: int) -> None:
    parts = [apps.folder / f"{app}.o", apps.folder / "libtockmark.a"]
    for part in [*parts, paths.LINKER_SCRIPT]:
        if not part.exists():
            raise TockmarkError(f"{paths.shown(part)} is not there", "run `make build`")
    defsyms = [f"-Wl,--defsym={name}={value:#x}" for name, value in symbols.items()]
    machine = ["-march=rv32imc", "-mabi=ilp32", "-nostartfiles", "--specs=picolibc.specs"]
    script = ["-T", str(paths.LINKER_SCRIPT)]
    command = [GCC, *machine, *script, *defsyms, "-o", str(elf)]
    used = _call([*command, "-Wl,-t,-t", *map(str, parts)], f"linking {app}")
    if seed:
        objects = shuffle.shuffled([parts[0], *_members(parts[1], used, elf)], seed)
        _call([*command, *map(str, objects)], f"linking {app} in another order")


def _members(library: Path, used: str, elf: Path) -> list[Path]:
    """The object files that a link took from a library, by what it said: in another order it shall
    take the very same."""
    folder = elf.with_suffix(".members")
    folder.mkdir(exist_ok=True)
    names = [line.removeprefix(f"({library})") for line in used.splitlines()]
    members = [name for name, line in zip(names, used.splitlines(), strict=True) if name != line]
    _call(
        [AR, "x", "--output", str(folder), str(library.resolve()), *members],
        f"unpacking {library.name}",
    )
    return [folder / name for name in members]


def _pack(name: str, elf: Path, tab: Path, apps: Apps, heap: int) -> int:
    """Make the TAB; the bytes that the app takes in flash, a multiple of FLASH_ALIGN."""
    sizes = ["--protected-region-size", str(HEADER), "--kernel-heap", str(GRANTS)]
    version = ["--kernel-major", str(apps.abi), "--kernel-minor", "0", "--deterministic"]
    command = [str(paths.ELF2TAB), "-n", name, "-o", str(tab), *sizes, "--app-heap", str(heap)]
    footer = 0
    while True:
        more = ["--minimum-footer-size", str(footer)]
        _call([*command, *version, *more, f"{elf},rv32imc"], f"packing {name}")
        total = struct.unpack_from("<I", elf.with_suffix(".tbf").read_bytes(), 4)[0]
        if total % FLASH_ALIGN == 0:
            return int(total)
        footer += FLASH_ALIGN - total % FLASH_ALIGN


def _call(command: list[str], doing: str) -> str:
    """Run a tool; what it said. On failure show the last thing of that."""
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, stdin=subprocess.DEVNULL, check=False
        )
    except FileNotFoundError as error:
        raise TockmarkError(
            f"{doing}: {Path(command[0]).name} is not there",
            "run `make setup`, or `tockmark doctor`",
        ) from error
    if done.returncode:
        said = [line.strip() for line in (done.stderr or done.stdout).splitlines() if line.strip()]
        raise TockmarkError(
            f"{doing}: {Path(command[0]).name} failed: {said[-1] if said else 'without a word'}",
            "--debug shows the command",
            INCOMPLETE,
        ) from subprocess.CalledProcessError(done.returncode, command, done.stdout, done.stderr)
    return done.stdout


def _name(symbols: dict[str, int], segments: tuple[tuple[int, bytes], ...]) -> str | None:
    """The NUL-terminated string at the symbol TOCKMARK_KERNEL, as far as it can be shown."""
    address = symbols.get("TOCKMARK_KERNEL")
    for start, data in segments:
        if address is not None and start <= address < start + len(data):
            text = data[address - start :][:LONGEST_NAME].split(b"\0")[0]
            return showable(text.decode("ascii", "replace"))
    return None
