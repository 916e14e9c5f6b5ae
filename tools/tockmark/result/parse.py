# SPDX-License-Identifier: Apache-2.0 OR MIT
"""A captured UART log becomes a result, however damaged it is.

It may be a log of ours or one of the 2021 study, which log/study.py reads. Provenance that a log
cannot tell stays unknown."""

from pathlib import Path

from tockmark.errors import TockmarkError
from tockmark.log import study
from tockmark.log.protocol import decode
from tockmark.log.rows import assemble
from tockmark.paths import shown
from tockmark.plain import showable
from tockmark.result.build import Context, build
from tockmark.result.model import Result
from tockmark.result.provenance import Board, Kernel
from tockmark.suite.catalogue import Catalogue

STUDY = Context(
    kernel=Kernel(name="Tock 1.x (study 2021)"),
    board=Board(name="nexysvideo", machine="nexysvideo", clock_hz=10_000_000, timing="hardware"),
    abi=1,
)


def parse(log: Path, catalogue: Catalogue) -> Result:
    """What a log holds."""
    try:
        # A torn log may hold any byte; latin-1 takes each as it is, and the CRC judges.
        text = log.read_bytes().decode("latin-1")
    except OSError as error:
        raise TockmarkError(f"cannot read {shown(log)}: {error.strerror}") from error
    if study.recognise(text):
        return _of_study(text, log.stem, catalogue)
    measured = assemble(decode(text.split("\n")))
    if not any(measured.each()):
        raise TockmarkError(
            f"{shown(log)} holds no intact line of the protocol",
            "docs/protocol.md shows what such a line looks like",
        )
    return build(measured, catalogue)


def _of_study(text: str, log: str, catalogue: Catalogue) -> Result:
    result = build(study.measured(text, showable(log)), catalogue, STUDY)
    if not result.rows:
        why = f": {result.problems[0]}" if result.problems else ""
        raise TockmarkError(
            f"nothing in {log} can be used{why}", "docs/study.md shows what such a log looks like"
        )
    return result
