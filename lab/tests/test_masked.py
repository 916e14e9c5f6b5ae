# SPDX-License-Identifier: Apache-2.0 OR MIT
"""How long interrupts are off: both kernels' bounds can be computed, traced boots keep within them,
and what does not is told by name.

Builds what `make profile` makes, which takes a minute the first time.
"""

from dataclasses import replace
from pathlib import Path

import msgspec
import pytest
import variants
from products import make

from tockmark.errors import TockmarkError
from tockmark.profile.run import kernel_of
from tockmark.profile.sample import HEADING
from tockmark.profile.symbols import Program
from tockmark.rig import board as boards
from tockmark.rig.kernel import read_kernel
from tockmark_lab import bounds, conformance, interrupts_off
from tockmark_lab.bounds import BoundedKernel, Model
from tockmark_lab.interrupts_off import Scene, Stretches, StretchWatch

SHORT = 600_000  # cycles of a boot


def plan_of(abi: int) -> conformance.Plan:
    make("profile")
    board = boards.load(boards.simulated("cw310"))
    return conformance.Plan(read_kernel(board.kernels[abi]), board, abi, (), 0, 1)


@pytest.fixture(scope="module")
def watched() -> StretchWatch:
    """A kernel of version 2 that a boot was searched on."""
    plan = plan_of(2)
    watch = StretchWatch(BoundedKernel(kernel_of(plan.kernel), plan.abi))
    follow(watch, plan, replace(interrupts_off.search(1), cycles=SHORT))
    return watch


def follow(watch: StretchWatch, plan: conformance.Plan, scene: Scene) -> None:
    flash = interrupts_off.image_of(plan, scene, watch.kernel.program)
    watch.follow(interrupts_off.trace(plan, flash, scene), scene.boot.name)


def test_every_stretch_of_the_other_version_has_a_bound() -> None:
    kernel = BoundedKernel(kernel_of(plan_of(1).kernel), 1)
    for root in kernel.roots:
        if root.name not in kernel.notes.own:
            assert 0 < Model(kernel, root).bound().cycles <= bounds.MOST_CYCLES


def test_only_loading_faults_and_panics_may_take_longer(watched: StretchWatch) -> None:
    assert watched.kernel.notes.own.keys() == {bounds.START, bounds.FAULT, bounds.PANIC}


def test_the_baseline_keeps_its_bounds(watched: StretchWatch) -> None:
    found: Stretches = interrupts_off.judged(watched)
    assert found.lost == []
    reached = {one.kind for one in found.held if one.worst.instructions == one.bound.instructions}
    assert len(reached) > 4  # such that have one path only


def test_what_is_found_above_a_bound_is_lost(watched: StretchWatch) -> None:
    kind = "read-only allow"
    worst = watched.worst[kind]
    watched.worst[kind] = replace(worst, cycles=9999)
    assert f"{kind}: 9999 cycles in search-1, above the bound of" in "".join(
        interrupts_off.judged(watched).lost
    )
    watched.worst[kind] = worst


def test_a_loop_that_runs_oftener_is_told_by_name(watched: StretchWatch) -> None:
    plan, kernel = plan_of(2), watched.kernel
    notes = kernel.notes
    few = [
        msgspec.structs.replace(note, most="8") if note.at == "ipc::find" else note
        for note in notes.loop
    ]
    kernel.notes = msgspec.structs.replace(notes, loop=few)
    watch = StretchWatch(kernel)
    follow(watch, plan, replace(interrupts_off.search(1), cycles=SHORT))
    kernel.notes = notes
    assert any("the loop of ipc::find" in line and "than 8" in line for line in watch.lost)


def test_a_path_that_is_too_long_is_told_by_name(watched: StretchWatch) -> None:
    kernel = watched.kernel
    known = dict(kernel.constants._known)
    kernel.constants._known["NAME_BYTES"] = 60_000
    root = next(root for root in kernel.roots if root.name == "IPC 1")
    long = {"IPC 1": Model(kernel, root)}
    kernel.constants._known = known
    models, watched.models = watched.models, long
    (line,) = interrupts_off.judged(watched).lost
    watched.models = models
    assert line.startswith("IPC 1: bounded by ")
    assert line.endswith(" cycles, above 10000")


def test_another_traces_form_is_refused(watched: StretchWatch) -> None:
    with pytest.raises(TockmarkError, match="another form"):
        watched.follow([HEADING[1:]], "a boot")


LONGER = {  # queues, and a loop that goes on as an app likes
    "upcall.rs": ("pub const PER_SENDER: usize = 3;", "pub const PER_SENDER: usize = 100;"),
    "syscall.rs": (
        "10 | 11 => return self.give(Return::Success),",
        "10 | 11 => {\n"
        "    let mut left = argument;\n"
        "    while left != 7 { left = left.rotate_left(operation) ^ argument; }\n"
        "    return self.give(Return::U32(left));\n"
        "}",
    ),
}


def test_a_kernel_whose_calls_take_longer_is_told_by_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CARGO_PROFILE_RELEASE_DEBUG", "line-tables-only")
    program = Program(variants.build(tmp_path, LONGER))
    kernel = BoundedKernel(program, 2, tmp_path / "kernel" / "src")
    roots = {root.name: root for root in kernel.roots}
    assert Model(kernel, roots["subscribe"]).bound().cycles > bounds.MOST_CYCLES
    with pytest.raises(TockmarkError, match=r"the loop at .* in syscall::memop .* has no bound"):
        Model(kernel, roots["memop 10"])
