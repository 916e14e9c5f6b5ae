# SPDX-License-Identifier: Apache-2.0 OR MIT
"""What the reader of a captured log says of it, and where log or kernel contradict that."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

import msgspec

from tockmark import BASELINE
from tockmark.errors import TockmarkError
from tockmark.log.measured import Measured
from tockmark.paths import shown
from tockmark.result.provenance import BootRun, Slot
from tockmark.suite.catalogue import ICACHE, Lang
from tockmark.target.board import Board
from tockmark.target.image import Kernel, baseline
from tockmark.target.laid import Laid, LaidBoot
from tockmark.target.protocol import Ability

_BANNER = re.compile(r"tockmark-kernel: baseline (?P<version>[\w.+-]+),")  # kernel/src/main.rs

Contradiction = tuple[str, str]  # what, and what to do


@dataclass(frozen=True)
class Told:
    """All of it. None: nothing is said."""

    board: Board | None = None
    kernel: Kernel | None = None
    abi: int | None = None
    icache: bool | None = None
    images: Laid | None = None  # that were installed
    study: bool = False  # the study of 2021 took it: board, kernel and interface are known

    @property
    def setting(self) -> bool | None:
        """Of the cache, where the log does not say it."""
        if self.icache is None and self.board is not None:
            return self.board.target.icache
        return self.icache


def check(log: str, text: str, measured: Measured, told: Told) -> int | None:
    """The version of the interface that a log and whoever tells of it agree on, if they say it.
    TockmarkError where it is of something else than they say."""
    contradictions = _kernels, _boards, _images
    for problems in (found(log, text, measured, told) for found in contradictions):
        for what, todo in problems:
            raise TockmarkError(what, todo)
    said = {
        int(abi)
        for _, app in measured.each()
        if (abi := (app.begin or {}).get("abi", "")).isdecimal()
    }
    named = baseline(told.kernel) if told.kernel else None
    by = [
        ("--abi", told.abi),
        (shown(told.kernel.path) if told.kernel else "", int(named["abi"]) if named else None),
    ]
    for who, version in by:
        if version is not None and (others := sorted(said - {version})):
            raise TockmarkError(
                f"{log} is of version {others[0]} of the interface, {who} of {version}",
                "name what ran",
            )
        said |= {version} if version is not None else set()
    return said.pop() if len(said) == 1 else None


def _kernels(log: str, text: str, _: Measured, told: Told) -> Iterator[Contradiction]:
    """Where the kernel is none of this log, or of this board."""
    if told.kernel is None:
        return
    path, named = shown(told.kernel.path), baseline(told.kernel)
    own = {named["version"]} if named else set()
    for version in sorted({match["version"] for match in _BANNER.finditer(text)} - own):
        found = told.kernel.name or "another"
        yield f"{log} is of {BASELINE} {version}, but {path} is {found}", "give the ELF that ran"
    if named and told.board is not None and named["machine"] != told.board.machine:
        machine, name = told.board.machine, told.board.name
        yield (
            f"{path} is built for {named['machine']}, but {name} is a {machine}",
            "name the kernel and the board that ran",
        )


def _boards(log: str, _: str, measured: Measured, told: Told) -> Iterator[Contradiction]:
    """Where the log is of no such board, or had another cache setting."""
    no_clock = told.board is not None and Ability.MARKS not in told.board.target.can
    if told.board is not None and no_clock and any(boot.marks for boot in measured.boots):
        yield (
            f"{log} holds marks of the simulator's clock, which {told.board.name} cannot give",
            "name the board that it was captured from",
        )
    if told.images and told.board and told.images.manifest.board != told.board.name:
        laid = told.images.manifest.board
        yield f"the images were laid for {laid}, not for {told.board.name}", "leave out --board"
    for boot in measured.boots:
        if None not in (told.icache, boot.icache) and told.icache is not boot.icache:
            yield (
                f"{log} says icache={ICACHE[boot.icache]} of the boot {boot.name}",
                "leave out --icache: the log knows it",
            )


def _images(log: str, _: str, measured: Measured, told: Told) -> Iterator[Contradiction]:
    """Where another image ran than the one that was laid."""
    for boot, app in measured.each():
        said = (app.begin or {}).get("image")  # which apps of before do not say
        for laid in _laid(boot.of(app), app.lang, told):
            if said not in (None, laid.image):
                yield (
                    f"{log}: the boot {laid.name} ran the image {said}, not {laid.image}",
                    "give the folder that was installed",
                )


def boots(measured: Measured, told: Told) -> tuple[BootRun, ...]:
    """Where the apps of the boots in a log were laid."""
    found = {
        (laid.name, laid.lang): BootRun(
            laid.name,
            {},
            tuple(msgspec.convert(app, Slot, from_attributes=True) for app in laid.slots),
            laid.lang,
        )
        for boot, app in measured.each()
        for laid in _laid(boot.of(app), app.lang, told)
    }
    return tuple(found.values())


def _laid(name: str, lang: Lang, told: Told) -> list[LaidBoot]:
    """The image of a boot, if it was laid."""
    every = told.images.manifest.boots if told.images else ()
    return [laid for laid in every if (laid.name, laid.lang) == (name, lang)]
