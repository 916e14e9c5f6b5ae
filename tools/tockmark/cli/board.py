# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The verbs for boards: image, install, listen, run-tab, parse, agree."""

import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Annotated

from typer import Argument, Exit, Option

from tockmark.base import paths
from tockmark.base.errors import INCOMPLETE, INTERRUPTED, OK, UNUSABLE, TockmarkError, print_message
from tockmark.base.files import temporary_folder, write_whole
from tockmark.cli import options, run_options
from tockmark.cli.program import NEVER, verb
from tockmark.compare import agree
from tockmark.compare.limits import load_bounds
from tockmark.result import file
from tockmark.show import comparison
from tockmark.suite import catalogue as catalogues
from tockmark.suite.catalogue import Boot, Catalogue
from tockmark.suite.selection import select
from tockmark.target import board as boards
from tockmark.target import image_folder, parse
from tockmark.target.board import BoardProfile
from tockmark.target.elf import ISAS
from tockmark.target.image import AppBuild
from tockmark.target.image_folder import (
    ImageManifest,
    flash_with_apps,
    load_boot,
    manual_load,
    missing_tool,
    write_folder,
)
from tockmark.target.kernel import KernelElf, read_kernel, warn_without_panics
from tockmark.target.log import check_settled
from tockmark.target.parse import LogClaims
from tockmark.target.protocol import Ability, Session, Start, require_ability
from tockmark.target.serial import Port, PortGoneError
from tockmark.target.tab import write_tab_image
from tockmark.wire.uart_line import TEXT

IMAGES = paths.WRITTEN / "image"
USUAL_BAUD = 115_200  # of Tock's console on OpenTitan


@dataclass(frozen=True)
class Suited:
    """Which boots are laid, for which kernel."""

    kernel: run_options.KernelFile = None
    only: options.Only = None
    abi: run_options.Abi = 2
    lang: Annotated[
        str,
        options.names_option(
            lambda: catalogues.LANGS, "Languages of the apps, separated by commas: c, rust."
        ),
    ] = "c"
    counter: Annotated[
        str | None,
        options.name_option(
            lambda: catalogues.COUNTERS,
            "What the apps read: perf (default), cyclecount or csr; see `tockmark run`.",
        ),
    ] = None
    samples: Annotated[
        int | None, Option(min=9, help="Take at most so many samples of a row; default: all.")
    ] = None

    def boots(
        self, board: BoardProfile, known: Catalogue, boot: str | None = None
    ) -> tuple[tuple[AppBuild, Boot], ...]:
        """Return the boots with their apps; of one name, if it is given. TockmarkError if there are
        none."""
        found = {one.name: one for one in known.boots()}
        if boot is not None and boot not in found:
            raise TockmarkError(f"there is no boot '{boot}'", f"choose from: {', '.join(found)}")
        wanted = select(known, self.only)
        usual = catalogues.CYCLECOUNT if ISAS[board.isa].counts_cycles_only else catalogues.PERF
        (read,) = options.counters(self.counter or usual)
        chosen = tuple(
            (AppBuild.built(self.abi, one, read, isa=board.isa), found[measured.name])  # all rows
            for one in options.languages(self.lang)
            for measured in wanted.boots(one)
            if boot in (None, measured.name)
        )
        if not chosen:
            lang = f"--lang {self.lang}"
            meant = lang if boot is None else f"the boot {boot} in {lang}"
            raise TockmarkError(
                f"--only {self.only} leaves nothing of {meant}", "leave out one of them"
            )
        return chosen

    def elf(self, claims: run_options.KernelClaims, board: BoardProfile) -> KernelElf:
        """Read the kernel, by default the baseline's for this board."""
        return claims.read(self.kernel or board.kernels[self.abi])


def _say_laid(manifest: ImageManifest) -> str:
    """Print what was left out of a lay; return how many images there are, in words."""
    count, left = len(manifest.boots), manifest.left_out
    boots = len({one.name for one in manifest.boots}) + len(left)
    for why in dict.fromkeys(one.why for one in left):
        names = [one.name for one in left if one.why == why]
        print(f"left out {len(names)} of {boots} boots, {', '.join(names)}: {why}")
    return f"{count} image{'s' * (count > 1)}, each one flashing"


