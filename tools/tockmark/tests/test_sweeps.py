# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Sweeps: the slopes, intercepts and bends of known lines."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from tockmark.cli.app import app
from tockmark.compare import sweeps
from tockmark.result import file
from tockmark.result.model import Result
from tockmark.suite.catalogue import Catalogue, load
from tockmark.tests.of_samples import exit_code, made, steady


def result_of(catalogue: Catalogue, **nets: dict[int, int]) -> Result:
    rows = {
        f"a.{name} size={size}": steady(net)
        for name, by in nets.items()
        for size, net in by.items()
    }
    return made(catalogue, rows)


def test_a_line_is_checked_at_the_held_out_size(catalogue: Catalogue) -> None:
    (sweep,) = sweeps.sweeps(
        result_of(catalogue, x={s: 40 + 3 * s for s in (1, 2, 4, 8, 16)}), catalogue
    )
    assert (sweep.label, sweep.parameter, sweep.sizes) == ("a.x", "size", 5)
    assert (sweep.line.slope, sweep.line.intercept) == pytest.approx((3, 40))
    assert (sweep.line.held_out, sweep.line.held_out_error) == pytest.approx((4, 0))
    assert sweep.bend is None


def test_a_bend_is_where_the_slope_changes(catalogue: Catalogue) -> None:
    nops = {k: 512 * k + (300 * (k - 4) if k > 4 else 0) for k in range(17)}
    (sweep,) = sweeps.sweeps(result_of(catalogue, x=nops), catalogue)
    assert sweep.bend == 4
    assert sweep.slopes == pytest.approx((512, 812))
    assert sweep.line.residual_sd > 100


def test_the_verb_fits_lines(tmp_path: Path, catalogue: Catalogue) -> None:
    result = result_of(catalogue, x={s: 40 + 3 * s for s in range(8)})
    (tmp_path / "r.json").write_text(file.text(result))
    done = CliRunner().invoke(app, ["table", "--fit", str(tmp_path / "r.json")])
    assert done.exit_code == 0
    assert "a.x by size" in done.output
    assert max(map(len, done.output.splitlines())) <= 100
    done = CliRunner().invoke(app, ["table", "--fit", str(tmp_path / "r.json"), "--json"])
    assert json.loads(done.output)[0]["line"]["slope"] == pytest.approx(3)
    nops = made(catalogue, {f"a.x n={n}": steady(9 * n) for n in range(5)})
    (tmp_path / "r.json").write_text(file.text(nops))
    for only, code in (("a.x", 0), ("a.x:n=3", 2), ("a.y", 2)):
        done = CliRunner().invoke(app, ["table", "--fit", str(tmp_path / "r.json"), "--only", only])
        assert exit_code(done) == code


def test_sweeps_over_bytes_are_fitted_from_one_kib_up() -> None:
    """Below that, the ends of a copy dominate. Here, bytes below 1 KiB cost nothing."""
    nets = {32: 700, 512: 700, 1024: 1100, 2048: 2124, 4096: 4172, 8192: 8268}
    rows = {f"mem.copy_asm size={size}": steady(net) for size, net in nets.items()}
    (sweep,) = sweeps.sweeps(made(load(), rows), load())
    assert (sweep.sizes, sweep.line.slope, sweep.line.intercept) == (4, 1, 76)
