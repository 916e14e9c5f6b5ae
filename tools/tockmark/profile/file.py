# SPDX-License-Identifier: Apache-2.0 OR MIT
"""This keeps a profile as a file: what each phase and each function took, a line each.

Only what was counted is in it; docs/profiling.md tells what the fields mean.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from tockmark.base import documents
from tockmark.base.documents import Count, Part, Positive
from tockmark.base.errors import TockmarkError
from tockmark.base.paths import shown
from tockmark.profile.sample import CAUSES, Cause, ChargedStep, CodeContext
from tockmark.result.provenance import Kernel
from tockmark.suite.catalogue import Lang, Params, label, lang_suffix

FORMAT: Literal["tockmark-profile"] = "tockmark-profile"
VERSION: Literal[2] = 2  # 1 had no format, and every sum beside what it is of
DEEPEST = 256  # callers of a function: what draws them goes as deep itself
MAKE_AGAIN = "make it anew with `tockmark profile --json`"


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
    """The whole file. Phases, functions and stacks are the same cycles; of the first two the costly
    ones come first. Files that were made before there were stacks have none."""

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
        return label(self.id, self.params) + lang_suffix(self.lang)

    @property
    def cycles(self) -> int:
        """Return the cycles of the sample, as the app counted them."""
        return sum(phase.cycles for phase in self.phases)

    @property
    def instructions(self) -> int:
        return sum(phase.instructions for phase in self.phases)

    @property
    def in_body(self) -> int:
        """The cycles that the benchmark's body took: the others are the readings' around it."""
        return sum(phase.in_body for phase in self.phases)

    def cycles_of_cause(self, cause: Cause) -> int:
        """Return the cycles of the sample that went to one cause."""
        return sum(phase.causes.get(cause, 0) for phase in self.phases)


def hashed_title(kernel: Kernel) -> str:
    """Return a kernel's name and the beginning of its hash, if that is known."""
    return kernel.title + (f" sha256 {kernel.sha256[:12]}" if kernel.sha256 else "")


def sum_shares(shares: Iterable[Share], name: str) -> Share:
    """Return what these took together."""
    causes: Counter[Cause] = Counter()
    instructions = in_body = 0
    for share in shares:
        causes.update(share.causes)
        instructions += share.instructions
        in_body += share.in_body
    return Share(name, dict(causes), instructions, in_body)


def stored_profile(
    sample: Sequence[ChargedStep],
    id_: str,
    params: Params,
    icache: bool,
    kernel: Kernel,
    board: str,
    lang: Lang = "c",
) -> StoredProfile:
    """Return what the file keeps of a sample."""
    frames: dict[str, int] = {}
    chains: Counter[tuple[tuple[int, ...], str]] = Counter()
    for one in sample:
        chain = tuple(frames.setdefault(str(frame), len(frames)) for frame in one.place.stack)
        chains[chain, one.place.phase] += one.cycles
    return StoredProfile(
        FORMAT,
        VERSION,
        id_,
        icache,
        kernel,
        board,
        _shares(sample, lambda place: place.phase),
        _shares(sample, lambda place: str(place.stack[-1])),
        params,
        lang,
        tuple(frames),
        tuple(Chain(*key, cycles) for key, cycles in chains.items()),
    )


def _shares(sample: Sequence[ChargedStep], name: Callable[[CodeContext], str]) -> tuple[Share, ...]:
    groups: dict[str, list[ChargedStep]] = {}
    for one in sample:
        groups.setdefault(name(one.place), []).append(one)
    found = []
    for group, members in groups.items():
        charges = [charge for one in members for charge in one.charges]
        by_cause = {cause: sum(n for of, n in charges if of == cause) for cause in CAUSES}
        causes = {cause: cycles for cause, cycles in by_cause.items() if cycles}
        retired = sum(not one.step.trapped for one in members)
        in_body = sum(one.cycles for one in members if one.place.in_body)
        found.append(Share(group, causes, retired, in_body))
    return tuple(sorted(found, key=lambda share: -share.cycles))


def load(path: Path) -> StoredProfile:
    """Read and check a profile."""
    found = documents.read(path, StoredProfile, FORMAT, VERSION, MAKE_AGAIN)
    phases, functions = sum_shares(found.phases, ""), sum_shares(found.functions, "")
    for of in ("cycles", "instructions", "in_body"):
        by_phase, by_function = getattr(phases, of), getattr(functions, of)
        if by_phase != by_function:
            raise TockmarkError(
                f"{shown(path)}: {by_phase} {of} by phase, but {by_function} by function",
                MAKE_AGAIN,
            )
    if found.stacks and sum(chain.cycles for chain in found.stacks) != found.cycles:
        raise TockmarkError(
            f"{shown(path)}: the stacks have not the cycles of the sample", MAKE_AGAIN
        )
    if any(place >= len(found.frames) for chain in found.stacks for place in chain.frames):
        raise TockmarkError(
            f"{shown(path)}: a stack has a frame that is not in the list", MAKE_AGAIN
        )
    return found


def text(profile: StoredProfile) -> str:
    """Return the profile as its file holds it."""
    return documents.text_of(profile, ("phases", "functions", "stacks"))
