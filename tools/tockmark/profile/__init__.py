# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The verb `profile`: where each cycle of one benchmark's sample goes.

A steady sample of the benchmark is found in the instruction trace of a run (traced.py, trace.py),
its cycles are charged (attribute.py), and shown (report.py, flame.py). What functions cost, in it
or in all of the run, is counted in calls.py and functions.py.
"""

from dataclasses import dataclass

from tockmark import paths
from tockmark.errors import TockmarkError
from tockmark.profile import attribute, file, flame, report
from tockmark.profile.run import ProfileOptions, default_out, kernel_of, simulators, traced
from tockmark.profile.symbols import Frame
from tockmark.profile.trace import Step
from tockmark.result import provenance
from tockmark.suite.catalogue import ICACHE, Catalogue

__all__ = ["ProfileOptions", "ProfileTaken", "default_out", "profile", "simulators"]

MISCOUNT = 2  # with the cache on, Ibex's minstret may be off by as much between two readings
NO_LINES = ", by symbol only: it has no line tables; `make profile` makes the baseline's"


@dataclass(frozen=True)
class ProfileTaken:
    """One profile: what its file keeps, and the text for its reader."""

    stored: file.StoredProfile
    text: str


def profile(options: ProfileOptions, catalogue: Catalogue) -> ProfileTaken:
    """Profile one benchmark, and write the files. TockmarkError if the kernel does not measure it,
    or the simulator with the retirement port is not built."""
    run = traced(options, catalogue)
    found, app = run.sample, run.app
    kernel = kernel_of(options.kernel)
    kernel.study(step.pc for step in found.steps if not step.user)
    app.study(step.pc for step in found.steps if step.user)

    def where(step: Step) -> tuple[Frame, ...]:
        return (app if step.user else kernel).frames(step.pc)

    made = attribute.profile(found, where)
    counted = run.row.series["instret"][run.number]
    at_once = options.apps.abi != 1  # there by another command, in samples of their own
    if at_once and abs(made.instructions - counted) > (MISCOUNT if options.icache else 0):
        raise TockmarkError(
            f"the trace has {made.instructions} instructions where the app counted {counted}",
            "report this",
        )
    head = [
        f"{options.label}: sample {run.number + 1} of {len(run.row.series['cycles'])},"
        f" {found.cycles} cycles",
        f"kernel  {options.kernel.name or options.kernel.path.name}"
        f" sha256 {options.kernel.sha256[:12]}{'' if kernel.lines else NO_LINES}",
        f"board   {options.board.name} ({options.board.machine}), i-cache {ICACHE[options.icache]}",
        f"check   the app measured {found.cycles} cycles"
        f"{f' and {counted} instructions' if at_once else ''}:"
        f" what is charged below adds up to them;",
        "        and the run without the retirement port printed the same log, byte for byte",
    ]
    text = "\n".join([*head, "", report.tables(made)])
    subtitle = f"{head[1].split(' sha256')[0].removeprefix('kernel  ')}, {head[2][8:]}"
    measured = provenance.Kernel(
        options.kernel.name,
        options.kernel.path.name,
        options.kernel.sha256,
        opt_level=options.kernel.opt_level,
    )
    kept = file.stored(
        made,
        options.id,
        options.params,
        options.icache,
        measured,
        options.board.name,
        options.apps.lang,
    )
    files = {
        "profile.txt": f"{text}\n",
        "profile.json": file.text(kept),
        "stacks.folded": attribute.folded(made.stacks()),
        "flame.svg": flame.svg(made, options.label, subtitle, flame.flame_told(made, run.reading)),
        "sample.txt": "".join(
            f"{line}\n" for line in report.listing(made, [options.kernel.path, app.path])
        ),
    }
    for name, content in files.items():
        (options.out / name).write_text(content, encoding="utf-8")
    written = ", ".join(files)
    return ProfileTaken(kept, f"{text}\n\nwritten to {paths.shown(options.out)}: {written}")
