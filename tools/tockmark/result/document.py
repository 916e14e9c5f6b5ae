# SPDX-License-Identifier: Apache-2.0 OR MIT
"""What the tool's files besides the result have in common: JSON with a format and a version, an
entry of their tables a line, checked against their types while they are read."""

from collections.abc import Sequence
from pathlib import Path
from typing import TypeVar

import msgspec

from tockmark.errors import TockmarkError
from tockmark.paths import shown
from tockmark.plain import quoted
from tockmark.result.provenance import Part
from tockmark.result.strict import RefusedError, check, strict_json

Document = TypeVar("Document", bound=Part)


def read(path: Path, kind: type[Document], form: str, version: int, todo: str) -> Document:
    """A file of this kind; any other is refused in one line that ends in what to do."""
    try:
        data = strict_json(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise TockmarkError(f"cannot read {shown(path)}: {error.strerror}") from error
    except RefusedError as error:
        raise TockmarkError(f"{shown(path)}: {quoted(error)}", todo) from error
    except (ValueError, RecursionError) as error:
        raise TockmarkError(f"{shown(path)} is no {form}: it is not JSON", todo) from error
    found = data if isinstance(data, dict) else {}
    if (found.get("format"), found.get("version")) != (form, version):
        raise TockmarkError(f"{shown(path)} is no {form} of version {version}", todo)
    try:
        check(data)
        return msgspec.convert(data, kind)
    except (msgspec.ValidationError, RefusedError) as error:
        raise TockmarkError(f"{shown(path)}: {quoted(error)}", todo) from error


def text(document: Part, tables: Sequence[str]) -> str:
    """The file: a line for each field, and for each entry of the tables."""
    fields = [
        f"{_json(name)}:" + (_lines(value) if name in tables else _json(value))
        for name, value in msgspec.to_builtins(document).items()
    ]
    return "{\n" + ",\n".join(fields) + "\n}\n"


def _lines(values: list[object]) -> str:
    return "[\n" + ",\n".join(map(_json, values)) + "\n]"


def _json(value: object) -> str:
    return msgspec.json.encode(value).decode()
