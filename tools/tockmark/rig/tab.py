# SPDX-License-Identifier: Apache-2.0 OR MIT
"""One TAB for several boards. A TAB is an archive of `metadata.toml` and of programs, each called
as its architecture, with anything behind a dot: tockloader installs the one that fits a board. Our
apps are linked for fixed addresses, so that each board has a program of its own.
"""

import io
import tarfile
from collections.abc import Sequence
from pathlib import Path

from tockmark.errors import TockmarkError
from tockmark.files import reading
from tockmark.paths import shown
from tockmark.rig.image import tbfs

TODO = "give folders that `tockmark board image` laid"


def join(tab: Path, others: Sequence[Path]) -> None:
    """Put the programs of other TABs into this one, called by their addresses, too. TockmarkError
    for one that has its addresses already."""
    held = _members(tab)
    for other in others:
        for name, content in _members(other).items():
            if not name.endswith(".tbf"):
                continue
            arch, (program,) = name.partition(".")[0], tbfs(content, 0, 0)[:1]
            called = f"{arch}.{program.flash or 0:#010x}.{program.ram or 0:#010x}.tbf"
            if called in held:
                raise TockmarkError(f"{shown(other)} is for the addresses of another", TODO)
            held[called] = content
    with tarfile.open(tab, "w", format=tarfile.USTAR_FORMAT) as archive:
        for name, content in held.items():
            member = tarfile.TarInfo(name)
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))


def _members(tab: Path) -> dict[str, bytes]:
    """Return what a TAB holds, by name."""
    try:
        with reading(tab, TODO), tarfile.open(tab, "r:") as archive:
            files = [(one.name, archive.extractfile(one)) for one in archive if one.isfile()]
            return {name: content.read() for name, content in files if content is not None}
    except (tarfile.TarError, EOFError, ValueError) as error:
        raise TockmarkError(f"{shown(tab)} is no TAB: {error}", TODO) from error
