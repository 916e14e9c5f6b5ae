# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Verbs that turn one file into another, or into a table: parse, table, export."""

import sys
import time
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tockmark import paths
from tockmark.cli import options
from tockmark.cli.options import (
    AsJson,
    Debug,
    KernelManifest,
    KernelName,
    Only,
    OptLevel,
    Switch,
    judge,
    not_a_log,
    print_json,
    rows_of,
    selected,
)
from tockmark.cli.verb import verb
from tockmark.compare import agree, bounds, factors, fit, gate, history, pairs, rule
from tockmark.errors import INCOMPLETE, OK, REGRESSION, UNUSABLE, TockmarkError
from tockmark.files import write_whole
from tockmark.result import file, parse
from tockmark.result.file import load
from tockmark.result.model import Result
from tockmark.result.parse import LogClaims
from tockmark.rig import board as boards
from tockmark.rig import image_folder
from tockmark.rig.image import named, read_kernel
from tockmark.rig.kinds.file import settled
from tockmark.show import comparison, export, listing, summary, table
from tockmark.show.plot import Named
from tockmark.show.table import apart
from tockmark.suite import catalogue
from tockmark.suite.catalogue import LANGS, Catalogue
from tockmark.suite.selection import of_names, select

if TYPE_CHECKING:
    from tockmark.show import plot


Form = StrEnum("Form", {name.upper(): name for name in export.FORMS})  # type: ignore[misc]


@verb(
    (
        "tockmark parse uart.log -o uart.json && tockmark table uart.json",
        "tockmark parse uart.log --board cw310 --kernel earlgrey-cw310.elf",
        "tockmark parse loop.log --study",
    ),
    {INCOMPLETE: "rows failed or are missing; what was good is kept"},
)
def parse_verb(
    log: Annotated[Path, typer.Argument(help="UART log, kernel messages and all.")],
    output: Annotated[
        Path | None, typer.Option("-o", "--output", help="Result file; default: LOG with .json.")
    ] = None,
    board: Annotated[
        str | None,
        typer.Option(
            help="Board profile that it was captured from.",
            autocompletion=options.one(boards.names),
        ),
    ] = None,
    kernel: Annotated[Path | None, typer.Option(help="ELF of the kernel that ran.")] = None,
    kernel_name: KernelName = None,
    opt_level: OptLevel = None,
    kernel_manifest: KernelManifest = None,
    abi: Annotated[
        int | None, typer.Option(min=1, max=2, help="Version of the interface; the log says it.")
    ] = None,
    icache: Annotated[
        Switch | None,
        typer.Option(help="Cache setting of a log without marks; default: the board's."),
    ] = None,
    images: Annotated[
        Path | None,
        typer.Option(help="Folder that `tockmark image` laid and that was installed: says both."),
    ] = None,
    study: Annotated[
        bool,
        typer.Option("--study", help="The study of 2021 took this log: its kernel, its board."),
    ] = False,
    debug: Debug = False,
) -> None:
    """Turn a captured UART log, ours or of the 2021 study's form, into a result file.

    What is intact is kept, what is missing is named on stderr. With the board and the kernel that
    it is of, compare, gate and agree take the result."""
    path = output if output is not None else log.with_suffix(".json")
    not_a_log(path)
    if output is None and path.exists():  # it may be the run's own, which knows more than its log
        raise TockmarkError(f"{paths.shown(path)} is there already", "name the result with -o")
    known = catalogue.load()
    about = (kernel_name, opt_level, kernel_manifest)
    if kernel is None and any(one is not None for one in about):
        raise TockmarkError("something is said of a kernel, but no kernel is named", "add --kernel")
    ran = named(read_kernel(kernel), *about) if kernel else None
    installed = image_folder.read_folder(images) if images else None
    if installed is not None:
        installed.suits(known)
        if ran is not None:
            installed.holds(ran)
        ran, board = ran or installed.kernel(), board or installed.manifest.board
    told = LogClaims(
        board=boards.load(board) if board else None,
        kernel=ran,
        abi=abi,
        icache=None if icache is None else icache is Switch.ON,
        images=installed,
        study=study,
    )
    settled(log)
    result = parse.parse(log, known, told)
    write_whole({path: file.text(result)})
    print(f"{len(result.rows)} rows kept: {paths.shown(path)}")
    for id_ in sorted({row.id for row in result.rows} - known.benchmarks.keys()):
        print(f"not in the catalogue: {id_}")
    raise typer.Exit(judge(result))


