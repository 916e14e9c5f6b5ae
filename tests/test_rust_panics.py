# SPDX-License-Identifier: Apache-2.0 OR MIT
"""A Rust app that panics prints the source position and ends. The run does not wait for it.

Needs the products of `make build`; builds apps that panic in a copy of the checkout.
"""

from pathlib import Path

import pytest
import scratch

from tockmark.base.errors import INCOMPLETE
from tockmark.result import file
from tockmark.result.model import Result

BINS = "apps/rust/suite/src/bin"

# By app: the original code, and the code that panics instead.
EDITS = {
    "loop": (  # a hook
        "bench!(loop_taken, setup: |run| iterate(run, bodies::tm_loop_taken));",
        "bench!(loop_taken, setup: |_run|\n    panic!());",
    ),
    "call": (  # a body, with an index that the compiler does not know
        "bench!(call_return, body: bodies::tm_call_return, expect: RETURNED);",
        'extern "C" fn body(at: u32) -> u32 {\n'
        "    [1, 2, 3][at as usize]\n}\n"
        "bench!(call_return, setup: |run| run.measure(tock::runtime::Body::new(body), 3));",
    ),
    "idle": (  # an app that prints no records, while the next app never yields
        "suite::helper!(|| suite::peer::rest());",
        "suite::helper!(||\n    panic!());",
    ),
}
SLOTS = ('slots = ["irq", "spinner"]', 'slots = ["irq", "idle", "spinner"]')
PANICS = {"loop": "panic!", "call": "[at as usize]", "idle": "panic!"}


def put(path: Path, old: str, new: str) -> None:
    text = path.read_text()
    assert text.count(old) == 1, f"{path.name} must contain '{old}' once"
    path.write_text(text.replace(old, new))


@pytest.fixture(scope="module")
def panicked(tmp_path_factory: pytest.TempPathFactory) -> tuple[Result, dict[str, str]]:
    """The result of a run of these apps, and the source position of each panic."""
    root = tmp_path_factory.mktemp("scratch")
    scratch.copy_to(root)
    positions = {}
    for app, (old, new) in EDITS.items():
        path = root / BINS / f"{app}.rs"
        put(path, old, new)
        lines = path.read_text().splitlines()
        (line,) = (n for n, text in enumerate(lines, 1) if PANICS[app] in text)
        positions[app] = f"{app}.rs:{line}"
    put(root / "apps" / "catalogue.toml", *SLOTS)
    scratch.build(root, 2)
    out = root / "result.json"
    options = ["--lang", "rust", "--icache", "on", "--only", "loop,call,irq.upcall:core=busy"]
    scratch.run(root, "tockmark", "run", *options, "-o", str(out), code=INCOMPLETE)
    return file.load(out), positions


@pytest.mark.parametrize(("app", "row"), [("loop", "loop.taken"), ("call", "call.return")])
def test_the_row_fails_with_the_position_of_the_panic(
    app: str, row: str, panicked: tuple[Result, dict[str, str]]
) -> None:
    """Rows before the panic keep their samples; rows after it are missing."""
    result, positions = panicked
    (failed,) = (entry for entry in result.failed if entry.boot == app)
    assert (failed.id, failed.why) == (row, f"panicked at {positions[app]}")
    measured = [entry.id for entry in result.rows if entry.boot == app]
    assert f"{app}.{ {'loop': 'empty', 'call': 'void'}[app] }" in measured
    assert "null.sample" not in measured
    assert any(entry.boot == app for entry in result.missing)
    assert any(f"{app}: end: the app panicked" in problem for problem in result.problems)
