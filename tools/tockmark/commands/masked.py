# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The verb interrupts-off: the longest time that the baseline kernel runs with interrupts off."""

import json
import tempfile
from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Annotated

import typer

from tockmark.commands.common import AsJson, Debug
from tockmark.commands.verb import Group, add
from tockmark.conformance import availability, check
from tockmark.profile import masked
from tockmark.profile.symbols import Program
from tockmark.profile.traced import simulators
from tockmark.suite.catalogue import Boot
from tockmark.target import board as boards
from tockmark.target.image import read_kernel, with_words
from tockmark.target.protocol import Start

BAUD_115200 = 2083  # cycles of a byte on the UART
MILLISECONDS = 30  # that the apps of a boot work
PANICKING = "on_system_call"  # without its first instruction the first call is a trap in the kernel


@dataclass(frozen=True)
class Scene:
    """A boot that is traced, for its first `cycles`."""

    boot: Boot
    cycles: int
    restarts: int = 0
    panics: bool = False


def _one(name: str, app: str) -> Boot:
    return Boot(name, app, (app,), (), 0, availability.SLICE_US)


SCENES = (
    Scene(availability.boot("lines", "write", 2), 1_000_000),
    Scene(availability.boot("prints", "print", 2), 1_000_000),
    Scene(availability.boot("answers", "notify", 2), 1_000_000),
    Scene(_one("fault", "csrs"), 3_000_000),  # its first access stops it: all registers are told
    Scene(_one("faults", "csrs"), 1_000_000, restarts=99),
    Scene(_one("panic", "victim"), 2_000_000, panics=True),
)


def register(app: typer.Typer) -> None:
    """Add this verb to the command line."""
    add(
        app,
        "interrupts-off",
        interrupts_off_verb,
        Group.CHECK,
        ("make sim-retire && tockmark interrupts-off",),
    )


def interrupts_off_verb(
    abi: Annotated[
        int, typer.Option(min=1, max=2, help="Version of the system-call interface.")
    ] = 2,
    as_json: AsJson = False,
    debug: Debug = False,
) -> None:
    """Show the longest time that the baseline kernel keeps interrupts off, by cause.

    Found in the retired instructions of boots that send, fault and panic, at 115200 baud."""
    found = measure(abi)
    if as_json:
        print(json.dumps({cause: asdict(stretch) for cause, stretch in found.items()}, indent=1))
        return
    print(f"{'cycles':>9}  longest with interrupts off, by what the kernel does, of all boots")
    for cause, stretch in sorted(found.items(), key=lambda item: item[1].cycles):
        print(f"{stretch.cycles:9}  {cause}")


def measure(abi: int) -> dict[str, masked.Stretch]:
    """The longest stretch of each cause in all scenes, in cycles of the simulated CW310."""
    board = boards.load(boards.simulated("cw310"))
    kernel = read_kernel(board.kernels[abi])
    program = Program(kernel.path)
    found: dict[str, masked.Stretch] = {}
    for scene in SCENES:
        patched = kernel
        if scene.panics:
            at, _ = program.symbol(PANICKING)
            patched = with_words(
                replace(kernel, words={**kernel.words, PANICKING: at}), {PANICKING: 0}
            )
        plan = check.Plan(patched, board, abi, (), 0, 1)
        trial = check.Trial(
            scene.boot, check.judge_attempts, scene.cycles, BAUD_115200, MILLISECONDS
        )
        image = check.image_of(plan, trial, scene.restarts)
        for cause, stretch in masked.longest(trace(plan, image.flash, scene), program).items():
            if cause not in found or stretch.cycles > found[cause].cycles:
                found[cause] = stretch
    return found


def trace(plan: check.Plan, flash: Path, scene: Scene) -> Iterator[str]:
    """The instructions of a boot, as far as the scene goes; how it ends is of no interest."""
    limits = {"max-cycles": scene.cycles, "uart-cycles": BAUD_115200}
    target = simulators(plan.board)[1].configured(limits)
    with tempfile.NamedTemporaryFile() as uart:
        tracing = target.start_here(
            Start(scene.boot.name, flash, True), "--uart", uart.name, "--itrace", "-"
        )
        try:
            yield from tracing.lines()
        finally:
            tracing.stop()
            tracing.ending()
