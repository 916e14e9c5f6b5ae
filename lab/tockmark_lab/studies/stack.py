# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The study runtimes, its part that no app can see: how deep a kernel's stack gets in the study's
boots, from reset on, by the simulator's instruction trace."""

import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import Annotated

import msgspec

from tockmark.base import documents, paths
from tockmark.base.documents import Count, Part
from tockmark.base.errors import TockmarkError
from tockmark.base.files import check_writable, write_whole
from tockmark.cli import options
from tockmark.cli.program import verb
from tockmark.cli.run_options import KernelClaims, KernelFile
from tockmark.profile.run import instructions, simulators
from tockmark.profile.sample import INSN, MODE
from tockmark.result.provenance import Kernel
from tockmark.show.text import Table, TableColumn, figures
from tockmark.suite import catalogue
from tockmark.target import board as profiles
from tockmark.target.board import BoardProfile
from tockmark.target.elf import read_elf
from tockmark.target.image import AppBuild, build_image
from tockmark.target.kernel import KernelElf
from tockmark.target.protocol import Start
from tockmark.target.results import kernel_provenance, simulator_provenance
from tockmark_lab.folders import STUDIES

CATALOGUE = STUDIES / "runtimes" / "catalogue.toml"
FORM, VERSION = "tockmark-stack", 1
ENDS = (("_stack_bottom", "_stack_top"), ("_sstack", "_estack"))  # symbols of the baseline, of Tock
_POINTER = " x2="  # before the stack pointer's new value
_UPPER = ("37", "17")  # lui and auipc sp: half of a value, which another instruction completes


class StoredStack(Part, frozen=True):
    """The file of one kernel: bytes reserved, and bytes used in each boot."""

    format: str
    version: int
    kernel: Kernel
    board: str
    simulator: dict[str, str]
    tool: str | None  # the commit of the checkout
    reserved: Count
    used: dict[str, Count]


def load(path: Path) -> StoredStack:
    """Read such a file. TockmarkError if it is not one."""
    make = "give a file that `tockmark-lab stack` made"
    return documents.read(path, StoredStack, FORM, VERSION, make)


def reserved(kernel: KernelElf) -> range:
    """Return the addresses that the kernel reserves for its stack."""
    addresses = read_elf(kernel.path).addresses
    for bottom, top in ENDS:
        if bottom in addresses and top in addresses:
            return range(addresses[bottom], addresses[top])
    raise TockmarkError("the kernel does not name its stack", "give a kernel with its symbols")


def deepest(lines: Iterable[str], stack: range) -> int:
    """Return the most bytes of the stack that traced instructions of the kernel used. A process's
    own pointer passes through the kernel, too."""
    least = stack.stop
    for line in lines:
        if _POINTER in line and line[MODE] != "U" and line[INSN][6:] not in _UPPER:
            pointer = int(line.partition(_POINTER)[2][:8], 16)
            if stack.start <= pointer < least:
                least = pointer
    return stack.stop - least


def measure(kernel: KernelElf, board: BoardProfile, boot: catalogue.Boot) -> int:
    """Run a boot, and return how many bytes of its stack the kernel used."""
    out = paths.WRITTEN / "stack" / kernel.sha256[:8]
    image = build_image(boot, AppBuild.built(2, catalogue="runtimes"), kernel, board, out)
    tracing = simulators(board)[1]
    with tempfile.NamedTemporaryFile() as uart:
        start = Start(boot.name, image.flash, icache=True, panics=kernel.panics)
        session = tracing.start_here(start, "--uart", uart.name, "--itrace", "-")
        try:
            used = deepest(instructions(session.lines()), reserved(kernel))
        finally:
            session.stop()
    if why := session.ending().why:
        raise TockmarkError(f"{boot.name}: {why}", "see `tockmark run`")
    return used


@verb(
    "make runtimes && tockmark-lab stack",
    "tockmark-lab stack --kernel ~/tock/earlgrey-cw310.elf --opt-level z -o tock.json",
)
def stack_verb(
    *,
    kernel: KernelFile = None,
    claims: KernelClaims,
    as_json: options.AsJson = False,
    output: Annotated[Path | None, options.output_option("Also store the bytes in a file.")] = None,
) -> None:
    """Show how deep the kernel's stack gets in each boot of the study runtimes."""
    if output is not None:
        check_writable([output], FORM)
    board = profiles.load(profiles.DEFAULT)
    elf = claims.read(kernel or board.kernels[2])
    used = {boot.name: measure(elf, board, boot) for boot in catalogue.load(CATALOGUE).boots()}
    stored = StoredStack(
        FORM,
        VERSION,
        kernel_provenance(elf, None),
        board.name,
        simulator_provenance(board),
        paths.commit_of_checkout(),
        len(reserved(elf)),
        used,
    )
    if as_json:
        options.show(msgspec.to_builtins(stored.used))
    else:
        table = Table([TableColumn("boot", 16, 0, left=True), *figures({"bytes": 8})])
        for name, count in used.items():
            table.add(name, f"{count:,}")
        print("\n".join(table.text(f"Stack used, of {stored.reserved:,} bytes", "")))
    if output is not None:
        write_whole({output: documents.text_of(stored, ())})
