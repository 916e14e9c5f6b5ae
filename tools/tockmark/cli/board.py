# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The verbs of the group `board`: image, install, listen, run-tab, parse, agree."""

import re
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
from tockmark.show import comparison, text
from tockmark.suite import catalogue as catalogues
from tockmark.suite.catalogue import Boot, Catalogue
from tockmark.suite.selection import select
from tockmark.target import board as boards
from tockmark.target import image_folder, parse
from tockmark.target.board import BoardProfile
from tockmark.target.elf import ISAS
from tockmark.target.image import AppBuild
from tockmark.target.image_folder import (
    flash_with_apps,
    load_boot,
    manual_load,
    write_folder,
)
from tockmark.target.kernel import KernelElf, read_kernel, warn_without_panics
from tockmark.target.log import check_settled
from tockmark.target.parse import LogClaims
from tockmark.target.protocol import Ability, Session, Start, require_ability
from tockmark.target.serial import Port, PortGoneError
from tockmark.target.tab import Tbf, write_tab_image
from tockmark.wire.records import decode_mark
from tockmark.wire.uart_line import ESCAPE

IMAGES = paths.WRITTEN / "image"
DEFAULT_BAUD = 115_200  # Tock's console on OpenTitan
# A fault of an app: the line of the baseline kernel, and of Tock if its policy does not panic.
_FAULT = re.compile(r"tockmark-kernel: app \S+ fault |Process .* faulted and ")


@dataclass(frozen=True)
class ImageContent:
    """The kernel, apps and boots of images."""

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
            "What the apps read: perf, cyclecount or csr, as in `tockmark run` (default: perf).",
        ),
    ] = None
    samples: Annotated[
        int | None, Option(min=9, help="Take at most N samples per row (default: all).")
    ] = None

    def boots(
        self, board: BoardProfile, catalogue: Catalogue, boot: str | None = None
    ) -> tuple[tuple[AppBuild, Boot], ...]:
        """Return the selected boots with their apps. TockmarkError if none is selected.

        `boot` restricts them to the boot of this name."""
        boots_by_name = {boot.name: boot for boot in catalogue.boots()}
        if boot is not None and boot not in boots_by_name:
            names = ", ".join(boots_by_name)
            raise TockmarkError(f"there is no boot '{boot}'", f"choose from: {names}")
        selection = select(catalogue, self.only)
        default = catalogues.CYCLECOUNT if ISAS[board.isa].counts_cycles_only else catalogues.PERF
        (counter,) = options.counters(self.counter or default)
        boots = tuple(
            # A boot has all its rows, also those that are not selected.
            (AppBuild.built(self.abi, lang, counter, isa=board.isa), boots_by_name[selected.name])
            for lang in options.languages(self.lang)
            for selected in selection.boots(lang)
            if boot in (None, selected.name)
        )
        if not boots:
            where = f"--lang {self.lang}" if boot is None else f"boot {boot}, --lang {self.lang}"
            raise TockmarkError(f"--only {self.only} selects no row in {where}", "omit an option")
        return boots

    def elf(self, claims: run_options.KernelClaims, board: BoardProfile) -> KernelElf:
        """Read the kernel; the default is the baseline for this board."""
        return claims.read(self.kernel or board.kernels[self.abi])


@verb(
    "tockmark board image --board cw310 -o out",
    "tockmark board image --board cw310 --kernel ~/tock/earlgrey-cw310.elf --lang c,rust -o out",
    "tockmark board image syscall  # one boot for the simulator",
)
def image_verb(
    *,
    boot: Annotated[
        str | None, Argument(help="Boot to build: a group, or the name of a boot (default: all).")
    ] = None,
    content: ImageContent,
    claims: run_options.KernelClaims,
    board: run_options.BoardName = boards.DEFAULT,
    also: Annotated[
        list[Path] | None,
        Option(help="Another image folder, to merge its programs into the same TABs. Repeatable."),
    ] = None,
    output: Annotated[
        Path | None, options.output_option("Folder of the images (default: build/image).")
    ] = None,
) -> None:
    """Write flash images of the suite for a board, one per boot, with TABs of the apps, a manifest
    and a README.

    An older image folder is replaced once the new one is complete."""
    profile, catalogue = boards.load(board), catalogues.load()
    output = output or IMAGES
    boots, elf = content.boots(profile, catalogue, boot), content.elf(claims, profile)
    with run_options.interruptible_once():
        manifest = write_folder(profile, elf, boots, catalogue, content.samples, output, also or ())
    every = len({built.name for built in manifest.boots}) + len(manifest.left_out)
    for why in dict.fromkeys(omitted.why for omitted in manifest.left_out):
        names = [omitted.name for omitted in manifest.left_out if omitted.why == why]
        print(f"omitted {len(names)} of {every} boots, {', '.join(names)}: {why}")
    images = text.counted(len(manifest.boots), "image")
    print(f"{images}, each to be flashed once: {paths.shown(output)}/")


