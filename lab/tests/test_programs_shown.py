# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The output on whole programs: ratios to the bare core by layout, their means, and ratios below
1."""

from dataclasses import replace

import pytest

from tockmark.result.build import Context, build, merge_layouts
from tockmark.result.model import Result
from tockmark.result.provenance import Board, Kernel, Layout
from tockmark.suite import catalogue
from tockmark.suite.catalogue import Params
from tockmark.tests.rows import app_of, stored
from tockmark.wire.boots import Measured, MeasuredBoot
from tockmark.wire.rows import StoredRow
from tockmark_lab.folders import STUDIES
from tockmark_lab.studies import programs

KNOWN = catalogue.load(STUDIES / "programs" / "catalogue.toml")
READ = 100
BOARD = Board("made-up", "cw310", 24_000_000, "unchecked", None, 16)


def row(id_: str, params: Params, net: int, instructions: int = 1000) -> StoredRow:
    cycles, instret = [READ + net] * 2, [10 + instructions] * 2
    return stored(id_, {"cycles": cycles, "instret": instret}, params, 2)


def result(
    kernel: str, nets: dict[str, list[int]], icache: bool, instructions: int = 1000
) -> Result:
    """Make a result from the nets of each program and load, one net per layout."""
    results = []
    for layout in range(len(next(iter(nets.values())))):
        rows = [stored("time.read", {"cycles": [READ] * 2, "instret": [10] * 2}, {}, 2)]
        for name, many in nets.items():
            id_, load = name.split(" ")
            rows.append(row(id_, {"beside": load}, many[layout], instructions))
        booted = MeasuredBoot(
            "towers", icache, "towers", {"towers": app_of("towers", rows, lang="c", abi="2")}
        )
        context = Context(
            Kernel(kernel), BOARD, 2, layouts=(Layout("k.elf", "ab" * 32, None, layout),)
        )
        results.append(build(Measured([booted]), KNOWN, context, expected=()))
    return merge_layouts(results)


def cells(*results: Result, icache: bool) -> dict[str, list[str]]:
    """Return the cells of a table by program."""
    kernels = programs.group_by_kernel(results)
    return {head: list(rest) for head, *rest in programs.program_table(kernels, KNOWN, icache).rows}


def test_ratios_compare_the_same_layout_and_show_the_median() -> None:
    bare = result("bare (no kernel)", {"towers.solve none": [1000, 2000, 4000]}, True)
    nets = {"towers.solve none": [1010, 2200, 4004], "towers.solve alarm": [1500, 3000, 8000]}
    shown_cells = cells(result("Tock 2.2, patched", nets, True), bare, icache=True)
    assert shown_cells["towers.solve, C"] == ["2,000", "1.010", "1.500"]


def test_the_mean_is_geometric_over_programs_per_layout() -> None:
    names = ("towers.solve none", "qsort.sort none")
    bare = result("bare (no kernel)", {name: [1000, 1000] for name in names}, True)
    nets = {names[0]: [1000, 4000], names[1]: [4000, 1000]}
    shown_cells = cells(bare, result("Tock", nets, True), icache=True)
    assert shown_cells["Geometric mean"][1:] == ["2.000", "-"]


@pytest.mark.parametrize(
    ("icache", "instructions", "mark"), [(True, 1000, "~"), (True, 900, "!"), (False, 1000, "!")]
)
def test_a_ratio_below_1_comes_from_the_cache_or_is_an_error(
    icache: bool, instructions: int, mark: str
) -> None:
    bare = result("bare (no kernel)", {"towers.solve none": [1000]}, icache)
    isolated = result("Tock", {"towers.solve none": [990]}, icache, instructions)
    assert cells(bare, isolated, icache=icache)["towers.solve, C"][1] == f"0.990{mark}"


def test_without_a_bare_result_a_kernel_is_compared_with_itself_alone() -> None:
    nets = {"towers.solve none": [1000], "towers.solve alarm": [1300]}
    shown_cells = cells(result("Tock", nets, True), icache=True)
    assert shown_cells["towers.solve, C"] == ["1,000", "1.000", "1.300"]


def test_starved_runs_next_to_an_alarm_are_counted_apart() -> None:
    """A run of two periods has one to three alarms of 5,000 instructions by its phase; one without
    any is starved. The cost is the mean of the others."""
    period, alarm = programs.PERIOD, (20_000, 5000)
    counts = [2, 2, 3, 0, 1]  # the first is the cold sample
    samples = {
        "cycles": [READ + 2 * period + alarm[0] * count for count in counts],
        "instret": [10 + 1000 + alarm[1] * count for count in counts],
    }
    tock = result("Tock", {"towers.solve none": [2 * period]}, True)
    reads = stored("time.read", {"cycles": [READ] * 5, "instret": [10] * 5}, {}, 5)
    rows = [reads, stored("towers.solve", samples, {"beside": "alarm"}, 5)]
    app = app_of("towers", rows, lang="c", abi="2")
    booted = MeasuredBoot("towers-alarm", True, "towers", {"towers": app})
    other = build(Measured([booted]), KNOWN, Context(Kernel("Tock"), BOARD, 2), expected=())
    (kernel,) = programs.group_by_kernel([tock, other])
    key = programs.ProgramKey("towers.solve", "", "c")
    assert kernel.of_an_alarm == alarm[1]
    assert kernel.starved(key, True) == (1, 4)
    ratios = kernel.ratios(kernel, key, programs.WITH_ALARM, True)
    assert ratios is not None
    assert ratios.median == pytest.approx(1 + 2 * alarm[0] / (2 * period))


def test_the_period_is_that_of_the_app() -> None:
    source = (STUDIES / "programs" / "apps" / "c" / "ticker.c").read_text()
    assert f"#define PERIOD_CYCLES {programs.PERIOD}\n" in source


def test_results_of_one_kernel_share_a_column_and_bare_comes_first() -> None:
    tock = result("Tock", {"towers.solve none": [1000]}, True)
    other = result("Tock", {"qsort.sort none": [1000]}, True)
    bare = result("bare (no kernel)", {"towers.solve none": [1000]}, True)
    ours = result("tockmark-baseline 0.1.0 abi2 cw310", {"towers.solve none": [1000]}, True)
    kernels = programs.group_by_kernel([ours, tock, bare, other])
    assert [kernel.name for kernel in kernels] == ["bare", "Tock", "baseline"]
    assert len(kernels[1].rows) == 2
    text = programs.screen([("a.json", tock), ("b.json", replace(bare))])
    assert "Whole programs, i-cache on" in text
    assert "towers.solve, C" in text
