# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Several clients of one server, instances until one is refused, and an instance next to an alarm,
on the baseline. Builds them with `make ladder`."""

import dataclasses
import re
import subprocess
import sys
from pathlib import Path

import products
import pytest

from tockmark.base import paths
from tockmark.result import file
from tockmark.suite import catalogue
from tockmark.target import board as boards
from tockmark.target.image import AppBuild, build_image
from tockmark.target.kernel import app_capacity, read_kernel
from tockmark.target.protocol import Start
from tockmark_lab.folders import STUDIES
from tockmark_lab.studies import instances
from tockmark_lab.studies.ladder import ALLOWED, OWNERS, Rung, check_requests, rungs, screen

CATALOGUE = STUDIES / "ladder" / "catalogue.toml"
BOARD = boards.load(boards.DEFAULT)
SLOTS = 4  # of the baseline kernel
SLICE = 240_000  # its time slice, in cycles
RUNGS = "ladder.closed:set=clients_first_2,ladder2.closed:set=server_first_2"


@pytest.fixture(scope="module", autouse=True)
def built() -> None:
    products.make("ladder")


@pytest.fixture(scope="module")
def climbed(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """Return a result of two boots, and the study's output of it."""
    path = tmp_path_factory.mktemp("ladder") / "ladder.json"
    command = [sys.executable, "-m", "tockmark", "run", "--catalogue", str(CATALOGUE)]
    command += ["--icache", "on", "--only", RUNGS, "-o", str(path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=paths.ROOT)
    assert done.returncode == 0, done.stdout + done.stderr
    return path, screen([("ladder", file.load(path))])


def test_every_request_is_served_and_every_cycle_accounted(climbed: tuple[Path, str]) -> None:
    all_rungs = rungs(file.load(climbed[0]).rows)
    assert {row.id for row, _ in all_rungs} == {"ladder.closed", "ladder2.closed"}
    assert len(all_rungs) == 8
    for row, rung in all_rungs:
        assert check_requests(row) is None
        assert len(rung.requests) == row.asked == 16
        assert sum(rung.cycles[owner] for owner in OWNERS) == rung.window
        assert rung.share("unaccounted") <= ALLOWED
        assert rung.cycles["server"] > 0
    screen = climbed[1]
    assert re.search(r"^clients first, 2 × 4096 ", screen, re.M)
    assert "new IPC, closed loop, i-cache on" in screen


def test_more_bytes_take_the_server_longer_and_clients_wait_for_each_other(
    climbed: tuple[Path, str],
) -> None:
    for same_way in _by_id(climbed[0]).values():
        shares = [rung.share("server") for rung in same_way]
        assert shares == sorted(shares)
    last = _by_id(climbed[0])["ladder.closed"][-1]
    assert last.wait(0.5) > last.requests[0].work  # after the other's request


def _by_id(path: Path) -> dict[str, list[Rung]]:
    rungs_by_id: dict[str, list[Rung]] = {}
    for row, rung in rungs(file.load(path).rows):
        rungs_by_id.setdefault(row.id, []).append(rung)
    return rungs_by_id


def test_a_wrong_answer_is_an_error_of_the_row(tmp_path: Path) -> None:
    """The server returns its input."""
    ladder_catalogue = catalogue.load(CATALOGUE)
    (boot,) = (each for each in ladder_catalogue.boots() if each.name == "ladder-server_first_1")
    image = build_image(
        boot, AppBuild.built(2, catalogue="ladder"), read_kernel(BOARD.kernels[2]), BOARD, tmp_path
    )
    flash = bytearray(image.flash.read_bytes())
    at = image.slots[0].symbols["chacha_words"] - BOARD.flash.base
    flash[at : at + 2] = bytes.fromhex("8280")  # c.ret
    image.flash.write_bytes(flash)
    limits = {"max-cycles": 3_000_000}
    session = BOARD.target.configured(limits).start(Start(boot.name, image.flash, icache=True))
    lines = list(session.lines())
    session.ending()
    text = " ".join(re.sub(r"^#tm \d+ \w+ (?:\+ )?(.*?) *\*.*$", r"\1", line) for line in lines)
    assert re.search(r"fail ladder\.closed .*?call=answer err=WRONG_RESULT", text), text


def test_the_baseline_refuses_an_instance_without_a_slot() -> None:
    attempt = instances.attempt(read_kernel(BOARD.kernels[2]), BOARD, True, SLOTS + 1)
    assert [instance.number for instance in attempt.instances] == [1, 2, 3, 4]
    assert attempt.refused is not None
    assert (attempt.refused.instance, attempt.refused.full) == (SLOTS + 1, "process slots")
    assert (attempt.refused.by, attempt.refused.message) == (
        "the kernel",
        "the kernel takes 4 apps",
    )
    for instance in attempt.instances:
        assert instance.began < instance.first < instance.last
    # They share the core, so one run takes as long as one run of every instance.
    each = attempt.instances[0].per_run
    assert each == pytest.approx(SLOTS * attempt.per_run, rel=0.2)


def test_large_instances_run_out_of_ram_before() -> None:
    attempt = instances.attempt(read_kernel(BOARD.kernels[2]), BOARD, True, 3, stack=40960)
    assert attempt.refused is not None
    assert (attempt.refused.instance, attempt.refused.full) == (3, "RAM")
    assert "does not fit in the RAM" in attempt.refused.message
    assert attempt.refused.ram_left < 40960


def test_an_alarm_waits_for_the_slice_of_the_other_instance() -> None:
    attempt = instances.attempt(read_kernel(BOARD.kernels[2]), BOARD, True, 1, alarm=True)
    (instance,) = attempt.instances
    assert (instance.number, instance.runs, attempt.refused) == (1, instances.LONG_RUNS, None)
    assert attempt.since == (instance.per_run,)
    late = attempt.lateness
    assert attempt.tick < SLICE < late[-1] < SLICE + 10_000
    assert len(late) > 10
    # The instance has the core except during the alarm's upcalls.
    alone = instances.load(STUDIES / "instances" / "data" / "baseline.json").attempts[0].per_run
    assert alone < instance.per_run < 1.05 * alone


def test_a_kernel_for_four_apps_is_refused_boots_of_eight() -> None:
    command = [sys.executable, "-m", "tockmark", "run", "--catalogue", str(CATALOGUE)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=paths.ROOT)
    assert done.returncode == 2
    assert "can run 4 apps" in done.stderr
    assert "make kernel-eight" in done.stderr


def test_slots_are_counted_by_the_type_of_their_table(tmp_path: Path) -> None:
    """For kernels of Tock later than 2.2, whose table has no symbol."""
    kernel = dataclasses.replace(
        read_kernel(BOARD.kernels[2]), words={}, path=tmp_path / "tock.elf"
    )
    elf = BOARD.kernels[2].read_bytes()
    kernel.path.write_bytes(elf + b"\0ProcessArray<4>\0")
    capacity = app_capacity(kernel)
    assert capacity is not None
    assert (capacity.apps, capacity.by) == (4, "the kernel's types")
    kernel.path.write_bytes(elf)
    assert app_capacity(kernel) is None
