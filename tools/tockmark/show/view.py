# SPDX-License-Identifier: Apache-2.0 OR MIT
"""How the rows of a result are looked at by what shows or exports them: which of them stand for
themselves, what they are called, and what their value is."""

from tockmark.result.result import Json
from tockmark.suite.catalogue import OVERHEAD, label

ICACHE = {True: "on", False: "off", None: "unknown"}


def rows(result: Json) -> list[Json]:
    """All rows but the read overheads, which every boot measures for itself: of these that of the
    app `time` stands for all."""
    own = OVERHEAD.partition(".")[0]
    return [row for row in result["rows"] if row["id"] != OVERHEAD or row["app"] == own]


def name(row: Json) -> str:
    """What tells a row from all others of a result, in one line."""
    cache = "" if row["icache"] is None else f" icache={ICACHE[row['icache']]}"
    return label(row["id"], row["params"]) + cache


def signed(row: Json | None, series: str = "cycles") -> float | None:
    """What one sample costs without the readings; for the reading itself, as measured. It may be
    below zero, which is an error that is to be shown."""
    found = row[series] if row else None
    if row is None or found is None:
        return None
    value: float | None = found["net"]
    if row["id"] == OVERHEAD:
        value = found["stats"]["median"] if found["stats"] else None
    return value


def signed_per_op(row: Json | None, series: str = "cycles") -> float | None:
    """The same for one inner operation: what results with other numbers of them in a sample can be
    compared by."""
    value = signed(row, series)
    return value / row["inner"] if row and value is not None else None


def net(row: Json, series: str = "cycles") -> float | None:
    """`signed`, but nothing if the row has an error: its number is not to be trusted."""
    return None if row["errors"] else signed(row, series)


def per_op(row: Json, series: str = "cycles") -> float | None:
    """`signed_per_op`, likewise."""
    return None if row["errors"] else signed_per_op(row, series)


def kernel(result: Json) -> str:
    """The kernel's name, or what else tells it from others."""
    found = result["provenance"]["kernel"]
    name: str = found["name"] or found["file"] or "unknown kernel"
    return name


def clock(result: Json) -> str:
    hz = result["provenance"]["board"]["clock_hz"]
    return f"{hz / 1e6:g} MHz" if hz else "clock unknown"


def provenance(result: Json) -> str:
    """Where numbers come from, in one line: it stands in every picture."""
    found = result["provenance"]
    board, kernel_hash = found["board"], found["kernel"]["sha256"]
    parts = [
        kernel(result) + (f" ({kernel_hash[:8]})" if kernel_hash else ""),
        f"ABI {found['abi']}" if found["abi"] else "",
        f"{board['machine'] or board['name'] or 'unknown board'}, {clock(result)}",
        f"timing: {board['timing']}",
        found["date"][:10],
    ]
    return " · ".join(part for part in parts if part)
