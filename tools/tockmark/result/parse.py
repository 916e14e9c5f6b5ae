# SPDX-License-Identifier: Apache-2.0 OR MIT
"""A captured UART log becomes a result, however damaged it is.

It may be a log of ours, or have the tables of the 2021 study, which log/study.py reads. Provenance
that a log cannot tell stays unknown, unless its reader claims board and kernel, or that it is one
of the study's own: a claim is believed, but where the log or the kernel itself contradicts it.
`whole_boots` tells which boots an earlier log has whole, so that `run --resume` need not run them.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import msgspec

from tockmark import BASELINE
from tockmark.errors import TockmarkError, showable
from tockmark.files import reading
from tockmark.log import study
from tockmark.log.protocol import BootMark, decode, decode_mark
from tockmark.log.rows import Measured, assemble, series_of
from tockmark.paths import shown
from tockmark.result import file
from tockmark.result.build import Context, Expected, board_of, build, kernel_of
from tockmark.result.model import Result
from tockmark.result.provenance import Board, BootRun, Kernel, Slot
from tockmark.rig.board import BoardProfile
from tockmark.rig.image_folder import Laid, LaidBoot
from tockmark.rig.kernel import KernelElf, baseline
from tockmark.rig.kinds.file import read
from tockmark.rig.protocol import Ability
from tockmark.rig.run import BootKey, Earlier
from tockmark.suite.catalogue import ICACHE, Catalogue, Lang
from tockmark.suite.selection import Selection

_BANNER = re.compile(r"tockmark-kernel: baseline (?P<version>[\w.+-]+),")  # kernel/src/main.rs

Contradiction = tuple[str, str]  # what, and what to do


@dataclass(frozen=True)
class LogClaims:
    """What the reader of a captured log says of it. None: nothing is said."""

    board: BoardProfile | None = None
    kernel: KernelElf | None = None
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


def check_claims(log: str, text: str, measured: Measured, told: LogClaims) -> int | None:
    """Return the version of the interface that a log and its reader agree on, if they say it.
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


def _kernels(log: str, text: str, _: Measured, told: LogClaims) -> Iterator[Contradiction]:
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


def _boards(log: str, _: str, measured: Measured, told: LogClaims) -> Iterator[Contradiction]:
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


def _images(log: str, _: str, measured: Measured, told: LogClaims) -> Iterator[Contradiction]:
    """Where another image ran than the one that was laid."""
    for boot, app in measured.each():
        said = (app.begin or {}).get("image")  # which apps of before do not say
        for laid in _laid(boot.of(app), app.lang, told):
            if said not in (None, laid.image):
                yield (
                    f"{log}: the boot {laid.name} ran the image {said}, not {laid.image}",
                    "give the folder that was installed",
                )


def claimed_boots(measured: Measured, told: LogClaims) -> tuple[BootRun, ...]:
    """Return where the apps of the boots in a log were laid."""
    found = {
        (laid.name, laid.lang): BootRun(
            laid.name,
            {},
            msgspec.convert(laid.slots, tuple[Slot, ...], from_attributes=True),
            laid.lang,
        )
        for boot, app in measured.each()
        for laid in _laid(boot.of(app), app.lang, told)
    }
    return tuple(found.values())


def _laid(name: str, lang: Lang, told: LogClaims) -> list[LaidBoot]:
    """Return the image of a boot, if it was laid."""
    every = told.images.manifest.boots if told.images else ()
    return [laid for laid in every if (laid.name, laid.lang) == (name, lang)]


STUDY = Context(
    kernel=Kernel(name="Tock 1.x (study 2021)"),
    board=Board(name="nexysvideo", machine="nexysvideo", clock_hz=10_000_000, timing="hardware"),
    abi=1,
)


def parse(log: Path, catalogue: Catalogue, told: LogClaims | None = None) -> Result:
    """Return what a log holds. TockmarkError if it is still being written, or is not what it is
    said to be."""
    told = told or LogClaims()
    text = read(log)
    tables = study.recognise(text)
    if told.study:
        _check_study(shown(log), tables, told)
    measured = (
        study.measured(text, showable(log.stem), own=told.study)
        if tables
        else assemble(decode(text.split("\n")))
    )
    _check_held(log, measured, tables)
    if told.study:
        return build(measured, catalogue, STUDY)
    if told == LogClaims():
        return build(measured, catalogue)
    abi = check_claims(shown(log), text, measured, told)
    if not any(boot.reporter for boot in measured.boots):  # else a boot without a mark lost it
        for boot in measured.boots:
            boot.icache = told.setting
    context = Context(
        kernel=kernel_of(told.kernel, told.board) if told.kernel else Kernel(),
        board=board_of(told.board) if told.board else Board(),
        abi=abi,
        boots=claimed_boots(measured, told),
    )
    return build(measured, catalogue, context)


