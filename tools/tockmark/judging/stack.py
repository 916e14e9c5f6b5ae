# SPDX-License-Identifier: Apache-2.0 OR MIT
"""How deep the stacks get: the least stack pointer in the trace of every instruction of a boot.

Only the simulator with the retirement port has that trace. The kernel's stack is what its symbols
say; a process's ends where its app's stack begins. RISC-V programs keep nothing below the stack
pointer, so it tells all.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from tockmark import profile
from tockmark.suite.catalogue import Catalogue
from tockmark.target.elf import read_elf
from tockmark.target.image import Image, build_image
from tockmark.target.protocol import Start

BOOTS = ("syscall", "ipc-server_first")  # which between them come through most of the kernel
KERNELS = (("_sstack", "_estack"), ("_stack_bottom", "_stack_top"))  # Tock's, the baseline's
APP_TOP = "_stack_top"
SAMPLES = 9
INSN = slice(33, 41)  # where the instruction stands in a line of the trace, right-aligned
UPPER = ("17", "37")  # how auipc and lui to x2 end: the sp that they set lacks its lower bits


@dataclass(frozen=True)
class Depth:
    """Bytes in use at most, in any of the boots."""

    kernel: int | None  # None: its symbols do not say where its stack is
    app: int


def depth(options: profile.Options, catalogue: Catalogue) -> Depth:
    """Of a kernel and the apps on it. TockmarkError if the simulator for it is not built."""
    _, tracing = profile.simulators(options.board)
    symbols = read_elf(options.kernel.path).addresses
    own = next(
        (
            (symbols[low], symbols[high])
            for low, high in KERNELS
            if low in symbols and high in symbols
        ),
        None,
    )
    deepest = {"kernel": 0, "app": 0}
    out = options.out / "stack"
    boots = {boot.name: boot for boot in catalogue.boots()}
    for name in BOOTS:
        image = build_image(
            boots[name],
            options.apps,
            options.kernel,
            options.board,
            out,
            {"tm_most_samples": SAMPLES},
        )
        start = Start(name, image.flash, options.icache)
        session = tracing.start_here(start, "--uart", str(out / "uart.log"), "--itrace", "-")
        try:
            found = least(session.lines(), own, _tops(image))
        finally:
            session.stop()
        deepest = {whose: max(deepest[whose], found[whose]) for whose in deepest}
    return Depth(deepest["kernel"] if own else None, deepest["app"])


def least(
    lines: Iterable[str], kernel: tuple[int, int] | None, apps: Iterable[tuple[int, int]]
) -> Mapping[str, int]:
    """The bytes of stack in use at most by the lines of a trace. A stack is its least address and
    its top; what lies in none is no stack."""
    found = {"kernel": 0, "app": 0}
    stacks = list(apps)
    for line in lines:
        _, set_, value = line.partition(" x2=")
        if not set_:
            continue
        pointer = int(value[:8], 16)
        if line[INSN][-2:] in UPPER:
            continue  # half of an address on its way
        if line[22:23] == "U":
            tops = [top for bottom, top in stacks if bottom <= pointer < top]
            found["app"] = max(found["app"], *(top - pointer for top in tops), 0)
        elif kernel is not None and kernel[0] <= pointer < kernel[1]:
            found["kernel"] = max(found["kernel"], kernel[1] - pointer)
    return found


def _tops(image: Image) -> list[tuple[int, int]]:
    """The stacks of an image's apps."""
    return [(slot.ram_start, slot.symbols[APP_TOP]) for slot in image.slots]
