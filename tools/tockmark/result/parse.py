# SPDX-License-Identifier: Apache-2.0 OR MIT
"""A captured UART log becomes a result, however damaged it is.

It may be a log of ours, or have the tables of the 2021 study, which log/study.py reads. Provenance
that a log cannot tell stays unknown, unless its reader names board and kernel, or says that it is
one of the study's own: that is believed, but where the log itself says something else."""

from pathlib import Path

from tockmark.errors import TockmarkError
from tockmark.log import study
from tockmark.log.measured import Measured
from tockmark.log.protocol import decode
from tockmark.log.rows import assemble
from tockmark.paths import shown
from tockmark.plain import showable
from tockmark.result.build import Context, build
from tockmark.result.facts import board_of, kernel_of
from tockmark.result.model import Result
from tockmark.result.provenance import Board, Kernel
from tockmark.result.told import Told, boots, check
from tockmark.suite.catalogue import Catalogue
from tockmark.target.kinds.file import read

STUDY = Context(
    kernel=Kernel(name="Tock 1.x (study 2021)"),
    board=Board(name="nexysvideo", machine="nexysvideo", clock_hz=10_000_000, timing="hardware"),
    abi=1,
)


def parse(log: Path, catalogue: Catalogue, told: Told | None = None) -> Result:
    """What a log holds. TockmarkError if it is still being written, or is not what it is said to
    be."""
    told = told or Told()
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
    if told == Told():
        return build(measured, catalogue)
    abi = check(shown(log), text, measured, told)
    if not any(boot.reporter for boot in measured.boots):  # else a boot without a mark lost it
        for boot in measured.boots:
            boot.icache = told.setting
    context = Context(
        kernel=kernel_of(told.kernel, told.board) if told.kernel else Kernel(),
        board=board_of(told.board) if told.board else Board(),
        abi=abi,
        boots=boots(measured, told),
    )
    return build(measured, catalogue, context)


def _check_study(log: str, tables: bool, told: Told) -> None:
    """A log of the study's own has its tables, and nothing is to be told of it."""
    if not tables:
        raise TockmarkError(f"{log} is no log of the 2021 study", "leave out --study")
    if told != Told(study=True):
        raise TockmarkError(
            "of a log that the study of 2021 took, board, kernel and setting are known",
            "leave out what says others, or --study",
        )


def _check_held(log: Path, measured: Measured, tables: bool) -> None:
    """There is something in it to make a result of."""
    if tables and not any(row.series for _, app in measured.each() for row in app.rows):
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
