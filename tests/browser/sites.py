# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The sites under test: the project's own, and small ones from results made for the tests."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tockmark.base import paths
from tockmark.tests.damage import WHOLE

# Text that runs if a page, attribute, script or URL does not escape it.
PAYLOAD = "</script></title>\"'><script>hit=1</script><img src=x onerror=hit=1>javascript:hit=1"


def made(out: Path, *given: Path | str, program: str = "tockmark") -> Path:
    """Return the folder of a site that the command line makes from these results."""
    command = [sys.executable, "-m", program, "site", *map(str, given), "-o", str(out)]
    modules = os.pathsep.join(str(paths.ROOT / folder) for folder in ("tools", "lab"))
    own = os.environ | {"PYTHONPATH": modules}
    done = subprocess.run(
        command, cwd=paths.ROOT, env=own, capture_output=True, text=True, check=False
    )
    assert done.returncode in (0, 1), done.stderr  # 1: a result is incomplete
    return out


def result(folder: Path, name: str, harm: str = "", kernel: str = "first 1.0") -> Path:
    """Write a small result with all kinds of content, and with `harm` in every text field."""
    data: dict[str, Any] = json.loads(json.dumps(WHOLE))
    provenance, rows = data["provenance"], data["rows"]
    provenance["kernel"]["name"] = kernel + harm
    if harm:
        provenance["kernel"] |= {"file": harm, "rustc": harm, "commit": harm}
        provenance["board"]["name"] = harm
        provenance["apps"][0]["said"]["cc"] = harm
        rows.append(rows[1] | {"id": harm, "params": {harm: 1}})
        rows.append(rows[1] | {"id": "loop.empty", "faults": [harm]})
        data["failed"][0]["why"] = data["skipped"][0]["why"] = data["problems"][0] = harm
    path = folder / f"{name}.json"
    path.write_text(json.dumps(data), encoding="utf-8")
    return path


def single(folder: Path) -> Path:
    """Make the site of a single result."""
    return made(folder / "site", result(folder, "single"))


def compared(folder: Path) -> Path:
    """Make the site of two committed results and their comparison."""
    names = ("baseline-cw310", "tock-2.2-cw310")
    return made(folder / "site", *(paths.RESULTS / f"{name}.json" for name in names))


def hostile(folder: Path) -> Path:
    """Make the site of two hostile results with hostile file names."""
    name = '"><img src=x onerror=hit=1>'
    return made(
        folder / "site",
        result(folder, name, PAYLOAD),
        result(folder, name + "2", PAYLOAD, "second 1.0"),
    )


def project(folder: Path) -> Path:
    """Make the project's own site, as `make site` does."""
    lab = paths.ROOT / "lab"
    pages = [f"--over-time={path}" for path in sorted((lab / "data").glob("*history.jsonl"))]
    pages += [f"--study={path.parent}" for path in sorted(lab.glob("studies/*/README.md"))]
    results = (paths.RESULTS, lab / "data" / "latency")
    return made(folder / "site", *results, *pages, program="tockmark_lab")


SITES: dict[str, Callable[[Path], Path]] = {
    "single": single,
    "compared": compared,
    "hostile": hostile,
    "project": project,
}
