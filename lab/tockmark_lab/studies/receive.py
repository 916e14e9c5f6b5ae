# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The study receive: how many bytes an app loses that reads the console, at one rate after the
other, and next to others.

The receiver (lab/studies/receive/apps) is in the first slot, which has priority, and reads 64 bytes
at a time. The other end of the line is the simulator's, so any rate is possible without a change
of the kernel; the UART's own fastest one is 375,000 baud (CTRL.NCO has 16 bits). What the apps
write takes the time that it takes at 115,200 baud."""

import re
from pathlib import Path
from typing import Annotated

import msgspec

from tockmark.base import documents, paths
from tockmark.base.documents import Part
from tockmark.base.errors import TockmarkError
from tockmark.base.files import check_writable, write_whole
from tockmark.cli import options
from tockmark.cli.program import verb
from tockmark.cli.run_options import ICache, KernelClaims, KernelFile
from tockmark.result.provenance import Kernel
from tockmark.show.text import Table, TableColumn, figures
from tockmark.suite.catalogue import ICACHE, Boot, Lang
from tockmark.target import board as boards
from tockmark.target.board import BoardProfile
from tockmark.target.image import AppBuild, build_image
from tockmark.target.kernel import KernelElf
from tockmark.target.protocol import Start
from tockmark.target.results import kernel_provenance, simulator_provenance

FORM, VERSION = "tockmark-receive", 1
COMPANY = {
    "alone": (),
    "compute": ("spinner", "spinner"),
    "ipc": ("ipc_server", "pinger"),
    "write": ("writer",),
}
LANGS: tuple[Lang, ...] = ("c", "rust")
# Cycles for a byte of 10 bits at 24 MHz, as in receiver.c, and their rates in baud.
RATES = {
    2083: 115_200,
    1042: 230_400,
    640: 375_000,
    480: 500_000,
    320: 750_000,
    240: 1_000_000,
    200: 1_200_000,
    160: 1_500_000,
    120: 2_000_000,
    80: 3_000_000,
}
PACES = tuple(RATES)
STANDARD, FASTEST = 2083, 640  # the usual rate, and the fastest that the UART can be set to
BYTES = 1024  # that are sent at each rate
SILENCE = 5_000_000  # cycles without output after which nothing more is received

_RECEIVED = re.compile(r"receive (\d+) (\d+) (\d+) (\d+)$")


class Rate(Part, frozen=True):
    """What an app received at a rate: bytes that came and were lost before the last that came, and
    cycles awake. None: a read never ended."""

    lang: Lang
    company: str
    pace: int  # cycles for a byte
    came: int | None = None
    lost: int | None = None
    awake: int | None = None

    @property
    def is_whole(self) -> bool:
        return self.lost == 0


class StoredRates(Part, frozen=True):
    """The file of one kernel."""

    format: str
    version: int
    kernel: Kernel
    board: str
    simulator: dict[str, str]
    tool: str | None  # the commit of the checkout
    icache: bool
    rates: tuple[Rate, ...]


def measure(kernel: KernelElf, board: BoardProfile, icache: bool, lang: Lang) -> list[Rate]:
    """Receive at all rates in each company, up to the first that loses bytes; at 375,000 baud in
    any case."""
    rates = []
    for company in COMPANY:
        of_company = _boot(kernel, board, icache, lang, company, 0)
        if of_company[-1].pace > FASTEST:
            of_company += _boot(kernel, board, icache, lang, company, PACES.index(FASTEST))
        rates += of_company
    return rates


def _boot(
    kernel: KernelElf, board: BoardProfile, icache: bool, lang: Lang, company: str, first: int
) -> list[Rate]:
    """Boot the receiver; it begins with the rate of this index."""
    folder = paths.APPS / f"receive-{lang}-abi2"
    if not folder.is_dir():
        raise TockmarkError(f"there is no {paths.shown(folder)}", "run `make receive`")
    name = f"receive-{company}-{first}"
    boot = Boot(name, "receiver", ("receiver", *COMPANY[company]), (), scene=first, slice_us=0)
    out = paths.WRITTEN / "receive" / f"{kernel.sha256[:8]}-{lang}"
    image = build_image(boot, AppBuild(folder, 2, lang), kernel, board, out)
    cycles = (BYTES + 1000) * sum(PACES[first:])
    target = board.target.configured(
        {"uart-cycles": STANDARD, "max-cycles": cycles, "silence": SILENCE}
    )
    session = target.start(Start(name, image.flash, icache, panics=kernel.panics))
    matches = [match for line in session.lines() if (match := _RECEIVED.search(line))]
    session.ending()
    rates = [Rate(lang, company, *map(int, match.groups())) for match in matches]
    if not rates or (rates[-1].is_whole and rates[-1].pace != PACES[-1]):
        pace = PACES[first + len(rates)]
        rates.append(Rate(lang, company, pace))
    return rates


def load(path: Path) -> StoredRates:
    """Read such a file. TockmarkError if it is not one."""
    return documents.read(
        path, StoredRates, FORM, VERSION, "give a file that `tockmark-lab receive` made"
    )


def format_rates(rates: list[Rate], icache: bool) -> str:
    """Format what was received at each rate."""
    columns = {"baud": 10, "came": 7, "lost": 7, "awake a byte": 13}
    table = Table([TableColumn("next to", 16, 0, left=True), *figures(columns)])
    for rate in rates:
        came, lost, awake = (
            ("-", "-", "-")
            if rate.came is None
            else (str(rate.came), str(rate.lost), f"{(rate.awake or 0) / rate.came:,.0f}")
        )
        table.add(f"{rate.lang} {rate.company}", f"{RATES[rate.pace]:,}", came, lost, awake)
    title = f"{BYTES} bytes at each rate, in reads of 64, i-cache {ICACHE[icache]}"
    return "\n".join(table.text(title, ""))


@verb(
    "make receive && tockmark-lab receive",
    "tockmark-lab receive --kernel ~/tock/earlgrey-cw310.elf --opt-level z -o tock.json",
)
def receive_verb(
    *,
    kernel: KernelFile = None,
    claims: KernelClaims,
    icache: ICache = None,
    as_json: options.AsJson = False,
    output: Annotated[Path | None, options.output_option("Also store the rates in a file.")] = None,
) -> None:
    """Send bytes to an app at one rate after the other, alone and next to others, and show how many
    it loses."""
    if output is not None:
        check_writable([output], FORM)
    board = boards.load(boards.DEFAULT)
    elf = claims.read(kernel or board.kernels[2])
    cached = board.target.icache if icache is None else icache is options.Switch.ON
    rates = [rate for lang in LANGS for rate in measure(elf, board, cached, lang)]
    if as_json:
        options.show(msgspec.to_builtins(rates))
    else:
        print(format_rates(rates, cached))
    if output is not None:
        kept = StoredRates(
            FORM,
            VERSION,
            kernel_provenance(elf, None),
            board.name,
            simulator_provenance(board),
            paths.commit_of_checkout(),
            cached,
            tuple(rates),
        )
        write_whole({output: documents.text_of(kept, ("rates",))})
