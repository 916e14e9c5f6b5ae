# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The verbs history, campaign and site, which show rows over time."""

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
from tockmark.suite import catalogue as catalogues
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
    exits={INCOMPLETE: "an incomplete line of the file was skipped"},
)
def history_verb(
    row: Annotated[
        str | None,
        Argument(
            help="Rows, as for --only of `tockmark run` (default: all that changed).",
            autocompletion=options.complete_list(options.rows),
        ),
    ] = None,
    add: Annotated[
        list[Path] | None, Option("--add", help="Append this result to the history. Repeatable.")
    ] = None,
    file: Annotated[
        Path,
        Option(
            "-f",
            "--file",
            help=f"History, or file of a campaign (default: {paths.shown(HISTORY)}).",
            show_default=False,  # the full path would depend on the machine
        ),
    ] = HISTORY,
    output: Annotated[
        Path | None, options.output_option("Also draw it: a .png or .svg file.")
    ] = None,
    every: options.EveryRow = False,
    as_json: options.AsJson = False,
) -> None:
    """Append runs to a history, or show rows from run to run, with their change points.

    If the file is from a campaign, show rows from commit to commit, with their jumps."""
    if output is not None:
        from tockmark_lab.over_time import pictures  # slow to load

        pictures.history_form(output)  # before anything is written or printed
    for path in add or []:
        pairs.check_timed(paths.shown(path), result := load(path))
        pairs.warn_uncounted(paths.shown(path), result)
        new = history.add(file, result)
        action = "added to" if new else "is already in"
        print(f"{paths.shown(path)} {action} {paths.shown(file)}")
    if add and row is None:
        return
    if commits.is_campaign_file(file):
        problems = _over_commits(file, row, output, every, as_json)
    else:
        problems = _over_runs(file, row, output, every, as_json)
    for problem in problems:
        print_message(problem)
    raise Exit(INCOMPLETE if problems else OK)


def _over_runs(
    file: Path, row: str | None, output: Path | None, every: bool, as_json: bool
) -> list[str]:
    """Show rows run by run. Return a message for each line that is skipped."""
    runs, problems = history.load(file)
    histories = history.series(runs, select(catalogues.load(), row, history.rows_in(runs)))
    if row is None:
        histories = [
            series for series in histories if any(point.changed for point in series.points)
        ]
    elif not histories:
        message = f"{paths.shown(file)} has no row '{row}'"
        raise TockmarkError(message, "name a row that one of its runs has")
    if output is not None and histories:
        from tockmark_lab.over_time import pictures

        write_whole({output: pictures.history_picture(histories, pictures.history_form(output))})
    if as_json:
        options.show(histories)
    elif histories:
        options.show(history_text.history_text(histories, every))
    else:
        print(f"{len(runs)} runs, no row changed; name a row to show it")
    return problems


def _over_commits(
    file: Path, row: str | None, output: Path | None, every: bool, as_json: bool
) -> list[str]:
    """Show rows commit by commit. Return a message for each line that is skipped."""
    data, problems = commits.load_campaign(file)
    catalogue = catalogues.load()
    measured = [(row_.id, row_.params) for commit in data.line for row_ in commit.rows.values()]
    trails = data.trails(select(catalogue, row, measured).includes)
    if row is None:
        trails = [trail for trail in trails if trail.jumps]
    elif not trails:
        message = f"{paths.shown(file)} has no row '{row}'"
        raise TockmarkError(message, "name a row that one of its commits has")
    mean = data.mean(catalogue)
    if output is not None:
        from tockmark_lab.over_time import pictures

        write_whole(
            {output: pictures.commits_picture([mean, *trails], pictures.history_form(output))}
        )
    if as_json:
        options.show(commits_text.commits_json(mean, trails, data))
    else:
        options.show(commits_text.commits_text(data, mean, trails, every))
    return problems


