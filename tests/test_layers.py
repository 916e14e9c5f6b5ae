# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The tool's layers, in the order in which a sample travels: a module imports its own layer and
lower ones only."""

import re
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

import layers
from layers import BASE, PACKAGE, TOP, imports, layer, modules, rank
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


def test_no_circle_of_imports() -> None:
    """Within a layer, too; an import inside a function counts as any other."""
    graph = {layers.name_of(path): set(imports(path)) for path in modules()}
    assert sum(map(len, graph.values())) > 300
    TopologicalSorter(graph).prepare()  # CycleError, with the circle
    with pytest.raises(CycleError):
        TopologicalSorter({"a": {"b"}, "b": {"a"}}).prepare()
