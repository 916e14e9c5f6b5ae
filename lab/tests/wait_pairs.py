# SPDX-License-Identifier: Apache-2.0 OR MIT
"""How often a wait is called longer where nothing but the layout of the kernel differs, as
docs/method.md says it.

    for n in 0 1 2 3 4 5; do
        TOCKMARK_LAYOUT=$n cargo kernel-lines --target-dir links/$n
        tockmark latency --kernel links/$n/…/profiling/tockmark-kernel --loads … -o $n-on.json
    done
    python lab/tests/wait_pairs.py *-on.json

The files of each call are of one setting of the cache.
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
            f" {grown(most)} cycles (beside {most.row.params['load']}), and by {ratio:.1%}"
        )


def grown(row: RowVerdict) -> float:
    """Return the cycles by which a wait is longer."""
    return (row.after or 0) - (row.before or 0)


if __name__ == "__main__":
    main(sys.argv[1:])