@verb(
    (
        "tockmark table results/a.json",
        "tockmark table a.json b.json  # side by side",
        "tockmark table a.json --all",
        "tockmark table a.json --only 'call.*,mem.copy_asm:size=64'",
        "tockmark table a.json --events",
    ),
    {INCOMPLETE: "a result is incomplete"},
)
def table_verb(
    files: Annotated[list[Path], typer.Argument(help="Result files.")],
    every: Annotated[
        bool, typer.Option("--all", help="Show every row, not one screen of them.")
    ] = False,
    only: Only = None,
    events: Annotated[
        bool,
        typer.Option("--events", help="Show the core's event counters: stalls, loads and others."),
    ] = False,
    as_json: AsJson = False,
    debug: Debug = False,
) -> None:
    """Show what result files cost on one screen; several of them side by side.

    --all shows every row, --only those that are named."""
    known = catalogue.load()
    named = [(paths.shown(path), file.load(path)) for path in files]
    wanted, results = selected(known, only, (result for _, result in named))
    named = [(name, result) for (name, _), result in zip(named, results, strict=True)]
    if events:
        print("\n".join(table.render_events(result, known) for result in results), end="")
    elif as_json:
        print_json(table.as_json(results, known))
    elif not every:
        blocks = summary.chosen(wanted, results) if wanted else None
        print(summary.render(named, known, summary.width_of_terminal(), blocks), end="")
    elif len(named) == 1:
        print(table.render(results[0], known), end="")
    else:
        print(table.render_side_by_side(named, known, summary.width_of_terminal()), end="")
    raise typer.Exit(INCOMPLETE if any(result.incomplete for result in results) else OK)


@verb(
    (
        "tockmark export results/a.json --format csv -o a.csv",
        "tockmark export results/a.json --format bmf > a.bmf",
    ),
    {INCOMPLETE: "a row has an error, and is in csv alone"},
)
def export_verb(
    path: Annotated[Path, typer.Argument(metavar="RESULT", help="Result file.")],
    form: Annotated[
        Form,
        typer.Option(
            "--format",
            help="csv; bmf: Bencher Metric Format; github: github-action-benchmark's "
            "customSmallerIsBetter; lmbench: as in its result files.",
        ),
    ],
    output: Annotated[
        Path | None, typer.Option("-o", "--output", help="File; default: standard output.")
    ] = None,
    only: Only = None,
    debug: Debug = False,
) -> None:
    """Write a result in a form that another tool reads.

    A row with an error is in no form but csv: it is named on stderr."""
    known = catalogue.load()
    _, (result,) = selected(known, only, [file.load(path)])
    text = export.export(result, known, form.value)
    if output is None:
        print(text, end="")
    else:
        write_whole({output: text})
        print(f"written {paths.shown(output)}")
    dropped = export.left_out(result)
    for reason in dropped:
        print(f"tockmark: wrong: {reason}", file=sys.stderr)
    raise typer.Exit(INCOMPLETE if dropped else OK)


# Verbs that compare results: compare, gate, history, fit, agree.


Force = Annotated[
    bool,
    typer.Option(
        "--force", help="Even if machine, clock or timing differ, or are not valid at all."
    ),
]


