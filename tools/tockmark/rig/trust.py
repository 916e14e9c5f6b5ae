# SPDX-License-Identifier: Apache-2.0 OR MIT
"""What is the user's own: whatever has a MAC (HMAC-SHA256) by a key that the user holds.

A checksum tells that a boot is whole; whoever alters it makes a new one. A MAC needs the key, which
is a file in the user's own folder, made when it is first needed, or stands in the environment, for
CI and for one's own workers. The tool sends it to nobody.
"""

import contextlib
import functools
import hmac
import os
import secrets
from pathlib import Path

from tockmark import paths
from tockmark.errors import TockmarkError, say
from tockmark.files import read_plain
from tockmark.rig import cluster_worker

ENVIRONMENT = cluster_worker.KEY
LEAST = 16  # characters, or it can be guessed
MOST = 4096  # bytes of its file


def key() -> bytes:
    """Return the user's key. TockmarkError if it is none."""
    given = os.environ.get(ENVIRONMENT)
    if not given:  # or empty, as CI has a secret that it does not give
        return _of_file(paths.config() / "key")
    if len(given) < LEAST:
        raise TockmarkError(
            f"{ENVIRONMENT} has fewer than {LEAST} characters", "`openssl rand -hex 32` makes one"
        )
    return os.fsencode(given)


def mac(*parts: bytes) -> bytes:
    """Return the MAC of parts, none of which can be taken for a part of its neighbour."""
    return cluster_worker.seal(key(), *parts)


def holds(found: bytes, *parts: bytes) -> bool:
    """Return whether this is the MAC of parts by the user's key."""
    return hmac.compare_digest(found, mac(*parts))


@functools.cache
def _of_file(path: Path) -> bytes:
    """Return the key of a file, which is made if it is not there."""
    try:
        if not os.path.lexists(path):
            _make(path)
    except OSError as error:
        say(
            f"no key can be kept in {paths.shown(path)}: {error.strerror}; boots that are kept now"
            f" count as foreign later, unless {ENVIRONMENT} is set"
        )
        return secrets.token_bytes(32)  # for this process
    try:
        found = read_plain(path, MOST).strip()
        others = path.stat().st_mode & 0o077
    except OSError as error:
        raise TockmarkError(
            f"cannot read the key {paths.shown(path)}: {error.strerror}",
            f"remove it, and it is made anew, or set {ENVIRONMENT}",
        ) from error
    if others or len(found) < LEAST:
        wrong = "others may read it" if others else f"it has fewer than {LEAST} characters"
        raise TockmarkError(
            f"{paths.shown(path)} is no key to vouch with: {wrong}",
            "remove it, and it is made anew: what it vouched for counts as foreign then",
        )
    return found


def _make(path: Path) -> None:
    """Make a key file, whole or not at all. OSError if it cannot be written."""
    path.parent.mkdir(parents=True, exist_ok=True)
    new = path.with_name(f".{path.name}.{secrets.token_hex(8)}")
    try:
        handle = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        with open(handle, "w", encoding="ascii") as file:
            file.write(f"{secrets.token_hex(32)}\n")
        with contextlib.suppress(FileExistsError):  # of several that make it one is first
            os.link(new, path)
    finally:
        new.unlink(missing_ok=True)