def _check_study(log: str, tables: bool, told: LogClaims) -> None:
    """Refuse a log that lacks the study's tables, and claims beside the study."""
    if not tables:
        raise TockmarkError(f"{log} is no log of the 2021 study", "leave out --study")
    if told != LogClaims(study=True):
        raise TockmarkError(
            "of a log that the study of 2021 took, board, kernel and setting are known",
            "leave out what says others, or --study",
        )


def _check_held(log: Path, measured: Measured, tables: bool) -> None:
    """Refuse a log that holds nothing to make a result of."""
    if tables and not any(series_of(row) for _, app in measured.each() for row in app.rows):
        why = f": {measured.problems[0]}" if measured.problems else ""
        raise TockmarkError(
            f"nothing in {showable(log.stem)} can be used{showable(why)}",
            "docs/study.md shows what such a log looks like",
        )
    if not any(measured.each()):
        raise TockmarkError(
            f"{shown(log)} holds no intact line of the protocol",
            "docs/protocol.md shows what such a line looks like",
        )


def whole_boots(log: Path, known: Catalogue, board: BoardProfile) -> dict[BootKey, Earlier]:
    """Return the lines of each boot that its end mark closes and that gave all its rows.
    TockmarkError if it is no log of a run, or its result says that it is of another board."""
    _suits(log, board)
    with reading(log, "--resume takes the log of a run"):
        text = log.read_bytes().decode("latin-1")
    found: dict[BootKey, Earlier] = {}
    marked = False
    for mark, lines in _boots(text.split("\n")):
        marked = True
        image = _image_if_whole(mark, lines, known)
        if image is not None:
            which = mark.name, mark.icache, mark.lang or "c"
            found.setdefault(which, Earlier(image, tuple(lines)))
    if not marked:
        raise TockmarkError(
            f"{shown(log)} has no boot between its marks", "--resume takes the log of a run"
        )
    return found


def _suits(log: Path, board: BoardProfile) -> None:
    """Refuse the log of another board: it does not say so itself, and may hold the same image."""
    path = log.with_suffix(".json")
    if not path.is_file():
        return
    then, now = file.load(path).provenance.board, board_of(board)
    if then == now:
        return
    key = next(key for key in now.__struct_fields__ if getattr(then, key) != getattr(now, key))
    raise TockmarkError(
        f"{shown(log)} cannot be gone on from: its {key} is {getattr(then, key)}, says"
        f" {shown(path)}, and here it is {getattr(now, key)}",
        "run without --resume",
    )


def _boots(lines: list[str]) -> Iterator[tuple[BootMark, list[str]]]:
    """Return what stands between the mark of each boot and its end."""
    begin: BootMark | None = None
    inside: list[str] = []
    for line in lines:
        mark = decode_mark(line)
        if mark is None:
            inside.append(line)
        elif not mark.ends:
            begin, inside = mark, []
        elif begin is not None:
            own = begin.name, begin.icache, begin.app, begin.lang
            if own == (mark.name, mark.icache, mark.app, mark.lang):
                yield begin, inside
            begin = None


def _image_if_whole(mark: BootMark, lines: list[str], known: Catalogue) -> str | None:
    """Return the image's id that a boot's app said, if nothing of the boot is missing or wrong."""
    boot = next((boot for boot in known.boots() if boot.name == mark.name), None)
    if boot is None:
        return None
    ends = BootMark(mark.name, mark.icache, mark.app, ends=True, lang=mark.lang)
    measured = assemble(decode([mark.encode(), *lines, ends.encode()]))
    expected = [Expected(boot, mark.icache, lang=mark.lang or "c")]
    if build(measured, known, None, expected, Selection(known)).incomplete:
        return None
    said = [app.begin.get("image") for _, app in measured.each() if app.begin]
    return said[0] if said else None
