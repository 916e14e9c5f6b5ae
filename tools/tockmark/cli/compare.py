# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The verbs that hand results on: compare says what changed between them, export writes one for
another tool.
"""

from collections.abc import Sequence
from enum import StrEnum
from pathlib import Path
from typing import Annotated

from typer import Argument, Exit, Option

from tockmark.base import paths
from tockmark.base.errors import INCOMPLETE, OK, REGRESSION, UNUSABLE, TockmarkError, print_message
from tockmark.base.files import write_whole
from tockmark.cli import options
from tockmark.cli.program import verb
from tockmark.compare import pairs
from tockmark.compare.limits import load_limits, load_margins
from tockmark.compare.spread import committed_spread
from tockmark.compare.verdict import judge_comparison
from tockmark.result.file import load
from tockmark.result.model import Result, catalogue_of
from tockmark.show import comparison, export, text
from tockmark.show.table import split_by_language
from tockmark.suite.catalogue import LANGS
from tockmark.suite.selection import select, split_names

WIDE = 120  # of a table that is judged by limits
ExportForm = StrEnum(  # type: ignore[misc]
    "ExportForm", {name.upper(): name for name in export.FORMS}
)


@verb(
    "tockmark compare old.json new.json",
    "tockmark compare a.json b.json c.json --baseline b --margin 2% --only 'syscall.*'",
    "tockmark compare old.json new.json --limits",
    "tockmark compare old.json new.json --limits limits.toml --markdown summary.md"
    " --allow-missing 'ipc,syscall.command_absent'",
    "tockmark compare --by lang both.json",
    bare_values={"--limits": options.DEFAULT_LIMITS},
    exits={
        OK: "compared, whatever the verdicts; with --limits, at most beyond a soft limit",
        INCOMPLETE: "a result is incomplete; or with --limits, apps or machine differ",
        UNUSABLE: "unusable input, wrong usage, or results that cannot be compared",
        REGRESSION: "with --limits, beyond a hard limit, or a row is gone",
    },
)
def compare_verb(
    files: Annotated[list[Path], Argument(help="Two or more result files; with --by, one.")],
    margin: Annotated[
        str | None,
        Option(
            help="What is too little to matter: 1%, or a TOML file with margins by row."
            " Default: 1% on the simulator, 5% on boards."
        ),
    ] = None,
    only: options.Only = None,
    baseline: Annotated[
        str | None, Option(help="Which file the others are compared with, by its name; the first.")
    ] = None,
    by: Annotated[
        str | None, Option(help="Compare one result with itself by this factor: lang, Rust with C.")
    ] = None,
    limits: options.OptionalLimits = None,
    markdown: Annotated[
        Path | None, Option(help="Write a summary for a pull request to this file, too.")
    ] = None,
    allow_missing: Annotated[
        str | None,
        Option(
            metavar="ROWS",
            help="Rows that need not be there by --limits, or not as samples of the same make;"
            " terms as --only takes them.",
        ),
    ] = None,
    every: options.EveryRow = False,
    as_json: options.AsJson = False,
    force: options.Force = False,
) -> None:
    """Say of each row whether results differ, and whether that matters.

    With --limits, a row that grew by more than a hard limit is a regression: the exit code is 3."""
    named = _by(by, _baseline_first(files, baseline))
    known = catalogue_of([result for _, result in named])
    others = options.rows_of(result for _, result in named)
    margins = load_margins(margin, known, others)
    allowed = None
    if limits is not None:
        file = None if limits == options.DEFAULT_LIMITS else Path(limits)
        allowed = load_limits(file, known, others)
    missing = select(known, allow_missing, others) if allow_missing else None
    _, results = options.selected(known, only, (result for _, result in named))
    named = [(name, result) for (name, _), result in zip(named, results, strict=True)]
    (name, base), *news = named
    spread, strict = committed_spread(base), limits is not None
    found = []
    for other, new in news:
        one = pairs.compare(base, new, other, known, margins, spread, force, strict)
        found.append((one, judge_comparison(one, allowed, missing)))
    if as_json:
        options.show(comparison.compare_json(name, found))
    elif limits is None:
        options.show(comparison.compare_text(named, found))
    else:
        width = text.width_of_terminal(WIDE)
        options.show(comparison.judged_text(name, found, width, every))
    if markdown is not None:
        write_whole({markdown: comparison.judged_markdown(name, found)})
    if limits is None:
        raise Exit(options.incomplete_code(*results))
    raise Exit(max(one.exit_code for _, one in found))


def _baseline_first(files: Sequence[Path], baseline: str | None) -> list[tuple[str, Result]]:
    """Load the files, with the baseline in front."""
    if baseline is not None:
        meant = [file for file in files if baseline in (str(file), file.name, file.stem)]
        if len(meant) != 1:
            raise TockmarkError(f"'{baseline}' names {len(meant)} of the files", "name one of them")
        files = [*meant, *(file for file in files if file not in meant)]
    return [(paths.shown(file), load(file)) for file in files]


def _by(factor: str | None, named: Sequence[tuple[str, Result]]) -> Sequence[tuple[str, Result]]:
    """Return the results to compare: one result may stand for several that differ in a factor
    alone."""
    if factor is None:
        if len(named) < 2:
            raise TockmarkError(
                "one result alone cannot be compared", "give two files or more, or --by lang"
            )
        return named
    split_names("by", factor, ["lang"])
    if len(named) > 1:
        raise TockmarkError(
            f"--by {factor} compares one result with itself, but {len(named)} are given",
            "give one; without --by each language is compared with its own",
        )
    found = split_by_language(named)
    if len(found) < 2:
        name, result = named[0]
        raise TockmarkError(
            f"{name} has rows in {LANGS[result.langs[0]]} alone", "`tockmark run --lang c,rust`"
        )
    return found


@verb(
    "tockmark export results/a.json --format csv -o a.csv",
    "tockmark export results/a.json --format bmf > a.bmf",
    exits={INCOMPLETE: "a row has an error, and is in csv alone"},
)
def export_verb(
    path: Annotated[Path, Argument(metavar="RESULT", help="Result file.")],
    form: Annotated[
        ExportForm,
        Option(
            "--format",
            help="csv; bmf: Bencher Metric Format; github: github-action-benchmark's "
            "customSmallerIsBetter; lmbench: as in its result files.",
        ),
    ],
    output: Annotated[Path | None, options.output_option("File; default: standard output.")] = None,
    only: options.Only = None,
) -> None:
    """Write a result in a form that another tool reads.

    A row with an error is in no form but csv: it is named on stderr."""
    whole = load(path)
    known = catalogue_of([whole])
    _, (result,) = options.selected(known, only, [whole])
    made = export.export(result, known, form.value)
    if output is None:
        options.show(made)
    else:
        write_whole({output: made})
        print(f"written {paths.shown(output)}")
    dropped = export.omitted_rows(result)
    for reason in dropped:
        print_message(f"wrong: {reason}")
    raise Exit(INCOMPLETE if dropped else OK)
