# SPDX-License-Identifier: Apache-2.0 OR MIT
"""A small result file with every feature of the format, and many types of damage to it."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

SHA = "a" * 64

WHOLE: dict[str, Any] = {
    "format": "tockmark-result",
    "version": 4,
    "provenance": {
        "date": "2026-11-21T22:01:17+00:00",
        "tool": {"name": "tockmark", "version": "0.1.0"},
        "kernel": {"name": "one 1.0", "file": "one.elf", "sha256": SHA, "opt_level": "z"},
        "board": {
            "name": "earlgrey-sim",
            "machine": "cw310",
            "clock_hz": 24_000_000,
            "timing": "checked-against-rtl",
            "simulator_sha256": SHA,
        },
        "abi": 2,
        "boots": [
            {
                "boot": "syscall",
                "cycles": {"on": 100_000},
                "slots": [
                    {
                        "name": "syscall",
                        "flash_start": 2**29,
                        "ram_start": 2**28,
                        "ram_length": 8192,
                        "elf_sha256": SHA,
                    }
                ],
            }
        ],
        "apps": [{"of": ["syscall"], "said": {"lang": "c", "cc": "gcc 12.2.0 -O3"}}],
        "layouts": [
            {"file": "one.elf", "sha256": SHA, "link": SHA},
            {"file": "one.elf", "sha256": SHA, "link": SHA, "seed": 1},
            {"file": "two.elf", "sha256": "b" * 64, "link": "b" * 64, "seed": 2},
        ],
    },
    "rows": [
        {
            "id": "time.read",
            "boot": "syscall",
            "asked": 64,
            "icache": True,
            "cycles": "194 169*11",
            "instret": "84*12",
            "events": "1*2 1*2 5*2 5*2 5*2 5*2 5*2 5*2 0*2 0*2",
            "further": [
                {"cycles": "190 160*11", "instret": "84*12"},
                {"cycles": "190 170*11", "instret": "84*12"},
            ],
        },
        {
            "id": "syscall.command",
            "boot": "syscall",
            "asked": 64,
            "icache": True,
            "cycles": "400 325*11",
            "instret": "157*12",
            "events": "3*2 (4,5) 9*2 9*2 9*2 9*2 9*2 9*2 0*2 0*2",
            "further": [{}, {"cycles": "400 336*11", "instret": "157*12"}],
        },
        *(
            {
                "id": "call.args",
                "boot": "syscall",
                "params": {"n": n},
                "asked": 12,
                "inner": 10,
                "icache": True,
                "cycles": f"400 {169 + 30 * n}*11",
                "instret": "157*12",
            }
            for n in range(1, 7)
        ),
        {
            "id": "syscall.memop",
            "boot": "syscall",
            "asked": 1,
            "icache": True,
            "stated": {"cycles": 224.5},
            "published": {"value": 22.4, "unit": "us", "source": "table 1"},
        },
    ],
    "failed": [{"id": "syscall.brk", "boot": "syscall", "why": "memop returned FAIL"}],
    "skipped": [{"id": "syscall.sbrk", "boot": "syscall", "icache": True, "why": "no"}],
    "missing": [{"id": "call.args", "boot": "syscall", "params": {"n": 7}, "icache": True}],
    "problems": ["line 3: torn"],
}


@dataclass(frozen=True)
class Damage:
    """A change of the text of a valid file, and the expected error."""

    name: str
    do: Callable[[str], str]
    message: str  # a regular expression


def _set(path: str, value: object) -> Callable[[str], str]:
    """Return a change that sets the field at a path such as rows.1.asked."""

    def change(text: str) -> str:
        data = json.loads(text)
        at = data
        *way, last = [int(word) if word.isdigit() else word for word in path.split(".")]
        for word in way:
            at = at[word]
        at[last] = value
        return json.dumps(data)

    return change


def _without(*paths: str) -> Callable[[str], str]:
    """Return a change that removes the fields at these paths."""

    def change(text: str) -> str:
        data = json.loads(text)
        for path in paths:
            at = data
            *way, last = path.split(".")
            for word in way:
                at = at[int(word) if word.isdigit() else word]
            del at[last]
        return json.dumps(data)

    return change


def _write(old: str, new: str) -> Callable[[str], str]:
    """Return a change of the text that a JSON writer cannot make."""

    def change(text: str) -> str:
        assert old in text
        return text.replace(old, new, 1)

    return change


def _twice(path: str) -> Callable[[str], str]:
    """Return a change that repeats an entry of a list."""

    def change(text: str) -> str:
        data = json.loads(text)
        name, number = path.split(".")
        data[name].append(data[name][int(number)])
        return json.dumps(data)

    return change


ROW = r"row 2 \(syscall\.command\)"
KINDS = [
    # invalid JSON
    Damage("NaN", _write("224.5", "NaN"), r"not a result file \(it is not JSON\)"),
    Damage("too large a float", _write("224.5", "1e999"), "Number out of range"),
    Damage("half a character", _write("one 1.0", r"one \ud800"), r"\(it is not JSON\)"),
    Damage("cut off", lambda text: text[:-20], r"not a result file \(it is not JSON\)"),
    Damage("nested too deep", lambda _: "[" * 100_000, "not a result file"),
    # another file
    Damage("a stranger", lambda _: "{}", "not a result file. Give a .json"),
    Damage("a log", lambda _: "#tm 0 time begin *0000\n", "`tockmark board parse`"),
    Damage(
        "version 2",
        _set("version", 2),
        "format version 2, not 4 or 5. .*`tockmark board parse`",
    ),
    Damage(
        "a history",
        lambda _: '{"format":"tockmark-history","version":2}\n' * 2,
        "a history of runs, not a result file. `tockmark-lab history -f` shows it",
    ),
    # fields
    Damage("no rows", _without("rows"), "required field `rows`"),
    Damage("a field more", _set("rows.1.mean", 9), rf"{ROW}: .*unknown field `mean`"),
    Damage("no id", _without("rows.1.id"), "row 2: .*required field `id`"),
    Damage("a null for a number", _set("rows.1.asked", None), rf"{ROW}\.asked: .*got `null`"),
    Damage("nothing measured", _without("rows.2.cycles", "rows.2.instret"), "neither samples nor"),
    Damage("text for a number", _set("rows.1.asked", "64"), rf"{ROW}\.asked: Expected `int`"),
    Damage("a number for a truth", _set("rows.1.icache", 1), rf"{ROW}\.icache: Expected `bool"),
    Damage("a huge parameter", _set("rows.2.params.n", 10**400), r"row 3 \(call\.args\)\.params"),
    Damage("no timing known", _set("provenance.board.timing", "good"), "Invalid enum value 'good'"),
    Damage("an invalid date", _set("provenance.date", "today"), "at `provenance.date`"),
    Damage("a huge figure", _set("rows.8.stated.cycles", 10**400), r"\(syscall\.memop\)\.stated"),
    # counts
    Damage("asked 0", _set("rows.1.asked", 0), rf"{ROW}\.asked: Expected `int` >= 1"),
    # samples
    Damage("no samples", _set("rows.1.cycles", ""), "command icache=on: '' is not a run"),
    Damage("a negative sample", _set("rows.1.cycles", "-5"), "'-5' is not a run"),
    Damage("digits of others", _set("rows.1.cycles", "١٢٩٩*12"), "is not a run of samples"),
    Damage("33 bits", _set("rows.1.cycles", "4294967296*12"), "does not fit in 32 bits"),
    Damage("a million and one", _set("rows.1.cycles", "1*1000001"), "more than 1000000 samples"),
    Damage("more than asked", _set("rows.1.cycles", "1*65"), "65 samples of cycles, .* 64"),
    Damage("one instret less", _set("rows.1.instret", "9*11"), "different numbers of samples"),
    Damage(
        "further series of two lengths",
        _set("rows.1.extra", {"asked": "1*2", "done": "1*3"}),
        "extra series have different lengths",
    ),
    # more layouts
    Damage(
        "a layout less",
        _set("rows.1.further", [{}]),
        "row syscall.command icache=on: 2 layouts, .* 3",
    ),
    Damage(
        "no layouts",
        _without("provenance.layouts"),
        "time.read icache=on: 3 layouts, .* 0",
    ),
    # repeated figures and rows
    Damage(
        "a stated net with samples",
        _set("rows.1.stated", {"cycles": 155}),
        "row syscall.command icache=on: both a stated net of cycles and samples",
    ),
    Damage("a row twice", _twice("rows.1"), "the row syscall.command icache=on is there twice"),
    Damage("there and missing", _set("missing.0.params.n", 6), "n=6 .* in rows and missing"),
    Damage(
        "a boot twice",
        lambda text: _set("provenance.boots", WHOLE["provenance"]["boots"] * 2)(text),
        "the boot syscall is there twice",
    ),
    # text that a terminal would act on
    Damage("an escape", _set("provenance.kernel.name", "a\x1b[2J"), r"'\\x1b' - at `prov.*\.name`"),
    Damage("to the left", _set("failed.0.why", "a\u202eb"), r"'\\u202e' - at `failed\[0\]\.why`"),
    Damage("a long name", _set(f"rows.1.{'x' * 1000}", 9), rf"{ROW}: .*unknown field `x{{200,}}"),
]
