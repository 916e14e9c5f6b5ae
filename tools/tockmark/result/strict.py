# SPDX-License-Identifier: Apache-2.0 OR MIT
"""JSON as all files of the tool hold it, and more strictly than JSON itself: nothing that stands
there twice, is not known, or would do something to the terminal that shows it."""

import json
import math
from collections import Counter
from typing import Any

from tockmark.plain import UNSEEN

LONGEST_NUMBER = 1000  # characters; smaller ones that are too large are told by where they stand


class RefusedError(ValueError):
    """Something in a file that cannot be, in words."""


def strict_json(text: str) -> Any:
    """JSON without what its grammar lacks (NaN, infinities) or leaves open (a key twice)."""

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

    return json.loads(
        text,
        object_pairs_hook=unique,
        parse_float=number,
        parse_int=whole,
        parse_constant=number,
    )


def check(data: Any, where: str = "$") -> None:
    """Refuse a null, which is the loss of something: what is not known does not stand there; and
    text that cannot be shown as it is."""
    if data is None:
        raise RefusedError(f"Expected a value, got `null` - at `{where}`")
    if isinstance(data, str) and (found := UNSEEN.search(data)):
        raise RefusedError(f"Expected text to show, got {found[0]!a} - at `{where}`")
    if isinstance(data, dict):
        for key, value in data.items():
            check(key, where)
            check(value, f"{where}.{key}")
    elif isinstance(data, list):
        for place, value in enumerate(data):
            check(value, f"{where}[{place}]")
