# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Puts the tables into the pages that show them, from committed results: `make tables`.

A page asks for a table with a line `<!-- table: results/x.json -->` and closes it with
`<!-- end of table -->`; what stands between is replaced. `validation:` in place of `table:` is for
what `tockmark validate -o` has stored. With --check nothing is written, and the
exit code is 1 if a page does not show what its result says.
"""

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
BLOCK = re.compile(r"(<!-- (table|validation): (\S+) -->\n).*?(<!-- end of table -->)", re.DOTALL)
VERBS = {"table": ["table"], "validation": ["validate", "--show"]}


def table(kind: str, result: str) -> str:
    command = [str(Path(sys.executable).with_name("tockmark")), *VERBS[kind], result]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout


def refreshed(page: str) -> str:
    """The page with each of its tables made anew."""
    return BLOCK.sub(lambda m: f"{m[1]}```text\n{table(m[2], m[3]).rstrip()}\n```\n{m[4]}", page)


def main() -> int:
    stale = []
    for path in [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]:
        old = path.read_text(encoding="utf-8")
        new = refreshed(old)
        if new != old:
            stale.append(path.relative_to(ROOT))
            if "--check" not in sys.argv:
                path.write_text(new, encoding="utf-8")
    for page in stale:
        print(f"{page}: {'stale; run `make tables`' if '--check' in sys.argv else 'refreshed'}")
    return 1 if stale and "--check" in sys.argv else 0


if __name__ == "__main__":
    sys.exit(main())
