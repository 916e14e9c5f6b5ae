# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The verbs validate, verify, conformance, same-simulator and study-log of `tockmark-lab`."""

import os
import secrets
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

from typer import Argument, Exit, Option

from tockmark.base import paths
from tockmark.base.errors import INCOMPLETE, OK, REGRESSION, UNUSABLE, TockmarkError
from tockmark.base.files import check_writable, write_whole
from tockmark.cli import options
from tockmark.cli.program import verb
from tockmark.cli.run_options import Jobs, interruptible_once
from tockmark.result import file
from tockmark.suite import catalogue as catalogues
from tockmark.suite.selection import split_names
from tockmark.target import board as boards
from tockmark.target.kernel import read_kernel
from tockmark_lab import (
    conformance,
    interleavings,
    interrupts_off,
    simulators,
    study_log,
    validation,
    validation_parts,
    verify,
)
from tockmark_lab.conformance import MIXES, MOST_ATTACKERS
from tockmark_lab.validation import ValidationVerdict
from tockmark_lab.validation_parts import PARTS


@verb(
    "tockmark-lab validate",
    "tockmark-lab validate --part memory,study",
    "tockmark-lab validate --part chip",
    exits={
        OK: "every row is within its bound, or has the value that its explanation lists",
        INCOMPLETE: "a row is outside its bound and not explained",
    },
)
def validate_verb(
    part: Annotated[
        str | None,
        options.names_option(
            lambda: PARTS,
            f"Parts, separated by commas: {', '.join(PARTS)} (default: those without a chip).",
        ),
    ] = None,
    as_json: options.AsJson = False,
    output: Annotated[Path | None, options.output_option("Also store all rows in a file.")] = None,
    stored: Annotated[
        Path | None, Option("--show", help="Show a stored validation and run nothing.")
    ] = None,
) -> None:
    """Compare the simulator with what others published or measured.

    Builds the simulators that it needs. lab/validation/unexplained.toml lists known rows outside
    their bound; an entry holds only for the value that it lists."""
    if output is not None:
        check_writable([output], validation.FORMAT)
    sha256: dict[str, str] = {}
    if stored is None:
        usual = ",".join(name for name, of in PARTS.items() if of.usual)
        parts = [PARTS[name] for name in split_names("part", part or usual, PARTS)]
        validation_parts.build_simulators(parts)
        rows, sha256 = validation_parts.run_parts(parts), validation_parts.hashes(parts)
    else:
        rows = validation.load_validation(stored)
    judged = validation.judge_rows(rows, validation.load_unexplained())
    options.show(
        validation.validation_json(judged) if as_json else validation.validation_text(judged)
    )
    if output is not None:
        write_whole({output: validation.stored_text(rows, sha256)})
    wrong = any(item.verdict is ValidationVerdict.WRONG for item in judged)
    raise Exit(INCOMPLETE if wrong else OK)


@verb(
    "tockmark-lab verify results/baseline-cw310.json --kernel KERNEL.elf",
    "tockmark-lab verify base.json --kernel a.elf --kernel b.elf --boots all",
    exits={
        OK: "the boots give the samples of the result",
        UNUSABLE: "unusable input, or not the kernel, apps or simulator of the result",
        REGRESSION: "a boot gives other samples",
    },
)
def verify_verb(
    result: Annotated[Path, Argument(help="Result of a simulator.")],
    kernel: Annotated[
        list[Path], Option(help="ELF of the result's kernel. Repeat for each of its links.")
    ],
    boots: Annotated[
        str, Option(metavar="N|all", help="Simulate N of its boots again, or all.")
    ] = str(verify.BOOTS),
    seed: Annotated[
        str | None, Option(help="Seed that draws the boots (default: a new one, which is printed).")
    ] = None,
    jobs: Jobs = None,
    as_json: options.AsJson = False,
) -> None:
    """Simulate boots of a result again and compare every sample.

    First the parts of the result are compared with each other: rows with the boots that they name,
    samples with the cycles of their boot, instructions across layouts, counter reads across boots,
    and rows with the catalogue entries that the result names. A contradiction ends the verb.

    The boots are drawn at random each time, and never taken from the cache."""
    count = None if boots == "all" else int(boots) if boots.isdecimal() else 0
    if count == 0:
        raise TockmarkError(f"--boots {boots}: not a number of boots", "give 1 or more, or `all`")
    stored = file.load(result)
    if (name := stored.provenance.board.name) is None:
        raise TockmarkError(f"{paths.shown(result)} does not name its board")
    with interruptible_once():
        verified = verify.verify(
            stored,
            [read_kernel(path) for path in kernel],
            boards.load(name),
            catalogues.load(),
            count,
            seed or secrets.token_hex(8),
            jobs or os.cpu_count() or 1,
        )
    render = verify.verified_json if as_json else verify.verified_text
    options.show(render(paths.shown(result), verified))
    raise Exit(REGRESSION if verified.differences else OK)


