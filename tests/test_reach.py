# SPDX-License-Identifier: Apache-2.0 OR MIT
"""How many files a reader meets who follows one sample: the modules of the tool in which functions
run for a verb. The command line and the base modules, which all verbs use, are left out.

Run as a script it names the files: `python tests/test_reach.py table results/baseline-cw310.json`.
"""

import inspect
import subprocess
import sys
from pathlib import Path

import pytest

from layers import BASE
from tockmark import paths

BASELINE, TOCK = "results/baseline-cw310.json", "results/tock-2.2-cw310.json"
LOG = "tools/tockmark/tests/four-boots.log"
VERBS = {
    "table": (11, ["table", BASELINE]),
    "compare": (14, ["compare", BASELINE, TOCK]),
    "limits": (16, ["compare", BASELINE, TOCK, "--limits"]),
    "parse": (14, ["board", "parse", LOG, "-o"]),
    "export": (9, ["ci", "export", BASELINE, "--format", "csv"]),
    "run": (30, ["run", "--only", "syscall.command", "-o"]),
}


def reached(words: list[str]) -> list[str]:
    """Call the verb in this process and return the files in which functions ran."""
    import threading

    from tockmark.cli.app import app

    package = str(paths.ROOT / "tools" / "tockmark")
    found: set[str] = set()

    def called(frame: object, event: str, _: object) -> None:
        code = frame.f_code  # type: ignore[attr-defined]
        # What a module does while it loads is no function's: its body, its classes' bodies.
        if event == "call" and code.co_flags & inspect.CO_OPTIMIZED and code.co_name[0] != "<":
            found.add(code.co_filename)

    threading.setprofile(called)
    sys.setprofile(called)
    try:
        app(words, standalone_mode=False)
    finally:
        sys.setprofile(None)
        threading.setprofile(None)
    inside = [Path(name).relative_to(package) for name in found if name.startswith(package)]
    own = [path for path in inside if path.parts[0] != "cli" and path.stem not in BASE]
    return sorted(map(str, own))


@pytest.mark.parametrize("verb", VERBS)
def test_a_verb_runs_in_few_files(verb: str, tmp_path: Path) -> None:
    most, words = VERBS[verb]
    given = [*words, str(tmp_path / "out.json")] if words[-1] == "-o" else words
    command = [sys.executable, __file__, *given]
    done = subprocess.run(command, cwd=paths.ROOT, capture_output=True, text=True, check=False)
    files = done.stderr.split("\n--- ")[-1].splitlines()
    assert files[0] == "files", done.stderr
    assert 3 < len(files[1:]) <= most, "\n".join(files)


if __name__ == "__main__":
    sys.path.insert(0, str(paths.ROOT / "tools"))
    print("\n--- files", *reached(sys.argv[1:]), sep="\n", file=sys.stderr)
