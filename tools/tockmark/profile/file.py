# SPDX-License-Identifier: Apache-2.0 OR MIT
"""A profile as a file: what each phase and each function took of the sample, a line each.

Only what was counted is in it; docs/profiling.md tells what the fields mean.
"""

from pathlib import Path
from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from tockmark import documents
from tockmark.documents import Count, Part, Positive
from tockmark.errors import TockmarkError
from tockmark.paths import shown
from tockmark.profile.attribute import CAUSES, Profile, ProfileLine
from tockmark.profile.report import function
from tockmark.result.provenance import Kernel
from tockmark.suite.catalogue import Lang, Params, aside, label

Cause = Literal["execute", "fetch", "load/store", "branch", "mul/div", "trap/CSR"]

FORMAT: Literal["tockmark-profile"] = "tockmark-profile"
VERSION: Literal[2] = 2  # 1 had no format, and every sum beside what it is of
DEEPEST = 256  # callers of a function: what draws them goes as deep itself
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


class Chain(Part, frozen=True):
    """A function in one chain of callers, and the cycles that it took itself in one phase."""

    frames: Annotated[
        tuple[Count, ...], Meta(max_length=DEEPEST)
    ]  # places in the file's list of frames, callers first
    phase: str
    cycles: Positive


class StoredProfile(Part, frozen=True):
    """The whole file. Phases, functions and stacks are the same cycles, of the first two the costly
    ones first; of files that were made before there were stacks, these are not there."""

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
    frames: tuple[str, ...] = ()  # the functions of the stacks
    stacks: tuple[Chain, ...] = ()  # in the order in which they first ran

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
) -> StoredProfile:
    """What the file keeps of a profile."""
    return StoredProfile(
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
        *_stacks(made),
    )


def _stacks(made: Profile) -> tuple[tuple[str, ...], tuple[Chain, ...]]:
    """The functions, and the chains of them that ran."""
    frames: dict[str, int] = {}
    chains: dict[tuple[tuple[int, ...], str], int] = {}
    for charge in sorted(made.charges, key=lambda charge: charge.step):
        place = made.places[charge.step]
        stack = tuple(frames.setdefault(str(frame), len(frames)) for frame in place.stack)
        chains[stack, place.phase] = chains.get((stack, place.phase), 0) + charge.cycles
    return tuple(frames), tuple(Chain(*key, cycles) for key, cycles in chains.items())


def _shares(lines: dict[str, ProfileLine]) -> tuple[Share, ...]:
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


def load(path: Path) -> StoredProfile:
    """Read and check a profile."""
    found = documents.read(path, StoredProfile, FORMAT, VERSION, ANEW)
    for of in ("cycles", "instructions", "in_body"):
        by_phase, by_function = (
            sum(getattr(share, of) for share in shares)
            for shares in (found.phases, found.functions)
        )
        if by_phase != by_function:
            raise TockmarkError(
                f"{shown(path)}: {by_phase} {of} by phase, but {by_function} by function", ANEW
            )
    if found.stacks and sum(chain.cycles for chain in found.stacks) != found.cycles:
        raise TockmarkError(f"{shown(path)}: the stacks have not the cycles of the sample", ANEW)
    if any(place >= len(found.frames) for chain in found.stacks for place in chain.frames):
        raise TockmarkError(f"{shown(path)}: a stack has a frame that is not in the list", ANEW)
    return found


def text(profile: StoredProfile) -> str:
    """The profile as its file holds it."""
    return documents.text_of(profile, ("phases", "functions", "stacks"))
