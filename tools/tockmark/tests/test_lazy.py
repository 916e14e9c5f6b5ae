# SPDX-License-Identifier: Apache-2.0 OR MIT
"""A verb loads its own module and what that needs, and no slow module that it does not use."""

import subprocess
import sys

import pytest

from tockmark.base import paths
from tockmark.cli.app import PROGRAM

SLOW = {"matplotlib", "jinja2", "elftools"}
COUNT = """
import sys
from tockmark.__main__ import main
sys.argv = ["tockmark", *sys.argv[1:]]
try:
    main()
except SystemExit as end:
    if end.code:
        raise
print("loaded:", *sys.modules)
"""


def loaded(*words: str) -> list[str]:
    """Run the tool in a separate process and return the modules that it loads."""
    done = subprocess.run(
        [sys.executable, "-c", COUNT, *words],
        cwd=paths.ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout.rpartition("loaded: ")[2].split()


@pytest.mark.parametrize(
    ("most", "words"),
    [
        (39, ["table", "results/baseline-cw310.json"]),
        (39, ["list"]),
        (12, ["--help"]),
        (12, ["--version"]),
    ],
)
def test_a_verb_loads_few_modules(most: int, words: list[str]) -> None:
    modules = loaded(*words)
    ours = [name for name in modules if name.split(".")[0] == "tockmark"]
    assert 5 < len(ours) <= most, ours
    assert not SLOW & {name.split(".")[0] for name in modules}


def test_site_loads_the_packages_for_pictures() -> None:
    assert "matplotlib" in loaded("site", "--help")


def test_no_other_verb_loads_the_packages_for_pictures() -> None:
    modules = {module for verb, module in PROGRAM.verbs.items() if verb != "site"}
    names = [f"{PROGRAM.package}.{module}" for module in sorted(modules)]
    script = "import importlib, sys; [*map(importlib.import_module, sys.argv[1:])];"
    script += "sys.exit('jinja2' in sys.modules or 'matplotlib' in sys.modules)"
    subprocess.run([sys.executable, "-c", script, *names], cwd=paths.ROOT, check=True)
