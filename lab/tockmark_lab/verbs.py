# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The verbs of `tockmark-lab`: validate, verify, conformance, same-simulator, instances,
isolation and study-log."""

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
        OK: "every row is inside its bound, or is explained as it was measured",
        INCOMPLETE: "a row is neither",
    },
)
def validate_verb(
    part: Annotated[
        str | None,
        options.names_option(
            lambda: PARTS,
            f"Parts, separated by commas: {', '.join(PARTS)}. Default: all that need no chip.",
        ),
    ] = None,
    as_json: options.AsJson = False,
    output: Annotated[Path | None, options.output_option("Store all rows in a file, too.")] = None,
    stored: Annotated[
        Path | None, Option("--show", help="Show a stored validation; run nothing.")
    ] = None,
) -> None:
    """Compare the simulator with what others published or measured.

    Builds the simulators that it needs. What is outside its bound and is explained stands in
    lab/validation/unexplained.toml, with the measurement that it holds for."""
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
        OK: "the boots give what the result holds",
        UNUSABLE: "the kernel, the apps or the simulator are not the result's, or it is unusable",
        REGRESSION: "a boot gives something else",
    },
)
def verify_verb(
    result: Annotated[Path, Argument(help="Result file of a simulator.")],
    kernel: Annotated[
        list[Path], Option(help="ELF of its kernel; again for each of its further links.")
    ],
    boots: Annotated[
        str, Option(metavar="N|all", help="How many of its boots to simulate again.")
    ] = str(verify.BOOTS),
    seed: Annotated[
        str | None, Option(help="What draws the boots; default: a new one, which is printed.")
    ] = None,
    jobs: Jobs = None,
    as_json: options.AsJson = False,
) -> None:
    """Simulate boots of a result again, and compare every sample.

    First the parts of the result are compared with each other: a row's boot with the boots of
    provenance, samples with the cycles of their boot, instructions across layouts, readings across
    boots, and rows with the catalogue's entries that the result names. A contradiction ends it.

    The boots are drawn anew each time, and nothing is taken from the cache."""
    count = None if boots == "all" else int(boots) if boots.isdecimal() else 0
    if count == 0:
        raise TockmarkError(f"--boots {boots} is no number of boots", "give 1 or more, or `all`")
    stored = file.load(result)
    if (name := stored.provenance.board.name) is None:
        raise TockmarkError(f"{paths.shown(result)} does not name its board")
    with interruptible_once():
        found = verify.verify(
            stored,
            [read_kernel(path) for path in kernel],
            boards.load(name),
            catalogues.load(),
            count,
            seed or secrets.token_hex(8),
            jobs or os.cpu_count() or 1,
        )
    made = verify.verified_json if as_json else verify.verified_text
    options.show(made(paths.shown(result), found))
    raise Exit(REGRESSION if found.differences else OK)


@verb(
    "tockmark-lab conformance",
    "tockmark-lab conformance --abi 1 --seeds 20",
    "tockmark-lab conformance --kernel ~/tock/earlgrey-cw310.elf",
    "tockmark-lab conformance --kernel ~/tock/earlgrey-cw310.elf --step 100",
    exits={OK: "nothing is lost", INCOMPLETE: "something is lost"},
)
def conformance_verb(
    abi: Annotated[
        int | None, Option(min=1, max=2, help="Version of the interface; default: both.")
    ] = None,
    kernel: Annotated[
        Path | None, Option(help="ELF of another kernel, of version 2 unless --abi says so.")
    ] = None,
    machine: Annotated[
        str, Option(help="Simulated machine: cw310, or nexysvideo as for Tock 1.x.")
    ] = "cw310",
    seeds: Annotated[
        int, Option(min=1, help="Run the fuzz app with so many seeds, from 1 on.")
    ] = 2,
    seed: Annotated[
        int | None,
        Option(min=1, max=2**32 - 1, help="And with this one; default: a new one each time."),
    ] = None,
    calls: Annotated[int, Option(min=1, help="Calls that it makes with each.")] = 100_000,
    attackers: Annotated[
        int,
        Option(min=0, max=MOST_ATTACKERS, help="Let so many attack at once, by all pairs."),
    ] = MOST_ATTACKERS,
    mixes: Annotated[
        int,
        Option(min=0, max=len(MIXES), help="And by so many random mixes of calls."),
    ] = len(MIXES),
    step: Annotated[
        int | None,
        Option(
            min=0,
            help="Cycles from a distance of two upcalls to the next; 0: no pairs. Default:"
            f" {interleavings.STEP}, and for another kernel 0.",
        ),
    ] = None,
    jobs: Jobs = None,
    as_json: options.AsJson = False,
) -> None:
    """Check the rules of the system-call interface, attack the kernel, fuzz it, see what is left
    for an app beside greedy ones, and deliver upcalls in pairs, at every distance.

    Another kernel than the baseline is held to the rules that any Tock keeps, and not attacked."""
    board = boards.load(boards.simulated_board(machine))
    numbers = (*range(1, seeds + 1), seed or secrets.randbelow(2**32 - 1) + 1)
    done, held, swept = {}, {}, {}
    for version in [abi] if abi else [2] if kernel else [2, 1]:
        elf = read_kernel(kernel or board.kernels[version])
        most = attackers, MIXES[:mixes]
        at_a_time = jobs or os.cpu_count() or 1
        plan = conformance.Plan(elf, board, version, numbers, calls, at_a_time, *most)
        stretches: dict[str, interrupts_off.LongestStretch] = {}
        if plan.is_baseline and kernel is None and machine == "cw310":  # before what takes minutes
            searches = [interrupts_off.search(one) for one in (1, numbers[-1])]
            stretches = interrupts_off.measure(plan, [*searches, *interrupts_off.SCENES])
        held[version] = {kind: asdict(worst) for kind, worst in stretches.items()}
        done[version] = conformance.run(plan)
        done[version].lost += interrupts_off.too_long(stretches)
        by = step if step is not None else interleavings.STEP if plan.is_baseline else 0
        swept[version] = interleavings.run(plan, by) if by else []
        done[version].lost += [line for one in swept[version] for line in one.lines()]
        if not as_json:
            print(f"version {version} of the interface, {elf.name or paths.shown(elf.path)}:")
            off = interrupts_off.longest(stretches) if stretches else ""
            pairs = interleavings.format_sweeps(swept[version])
            options.show(conformance.format_totals(plan, done[version], off, pairs))
            options.print_first(done[version].lost, "lost: ")
    if as_json:
        options.show(
            [
                {
                    "abi": abi,
                    "seeds": numbers,
                    **asdict(count),
                    "interrupts_off": held[abi],
                    "pairs": interleavings.sweeps_json(swept[abi]),
                }
                for abi, count in done.items()
            ]
        )
    raise Exit(INCOMPLETE if any(count.lost for count in done.values()) else OK)


@verb(
    "tockmark-lab same-simulator old/earlgrey-sim build/sim/cw310/earlgrey-sim",
    "tockmark-lab same-simulator old new --machine nexysvideo --kernel-v1 tock.elf",
    exits={OK: "both say the same; the proof is in boards/earlgrey-sim/simulators.toml"},
)
def same_simulator_verb(
    old: Annotated[Path, Argument(help="The binary that results were measured with.")],
    new: Annotated[Path, Argument(help="The one that is to say the same.")],
    machine: Annotated[str, Option(help="The machine that both simulate.")] = "cw310",
    kernel: Annotated[
        list[Path] | None, Option(help="ELF of a further kernel of version 2; several.")
    ] = None,
    kernel_v1: Annotated[list[Path] | None, Option(help="The same, of version 1.")] = None,
    jobs: Jobs = None,
    as_json: options.AsJson = False,
) -> None:
    """Prove that two builds of the simulator say the same, and keep the proof.

    Every boot of the catalogue runs on both, with the baseline and further kernels, for both
    versions of the interface, in C and Rust, with the cache off and on. Logs and last cycles are
    compared. Where one differs it is named, and nothing is written."""
    board = boards.load(boards.simulated_board(machine))
    kernels = {
        abi: [read_kernel(path) for path in (board.kernels[abi], *(more or ()))]
        for abi, more in ((2, kernel), (1, kernel_v1))
    }
    known, at_a_time = catalogues.load(), jobs or os.cpu_count() or 1
    entry = simulators.prove((old, new), board, known, kernels, at_a_time)
    simulators.keep(entry)
    if as_json:
        options.show(asdict(entry))
    else:
        print(f"{entry.boots} boots and {entry.cycles:,} cycles are the same on both")


@verb(
    "tockmark-lab study-log loop.log --study -o loop.json",
    exits={INCOMPLETE: "tables are damaged or unknown; what was good is kept"},
)
def study_log_verb(
    log: Annotated[Path, Argument(help="Log with tables of the 2021 study's form.")],
    study: Annotated[
        bool, Option("--study", help="The study of 2021 took this log: its kernel, its board.")
    ] = False,
    output: Annotated[
        Path | None, options.output_option("Result file; default: LOG with .json.")
    ] = None,
) -> None:
    """Turn a log of the 2021 study's form into a result file.

    What fits is kept, what does not is named on stderr. docs/trust.md has the form."""
    path = output or log.with_suffix(".json")
    options.check_not_a_log(path)
    known = catalogues.load()
    result = study_log.parse(log, known, study)
    write_whole({path: file.text(result)})
    print(f"{len(result.rows)} rows kept: {paths.shown(path)}")
    for id_ in sorted({row.id for row in result.rows} - known.benchmarks.keys()):
        print(f"not in the catalogue: {id_}")
    options.print_first(result.incomplete)
    raise Exit(options.incomplete_code(result))
