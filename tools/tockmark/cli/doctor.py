# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The verb `doctor`, which checks what is installed and built."""

import importlib.metadata
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from typer import Exit, Option

from tockmark.base import paths, processes
from tockmark.base.errors import INCOMPLETE, OK, TockmarkError
from tockmark.base.processes import Bounds
from tockmark.cli import options
from tockmark.cli.program import verb
from tockmark.show import text
from tockmark.target import board, cache, sim
from tockmark.target.cache import Cache
from tockmark.target.image import AppBuild

SETUP = paths.make_command("setup")
BUILD = paths.make_command("build")
PATIENCE = 60.0  # seconds for a program to print its version
RUST_TARGET = "riscv32imc-unknown-none-elf"


@dataclass(frozen=True)
class Examined:
    """The state of a tool or a build product."""

    name: str
    version: str | None  # or another sign that it exists; None: it is missing
    expected: str | None  # the required version; None: any
    todo: str

    @property
    def good(self) -> bool:
        return self.version is not None and self.expected in (None, self.version)

    def line(self) -> str:
        wanted = f", expected {self.expected}" if self.expected not in (None, self.version) else ""
        state = f"{self.version or 'missing'}{wanted}"
        mark = text.good("ok") if self.good else text.bad("--")
        return f"{mark} {self.name:26}{state}" + ("" if self.good else f": {self.todo}")


def doctor_text(findings: list[Examined]) -> str:
    """Return the findings and a line of summary."""
    bad = sum(not finding.good for finding in findings)
    summary = f"{bad} of {len(findings)} missing or wrong" if bad else "all is in place"
    return "\n".join([*(finding.line() for finding in findings), summary]) + "\n"


def doctor_json(findings: list[Examined]) -> list[dict[str, object]]:
    """Return the findings for JSON."""
    return [
        {
            "name": finding.name,
            "good": finding.good,
            "found": finding.version,
            "expected": finding.expected,
            "todo": None if finding.good else finding.todo,
        }
        for finding in findings
    ]


def _programs() -> Iterator[Examined]:
    """Check the linker and other tools for ELF files; in a checkout also the build tools."""
    if not paths.INSTALLED:
        yield from _builders()
    for name, program in {
        "GNU ld for RISC-V": paths.LD,
        "objcopy": paths.OBJCOPY,
        "objdump": paths.OBJDUMP,
        "c++filt": paths.FILT,
    }.items():
        yield Examined(name, _version([program, "--version"]), None, SETUP)
    yield Examined("elf2tab", _version([str(paths.ELF2TAB), "--version"]), "0.13.0", SETUP)


def _builders() -> Iterator[Examined]:
    rustup = "install Rust from https://rustup.rs, then run `make setup`"
    for name, todo in {
        "make": "install GNU make",
        "g++": "install g++ (the simulator is compiled with it)",
        paths.GCC: SETUP,
        "clang-format": SETUP,
        "cargo": rustup,
        "rustup": rustup,
    }.items():
        yield Examined(name, _version([name, "--version"]), None, todo)
    specs = _output([paths.GCC, "-print-file-name=picolibc.specs"])
    picolibc = specs if Path(specs).is_absolute() else None
    yield Examined("picolibc for RISC-V", picolibc, None, SETUP)
    yield Examined(f"Rust for {RUST_TARGET[:12]}", _rust_target(), None, SETUP)


def _packages() -> Iterator[Examined]:
    """Check the Python packages that tockmark pins; in a checkout also two extras."""
    extras = "" if paths.INSTALLED else r"(?: *; *extra *== *.(?:build|site).)?"
    for requirement in importlib.metadata.requires("tockmark") or []:
        # Packages with another marker are for tests.
        if match := re.match(rf"([A-Za-z0-9_.-]+)==([^;\s]+){extras}$", requirement):
            try:
                version = importlib.metadata.version(match[1])
            except importlib.metadata.PackageNotFoundError:
                version = None
            yield Examined(match[1], version, match[2], SETUP)


