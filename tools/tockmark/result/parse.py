# SPDX-License-Identifier: Apache-2.0 OR MIT
"""A captured UART log becomes a result, however damaged it is.

It may be a log of ours or one of the 2021 study, which log/study.py reads. Provenance that a log
cannot tell stays unknown, unless its reader names board and kernel: these are believed, but where
the log itself says something else."""

from pathlib import Path

from tockmark.errors import TockmarkError
from tockmark.log import study
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
    if study.recognise(text):
        if told != Told():
            raise TockmarkError(
                f"{shown(log)} is a log of the 2021 study, whose board and kernel are known",
                "leave out what says others",
            )
        return _of_study(text, log.stem, catalogue)
    measured = assemble(decode(text.split("\n")))
    if not any(measured.each()):
        raise TockmarkError(
            f"{shown(log)} holds no intact line of the protocol",
            "docs/protocol.md shows what such a line looks like",
        )
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


def _of_study(text: str, log: str, catalogue: Catalogue) -> Result:
    result = build(study.measured(text, showable(log)), catalogue, STUDY)
    if not result.rows:
        why = f": {result.problems[0]}" if result.problems else ""
        raise TockmarkError(
            f"nothing in {log} can be used{why}", "docs/study.md shows what such a log looks like"
        )
    return result
