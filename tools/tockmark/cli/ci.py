# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The verbs for continuous integration: gate, export."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated

from typer import Argument, Exit, Option

from tockmark import paths
from tockmark.cli import options
from tockmark.cli.verb import verb
from tockmark.compare import gate, rule
from tockmark.compare.limits import load_limits
from tockmark.errors import INCOMPLETE, OK, REGRESSION, UNUSABLE, TockmarkError
from tockmark.files import write_whole
from tockmark.result.file import load
from tockmark.show import comparison, export
from tockmark.suite import catalogue

Form = StrEnum("Form", {name.upper(): name for name in export.FORMS})  # type: ignore[misc]


@verb(
    "tockmark gate base.json new.json",
    "tockmark gate monday.json tuesday.json new.json --limits limits.toml --markdown summary.md",
    exits={
        OK: "pass",
        INCOMPLETE: "beyond a soft limit, or the new result is incomplete, or one rests on boots"
        " from elsewhere",
        UNUSABLE: "unusable input, wrong usage, or results that cannot be compared",
        REGRESSION: "regression: beyond a hard limit, or a row is gone",
    },
)
def gate_verb(
    files: Annotated[
        list[Path], Argument(metavar="BASE... NEW", help="Result files, the new one last.")
    ],
    limits: options.Limits = None,
    markdown: Annotated[
        Path | None, Option(help="Write a summary for a pull request to this file, too.")
    ] = None,
    only: options.Only = None,
    as_json: options.AsJson = False,
    force: options.Force = False,
) -> None:
    """Let a new result pass, or not, by limits on the growth of its rows.

    The layouts of several BASE files count together."""
    if len(files) < 2:
        raise TockmarkError("a gate needs a base and a new result", "give BASE and NEW")
    results, known = [load(file) for file in files], catalogue.load()
    allowed = load_limits(limits, known, options.rows_of(results))
    _, results = options.selected(known, only, results)
    *bases, new = zip(map(paths.shown, files), results, strict=True)
    gated = gate.gate(bases, new, allowed, known, rule.known_spread(bases[-1][1]), force)
    names = [name for name, _ in bases]
    made = comparison.gate_json if as_json else comparison.gate_text
    options.show(made(names, new[0], gated))
    if markdown is not None:
        write_whole({markdown: comparison.gate_markdown(names, new[0], gated)})
    raise Exit(gated.exit_code)


@verb(
    "tockmark export results/a.json --format csv -o a.csv",
    "tockmark export results/a.json --format bmf > a.bmf",
    exits={INCOMPLETE: "a row has an error, and is in csv alone"},
)
def export_verb(
    path: Annotated[Path, Argument(metavar="RESULT", help="Result file.")],
    form: Annotated[
        Form,
        Option(
            "--format",
            help="csv; bmf: Bencher Metric Format; github: github-action-benchmark's "
            "customSmallerIsBetter; lmbench: as in its result files.",
        ),
    ],
    output: Annotated[Path | None, options.output_to("File; default: standard output.")] = None,
    only: options.Only = None,
) -> None:
    """Write a result in a form that another tool reads.

    A row with an error is in no form but csv: it is named on stderr."""
    known = catalogue.load()
    _, (result,) = options.selected(known, only, [load(path)])
    text = export.export(result, known, form.value)
    if output is None:
        print(text, end="")
    else:
        write_whole({output: text})
        print(f"written {paths.shown(output)}")
    for doubt in result.provenance.doubts:
        options.say(f"{paths.shown(path)}: {doubt}")
    dropped = export.left_out(result)
    for reason in dropped:
        options.say(f"wrong: {reason}")
    raise Exit(INCOMPLETE if dropped else OK)