@verb(
    "tockmark board image --board cw310 -o out",
    "tockmark board image --board cw310 --kernel ~/tock/earlgrey-cw310.elf --lang c,rust -o out",
    "tockmark board image syscall  # one boot for the simulator",
)
def image_verb(
    *,
    boot: Annotated[
        str | None, Argument(help="One boot: a group, or one with a name; default: all.")
    ] = None,
    suited: Suited,
    claims: run_options.KernelClaims,
    board: run_options.BoardName = boards.DEFAULT,
    also: Annotated[
        list[Path] | None,
        Option(
            help="Another such folder, of a board with other apps: each TAB has its programs, too;"
            " may be given again."
        ),
    ] = None,
    output: Annotated[Path, options.output_option("Folder; default: build/image.")] = IMAGES,
) -> None:
    """Lay the suite for a board: a flash image a boot, a TAB an app, a manifest, a README.

    An older folder of laid images is replaced once the new one is whole."""
    profiled, known = boards.load(board), catalogues.load()
    chosen, elf = suited.boots(profiled, known, boot), suited.elf(claims, profiled)
    with run_options.interruptible_once():
        manifest = write_folder(profiled, elf, chosen, known, suited.samples, output, also or ())
    print(f"{_say_laid(manifest)}: {paths.shown(output)}/")


@verb(
    "tockmark board install --images out syscall",
    "tockmark board install --images out syscall --dry-run",
    "tockmark board install --images out syscall --flash-file mine.flash",
    exits={INCOMPLETE: "nothing was loaded: the board's tool is not on PATH"},
)
def install_verb(
    boot: Annotated[str, Argument(help="A boot of the folder: its README lists them.")],
    images: Annotated[Path, Option(help="Folder that `tockmark board image` laid.")],
    kernel: Annotated[
        Path | None, Option(help="Refuse images that were not laid for this kernel's ELF.")
    ] = None,
    lang: Annotated[
        str | None, Option(help="Language of the apps, where the folder has several.")
    ] = None,
    flash_file: Annotated[
        Path | None,
        Option(
            help="In place of a board: a flash file that holds the kernel. tockloader lays the"
            " apps into it."
        ),
    ] = None,
    dry_run: Annotated[
        bool, Option("--dry-run", help="Check, and print the command only.")
    ] = False,
) -> None:
    """Load one laid boot onto its board, by the tool that the board's profile names."""
    folder = image_folder.read_folder(images)
    found = folder.boot(boot, None if lang is None else run_options.single_language(lang))
    if kernel is not None:
        folder.check_kernel(read_kernel(kernel))
    profiled = boards.load(folder.manifest.board)
    flash = folder.image(found).flash
    print(f"image {found.image}: {found.name}, {paths.shown(flash)}")
    if flash_file is not None:
        made = flash_with_apps(folder, found, profiled, flash_file)
        if not dry_run:
            write_whole({flash_file: made})
        print(f"{'fits into' if dry_run else 'laid into'} {paths.shown(flash_file)}")
    elif dry_run:
        print(manual_load(profiled, flash))
    elif load_boot(profiled, flash):
        print(f"loaded onto {profiled.name}")
    else:
        raise TockmarkError(
            f"nothing was loaded: {missing_tool(profiled)}",
            f"do it by hand: {manual_load(profiled, flash)}",
            INCOMPLETE,
        )


@verb(
    "tockmark board listen --port /dev/ttyACM1",
    "tockmark board listen --port /dev/ttyACM1 -o uart.log && tockmark board parse uart.log",
    exits={
        OK: "it ended: Ctrl-C, or --seconds are over",
        INCOMPLETE: "the port is gone; the lines are kept",
        INTERRUPTED: NEVER,
    },
)
def listen_verb(
    port: Annotated[str, Option(help="Serial port of the board, such as /dev/ttyACM1.")],
    baud: Annotated[int, Option(min=1, help="Its rate.")] = USUAL_BAUD,
    seconds: Annotated[
        float | None, Option(min=0, help="For how long; default: until Ctrl-C.")
    ] = None,
    output: Annotated[
        Path | None, options.output_option("Log; default: in build/results/, by its time.")
    ] = None,
) -> None:
    """Write down what a board says, and show it, until Ctrl-C. Runs and loads nothing.

    Each line is in the log as soon as it is shown; `tockmark board parse` reads it."""
    path = output or paths.NEW_RESULTS / f"{datetime.now():%Y-%m-%d-%H%M%S}-listen.log"
    opened = Port(port, baud)
    count = 0
    try:
        with path.open("x", encoding="latin-1", newline="\n") as log:
            for line in _lines(opened, seconds):
                log.write(f"{line}\n")
                log.flush()
                print(line if line.isprintable() else repr(line)[1:-1], flush=True)
                count += 1
    except (KeyboardInterrupt, BrokenPipeError):  # `tockmark board listen … | head`
        pass
    except FileExistsError as error:
        raise TockmarkError(f"{paths.shown(path)} is there already", "name the log with -o") from (
            error
        )
    except OSError as error:
        raise TockmarkError(
            f"cannot write {paths.shown(path)}: {error.strerror}", "name another log with -o"
        ) from error
    except PortGoneError as error:
        raise TockmarkError(
            f"the port {port} is gone; {count} lines are kept in {paths.shown(path)}",
            "plug it in and listen again, with another -o",
            INCOMPLETE,
        ) from error
    finally:
        opened.close()
    print(f"{count} lines kept: {paths.shown(path)}", file=sys.stderr)