@verb(
    (
        "tockmark compare old.json new.json",
        "tockmark compare a.json b.json c.json --baseline b --margin 2% --only 'syscall.*'",
        "tockmark compare --by lang both.json",
    ),
    {
        OK: "compared, whatever the verdicts",
        INCOMPLETE: "a result is incomplete",
        UNUSABLE: "unusable input, wrong usage, or results that cannot be compared",
    },
)
def compare_verb(
    files: Annotated[list[Path], typer.Argument(help="Two or more result files; with --by, one.")],
    margin: Annotated[
        str | None,
        typer.Option(
            help="What is too little to matter: 1%, or a TOML file with margins by row."
            " Default: 1% on the simulator, 5% on boards."
        ),
    ] = None,
    only: Only = None,
    baseline: Annotated[
        str | None,
        typer.Option(help="Which file the others are compared with, by its name; the first."),
    ] = None,
    by: Annotated[
        str | None,
        typer.Option(help="Compare one result with itself by this factor: lang, Rust with C."),
    ] = None,
    as_json: AsJson = False,
    force: Force = False,
    debug: Debug = False,
) -> None:
    """Say of each row whether results differ, and whether that matters."""
    if baseline is not None:
        meant = [file for file in files if baseline in (str(file), file.name, file.stem)]
        if len(meant) != 1:
            raise TockmarkError(f"'{baseline}' names {len(meant)} of the files", "name one of them")
        files = [*meant, *(file for file in files if file not in meant)]
    if len(files) < 2 and by is None:
        raise TockmarkError(
            "one result alone cannot be compared", "give two files or more, or --by lang"
        )
    named = [(paths.shown(file), load(file)) for file in files]
    if by is not None:
        named = _by(by, named)
    known = catalogue.load()
    results = [result for _, result in named]
    chosen = pairs.margins(margin, known, rows_of(results))
    wanted, _ = selected(known, only, results)
    base = named[0][1]
    found = [
        pairs.compare(base, new, name, known, chosen, rule.known_spread(base), force, wanted)
        for name, new in named[1:]
    ]
    if as_json:
        print_json(comparison.compare_json(named[0][0], found))
    else:
        print(comparison.compare_text(named, found), end="")
    raise typer.Exit(INCOMPLETE if any(result.incomplete for _, result in named) else OK)


def _by(factor: str, named: list[tuple[str, Result]]) -> list[tuple[str, Result]]:
    """One result as several that differ in this factor alone."""
    of_names("by", factor, ["lang"])
    if len(named) > 1:
        raise TockmarkError(
            f"--by {factor} compares one result with itself, but {len(named)} are given",
            "give one; without --by each language is compared with its own",
        )
    found = apart(named)
    if len(found) < 2:
        name, result = named[0]
        raise TockmarkError(
            f"{name} has rows in {LANGS[result.langs[0]]} alone", "`tockmark run --lang c,rust`"
        )
    return found


@verb(
    (
        "tockmark gate base.json new.json",
        "tockmark gate monday.json tuesday.json new.json --limits limits.toml"
        " --markdown summary.md",
    ),
    {
        OK: "pass",
        INCOMPLETE: "beyond a soft limit, or the new result is incomplete",
        UNUSABLE: "unusable input, wrong usage, or results that cannot be compared",
        REGRESSION: "regression: beyond a hard limit, or a row is gone",
    },
)
def gate_verb(
    files: Annotated[
        list[Path], typer.Argument(metavar="BASE... NEW", help="Result files, the new one last.")
    ],
    limits: Annotated[
        Path | None, typer.Option(help="TOML file with limits; docs/comparing.md has the default.")
    ] = None,
    markdown: Annotated[
        Path | None, typer.Option(help="Write a summary for a pull request to this file, too.")
    ] = None,
    only: Only = None,
    as_json: AsJson = False,
    force: Force = False,
    debug: Debug = False,
) -> None:
    """Let a new result pass, or not, by limits on the growth of its rows.

    The layouts of several BASE files count together."""
    if len(files) < 2:
        raise TockmarkError("a gate needs a base and a new result", "give BASE and NEW")
    results, known = [load(file) for file in files], catalogue.load()
    rules = gate.load_limits(limits, known, rows_of(results))
    _, results = selected(known, only, results)
    *bases, new = zip(map(paths.shown, files), results, strict=True)
    gated = gate.gate(bases, new, rules, known, rule.known_spread(bases[-1][1]), force)
    names = [name for name, _ in bases]
    if as_json:
        print_json(comparison.gate_json(names, new[0], gated))
    else:
        print(comparison.gate_text(names, new[0], gated), end="")
    if markdown is not None:
        write_whole({markdown: comparison.gate_markdown(names, new[0], gated)})
    raise typer.Exit(gated.exit_code)


