# SPDX-License-Identifier: Apache-2.0 OR MIT
"""What builds the kernels of each checkout: the user says it once, and the tool remembers it, in
the user's own folder.

Nothing of it is believed: it is a command of the user's, that the user can say anew with --build.
"""

import json
from dataclasses import dataclass, replace
from pathlib import Path

from tockmark import paths
from tockmark.files import write_whole

BUILDS = "builds.json"  # by the checkout's folder


@dataclass(frozen=True)
class HowBuilt:
    """The user's command, where it puts the ELF (empty: it is looked for), and how many seconds the
    last judgement took, builds with it (0: there was none)."""

    command: str
    elf: str = ""
    seconds: float = 0.0


def recall(checkout: Path) -> HowBuilt | None:
    """Return what was said of a checkout; None if nothing was, or it cannot be read."""
    found = _known().get(str(checkout.resolve()))
    if not isinstance(found, dict):
        return None
    try:
        return HowBuilt(str(found["command"]), str(found["elf"]), float(found["seconds"]))
    except (KeyError, TypeError, ValueError):
        return None


def remember(checkout: Path, how: HowBuilt) -> None:
    """Keep what was said of a checkout; where the folder cannot be written, nothing is kept."""
    known = _known() | {str(checkout.resolve()): vars(how)}
    try:
        paths.config().mkdir(parents=True, exist_ok=True)
        write_whole({_file(): json.dumps(known, indent=1) + "\n"})
    except OSError:
        return


def took(checkout: Path, seconds: float) -> None:
    """Keep how long a judgement of a checkout took."""
    if how := recall(checkout):
        remember(checkout, replace(how, seconds=round(seconds)))


def _file() -> Path:
    return paths.config() / BUILDS


def _known() -> dict[str, object]:
    try:
        found = json.loads(_file().read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}
