# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The verbs compare, which shows changes between results, and export, for other tools."""

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
from tockmark.show import comparison, export
from tockmark.show.table import split_by_language
from tockmark.suite.catalogue import LANGS
from tockmark.suite.selection import select, split_names

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
        OK: "compared, with any verdicts; with --limits: at most beyond a soft limit",
        INCOMPLETE: "a result is incomplete; with --limits: apps or machine differ",
        UNUSABLE: "unusable input, wrong usage, or results that cannot be compared",
        REGRESSION: "with --limits: beyond a hard limit, or a missing row",
    },
)
def compare_verb(
    files: Annotated[list[Path], Argument(help="Two or more result files; one with --by.")],
    margin: Annotated[
        str | None,
        Option(
            help="Smallest difference that counts: 1%, or a TOML file of margins per row (default:"
            " 1% on the simulator, 5% on boards)."
        ),
    ] = None,
    only: options.Only = None,
    baseline: Annotated[
        str | None, Option(help="Name of the file to compare with (default: the first file).")
    ] = None,
    by: Annotated[
        str | None, Option(help="Compare within one result: `lang` compares Rust with C.")
    ] = None,
    limits: options.OptionalLimits = None,
    markdown: Annotated[
        Path | None, Option(help="Also write a summary for a pull request to this file.")
    ] = None,
    allow_missing: Annotated[
        str | None,
        Option(
            metavar="ROWS",
            help="With --limits: rows that may be missing or measured differently, as --only.",
        ),
    ] = None,
    every: options.EveryRow = False,
    as_json: options.AsJson = False,
    force: options.Force = False,
) -> None:
    """Show for each row whether results differ, and whether the difference matters.

    With --limits, the exit code is 3 if a row grew by more than a hard limit."""
    named = _by(by, _baseline_first(files, baseline))
    catalogue = catalogue_of([result for _, result in named])
    others = options.rows_of(result for _, result in named)
    margins = load_margins(margin, catalogue, others)
    allowed = None
    if limits is not None:
        file = None if limits == options.DEFAULT_LIMITS else Path(limits)
        allowed = load_limits(file, catalogue, others)
    missing = select(catalogue, allow_missing, others) if allow_missing else None
    _, results = options.selected(catalogue, only, (result for _, result in named))
    named = [(name, result) for (name, _), result in zip(named, results, strict=True)]
    (name, base), *news = named
    spread, strict = committed_spread(base), limits is not None
    judged = []
    for other, new in news:
        pair = pairs.compare(base, new, other, catalogue, margins, spread, force, strict)
        judged.append((pair, judge_comparison(pair, allowed, missing)))
    if as_json:
        options.show(comparison.compare_json(name, judged))
    elif limits is None:
        options.show(comparison.compare_text(named, judged, every))
    else:
        options.show(comparison.judged_text(name, judged, every))
    if markdown is not None:
        write_whole({markdown: comparison.judged_markdown(name, judged)})
    if limits is None:
        raise Exit(options.incomplete_code(*results))
    raise Exit(max(judgement.exit_code for _, judgement in judged))


def _baseline_first(files: Sequence[Path], baseline: str | None) -> list[tuple[str, Result]]:
    """Load the files, with the baseline first."""
    if baseline is not None:
        matches = [file for file in files if baseline in (str(file), file.name, file.stem)]
        if len(matches) != 1:
            raise TockmarkError(
                f"--baseline {baseline}: {len(matches)} of the files have this name",
                "give the path of one file",
            )
        files = [*matches, *(file for file in files if file not in matches)]
    return [(paths.shown(file), load(file)) for file in files]


def _by(factor: str | None, named: Sequence[tuple[str, Result]]) -> Sequence[tuple[str, Result]]:
    """Return the results to compare; with --by, one result is split by the factor."""
    if factor is None:
        if len(named) < 2:
            raise TockmarkError(
                "compare needs at least two results", "give another file, or --by lang"
            )
        return named
    split_names("by", factor, ["lang"])
    if len(named) > 1:
        raise TockmarkError(
            f"--by {factor} splits one result, but {len(named)} are given",
            "give one; without --by each language is compared with itself",
        )
    parts = split_by_language(named)
    if len(parts) < 2:
        name, result = named[0]
        raise TockmarkError(
            f"{name}: it has rows only in {LANGS[result.langs[0]]}",
            "measure both languages with `tockmark run --lang c,rust`",
        )
    return parts


@verb(
    "tockmark export results/a.json --format csv -o a.csv",
    "tockmark export results/a.json --format bmf > a.bmf",
    exits={INCOMPLETE: "a row has an error; only csv contains it"},
)
def export_verb(
    path: Annotated[Path, Argument(metavar="RESULT", help="Result file.")],
    form: Annotated[
        ExportForm,
        Option(
            "--format",
            help="csv; bmf (Bencher Metric Format); github (customSmallerIsBetter of"
            " github-action-benchmark); lmbench (its result files).",
        ),
    ],
    output: Annotated[Path | None, options.output_option("File (default: stdout).")] = None,
    only: options.Only = None,
) -> None:
    """Convert a result for another tool.

    Only csv contains rows with errors; for other formats they are listed on stderr."""
    whole = load(path)
    catalogue = catalogue_of([whole])
    _, (result,) = options.selected(catalogue, only, [whole])
    content = export.export(result, catalogue, form.value)
    if output is None:
        print(content, end="", flush=True)
    else:
        write_whole({output: content})
        print(f"written {paths.shown(output)}")
    dropped = export.omitted_rows(result)
    for reason in dropped:
        print_message(f"invalid row: {reason}")
    raise Exit(INCOMPLETE if dropped else OK)
