# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The verbs: where each is written, how one is declared, and what its help looks like.

VERBS lists them all. A verb's module is loaded only when the verb is called or its own help is
shown: `tockmark table` does not wait for what `tockmark plot` needs. In its module the verb is a
function with the decorator `verb`, which adds examples and exit codes to its help. The help cuts
nothing: a line that is too long goes on in the next.
"""

import importlib
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Any, NamedTuple, ParamSpec

import typer
from typer.core import TyperCommand, TyperGroup

from tockmark.errors import INTERRUPTED, MEANING, OK, UNUSABLE

if TYPE_CHECKING:
    from typer._click import Command, Context, HelpFormatter

NEVER = ""  # in place of what an exit code means: this verb does not end with it
_ARGUMENT = r"""(?:'[^']*'|"[^"]*"|[^\s'"])+"""
# What a line of an example is not broken in: a comment, an option with its value, an argument.
_PART = re.compile(rf"# .*|--?[\w-]+ (?![-#]){_ARGUMENT}|{_ARGUMENT}")


class Group(StrEnum):
    """The headings of the help, in their order."""

    MEASURE = "Measure"
    COMPARE = "Compare"
    SHOW = "Show"
    CHECK = "Check"
    KERNELS = "Kernels and boards"


class Listed(NamedTuple):
    """A verb in the list: its module in this folder, its heading, and the first sentence of its
    docstring, which a test holds to it."""

    module: str
    group: Group
    help: str


VERBS: dict[str, Listed] = {
    "run": Listed("measure", Group.MEASURE, "Run the suite and print what it costs."),
    "profile": Listed(
        "measure",
        Group.MEASURE,
        "Show where each cycle of one steady sample goes: by phase, function and cause.",
    ),
    "parse": Listed(
        "board",
        Group.MEASURE,
        "Turn a captured UART log, ours or of the 2021 study's form, into a result file.",
    ),
    "table": Listed(
        "read",
        Group.SHOW,
        "Show what result files cost on one screen; several of them side by side.",
    ),
    "export": Listed("ci", Group.SHOW, "Write a result in a form that another tool reads."),
    "compare": Listed(
        "read", Group.COMPARE, "Say of each row whether results differ, and whether that matters."
    ),
    "gate": Listed(
        "ci", Group.COMPARE, "Let a new result pass, or not, by limits on the growth of its rows."
    ),
    "agree": Listed(
        "board",
        Group.COMPARE,
        "Hold a board's result against the simulator's:"
        " is each row within the model's stated bound?",
    ),
    "history": Listed(
        "read",
        Group.COMPARE,
        "Append runs to a history, or show how rows went from run to run, with change points.",
    ),
    "fit": Listed(
        "read",
        Group.SHOW,
        "Fit straight lines through sweeps: what one more byte, argument or NOP costs.",
    ),
    "judge": Listed(
        "changes",
        Group.COMPARE,
        "Judge a change of a kernel: which rows it moves, for certain, and where.",
    ),
    "bisect": Listed(
        "changes",
        Group.COMPARE,
        "Find the commit by which a row became dearer (or cheaper),"
        " from GOOD to BAD by first parents.",
    ),
    "list": Listed(
        "read",
        Group.SHOW,
        "Show the catalogue: every benchmark, what a sample does, and what is counted.",
    ),
    "plot": Listed(
        "draw",
        Group.SHOW,
        "Draw results: the figures of the 2021 study, sweeps, distributions, before and after.",
    ),
    "site": Listed(
        "draw",
        Group.SHOW,
        "Write results as static pages, for people who did not run them: no server, no network.",
    ),
    "help": Listed("help", Group.SHOW, "Show a page of the documentation, or list the pages."),
    "doctor": Listed(
        "dev",
        Group.CHECK,
        "Show what is installed and built, in which version, and what to do about the rest.",
    ),
    "validate": Listed(
        "dev", Group.CHECK, "Compare the simulator with what others published or measured."
    ),
    "conformance": Listed(
        "dev",
        Group.CHECK,
        "Check the rules of the system-call interface, attack the kernel, fuzz it, and see what is"
        " left for an app beside greedy ones.",
    ),
    "interrupts-off": Listed(
        "dev",
        Group.CHECK,
        "Show the longest time that the baseline kernel keeps interrupts off, by cause.",
    ),
    "cache": Listed(
        "dev",
        Group.CHECK,
        "Show how many simulated boots are kept, how large they are, and where they lie.",
    ),
    "patch": Listed(
        "patch",
        Group.KERNELS,
        "Put the Perf capsule into a checkout of Tock, and wire it and IPC into the Earl Grey"
        " board.",
    ),
    "image": Listed(
        "board",
        Group.KERNELS,
        "Lay the suite for a board: a flash image a boot, a TAB an app, a manifest, a README.",
    ),
    "install": Listed(
        "board",
        Group.KERNELS,
        "Load one laid boot onto its board, by the tool that the board's profile names.",
    ),
    "run-tab": Listed(
        "board",
        Group.KERNELS,
        "Run any TABs on a kernel and show what they print, until nothing more can come.",
    ),
    "listen": Listed(
        "board", Group.KERNELS, "Write down what a board says, and show it, until Ctrl-C."
    ),
}


