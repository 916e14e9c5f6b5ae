# SPDX-License-Identifier: Apache-2.0 OR MIT
"""A captured UART log becomes a result, however damaged it is: by way of `Captured`, as what a run
prints does.

Provenance that a log cannot tell stays unknown, unless its reader claims board and kernel: a claim
is believed, but where the log or the kernel itself contradicts it.
`whole_boots` tells which boots an earlier log has whole, so that `run --resume` need not run them.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from msgspec import structs

from tockmark import BASELINE
from tockmark.base.errors import TockmarkError
from tockmark.base.files import reading
from tockmark.base.paths import shown
from tockmark.result import file
from tockmark.result.build import Context, Expected, build
from tockmark.result.model import Result
from tockmark.result.provenance import Board, Kernel
from tockmark.suite.catalogue import ICACHE, Catalogue
from tockmark.suite.selection import Selection
from tockmark.target.board import BoardProfile
from tockmark.target.image_folder import FolderBoot, ImageFolder
from tockmark.target.kernel import KernelElf, match_baseline
from tockmark.target.log import read_log as text_of
from tockmark.target.protocol import Ability
from tockmark.target.results import board_provenance, boot_run, kernel_provenance
from tockmark.wire.boots import App, Measured, read_boots
from tockmark.wire.captured import BootKey, Captured, marked_boots

_BANNER = re.compile(r"tockmark-kernel: baseline (?P<version>[\w.+-]+),")  # kernel/src/main.rs


@dataclass(frozen=True)
class LogClaims:
    """What the reader of a captured log says of it. None: nothing is said."""

    board: BoardProfile | None = None
    kernel: KernelElf | None = None
    abi: int | None = None
    icache: bool | None = None
    images: ImageFolder | None = None  # that were installed

    @property
    def icache_setting(self) -> bool | None:
        """Of the cache, where the log does not say it."""
        if self.icache is None and self.board is not None:
            return self.board.target.icache
        return self.icache


def check_claims(log: str, text: str, measured: Measured, claims: LogClaims) -> int | None:
    """Return the version of the interface that a log and its reader agree on, if they say it.
    TockmarkError where it is of something else than they say."""
    for what, todo in _contradictions(log, text, measured, claims):
        raise TockmarkError(what, todo)
    begins = [app.begin or {} for _, app in measured.each()]
    said = {int(begin["abi"]) for begin in begins if begin.get("abi", "").isdecimal()}
    by = {"--abi": claims.abi}
    if claims.kernel and (named := match_baseline(claims.kernel)):
        by[shown(claims.kernel.path)] = int(named["abi"])
    for who, version in by.items():
        if version is not None and (others := sorted(said - {version})):
            raise TockmarkError(
                f"{log} is of version {others[0]} of the interface, {who} of {version}",
                "name what ran",
            )
        said |= {version} if version is not None else set()
    return said.pop() if len(said) == 1 else None


def _contradictions(
    log: str, text: str, measured: Measured, claims: LogClaims
) -> Iterator[tuple[str, str]]:
    """Return what cannot be as the reader claims it, and what to do: the kernel is none of this log
    or this board, the log of no such board or another cache setting, or another image ran."""
    board, kernel = claims.board, claims.kernel
    if kernel is not None:
        path, named = shown(kernel.path), match_baseline(kernel)
        own = {named["version"]} if named else set()
        for version in sorted({match["version"] for match in _BANNER.finditer(text)} - own):
            found = kernel.name or "another"
            yield (
                f"{log} is of {BASELINE} {version}, but {path} is {found}",
                "give the ELF that ran",
            )
        if named and board is not None and named["machine"] != board.machine:
            yield (
                f"{path} is built for {named['machine']}, but {board.name} is a {board.machine}",
                "name the kernel and the board that ran",
            )
    marked = any(boot.marks for boot in measured.boots)
    if board is not None and marked and Ability.MARKS not in board.target.can:
        yield (
            f"{log} holds marks of the simulator's clock, which {board.name} cannot give",
            "name the board that it was captured from",
        )
    if claims.images and board and claims.images.manifest.board != board.name:
        laid_for = claims.images.manifest.board
        yield f"the images were laid for {laid_for}, not for {board.name}", "leave out --board"
    for boot in measured.boots:
        if None not in (claims.icache, boot.icache) and claims.icache is not boot.icache:
            yield (
                f"{log} says icache={ICACHE[boot.icache]} of the boot {boot.name}",
                "leave out --icache: the log knows it",
            )
    for laid, app in _laid(measured, claims):
        said = (app.begin or {}).get("image")  # which apps of before do not say
        if said not in (None, laid.image):
            yield (
                f"{log}: the boot {laid.name} ran the image {said}, not {laid.image}",
                "give the folder that was installed",
            )


def _laid(measured: Measured, claims: LogClaims) -> list[tuple[FolderBoot, App]]:
    """Return the image of each app's boot, where it was laid."""
    every = claims.images.manifest.boots if claims.images else ()
    laid = {(one.name, one.lang): one for one in every}
    found = ((laid.get((boot.name_for(app), app.lang)), app) for boot, app in measured.each())
    return [(one, app) for one, app in found if one is not None]


