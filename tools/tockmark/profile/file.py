# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Store a profile as a file with a line per phase and function.

The file has only what was counted; docs/profiling.md explains the fields.
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
VERSION: Literal[2] = 2  # 1 had no format and stored sums
DEEPEST = 256  # callers of a function; drawing them recurses as deep
MAKE_AGAIN = "make it again with `tockmark profile --json`"


class Share(Part, frozen=True):
    """The cycles and instructions of one phase or function."""

    name: str
    causes: dict[Cause, Positive]  # cycles by cause
    instructions: Count = 0
    in_body: Count = 0  # cycles in the benchmark's body

    @property
    def cycles(self) -> int:
        return sum(self.causes.values())


class Chain(Part, frozen=True):
    """A function in one chain of callers, and its own cycles in one phase."""

    frames: Annotated[
        tuple[Count, ...], Meta(max_length=DEEPEST)
    ]  # indices in the file's list of frames, callers first
    phase: str
    cycles: Positive


class StoredProfile(Part, frozen=True):
    """The whole file.

    Phases, functions and stacks are three views of the same cycles; phases and functions begin with
    the most expensive. Files from before stacks were added have none."""

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
    stacks: tuple[Chain, ...] = ()  # in the order of their first run

    @property
    def label(self) -> str:
        return label(self.id, self.params) + lang_suffix(self.lang)

    @property
    def cycles(self) -> int:
        """The cycles of the sample as the app counted them."""
        return sum(phase.cycles for phase in self.phases)

    @property
    def instructions(self) -> int:
        return sum(phase.instructions for phase in self.phases)

    @property
    def in_body(self) -> int:
        """The cycles in the benchmark's body; the counter reads take the others."""
        return sum(phase.in_body for phase in self.phases)


def hashed_title(kernel: Kernel) -> str:
    """Return a kernel's name and the first digits of its hash, if known."""
    return kernel.title + (f" sha256 {kernel.sha256[:12]}" if kernel.sha256 else "")


def sum_shares(shares: Iterable[Share], name: str) -> Share:
    """Return the sum of some shares, under a name."""
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
    """Return the stored form of a sample."""
    frames: dict[str, int] = {}
    chains: Counter[tuple[tuple[int, ...], str]] = Counter()
    for step in sample:
        chain = tuple(frames.setdefault(str(frame), len(frames)) for frame in step.context.stack)
        chains[chain, step.context.phase] += step.cycles
    return StoredProfile(
        FORMAT,
        VERSION,
        id_,
        icache,
        kernel,
        board,
        _shares(sample, lambda context: context.phase),
        _shares(sample, lambda context: str(context.stack[-1])),
        params,
        lang,
        tuple(frames),
        tuple(Chain(*key, cycles) for key, cycles in chains.items()),
    )


def _shares(sample: Sequence[ChargedStep], name: Callable[[CodeContext], str]) -> tuple[Share, ...]:
    groups: dict[str, list[ChargedStep]] = {}
    for step in sample:
        groups.setdefault(name(step.context), []).append(step)
    shares = []
    for group, members in groups.items():
        charges = [charge for step in members for charge in step.charges]
        by_cause = {cause: sum(n for name, n in charges if name == cause) for cause in CAUSES}
        causes = {cause: cycles for cause, cycles in by_cause.items() if cycles}
        retired = sum(not step.step.trapped for step in members)
        in_body = sum(step.cycles for step in members if step.context.in_body)
        shares.append(Share(group, causes, retired, in_body))
    return tuple(sorted(shares, key=lambda share: -share.cycles))


def load(path: Path) -> StoredProfile:
    """Read and check a profile. Raise TockmarkError if it is invalid."""
    profile = documents.read(path, StoredProfile, FORMAT, VERSION, MAKE_AGAIN)
    if any(frame >= len(profile.frames) for chain in profile.stacks for frame in chain.frames):
        raise TockmarkError(f"{shown(path)}: a stack refers to a missing frame", MAKE_AGAIN)
    return profile


def text(profile: StoredProfile) -> str:
    """Return the profile as the text of its file."""
    return documents.text_of(profile, ("phases", "functions", "stacks"))
