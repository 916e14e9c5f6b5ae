# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Another core: kernels that cannot run on it are refused, and headings and comparisons name it."""

from pathlib import Path

import msgspec
import pytest

from tockmark.base.errors import TockmarkError
from tockmark.compare.limits import Margins
from tockmark.compare.pairs import compare
from tockmark.compare.verdict import judge_comparison
from tockmark.result.provenance import Board, Core
from tockmark.show import comparison, table
from tockmark.suite.catalogue import Catalogue
from tockmark.target.kernel import RESTARTS_WORD, SLICE_WORD, KernelElf, check_core
from tockmark.tests.of_samples import CALM, SIMULATED, made, steady

PLAIN = Core("maxperf-pmp", "none", 16, False)
OTHER = msgspec.structs.replace(
    SIMULATED, timing="unchecked", core=PLAIN, simulator_sha256="c" * 64
)


def on(board: Board, catalogue: Catalogue, net: int = 1000):  # type: ignore[no-untyped-def]
    return made(catalogue, {"a.x": steady(net)}, board=board, icache=(False,))


def kernel(path: Path, name: str | None = None) -> KernelElf:
    words = {} if name is None else {SLICE_WORD: 0, RESTARTS_WORD: 4}
    return KernelElf(path, name, "d" * 64, None, (), words)


OURS = "tockmark-baseline 0.1.0 abi2 cw310"


@pytest.mark.parametrize(
    ("core", "name", "icache", "why"),
    [
        (
            Core("small", "none", 0, False),
            OURS,
            False,
            "the core small has no PMP, so no kernel boots",
        ),
        (PLAIN, OURS, True, "the core maxperf-pmp has no i-cache. Omit --icache on"),
        (Core("x", "none", 8, True), OURS, True, "has 8 PMP regions, .* needs 16.*kernel-pmp-8"),
        (Core("x", "none", 4, True), f"{OURS} pmp-8", False, "has 4 PMP regions, .* needs 8"),
    ],
)
def test_a_kernel_that_cannot_run_is_an_error(
    tmp_path: Path, core: Core, name: str, icache: bool, why: str
) -> None:
    with pytest.raises(TockmarkError, match=why) as refused:
        check_core(kernel(tmp_path / "k.elf", name), core, icache)
    assert "\n" not in str(refused.value)


def test_headings_and_comparisons_name_the_core(catalogue: Catalogue) -> None:
    own, other = on(SIMULATED, catalogue), on(OTHER, catalogue, 1100)
    assert "earlgrey-sim (simulated cw310)" in table.every_row(own, catalogue)
    text = table.every_row(other, catalogue)
    assert "cw310" in text
    assert "timing  unchecked" in text

    compared = compare(own, other, "b", catalogue, Margins(), CALM)
    assert [factor.name for factor in compared.factors] == ["timing", "simulator", "core"]
    text_ = comparison.compare_text(
        [("a", own), ("b", other)], [(compared, judge_comparison(compared))]
    )
    assert "maxperf-pmp" in text_

    foreign = msgspec.structs.replace(OTHER, core=Core("mine", "none", 16, False, foreign=True))
    compared = compare(other, on(foreign, catalogue), "b", catalogue, Margins(), CALM)
    assert [(factor.base, factor.new) for factor in compared.factors] == [
        ("maxperf-pmp", "mine (a user's own)")
    ]
