# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Limits on the size of the tool: its modules and lines, the modules that `run` loads, and the
length of a verb's function. Each limit is the current size; lower it when the tool shrinks."""

import ast
from pathlib import Path

from products import make

from tockmark.base import paths
from tockmark.tests.test_lazy import loaded

PACKAGE = paths.ROOT / "tools" / "tockmark"

MODULES, LINES = 89, 28_300  # without tests, __init__.py and __main__.py
LOADED = 56  # our modules and packages that `run` loads
LONGEST_VERB = 30  # lines of a verb's function, without its signature and its help


def test_the_tool_has_few_modules_and_lines() -> None:
    own = [
        path
        for path in PACKAGE.rglob("*.py")
        if path.name not in ("__init__.py", "__main__.py") and "tests" not in path.parts
    ]
    assert len(own) <= MODULES
    assert sum(path.read_text(encoding="utf-8").count("\n") for path in own) <= LINES


def test_run_loads_few_modules(tmp_path: Path) -> None:
    make("build")
    result = str(tmp_path / "result.json")
    modules = loaded("run", "--only", "syscall.command", "--icache", "off", "-o", result)
    ours = [name for name in modules if name.split(".")[0] == "tockmark"]
    assert len(ours) <= LOADED, ours


def test_a_verb_parses_calls_and_prints() -> None:
    lengths = {}
    for path in (PACKAGE / "cli").glob("*.py"):
        for function in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(function, ast.FunctionDef) and function.name.endswith("_verb"):
                first, last = function.body[1], function.body[-1]  # after the help
                lengths[function.name] = (last.end_lineno or 0) - first.lineno + 1
    assert len(lengths) > 10
    assert {name: length for name, length in lengths.items() if length > LONGEST_VERB} == {}
