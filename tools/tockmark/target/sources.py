# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Check that a built product is up to date with its sources.

The Makefile writes a stamp next to each product that it builds,

    python -m tockmark.target.sources KIND[+FOLDER...] PRODUCT...

with a digest of the kind's sources and of the further folders. Code that runs a product calls
`check` first. A product without a stamp, or newer than its stamp, was built by somebody else and is
not checked.
"""

import hashlib
import sys
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path

from tockmark.base import paths
from tockmark.base.errors import TockmarkError

# The sources of each kind of product: folders with everything in them, and files.
KINDS = {
    "kernel": ("kernel", "capsules", "Cargo.toml", "Cargo.lock", "rust-toolchain.toml", ".cargo"),
    "apps": ("apps", "Cargo.lock", "rust-toolchain.toml", ".cargo"),
    "sim": ("boards/earlgrey-sim", "constraints.txt"),
}
# Suffixes of source files; other files, such as pages, do not change a product.
ENDINGS = {
    *(".rs", ".S", ".inc", ".c", ".h", ".cc", ".sv", ".vlt", ".ld", ".toml", ".lock", ".py", ".mk"),
    *("", ".txt"),
}
NOT_BUILT_FROM = {"bounds.toml", "simulators.toml"}  # in the simulator's folder, for verbs
TODO = "run `make build`; profilers need `make profile`, products for QEMU `make setup-qemu`"


def stamp_path(product: Path) -> Path:
    """Return the path of a product's stamp, next to the product."""
    return product.with_name(f"{product.name}.sources")


def write_stamp(kind: str, product: Path) -> None:
    """Write the stamp of a product that was built from the current sources."""
    if product.exists():
        stamp_path(product).write_text(f"{kind} {digest(kind)}\n", encoding="utf-8")


@cache
def check(product: Path) -> None:
    """Raise a TockmarkError if the sources of a product in this checkout have changed."""
    stamp_file = stamp_path(product)
    if not product.resolve().is_relative_to(paths.ROOT.resolve()):
        return
    try:
        parts = product.iterdir() if product.is_dir() else [product]
        if max(part.stat().st_mtime for part in parts) > stamp_file.stat().st_mtime:
            return
        kind, _, built_digest = stamp_file.read_text(encoding="utf-8").strip().partition(" ")
    except (OSError, ValueError):
        return
    if kind.partition("+")[0] in KINDS and digest(kind) != built_digest:
        raise TockmarkError(
            f"{paths.shown(product)} is out of date: its sources have changed", TODO
        )


@cache
def digest(kind: str) -> str:
    """Return the SHA-256 of the names and bytes of the sources of `apps`, or `apps+FOLDER`."""
    return digest_of(_files(kind))


def digest_of(files: Iterable[Path]) -> str:
    """Return the SHA-256 of the names and bytes of files in this checkout."""
    sha256 = hashlib.sha256()
    for path in sorted(files):
        content = path.read_bytes()
        sha256.update(f"{path.relative_to(paths.ROOT)}\0{len(content)}\0".encode() + content)
    return sha256.hexdigest()


def _files(kind: str) -> Iterator[Path]:
    kind, *folders = kind.split("+")
    for name in (*KINDS[kind], *folders):
        top = paths.ROOT / name
        files = top.rglob("*") if top.is_dir() else [top]
        for path in files:
            is_hidden = any(part.startswith(".") for part in path.relative_to(top).parts)
            is_source = path.suffix in ENDINGS and path.name not in NOT_BUILT_FROM
            if is_source and not is_hidden and path.is_file():
                yield path


if __name__ == "__main__":
    for product in sys.argv[2:]:
        write_stamp(sys.argv[1], Path(product))
