# SPDX-License-Identifier: Apache-2.0 OR MIT
"""How often the rule calls a wait longer if only the kernel's layout differs (docs/method.md).

    for n in 0 1 2 3 4 5; do
        TOCKMARK_LAYOUT=$n cargo kernel-lines --target-dir links/$n
        tockmark latency --kernel links/$n/…/profiling/tockmark-kernel --loads … -o $n-on.json
    done
    python lab/tests/wait_pairs.py *-on.json

All files of one call must have the same cache setting.
"""

import itertools
import sys
from pathlib import Path

from tockmark.compare.limits import Limit
from tockmark.compare.verdict import RowVerdict
from tockmark.latency import report


def main(files: list[str]) -> None:
    """Compare each file with each other, in both directions."""
    stored = [report.load(Path(name)) for name in files]
    pairs = itertools.permutations(stored, 2)
    rows = [row for base, new in pairs for row in report.wait_verdicts(base, new)]
    for of in report.WHICH:
        own = [row for row in rows if row.row.params["of"] == of and row.before is not None]
        most = max(own, key=grown)
        ratio = max(row.estimate or 0 for row in own)
        print(
            f"{of}: {sum(row.limit is Limit.HARD for row in own)} of {len(own)} worse; at most by"
            f" {grown(most)} cycles (load {most.row.params['load']}), and by {ratio:.1%}"
        )


def grown(row: RowVerdict) -> float:
    """Return the growth of a wait, in cycles."""
    return (row.after or 0) - (row.before or 0)


if __name__ == "__main__":
    main(sys.argv[1:])