@verb(
    "tockmark-lab conformance",
    "tockmark-lab conformance --abi 1 --seeds 20",
    "tockmark-lab conformance --kernel ~/tock/earlgrey-cw310.elf",
    "tockmark-lab conformance --kernel ~/tock/earlgrey-cw310.elf --step 100",
    exits={OK: "the kernel passes", INCOMPLETE: "it does not; a line `lost: …` says why"},
)
def conformance_verb(
    abi: Annotated[
        int | None,
        Option(min=1, max=2, help="Version of the interface (default: both; 2 with --kernel)."),
    ] = None,
    kernel: Annotated[Path | None, Option(help="ELF of another kernel than the baseline.")] = None,
    machine: Annotated[
        str, Option(help="Simulated machine: cw310, or nexysvideo as for Tock 1.x.")
    ] = "cw310",
    seeds: Annotated[int, Option(min=1, help="Run the fuzz app with the seeds 1 to N.")] = 2,
    seed: Annotated[
        int | None,
        Option(min=1, max=2**32 - 1, help="Also run it with this seed (default: a new one)."),
    ] = None,
    calls: Annotated[int, Option(min=1, help="Calls that the fuzz app makes per seed.")] = 100_000,
    attackers: Annotated[
        int,
        Option(min=0, max=MOST_ATTACKERS, help="Run at most N attackers at once."),
    ] = MOST_ATTACKERS,
    mixes: Annotated[
        int,
        Option(min=0, max=len(MIXES), help="Also run the first N random mixes of calls."),
    ] = len(MIXES),
    step: Annotated[
        int | None,
        Option(
            min=0,
            help="Cycles between the tested distances of two upcalls; 0 skips these tests (default:"
            f" {interleavings.STEP}, or 0 for another kernel).",
        ),
    ] = None,
    jobs: Jobs = None,
    as_json: options.AsJson = False,
) -> None:
    """Check a kernel against the rules of the system-call interface, and attack it.

    Also fuzzes the kernel, measures what is left for an app next to greedy ones, and delivers
    upcalls in pairs, at every distance. Another kernel than the baseline is not attacked, and only
    checked against the rules that apply to every Tock kernel."""
    board = boards.load(boards.simulated_board(machine))
    numbers = (*range(1, seeds + 1), seed or secrets.randbelow(2**32 - 1) + 1)
    totals, stretches_by_abi, sweeps = {}, {}, {}
    for version in [abi] if abi else [2] if kernel else [2, 1]:
        elf = read_kernel(kernel or board.kernels[version])
        most_attacks = attackers, MIXES[:mixes]
        at_a_time = jobs or os.cpu_count() or 1
        plan = conformance.Plan(elf, board, version, numbers, calls, at_a_time, *most_attacks)
        stretches: dict[str, interrupts_off.WorstStretch] = {}
        if (
            plan.is_baseline and kernel is None and machine == "cw310"
        ):  # first, since the rest takes minutes
            searches = [interrupts_off.search(search_seed) for search_seed in (1, numbers[-1])]
            stretches = interrupts_off.measure(plan, [*searches, *interrupts_off.SCENES])
        stretches_by_abi[version] = {kind: asdict(worst) for kind, worst in stretches.items()}
        totals[version] = conformance.run(plan)
        totals[version].lost += interrupts_off.too_long(stretches)
        by = step if step is not None else interleavings.STEP if plan.is_baseline else 0
        sweeps[version] = interleavings.run(plan, by) if by else []
        totals[version].lost += [line for sweep in sweeps[version] for line in sweep.lines()]
        if not as_json:
            print(f"version {version} of the interface, {elf.name or paths.shown(elf.path)}:")
            longest = interrupts_off.longest(stretches) if stretches else ""
            pairs = interleavings.format_sweeps(sweeps[version])
            options.show(conformance.format_totals(plan, totals[version], longest, pairs))
            options.print_first(totals[version].lost, "lost: ")
    if as_json:
        options.show(
            [
                {
                    "abi": abi,
                    "seeds": numbers,
                    **asdict(count),
                    "interrupts_off": stretches_by_abi[abi],
                    "pairs": interleavings.sweeps_json(sweeps[abi]),
                }
                for abi, count in totals.items()
            ]
        )
    raise Exit(INCOMPLETE if any(count.lost for count in totals.values()) else OK)


