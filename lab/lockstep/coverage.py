# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Print the lines of the fast core that a run of lockstep did not reach.

    coverage.py CYCLES BINARY ...

Each BINARY is a lockstep-cover (make COVER=1) of one machine; a line must run on any of them.
Counts of earlier runs are deleted. Exit code 1 if less than 99 % of the lines ran.
"""

import json
import subprocess
import sys
from collections import defaultdict
from pathlib import Path

ENOUGH = 0.99


def add_counts(counts: dict[Path, dict[int, int]], objects: Path) -> None:
    """Add how often each line of each file of the fast core ran."""
    for notes in sorted(objects.glob("*.gcno")):
        report = subprocess.run(
            ["gcov", "--json-format", "--stdout", "--object-directory", objects, notes],
            capture_output=True,
            text=True,
            check=True,
        )
        for text in report.stdout.splitlines():
            for file in json.loads(text)["files"]:
                path = Path(file["file"])
                if path.parent.name == "core":
                    for line in file["lines"]:
                        counts[path.resolve()][line["line_number"]] += line["count"]


def main(cycles: str, *binaries: str) -> int:
    """Run the binaries. Print the lines that did not run, and the share of those that did."""
    counts: dict[Path, dict[int, int]] = defaultdict(lambda: defaultdict(int))
    for binary in binaries:
        objects = Path(f"{binary}-objects")
        for old in objects.glob("*.gcda"):
            old.unlink()
        subprocess.run([binary, "--cycles", cycles], check=True)
        add_counts(counts, objects)
    lines = reached = 0
    for path, count_by_line in sorted(counts.items()):
        source = path.read_text().splitlines()
        for number, count in sorted(count_by_line.items()):
            lines += 1
            reached += count > 0
            if not count:
                print(f"{path.parent.name}/{path.name}:{number}: {source[number - 1].strip()}")
    if not lines:
        sys.exit("coverage: there are no counts of the fast core: build with COVER=1")
    print(f"{reached} of {lines} lines ran ({reached / lines:.2%})")
    return reached < ENOUGH * lines


if __name__ == "__main__":
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    sys.exit(main(*sys.argv[1:]))
