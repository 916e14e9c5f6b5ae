# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The verb conformance."""

import json
import os
import secrets
import sys
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from tockmark import paths
from tockmark.commands.common import AsJson, Debug
from tockmark.commands.verb import Group, add
from tockmark.conformance import availability
from tockmark.conformance import check as conformance
from tockmark.errors import INCOMPLETE, OK
from tockmark.target import board as boards
from tockmark.target.image import read_kernel

SHOWN = 20  # of what was lost


def register(app: typer.Typer) -> None:
    """Add this verb to the command line."""
    add(
        app,
        "conformance",
        conformance_verb,
        Group.CHECK,
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
    debug: Debug = False,
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


def _availability(shares: list[availability.Share]) -> list[str]:
    """A line a case: what the victim finishes alone, beside one attacker and beside two."""
    lines = ["  availability      alone, and beside 1 and 2 who attack (the least that is its due)"]
    for share in shares:
        case = f"    {share.resource}: {share.work} while others {share.attack}"
        alone = share.alone or 0
        least = [availability.least(alone, number) for number in availability.ATTACKERS]
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
