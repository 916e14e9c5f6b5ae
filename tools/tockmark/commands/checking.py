# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Verbs that check the tool's own ground: doctor, validate."""

from pathlib import Path
from typing import Annotated

import typer

from tockmark.commands import completing, doctor
from tockmark.commands.common import AsJson, Debug, print_json
from tockmark.commands.verb import Group, add
from tockmark.errors import INCOMPLETE, OK
from tockmark.files import write_whole
from tockmark.suite.select import of_names
from tockmark.validate import file, report, runner
from tockmark.validate.row import Row, Verdict, judge, load_unexplained


def register(app: typer.Typer) -> None:
    """Add these verbs to the command line."""
    add(
        app,
        "doctor",
        doctor_verb,
        Group.CHECK,
        ("tockmark doctor", "tockmark doctor --json"),
        {OK: "all is in place", INCOMPLETE: "something is missing, or of another version"},
    )
    add(
        app,
        "validate",
        validate_verb,
        Group.CHECK,
        ("tockmark validate", "tockmark validate --part memory,study"),
        {
            OK: "every row is inside its bound, or is explained as it was measured",
            INCOMPLETE: "a row is neither",
        },
    )


def doctor_verb(as_json: AsJson = False, debug: Debug = False) -> None:
    """Show what is installed and built, in which version, and what to do about the rest."""
    findings = doctor.examine()
    if as_json:
        print_json(doctor.as_json(findings))
    else:
        print(doctor.render(findings), end="")
    raise typer.Exit(OK if all(finding.good for finding in findings) else INCOMPLETE)


def validate_verb(
    part: Annotated[
        str | None,
        typer.Option(
            help=f"Parts, separated by commas: {', '.join(runner.PARTS)}.",
            autocompletion=completing.several(lambda: runner.PARTS),
        ),
    ] = None,
    as_json: AsJson = False,
    output: Annotated[
        Path | None, typer.Option("-o", "--output", help="Store all rows in a file, too.")
    ] = None,
    show: Annotated[
        Path | None, typer.Option(help="Show a stored validation; run nothing.")
    ] = None,
    debug: Debug = False,
) -> None:
    """Compare the simulator with what others published or measured.

    Builds the simulators that it needs. What is outside its bound and is explained stands in
    validation/unexplained.toml, with the measurement that it holds for."""
    rows = file.load(show) if show is not None else _measured(part)
    judged = judge(rows, load_unexplained())
    print(report.as_json(judged) if as_json else report.render(judged).rstrip("\n"), flush=True)
    if output is not None:
        write_whole({output: file.text(rows)})
    wrong = any(item.verdict is Verdict.WRONG for item in judged)
    raise typer.Exit(INCOMPLETE if wrong else OK)


def _measured(part: str | None) -> list[Row]:
    parts = [runner.PARTS[name] for name in of_names("part", part, runner.PARTS)]
    runner.build_simulators(parts)
    return runner.run(parts)
