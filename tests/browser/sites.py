# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The sites that are looked at: the project's own, and small ones of results made for it."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tockmark.base import paths
from tockmark.tests.damage import WHOLE

# What would run if it were taken for markup, in a page, an attribute, a script or an address.
PAYLOAD = "</script></title>\"'><script>hit=1</script><img src=x onerror=hit=1>javascript:hit=1"


def made(out: Path, *results: Path) -> Path:
    """The site of these, by the command line."""
    command = [sys.executable, "-m", "tockmark", "site", *map(str, results), "-o", str(out)]
    own = os.environ | {"PYTHONPATH": str(paths.ROOT / "tools")}
    done = subprocess.run(
        command, cwd=paths.ROOT, env=own, capture_output=True, text=True, check=False
    )
    assert done.returncode in (0, 1), done.stderr  # 1: a result is incomplete
    return out


def result(folder: Path, name: str, harm: str = "", kernel: str = "one 1.0") -> Path:
    """A small result that has everything one can have, and this text wherever one may stand."""
    data: dict[str, Any] = json.loads(json.dumps(WHOLE))
    found, rows = data["provenance"], data["rows"]
    found["kernel"]["name"] = kernel + harm
    if harm:
        found["kernel"] |= {"file": harm, "rustc": harm, "commit": harm}
        found["board"]["name"] = harm
        found["apps"][0]["said"]["cc"] = harm
        rows.append(rows[1] | {"id": harm, "params": {harm: 1}})
        rows.append(rows[1] | {"id": "loop.empty", "faults": [harm]})
        data["failed"][0]["why"] = data["skipped"][0]["why"] = data["problems"][0] = harm
    path = folder / f"{name}.json"
    path.write_text(json.dumps(data), encoding="utf-8")
    return path


def one(folder: Path) -> Path:
    """Of one result."""
    return made(folder / "site", result(folder, "one"))


def two(folder: Path) -> Path:
    """Of two committed results, which are compared."""
    names = ("baseline-cw310", "tock-2.2-cw310")
    return made(folder / "site", *(paths.RESULTS / f"{name}.json" for name in names))


def hostile(folder: Path) -> Path:
    """Of two results that would do harm, by their files' names, too."""
    name = '"><img src=x onerror=hit=1>'
    return made(
        folder / "site",
        result(folder, name, PAYLOAD),
        result(folder, name + "2", PAYLOAD, "two 1.0"),
    )


def project(folder: Path) -> Path:
    """The project's own, of the committed results."""
    return made(folder / "site", paths.RESULTS)


SITES: dict[str, Callable[[Path], Path]] = {
    "one": one,
    "two": two,
    "hostile": hostile,
    "project": project,
}