def _products() -> Iterator[Examined]:
    profile = board.load(board.DEFAULT)
    assert isinstance(profile.target, sim.SimTarget)
    for name, path in {
        "simulator": profile.target.binary,
        "baseline kernel": profile.kernels[2],
        "apps in C": AppBuild.built(2).folder / "libtockmark.a",
        "apps in Rust": AppBuild.built(2, "rust").folder / "syscall.o",
    }.items():
        yield Examined(name, paths.shown(path) if path.exists() else None, None, BUILD)


def _folders() -> Iterator[Examined]:
    """Check that the tool's folders are writable."""
    for name, path in {
        "cache and scratch": paths.WRITTEN,
        "new results": paths.NEW_RESULTS,
        "the user's settings": paths.user_folder("config"),
    }.items():
        writable = paths.shown(path) if paths.writable(path) else None
        yield Examined(name, writable, None, f"set {paths.HOME} to a writable folder")


def _cached_boots() -> Examined:
    """Report the number, size and folder of the cached boots."""
    kept, todo = cache.default_cache(), f"set {cache.CACHE_VARIABLE} to a writable folder"
    if kept.folder is None:
        return Examined("cached boots", f"none, {cache.CACHE_VARIABLE} is off", None, todo)
    try:
        files = kept.entries()
    except OSError:
        return Examined("cached boots", None, None, todo)
    size = sum(on_disk for _, on_disk, _ in files) / 2**20
    where = paths.shown(kept.folder)
    state = f"{len(files)}, {size:.1f} of at most {kept.limit >> 20} MiB, in {where}"
    return Examined("cached boots", state, None, todo)


def _version(command: list[str]) -> str | None:
    """Return the first version number in the output of a command, or None."""
    match = re.search(r"\d+(\.\d+)+", _output(command))
    return match[0] if match else None


def _rust_target() -> str | None:
    """Ask rustc in the checkout, whose toolchain file may select a toolchain."""
    command = ["rustc", "--print", "target-libdir", "--target", RUST_TARGET]
    folder = _output(command, paths.ROOT)
    return "installed" if folder and Path(folder).is_dir() else None


def _output(command: list[str], folder: Path | None = None) -> str:
    """Return the output of a command, or an empty text if it is missing or fails."""
    try:
        done = processes.run(command, cwd=folder, bounds=Bounds(PATIENCE))
    except TockmarkError:
        return ""
    return done.text.strip() if done.code == 0 else ""


@verb(
    "tockmark doctor",
    "tockmark doctor --json",
    "tockmark doctor --clear-cache",
    exits={OK: "all is in place", INCOMPLETE: "something is missing or has another version"},
)
def doctor_verb(
    clear_cache: Annotated[
        bool,
        Option(
            "--clear-cache",
            help="Only remove all cached boots. The environment variable"
            f" {cache.CACHE_VARIABLE} sets their folder, or is `off`.",
        ),
    ] = False,
    as_json: options.AsJson = False,
) -> None:
    """Check what is installed and built, in which version, and show what to do.

    The output also shows the number, size and folder of the cached boots."""
    if clear_cache:
        _clear(cache.default_cache(), as_json)
        raise Exit(OK)
    findings = [*_programs(), *_packages(), *_products(), *_folders(), _cached_boots()]
    options.show(doctor_json(findings) if as_json else doctor_text(findings))
    raise Exit(OK if all(finding.good for finding in findings) else INCOMPLETE)


def _clear(kept: Cache, as_json: bool) -> None:
    """Remove all cached boots and print how many. TockmarkError if that fails."""
    if kept.folder is None:
        raise TockmarkError(
            f"{cache.CACHE_VARIABLE} is off, so nothing is cached", f"unset {cache.CACHE_VARIABLE}"
        )
    where = paths.shown(kept.folder)
    try:
        files = kept.clear()
    except OSError as error:
        raise TockmarkError(f"{where}: {error.strerror}") from error
    count, size = len(files), sum(on_disk for _, on_disk, _ in files)
    if as_json:
        options.show({"boots": count, "bytes": size, "folder": str(kept.folder)})
    else:
        print(f"removed {count} boots, {size} bytes, from {where}")
