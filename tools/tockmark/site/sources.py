# SPDX-License-Identifier: Apache-2.0 OR MIT
"""What a site is made from: files, and folders that are searched through. Each file is taken for
what it says that it is; one that is damaged is a problem in a folder, and an error by name."""

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from tockmark.errors import TockmarkError
from tockmark.judge import history
from tockmark.paths import shown
from tockmark.profile import file as profiles
from tockmark.profile.file import Stored
from tockmark.result import file
from tockmark.result.model import Result
from tockmark.show.plot import Named
from tockmark.validate import file as validations
from tockmark.validate.row import Row

LOOKED_AT = 4096  # bytes that say of which format a file is
SILENT = {".log", ".md", ".txt", ".svg", ".folded", ".html"}  # stand beside results
_FORMAT = re.compile(r'\s*\{\s*"format"\s*:\s*"(tockmark-[a-z]+)"')
OTHERS = {"tockmark-site", "tockmark-robustness", "tockmark-bisect"}  # ours, but for no page


@dataclass
class Found:
    """All that there is, in the order of the arguments, a folder's files by their paths."""

    results: list[Named] = field(default_factory=list)
    asked: set[str] = field(default_factory=set)  # the names of those that were given by name
    studies: list[Named] = field(default_factory=list)  # what others published
    profiles: list[tuple[str, Stored]] = field(default_factory=list)
    runs: list[history.Run] = field(default_factory=list)
    validation: list[Row] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)  # files that are damaged, a line each
    strangers: list[str] = field(default_factory=list)  # files of no known format, a line each

    @property
    def every(self) -> list[Named]:
        """Results and studies."""
        return [*self.results, *self.studies]


def gather(given: Iterable[Path]) -> Found:
    """TockmarkError if a path given by name cannot be used, or if no result is found."""
    found = Found()
    seen: set[Path] = set()
    for path in given:
        if path.is_dir():
            for one in _files(path):
                if one.resolve() not in seen:
                    seen.add(one.resolve())
                    name = one.relative_to(path).with_suffix("").as_posix()
                    _take_found(found, one, name)
        else:
            if path.resolve() in seen:
                raise TockmarkError(f"{shown(path)} is given twice", "give each file once")
            seen.add(path.resolve())
            _take(found, path, path.stem, by_name=True)
    if not found.results and not found.studies:
        for told in (*found.problems, *found.strangers):
            raise TockmarkError(told)
        raise TockmarkError("there is no result here", "give result files, or folders with some")
    return found


def _files(folder: Path) -> Iterator[Path]:
    """Those of a folder and of the folders in it, but for hidden ones. No link to a folder is
    followed: it might lead round in a circle."""
    try:
        inside = sorted(folder.iterdir())
    except OSError as error:
        raise TockmarkError(f"cannot read {shown(folder)}: {error.strerror}") from error
    for path in inside:
        if path.name.startswith("."):
            continue
        if path.is_dir() and not path.is_symlink():
            yield from _files(path)
        elif path.is_file():
            yield path


def _take_found(found: Found, path: Path, name: str) -> None:
    """A file of a folder."""
    try:
        kind = kind_of(path)
    except TockmarkError as error:
        found.problems.append(str(error))
        return
    if path.suffix in SILENT or kind in OTHERS:
        return
    if kind not in READERS:
        found.strangers.append(f"{shown(path)} is of no known format; left out")
        return
    try:
        _take(found, path, name)
    except TockmarkError as error:
        found.problems.append(str(error))


def _take(found: Found, path: Path, name: str, by_name: bool = False) -> None:
    """One file; TockmarkError if it cannot be used. What has no format, a result's reader names."""
    kind = kind_of(path)
    before = len(found.results)
    READERS.get(kind or "", _result)(found, path, name)
    if by_name and len(found.results) > before:
        found.asked.add(found.results[-1].name)


def kind_of(path: Path) -> str | None:
    """The format that a file begins with, whole or not."""
    try:
        with path.open("rb") as opened:
            start = opened.read(LOOKED_AT)
    except OSError as error:
        raise TockmarkError(f"cannot read {shown(path)}: {error.strerror}") from error
    match = _FORMAT.match(start.decode(errors="replace"))
    return match[1] if match else None


def _result(found: Found, path: Path, name: str) -> None:
    result = file.load(path)
    named = Named(_apart(name, path, [one.name for one in found.every]), result)
    (found.studies if is_study(result) else found.results).append(named)


def is_study(result: Result) -> bool:
    """Whether its figures were published by others."""
    return any(row.published for row in result.rows)


def _apart(name: str, path: Path, taken: list[str]) -> str:
    """A name that no other result has."""
    for one in (name, shown(path)):
        if one not in taken:
            return one
    return next(f"{name} ({i})" for i in range(2, len(taken) + 3) if f"{name} ({i})" not in taken)


def _profile(found: Found, path: Path, name: str) -> None:
    found.profiles.append((name, profiles.load(path)))


def _history(found: Found, path: Path, name: str) -> None:
    runs, problems = history.load(path)
    known = {run.result_sha256 for run in found.runs}
    found.runs = sorted(
        [*found.runs, *(run for run in runs if run.result_sha256 not in known)],
        key=lambda run: run.date,
    )
    found.problems += problems


def _validation(found: Found, path: Path, name: str) -> None:
    found.validation = found.validation or validations.load(path)


READERS: dict[str, Callable[[Found, Path, str], None]] = {
    file.FORMAT: _result,
    profiles.FORMAT: _profile,
    history.FORMAT: _history,
    validations.FORMAT: _validation,
}