def _lines(port: Port, seconds: float | None) -> Iterator[str]:
    """Yield the lines that a port receives, until so many seconds are over."""
    until = None if seconds is None else time.monotonic() + seconds
    try:
        while until is None or time.monotonic() < until:
            yield from port.read()[0]
    except (PortGoneError, KeyboardInterrupt):
        yield from port.rest()
        raise
    yield from port.rest()


@verb(
    "tockmark board run-tab --kernel ~/tock/earlgrey-cw310.elf hello.tab",
    "tockmark board run-tab ping.tab pong.tab --max-cycles 5000000",
    exits={
        OK: "the app ended, the core sleeps for good, or the limit is reached",
        INCOMPLETE: "the kernel panicked or hung",
    },
)
def run_tab_verb(
    tabs: Annotated[list[Path], Argument(help="TABs, as elf2tab makes them.")],
    kernel: Annotated[
        Path | None, Option(help="ELF of the kernel; default: the baseline's.")
    ] = None,
    board: run_options.BoardName = boards.DEFAULT,
    icache: run_options.ICache = None,
    max_cycles: Annotated[int | None, Option(min=1, help="End after so many cycles.")] = None,
) -> None:
    """Run any TABs on a kernel and show what they print, until nothing more can come.

    tockloader lays them behind the kernel, as `tockloader install` does. The UART's bytes go to
    stdout; all else is on stderr."""
    profiled = boards.load(board).configured({"max-cycles": max_cycles})
    target = profiled.target
    if icache is not None:
        require_ability(target, Ability.ICACHE, "run with another cache setting", profiled.name)
    if Ability.PARALLEL not in target.can:
        raise TockmarkError(
            f"run-tab does not load {profiled.name}",
            "leave out --board, or let tockloader lay the TABs into a flash file of yours",
        )
    cached = target.icache if icache is None else icache is options.Switch.ON
    target.check_ready()
    elf = read_kernel(kernel or profiled.kernels[2])
    if not elf.panics:
        warn_without_panics(elf.path)
    with temporary_folder(paths.RUNS) as folder:
        flash = folder / "tabs.flash"
        for one in write_tab_image(tabs, elf, profiled, flash):
            gap = f"a gap of {one.length} bytes, at which Tock on Earl Grey panics"
            what = gap if one.name is None else f"{one.name}, {one.length} bytes"
            print_message(f"{one.start:#x}: {what}")
        start = Start("tabs", flash, cached, panics=elf.panics)
        raise Exit(_print_lines(target.start(start)))


def _print_lines(session: Session) -> int:
    """Print what a boot prints, as it comes, and say how it ended; return the exit code."""
    try:
        with run_options.interruptible_once():
            for line in session.lines():
                printed = line.removeprefix(TEXT).encode("latin-1", "replace")
                sys.stdout.buffer.write(printed + b"\n")
                sys.stdout.buffer.flush()
            return _ended(session)
    except KeyboardInterrupt:
        session.stop()
        session.ending()
        print_message("interrupted")
        return INTERRUPTED
    finally:
        session.stop()


def _ended(session: Session) -> int:
    """Say how a boot ended; return the exit code."""
    ending = session.ending()
    said = ending.why or "the suite closed"
    if ending.idle:
        said = said.partition(":")[0]  # what it means for the suite does not matter here
    print_message(f"{said}, after {ending.cycles} cycles" if ending.cycles else said)
    return OK if ending.why is None or ending.idle else INCOMPLETE