@verb(
    (
        "tockmark history --add results/new.json",
        "tockmark history syscall.command -o command.png",
        "tockmark history 'call.args n=3 icache=on'",
    ),
    {INCOMPLETE: "a line of the file was torn and left out"},
)
def history_verb(
    row: Annotated[
        str | None,
        typer.Argument(
            help="Rows, named as for --only elsewhere. Default: all that changed.",
            autocompletion=options.several(options.rows),
        ),
    ] = None,
    add: Annotated[
        list[Path] | None, typer.Option("--add", help="Append this result; may be given again.")
    ] = None,
    file: Annotated[
        Path, typer.Option("-f", "--file", help="The history: one JSON line a run.")
    ] = paths.RESULTS / "history.jsonl",
    output: Annotated[
        Path | None, typer.Option("-o", "--output", help="Draw it, too: a .png or .svg file.")
    ] = None,
    as_json: AsJson = False,
    debug: Debug = False,
) -> None:
    """Append runs to a history, or show how rows went from run to run, with change points."""
    if output is not None:
        from tockmark.show import plot  # slow to load

        plot.history_form(output)  # before anything is written or said
    for path in add or []:
        factors.check_timed(result := load(path), paths.shown(path))
        new = history.add(file, result)
        what = "added to" if new else "is already in"
        print(f"{paths.shown(path)} {what} {paths.shown(file)}")
    if add and row is None:
        return
    runs, problems = history.load(file)
    found = history.series(runs, select(catalogue.load(), row, history.rows_of(runs)))
    if row is None:
        found = [series for series in found if any(point.changed for point in series.points)]
    elif not found:
        raise TockmarkError(f"{paths.shown(file)} has no row '{row}'", "no run in it measured it")
    if output is not None and found:
        plot.draw_history(found, output)
    if as_json:
        print_json(listing.history_json(found))
    elif found:
        print(listing.history_text(found), end="")
    else:
        print(f"{len(runs)} runs, and no row that changed; name one to see it")
    for problem in problems:
        print(f"tockmark: {problem}", file=sys.stderr)
    raise typer.Exit(INCOMPLETE if problems else OK)


@verb(("tockmark fit results/new.json",), {INCOMPLETE: "the result is incomplete"})
def fit_verb(
    file: Annotated[Path, typer.Argument(help="Result file.")],
    only: Only = None,
    as_json: AsJson = False,
    debug: Debug = False,
) -> None:
    """Fit straight lines through sweeps: what one more byte, argument or NOP costs."""
    known = catalogue.load()
    _, (result,) = selected(known, only, [load(file)])
    factors.check_timed(result, paths.shown(file))
    found = fit.sweeps(result, known)
    if not found:
        raise TockmarkError(
            f"{paths.shown(file)} holds no sweep", f"one needs {fit.LEAST} sizes of a row"
        )
    if as_json:
        print_json(listing.fit_json(found))
    else:
        print(listing.fit_text(found), end="")
    raise typer.Exit(INCOMPLETE if result.incomplete else OK)


