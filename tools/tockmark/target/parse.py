# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Turn a captured UART log into a result, even if the log is damaged.

Provenance that a log does not have stays unknown, unless the user states the board and the kernel.
Such claims are believed unless the log or the kernel contradicts them.

`complete_boots` finds the boots that an earlier log has completely, for `run --resume`.
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
from tockmark.target.log import read_log
from tockmark.target.protocol import Ability
from tockmark.target.results import board_provenance, boot_run, kernel_provenance
from tockmark.wire.boots import App, Measured, read_boots
from tockmark.wire.captured import BootKey, Captured, marked_boots

_BANNER = re.compile(r"tockmark-kernel: baseline (?P<version>[\w.+-]+),")  # kernel/src/main.rs


@dataclass(frozen=True)
class LogClaims:
    """Statements of the user about a captured log. None: no statement."""

    board: BoardProfile | None = None
    kernel: KernelElf | None = None
    abi: int | None = None
    icache: bool | None = None
    images: ImageFolder | None = None  # the installed ones


def check_claims(log: str, text: str, measured: Measured, claims: LogClaims) -> int | None:
    """Return the version of the interface, if the log or the user states it. TockmarkError if the
    log contradicts a claim."""
    for problem, todo in _contradictions(log, text, measured, claims):
        raise TockmarkError(problem, todo)
    begins = [app.begin or {} for _, app in measured.each()]
    versions = {int(begin["abi"]) for begin in begins if begin.get("abi", "").isdecimal()}
    versions_by_source = {"--abi": claims.abi}
    if claims.kernel and (name := match_baseline(claims.kernel)):
        versions_by_source[shown(claims.kernel.path)] = int(name["abi"])
    for source, version in versions_by_source.items():
        if version is not None and (contradicting := sorted(versions - {version})):
            raise TockmarkError(
                f"{log} is of version {contradicting[0]} of the interface; {source} is of"
                f" {version}",
                "give the kernel and the version that ran",
            )
        versions |= {version} if version is not None else set()
    return versions.pop() if len(versions) == 1 else None


def _contradictions(
    log: str, text: str, measured: Measured, claims: LogClaims
) -> Iterator[tuple[str, str]]:
    """Yield the contradictions between a log and the user's claims, each with what to do."""
    board, kernel = claims.board, claims.kernel
    if kernel is not None:
        path, name = shown(kernel.path), match_baseline(kernel)
        own_version = {name["version"]} if name else set()
        for version in sorted({match["version"] for match in _BANNER.finditer(text)} - own_version):
            actual = kernel.name or "another"
            yield (
                f"{log} is of {BASELINE} {version}, but {path} is {actual}",
                "give the ELF that ran",
            )
        if name and board and name["machine"] != (board.kernel_machine or board.machine):
            yield (
                f"{path} is built for {name['machine']}, but {board.name} is a {board.machine}",
                "give the kernel and the board that ran",
            )
    marked = any(boot.marks for boot in measured.boots)
    if board is not None and marked and Ability.MARKS not in board.target.can:
        yield (
            f"{log} has marks of the simulator's clock, which {board.name} cannot make",
            "give the board that it was captured from",
        )
    if claims.images and board and claims.images.manifest.board != board.name:
        board_name = claims.images.manifest.board
        yield f"the images were built for {board_name}, not for {board.name}", "omit --board"
    for boot in measured.boots:
        if None not in (claims.icache, boot.icache) and claims.icache is not boot.icache:
            yield (
                f"{log} has icache={ICACHE[boot.icache]} for the boot {boot.name}",
                "omit --icache",
            )
    for built, app in _installed_images(measured, claims):
        image = (app.begin or {}).get("image")  # missing in logs of older apps
        if image not in (None, built.image):
            yield (
                f"{log}: the boot {built.name} ran the image {image}, not {built.image}",
                "give the folder that was installed",
            )


def _installed_images(measured: Measured, claims: LogClaims) -> list[tuple[FolderBoot, App]]:
    """Return each app with the installed image of its boot, if there is one."""
    every = claims.images.manifest.boots if claims.images else ()
    by_key = {(boot.name, boot.lang): boot for boot in every}
    pairs = ((by_key.get((boot.name_for(app), app.lang)), app) for boot, app in measured.each())
    return [(built, app) for built, app in pairs if built is not None]


def parse(log: Path, catalogue: Catalogue, claims: LogClaims | None = None) -> Result:
    """Return the result of a log. TockmarkError if it is still being written, or contradicts a
    claim."""
    claims = claims or LogClaims()
    text = read_log(log)
    icache = claims.icache
    if icache is None and claims.board is not None:
        icache = claims.board.target.icache
    measured = read_boots([Captured(text.split("\n"), icache=icache)])
    if not any(measured.each()):
        raise TockmarkError(
            f"{shown(log)} has no intact line of the protocol",
            "compare it with the example of a log in docs/contributing.md",
        )
    if claims == LogClaims():
        return build(measured, catalogue)
    abi = check_claims(shown(log), text, measured, claims)
    built = {(boot.name, boot.lang): boot for boot, _ in _installed_images(measured, claims)}
    context = Context(
        kernel=kernel_provenance(claims.kernel, claims.board) if claims.kernel else Kernel(),
        board=board_provenance(claims.board) if claims.board else Board(),
        abi=abi,
        boots=tuple(boot_run(boot.name, boot.slots, boot.lang) for boot in built.values()),
    )
    return build(measured, catalogue, context)


def complete_boots(log: Path, catalogue: Catalogue, board: BoardProfile) -> dict[BootKey, Captured]:
    """Return the boots that have their end mark and all their rows. TockmarkError if this is not
    the log of a run, or its result is of another board."""
    _check_same_board(log, board)
    with reading(log, "give --resume the log of a run"):
        text = log.read_bytes().decode("latin-1")
    boots = list(marked_boots(text.split("\n")))
    if not boots:
        raise TockmarkError(
            f"{shown(log)} has no boot between marks", "give --resume the log of a run"
        )
    complete: dict[BootKey, Captured] = {}
    for captured in boots:
        if (image := _image_if_complete(captured, catalogue)) is not None:
            complete.setdefault(captured.key, structs.replace(captured, image=image))
    return complete


def _check_same_board(log: Path, board: BoardProfile) -> None:
    """Raise a TockmarkError if the result next to a log is of another board: the log does not name
    its board, and may have the same images."""
    path = log.with_suffix(".json")
    if not path.is_file():
        return
    then, now = file.load(path).provenance.board, board_provenance(board)
    if then == now:
        return
    key = next(key for key in now.__struct_fields__ if getattr(then, key) != getattr(now, key))
    raise TockmarkError(
        f"{shown(log)} cannot be resumed: its {key} is {getattr(then, key)} in {shown(path)}, and"
        f" now it is {getattr(now, key)}",
        "run without --resume",
    )


def _image_if_complete(captured: Captured, catalogue: Catalogue) -> str | None:
    """Return the image id of a boot, or None if anything of the boot is missing or wrong."""
    boot = next((boot for boot in catalogue.boots() if boot.name == captured.boot), None)
    if boot is None:
        return None
    measured = read_boots([captured])
    expected = [Expected(boot, captured.icache, lang=captured.lang or "c")]
    if build(measured, catalogue, None, expected, Selection(catalogue)).incomplete:
        return None
    images = [app.begin.get("image") for _, app in measured.each() if app.begin]
    return images[0] if images else None
