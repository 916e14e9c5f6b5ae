# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Writes or lists generated files whose content has changed."""

import argparse
import importlib
from pathlib import Path

from tockmark.base.paths import shown


def refresh(makers: tuple[str, ...], target: str) -> int:
    """Run the command line of a folder of generators; return its exit code.

    Each maker is a module with a function `generate`, which returns the whole content of its files.
    `target` is the target of the Makefile that runs them."""
    parser = argparse.ArgumentParser(description="Write the generated files that are stale.")
    parser.add_argument("makers", nargs="*", metavar="MODULE", help=", ".join(makers))
    parser.add_argument("--check", action="store_true", help="name stale files; exit with 1")
    args = parser.parse_args()
    if unknown := set(args.makers) - set(makers):
        parser.error(f"there is no {', '.join(sorted(unknown))}; choose from: {', '.join(makers)}")
    stale = False
    for name in args.makers or makers:
        contents: dict[Path, bytes] = importlib.import_module(name).generate()
        for path, content in contents.items():
            if path.exists() and path.read_bytes() == content:
                continue
            stale = True
            print(f"{shown(path)}: {f'stale; run `make {target}`' if args.check else 'refreshed'}")
            if not args.check:
                path.write_bytes(content)
    return 1 if stale and args.check else 0