@verb(
    (
        "tockmark agree sim.json board.json",
        "tockmark agree sim.json board.json --only app --icache off --all",
    ),
    {
        OK: "every row is there and within its bound",
        INCOMPLETE: "a row is outside or missing, or a result is incomplete",
        UNUSABLE: "unusable input, wrong usage, or results of different things",
    },
)
def agree_verb(
    sim: Annotated[Path, typer.Argument(help="Result file of the simulator.")],
    board: Annotated[Path, typer.Argument(help="Result file of the board, of the same kernel.")],
    only: Only = None,
    icache: Annotated[
        Switch | None, typer.Option(help="Rows with this cache setting only.")
    ] = None,
    every: Annotated[bool, typer.Option("--all", help="Show every row.")] = False,
    as_json: AsJson = False,
    force: Annotated[
        bool, typer.Option("--force", help="Even if kernel, machine or cache are not the same.")
    ] = False,
    debug: Debug = False,
) -> None:
    """Hold a board's result against the simulator's: is each row within the model's stated bound?

    What is stated, and why, is in validation/bounds.toml."""
    names, known = [paths.shown(sim), paths.shown(board)], catalogue.load()
    _, results = selected(known, only, [load(sim), load(board)])
    if icache is not None:
        cached = select(known, f"* icache={icache}", rows_of(results))
        results = [result.only(cached) for result in results]
    base, new = results
    found = agree.agree(base, new, names[1], bounds.load(agree.machine(base), known), force)
    if as_json:
        print_json(comparison.agree_json(names, found))
    else:
        print(comparison.agree_text(names, results, found, known, every), end="")
    raise typer.Exit(found.exit_code)


# Verbs that show: list, plot. What draws is loaded only when one of them runs: it takes
# longer to load than all the rest of the tool.


PLOTS = paths.ROOT / "build" / "plots"


class Format(StrEnum):
    """Of a picture."""

    SVG = "svg"
    PNG = "png"


Files = Annotated[list[Path], typer.Argument(metavar="RESULT...", help="Result files.")]


@verb(("tockmark list", "tockmark list --json"))
def list_verb(as_json: AsJson = False, debug: Debug = False) -> None:
    """Show the catalogue: every benchmark, what a sample does, and what is counted."""
    known = catalogue.load()
    if as_json:
        print_json(listing.list_json(known))
    else:
        print(listing.list_text(known), end="")


@verb(
    (
        "tockmark plot results/a.json",
        "tockmark plot before.json after.json --picture before-after --format png -o pictures",
    ),
    {
        OK: "all that was asked for is drawn",
        INCOMPLETE: "a picture of --picture has no rows",
        UNUSABLE: "unusable input, wrong usage, or nothing to draw",
    },
)
def plot_verb(
    files: Files,
    output: Annotated[
        Path, typer.Option("-o", "--output", help="Folder; default: build/plots.")
    ] = PLOTS,
    form: Annotated[Format, typer.Option("--format", help="Of the pictures.")] = Format.SVG,
    picture: Annotated[
        str | None, typer.Option(help="Which, separated by commas; default: all there are.")
    ] = None,
    only: Only = None,
    debug: Debug = False,
) -> None:
    """Draw results: the figures of the 2021 study, sweeps, distributions, before and after.

    One file a picture, the same bytes for the same results. Several results are drawn together."""
    from tockmark.show import figures, plot

    wanted = of_names("picture", picture, figures.FIGURES)
    drawn = figures.draw(_named(files, catalogue.load(), only), wanted)
    if not drawn:
        raise TockmarkError(
            "these results have no rows that make a picture",
            "give two results"
            if wanted == ["before-after"] and len(files) < 2
            else "run more of the suite: `tockmark list` shows all of it",
        )
    pictures = {
        output / f"{name}.{form.value}": plot.rendered(sheet, form.value)
        for name, sheet in drawn.items()
    }
    write_whole(pictures)
    for path in pictures:
        print(paths.shown(path))
    absent = [name for name in wanted if picture is not None and name not in drawn]
    for name in absent:
        typer.echo(f"tockmark: no rows for the picture '{name}'", err=True)
    raise typer.Exit(INCOMPLETE if absent else OK)


def _named(files: list[Path], known: Catalogue, only: str | None) -> list["plot.Named"]:
    """What is meant of results, under the names of their files, which must tell them apart."""
    from tockmark.show import plot

    names = [file.stem for file in files]
    if len(set(names)) < len(names):
        names = [paths.shown(file) for file in files]
    if len(set(names)) < len(names):
        raise TockmarkError("a result is given twice", "give each file once")
    _, results = selected(known, only, map(load, files))
    return [plot.Named(name, one.leading) for name, one in zip(names, results, strict=True)]


