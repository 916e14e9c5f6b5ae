# SPDX-License-Identifier: Apache-2.0 OR MIT
"""A small result file that has everything a file can have, and all kinds of damage to it."""

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
    """What is done to the text of a good file, and what must be said of it."""

    name: str
    do: Callable[[str], str]
    said: str  # a regular expression


def _set(path: str, value: object) -> Callable[[str], str]:
    """Set the field at a path such as rows.1.asked."""

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
    """Leave the fields at these paths out."""

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
    """What no JSON writer would write."""

    def change(text: str) -> str:
        assert old in text
        return text.replace(old, new, 1)

    return change


def _twice(path: str) -> Callable[[str], str]:
    """Put an entry of a list there a second time."""

    def change(text: str) -> str:
        data = json.loads(text)
        name, number = path.split(".")
        data[name].append(data[name][int(number)])
        return json.dumps(data)

    return change


ROW = r"row 2 \(syscall\.command\)"
KINDS = [
    # not what JSON may hold
    Damage("NaN", _write("224.5", "NaN"), "NaN is not a finite number"),
    Damage("infinity", _write("224.5", "-Infinity"), "-Infinity is not a finite number"),
    Damage("too large a float", _write("224.5", "1e999"), "1e999 is not a finite number"),
    Damage("a key twice", _write('"asked": 64', '"asked": 64, "asked": 9'), "'asked' stands twice"),
    Damage("half a character", _write("one 1.0", r"one \ud800"), r"got '\\ud800' - at `provenance"),
    Damage("cut off", lambda text: text[:-20], "is not a result file: it is not JSON"),
    Damage("empty", lambda _: "", "is not a result file: it is not JSON"),
    Damage("nested too deep", lambda _: "[" * 100_000, "is not a result file"),
    # another file
    Damage("a list", lambda _: "[]", "is not a result file; give a .json"),
    Damage("a stranger", lambda _: "{}", "is not a result file; give a .json"),
    Damage("a log", lambda _: "#tm 0 time begin *0000\n", "`tockmark board parse`"),
    Damage(
        "version 2",
        _set("version", 2),
        "has format version 2, not 4 or 5; make it anew from its log",
    ),
    Damage("version null", _set("version", None), "version"),
    Damage("version true", _set("version", True), "has format version true, not 4 or 5"),
    Damage(
        "a history",
        lambda _: '{"format":"tockmark-history","version":2}\n' * 2,
        "is a history of runs, not a result file; `tockmark-lab history -f` shows it",
    ),
    Damage(
        "a validation",
        lambda _: '{"format": "tockmark-validation", "version": 1}\n{}\n',
        "is a validation of the simulator, not a result file",
    ),
    Damage(
        "a profile", _set("format", "tockmark-profile"), "is a profile of one sample, not a res"
    ),
    # fields
    Damage("no rows", _without("rows"), "required field `rows`"),
    Damage("rows are an object", _set("rows", {}), "Expected `array`, got `object` - at `rows`"),
    Damage("a field more", _set("rows.1.mean", 9), rf"{ROW}: .*unknown field `mean`"),
    Damage("statistics", _set("rows.1.stats", {"median": 1}), rf"{ROW}: .*unknown field `stats`"),
    Damage(
        "unknown provenance", _set("provenance.board.volts", 5), "unknown field .*provenance.boa"
    ),
    Damage("no id", _without("rows.1.id"), "row 2: .*required field `id`"),
    Damage("a row that is none", _set("rows.1", 5), "row 2: Expected `object`, got `int`"),
    Damage("a null for a number", _set("rows.1.asked", None), rf"{ROW}\.asked: .*got `null`"),
    Damage("a null for samples", _set("rows.1.cycles", None), rf"{ROW}\.cycles: .*got `null`"),
    Damage("a null for the clock", _set("provenance.board.clock_hz", None), "null.*clock_hz"),
    Damage("nothing measured", _without("rows.2.cycles", "rows.2.instret"), "no samples, nor"),
    Damage("text for a number", _set("rows.1.asked", "64"), rf"{ROW}\.asked: Expected `int`"),
    Damage("a truth for a number", _set("rows.1.inner", True), rf"{ROW}\.inner: Expected `int`"),
    Damage("a number for a truth", _set("rows.1.icache", 1), rf"{ROW}\.icache: Expected `bool"),
    Damage("numbers for samples", _set("rows.1.cycles", [1, 2]), rf"{ROW}\.cycles: Expected `str"),
    Damage("a list as a parameter", _set("rows.2.params.n", [1]), r"row 3 \(call\.args\)\.params"),
    Damage("a number as text", _set("rows.2.params.n", "1"), r"row 3 \(call\.args\)\.params"),
    Damage("a huge parameter", _set("rows.2.params.n", 10**400), r"row 3 \(call\.args\)\.params"),
    Damage("no timing known", _set("provenance.board.timing", "good"), "Invalid enum value 'good'"),
    Damage(
        "a short hash", _set("provenance.kernel.sha256", "ab"), r"at `provenance\.kernel\.sha256"
    ),
    Damage("a date that is none", _set("provenance.date", "today"), "at `provenance.date`"),
    Damage("abi 3", _set("provenance.abi", 3), "at `provenance.abi`"),
    Damage("clock 0", _set("provenance.board.clock_hz", 0), r"provenance\.board\.clock_hz"),
    Damage("a huge clock", _set("provenance.board.clock_hz", 10**30), r"board\.clock_hz"),
    Damage("a huge figure", _set("rows.8.stated.cycles", 10**400), r"\(syscall\.memop\)\.stated"),
    Damage("a huge float", _set("rows.8.stated.cycles", 1e308), r"\(syscall\.memop\)\.stated"),
    Damage("a figure far below", _set("rows.8.stated.cycles", -1e16), r"\.memop\)\.stated"),
    Damage("a tiny figure", _set("rows.8.stated.cycles", 5e-324), "stated as .*: too small"),
    Damage("a huge publication", _set("rows.8.published.value", 10**400), r"\.published\.value"),
    # counts
    Damage("asked 0", _set("rows.1.asked", 0), rf"{ROW}\.asked: Expected `int` >= 1"),
    Damage("a negative inner", _set("rows.1.inner", -1), rf"{ROW}\.inner: Expected `int` >= 1"),
    Damage("negative reads", _set("rows.1.reads", -1), rf"{ROW}\.reads: Expected `int` >= 0"),
    Damage("a huge inner", _set("rows.1.inner", 10**20), rf"{ROW}\.inner: "),
    Damage("a huge inner, in 64 bits", _set("rows.1.inner", 2**60), rf"{ROW}\.inner: "),
    # samples
    Damage("no samples", _set("rows.1.cycles", ""), "command icache=on: '' is not a run"),
    Damage("a run of none", _set("rows.1.cycles", "5*0"), r"'5\*0' is not a run of samples"),
    Damage("a negative sample", _set("rows.1.cycles", "-5"), "'-5' is not a run"),
    Damage("half a run", _set("rows.1.cycles", "(1,2"), r"'\(1,2' is not a run"),
    Damage("two blanks", _set("rows.1.cycles", "1  2"), "'' is not a run"),
    Damage("digits of others", _set("rows.1.cycles", "١٢٩٩*12"), "is not a run of samples"),
    Damage("digits without end", _set("rows.1.cycles", "9" * 6000), "is not a run of samples"),
    Damage(
        "times without end", _set("rows.1.cycles", "1*" + "9" * 6000), "is not a run of samples"
    ),
    Damage("33 bits", _set("rows.1.cycles", "4294967296*12"), "does not fit in 32 bits"),
    Damage("a million and one", _set("rows.1.cycles", "1*1000001"), "more than 1000000 samples"),
    Damage("more than asked", _set("rows.1.cycles", "1*65"), "65 samples of cycles, but 64 asked"),
    Damage("one instret less", _set("rows.1.instret", "9*11"), "differ in their number of samples"),
    Damage("nine events", _set("rows.1.events", "1*2 " * 8 + "1*2"), "9 runs of events, not 10"),
    Damage(
        "events without end", _set("rows.1.events", "1*99 " * 9 + "1*99"), "99 samples of event"
    ),
    Damage(
        "further series of two lengths",
        _set("rows.1.extra", {"asked": "1*2", "done": "1*3"}),
        "further series have different lengths",
    ),
    # further layouts
    Damage(
        "a layout less",
        _set("rows.1.further", [{}]),
        "row syscall.command icache=on: 2 layouts, but 3 in provenance",
    ),
    Damage(
        "no layouts",
        _without("provenance.layouts"),
        "time.read icache=on: 3 layouts, but 0 ",
    ),
    Damage(
        "half a layout",
        _set("rows.1.further.1", {"cycles": "1*9"}),
        "row syscall.command icache=on: layout 2 has cycles only",
    ),
    Damage("a null for a layout", _set("rows.1.further.0", None), r"further\[0\]: .*got `null`"),
    Damage("events of a layout", _set("rows.1.further.0.events", "1"), "unknown field `events`"),
    Damage("a layout more than asked", _set("rows.1.further.1.cycles", "1*65"), "but 64 asked"),
    Damage(
        "a layout's instret less",
        _set("rows.1.further.1.instret", "9*11"),
        "differ in their number of samples",
    ),
    Damage("a negative seed", _set("provenance.layouts.1.seed", -1), "Expected `int` >= 0"),
    # figures and rows that stand twice
    Damage(
        "a stated net beside samples",
        _set("rows.1.stated", {"cycles": 155}),
        "row syscall.command icache=on: net cycles is stated, and there are samples",
    ),
    Damage("a statement of nothing", _set("rows.1.stated", {"mean": 1}), rf"{ROW}\.stated"),
    Damage("a row twice", _twice("rows.1"), "the row syscall.command icache=on stands twice"),
    Damage("two of time.read", _twice("rows.0"), "the row time.read icache=on stands twice"),
    Damage(
        "another of time.read",
        lambda text: _set("rows.1.id", "time.read")(_set("rows.1.params", {"n": 1})(text)),
        "the row time.read n=1 icache=on stands twice",
    ),
    Damage(
        "a missing row twice", _twice("missing.0"), "call.args n=7 icache=on stands twice, in mi"
    ),
    Damage("there and missing", _set("missing.0.params.n", 6), "n=6 .* in rows and missing"),
    Damage(
        "there and failed",
        lambda text: _set("failed.0.id", "syscall.memop")(_set("failed.0.icache", True)(text)),
        "the row syscall.memop icache=on stands twice, in rows and failed",
    ),
    Damage("skipped and missing", _set("missing.0", WHOLE["skipped"][0]), "in skipped and missing"),
    Damage("a time.read there and missing", _set("missing.0.id", "time.read"), "rows and missing"),
    Damage(
        "a boot twice",
        lambda text: _set("provenance.boots", WHOLE["provenance"]["boots"] * 2)(text),
        "the boot syscall stands twice",
    ),
    # text that a terminal would act on
    Damage("a line in a name", _set("rows.1.a\nb", 9), rf"{ROW}: Expected text.*got '\\n'"),
    Damage("an escape", _set("provenance.kernel.name", "a\x1b[2J"), r"'\\x1b' - at `prov.*\.name`"),
    Damage("a C1 control", _set("rows.1.id", "a\x9b2J"), r"row 2 .*\.id: Expected text to show"),
    Damage("a line of Unicode", _set("problems.0", "a\u2028b"), r"'\\u2028' - at `problems\[0\]`"),
    Damage("to the left", _set("failed.0.why", "a\u202eb"), r"'\\u202e' - at `failed\[0\]\.why`"),
    Damage(
        "a line behind a date", _set("provenance.date", "2026\n"), "Expected text.*`provenance.d"
    ),
    Damage(
        "opt-level 4", _set("provenance.kernel.opt_level", "4"), "regex.*`provenance.kernel.opt"
    ),
    Damage("opt-level zz", _set("provenance.kernel.opt_level", "zz"), "regex.*kernel.opt_level"),
    Damage("a long name", _set(f"rows.1.{'x' * 1000}", 9), rf"{ROW}: .*unknown field `x{{200,}}"),
]
