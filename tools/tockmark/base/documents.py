# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The JSON documents that the tool writes, and how every one of them is read: strictly.

Reading is validating. A document's types derive from `Part` and are checked by msgspec while it
decodes: ten times as fast as a schema checker over dictionaries, from the very declarations that
mypy checks. Whatever is not as it should be, from a key that stands twice to text that would act
on the terminal which shows it, is refused in one line that ends in what to do.
"""

import json
import math
import re
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Annotated, Any, TypeVar

import msgspec
from msgspec import Meta

from tockmark.base.errors import UNSEEN, TockmarkError, quoted
from tockmark.base.files import reading
from tockmark.base.paths import shown

LONGEST_NUMBER = 1000  # characters; smaller ones that are too large are told by where they stand
MAX_COUNT = 2**53  # of anything: no other reader of JSON takes a larger number as it is

Sha256 = Annotated[str, Meta(pattern="^[0-9a-f]{64}$")]
Positive = Annotated[int, Meta(ge=1, le=MAX_COUNT)]
Count = Annotated[int, Meta(ge=0, le=MAX_COUNT)]
Date = Annotated[str, Meta(pattern="^[0-9]{4}(-[0-9]{2}-[0-9]{2}T[0-9:.]+(Z|[+-][0-9:]+)?)?$")]
Number = Annotated[int, Meta(ge=-MAX_COUNT, le=MAX_COUNT)]
# As it was read, whole or not; and never so large that reckoning with it overflows.
Figure = Number | Annotated[float, Meta(ge=-MAX_COUNT, le=MAX_COUNT)]
# A number stands as one: n="1" would be another row than n=1, and both be called n=1.
DIGITS = "-?[0-9]+"
Word = Annotated[str, Meta(pattern=f"^(?!{DIGITS}$)")]
SomeParams = dict[str, Number | Word]  # the catalogue's Params, in bounds

KINDS = {  # the formats of what the tool writes: what each is, and what to do with it
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
_FORMAT = re.compile(r'\{\s*"format":\s*"(tockmark-[a-z]+)"')
_IN_ROW = re.compile(
    r"(?P<what>.*) - at `(?:key` in `)?\$\.rows\[(?P<number>\d+)\](?P<field>.*)`", re.DOTALL
)


class Part(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """The base of all that documents are made of: it never changes, and takes nothing unknown."""


class RefusedError(ValueError):
    """Something in a document that cannot be, in words."""


Typed = TypeVar("Typed", bound=Part)
Made = TypeVar("Made")


def decode_strictly(text: str, make: Callable[[Any], Made], where: str, todo: str) -> Made:
    """Return what `make` makes of a JSON text. TockmarkError, with the place and what to do, where
    the text is not as it should be; ValueError if it is no JSON at all."""
    data = None
    try:
        data = _strict_json(text)
        return make(data)
    except (msgspec.ValidationError, RefusedError) as error:
        raise TockmarkError(f"{where}: {_located(error, data)}", todo) from error


def convert(data: Any, kind: type[Typed]) -> Typed:
    """Return data as their type, checked."""
    _check_shown(data)
    return msgspec.convert(data, kind)


def read_text(path: Path) -> str:
    """Return a file's text. TockmarkError if it cannot be read; ValueError if it is no text."""
    with reading(path):
        return path.read_text(encoding="utf-8")


def read(path: Path, kind: type[Typed], form: str, version: int, todo: str) -> Typed:
    """Read a document of one kind and version; any other is refused."""

    def make(data: Any) -> Typed:
        check_version(data, form, version, shown(path), todo)
        return convert(data, kind)

    try:
        return decode_strictly(read_text(path), make, shown(path), todo)
    except ValueError as error:
        raise TockmarkError(f"{shown(path)} is no {form}: it is not JSON", todo) from error


def check_version(data: Any, form: str, version: int, where: str, todo: str) -> None:
    """Refuse what is none of this kind and version."""
    found = data if isinstance(data, dict) else {}
    if (found.get("format"), found.get("version")) != (form, version):
        raise TockmarkError(f"{where} is no {form} of version {version}", todo)


def format_of(text: str) -> str | None:
    """Return the format that a text begins with, be it whole or not."""
    found = _FORMAT.match(text)
    return found[1] if found else None


def text_of(document: Part, tables: Sequence[str]) -> str:
    """Return a document as its file holds it: a line for each field, and for each entry of the
    tables."""

    def line(value: object) -> str:
        return msgspec.json.encode(value).decode()

    def lines(values: list[object]) -> str:
        return "[\n" + ",\n".join(map(line, values)) + "\n]"

    fields = [
        f"{line(name)}:" + (lines(value) if name in tables else line(value))
        for name, value in msgspec.to_builtins(document).items()
    ]
    return "{\n" + ",\n".join(fields) + "\n}\n"


def _strict_json(text: str) -> Any:
    """Read JSON without what its grammar lacks (NaN, infinities) or leaves open (a key twice)."""

    def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        found = dict(pairs)
        if len(found) != len(pairs):
            counts = Counter(key for key, _ in pairs)
            twice = next(key for key, count in counts.items() if count > 1)
            where = f" in the row {found['id']}" if "id" in found else ""
            raise RefusedError(f"the key '{twice}' stands twice{where}")
        return found

    def number(text: str) -> float:
        if not math.isfinite(value := float(text)):
            raise RefusedError(f"{text} is not a finite number")
        return value

    def whole(text: str) -> int:
        if len(text) > LONGEST_NUMBER:
            raise RefusedError(f"a number of {len(text)} digits is too large")
        return int(text)

    try:
        return json.loads(
            text,
            object_pairs_hook=unique,
            parse_float=number,
            parse_int=whole,
            parse_constant=number,
        )
    except RecursionError as error:
        raise ValueError("it is nested too deeply") from error


def _check_shown(data: Any) -> None:
    """Refuse a null, which is the loss of something: what is not known does not stand there; and
    text that cannot be shown as it is."""
    left = [("$", data)]
    while left:
        where, value = left.pop()
        if value is None:
            raise RefusedError(f"Expected a value, got `null` - at `{where}`")
        texts = value if isinstance(value, dict) else [value] if isinstance(value, str) else ()
        for text in texts:
            if found := UNSEEN.search(text):
                raise RefusedError(f"Expected text to show, got {found[0]!a} - at `{where}`")
        if isinstance(value, dict):
            for key, inside in value.items():
                left.append((f"{where}.{key}", inside))
        elif isinstance(value, list):
            for place, inside in enumerate(value):
                left.append((f"{where}[{place}]", inside))


def _located(error: Exception, data: Any) -> str:
    """Return msgspec's message with the row's id in place of its number alone."""
    found = _IN_ROW.fullmatch(str(error))
    if not found:
        return quoted(str(error).replace("`$.", "`"))
    row = data["rows"][int(found["number"])]
    id_ = f" ({row['id']})" if isinstance(row, dict) and "id" in row else ""
    return quoted(f"row {int(found['number']) + 1}{id_}{found['field']}: {found['what']}")