@verb(
    "tockmark-lab same-simulator old/earlgrey-sim build/sim/cw310/earlgrey-sim",
    "tockmark-lab same-simulator old new --machine nexysvideo --kernel-v1 tock.elf",
    exits={OK: "both give the same; the proof is in boards/earlgrey-sim/simulators.toml"},
)
def same_simulator_verb(
    old: Annotated[Path, Argument(help="Binary with which results were measured.")],
    new: Annotated[Path, Argument(help="Binary that must give the same.")],
    machine: Annotated[str, Option(help="Machine that both simulate.")] = "cw310",
    kernel: Annotated[
        list[Path] | None, Option(help="ELF of another kernel of version 2. Repeatable.")
    ] = None,
    kernel_v1: Annotated[
        list[Path] | None, Option(help="ELF of another kernel of version 1. Repeatable.")
    ] = None,
    unlike: Annotated[
        str | None, Option(help="Benchmarks whose rows may differ, separated by commas.")
    ] = None,
    jobs: Jobs = None,
    as_json: options.AsJson = False,
) -> None:
    """Prove that two builds of the simulator give the same results, and store the proof.

    Runs every boot of the catalogue on both, with the baseline and further kernels, for both
    versions of the interface, in C and Rust, with the cache off and on. Logs and final cycles are
    compared. If a boot differs, the verb names it and writes nothing."""
    board = boards.load(boards.simulated_board(machine))
    kernels = {
        abi: [read_kernel(path) for path in (board.kernels[abi], *(more or ()))]
        for abi, more in ((2, kernel), (1, kernel_v1))
    }
    catalogue, at_a_time = catalogues.load(), jobs or os.cpu_count() or 1
    names = split_names("--unlike", unlike, catalogue.benchmarks) if unlike else ()
    entry = simulators.prove((old, new), board, catalogue, kernels, at_a_time, names)
    simulators.keep(entry)
    if as_json:
        options.show(asdict(entry))
    else:
        print(f"{entry.boots} boots and {entry.cycles:,} cycles are the same on both")


@verb(
    "tockmark-lab study-log loop.log --study -o loop.json",
    exits={INCOMPLETE: "some tables are damaged or unknown; the others are stored"},
)
def study_log_verb(
    log: Annotated[Path, Argument(help="Log with tables in the format of the 2021 study.")],
    study: Annotated[
        bool, Option("--study", help="The log is from the 2021 study: its kernel on its board.")
    ] = False,
    output: Annotated[
        Path | None, options.output_option("Result file (default: LOG with .json).")
    ] = None,
) -> None:
    """Convert a log in the format of the 2021 study to a result file.

    Tables that do not fit are skipped and listed on stderr. docs/trust.md describes the format."""
    path = output or log.with_suffix(".json")
    options.check_not_a_log(path)
    catalogue = catalogues.load()
    result = study_log.parse(log, catalogue, study)
    write_whole({path: file.text(result)})
    print(f"{len(result.rows)} rows stored: {paths.shown(path)}")
    for id_ in sorted({row.id for row in result.rows} - catalogue.benchmarks.keys()):
        print(f"not in the catalogue: {id_}")
    options.print_first(result.incomplete)
    raise Exit(options.incomplete_code(result))
