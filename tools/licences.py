# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Licences and sources of all parts of the wheel that are not ours (`make wheel`, wheel.py).

Versions and texts come from the packages on the machine that builds the wheel."""

import os
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from tockmark.base import processes
from tockmark.base.errors import TockmarkError

EXCEPTION = "GPL-3.0-or-later WITH GCC-exception-3.1"
COMMON = Path("/usr/share/common-licenses")  # Debian's texts refer to these
COMMON_TEXTS = ("Apache-2.0", "GPL-2", "GPL-3", "LGPL-2.1", "LGPL-3")


@dataclass(frozen=True)
class LicensedPart:
    """A part of the wheel that is not ours."""

    name: str
    licence: str  # an SPDX expression
    where: str  # its path in the wheel
    package: str  # its package, of Debian except for elf2tab


SIMULATORS, LIBRARIES = "build/sim/", "build/apps/lib/"
ELF2TAB = LicensedPart("elf2tab and its crates", "MIT", "bin/elf2tab", "elf2tab")
VERSION = "0.13.0"  # elf2tab, as in tools/setup.sh


def parts() -> tuple[LicensedPart, ...]:
    """Return all parts except elf2tab."""
    compiler = _output_of("g++", "-dumpversion")
    return (
        LicensedPart("glibc", "LGPL-2.1-or-later", SIMULATORS, "libc6-dev"),
        LicensedPart("libstdc++ and libgcc", EXCEPTION, SIMULATORS, f"libstdc++-{compiler}-dev"),
        LicensedPart(
            "picolibc, which apps are linked with",
            "BSD-3-Clause",
            LIBRARIES,
            "picolibc-riscv64-unknown-elf",
        ),
        LicensedPart(
            "libgcc, which apps are linked with", EXCEPTION, LIBRARIES, "gcc-riscv64-unknown-elf"
        ),
        LicensedPart(
            "GNU binutils; changed: where they look for a library",
            "GPL-3.0-or-later",
            "bin/riscv64-unknown-elf-*",
            "binutils-riscv64-unknown-elf",
        ),
        LicensedPart("Zstandard", "BSD-3-Clause OR GPL-2.0-only", "lib/", "libzstd1"),
    )


def licence_files() -> dict[str, str]:
    """Return the licence texts by file name, with a README.md that lists all parts.

    TockmarkError if a package or its text is missing."""
    crates, texts = elf2tab_crates()
    files = {f"{part.package}.txt": _read(_debian_text(part)) for part in parts()}
    files["elf2tab.txt"] = texts
    files |= {f"{name}.txt": _read(COMMON / name) for name in COMMON_TEXTS}
    lines = [
        "# Contents of this wheel that are not tockmark's own",
        "",
        "tockmark is under Apache-2.0 or MIT, as you choose. Other parts of tockmark/installed/:",
        "",
        "| part | path | licence | source | text |",
        "|---|---|---|---|---|",
        *map(_row, parts()),
        _row(ELF2TAB),
        "| Rust's core library | in kernels, apps and elf2tab | Apache-2.0 OR MIT |"
        f" Rust {_rust()} | Apache-2.0.txt |",
        "",
        "`apt-get source NAME=VERSION` downloads a source of Debian. The crates of elf2tab and of"
        " its build:",
        "",
        *(f"- {crate}" for crate in crates),
    ]
    return {"README.md": "\n".join(lines) + "\n", **files}


def elf2tab_crates() -> tuple[list[str], str]:
    """Return the crates of elf2tab with their licences, and the licence texts, each once.

    The sources come from Cargo's registry on this machine."""
    home = Path(os.environ.get("CARGO_HOME", Path.home() / ".cargo"))
    tops = sorted(home.glob(f"registry/src/*/elf2tab-{VERSION}"))
    if not tops:
        raise TockmarkError(
            f"{home}: the source of elf2tab {VERSION} with its licences is missing",
            "remove .tools and run `make setup`",
        )
    top = tops[-1]
    locked = tomllib.loads(_read(top / "Cargo.lock"))["package"]
    crates, texts = [], dict[str, list[str]]()
    for crate in locked:
        name = f"{crate['name']}-{crate['version']}"
        folder = top.parent / name
        if not folder.is_dir():
            continue  # only other systems need it
        licence = tomllib.loads(_read(folder / "Cargo.toml"))["package"].get("license")
        crates.append(f"{crate['name']} {crate['version']}: {licence or 'see its own text'}")
        for path in sorted(folder.iterdir()):
            if path.is_file() and path.name.upper().startswith(("LICEN", "COPYING")):
                texts.setdefault(_read(path), []).append(name)
    blocks = [f"{', '.join(dict.fromkeys(names))}:\n\n{text}" for text, names in texts.items()]
    return crates, f"\n{'-' * 80}\n".join(blocks)


def _row(part: LicensedPart) -> str:
    cells = (part.name, part.where, part.licence, _source(part), f"{part.package}.txt")
    return f"| {' | '.join(cells)} |"


def _source(part: LicensedPart) -> str:
    if part is ELF2TAB:
        return f"crate elf2tab {VERSION} and the crates below"
    return f"Debian's {', '.join(_debian_sources(part.package))}"


def _debian_sources(package: str) -> Iterator[str]:
    """Yield the source packages of a package."""
    form = "${source:Package} ${source:Version}\n${Built-Using}"
    own, _, others = _output_of("dpkg-query", "--show", f"--showformat={form}", package).partition(
        "\n"
    )
    yield own
    for other in filter(None, others.split(", ")):
        yield other.replace("(= ", "").replace(")", "")


def _debian_text(part: LicensedPart) -> Path:
    return Path("/usr/share/doc") / part.package / "copyright"


def _rust() -> str:
    return _output_of("rustc", "--version").split()[1]


def _output_of(*command: str) -> str:
    todo = "build the wheel on Debian after `make setup`"
    done = processes.run(command, todo=todo)
    if done.code:
        raise TockmarkError(f"{command[0]} does not know {command[-1]}", todo)
    return done.text.strip()


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8", errors="replace")
    except OSError as error:
        raise TockmarkError(
            f"{path}: the licence text for the wheel is missing", "install its package again"
        ) from error
