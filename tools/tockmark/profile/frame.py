# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The name of a function, and where it is written."""

from dataclasses import dataclass

from tockmark import paths


@dataclass(frozen=True)
class Frame:
    """One function at an address; `file` is empty where only the symbol is known."""

    name: str
    file: str = ""

    def __str__(self) -> str:
        return f"{self.name} ({short(self.file)})" if self.file else self.name


def short(file: str) -> str:
    """A source file's path: in this checkout from its top, elsewhere the last parts."""
    root = f"{paths.ROOT}/"
    return file.removeprefix(root) if file.startswith(root) else "/".join(file.split("/")[-4:])
