# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Verbs that check the tool's own ground: doctor, validate."""

import json
import os
import secrets
import sys
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from tockmark import paths
from tockmark.check import conformance, doctor, interrupts_off, programs, validation
from tockmark.check.validation import ValidationRow, ValidationVerdict, judge_rows, load_unexplained
from tockmark.cli import options
from tockmark.cli.options import AsJson, print_json
from tockmark.cli.verb import verb
from tockmark.errors import INCOMPLETE, OK, TockmarkError
from tockmark.files import write_whole
from tockmark.rig import board as boards
from tockmark.rig import cache
from tockmark.rig.kernel import read_kernel
from tockmark.suite.selection import of_names


@verb(
    ("tockmark doctor", "tockmark doctor --json"),
    {OK: "all is in place", INCOMPLETE: "something is missing, or of another version"},
)
def doctor_verb(as_json: AsJson = False) -> None:
    """Show what is installed and built, in which version, and what to do about the rest."""
    findings = doctor.examine()
    if as_json:
        print_json(doctor.doctor_json(findings))
    else:
        print(doctor.doctor_text(findings), end="")
    raise typer.Exit(OK if all(finding.good for finding in findings) else INCOMPLETE)


@verb(
    ("tockmark validate", "tockmark validate --part memory,study"),
    {
        OK: "every row is inside its bound, or is explained as it was measured",
        INCOMPLETE: "a row is neither",
    },
)
def validate_verb(
    part: Annotated[
        str | None,
        typer.Option(
            help=f"Parts, separated by commas: {', '.join(programs.PARTS)}.",
            autocompletion=options.several(lambda: programs.PARTS),
        ),
    ] = None,
    as_json: AsJson = False,
    output: Annotated[
        Path | None, typer.Option("-o", "--output", help="Store all rows in a file, too.")
    ] = None,
    show: Annotated[
        Path | None, typer.Option(help="Show a stored validation; run nothing.")
    ] = None,
) -> None:
    """Compare the simulator with what others published or measured.

    Builds the simulators that it needs. What is outside its bound and is explained stands in
    validation/unexplained.toml, with the measurement that it holds for."""
    rows = validation.load_validation(show) if show is not None else _measured(part)
    judged = judge_rows(rows, load_unexplained())
    print(
        validation.validation_json(judged)
        if as_json
        else validation.validation_text(judged).rstrip("\n"),
        flush=True,
    )
    if output is not None:
        write_whole({output: validation.stored_text(rows)})
    wrong = any(item.verdict is ValidationVerdict.WRONG for item in judged)
    raise typer.Exit(INCOMPLETE if wrong else OK)


def _measured(part: str | None) -> list[ValidationRow]:
    parts = [programs.PARTS[name] for name in of_names("part", part, programs.PARTS)]
    programs.build_simulators(parts)
    return programs.run_parts(parts)


# The verb conformance.


SHOWN = 20  # of what was lost