@verb(
    "tockmark-lab campaign ~/tock release-2.1..master --every 20 --build 'make -C BOARD'"
    " -f tock.jsonl",
    "tockmark-lab campaign ~/tock release-2.1..master --every 20 --commit release-2.2 -f tock.jsonl"
    " --follow syscall.command,upcall.yield_wait",
    exits={
        OK: "each chosen commit is in the file, measured or as a gap",
        INCOMPLETE: "an incomplete line of the file was skipped, or the simulator did not start",
        UNUSABLE: "unusable input, wrong usage, or the file is of another branch",
        INTERRUPTED: KEPT,
    },
)
def campaign_verb(
    *,
    tree: Annotated[Path, checkout.TREE],
    span: Annotated[
        str, Argument(metavar="A..B", help="Commits of B since A, along first parents.")
    ],
    file: Annotated[
        Path, Option("-f", "--file", help="File of the campaign: a JSON line per commit.")
    ],
    every: Annotated[
        int,
        Option(min=0, help="Measure every Nth commit and the last one; 0: only those of --commit."),
    ] = 1,
    commit: Annotated[
        list[str] | None,
        Option(help="Also measure this commit, on the line or off it (a release). Repeatable."),
    ] = None,
    only: Annotated[
        str, Option(help="Rows to measure, as for --only of `tockmark run`.")
    ] = engine.DEFAULT,
    follow: Annotated[
        str | None,
        Option(
            metavar="ROWS",
            help="Then bisect each jump of these rows, to find its commit.",
        ),
    ] = None,
    beyond: Annotated[
        float, Option(min=0, help="Bisect jumps of more than this many instructions.")
    ] = campaign.BEYOND,
    tries: Annotated[
        int, Option(min=0, help="Try up to N neighbours of a commit that does not build or boot.")
    ] = campaign.TRIES,
    build: Annotated[str | None, checkout.BUILD] = None,
    elf: Annotated[str | None, checkout.ELF] = None,
    board: run_options.BoardName = boards.DEFAULT,
    abi: run_options.Abi = 2,
    jobs: run_options.Jobs = None,
    no_patch: checkout.NoPatch = False,
    fresh: checkout.FreshBuilds = False,
) -> None:
    """Measure the commits of a Tock checkout one after another, for `history` and `site`.

    The file gets instructions and cycles of every row, of one link, with the cache off. Commits in
    the file are not measured again. A commit that does not build or boot is stored as a gap with
    its cause; --fresh tries gaps again."""
    catalogue = catalogues.load()
    for terms in filter(None, (only, follow)):
        select(catalogue, terms)
    how_built = checkout.recipe(tree, build, elf, no_patch)
    settings = checkout.parallel_options("campaign", board, abi, [False], SAMPLES, jobs, fresh)
    tock = repository(tree)
    line = campaign.first_parents(tock, span)
    named_commits = [(tock.commit(name), name) for name in commit or []]
    with run_options.interruptible_once(), worktree(tock) as folder:
        running = campaign.Campaign(
            repository=tock,
            line=line,
            positions=campaign.positions(tock, line[-1]),
            path=file,
            builder=Builder(folder, how_built, fresh),
            options=settings,
            only=only,
            print_line=lambda text: print(text, flush=True),
            tries=tries,
        )
        try:
            running.run(campaign.chosen(line, every, named_commits))
            if follow is not None:
                running.follow(follow, beyond)
        finally:
            print(f"\n{running.cost}", flush=True)
    raise Exit(INCOMPLETE if running.torn else OK)


@verb(
    "tockmark-lab site results --over-time lab/data/history.jsonl --study lab/studies/crypto"
    " -o build/site",
    exits={
        INCOMPLETE: "written, but a result is incomplete, or a line of a file is damaged",
        UNUSABLE: "unusable input or wrong usage; nothing written",
    },
)
def site_verb(
    given: Annotated[
        list[Path], Argument(metavar="RESULT...", help="Results, as for `tockmark site`.")
    ],
    output: Annotated[Path, options.output_option("Folder: a new one, or one with an older site.")],
    over_time: Annotated[
        list[Path] | None, Option(help="History, or file of a campaign. Repeatable.")
    ] = None,
    study: Annotated[list[Path] | None, Option(help="Folder of a study. Repeatable.")] = None,
) -> None:
    """Write the site of `tockmark site`, with pages of rows over runs and over commits, and of
    studies."""
    from tockmark.cli.draw import make_site  # slow to load
    from tockmark_lab.over_time.pages import chapters
    from tockmark_lab.study_pages import study_chapters

    problems: list[str] = []

    def chapters_of(site: "Site") -> "list[Chapter]":
        new_chapters, torn = chapters(site, over_time or [])
        problems.extend(torn)
        return [*new_chapters, *study_chapters(study or [])]

    code = make_site(given, output, chapters_of=chapters_of)
    for problem in problems:
        print_message(problem)
    raise Exit(INCOMPLETE if problems else code)
