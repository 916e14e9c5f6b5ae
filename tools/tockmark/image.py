# SPDX-License-Identifier: Apache-2.0 OR MIT
"""From a kernel ELF and an app's objects to a flash image.

Where apps may lie is the kernel's decision, so each app is linked for the kernel at hand: its
symbols say where (or the board profile, if it has none), gcc links, elf2tab packs, and tockloader
lays the app behind the kernel's own segments.
"""

import hashlib
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from elftools.common.exceptions import ELFError
from elftools.elf.elffile import ELFFile
from elftools.elf.sections import SymbolTableSection

from tockmark import paths
from tockmark.board import Board, Slots
from tockmark.errors import INCOMPLETE, TockmarkError

HEADER = 0x80  # bytes that the TBF header takes at the start of a slot
GRANTS = 0x1000  # bytes at the end of an app's RAM that are left to the kernel's grants
RAM_ALIGN = 0x400
KERNEL_VERSION = "2"  # the system-call interface in the app's header
GCC = "riscv64-unknown-elf-gcc"


@dataclass(frozen=True)
class Kernel:
    """What the tool reads from a kernel's ELF."""

    path: Path
    name: str | None  # only the baseline kernel says its name
    sha256: str
    slots: Slots | None
    segments: tuple[tuple[int, bytes], ...]


@dataclass(frozen=True)
class Image:
    """A flash image with one app, and where that app was linked."""

    flash: Path
    slot: int
    flash_start: int
    ram_start: int
    ram_length: int
    elf_sha256: str

    def layout(self) -> dict[str, int | str]:
        return {
            "slot": self.slot,
            "flash_start": self.flash_start,
            "ram_start": self.ram_start,
            "ram_length": self.ram_length,
            "elf_sha256": self.elf_sha256,
        }


def read_kernel(path: Path) -> Kernel:
    """Read a kernel ELF."""
    try:
        with path.open("rb") as file:
            elf = ELFFile(file)
            if elf.get_machine_arch() != "RISC-V" or elf.elfclass != 32:
                raise TockmarkError(f"{paths.shown(path)} is not a 32-bit RISC-V ELF file")
            symbols = _symbols(elf)
            segments = tuple(
                (segment["p_paddr"], segment.data())
                for segment in elf.iter_segments("PT_LOAD")
                if segment["p_filesz"]
            )
        digest = hashlib.sha256(path.read_bytes()).hexdigest()
    except OSError as error:
        raise TockmarkError(
            f"cannot read the kernel {paths.shown(path)}: {error.strerror}",
            "run `make build`, or give another with --kernel",
        ) from error
    except ELFError as error:
        raise TockmarkError(
            f"{paths.shown(path)} is not an ELF file: {error}", "give the kernel's .elf, not a .bin"
        ) from error
    names = ("_sapps", "_eapps", "_sappmem", "_eappmem")
    slots = Slots(*(symbols[n] for n in names)) if all(n in symbols for n in names) else None
    return Kernel(path, _name(symbols, segments), digest, slots, segments)


def build_image(app: str, kernel: Kernel, board: Board, out: Path, steady_stop: bool) -> Image:
    """Link and pack one app for this kernel, and lay both into a flash image."""
    out.mkdir(parents=True, exist_ok=True)
    slots = kernel.slots or board.slots
    flash_start = slots.flash_start + HEADER
    ram_start = -(-slots.ram_start // RAM_ALIGN) * RAM_ALIGN
    ram_length = slots.ram_end - ram_start - GRANTS
    elf, tab, flash = (out / f"{app}.{suffix}" for suffix in ("elf", "tab", "flash"))
    _link(
        app,
        elf,
        {
            "tm_flash_start": flash_start,
            "tm_flash_length": slots.flash_end - flash_start,
            "tm_ram_start": ram_start,
            "tm_ram_length": ram_length,
            "tm_apps": 1,
            "tm_steady_stop": int(steady_stop),
        },
    )
    _pack(app, elf, tab)
    write_flash(kernel, board, flash)
    tockloader = [str(Path(sys.executable).with_name("tockloader")), "install"]
    where = ["--board", board.tockloader_board, "--app-address", hex(slots.flash_start)]
    _call([*tockloader, "--flash-file", str(flash), *where, str(tab)], f"laying {app} into flash")
    sha256 = hashlib.sha256(elf.read_bytes()).hexdigest()
    return Image(flash, slots.flash_start, flash_start, ram_start, ram_length, sha256)


def write_flash(kernel: Kernel, board: Board, path: Path) -> None:
    """The kernel's segments as a raw image of the flash, erased bytes between them."""
    image = bytearray()
    for address, data in sorted(kernel.segments):
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


def _link(app: str, elf: Path, symbols: dict[str, int]) -> None:
    parts = [paths.APPS / f"{app}.o", paths.APPS / "libtockmark.a"]
    for part in [*parts, paths.LINKER_SCRIPT]:
        if not part.exists():
            raise TockmarkError(f"{paths.shown(part)} is not there", "run `make build`")
    defsyms = [f"-Wl,--defsym={name}={value:#x}" for name, value in symbols.items()]
    machine = ["-march=rv32imc", "-mabi=ilp32", "-nostartfiles", "--specs=picolibc.specs"]
    script = ["-T", str(paths.LINKER_SCRIPT)]
    objects = [*map(str, parts), "-o", str(elf)]
    _call([GCC, *machine, *script, *defsyms, *objects], f"linking {app}")


def _pack(app: str, elf: Path, tab: Path) -> None:
    sizes = ["--protected-region-size", str(HEADER), "--kernel-heap", str(GRANTS)]
    version = ["--kernel-major", KERNEL_VERSION, "--kernel-minor", "0", "--deterministic"]
    command = [str(paths.ELF2TAB), "-n", app, "-o", str(tab), *sizes, "--app-heap", "0", *version]
    _call([*command, f"{elf},rv32imc"], f"packing {app}")


def _call(command: list[str], doing: str) -> None:
    """Run a tool; on failure show the last thing it said."""
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


def _symbols(elf: ELFFile) -> dict[str, int]:
    table = elf.get_section_by_name(".symtab")
    if not isinstance(table, SymbolTableSection):
        return {}
    return {symbol.name: symbol["st_value"] for symbol in table.iter_symbols()}


def _name(symbols: dict[str, int], segments: tuple[tuple[int, bytes], ...]) -> str | None:
    """The NUL-terminated string at the symbol TOCKMARK_KERNEL."""
    address = symbols.get("TOCKMARK_KERNEL")
    for start, data in segments:
        if address is not None and start <= address < start + len(data):
            return data[address - start :].split(b"\0")[0].decode("ascii", "replace")
    return None
