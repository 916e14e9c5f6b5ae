# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The verb `doctor` says what is installed, in which version, and what to do about the rest."""

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
PATIENCE = 60.0  # seconds for a program to say its version
RUST_TARGET = "riscv32imc-unknown-none-elf"


@dataclass(frozen=True)
class Examined:
    """A tool or a build product, as it was found."""

    name: str
    found: str | None  # the version, or another sign of presence; None: it is not there
    expected: str | None  # the version that it must have; None: any
    todo: str

    @property
    def good(self) -> bool:
        return self.found is not None and self.expected in (None, self.found)

    def line(self) -> str:
        wanted = f", expected {self.expected}" if self.expected not in (None, self.found) else ""
        state = f"{self.found or 'missing'}{wanted}"
        mark = text.good("ok") if self.good else text.bad("--")
        return f"{mark} {self.name:26}{state}" + ("" if self.good else f": {self.todo}")


def examine() -> list[Examined]:
    """Look at everything that setting up and building should have left."""
    return [*_programs(), *_packages(), *_products(), *_folders(), _kept_boots()]


def doctor_text(findings: list[Examined]) -> str:
    """Return the findings, and one line that sums them up."""
    bad = sum(not finding.good for finding in findings)
    summary = f"{bad} of {len(findings)} not in place" if bad else "all is in place"
    return "\n".join([*(finding.line() for finding in findings), summary]) + "\n"


def doctor_json(findings: list[Examined]) -> list[dict[str, object]]:
    """Return the findings for other programs."""
    return [
        {
            "name": finding.name,
            "good": finding.good,
            "found": finding.found,
            "expected": finding.expected,
            "todo": None if finding.good else finding.todo,
        }
        for finding in findings
    ]


def _programs() -> Iterator[Examined]:
    """Examine what links, packs and disassembles; in a checkout also what builds."""
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
    yield Examined("picolibc for RISC-V", _picolibc(), None, SETUP)
    yield Examined(f"Rust for {RUST_TARGET[:12]}", _rust_target(), None, SETUP)


def _packages() -> Iterator[Examined]:
    """Examine the Python packages that this one pins, in a checkout also those to build and to draw
    with."""
    extras = "" if paths.INSTALLED else r"(?: *; *extra *== *.(?:build|site).)?"
    for requirement in importlib.metadata.requires("tockmark") or []:
        # The checkers, which have another marker behind the version, are the tests' affair.
        if match := re.match(rf"([A-Za-z0-9_.-]+)==([^;\s]+){extras}$", requirement):
            try:
                found = importlib.metadata.version(match[1])
            except importlib.metadata.PackageNotFoundError:
                found = None
            yield Examined(match[1], found, match[2], SETUP)


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
    """Examine the folders that the tool writes to."""
    for name, path in {
        "cache and scratch": paths.WRITTEN,
        "new results": paths.NEW_RESULTS,
        "the user's settings": paths.config(),
    }.items():
        found = paths.shown(path) if paths.writable(path) else None
        yield Examined(name, found, None, f"name a folder of yours with {paths.HOME}")


def _kept_boots() -> Examined:
    """Say how many simulated boots are kept, how large they are, and in which folder."""
    kept, todo = cache.default_cache(), f"name a folder of yours with {cache.CACHE_VARIABLE}"
    if kept.folder is None:
        return Examined("kept boots", f"none, {cache.CACHE_VARIABLE} is off", None, todo)
    try:
        files = kept.entries()
    except OSError:
        return Examined("kept boots", None, None, todo)
    size = sum(on_disk for _, on_disk, _ in files) / 2**20
    where = paths.shown(kept.folder)
    said = f"{len(files)}, {size:.1f} of at most {kept.limit >> 20} MiB, in {where}"
    return Examined("kept boots", said, None, todo)


def _version(command: list[str]) -> str | None:
    """Find the first thing like a version in what a program says of itself."""
    match = re.search(r"\d+(\.\d+)+", _output(command))
    return match[0] if match else None


def _picolibc() -> str | None:
    said = _output([paths.GCC, "-print-file-name=picolibc.specs"])
    return said if Path(said).is_absolute() else None


def _rust_target() -> str | None:
    """Ask rustc, from the checkout: its toolchain file may name a toolchain of its own."""
    command = ["rustc", "--print", "target-libdir", "--target", RUST_TARGET]
    said = _output(command, paths.ROOT)
    return "installed" if said and Path(said).is_dir() else None


def _output(command: list[str], folder: Path | None = None) -> str:
    """Return what a program prints; nothing where it is not there, or fails."""
    try:
        done = processes.run(command, cwd=folder, bounds=Bounds(PATIENCE))
    except TockmarkError:
        return ""
    return done.text.strip() if done.code == 0 else ""


@verb(
    "tockmark doctor",
    "tockmark doctor --json",
    "tockmark doctor --clear-cache",
    exits={OK: "all is in place", INCOMPLETE: "something is missing, or of another version"},
)
def doctor_verb(
    clear_cache: Annotated[
        bool,
        Option(
            "--clear-cache",
            help=f"Remove all simulated boots that are kept, and end. {cache.CACHE_VARIABLE} in the"
            " environment names their folder, or is `off`.",
        ),
    ] = False,
    as_json: options.AsJson = False,
) -> None:
    """Show what is installed and built, in which version, and what to do about the rest.

    It also shows how many simulated boots are kept, how large they are, and in which folder."""
    if clear_cache:
        _clear(cache.default_cache(), as_json)
        raise Exit(OK)
    findings = examine()
    options.show(doctor_json(findings) if as_json else doctor_text(findings))
    raise Exit(OK if all(finding.good for finding in findings) else INCOMPLETE)


def _clear(kept: Cache, as_json: bool) -> None:
    """Remove all boots that are kept, and show how many. TockmarkError if that cannot be done."""
    if kept.folder is None:
        raise TockmarkError(
            f"{cache.CACHE_VARIABLE} is off: nothing is kept", f"unset {cache.CACHE_VARIABLE}"
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
