# SPDX-License-Identifier: Apache-2.0 OR MIT
"""From a run to a result: the boots' text becomes the log, and the result is made from that log
alone, just as `tockmark parse` would make it, plus the provenance that only the run knows."""

from collections.abc import Sequence

import msgspec

from tockmark.log.protocol import BootMark, decode
from tockmark.log.rows import assemble
from tockmark.plain import showable
from tockmark.result.build import Context, Expected, build
from tockmark.result.facts import board_of, kernel_of
from tockmark.result.layouts import joined
from tockmark.result.model import Result
from tockmark.result.provenance import BootRun, Layout, Slot
from tockmark.suite.catalogue import ICACHE, Lang
from tockmark.suite.select import Selection
from tockmark.target.run import Job, Options, Ran


def result_of(ran: Ran, options: Options, wanted: Selection) -> tuple[Result, str]:
    """The result, and the log that its first layout was made from. The others have none, and
    results/ stays small: what their boots printed, a second run prints again."""
    made, log = by_layout(ran, options, wanted)
    return joined(made), log


def by_layout(ran: Ran, options: Options, wanted: Selection) -> tuple[list[Result], str]:
    """What was measured in each layout, and the log of the first."""
    log = "".join(f"{line}\n" for job in ran.jobs[0] for line in _lines(job, options))
    context = _context(ran, options)
    first = _of_layout(log.splitlines(), ran.jobs[0], wanted, context, ran.notes)
    varied = wanted.of_further_layouts()
    others = [
        _of_layout([line for job in jobs for line in _lines(job, options)], jobs, varied, context)
        for jobs in ran.jobs[1:]
    ]
    return [first, *others], log


def _of_layout(
    lines: list[str],
    jobs: list[Job],
    wanted: Selection,
    context: Context,
    notes: Sequence[str] = (),
) -> Result:
    """What was measured in one layout."""
    expected = [Expected(job.boot, job.icache, job.skipped, job.apps.lang) for job in jobs]
    said = [*notes, *(f"{job.name}: {job.note}" for job in jobs if job.note)]
    return build(assemble(decode(lines)), wanted.catalogue, context, expected, wanted, said)


def _lines(job: Job, options: Options) -> list[str]:
    """What a boot said, between its marks; these say its language, unless all are in C."""
    if not job.started or job.skipped is not None:
        return []
    lang = None if options.langs == ["c"] else job.apps.lang
    begin, end = (
        BootMark(job.boot.name, job.icache, job.boot.group, ends, lang).encode()
        for ends in (False, True)
    )
    return [begin, *job.lines, *([end] if job.ended else [])]


def _context(ran: Ran, options: Options) -> Context:
    return Context(
        kernel=kernel_of(options.kernel, options.board),
        board=board_of(options.board),
        abi=options.abi,
        boots=_boots(ran.jobs[0]),
        layouts=tuple(
            Layout(showable(one.kernel.path.name), one.kernel.sha256, one.link, one.seed)
            for one in ran.layouts
        ),
        cached=sum(job.taken == "cache" for jobs in ran.jobs for job in jobs),
    )


def _boots(jobs: list[Job]) -> tuple[BootRun, ...]:
    """The boots that were laid, each with the cycles that it took."""
    found: dict[tuple[str, Lang], BootRun] = {}
    for job in jobs:
        if job.image is None:
            continue
        key = name, lang = job.boot.name, job.apps.lang
        if key not in found:
            slots = tuple(msgspec.convert(slot.layout(), Slot) for slot in job.image.slots)
            found[key] = BootRun(name, {}, slots, lang)
        found[key].cycles[ICACHE[job.icache]] = job.status.cycles  # type: ignore[index]
    return tuple(found.values())
