# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The verbs for rows over time: history, campaign and site."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from typer import Argument, Exit, Option

from tockmark.base import paths
from tockmark.base.errors import (
    INCOMPLETE,
    INTERRUPTED,
    KEPT,
    OK,
    UNUSABLE,
    TockmarkError,
    print_message,
)
from tockmark.base.files import write_whole
from tockmark.cli import checkout, options, run_options
from tockmark.cli.program import verb
from tockmark.compare import pairs
from tockmark.judge import engine
from tockmark.judge.engine import SAMPLES
from tockmark.result.file import load
from tockmark.suite import catalogue
from tockmark.suite.selection import select
from tockmark.target import board as boards
from tockmark.trees.builds import Builder
from tockmark.trees.repository import repository, worktree
from tockmark_lab.folders import DATA
from tockmark_lab.over_time import campaign, commits, commits_text, history, history_text

if TYPE_CHECKING:
    from tockmark.site.model import Site
    from tockmark.site.render import Chapter

HISTORY = DATA / "history.jsonl"


@verb(
    "tockmark-lab history --add results/new.json",
    "tockmark-lab history syscall.command -o command.png",
    "tockmark-lab history 'call.args n=3 icache=on'",
    "tockmark-lab history syscall.command -f lab/data/tock-history.jsonl  # over commits",
    exits={INCOMPLETE: "a line of the file was torn and left out"},
)
def history_verb(
    row: Annotated[
        str | None,
        Argument(
            help="Rows, named as for --only elsewhere. Default: all that changed.",
            autocompletion=options.complete_list(options.rows),
        ),
    ] = None,
    add: Annotated[
        list[Path] | None, Option("--add", help="Append this result; may be given again.")
    ] = None,
    file: Annotated[
        Path,
        Option(
            "-f",
            "--file",
            help="The history, or what `campaign` found: a JSON line for each.",
            show_default=paths.shown(HISTORY),  # else its length depends on where this lies
        ),
    ] = HISTORY,
    output: Annotated[
        Path | None, options.output_option("Also draw it: a .png or .svg file.")
    ] = None,
    as_json: options.AsJson = False,
) -> None:
    """Append runs to a history, or show how rows went from run to run, with change points; of a
    campaign, from commit to commit, with jumps."""
    if output is not None:
        from tockmark_lab.over_time import pictures  # slow to load

        pictures.history_form(output)  # before anything is written or said
    for path in add or []:
        pairs.check_timed(paths.shown(path), result := load(path))
        pairs.warn_uncounted(paths.shown(path), result)
        new = history.add(file, result)
        what = "added to" if new else "is already in"
        print(f"{paths.shown(path)} {what} {paths.shown(file)}")
    if add and row is None:
        return
    if commits.is_campaign_file(file):
        problems = _over_commits(file, row, output, as_json)
    else:
        problems = _over_runs(file, row, output, as_json)
    for problem in problems:
        print_message(problem)
    raise Exit(INCOMPLETE if problems else OK)


def _over_runs(file: Path, row: str | None, output: Path | None, as_json: bool) -> list[str]:
    """Show rows run by run; return what could not be read."""
    runs, problems = history.load(file)
    found = history.series(runs, select(catalogue.load(), row, history.rows_in(runs)))
    if row is None:
        found = [series for series in found if any(point.changed for point in series.points)]
    elif not found:
        raise TockmarkError(f"{paths.shown(file)} has no row '{row}'", "no run in it measured it")
    if output is not None and found:
        from tockmark_lab.over_time import pictures

        write_whole({output: pictures.history_picture(found, pictures.history_form(output))})
    if as_json:
        options.show(found)
    elif found:
        print(history_text.history_text(found), end="")
    else:
        print(f"{len(runs)} runs, and no row that changed; name one to see it")
    return problems


def _over_commits(file: Path, row: str | None, output: Path | None, as_json: bool) -> list[str]:
    """Show rows commit by commit; return what could not be read."""
    held, problems = commits.load_campaign(file)
    known = catalogue.load()
    every = [(one.id, one.params) for of in held.line for one in of.rows.values()]
    trails = held.trails(select(known, row, every).includes)
    if row is None:
        trails = [trail for trail in trails if trail.jumps]
    elif not trails:
        raise TockmarkError(f"{paths.shown(file)} has no row '{row}'", "no commit in it has it")
    mean = held.mean(known)
    if output is not None:
        from tockmark_lab.over_time import pictures

        write_whole(
            {output: pictures.commits_picture([mean, *trails], pictures.history_form(output))}
        )
    if as_json:
        options.show(commits_text.commits_json(mean, trails, held))
    else:
        print(commits_text.commits_text(held, mean, trails), end="")
    return problems