def parse(log: Path, catalogue: Catalogue, claims: LogClaims | None = None) -> Result:
    """Return what a log holds. TockmarkError if it is still being written, or is not what it is
    said to be."""
    claims = claims or LogClaims()
    text = text_of(log)
    measured = read_boots([Captured(text.split("\n"), icache=claims.icache_setting)])
    if not any(measured.each()):
        raise TockmarkError(
            f"{shown(log)} holds no intact line of the protocol",
            "docs/contributing.md shows what such a line looks like",
        )
    if claims == LogClaims():
        return build(measured, catalogue)
    abi = check_claims(shown(log), text, measured, claims)
    laid = {(one.name, one.lang): one for one, _ in _laid(measured, claims)}
    context = Context(
        kernel=kernel_provenance(claims.kernel, claims.board) if claims.kernel else Kernel(),
        board=board_provenance(claims.board) if claims.board else Board(),
        abi=abi,
        boots=tuple(boot_run(one.name, one.slots, one.lang) for one in laid.values()),
    )
    return build(measured, catalogue, context)


def complete_boots(log: Path, known: Catalogue, board: BoardProfile) -> dict[BootKey, Captured]:
    """Return each boot that its end mark closes and that gave all its rows. TockmarkError if it is
    no log of a run, or its result says that it is of another board."""
    _suits(log, board)
    with reading(log, "--resume takes the log of a run"):
        text = log.read_bytes().decode("latin-1")
    boots = list(marked_boots(text.split("\n")))
    if not boots:
        raise TockmarkError(
            f"{shown(log)} has no boot between its marks", "--resume takes the log of a run"
        )
    whole: dict[BootKey, Captured] = {}
    for captured in boots:
        if (image := _image_if_whole(captured, known)) is not None:
            whole.setdefault(captured.key, structs.replace(captured, image=image))
    return whole


def _suits(log: Path, board: BoardProfile) -> None:
    """Refuse the log of another board: it does not say so itself, and may hold the same image."""
    path = log.with_suffix(".json")
    if not path.is_file():
        return
    then, now = file.load(path).provenance.board, board_provenance(board)
    if then == now:
        return
    key = next(key for key in now.__struct_fields__ if getattr(then, key) != getattr(now, key))
    raise TockmarkError(
        f"{shown(log)} cannot be gone on from: its {key} is {getattr(then, key)}, says"
        f" {shown(path)}, and here it is {getattr(now, key)}",
        "run without --resume",
    )


def _image_if_whole(captured: Captured, known: Catalogue) -> str | None:
    """Return the image's id that a boot's app said, if nothing of the boot is missing or wrong."""
    boot = next((boot for boot in known.boots() if boot.name == captured.boot), None)
    if boot is None:
        return None
    measured = read_boots([captured])
    expected = [Expected(boot, captured.icache, lang=captured.lang or "c")]
    if build(measured, known, None, expected, Selection(known)).incomplete:
        return None
    said = [app.begin.get("image") for _, app in measured.each() if app.begin]
    return said[0] if said else None
