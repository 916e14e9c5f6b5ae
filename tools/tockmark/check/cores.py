# SPDX-License-Identifier: Apache-2.0 OR MIT
"""What bare programs took on each core: the form of lab/studies/cores/data/cores.json, which
tools/measure_cores.py writes."""

from typing import Literal

from tockmark import documents, paths
from tockmark.documents import Part, Positive, Sha256
from tockmark.rig.core import Core

STORED = paths.ROOT / "lab" / "studies" / "cores" / "data" / "cores.json"
FORMAT: Literal["tockmark-cores"] = "tockmark-cores"
VERSION: Literal[1] = 1


class BareCount(Part, frozen=True):
    """One run of a program whose answer it found right."""

    program: str
    isa: str  # that it was compiled for
    icache: bool
    simulator_sha256: Sha256
    iterations: Positive
    cycles: Positive  # of all iterations
    instructions: Positive  # of the whole run, start and check of the answer among them
    core: Core | None = None  # None: the machine's own

    @property
    def name(self) -> str:
        """The core's name; empty: the machine's own."""
        return self.core.name if self.core else ""


class StoredCores(Part, frozen=True):
    """All runs, as a file."""

    format: Literal["tockmark-cores"]
    version: Literal[1]
    compiler: str
    rows: tuple[BareCount, ...]


def load() -> tuple[BareCount, ...]:
    """Read the committed counts."""
    return documents.read(STORED, StoredCores, FORMAT, VERSION, "run `make cores`").rows