@verb(
    "tockmark-lab campaign ~/tock release-2.1..master --every 20 --build 'make -C BOARD'"
    " -f tock.jsonl",
    "tockmark-lab campaign ~/tock release-2.1..master --every 20 --commit release-2.2 -f tock.jsonl"
    " --follow syscall.command,upcall.yield_wait",
    exits={
        OK: "each commit that was chosen is in the file, measured or as a gap",
        INCOMPLETE: "a line of the file was torn and left out, or the simulator did not start",
        UNUSABLE: "unusable input, wrong usage, or a file of another line",
        INTERRUPTED: KEPT,
    },
)
def campaign_verb(
    *,
    tree: Annotated[Path, checkout.TREE],
    span: Annotated[
        str, Argument(metavar="A..B", help="The commits, by way of first parents: B's, not A's.")
    ],
    file: Annotated[
        Path, Option("-f", "--file", help="What is found out: a JSON line for each commit.")
    ],
    every: Annotated[
        int, Option(min=0, help="Measure every so manieth commit and the last; 0: none of them.")
    ] = 1,
    commit: Annotated[
        list[str] | None,
        Option(help="Measure this one, too: of the range, or beside it, as a release is."),
    ] = None,
    only: Annotated[str, Option(help="Which rows, as for --only elsewhere.")] = engine.DEFAULT,
    follow: Annotated[
        str | None,
        Option(
            metavar="ROWS",
            help="Then find the commits at which these rows jump: halve what lies between.",
        ),
    ] = None,
    beyond: Annotated[
        float, Option(min=0, help="Follow jumps of more instructions than this.")
    ] = campaign.BEYOND,
    tries: Annotated[
        int, Option(min=0, help="So many neighbours are asked to stand in for a gap.")
    ] = campaign.TRIES,
    build: Annotated[str | None, checkout.BUILD] = None,
    elf: Annotated[str | None, checkout.ELF] = None,
    board: run_options.BoardName = boards.DEFAULT,
    abi: run_options.Abi = 2,
    jobs: run_options.Jobs = None,
    no_patch: checkout.NoPatch = False,
    fresh: checkout.FreshBuilds = False,
) -> None:
    """Measure a line of commits, one after another, into a file for `history` and `site`.

    Cache off, one link, instructions and cycles of every row. What stands in the file is not
    measured again. A commit that does not build or boot becomes a gap with its cause; --fresh
    tries gaps again."""
    known = catalogue.load()
    for terms in filter(None, (only, follow)):
        select(known, terms)
    how_built = checkout.recipe(tree, build, elf, no_patch)
    settings = checkout.parallel_options("campaign", board, abi, [False], SAMPLES, jobs, fresh)
    found = repository(tree)
    line = found.first_parents(span)
    named = [(found.commit(name), name) for name in commit or []]
    with run_options.interruptible_once(), worktree(found) as place:
        going = campaign.Campaign(
            repository=found,
            line=line,
            places=found.positions(line[-1]),
            path=file,
            builder=Builder(place, how_built, fresh),
            options=settings,
            only=only,
            print_line=lambda text: print(text, flush=True),
            tries=tries,
        )
        try:
            going.run(campaign.chosen(line, every, named))
            if follow is not None:
                going.follow(follow, beyond)
        finally:
            print(f"\n{going.cost}", flush=True)
    raise Exit(INCOMPLETE if going.torn else OK)


@verb(
    "tockmark-lab site results --over-time lab/data/history.jsonl -o build/site",
    exits={
        INCOMPLETE: "written, but a result is incomplete, or a line of a file is damaged",
        UNUSABLE: "unusable input or wrong usage; nothing written",
    },
)
def site_verb(
    given: Annotated[
        list[Path], Argument(metavar="RESULT...", help="Results, as for `tockmark site`.")
    ],
    output: Annotated[Path, options.output_option("Folder, new or with an older site.")],
    over_time: Annotated[
        list[Path], Option(help="A history, or the file of a campaign; may be given again.")
    ],
) -> None:
    """Write the site of `tockmark site`, with pages of rows over runs and over commits."""
    from tockmark.cli.draw import make_site  # slow to load
    from tockmark_lab.over_time.pages import chapters

    problems: list[str] = []

    def chapters_of(site: "Site") -> "list[Chapter]":
        made, torn = chapters(site, over_time)
        problems.extend(torn)
        return made

    code = make_site(given, output, chapters_of=chapters_of)
    for problem in problems:
        print_message(problem)
    raise Exit(INCOMPLETE if problems else code)
