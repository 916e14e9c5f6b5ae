# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Merge, split and show results of several layouts."""

from pathlib import Path

import pytest
from msgspec import structs

from tockmark.result import file
from tockmark.result.build import Context, build, merge_layouts
from tockmark.result.model import Result, Row, with_readings
from tockmark.result.provenance import Layout
from tockmark.show import table
from tockmark.suite.catalogue import Catalogue, load
from tockmark.tests.conftest import RECORDS, encoded
from tockmark.wire.boots import assemble
from tockmark.wire.records import decode

LAYOUTS = tuple(Layout(f"k{n}.elf", link=digit * 64, seed=n) for n, digit in enumerate("aab"))


def measured(catalogue: Catalogue, cycles: int, layout: int = 0, **others: list[str]) -> Result:
    """Return a run in one layout; the loop's samples are `cycles`, with the overhead."""
    records = {**RECORDS, **others}
    loop = [r.replace("(3341,3343)*5", f"{cycles}*10") for r in records["loop"]]
    lines = [
        line
        for app, app_records in (records | {"loop": loop}).items()
        for line in encoded(app, app_records)
    ]
    return build(
        assemble(decode(lines)), catalogue, Context(layouts=(LAYOUTS[layout],)), expected=()
    )


@pytest.fixture
def three(catalogue: Catalogue) -> Result:
    return merge_layouts([measured(catalogue, 3341 + 100 * n, n) for n in range(3)])


def row(result: Result, id_: str = "loop.empty") -> Row:
    return next(row for row in result.rows if row.id == id_)


def test_a_net_is_the_median_over_the_layouts(three: Result) -> None:
    cycles = row(three).cycles
    assert cycles is not None
    assert cycles.nets == (3000, 3100, 3200)
    assert (row(three).net, row(three).per_op) == (3100, 3.1)
    assert row(three).layouts == (0, 1, 2)
    assert (three.layouts, three.links) == (3, 2)
    assert three.incomplete == ()


def test_a_result_of_several_layouts_round_trips(three: Result, tmp_path: Path) -> None:
    (tmp_path / "r.json").write_text(file.text(three))
    assert file.load(tmp_path / "r.json") == three
    some = three.in_layouts([2, 0])
    (tmp_path / "r.json").write_text(file.text(some))
    assert file.load(tmp_path / "r.json") == some


def test_some_layouts_of_a_result_are_a_result(three: Result) -> None:
    some = three.in_layouts([2, 0])
    cycles = row(some).cycles
    assert cycles is not None
    assert cycles.nets == (3200, 3000)
    assert some.layouts == 2
    assert some.provenance.kernel.file == "k2.elf"
    rows = [structs.replace(r, samples=r.samples[:1], readings=({},)) for r in three.rows]
    assert three.in_layouts([0]).rows == with_readings(rows)
    assert row(three.in_layouts([1])).net == 3100
    with pytest.raises(IndexError):
        three.in_layouts([3])


def test_tables_show_the_range_and_the_number_of_layouts(three: Result) -> None:
    catalogue_ = load()
    text = table.every_row(three, catalogue_)
    assert "layouts" in text
    (line,) = (line for line in text.splitlines() if line.startswith("loop.empty"))
    assert line.split()[1:3] == ["3100", "3000–3200"]
    screen = table.first_screen(
        [("r.json", three)], catalogue_, 100, {"x": {"loop": ("loop.empty", frozenset())}}
    )
    assert "3–3.2" in screen
    single = three.in_layouts([0])
    for text in (
        table.every_row(single, catalogue_),
        table.first_screen([("r.json", single)], catalogue_),
    ):
        assert "one layout" in " ".join(text.split())
        assert "range" not in text