@dataclass(frozen=True)
class About:
    """What the help says of a verb besides what it does and its options."""

    examples: tuple[str, ...]
    own: Mapping[int, str]

    @property
    def exits(self) -> dict[int, str]:
        """The exit codes of the verb, and what each means: the usual ones, but for what the verb
        says itself."""
        usual = {code: MEANING[code] for code in (OK, UNUSABLE, INTERRUPTED)}
        every = {**usual, **self.own}
        return {code: every[code] for code in sorted(every) if every[code] != NEVER}


_ABOUT: dict[str, About] = {}  # of the verbs whose modules are loaded


P = ParamSpec("P")


def verb(
    examples: tuple[str, ...], exits: Mapping[int, str] | None = None
) -> Callable[[Callable[P, None]], Callable[P, None]]:
    """Declare the function NAME_verb as the verb NAME. `exits` says what its exit codes mean where
    that is not the usual."""

    def declared(function: Callable[P, None]) -> Callable[P, None]:
        name = function.__name__.removesuffix("_verb").replace("_", "-")
        _ABOUT[name] = About(examples, exits or {})
        return function

    return declared


def function_of(name: str) -> Callable[..., None]:
    """Load the verb's module and return the function that is the verb."""
    module = importlib.import_module(f"tockmark.cli.{VERBS[name].module}")
    function: Callable[..., None] = getattr(module, f"{name.replace('-', '_')}_verb")
    return function


def about(name: str) -> About:
    """Load the verb's module and return its examples and exit codes."""
    function_of(name)
    return _ABOUT[name]


class Verb(TyperCommand):
    """A verb whose help ends in examples and exit codes."""

    def format_epilog(self, ctx: "Context", formatter: "HelpFormatter") -> None:
        told = about(str(self.name))
        with formatter.section("Examples"):
            for example in told.examples:
                formatter.write("\n".join(_folded(example, formatter.width)) + "\n")
        with formatter.section("Exit codes"):
            formatter.write_dl([(str(code), said) for code, said in told.exits.items()])


class Verbs(TyperGroup):
    """All verbs of the list, each loaded when it is asked for; the help has them under their
    headings, each with its first sentence."""

    def list_commands(self, ctx: "Context") -> list[str]:
        return list(VERBS)

    def get_command(self, ctx: "Context", cmd_name: str) -> "Command | None":
        if cmd_name not in VERBS:
            return None
        info = typer.models.CommandInfo(cmd_name, cls=Verb, callback=function_of(cmd_name))
        settings: dict[str, Any] = {"pretty_exceptions_short": True, "rich_markup_mode": None}
        return typer.main.get_command_from_info(info, **settings)

    def format_commands(self, ctx: "Context", formatter: "HelpFormatter") -> None:
        for group in Group:
            with formatter.section(group):
                formatter.write_dl(
                    [(name, one.help) for name, one in VERBS.items() if one.group is group]
                )

    def format_epilog(self, ctx: "Context", formatter: "HelpFormatter") -> None:
        with formatter.section("Exit codes"):
            formatter.write_dl([(str(code), said) for code, said in MEANING.items()])


def _folded(command: str, width: int) -> list[str]:
    """Break a command that can be pasted into lines that a backslash joins."""
    lines = [" "]
    for part in _PART.findall(command):
        if len(lines[-1]) + len(part) + 3 > width and lines[-1].strip():
            lines[-1] += " \\"
            lines.append("     ")
        lines[-1] += f" {part}"
    return lines
