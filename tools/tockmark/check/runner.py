# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Runs the jobs of all chosen parts at once and shows how far each part is."""

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import nullcontext
from itertools import chain

from rich.console import Console
from rich.progress import Progress

from tockmark import paths
from tockmark.check import bare, benchmarks, icache, limit, memory, riscv_tests, secure, study
from tockmark.check.validation import ValidationPart, ValidationRow
from tockmark.errors import TockmarkError

PARTS = {
    module.NAME: ValidationPart(module.NAME, module.MACHINES, module.jobs)
    for module in (riscv_tests, benchmarks, memory, study, icache, secure, limit)
}


def build_simulators(parts: list[ValidationPart]) -> None:
    """Let make bring the simulators of these parts up to date."""
    machines = dict.fromkeys(chain.from_iterable(part.machines for part in parts))
    targets = [f"sim-{machine}" for machine in machines]
    print(f"building {', '.join(targets)}", file=sys.stderr, flush=True)
    command = ["make", "--no-print-directory", *targets]
    if subprocess.run(command, cwd=paths.ROOT, stdout=sys.stderr, check=False).returncode:
        raise TockmarkError("a simulator cannot be built", f"try `{' '.join(command)}`")
    missing = [machine for machine in machines if not bare.simulator(machine).exists()]
    if missing:
        raise TockmarkError(f"there is no simulator of {', '.join(missing)}", "run `make sim-…`")


def run(parts: list[ValidationPart]) -> list[ValidationRow]:
    """All rows, in the order of parts and jobs, whichever ends first."""
    live = sys.stderr.isatty()
    progress = Progress(console=Console(stderr=True))
    with progress if live else nullcontext(), ThreadPoolExecutor(os.cpu_count()) as pool:
        by_part = {part.name: [pool.submit(job) for job in part.jobs()] for part in parts}
        part_of = {future: name for name, futures in by_part.items() for future in futures}
        tasks = {name: progress.add_task(name, total=len(by_part[name])) for name in by_part}
        left = {name: len(futures) for name, futures in by_part.items()}
        try:
            for future in as_completed(part_of):
                name = part_of[future]
                left[name] -= 1
                progress.advance(tasks[name])
                future.result()
                if not live and left[name] == 0:
                    print(f"{name}: {len(by_part[name])} programs done", file=sys.stderr)
        except BaseException:
            pool.shutdown(cancel_futures=True)
            raise
    return [row for futures in by_part.values() for future in futures for row in future.result()]
