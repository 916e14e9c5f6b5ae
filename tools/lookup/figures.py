# SPDX-License-Identifier: Apache-2.0 OR MIT
"""How a figure of a row looks on a page: one number, a range over links, a ratio, a share."""

from collections.abc import Callable, Sequence

from tockmark.result.model import Row, ratio
from tockmark.show import table, text


def number(value: float | None) -> str:
    """As many digits as a reader needs."""
    return text.number(value, 0 if value is not None and abs(value) >= 100 else 2, ",")


def between(values: Sequence[float], written: Callable[[float], str] = number) -> str:
    """The least and the most; one number if they look alike, "-" if there are none."""
    if not values:
        return text.NONE
    least, most = written(min(values)), written(max(values))
    return least if least == most else f"{least}–{most}"


def multiples(row: Row | None, least: float | None) -> str:
    """How many times `least` cycles one operation takes, over the layouts."""
    if not least:
        return text.NONE
    return between([net / least for net in nets(row)], "{:.1f}".format)


def marked(value: float | None, row: Row | None) -> str:
    """A figure of a row; "!" says that the row has an error."""
    return number(value) + table.mark(row)


def per_op(row: Row | None) -> str:
    """Net cycles of one operation; of several layouts the median."""
    return marked(row.per_op if row else None, row)


def nets(row: Row | None) -> list[float]:
    """Net cycles of one operation in each layout; none of a row that is not there or has an
    error."""
    if row is None or row.cycles is None or not row.sound:
        return []
    return [net / row.inner for net in row.cycles.nets]


def span(row: Row | None) -> str:
    """Net cycles of one operation, the least and the most over the layouts."""
    return between(nets(row))


def retired(row: Row | None) -> float | None:
    """Net instructions of one operation."""
    return None if row is None or row.instructions is None else row.instructions / row.inner


def times(base: Row | None, row: Row | None) -> str:
    """What a row costs by another."""
    return text.ratio(ratio(base, row))


def share(part: float, whole: float) -> str:
    """In whole percent."""
    return text.percent(part / whole, digits=0)
