# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The tool's layers: which there are, in which order they stand, and what a module imports.

Their one list is the table of docs/contributing.md, lowest first; layers of one line stand beside
each other. Below them is the base, which all may use, and above them the command line.
tests/test_layers.py holds the code to it.
"""

import ast
import re
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "tools" / "tockmark"
HOUSE = ROOT / "docs" / "contributing.md"
# What all may use.
BASE = ("__init__", "errors", "watcher", "processes", "paths", "files", "documents")
NAMES = ("__version__", "BASELINE", "STAND_IN")  # that the package itself has
TOP = ("__main__",)


@cache
def listed() -> list[list[str]]:
    """Return the layers of each line of the table in docs/contributing.md."""
    table = re.search(r"^\| layer \|.*?(?=\n\n)", HOUSE.read_text(encoding="utf-8"), re.M | re.S)
    assert table, f"{HOUSE} has no table of layers"
    firsts = (line.split("|")[1] for line in table[0].splitlines())
    lines = [re.findall(r"`tools/tockmark/(\w+)/`", first) for first in firsts]
    return [line for line in lines if line]


def layer(module: str) -> str:
    """Return the layer that a module such as tockmark.x.y belongs to."""
    parts = module.split(".")[1:]
    return "base" if not parts or parts[0] in (*BASE, *NAMES) else parts[0]


@cache
def rank(name: str) -> int:
    """Return how high a layer is: as high as those beside it. ValueError if it is none."""
    order = [["base"], *listed(), *([one] for one in TOP)]
    for place, names in enumerate(order):
        if name in names:
            return place
    raise ValueError(f"{name} is no layer: {HOUSE.relative_to(ROOT)} does not have it")


@cache
def modules() -> list[Path]:
    """Return the files of the tool without its tests."""
    return sorted(
        path
        for path in PACKAGE.rglob("*.py")
        if not {"tests", "__pycache__"} & set(path.relative_to(PACKAGE).parts)
    )


def name_of(path: Path) -> str:
    """Return the name by which a module is imported."""
    name = ".".join(path.relative_to(PACKAGE.parent).with_suffix("").parts)
    return name.removesuffix(".__init__")


def imports(path: Path) -> list[str]:
    """Return the modules of the tool that a file imports, also within functions."""
    found: list[str] = []
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: an import by dots"
            found += [_module(str(node.module), alias.name) for alias in node.names]
    return [name for name in found if name.split(".")[0] == "tockmark"]


def _module(package: str, name: str) -> str:
    """Return the module that `from package import name` takes something from."""
    path = PACKAGE.parent.joinpath(*package.split("."), name)
    inside = path.is_dir() or path.with_suffix(".py").exists() or package == "tockmark"
    return f"{package}.{name}" if inside else package


def says(name: str) -> str:
    """Return the first paragraph of a layer's docstring."""
    path = PACKAGE / f"{name}.py" if name in TOP else PACKAGE / name / "__init__.py"
    text = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""
    return " ".join(text.partition("\n\n")[0].replace("`", "").split())
