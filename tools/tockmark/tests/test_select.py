# SPDX-License-Identifier: Apache-2.0 OR MIT
"""A term selects rows. A term without rows is an error."""

import pytest

from tockmark.base.errors import UNUSABLE, TockmarkError
from tockmark.suite.catalogue import Params, load
from tockmark.suite.selection import select

KNOWN = load()
COMMAND: tuple[str, Params] = ("syscall.command", {})
ARGS_3: tuple[str, Params] = ("call.args", {"n": 3})
ARGS_10: tuple[str, Params] = ("call.args", {"n": 10})
NOPS: tuple[str, Params] = ("icache.nops", {"width": 2, "size": 1024})
NOPS_4: tuple[str, Params] = ("icache.nops", {"width": 4, "size": 1024})
LOOP: tuple[str, Params] = ("loop.empty", {})
STRANGER: tuple[str, Params] = ("my.own", {"of": "sort", "n": 1})
ALL = (COMMAND, ARGS_3, ARGS_10, NOPS, NOPS_4, LOOP, STRANGER)
ICACHES = (True, False, None)


@pytest.mark.parametrize(
    ("text", "rows"),
    [
        (None, ALL),
        ("*", ALL),
        ("syscall.command", (COMMAND,)),
        ("syscall", (COMMAND,)),
        ("sys*", (COMMAND,)),
        ("call", (ARGS_3, ARGS_10)),
        ("call,loop", (ARGS_3, ARGS_10, LOOP)),
        (" call , loop ,", (ARGS_3, ARGS_10, LOOP)),
        ("kernel", (COMMAND,)),
        ("app", (ARGS_3, ARGS_10, NOPS, NOPS_4, LOOP)),
        ("call.args:n=3", (ARGS_3,)),
        ("call.args n=3", (ARGS_3,)),
        ("call.args n=?", (ARGS_3,)),
        ("call.args n=??", (ARGS_10,)),
        ("call.args:n=*", (ARGS_3, ARGS_10)),
        ("*:n=3", (ARGS_3,)),
        ("icache.nops:width=2,size=1024", (NOPS,)),
        ("icache.nops size=1024 width=4", (NOPS_4,)),
        ("icache.nops:size=1024,loop", (NOPS, NOPS_4, LOOP)),
        ("icache.nops:width=2,size=1024,call.args:n=3,n=3", (ARGS_3, NOPS)),
        ("app:width=4", (NOPS_4,)),
        ("my", (STRANGER,)),
        ("my.own:of=s*", (STRANGER,)),
    ],
)
def test_a_term_selects_rows(text: str | None, rows: tuple[object, ...]) -> None:
    wanted = select(KNOWN, text, [STRANGER])
    for icache in ICACHES:
        assert tuple(row for row in ALL if wanted.matches(*row, icache)) == rows


@pytest.mark.parametrize(
    ("text", "settings"),
    [
        ("loop.empty", [True, False, None]),
        ("* icache=off", [False]),
        ("loop.empty:icache=on", [True]),
        ("loop icache=o*", [True, False]),
        ("loop.empty icache=on,* icache=off", [True, False]),
    ],
)
def test_a_term_can_name_the_cache_setting(text: str, settings: list[bool | None]) -> None:
    wanted = select(KNOWN, text)
    assert [icache for icache in ICACHES if wanted.matches(*LOOP, icache)] == settings


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("syscall.comand", "'syscall.comand' names no row. Did you mean syscall.command"),
        ("sycsall", "Did you mean syscall"),
        ("kernle", "Did you mean kernel"),
        ("mem.empty", "Did you mean .*loop.empty"),
        ("call.args:n=99", r"'call.args' has call.args:n=1, call.args:n=2, .*call.args:n=10"),
        ("call.args icache=of", r"'call.args icache=of' names no row. 'call.args' has"),
        ("mem:size=7", r"'mem' has mem\..*, and \d+ more"),
        ("icache.nops:width=2,width=4,loop", "'icache.nops:width=2,width=4' names no row"),
        ("my.own:n=2", "'my.own' has my.own:of=sort,n=1"),
        ("my.onw", "Did you mean my.own"),
        ("loop.empty,size=64", "'size=64' names no row"),
        ("SYSCALL", "'SYSCALL' names no row. Did you mean syscall"),
        ("mem.copy_asm:size=64,128", r"write 'mem.copy_asm:size=64,mem.copy_asm:size=128'"),
        ("icache.nops:width=2,size=1024,2048", r"width=2,size=1024,icache.nops:width=2,size=2048'"),
        ("mem.copy_asm:size=64,63", r"'63' names no row. Give ids"),
        ("xyzzy", "'xyzzy' names no row. Give ids, groups, patterns or labels"),
        (":", "':' names no row. Give ids"),
        ("", "'' names nothing. Give ids"),
        (" , ", "' , ' names nothing. Give ids"),
    ],
)
def test_a_term_without_rows_is_refused(text: str, message: str) -> None:
    with pytest.raises(TockmarkError, match=message) as caught:
        select(KNOWN, text, [STRANGER])
    assert caught.value.code == UNUSABLE
    assert "\n" not in str(caught.value)


def test_a_selection_lists_the_rows_of_the_catalogue() -> None:
    assert select(KNOWN, "call.args:n=3,syscall.command").rows() == [COMMAND, ARGS_3]
    assert select(KNOWN, "call.args:n=3,syscall.command icache=off").ids() == [
        "syscall.command",
        "call.args",
    ]
    assert len(select(KNOWN, None).rows()) == len(KNOWN.rows(KNOWN.benchmarks))
    assert not select(KNOWN, None)
    assert select(KNOWN, "*")


def test_a_boot_with_all_its_rows_selected_is_unchanged() -> None:
    """Its image and its cached simulations are the same as in a complete run."""
    whole = {boot.name: boot for boot in KNOWN.boots()}
    assert select(KNOWN, "loop,time.read").boots("c") == [whole["time"], whole["loop"]]
    assert select(KNOWN, None).boots("c") == list(whole.values())
