# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The tool's layers, in the order in which a sample travels: a module imports its own layer and
lower ones only."""

import ast
from pathlib import Path

import pytest

from tockmark import paths

PACKAGE = paths.ROOT / "tools" / "tockmark"
BASE = ("__init__", "errors", "paths", "files", "plain", "crc", "line")  # what all may use
NAMES = ("__version__", "BASELINE")  # that the package itself has
ORDER = ["suite", "target", "tree", "log", "result", "judge", "show"]
# Each of these uses what is below and none of the others.
BESIDE = ["profile", "validate", "conformance", "kernel_patch"]
TOP = ["judging", "site", "commands", "cli", "__main__"]


def layer(module: str) -> str:
    """The layer of tockmark.x.y."""
    parts = module.split(".")[1:]
    return "base" if not parts or parts[0] in (*BASE, *NAMES) else parts[0]


def rank(name: str) -> int:
    """How high a layer is."""
    if name == "base":
        return 0
    if name in ORDER:
        return 1 + ORDER.index(name)
    return 1 + len(ORDER) if name in BESIDE else 2 + len(ORDER) + TOP.index(name)


def imports(path: Path) -> list[str]:
    """The modules of ours that a file imports, also within functions."""
    found: list[str] = []
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: an import by dots"
            whole = node.module == "tockmark"
            found += [f"tockmark.{a.name}" if whole else str(node.module) for a in node.names]
    return [name for name in found if name.split(".")[0] == "tockmark"]


def wrong(own: str, others: list[str]) -> list[str]:
    """What a module of one layer may not import."""
    mine = layer(own)
    return [
        name
        for name in others
        if layer(name) != mine and (rank(layer(name)), layer(name)) >= (rank(mine), "")
    ]


MODULES = sorted(
    path
    for path in PACKAGE.rglob("*.py")
    if "tests" not in path.parts and "__pycache__" not in path.parts
)


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_a_module_imports_lower_layers_only(path: Path) -> None:
    own = ".".join(path.relative_to(PACKAGE.parent).with_suffix("").parts)
    assert wrong(own.removesuffix(".__init__"), imports(path)) == []


def test_every_folder_is_a_layer() -> None:
    inside = (path.relative_to(PACKAGE).parts for path in MODULES)
    folders = {parts[0] for parts in inside if len(parts) > 1}
    assert folders == {*ORDER, *BESIDE, "judging", "site", "commands"}
    assert {p.stem for p in PACKAGE.glob("*.py")} == {*BASE, "cli", "__main__"}


@pytest.mark.parametrize(
    ("own", "other", "fine"),
    [
        ("tockmark.log.rows", "tockmark.suite.catalogue", True),
        ("tockmark.log.rows", "tockmark.log.marks", True),
        ("tockmark.log.rows", "tockmark.result.model", False),
        ("tockmark.show.table", "tockmark.judge.mean", True),
        ("tockmark.validate.study", "tockmark.profile", False),
        ("tockmark.commands.files", "tockmark.cli", False),
        ("tockmark.errors", "tockmark.paths", True),
        ("tockmark.paths", "tockmark.suite.catalogue", False),
    ],
)
def test_what_may_import_what(own: str, other: str, fine: bool) -> None:
    assert (wrong(own, [other]) == []) is fine


def test_the_simulators_speed_is_measured_without_the_tool() -> None:
    scripts = list((paths.ROOT / "boards").rglob("*.py"))
    assert scripts
    assert [script for script in scripts if imports(script)] == []
