# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Which boots an earlier log has whole, so that `run --resume` need not run them again."""

from collections.abc import Iterator
from pathlib import Path

from tockmark.errors import TockmarkError
from tockmark.log.protocol import BootMark, decode, decode_mark
from tockmark.log.rows import assemble
from tockmark.paths import shown
from tockmark.result import file
from tockmark.result.build import Expected, build
from tockmark.result.facts import board_of
from tockmark.suite.catalogue import Catalogue
from tockmark.suite.select import Selection
from tockmark.target.board import Board
from tockmark.target.run import Earlier, Which


def whole_boots(log: Path, known: Catalogue, board: Board) -> dict[Which, Earlier]:
    """Of each boot that is closed by its end mark and gave all its rows, the lines. TockmarkError
    if it is no log of a run, or its result says that it is of another board."""
    _suits(log, board)
    try:
        text = log.read_bytes().decode("latin-1")
    except OSError as error:
        raise TockmarkError(
            f"cannot read {shown(log)}: {error.strerror}", "--resume takes the log of a run"
        ) from error
    found: dict[Which, Earlier] = {}
    marked = False
    for mark, lines in _boots(text.split("\n")):
        marked = True
        image = _image_if_whole(mark, lines, known)
        if image is not None:
            which = mark.name, mark.icache, mark.lang or "c"
            found.setdefault(which, Earlier(image, tuple(lines)))
    if not marked:
        raise TockmarkError(
            f"{shown(log)} has no boot between its marks", "--resume takes the log of a run"
        )
    return found


def _suits(log: Path, board: Board) -> None:
    """A log does not say of what board it is, and another one may take the very same image."""
    path = log.with_suffix(".json")
    if not path.is_file():
        return
    then, now = file.load(path).provenance.board, board_of(board)
    if then == now:
        return
    key = next(key for key in now.__struct_fields__ if getattr(then, key) != getattr(now, key))
    raise TockmarkError(
        f"{shown(log)} cannot be gone on from: its {key} is {getattr(then, key)}, says"
        f" {shown(path)}, and here it is {getattr(now, key)}",
        "run without --resume",
    )


def _boots(lines: list[str]) -> Iterator[tuple[BootMark, list[str]]]:
    """What stands between the mark of a boot and its end."""
    begin: BootMark | None = None
    inside: list[str] = []
    for line in lines:
        mark = decode_mark(line)
        if mark is None:
            inside.append(line)
        elif not mark.ends:
            begin, inside = mark, []
        elif begin is not None:
            own = begin.name, begin.icache, begin.app, begin.lang
            if own == (mark.name, mark.icache, mark.app, mark.lang):
                yield begin, inside
            begin = None


def _image_if_whole(mark: BootMark, lines: list[str], known: Catalogue) -> str | None:
    """The id that a boot's app said, if nothing of the boot is missing or wrong."""
    boot = next((boot for boot in known.boots() if boot.name == mark.name), None)
    if boot is None:
        return None
    ends = BootMark(mark.name, mark.icache, mark.app, ends=True, lang=mark.lang)
    measured = assemble(decode([mark.encode(), *lines, ends.encode()]))
    expected = [Expected(boot, mark.icache, lang=mark.lang or "c")]
    if build(measured, known, None, expected, Selection(known)).incomplete:
        return None
    said = [app.begin.get("image") for _, app in measured.each() if app.begin]
    return said[0] if said else None
