# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Writing files so that nothing is lost: whole, or not at all."""

import contextlib
import os
import tempfile
from collections.abc import Mapping
from pathlib import Path

from tockmark.errors import TockmarkError
from tockmark.paths import shown


def write_whole(contents: Mapping[Path, str | bytes]) -> None:
    """Write files so that all are there or all are still the old ones, also on a full disk."""
    temporary: dict[Path, str] = {}
    path = Path()
    try:
        for path, content in contents.items():
            path.parent.mkdir(parents=True, exist_ok=True)
            handle, temporary[path] = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
            with os.fdopen(handle, "wb") as file:
                file.write(content if isinstance(content, bytes) else content.encode())
                file.flush()
                os.fsync(file.fileno())
            os.chmod(temporary[path], 0o644)
        for path in contents:
            os.replace(temporary.pop(path), path)
    except OSError as error:
        raise TockmarkError(
            f"cannot write {shown(path)}: {error.strerror}; what was there before is untouched",
            "make room or choose another place with -o",
        ) from error
    finally:
        for name in temporary.values():
            with contextlib.suppress(OSError):
                os.unlink(name)
