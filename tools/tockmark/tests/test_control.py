# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Controls are rows that measure nothing. A control that is not near 0 is an error."""

from collections.abc import Sequence
from dataclasses import replace

import pytest
from msgspec import structs

from tockmark import BASELINE
from tockmark.result.build import NO_NEW_IPC, Context, build
from tockmark.result.model import Result, Row, range_ends, with_readings
from tockmark.result.provenance import Kernel
from tockmark.show import table
from tockmark.suite.catalogue import load
from tockmark.tests.rows import app_of, stored
from tockmark.wire.boots import Measured, MeasuredBoot
from tockmark.wire.rows import Absent

KNOWN = load()
READ = 1000


def made(icache: bool, *, off: int = 0, further: tuple[int, ...] = (), net: int = 50) -> Result:
    """Return a boot whose control is off by `off` in the first layout, by `further` in others."""
    values = {"time.read": READ, "call.void": READ + net, "null.sample": READ + off}
    series_by_id = {
        id_: {"cycles": [value] * 9, "instret": [100] * 9} for id_, value in values.items()
    }
    app = app_of("call", [stored(id_, series) for id_, series in series_by_id.items()])
    boot = MeasuredBoot("call", icache, "call", {"call": app})
    result = build(Measured([boot]), KNOWN, Context(), expected=())
    counts = {
        "null.sample": [READ + extra for extra in further],
        "time.read": [READ] * len(further),
        "call.void": [READ + net] * len(further),
    }
    rows = [in_layouts(row, counts.get(row.id, [])) for row in result.rows]
    return replace(result, rows=with_readings(rows))


def in_layouts(row: Row, counts: Sequence[int]) -> Row:
    """Add layouts with these cycles to a row."""
    further = [{"cycles": (count,) * 9, "instret": (100,) * 9} for count in counts]
    samples = (row.samples[0], *further)
    return structs.replace(row, samples=samples, readings=({},) * len(samples))


@pytest.mark.parametrize(
    ("icache", "off", "further", "error"),
    [
        (False, 1, (), None),
        (False, -1, (1, 1), None),
        (False, 2, (), "net cycles is 2, not 0 within 1"),
        (False, 0, (0, -3), "net cycles is -3, not 0 within 1"),
        (True, 55, (), None),  # one layout alone has no limit
        (True, 20, (20, -20), None),
        (True, 50, (0, 0), None),
        (True, 51, (0, 0), None),  # subtracted in its layout
        (True, 21, (-22, 0), "net cycles is off by 21 in the median over layouts (limit 2 %)"),
    ],
)
def test_a_control_that_fails_is_named(
    icache: bool, off: int, further: tuple[int, ...], error: str | None
) -> None:
    cache = "" if icache else " (i-cache off)"
    expected = (f"invalid row: call{cache}: null.sample: {error}",) if error else ()
    assert made(icache, off=off, further=further).incomplete == expected


def test_the_control_error_is_the_largest_deviation() -> None:
    assert made(True, off=7, further=(-9, 3)).control_error(True, "c") == 9
    assert made(True, off=7, further=(-51, 3)).control_error(True, "c") == 7  # -51 is corrected
    assert made(True).control_error(True, "c") == 0
    assert made(True).control_error(False, "c") is None


@pytest.mark.parametrize(("icache", "allowed"), [(False, 1), (True, 50)])
def test_a_net_may_be_below_zero_by_the_limit_of_a_control(icache: bool, allowed: int) -> None:
    assert made(icache, net=-allowed).incomplete == ()
    (why,) = made(icache, net=-allowed - 1).incomplete
    assert why.endswith(f"call.void: net cycles is {-allowed - 1}, below zero")


def test_tables_omit_controls_and_results_keep_them() -> None:
    result = made(False, off=5)
    assert [row.id for row in result.table.values()] == ["time.read", "call.void"]
    assert [row.id for row in result.rows] == ["time.read", "call.void", "null.sample"]


def test_a_boot_needs_the_controls_for_every_counter_read_of_its_rows() -> None:
    boots = {boot.name: KNOWN.reference_ids(boot) for boot in KNOWN.boots()}
    assert boots["call"] == ["time.read", "null.sample"]
    assert boots["irq-busy"] == ["time.read", "null.sample", "null.mark"]
    assert boots["slices"] == ["time.read", "time.reading", "null.sample", "null.reading"]
    assert boots["time"] == boots["slices"]


def test_a_control_that_is_off_replaces_the_overhead() -> None:
    """Only rows of its boot, in the layouts and series where it is off, are affected."""
    within, beyond = made(False, off=1), made(False, off=24, further=(0, 24), net=60)
    (row,) = (row for row in within.rows if row.id == "call.void")
    assert (row.net, row.series_from_control) == (50, [])
    (row,) = (row for row in beyond.rows if row.id == "call.void")
    assert (row.net, row.series_from_control) == (36, ["cycles"])
    assert row.instructions == 0
    assert range_ends(row) == [(36, "†"), (60, "")]
    assert table.format_range(row) == "36†–60"
    (control,) = (control for control in beyond.controls if control.counter == "cycles")
    assert control.nets == (24, 0, 24)


@pytest.mark.parametrize(("kernel", "listed"), [("Tock 2.2", "skipped"), (BASELINE, "failed")])
def test_rows_of_the_new_ipc_are_skipped_only_on_a_kernel_of_others(
    kernel: str, listed: str
) -> None:
    app = app_of("ipc2", [], lang="c", abi="2")
    app.absent_rows.append(("fail", Absent("ipc2.request", "ipc2", why=NO_NEW_IPC)))
    boots = Measured([MeasuredBoot("ipc2-server_first", True, "ipc2", {"ipc2": app})])
    result = build(boots, load(), Context(Kernel(kernel)), expected=())
    lists = {"skipped": result.skipped, "failed": result.failed}
    assert [row.id for row in lists.pop(listed)] == ["ipc2.request"]
    assert lists.popitem()[1] == ()