@verb(
    "tockmark board install --images out syscall",
    "tockmark board install --images out syscall --dry-run",
    "tockmark board install --images out syscall --flash-file mine.flash",
    exits={INCOMPLETE: "nothing was loaded: the board's tool is not on PATH"},
)
def install_verb(
    boot: Annotated[str, Argument(help="Boot to load; the folder's README lists them.")],
    images: Annotated[Path, Option(help="Folder made by `tockmark board image`.")],
    kernel: Annotated[
        Path | None, Option(help="Refuse images of any other kernel than this ELF.")
    ] = None,
    lang: Annotated[
        str | None, Option(help="Language of the apps, if the folder has several.")
    ] = None,
    flash_file: Annotated[
        Path | None,
        Option(
            help="Write the apps into this flash file, which contains the kernel, instead of"
            " loading a board. Uses tockloader."
        ),
    ] = None,
    dry_run: Annotated[
        bool, Option("--dry-run", help="Only check, and print the command.")
    ] = False,
) -> None:
    """Load the image of one boot onto its board, with the tool in the board's profile."""
    folder = image_folder.read_folder(images)
    image = folder.boot(boot, None if lang is None else run_options.single_language(lang))
    if kernel is not None:
        folder.check_kernel(read_kernel(kernel))
    profile = boards.load(folder.manifest.board)
    flash = folder.image(image).flash
    print(f"image {image.image}: {image.name}, {paths.shown(flash)}")
    if flash_file is not None:
        content = flash_with_apps(folder, image, profile, flash_file)
        if not dry_run:
            write_whole({flash_file: content})
        print(f"{'fits into' if dry_run else 'written into'} {paths.shown(flash_file)}")
    elif dry_run:
        print(manual_load(profile, flash))
    elif load_boot(profile, flash):
        print(f"loaded onto {profile.name}")
    else:
        why = f"tockmark knows no tool that loads {profile.name}"
        if profile.load is not None:
            why = f"{profile.load.command[0]} is not on PATH"
        raise TockmarkError(
            f"nothing was loaded: {why}",
            f"load it by hand: {manual_load(profile, flash)}",
            INCOMPLETE,
        )


@verb(
    "tockmark board listen --port /dev/ttyACM1",
    "tockmark board listen --port /dev/ttyACM1 -o uart.log && tockmark board parse uart.log",
    exits={
        OK: "ended by Ctrl-C or --seconds",
        INCOMPLETE: "the port disappeared; the lines are kept",
        INTERRUPTED: NEVER,
    },
)
def listen_verb(
    port: Annotated[str, Option(help="Serial port of the board, such as /dev/ttyACM1.")],
    baud: Annotated[int, Option(min=1, help="Baud rate of the port.")] = DEFAULT_BAUD,
    seconds: Annotated[
        float | None, Option(min=0, help="Stop after N seconds (default: at Ctrl-C).")
    ] = None,
    output: Annotated[
        Path | None, options.output_option("Log (default: in build/results/, named by the time).")
    ] = None,
) -> None:
    """Record and show the output of a board, until Ctrl-C. Loads and starts nothing.

    Each line is in the log as soon as it is shown; `tockmark board parse` reads the log."""
    path = output or paths.NEW_RESULTS / f"{datetime.now():%Y-%m-%d-%H%M%S}-listen.log"
    serial = Port(port, baud)
    count = 0
    try:
        with path.open("x", encoding="latin-1", newline="\n") as log:
            for line in _lines(serial, seconds):
                log.write(f"{line}\n")
                log.flush()
                print(line if line.isprintable() else repr(line)[1:-1], flush=True)
                count += 1
    except (KeyboardInterrupt, BrokenPipeError):  # `tockmark board listen … | head`
        pass
    except FileExistsError as error:
        problem = f"{paths.shown(path)}: the file exists already"
        raise TockmarkError(problem, "give another log with -o") from error
    except OSError as error:
        raise TockmarkError(
            f"cannot write {paths.shown(path)}: {error.strerror}", "give another log with -o"
        ) from error
    except PortGoneError as error:
        raise TockmarkError(
            f"the port {port} disappeared; {count} lines are kept in {paths.shown(path)}",
            "plug it in and listen again, with another -o",
            INCOMPLETE,
        ) from error
    finally:
        serial.close()
    print(f"{count} lines kept: {paths.shown(path)}", file=sys.stderr)


