# SPDX-License-Identifier: Apache-2.0 OR MIT
"""What is said beside a verdict: where the rows that moved most did, what the kernels hold, how
deep their stacks get. Nothing of it decides, so what cannot be had is a note."""

from collections.abc import Sequence
from pathlib import Path

from tockmark import profile
from tockmark.errors import TockmarkError
from tockmark.judging import stack, where
from tockmark.judging.contents import sizes
from tockmark.judging.engine import Judged
from tockmark.judging.report import Report
from tockmark.judging.sides import How
from tockmark.target.image import Kernel


def explained(
    judged: Judged,
    titles: tuple[str, str],
    kernels: Sequence[Kernel],
    how: How,
    folder: Path,
    most: int,
) -> Report:
    """The report on a verdict; `most` rows are profiled; with 0 there are no
    depths of stacks either. After Ctrl-C what is there is kept."""
    base, head = kernels
    found = Report(
        judged,
        titles,
        folder,
        sizes(base.path, head.path),
    )
    if not most:
        return found
    sides = [
        profile.Options(kernel, how.board, how.apps, True, "", {}, folder / name)
        for kernel, name in zip(kernels, judged.names, strict=True)
    ]
    try:
        profile.simulators(how.board)
        for row in where.dearest(judged.moved, most, how.catalogue):
            try:
                found.where.append(where.between(row, sides, how.catalogue))
            except TockmarkError as error:
                found.notes.append(f"no profile of {row.name}: {error}")
        depths = [stack.depth(options, how.catalogue) for options in sides]
        found.stacks.extend(depths)
    except TockmarkError as error:
        found.notes.append(f"neither profiles nor stacks: {error}")
    except KeyboardInterrupt:
        found.notes.append("interrupted behind the verdict: it has no profiles and stacks, or few")
    return found
