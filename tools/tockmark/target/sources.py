# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Whether what is measured is what is there: products held against the sources that they were built
of. The Makefile puts a stamp beside each product that it builds,

    python -m tockmark.target.sources KIND[+FOLDER...] PRODUCT...

which holds a digest of the sources of that kind and of those in further folders. Whoever runs a
product asks `check` first. A product without a stamp, or that is younger than its stamp, was built
by somebody else, who has to know what of.
"""

import hashlib
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from tockmark.base import paths
from tockmark.base.errors import TockmarkError

# What products of a kind are built of: folders with all below them, and files.
KINDS = {
    "kernel": ("kernel", "capsules", "Cargo.toml", "Cargo.lock", "rust-toolchain.toml", ".cargo"),
    "apps": ("apps", "Cargo.lock", "rust-toolchain.toml", ".cargo"),
    "sim": ("boards/earlgrey-sim", "constraints.txt"),
}
# How the files in the folders end; pages and the like change no product.
ENDINGS = {
    *(".rs", ".S", ".inc", ".c", ".h", ".cc", ".sv", ".vlt", ".ld", ".toml", ".lock", ".py", ".mk"),
    *("", ".txt"),
}
READ_ONLY_BY_VERBS = {"bounds.toml", "simulators.toml"}  # beside the simulator's sources
TODO = "run `make build`, and `make profile` or `make setup-qemu` for what these make"


def stamp_path(product: Path) -> Path:
    """Return where a product's stamp is: beside it."""
    return product.with_name(f"{product.name}.sources")


def write_stamp(kind: str, product: Path) -> None:
    """Say beside a product that it was built of the sources that are there."""
    if product.exists():
        stamp_path(product).write_text(f"{kind} {digest(kind)}\n", encoding="utf-8")


@cache
def check(product: Path) -> None:
    """Refuse a product of this checkout whose sources are others by now."""
    there = stamp_path(product)
    if not product.resolve().is_relative_to(paths.ROOT.resolve()):
        return
    try:
        parts = product.iterdir() if product.is_dir() else [product]
        if max(part.stat().st_mtime for part in parts) > there.stat().st_mtime:
            return
        kind, _, said = there.read_text(encoding="utf-8").strip().partition(" ")
    except (OSError, ValueError):
        return
    if kind.partition("+")[0] in KINDS and digest(kind) != said:
        raise TockmarkError(
            f"{paths.shown(product)} was built of other sources than there are now", TODO
        )


@cache
def digest(kind: str) -> str:
    """Return the SHA-256 of the names and bytes of a kind's sources: `apps`, or `apps+FOLDER`."""
    found = hashlib.sha256()
    for path in sorted(_files(kind)):
        content = path.read_bytes()
        found.update(f"{path.relative_to(paths.ROOT)}\0{len(content)}\0".encode() + content)
    return found.hexdigest()


def _files(kind: str) -> Iterator[Path]:
    kind, *folders = kind.split("+")
    for name in (*KINDS[kind], *folders):
        top = paths.ROOT / name
        below = top.rglob("*") if top.is_dir() else [top]
        for path in below:
            hidden = any(part.startswith(".") for part in path.relative_to(top).parts)
            is_source = path.suffix in ENDINGS and path.name not in READ_ONLY_BY_VERBS
            if is_source and not hidden and path.is_file():
                yield path


if __name__ == "__main__":
    for given in sys.argv[2:]:
        write_stamp(sys.argv[1], Path(given))
