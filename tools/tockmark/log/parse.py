# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The verb `parse`: a captured UART log becomes a result file, however damaged it is.

It may be a log of ours or one of the 2021 study, which study.py reads."""

from pathlib import Path

from tockmark.errors import TockmarkError
from tockmark.log import study
from tockmark.log.protocol import decode
from tockmark.log.rows import assemble
from tockmark.paths import shown
from tockmark.result import result as results
from tockmark.suite.catalogue import Catalogue


def parse(log: Path, catalogue: Catalogue) -> results.Json:
    """What a log holds. Provenance that a log cannot tell stays unknown."""
    try:
        # A torn log may hold any byte; latin-1 takes each as it is, and the CRC judges.
        text = log.read_bytes().decode("latin-1")
    except OSError as error:
        raise TockmarkError(f"cannot read {shown(log)}: {error.strerror}") from error
    if study.recognise(text):
        return study.result(text, log.stem, catalogue)
    measured = assemble(decode(text.split("\n")))
    if not any(measured.each()):
        raise TockmarkError(
            f"{shown(log)} holds no intact line of the protocol",
            "docs/protocol.md shows what such a line looks like",
        )
    return results.build(measured, catalogue)
