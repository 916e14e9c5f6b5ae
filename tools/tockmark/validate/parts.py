# SPDX-License-Identifier: Apache-2.0 OR MIT
"""What a part is to the runner: its name, its machines, and what makes its jobs."""

from collections.abc import Callable
from dataclasses import dataclass

from tockmark.validate.row import Row

Job = Callable[[], list[Row]]


@dataclass(frozen=True)
class Part:
    """A part; a job builds and runs one program, or a few, and returns rows."""

    name: str
    machines: tuple[str, ...]
    jobs: Callable[[], list[Job]]