def _lines(port: Port, seconds: float | None) -> Iterator[str]:
    """Yield the lines that a port receives, for this many seconds, or forever."""
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
        OK: "the apps ended, the core sleeps forever, or the limit is reached",
        INCOMPLETE: "an app faulted, or the kernel panicked or hung",
        UNUSABLE: "unusable input, wrong usage, or the kernel did not start an app",
    },
)
def run_tab_verb(
    tabs: Annotated[list[Path], Argument(help="TABs, made by elf2tab.")],
    kernel: Annotated[
        Path | None, Option(help="ELF of the kernel (default: the baseline's).")
    ] = None,
    board: run_options.BoardName = boards.DEFAULT,
    icache: run_options.ICache = None,
    max_cycles: Annotated[int | None, Option(min=1, help="Stop after N cycles.")] = None,
) -> None:
    """Run TABs on a kernel and show their output, until nothing more can happen.

    The apps are placed behind the kernel, as `tockloader install` does. The UART's bytes go to
    stdout, messages to stderr."""
    profile = boards.load(board).configured({"max-cycles": max_cycles})
    target = profile.target
    if icache is not None:
        require_ability(target, Ability.ICACHE, "run with another cache setting", profile.name)
    if Ability.PARALLEL not in target.can:
        raise TockmarkError(
            f"run-tab does not load {profile.name}",
            "omit --board, or write the TABs into a flash file with tockloader",
        )
    cached = target.icache if icache is None else icache is options.Switch.ON
    target.check_ready()
    elf = read_kernel(kernel or profile.kernels[2])
    if not elf.panics:
        warn_without_panics(elf.path)
    with temporary_folder(paths.RUNS) as folder:
        flash = folder / "tabs.flash"
        laid = write_tab_image(tabs, elf, profile, flash)
        for part in laid:
            gap = f"a gap of {part.length} bytes, which makes Tock on Earl Grey panic"
            content = gap if part.name is None else f"{part.name}, {part.length} bytes"
            print_message(f"{part.start:#x}: {content}")
        apps = {f"app{number}": part for number, part in enumerate(laid) if part.name is not None}
        if Ability.MARKS not in target.can:
            apps = {}
        marks = [word for name, app in apps.items() for word in ("--mark", f"{name}={app.entry}")]
        start = Start("tabs", flash, cached, tuple(marks), panics=elf.panics)
        raise Exit(_print_lines(target.start(start), apps))


def _print_lines(session: Session, apps: dict[str, Tbf]) -> int:
    """Print the output and the end of a boot; return the exit code. `apps` are by the mark at their
    start. TockmarkError if the kernel did not start one, although nothing failed."""
    has_fault = False
    try:
        with run_options.interruptible_once():
            for line in session.lines():
                if (mark := decode_mark(line, 0)) is not None:
                    apps.pop(mark.name, None)
                    continue
                has_fault = has_fault or bool(_FAULT.match(line))
                printed = line.removeprefix(ESCAPE).encode("latin-1", "replace")
                sys.stdout.buffer.write(printed + b"\n")
                sys.stdout.buffer.flush()
            ending = session.ending()
        reason = ending.why or "the suite closed"
        if ending.idle:
            reason = reason.partition(":")[0]  # the rest is about the suite
        print_message(f"{reason}, after {ending.cycles} cycles" if ending.cycles else reason)
        if has_fault or not (ending.why is None or ending.idle):
            return INCOMPLETE
        if apps:
            names = ", ".join(str(app.name) for app in apps.values())
            raise TockmarkError(f"the kernel did not start {names}", "see what it printed")
        return OK
    except KeyboardInterrupt:
        session.stop()
        session.ending()
        print_message("interrupted")
        return INTERRUPTED
    finally:
        session.stop()


