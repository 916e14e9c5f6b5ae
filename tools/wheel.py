# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Builds the wheel (`make wheel`): the tool with all files that it needs to measure, profile and
judge kernels without a compiler, binutils or a checkout.

The files have the same layout as in a checkout (tockmark/base/paths.py). The linker, elf2tab and
the disassembler are copied from this machine, so that an installed tool makes the same flash images
as the checkout. The tag of the wheel names the glibc that they need. The wheel contains the licence
and the source of every part that is not ours (licences.py).
"""

import os
import platform
import re
import shutil
import sys
from pathlib import Path

from elftools.elf.elffile import ELFFile
from elftools.elf.gnuversions import GNUVerNeedSection

from licences import ELF2TAB, licence_files, parts
from tockmark.base import paths, processes
from tockmark.base.errors import TockmarkError, print_message

OUT = paths.ROOT / "build" / "wheel"
LICENCE = 'license = "Apache-2.0 OR MIT"'  # in pyproject.toml, for our own code
# Files that the tool reads at run time, relative to the checkout.
PACKED = (
    "Cargo.toml",
    "apps/catalogue.toml",
    "apps/runtime/app.ld",
    "boards/*.toml",
    "boards/earlgrey-sim/*.toml",
    "build/apps/lib/*.a",
    *(f"build/apps/{way}-abi{abi}/*.[oa]" for way in ("c", "rust") for abi in (1, 2)),
    *(f"build/apps/{way}/*.[oa]" for way in ("c-abi2-cyclecount", "c-abi2-csr", "latency-abi2")),
    *(
        f"build/{cargo}/riscv32imc-unknown-none-elf/{profile}/tockmark-kernel"
        for cargo in ("cargo", "cargo-v1")
        for profile in ("release", "profiling")
    ),
    "build/sim/cw310/earlgrey-sim",
    "build/sim/cw310/versions.toml",
    "build/sim/rom-2022.bin",
    "capsules/perf/**/*",
    "docs/*.md",
    "kernel-patches/*",
    "kernel/src/**/*",
    "results/baseline-*.json",
    "results/links/tock-2.2.json",  # this and opt/: the spread of links (compare/spread.py)
    "results/opt/baseline-*.json",
    "results/opt/tock-master-z.json",
    "results/paper-2021.json",
    "results/tock-*.json",
)
PROGRAMS = (paths.LD, paths.OBJCOPY, paths.OBJDUMP, paths.FILT, paths.ELF2TAB)
# Libraries that every manylinux machine has. All others are copied into the wheel.
EVERYWHERE = re.compile(r"(ld-linux-x86-64|libc|libm|libdl|libpthread|librt|libgcc_s|libz)\.so\.\d")


def main() -> None:
    """Build the wheel in build/wheel, and print its path."""
    try:
        print(paths.shown(make()))
    except TockmarkError as error:
        print_message(str(error))
        sys.exit(error.code)


def make() -> Path:
    """Build the wheel from the existing products, and return its path.

    TockmarkError if a product is missing, or on a machine that the wheel is not for."""
    if platform.machine() != "x86_64" or sys.platform != "linux":
        raise TockmarkError("a wheel needs Linux on x86-64", "run `make wheel` there")
    shutil.rmtree(OUT, ignore_errors=True)
    source = OUT / "source"
    shutil.copytree(
        paths.ROOT / "tools" / "tockmark",
        source / "tools" / "tockmark",
        ignore=shutil.ignore_patterns("__pycache__", "tests"),
    )
    for path in paths.ROOT.glob("LICENSE-*"):
        shutil.copy(path, source)
    installed = source / "tools" / "tockmark" / "installed"
    bring_products(installed)
    bring_programs(installed)
    (installed / paths.COMMIT.name).write_text(paths.commit_of_checkout() or "")
    for name, text in licence_files().items():
        path = source / "licences" / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")
    project = (paths.ROOT / "pyproject.toml").read_text()
    licences = dict.fromkeys(f"({part.licence})" for part in (*parts(), ELF2TAB))
    expression = f'license = "{" AND ".join(["(Apache-2.0 OR MIT)", *licences])}"'
    if project.count(LICENCE) != 1:
        raise TockmarkError(f"pyproject.toml: the line {LICENCE} is missing", "add it again")
    (source / "pyproject.toml").write_text(project.replace(LICENCE, expression))
    (source / "setup.cfg").write_text(f"[bdist_wheel]\nplat_name = {platform_tag(installed)}\n")
    run(sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "-w", str(OUT), str(source))
    shutil.rmtree(source)
    (wheel,) = OUT.glob("*.whl")
    return wheel


def bring_products(installed: Path) -> None:
    """Copy the files that the tool reads."""
    for pattern in PACKED:
        files = [path for path in paths.ROOT.glob(pattern) if path.is_file()]
        if not files:
            raise TockmarkError(f"{pattern}: no such file", "run `make profile`")
        for path in files:
            to = installed / path.relative_to(paths.ROOT)
            to.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(path, to)


def bring_programs(installed: Path) -> None:
    """Copy the programs that the tool calls, and their libraries that not every machine has.

    The programs find these libraries by a relative path."""
    programs, libraries = installed / "bin", installed / "lib"
    programs.mkdir()
    libraries.mkdir()
    for program in PROGRAMS:
        source = shutil.which(program)
        if source is None:
            raise TockmarkError(f"{program}: not installed", "run `make setup`")
        copy = Path(shutil.copy(source, programs))
        loaded = dict(re.findall(r"(\S+) => (/\S+)", run("ldd", source)))
        for name, library in loaded.items():
            if not EVERYWHERE.fullmatch(name):
                shutil.copyfile(library, libraries / name)
        run("patchelf", "--set-rpath", "$ORIGIN/../lib", str(copy))


def platform_tag(installed: Path) -> str:
    """Return the tag of machines with a glibc that is new enough for the programs."""
    newest = max(map(glibc_of, (path for path in installed.rglob("*") if is_program(path))))
    return f"manylinux_{newest[0]}_{newest[1]}_x86_64"


def is_program(path: Path) -> bool:
    """Return whether a file is a 64-bit program or library."""
    return path.is_file() and path.open("rb").read(5) == b"\x7fELF\2"


def glibc_of(path: Path) -> tuple[int, int]:
    """Return the glibc version that a program needs; for a static one the oldest of manylinux."""
    with path.open("rb") as file:
        names = [
            version.name
            for section in ELFFile(file).iter_sections()
            if isinstance(section, GNUVerNeedSection)
            for _, versions in section.iter_versions()
            for version in versions
        ]
    versions = (re.fullmatch(r"GLIBC_(\d+)\.(\d+)(?:\.\d+)?", name) for name in names)
    return max(((int(v[1]), int(v[2])) for v in versions if v), default=(2, 17))


def run(*command: str) -> str:
    """Run a program and return its output. TockmarkError if it is missing or fails."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    done = processes.run(command, env=os.environ | {"PATH": path}, todo="run `make setup`")
    if done.code:
        last = (done.error_text.strip() or "no message").splitlines()[-1]
        raise TockmarkError(f"{command[0]} failed: {last}", f"try `{' '.join(command)}`")
    return done.text


if __name__ == "__main__":
    main()
