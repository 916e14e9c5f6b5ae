# SPDX-License-Identifier: Apache-2.0 OR MIT
"""A profile as a file: what each phase and each function took of the sample, a line each.

Only what was counted is in it; docs/profiling.md tells what the fields mean."""

from pathlib import Path
from typing import Literal

import msgspec

from tockmark.errors import TockmarkError
from tockmark.paths import shown
from tockmark.profile.attribute import CAUSES, Line, Profile
from tockmark.profile.report import function
from tockmark.result import document
from tockmark.result.provenance import Count, Kernel, Part, Positive
from tockmark.suite.catalogue import Lang, Params, aside, label

Cause = Literal["execute", "fetch", "load/store", "branch", "mul/div", "trap/CSR"]

FORMAT: Literal["tockmark-profile"] = "tockmark-profile"
VERSION: Literal[2] = 2  # 1 had no format, and every sum beside what it is of
ANEW = "make it anew with `tockmark profile --json`"


class Share(Part, frozen=True):
    """What one phase or function took."""

    name: str
    causes: dict[Cause, Positive]  # cycles by what they went to
    instructions: Count = 0
    in_body: Count = 0  # of the cycles, those that the benchmark's body took

    @property
    def cycles(self) -> int:
        return sum(self.causes.values())


class Stored(Part, frozen=True):
    """The whole file. Phases and functions are the same cycles, the costly ones first."""

    format: Literal["tockmark-profile"]
    version: Literal[2]
    id: str
    icache: bool
    kernel: Kernel
    board: str
    phases: tuple[Share, ...]
    functions: tuple[Share, ...]
    params: Params = msgspec.field(default_factory=dict)
    lang: Lang = "c"  # of the app

    @property
    def label(self) -> str:
        return label(self.id, self.params) + aside(self.lang)

    @property
    def cycles(self) -> int:
        """Of the sample, as the app counted them."""
        return sum(phase.cycles for phase in self.phases)

    @property
    def instructions(self) -> int:
        return sum(phase.instructions for phase in self.phases)

    def caused(self, cause: Cause) -> int:
        """The cycles of the sample that went to one cause."""
        return sum(phase.causes.get(cause, 0) for phase in self.phases)


def stored(
    made: Profile,
    id_: str,
    params: Params,
    icache: bool,
    kernel: Kernel,
    board: str,
    lang: Lang = "c",
) -> Stored:
    """What the file keeps of a profile."""
    return Stored(
        FORMAT,
        VERSION,
        id_,
        icache,
        kernel,
        board,
        _shares(made.by(lambda place: place.phase)),
        _shares(made.by(function)),
        params,
        lang,
    )


def _shares(lines: dict[str, Line]) -> tuple[Share, ...]:
    costly = sorted(lines.items(), key=lambda item: -item[1].cycles)
    return tuple(
        msgspec.convert(
            {
                "name": name,
                "causes": {cause: line.causes[cause] for cause in CAUSES if line.causes[cause]},
                "instructions": line.instructions,
                "in_body": line.in_body,
            },
            Share,
        )
        for name, line in costly
    )


def load(path: Path) -> Stored:
    """Read and check a profile."""
    found = document.read(path, Stored, FORMAT, VERSION, ANEW)
    for of in ("cycles", "instructions", "in_body"):
        by_phase, by_function = (
            sum(getattr(share, of) for share in shares)
            for shares in (found.phases, found.functions)
        )
        if by_phase != by_function:
            raise TockmarkError(
                f"{shown(path)}: {by_phase} {of} by phase, but {by_function} by function", ANEW
            )
    return found


def text(profile: Stored) -> str:
    """The profile as its file holds it."""
    return document.text(profile, ("phases", "functions"))
