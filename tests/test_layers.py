# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The product's layers: packages import only lower layers, nothing imports the lab, and the
tables of docs/contributing.md are correct."""

import ast
import re
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

from tockmark.base import paths
from tockmark.cli.app import PROGRAM
from tockmark.cli.program import VerbProgram
from tockmark_lab.app import PROGRAM as LAB

PACKAGE = paths.ROOT / "tools" / "tockmark"
HOUSE = paths.ROOT / "docs" / "contributing.md"
BASE = "base"  # also the layer of the package itself


@cache
def modules() -> list[Path]:
    """Return the files of the product without its tests."""
    inside = ((path, path.relative_to(PACKAGE).parts) for path in PACKAGE.rglob("*.py"))
    return sorted(path for path, parts in inside if "tests" not in parts)


def name_of(path: Path) -> str:
    """Return the import name of a module."""
    name = ".".join(path.relative_to(PACKAGE.parent).with_suffix("").parts)
    return name.removesuffix(".__init__")


def imports(path: Path) -> list[str]:
    """Return the modules that a file imports from the product and the lab, also in functions."""
    names: list[str] = []
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: a relative import"
            names += [_module(str(node.module), alias.name) for alias in node.names]
    return [name for name in names if name.split(".")[0] in ("tockmark", "tockmark_lab")]


def _module(package: str, name: str) -> str:
    """Return the module that `from package import name` imports."""
    path = PACKAGE.parent.joinpath(*package.split("."), name)
    return f"{package}.{name}" if path.is_dir() or path.with_suffix(".py").exists() else package


def layer(module: str) -> str:
    """Return the layer of a module of the product."""
    path = PACKAGE.parent.joinpath(*module.split(".")[:2])
    return path.name if path.is_dir() and path != PACKAGE else BASE


@cache
def layers() -> list[str]:
    """Return the layers in the order of docs/contributing.md, lowest first."""
    table = re.search(r"^\| layer \|.*?(?=\n\n)", HOUSE.read_text(encoding="utf-8"), re.M | re.S)
    assert table, "no table of layers"
    return re.findall(r"^\| `tools/tockmark/(\w+)/`", table[0], re.M)


@pytest.mark.parametrize("path", modules(), ids=lambda path: str(path.relative_to(PACKAGE)))
def test_a_module_imports_lower_layers_only(path: Path) -> None:
    own = layer(name_of(path))
    if path == PACKAGE / "__main__.py":
        return
    lower = layers()[: layers().index(own) + 1]
    assert {name for name in imports(path) if layer(name) not in lower} == set()


def test_the_product_imports_nothing_of_the_lab() -> None:
    """Neither do its tests, except in this file."""
    product = [path for top in ("tools", "tests") for path in (paths.ROOT / top).rglob("*.py")]
    importing = {path for path in product if any("tockmark_lab" in name for name in imports(path))}
    assert importing == {Path(__file__)}


def test_imports_have_no_cycles() -> None:
    """Not even in one layer; imports inside functions count also."""
    graph = {name_of(path): set(imports(path)) for path in modules()}
    assert sum(map(len, graph.values())) > 300
    TopologicalSorter(graph).prepare()  # raises CycleError with the cycle
    with pytest.raises(CycleError):
        TopologicalSorter({"a": {"b"}, "b": {"a"}}).prepare()


@pytest.mark.parametrize("program", [PROGRAM, LAB], ids=lambda program: program.name)
def test_the_table_of_verbs_names_their_modules(program: VerbProgram) -> None:
    """Each verb has one entry, with its module of options and the module that does the work."""
    page = HOUSE.read_text(encoding="utf-8")
    table = re.search(rf"^\| verb of `{program.name}` \|.*?(?=\n\n)", page, re.M | re.S)
    assert table, f"no table of the verbs of {program.name}"
    folder = "tools/tockmark/cli" if program is PROGRAM else "lab/tockmark_lab"
    modules_of = {}
    for line in table[0].splitlines()[2:]:
        verbs, module, work = line.strip("| ").split(" | ")
        for verb in re.findall(r"`([\w -]+)`", verbs):
            modules_of[verb] = module
        for place in re.findall(r"`((?:tools|lab)/[\w./-]+)`", f"{module} {work}"):
            assert (paths.ROOT / place).exists(), place
    assert modules_of == {
        program.full_name(verb): f"`{folder}/{module.replace('.', '/')}.py`"
        for verb, module in program.verbs.items()
    }


def test_one_module_starts_external_programs() -> None:
    """This module ends its programs with the tool, so no other module may start any."""
    starts = re.compile(
        r"^\s*(?:import|from) (?:subprocess|multiprocessing|pty)\b"
        r"|\bos\.(?:system|popen|fork|forkpty|exec\w+|spawn\w+|posix_spawnp?)\("
        r"|\b(?:ProcessPoolExecutor|create_subprocess_\w+)\b",
        re.MULTILINE,
    )
    starting = {path.name for path in modules() if starts.search(path.read_text())}
    assert starting == {"processes.py", "watcher.py"}
