# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Run lockstep over many random programs, on all cores of this machine.

    random_runs.py BINARY CYCLES

Each run has its own seeds, and fails if its programs left anything out. Exit code 1 at the first
failure, with the run's output.
"""

import os
import re
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor

RUN = 20_000_000  # cycles of a run: enough for the rarest event
SEEDS = 1_000_000  # of a run: more than it has programs
EQUAL = re.compile(r"equal over (\d+) cycles")


def run(binary: str, number: int, cycles: int) -> int:
    """Return the cycles of a run. Exit if it fails."""
    seed = str(number * SEEDS + 1)
    done = subprocess.run(
        [binary, "--seed", seed, "--cycles", str(cycles), "--statistics"],
        capture_output=True,
        text=True,
        check=False,
    )
    equal = EQUAL.search(done.stdout)
    if done.returncode != 0 or not equal:
        print(f"{binary} --seed {seed}\n{done.stdout}{done.stderr}", flush=True)
        os._exit(1)  # other runs are still busy
    return int(equal[1])


def main(binary: str, cycles: int) -> None:
    """Run at least this many cycles."""
    runs = -(-cycles // RUN)
    start, total = time.monotonic(), 0
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        for equal in pool.map(lambda number: run(binary, number, min(RUN, cycles)), range(runs)):
            total += equal
            print(f"equal over {total / 1e6:,.0f} M random cycles", flush=True)
    seconds = time.monotonic() - start
    print(f"{binary}: equal over {total:,} random cycles in {seconds:,.0f} s")


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    main(sys.argv[1], int(sys.argv[2]))