@verb(
    (
        "tockmark conformance",
        "tockmark conformance --abi 1 --seeds 20",
        "tockmark conformance --kernel ~/tock/earlgrey-cw310.elf",
    ),
    {OK: "nothing is lost", INCOMPLETE: "something is lost"},
)
def conformance_verb(
    abi: Annotated[
        int | None, typer.Option(min=1, max=2, help="Version of the interface; default: both.")
    ] = None,
    kernel: Annotated[
        Path | None, typer.Option(help="ELF of another kernel, of version 2 unless --abi says so.")
    ] = None,
    machine: Annotated[
        str, typer.Option(help="Simulated machine: cw310, or nexysvideo as for Tock 1.x.")
    ] = "cw310",
    seeds: Annotated[
        int, typer.Option(min=1, help="Run the fuzz app with so many seeds, from 1 on.")
    ] = 2,
    seed: Annotated[
        int | None,
        typer.Option(min=1, max=2**32 - 1, help="And with this one; default: a new one each time."),
    ] = None,
    calls: Annotated[int, typer.Option(min=1, help="Calls that it makes with each.")] = 100_000,
    jobs: Annotated[
        int | None, typer.Option(min=1, help="Simulators at a time; default: one a core.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Check the rules of the system-call interface, attack the kernel, fuzz it, and see what is
    left for an app beside greedy ones.

    Another kernel than the baseline is held to the rules that any Tock keeps, and not attacked."""
    board = boards.load(boards.simulated(machine))
    fresh = secrets.randbelow(2**32 - 1) + 1 if seed is None else seed
    numbers = (*range(1, seeds + 1), fresh)
    versions = [abi] if abi else [2] if kernel else [2, 1]
    done = []
    for version in versions:
        elf = read_kernel(kernel or board.kernels[version])
        cores = jobs or os.cpu_count() or 1
        plan = conformance.Plan(elf, board, version, numbers, calls, cores)
        count = conformance.run(plan)
        done.append(count)
        if as_json:
            continue
        print(f"version {version} of the interface, {elf.name or paths.shown(elf.path)}:")
        print(_render(plan, count), flush=True)
        for what in count.lost[:SHOWN]:
            print(f"tockmark: lost: {what}", file=sys.stderr)
        if len(count.lost) > SHOWN:
            print(f"tockmark: and {len(count.lost) - SHOWN} more", file=sys.stderr)
    if as_json:
        named = zip(versions, done, strict=True)
        counts = [{"abi": abi, "seeds": numbers, **asdict(count)} for abi, count in named]
        print(json.dumps(counts, indent=1))
    raise typer.Exit(INCOMPLETE if any(count.lost for count in done) else OK)


def _availability(shares: list[conformance.VictimShare]) -> list[str]:
    """A line a case: what the victim finishes alone, beside one attacker and beside two."""
    lines = ["  availability      alone, and beside 1 and 2 who attack (the least that is its due)"]
    for share in shares:
        case = f"    {share.resource}: {share.work} while others {share.attack}"
        alone = share.alone or 0
        least = [conformance.least(alone, number) for number in conformance.ATTACKERS]
        got = zip(share.attacked, least, strict=True)
        told = [f"{'none' if done is None else done} ({bound})" for done, bound in got]
        lines.append(f"{case:58}{alone:6}  {'  '.join(f'{cell:>13}' for cell in told)}")
    return lines


def _render(plan: conformance.Plan, count: conformance.Count) -> str:
    lines = [f"  rules checked     {count.rules}"]
    if count.skipped:
        lines.append(f"  rules skipped     {len(count.skipped)}: {', '.join(count.skipped)}")
    if plan.own:
        lines.append(f"  attempts stopped  {count.attempts}")
        *fixed, fresh = plan.seeds
        seeds = f"1 to {len(fixed)}" if len(fixed) > 1 else "1"
        lines.append(f"  calls fuzzed      {count.calls}, seeds {seeds} and {fresh}")
        if plan.abi == 2:
            opened = ", ".join(count.open_csrs) or "none"
            lines.append(f"  CSR accesses      {count.csrs} stopped, open to user mode: {opened}")
        lines += _availability(count.shares)
    lines.append(f"  lost              {len(count.lost) or 'none'}")
    lines.append(f"  logs              {paths.shown(conformance.logs_of(plan))}/")
    return "\n".join(lines)


# The verb interrupts-off: the longest time that the baseline kernel runs with interrupts off.


@verb(("make sim-retire && tockmark interrupts-off",))
def interrupts_off_verb(
    abi: Annotated[
        int, typer.Option(min=1, max=2, help="Version of the system-call interface.")
    ] = 2,
    as_json: AsJson = False,
) -> None:
    """Show the longest time that the baseline kernel keeps interrupts off, by cause.

    Found in the retired instructions of boots that send, fault and panic, at 115200 baud."""
    found = interrupts_off.measure(abi)
    if as_json:
        print(json.dumps({cause: asdict(stretch) for cause, stretch in found.items()}, indent=1))
        return
    print(f"{'cycles':>9}  longest with interrupts off, by what the kernel does, of all boots")
    for cause, stretch in sorted(found.items(), key=lambda item: item[1].cycles):
        print(f"{stretch.cycles:9}  {cause}")


# The verb `cache`: what is kept of simulations.


@verb(("tockmark cache", "tockmark cache --clear"))
def cache_verb(
    clear: Annotated[bool, typer.Option("--clear", help="Remove all of it.")] = False,
    as_json: AsJson = False,
) -> None:
    """Show how many simulated boots are kept, how large they are, and where they lie.

    A run of the same simulator, image and options takes its log from there. TOCKMARK_CACHE in the
    environment names another folder, or is `off`. What was not used for longest goes first."""
    kept = cache.default()
    if kept.folder is None:
        raise TockmarkError(f"{cache.PLACE} is off: nothing is kept", f"unset {cache.PLACE}")
    try:
        count, size = kept.clear() if clear else kept.size()
    except OSError as error:
        raise TockmarkError(f"{paths.shown(kept.folder)}: {error.strerror}") from error
    told = {"boots": count, "bytes": size, "most_bytes": kept.limit, "folder": str(kept.folder)}
    if as_json:
        print_json(told | {"cleared": clear})
    elif clear:
        print(f"removed {count} boots, {size} bytes, from {paths.shown(kept.folder)}")
    else:
        where = paths.shown(kept.folder)
        print(f"{count} boots, {size} of at most {kept.limit} bytes, in {where}")
