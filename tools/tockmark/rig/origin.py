# SPDX-License-Identifier: Apache-2.0 OR MIT
"""What a kernel was made of and by what, as far as somebody says so: its ELF, its user by options
or in a manifest, and, of the baseline kernel, this checkout.
"""

import functools
import json
import re
import subprocess
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Literal

import msgspec

from tockmark import paths
from tockmark.errors import TockmarkError
from tockmark.files import toml

GENERATED = (":!results", ":!docs")  # for git: but these
DIRTY = "-dirty"  # behind a commit: files of the checkout differ from it
OPT_LEVELS = re.compile("[0-3sz]")
_RUSTC = re.compile(rb"rustc version ([ -~]+)")


class Origin(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """All of it; also the form of a manifest. None: not known."""

    name: str | None = None
    commit: str | None = None  # of the source
    opt_level: str | Literal[0, 1, 2, 3] | None = None
    flags: str | None = None  # of the compiler and the linker, as far as they shape the code
    rustc: str | None = None

    def facts(self) -> dict[str, str]:
        """What is known."""
        return {
            key: str(value)
            for key, value in msgspec.structs.asdict(self).items()
            if value is not None
        }


def of_manifest(path: Path) -> dict[str, str]:
    """What a manifest says. Raises TockmarkError where it is none."""
    try:
        return msgspec.convert(toml(path.read_text(encoding="utf-8")), Origin).facts()
    except OSError as error:
        raise TockmarkError(
            f"cannot read the manifest {paths.shown(path)}: {error.strerror}"
        ) from error
    except (ValueError, msgspec.ValidationError) as error:
        raise TockmarkError(
            f"{paths.shown(path)} is no kernel's manifest: {error}",
            f"it may have the keys {', '.join(Origin.__struct_fields__)}",
        ) from error


def of_checkout() -> dict[str, str]:
    """Of the baseline kernel, what this checkout says; its ELF says the rest."""
    release = tomllib.loads((paths.ROOT / "Cargo.toml").read_text())["profile"]["release"]
    flags = [
        f"{key}={value if isinstance(value, str) else json.dumps(value)}"
        for key, value in release.items()
        if key != "opt-level"
    ]
    commit = commit_of_checkout()
    return {"flags": " ".join(flags), **({"commit": commit} if commit else {})}


@functools.cache
def commit_of_checkout() -> str | None:
    """The commit of this checkout, with -dirty behind it if files differ from it; None where git
    cannot tell. Results and what is made of them do not count: a run may write them anew, and is
    not changed by them."""
    head = _git("rev-parse", "--show-cdup", "HEAD")
    changed = _git("status", "--porcelain", "--untracked-files=no", "--", ".", *GENERATED)
    if head is None or changed is None or not head.startswith("\n"):  # the checkout of another
        return None
    return head.strip() + (DIRTY if changed else "")


def _git(*arguments: str) -> str | None:
    command = ["git", "--no-optional-locks", "-C", str(paths.ROOT), *arguments]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    except FileNotFoundError:
        return None
    return done.stdout if done.returncode == 0 else None


def rustc_of(comment: bytes) -> str | None:
    """The version of rustc in an ELF's section .comment; several, if several made it."""
    found = {match[1].decode("ascii") for match in _RUSTC.finditer(comment)}
    return ", ".join(sorted(found)) or None


def agreed(said: Mapping[str, Mapping[str, str]]) -> dict[str, str]:
    """The facts of several who speak of one kernel, by who they are. Raises TockmarkError where two
    say different things, or one says what cannot be."""
    found: dict[str, tuple[str, str]] = {}
    for who, facts in said.items():
        for key, value in facts.items():
            what = f"{who} {value!r}" if who.startswith("--") else f"{key} {value!r} in {who}"
            if key == "opt_level" and not OPT_LEVELS.fullmatch(value):
                raise TockmarkError(f"{what} is none", "give 0, 1, 2, 3, s or z")
            if not value.isprintable():
                raise TockmarkError(f"{what} cannot be shown", "give a line of plain text")
            if key == "rustc":
                value = value.removeprefix("rustc ")
            first, known = found.setdefault(key, (who, value))
            # Of rustc one may say less than the ELF does: 1.95.0, without its commit and date.
            if value != known and not (key == "rustc" and known.startswith(value)):
                raise TockmarkError(
                    f"{first} says that its {key} is {known!r}, {who} says {value!r}",
                    "leave out what is not so",
                )
    return {key: value for key, (_, value) in found.items()}
