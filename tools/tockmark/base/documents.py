# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Reading and writing the tool's JSON documents.

Reading validates. The types of a document derive from `Part`, and msgspec checks them while it
decodes. This is ten times as fast as a schema checker, and uses the declarations that mypy checks.
Any error, such as a duplicate key or text that acts on a terminal, becomes one TockmarkError.
"""

import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Annotated, Any, TypeVar

import msgspec
from msgspec import Meta

from tockmark.base.errors import UNSEEN, TockmarkError, quoted
from tockmark.base.files import reading
from tockmark.base.paths import shown

MAX_COUNT = 2**53  # other readers of JSON lose precision above it

Sha256 = Annotated[str, Meta(pattern="^[0-9a-f]{64}$")]
Positive = Annotated[int, Meta(ge=1, le=MAX_COUNT)]
Count = Annotated[int, Meta(ge=0, le=MAX_COUNT)]
Date = Annotated[str, Meta(pattern="^[0-9]{4}(-[0-9]{2}-[0-9]{2}T[0-9:.]+(Z|[+-][0-9:]+)?)?$")]
Number = Annotated[int, Meta(ge=-MAX_COUNT, le=MAX_COUNT)]
# An integer or a fraction as it was read, too small to overflow in calculations.
Figure = Number | Annotated[float, Meta(ge=-MAX_COUNT, le=MAX_COUNT)]
# Not a number: n="1" and n=1 would be two rows with the same name.
DIGITS = "-?[0-9]+"
Word = Annotated[str, Meta(pattern=f"^(?!{DIGITS}$)")]
SomeParams = dict[str, Number | Word]  # Params of the catalogue with limits

KINDS = {  # the documents of each format, in words, and what to do with them
    "tockmark-result": ("a result file", "`tockmark table` shows it"),
    "tockmark-validation": (
        "a validation of the simulator",
        "`tockmark-lab validate --show` shows it",
    ),
    "tockmark-history": ("a history of runs", "`tockmark-lab history -f` shows it"),
    "tockmark-commits": ("what a campaign found", "`tockmark-lab history -f` shows it"),
    "tockmark-latency": (
        "what `tockmark latency` found",
        "`tockmark latency --show` shows it",
    ),
    "tockmark-profile": ("a profile of one sample", "profiles are not results"),
}
START = 4096  # bytes at the start of a file that contain its format
_FORMAT = re.compile(r'\{\s*"format":\s*"(tockmark-[a-z]+)"')
_IN_ROW = re.compile(
    r"(?P<problem>.*) - at `(?:key` in `)?\$\.rows\[(?P<number>\d+)\](?P<field>.*)`", re.DOTALL
)


class Part(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """The base class of all parts of documents: immutable, and without unknown fields."""


class RefusedError(ValueError):
    """An invalid value in a document."""


Document = TypeVar("Document", bound=Part)
Decoded = TypeVar("Decoded")


def decode_strictly(text: str, make: Callable[[Any], Decoded], where: str, todo: str) -> Decoded:
    """Parse a JSON text and convert it with `make`.

    TockmarkError (which names `where`) if a value is invalid; ValueError if it is not JSON."""
    data = None
    try:
        data = msgspec.json.decode(text)
        return make(data)
    except (msgspec.ValidationError, RefusedError) as error:
        raise TockmarkError(f"{where}: {_located(error, data)}", todo) from error
    except RecursionError as error:
        raise ValueError("it is nested too deeply") from error


def read_toml(path: Path, kind: type[Decoded], fault: str, todo: str) -> Decoded:
    """Read a TOML file as a type. TockmarkError, which says `fault`, if it is not valid."""
    with reading(path):
        content = path.read_bytes()
    try:
        return msgspec.toml.decode(content, type=kind)
    except ValueError as error:
        raise TockmarkError(f"{shown(path)} {fault}: {error}", todo) from error


def convert(data: Any, kind: type[Document]) -> Document:
    """Check parsed JSON and convert it to its type."""
    _check_printable(data)
    return msgspec.convert(data, kind)


def read_text(path: Path) -> str:
    """Return a file's text. TockmarkError if it cannot be read; ValueError if it is not UTF-8."""
    with reading(path):
        return path.read_text(encoding="utf-8")


def read(path: Path, kind: type[Document], form: str, version: int, todo: str) -> Document:
    """Read a document. TockmarkError if it has another format or version."""

    def make(data: Any) -> Document:
        check_version(data, form, version, shown(path), todo)
        return convert(data, kind)

    try:
        return decode_strictly(read_text(path), make, shown(path), todo)
    except ValueError as error:
        raise TockmarkError(f"{shown(path)}: not a {form} (it is not JSON)", todo) from error


def check_version(data: Any, form: str, version: int, where: str, todo: str) -> None:
    """Raise TockmarkError unless parsed JSON has this format and version."""
    fields = data if isinstance(data, dict) else {}
    if (fields.get("format"), fields.get("version")) != (form, version):
        raise TockmarkError(f"{where}: not a {form} of version {version}", todo)


def format_of(text: str) -> str | None:
    """Return the format at the start of a text, which may be cut; None if it has none."""
    match = _FORMAT.match(text)
    return match[1] if match else None


def source_format(path: Path) -> str | None:
    """Return the format that a file states at its start, or None."""
    with reading(path), path.open("rb") as opened:
        return format_of(opened.read(START).decode(errors="replace").lstrip())


def text_of(document: Part, tables: Sequence[str]) -> str:
    """Return the text of a document's file: one line per field, and per entry of the tables."""

    def line(value: object) -> str:
        return msgspec.json.encode(value).decode()

    def lines(values: list[object]) -> str:
        return "[\n" + ",\n".join(map(line, values)) + "\n]"

    fields = [
        f"{line(name)}:" + (lines(value) if name in tables else line(value))
        for name, value in msgspec.to_builtins(document).items()
    ]
    return "{\n" + ",\n".join(fields) + "\n}\n"


def _check_printable(data: Any) -> None:
    """Refuse null (an unknown value is omitted instead) and text that acts on a terminal."""
    remaining = [("$", data)]
    while remaining:
        where, value = remaining.pop()
        if value is None:
            raise RefusedError(f"Expected a value, got `null` - at `{where}`")
        texts = value if isinstance(value, dict) else [value] if isinstance(value, str) else ()
        for text in texts:
            plain = text.isascii() and text.isprintable()  # fast, and true of most
            if not plain and (match := UNSEEN.search(text)):
                raise RefusedError(f"Expected printable text, got {match[0]!a} - at `{where}`")
        if isinstance(value, dict):
            for key, inside in value.items():
                remaining.append((f"{where}.{key}", inside))
        elif isinstance(value, list):
            for index, inside in enumerate(value):
                if not isinstance(inside, (int, float)):  # most are numbers
                    remaining.append((f"{where}[{index}]", inside))


def _located(error: Exception, data: Any) -> str:
    """Return msgspec's message; a number of a row is replaced by the row's id."""
    match = _IN_ROW.fullmatch(str(error))
    if not match:
        return quoted(str(error).replace("`$.", "`"))
    row = data["rows"][int(match["number"])]
    id_ = f" ({row['id']})" if isinstance(row, dict) and "id" in row else ""
    return quoted(f"row {int(match['number']) + 1}{id_}{match['field']}: {match['problem']}")
