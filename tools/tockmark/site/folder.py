# SPDX-License-Identifier: Apache-2.0 OR MIT
"""A site as a folder: written whole or not at all, and over a site only."""

import json
import os
import shutil
import tempfile
from collections.abc import Mapping
from pathlib import Path

from tockmark.errors import TockmarkError
from tockmark.paths import shown

FORMAT = "tockmark-site"
LIST = "site.json"  # names every file of the site, so that a later one knows what it may replace


def check(folder: Path) -> None:
    """TockmarkError if a folder holds anything but a site, or is none."""
    if not folder.exists() and not folder.is_symlink():
        return
    if not folder.is_dir():
        raise TockmarkError(f"{shown(folder)} is there, and is no folder", ELSEWHERE)
    try:
        there = {
            path.relative_to(folder).as_posix()
            for path in folder.rglob("*")
            if path.is_symlink() or not path.is_dir()
        }
    except OSError as error:
        raise TockmarkError(f"cannot read {shown(folder)}: {error.strerror}") from error
    if strange := sorted(there - _listed(folder)):
        raise TockmarkError(
            f"{shown(folder)} holds {shown(folder / strange[0])}, which is no part of a site",
            ELSEWHERE,
        )


ELSEWHERE = "name another folder with -o"


def _listed(folder: Path) -> set[str]:
    """The files of the site that is there; none if there is no site."""
    try:
        told = json.loads((folder / LIST).read_text(encoding="utf-8"))
        files = told["files"] if told.get("format") == FORMAT else []
        return {LIST, *map(str, files)} if files else set()
    except (OSError, ValueError, AttributeError, KeyError, TypeError, RecursionError):
        return set()


def write(folder: Path, files: Mapping[str, str]) -> None:
    """The files of a site, by their paths in it: all are there afterwards, or what was there
    before is."""
    check(folder)
    listed = {"format": FORMAT, "version": 1, "files": sorted(files)}
    whole = {**files, LIST: json.dumps(listed, indent=0) + "\n"}
    target = folder.resolve()
    new = old = None
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        new = Path(tempfile.mkdtemp(prefix=f".{target.name}.", dir=target.parent))
        inside = new / "site"
        for name, content in whole.items():
            path = inside / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(content, encoding="utf-8", newline="\n")
        if target.exists():
            old = new / "old"
            os.rename(target, old)
        os.rename(inside, target)
    except OSError as error:
        if old is not None and old.exists() and not target.exists():
            os.rename(old, target)
        raise TockmarkError(
            f"cannot write {shown(folder)}: {error.strerror}; what was there before is untouched",
            "make room or choose another place with -o",
        ) from error
    finally:
        if new is not None:
            shutil.rmtree(new, ignore_errors=True)