@verb(
    "tockmark board parse uart.log -o uart.json && tockmark table uart.json",
    "tockmark board parse uart.log --board cw310 --kernel earlgrey-cw310.elf",
    exits={INCOMPLETE: "rows failed or are missing; what was good is kept"},
)
def parse_verb(
    *,
    log: Annotated[Path, Argument(help="UART log, kernel messages and all.")],
    output: Annotated[
        Path | None, options.output_option("Result file; default: LOG with .json.")
    ] = None,
    board: Annotated[
        str | None, options.name_option(boards.names, "Board profile that it was captured from.")
    ] = None,
    kernel: Annotated[Path | None, Option(help="ELF of the kernel that ran.")] = None,
    claims: run_options.KernelClaims,
    abi: Annotated[
        int | None, Option(min=1, max=2, help="Version of the interface; the log says it.")
    ] = None,
    icache: Annotated[
        options.Switch | None,
        Option(help="Cache setting of a log without marks; default: the board's."),
    ] = None,
    images: Annotated[
        Path | None,
        Option(help="Folder that `tockmark board image` laid and that was installed: says both."),
    ] = None,
) -> None:
    """Turn a captured UART log into a result file.

    What is intact is kept, what is missing is named on stderr. With the board and the kernel that
    it is of, compare and agree take the result."""
    path = output or log.with_suffix(".json")
    options.check_not_a_log(path)
    if output is None and path.exists():  # it may be the run's own, which knows more than its log
        raise TockmarkError(f"{paths.shown(path)} is there already", "name the result with -o")
    known = catalogues.load()
    if kernel is None and claims != run_options.KernelClaims():
        raise TockmarkError("something is said of a kernel, but no kernel is named", "add --kernel")
    ran = claims.read(kernel) if kernel else None
    installed = image_folder.read_folder(images) if images else None
    if installed is not None:
        installed.check_catalogue(known)
        if ran is not None:
            installed.check_kernel(ran)
        ran, board = ran or installed.kernel(), board or installed.manifest.board
    from_marks = LogClaims(
        board=boards.load(board) if board else None,
        kernel=ran,
        abi=abi,
        icache=None if icache is None else icache is options.Switch.ON,
        images=installed,
    )
    check_settled(log)
    result = parse.parse(log, known, from_marks)
    write_whole({path: file.text(result)})
    print(f"{len(result.rows)} rows kept: {paths.shown(path)}")
    for id_ in sorted({row.id for row in result.rows} - known.benchmarks.keys()):
        print(f"not in the catalogue: {id_}")
    options.print_first(result.incomplete)
    raise Exit(options.incomplete_code(result))


@verb(
    "tockmark board agree sim.json board.json",
    "tockmark board agree sim.json board.json --only app --icache off --all",
    exits={
        OK: "every row is there and within its bound",
        INCOMPLETE: "a row is outside or missing, or a result is incomplete",
        UNUSABLE: "unusable input, wrong usage, or results of different things",
    },
)
def agree_verb(
    sim: Annotated[Path, Argument(help="Result file of the simulator.")],
    board: Annotated[Path, Argument(help="Result file of the board, of the same kernel.")],
    only: options.Only = None,
    icache: Annotated[
        options.Switch | None, Option(help="Rows with this cache setting only.")
    ] = None,
    every: Annotated[bool, Option("--all", help="Show every row.")] = False,
    as_json: options.AsJson = False,
    force: Annotated[
        bool, Option("--force", help="Even if kernel, machine or cache are not the same.")
    ] = False,
) -> None:
    """Hold a board's result against the simulator's: is each row within the model's stated bound?

    What is stated, and why, is in boards/earlgrey-sim/bounds.toml."""
    known = catalogues.load()
    names = [paths.shown(path) for path in (sim, board)]
    _, results = options.selected(known, only, [file.load(path) for path in (sim, board)])
    if icache is not None:
        cached = select(known, f"* icache={icache}", options.rows_of(results))
        results = [result.only(cached) for result in results]
    base, new = results
    bounds = load_bounds(agree.machine_of(base), known)
    found = agree.agree(base, new, names[1], bounds, force)
    if as_json:
        options.show(comparison.agree_json(names, found))
    else:
        options.show(comparison.agree_text(names, results, found, known, every))
    raise Exit(found.exit_code)