@verb(
    "tockmark board parse uart.log -o uart.json && tockmark table uart.json",
    "tockmark board parse uart.log --board cw310 --kernel earlgrey-cw310.elf",
    exits={INCOMPLETE: "rows failed or are missing; the rest is kept"},
)
def parse_verb(
    *,
    log: Annotated[Path, Argument(help="UART log; it may contain kernel messages.")],
    output: Annotated[
        Path | None, options.output_option("Result file (default: LOG with .json).")
    ] = None,
    board: Annotated[
        str | None, options.name_option(boards.names, "Profile of the board that ran.")
    ] = None,
    kernel: Annotated[Path | None, Option(help="ELF of the kernel that ran.")] = None,
    claims: run_options.KernelClaims,
    abi: Annotated[
        int | None, Option(min=1, max=2, help="Version of the interface (default: in the log).")
    ] = None,
    icache: Annotated[
        options.Switch | None,
        Option(help="Cache setting of a log without marks (default: the board's)."),
    ] = None,
    images: Annotated[
        Path | None,
        Option(help="Image folder that was installed; it gives board and kernel."),
    ] = None,
) -> None:
    """Turn a captured UART log into a result file.

    Intact rows are kept; missing ones are listed on stderr. `compare` and `agree` need a result
    with its board and kernel, so give both."""
    path = output or log.with_suffix(".json")
    options.check_not_a_log(path)
    if output is None and path.exists():  # perhaps the result of a run, which has more than the log
        problem = f"{paths.shown(path)}: the file exists already"
        raise TockmarkError(problem, "give another result with -o")
    catalogue = catalogues.load()
    if kernel is None and claims != run_options.KernelClaims():
        raise TockmarkError("an option describes a kernel, but none is given", "add --kernel")
    elf = claims.read(kernel) if kernel else None
    installed = image_folder.read_folder(images) if images else None
    if installed is not None:
        installed.check_catalogue(catalogue)
        if elf is not None:
            installed.check_kernel(elf)
        elf, board = elf or installed.kernel(), board or installed.manifest.board
    log_claims = LogClaims(
        board=boards.load(board) if board else None,
        kernel=elf,
        abi=abi,
        icache=None if icache is None else icache is options.Switch.ON,
        images=installed,
    )
    check_settled(log)
    result = parse.parse(log, catalogue, log_claims)
    write_whole({path: file.text(result)})
    print(f"{text.counted(len(result.rows))} kept: {paths.shown(path)}")
    for id_ in sorted({row.id for row in result.rows} - catalogue.benchmarks.keys()):
        print(f"not in the catalogue: {id_}")
    options.print_first(result.incomplete)
    raise Exit(options.incomplete_code(result))


@verb(
    "tockmark board agree sim.json board.json",
    "tockmark board agree sim.json board.json --only app --icache off --all",
    exits={
        OK: "every row is present and within its bound",
        INCOMPLETE: "a row is outside its bound or missing, or a result is incomplete",
        UNUSABLE: "unusable input, wrong usage, or results that cannot be compared",
    },
)
def agree_verb(
    sim: Annotated[Path, Argument(help="Result file of the simulator.")],
    board: Annotated[Path, Argument(help="Result file of the board, with the same kernel.")],
    only: options.Only = None,
    icache: Annotated[
        options.Switch | None, Option(help="Show only rows with this cache setting.")
    ] = None,
    every: Annotated[bool, Option("--all", help="Show every row.")] = False,
    as_json: options.AsJson = False,
    force: Annotated[
        bool, Option("--force", help="Compare even if kernel, machine or cache differ.")
    ] = False,
) -> None:
    """Check a board's result against the simulator's: is each row within the model's bound?

    boards/earlgrey-sim/bounds.toml has the bounds and their reasons."""
    catalogue = catalogues.load()
    names = [paths.shown(path) for path in (sim, board)]
    _, results = options.selected(catalogue, only, [file.load(path) for path in (sim, board)])
    if icache is not None:
        cached = select(catalogue, f"* icache={icache}", options.rows_of(results))
        results = [result.only(cached) for result in results]
    base, new = results
    bounds = load_bounds(agree.machine_of(base), catalogue)
    agreement = agree.agree(base, new, names[1], bounds, force)
    if as_json:
        options.show(comparison.agree_json(names, agreement))
    else:
        options.show(comparison.agree_text(names, results, agreement, catalogue, every))
    raise Exit(agreement.exit_code)
