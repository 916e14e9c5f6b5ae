# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Runs the jobs of all chosen parts at once and shows how far each part is."""

import os
import subprocess
import sys
from concurrent.futures import Future, ThreadPoolExecutor, as_completed
from itertools import chain

from rich.progress import TaskID

from tockmark import paths
from tockmark.check import bare, benchmarks, icache, limit, memory, riscv_tests, secure, study
from tockmark.check.validation import ValidationPart, ValidationRow
from tockmark.errors import TockmarkError
from tockmark.rig.progress import bars

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
    """Return all rows in the order of parts and jobs, whichever ends first."""
    with bars() as shown, ThreadPoolExecutor(os.cpu_count()) as pool:
        by_part = {part.name: [pool.submit(job) for job in part.jobs()] for part in parts}
        task_of: dict[Future[list[ValidationRow]], TaskID] = {}
        for name, futures in by_part.items():
            task_of |= dict.fromkeys(futures, shown.add_task(name, total=len(futures)))
        try:
            for future in as_completed(task_of):
                shown.advance(task_of[future])
                future.result()
                task = shown.tasks[task_of[future]]
                if shown.disable and task.finished:
                    print(f"{task.description}: {task.total} programs done", file=sys.stderr)
        except BaseException:
            pool.shutdown(cancel_futures=True)
            raise
    return [row for futures in by_part.values() for future in futures for row in future.result()]
