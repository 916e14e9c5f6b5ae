# SPDX-License-Identifier: Apache-2.0 OR MIT
"""An app in Rust that panics says where and ends, and so does the run: nobody waits for it.

Needs what `make build` makes; builds apps that panic in a copy of the checkout.
"""

from pathlib import Path

import pytest
import scratch

from tockmark.base.errors import INCOMPLETE
from tockmark.result import file
from tockmark.result.model import Result

BINS = "apps/rust/suite/src/bin"

# By app: what stands there, what panics in its place.
EDITS = {
    "loop": (  # a hook
        "bench!(loop_taken, setup: |run| iterate(run, bodies::tm_loop_taken));",
        "bench!(loop_taken, setup: |_run|\n    panic!());",
    ),
    "call": (  # a body, by an index that the compiler does not see
        "bench!(call_return, body: bodies::tm_call_return, expect: RETURNED);",
        'extern "C" fn body(at: u32) -> u32 {\n'
        "    [1, 2, 3][at as usize]\n}\n"
        "bench!(call_return, setup: |run| run.measure(tock::runtime::Body::new(body), 3));",
    ),
    "idle": (  # one that reports nothing, while the next in turn never yields
        "suite::helper!(|| suite::peer::rest());",
        "suite::helper!(||\n    panic!());",
    ),
}
SLOTS = ('slots = ["irq", "spinner"]', 'slots = ["irq", "idle", "spinner"]')
PLACES = {"loop": "panic!", "call": "[at as usize]", "idle": "panic!"}


def put(path: Path, old: str, new: str) -> None:
    text = path.read_text()
    assert text.count(old) == 1, f"{path.name} has another than one '{old}'"
    path.write_text(text.replace(old, new))


@pytest.fixture(scope="module")
def panicked(tmp_path_factory: pytest.TempPathFactory) -> tuple[Result, dict[str, str]]:
    """What a run of these apps gives, and the place of each one's panic."""
    root = tmp_path_factory.mktemp("scratch")
    scratch.copy_to(root)
    places = {}
    for app, (old, new) in EDITS.items():
        path = root / BINS / f"{app}.rs"
        put(path, old, new)
        lines = path.read_text().splitlines()
        (line,) = (n for n, text in enumerate(lines, 1) if PLACES[app] in text)
        places[app] = f"{app}.rs:{line}"
    put(root / "apps" / "catalogue.toml", *SLOTS)
    scratch.build(root, 2)
    out = root / "result.json"
    asked = ["--lang", "rust", "--icache", "on", "--only", "loop,call,irq.upcall:core=busy"]
    scratch.run(root, "tockmark", "run", *asked, "-o", str(out), code=INCOMPLETE)
    return file.load(out), places


@pytest.mark.parametrize(("app", "row"), [("loop", "loop.taken"), ("call", "call.return")])
def test_the_row_has_failed_and_says_where(
    app: str, row: str, panicked: tuple[Result, dict[str, str]]
) -> None:
    """What was measured before stays; what was to come is missing."""
    result, places = panicked
    (gone,) = (one for one in result.failed if one.boot == app)
    assert (gone.id, gone.why) == (row, f"panicked at {places[app]}")
    there = [one.id for one in result.rows if one.boot == app]
    assert f"{app}.{ {'loop': 'empty', 'call': 'void'}[app] }" in there
    assert "null.sample" not in there
    assert any(one.boot == app for one in result.missing)
    assert any(f"{app}: end: the app panicked" in problem for problem in result.problems)
