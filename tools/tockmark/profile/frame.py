# SPDX-License-Identifier: Apache-2.0 OR MIT
"""What a function is called, where it is written, and where it lies."""

from dataclasses import dataclass
from pathlib import Path

from tockmark import paths


@dataclass(frozen=True)
class Frame:
    """One function at an address; `file` is empty where only the symbol is known."""

    name: str
    file: str = ""

    def __str__(self) -> str:
        return f"{self.name} ({short(self.file)})" if self.file else self.name


@dataclass(frozen=True)
class Scope:
    """A function at an address as the compiler laid it there: a whole one, or one that was put
    into another at one place."""

    frame: Frame
    path: str  # its readable name with modules, without types
    place: int  # tells the places apart that one function was put into


def short(file: str) -> str:
    """A source file's path: in this checkout from its top, elsewhere the last parts."""
    root = f"{paths.ROOT}/"
    return file.removeprefix(root) if file.startswith(root) else "/".join(file.split("/")[-4:])


def in_module(frame: Frame) -> str:
    """The path of a function whose symbol nobody tells: in Rust, where a file is a module, behind
    the file's name; `grant::enter`."""
    file = Path(frame.file)
    if file.suffix != ".rs":
        return frame.name
    module = file.parent.name if file.stem == "mod" else file.stem
    return f"{module}::{frame.name}"
