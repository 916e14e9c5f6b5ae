# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Figures in sentences that people wrote equal what the committed files give."""

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from pair_draws import PLANTED, Draw, share_detected

import committed
import new_ipc
import opt_levels
from tockmark.base.paths import ROOT
from tockmark.result.model import layout_nets
from tockmark.suite import catalogue as catalogues
from tockmark.suite.selection import screen
from tockmark_lab.folders import DATA, STUDIES
from tockmark_lab.studies import cores
from tockmark_lab.validation import load_validation

KNOWN = catalogues.load()
KERNELS = [committed.committed(f"{name}-cw310") for name in opt_levels.KERNELS]


def moved_by_layout() -> str:
    """Return by how many percent layout moves a row of README's table at most."""
    keys = [key for rows in screen(KNOWN).values() for key in rows.values()]
    runs = [opt_levels.run(kernel, "z") for kernel in ("tock-2.2", "tock-master")]
    columns = [run.result.column(True, "c") for run in runs]
    nets = [layout_nets(column.get(key)) for column in columns for key in keys]
    return f"{100 * max(max(each) / min(each) - 1 for each in nets if each):.0f}"


def equal_counts() -> tuple[str, str]:
    """Return how many counts of the RTL of 2023 the model reproduces, of how many."""
    rows = [row for row in load_validation(DATA / "validation.json") if row.part == "memory"]
    return f"{sum(row.expected == row.measured for row in rows)}", f"{len(rows)}"


def interrupts_off() -> str:
    """Return the longest measured time with interrupts off in a call or an interrupt."""
    stored = json.loads((DATA / "robustness.json").read_text())
    (masked,) = (part["masked"] for part in stored["parts"].values() if part.get("masked"))
    limited = ("system call", "interrupt", "after sleep")
    return f"{max(kinds[kind]['cycles'] for kinds in masked.values() for kind in limited):,}"


@pytest.mark.parametrize(
    ("page", "sentence", "figure"),
    [
        ("README.md", r"layout alone moves these figures by up to (\d+) %", moved_by_layout),
        ("README.md", r"reproduces (\d+) of (\d+) cycle counts", equal_counts),
        ("kernel/README.md", r"an interrupt for at most ([\d,]+) cycles", interrupts_off),
    ],
)
def test_a_figure_in_a_sentence_follows_from_committed_files(
    page: str, sentence: str, figure: Callable[[], object]
) -> None:
    text = " ".join((ROOT / page).read_text(encoding="utf-8").split())
    assert re.findall(sentence, text) == [figure()]


def test_the_smallest_changes_that_pairs_find() -> None:
    folder = STUDIES / "ladder" / "data" / "iterator"
    draws = [Draw.read(name, folder) for name in ("stored", "tuple")]
    page = (ROOT / "docs" / "method.md").read_text(encoding="utf-8")
    for planted in PLANTED:
        cells = []
        for icache, pairs in ((False, 1), (True, 1), (True, 4), (True, 8)):
            shares = {share_detected(draw.rows(icache), pairs, planted) for draw in draws}
            cells.append(" to ".join(sorted(shares)).replace("%", "", len(shares) - 1))
        line = " | ".join(cells).replace("%", " %")
        assert re.search(
            rf"^\| \+{planted:.0%}".replace("%", " %") + rf",.* \| {line} \|$", page, re.M
        )


@pytest.mark.parametrize("icache", [True, False])
def test_the_agreement_of_app_rows_is_counted(icache: bool) -> None:
    """With the cache on, other code evicts lines, so a row without a kernel differs, too."""
    agreement = opt_levels.agreement(icache)
    ratios = {}
    for cached, name in KERNELS[0].rows:
        rows = [run.row(name, icache) for run in KERNELS]
        nets = [row.net for row in rows if row and row.net and row.sound]
        if cached is icache and KNOWN.benchmarks[name.split()[0]].touches == "app":
            ratios[name] = max(nets) / min(nets)
            assert len(nets) == len(KERNELS)
    assert agreement.total == len(ratios)
    assert agreement.widest == max(ratios, key=lambda name: ratios[name])
    assert (agreement.equal < agreement.total) is icache


def test_every_committed_picture_says_that_its_figures_are_simulated() -> None:
    pictures = [*(ROOT / "docs").rglob("*.svg"), *(ROOT / "lab" / "studies").rglob("*.svg")]
    assert len(pictures) > 15
    silent = [picture for picture in pictures if "simulated" not in words_in(picture)]
    assert silent == []


def words_in(picture: Path) -> str:
    return " ".join(re.findall(r"<text[^>]*>([^<]*)", picture.read_text(encoding="utf-8")))


def test_only_eembc_and_ibex_use_eembcs_name() -> None:
    """Its licence forbids the name for changed sources, as Ibex's package has."""
    named = [row.name for row in load_validation(DATA / "validation.json")]
    named += [row.group for row in load_validation(DATA / "validation.json")]
    named += [*cores.PROGRAMS, *(count.program for count in cores.load())]
    assert [name for name in named if "coremark" in name.lower()] == []


@pytest.mark.parametrize("variant", ["stored", "tuple"])
def test_the_iterator_alone_is_a_part_of_what_fairness_adds(variant: str) -> None:
    trip = "ipc2.round_trip size=0"
    alone, all_of_it = new_ipc.iterator_alone(variant, trip), new_ipc.extra_instructions(trip, "z")
    assert 0 < int(alone) < int(all_of_it)
