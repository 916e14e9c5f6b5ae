# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The tool's layers, in the order in which a sample travels: a module imports its own layer and
lower ones only."""

import re
import subprocess
import sys
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

import architecture
import layers
from layers import BASE, PACKAGE, TOP, direct, imports, layer, modules, rank
from tockmark import paths


def wrong(own: str, others: list[str]) -> list[str]:
    """What a module of one layer may not import."""
    mine = layer(own)
    return [name for name in others if layer(name) != mine and rank(layer(name)) >= rank(mine)]


@pytest.mark.parametrize("path", modules(), ids=lambda path: str(path.relative_to(PACKAGE)))
def test_a_module_imports_lower_layers_only(path: Path) -> None:
    assert wrong(layers.name_of(path), imports(path)) == []


def test_every_folder_is_a_layer() -> None:
    inside = (path.relative_to(PACKAGE).parts for path in modules())
    folders = {parts[0] for parts in inside if len(parts) > 1}
    assert folders == {name for line in layers.listed() for name in line}
    assert {p.stem for p in PACKAGE.glob("*.py")} == {*BASE, *TOP}
    assert [name for name in (*folders, *TOP) if not layers.says(name)] == []


@pytest.mark.parametrize(
    ("own", "other", "fine"),
    [
        ("tockmark.wire.rows", "tockmark.suite.catalogue", True),
        ("tockmark.wire.rows", "tockmark.wire.records", True),
        ("tockmark.wire.rows", "tockmark.result.model", False),
        ("tockmark.show.table", "tockmark.compare.rule", True),
        ("tockmark_lab.validation_parts", "tockmark.judge.engine", False),
        ("tockmark.site.pages", "tockmark.cli.app", False),
        ("tockmark.errors", "tockmark.paths", True),
        ("tockmark.paths", "tockmark.suite.catalogue", False),
    ],
)
def test_what_may_import_what(own: str, other: str, fine: bool) -> None:
    assert (wrong(own, [other]) == []) is fine


def test_one_module_starts_foreign_programs() -> None:
    """What it starts ends with the tool; so nobody else starts any."""
    starts = re.compile(
        r"^\s*(?:import|from) (?:subprocess|multiprocessing|pty)\b"
        r"|\bos\.(?:system|popen|fork|forkpty|exec\w+|spawn\w+|posix_spawnp?)\("
        r"|\b(?:ProcessPoolExecutor|create_subprocess_\w+)\b",
        re.MULTILINE,
    )
    allowed = {"processes.py", "watcher.py"}
    found = {
        str(path.relative_to(PACKAGE)) for path in modules() if starts.search(path.read_text())
    }
    assert found == allowed


def test_the_simulators_speed_is_measured_without_the_tool() -> None:
    scripts = list((paths.ROOT / "boards").rglob("*.py"))
    assert scripts
    assert [script for script in scripts if imports(script)] == []


def test_the_picture_is_that_of_the_imports() -> None:
    """Byte for byte; and each arrow is an import."""
    check = [sys.executable, str(paths.ROOT / "docs" / "make"), "--check", "architecture"]
    done = subprocess.run(check, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout
    shown = architecture.PICTURE.read_text(encoding="utf-8")
    assert shown.count('class="line"') == len(direct(layers.edges()))
    for page in ("README.md", "docs/contributing.md"):
        assert "pictures/architecture.svg" in (paths.ROOT / page).read_text(encoding="utf-8")


def test_an_arrow_that_follows_from_others_is_left_out() -> None:
    all_of_them = {("a", "b"), ("b", "c"), ("c", "d"), ("a", "d"), ("a", "c"), ("e", "d")}
    assert direct(all_of_them) == {("a", "b"), ("b", "c"), ("c", "d"), ("e", "d")}


def test_a_new_layer_comes_into_the_picture_by_itself() -> None:
    """Also a layer that stands beside others: no box lies on another."""
    edges = {("a", "base"), ("b", "base"), ("c", "base"), ("d", "a"), ("d", "b"), ("d", "c")}
    boxes = architecture.placed(edges)
    assert set(boxes) == {"a", "b", "c", "d", "base"}
    assert len({(box.x, box.y) for box in boxes.values()}) == len(boxes)
    assert boxes["d"].y < min(boxes[name].y for name in "abc")
    assert max(boxes[name].y for name in "abc") < boxes["base"].y
    assert len(architecture.lines(boxes, edges)) == len(edges)


def test_no_circle_of_imports() -> None:
    """Within a layer, too; an import inside a function counts as any other."""
    graph = {layers.name_of(path): set(imports(path)) for path in modules()}
    assert sum(map(len, graph.values())) > 300
    TopologicalSorter(graph).prepare()  # CycleError, with the circle
    with pytest.raises(CycleError):
        TopologicalSorter({"a": {"b"}, "b": {"a"}}).prepare()