# The verb `site`: results as pages that one sends to a colleague.


STUDY = paths.RESULTS / "paper-2021.json"
QUIET = 2.0  # seconds, after which it says how far it is
EVERY = 5.0  # seconds between its lines where no terminal shows them


@verb(
    ("tockmark site results -o build/site", "tockmark site before.json after.json -o out"),
    {
        INCOMPLETE: "written, but a result is incomplete (the pages say it, too),"
        " or a file in a folder is damaged",
        UNUSABLE: "unusable input or wrong usage; nothing written",
    },
)
def site_verb(
    given: Annotated[
        list[Path],
        typer.Argument(metavar="RESULT...", help="Result files, or folders to search through."),
    ],
    output: Annotated[
        Path, typer.Option("-o", "--output", help="Folder, new or with an older site.")
    ],
    only: Only = None,
    debug: Debug = False,
) -> None:
    """Write results as static pages, for people who did not run them: no server, no network.

    What was found, first; then a page a benchmark, a kernel and a comparison, with search. In a
    folder each file is taken for what it is: results, profiles, a history, a validation."""
    from tockmark.site import (
        model,  # what draws is slow to load
        render,
    )
    from tockmark.site.model import arrange

    render.check_site(output)
    found = model.gather(given)
    known = catalogue.load()
    if only is not None:
        _, results = selected(known, only, [one.result for one in found.results])
        names = [one.name for one in found.results]
        found.results = [Named(*one) for one in zip(names, results, strict=True)]
    elif not found.studies and STUDY.exists():
        found.studies.append(Named(STUDY.stem, load(STUDY)))
    for line in (*found.strangers, *found.problems):
        print(f"tockmark: {line}", file=sys.stderr)
    files = render.site_pages(arrange(found, known), baselines(found.results), _Progress())
    render.write_site(output, files)
    print(f"written {paths.shown(output / 'index.html')} and {len(files) - 1} files beside it")
    for one in found.results:
        for reason in one.result.incomplete[:1]:
            many = len(one.result.incomplete)
            print(f"tockmark: {one.name} is incomplete: {reason} ({many} in all)", file=sys.stderr)
    whole = not (found.problems or any(one.result.incomplete for one in found.results))
    raise typer.Exit(OK if whole else INCOMPLETE)


def baselines(results: list[Named]) -> dict[str, Named]:
    """The run of the baseline kernel that each result is held against, by the result's name: one on
    the same machine, by the same interface, of the given ones or of the committed. There is none
    for a run of the baseline itself."""
    committed = [
        Named(path.stem, load(path)) for path in sorted(paths.RESULTS.glob("baseline*.json"))
    ]
    own = [one for one in results if one.result.provenance.kernel.is_baseline]
    found: dict[str, Named] = {}
    for one in results:
        told = one.result.provenance
        if told.kernel.is_baseline:
            continue
        fitting = [
            other
            for other in (*own, *committed)
            if other.result.provenance.board.machine == told.board.machine
            and other.result.provenance.abi == told.abi
        ]
        if fitting:
            found[one.name] = max(fitting, key=lambda other: len(other.result.table))
    return found


class _Progress:
    """Says how far it is, once that takes longer: on one line of a terminal, else now and then."""

    def __init__(self) -> None:
        self.began = self.last = time.monotonic()
        self.live = sys.stderr.isatty()

    def __call__(self, what: str, done: int, total: int) -> None:
        now = time.monotonic()
        if now - self.began < QUIET or (not self.live and now - self.last < EVERY):
            return
        self.last = now
        line = f"{done} of {total} {what}"
        if self.live:
            print(f"\r{line:<40}\r", end="", file=sys.stderr, flush=True)
        else:
            print(line, file=sys.stderr, flush=True)
