# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The verb `past-bark`: runs the loads of `tockmark latency` whose upcall did not come, until after
the bark of the watchdog. Its interrupt may end the wait.

Tock's watchdog barks 4,294,967 counts of 96 cycles after its last reset, so a boot takes half a
minute. Only the waits are measured, without a trace.
"""

import bisect
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import msgspec
from msgspec.structs import replace
from typer import Option

from tockmark.base import paths
from tockmark.base.documents import Count, Part
from tockmark.base.errors import OK
from tockmark.base.files import write_whole
from tockmark.cli import options
from tockmark.cli.program import verb
from tockmark.latency.chain import ALARM, UART
from tockmark.latency.run import A_BOOT, LatencyOptions, Measurement, RanBoot, RunLoad, loads_for
from tockmark.result.provenance import Kernel
from tockmark.target import board as boards
from tockmark.target.kernel import read_kernel
from tockmark.target.results import kernel_provenance, simulator_provenance

LOADS = (("soon", ALARM), ("behind", ALARM), ("spinners", UART))  # with their chains
MOST = 600_000_000  # cycles of a boot, with a bark


class LongWait(Part, frozen=True):
    """The longest wait under a load, and its stages; without stages, `cycles` is how long an upcall
    was awaited that did not come."""

    load: str
    chain: str
    upcalls: Count
    cycles: Count
    stages: dict[str, Count]


class LongWaits(Part, frozen=True):
    """The waits of a kernel, with the i-cache on."""

    date: str
    kernel: Kernel
    simulator: dict[str, str]
    tool: str | None
    waits: tuple[LongWait, ...]


def longest_wait(kernel: Path, name: str, chain: str) -> LongWait:
    """Run a boot of a load up to the first upcall that was lost, and return its longest wait."""
    elf, board = read_kernel(kernel), boards.load(boards.DEFAULT)
    (load,) = loads_for(elf, [name], chain)

    def measure(load: RunLoad, upcalls: int) -> tuple[Measurement, RanBoot]:
        options = LatencyOptions(elf, board, True, upcalls, (load,), chain=chain)
        measurement = Measurement(options)
        return measurement, measurement.boots(load)[0]

    def is_lost(upcalls: int) -> bool:
        return measure(load, upcalls)[1].never is not None

    upcalls = bisect.bisect_left(range(A_BOOT), True, lo=1, key=is_lost)
    measurement, boot = measure(replace(load, most=MOST), upcalls)
    if boot.never is not None:
        return LongWait(name, chain, upcalls, boot.never.cycles, {})
    worst = max(boot.alarms, key=lambda alarm: alarm.whole)
    names = [stage.name for stage in measurement.family.stage]
    return LongWait(name, chain, upcalls, worst.whole, dict(zip(names, worst.stages, strict=True)))


def load_waits(path: Path) -> LongWaits:
    """Read a file of this verb."""
    return msgspec.json.decode(path.read_bytes(), type=LongWaits)


@verb(
    "tockmark-lab past-bark --kernel tock.elf -o lab/data/past-bark/tock-2.2.json",
    exits={OK: "measured"},
)
def past_bark_verb(
    kernel: Annotated[Path, Option(help="ELF of the kernel.")],
    output: Annotated[Path | None, options.output_option("Also store the waits in a file.")] = None,
) -> None:
    """Measure upcalls that wait until the watchdog barks."""
    board = boards.load(boards.DEFAULT)
    waits = []
    for name, chain in LOADS:
        wait = longest_wait(kernel, name, chain)
        waits.append(wait)
        print(f"{chain} {name}: {'' if wait.stages else 'more than '}{wait.cycles:,} cycles")
    if output is not None:
        measured = LongWaits(
            datetime.now(UTC).date().isoformat(),
            kernel_provenance(read_kernel(kernel), None),
            simulator_provenance(board),
            paths.commit_of_checkout(),
            tuple(waits),
        )
        write_whole({output: msgspec.json.format(msgspec.json.encode(measured), indent=1) + b"\n"})
