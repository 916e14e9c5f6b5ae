# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The verbs: where each is written, how one is declared, and what its help looks like.

VERBS lists them all. A verb's module is loaded only when the verb is called or its own help is
shown: `tockmark table` does not wait for what `tockmark plot` needs. In its module the verb NAME is
the function NAME_verb with the decorator `verb`, which adds examples and exit codes to its help.

A parameter of such a function is an argument or an option, as Typer has it. Or its type is a
bundle, a dataclass of options that several verbs have (options.py): its fields are options of the
verb, in the bundle's place. Every verb has --debug besides.
"""

import importlib
import inspect
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, is_dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple, ParamSpec

import typer
from typer.core import TyperCommand, TyperGroup

from tockmark.errors import INTERRUPTED, MEANING, OK, UNUSABLE

if TYPE_CHECKING:
    from typer._click import Command, Context, HelpFormatter


NEVER = ""  # in place of what an exit code means: this verb does not end with it
_ARGUMENT = r"""(?:'[^']*'|"[^"]*"|[^\s'"])+"""
# Where a line of an example is not broken: in a comment, an option with its value, an argument.
_PART = re.compile(rf"# .*|--?[\w-]+ (?![-#]){_ARGUMENT}|{_ARGUMENT}")


class Heading(StrEnum):
    """The headings of the help, in their order."""

    MEASURE = "Measure"
    COMPARE = "Compare"
    SHOW = "Show"
    CHECK = "Check"
    KERNELS = "Kernels and boards"


class Listed(NamedTuple):
    """A verb in the list: its module in this folder, its heading, and its help in one sentence,
    which is the first one of its docstring (a test compares them)."""

    module: str
    heading: Heading
    help: str


VERBS: dict[str, Listed] = {
    "run": Listed("measure", Heading.MEASURE, "Run the suite and print what it costs."),
    "profile": Listed(
        "measure",
        Heading.MEASURE,
        "Show where each cycle of one steady sample goes: by phase, function and cause.",
    ),
    "parse": Listed(
        "board",
        Heading.MEASURE,
        "Turn a captured UART log, ours or of the 2021 study's form, into a result file.",
    ),
    "table": Listed(
        "read",
        Heading.SHOW,
        "Show what result files cost on one screen; several of them side by side.",
    ),
    "export": Listed("ci", Heading.SHOW, "Write a result in a form that another tool reads."),
    "compare": Listed(
        "read", Heading.COMPARE, "Say of each row whether results differ, and whether that matters."
    ),
    "gate": Listed(
        "ci", Heading.COMPARE, "Let a new result pass, or not, by limits on the growth of its rows."
    ),
    "agree": Listed(
        "board",
        Heading.COMPARE,
        "Hold a board's result against the simulator's:"
        " is each row within the model's stated bound?",
    ),
    "history": Listed(
        "read",
        Heading.COMPARE,
        "Append runs to a history, or show how rows went from run to run, with change points.",
    ),
    "fit": Listed(
        "read",
        Heading.SHOW,
        "Fit straight lines through sweeps: what one more byte, argument or NOP costs.",
    ),
    "judge": Listed(
        "changes",
        Heading.COMPARE,
        "Judge a change of a kernel: which rows it moves, for certain, and where.",
    ),
    "bisect": Listed(
        "changes",
        Heading.COMPARE,
        "Find the commit by which a row became dearer (or cheaper),"
        " from GOOD to BAD by first parents.",
    ),
    "list": Listed(
        "read",
        Heading.SHOW,
        "Show the catalogue: every benchmark, what a sample does, and what is counted.",
    ),
    "plot": Listed(
        "draw",
        Heading.SHOW,
        "Draw results: the figures of the 2021 study, sweeps, distributions, before and after.",
    ),
    "site": Listed(
        "draw",
        Heading.SHOW,
        "Write results as static pages, for people who did not run them: no server, no network.",
    ),
    "help": Listed("read", Heading.SHOW, "Show a page of the documentation, or list the pages."),
    "doctor": Listed(
        "dev",
        Heading.CHECK,
        "Show what is installed and built, in which version, and what to do about the rest.",
    ),
    "validate": Listed(
        "dev", Heading.CHECK, "Compare the simulator with what others published or measured."
    ),
    "conformance": Listed(
        "dev",
        Heading.CHECK,
        "Check the rules of the system-call interface, attack the kernel, fuzz it, and see what is"
        " left for an app beside greedy ones.",
    ),
    "interrupts-off": Listed(
        "dev",
        Heading.CHECK,
        "Show the longest time that the baseline kernel keeps interrupts off, by cause.",
    ),
    "cache": Listed(
        "dev",
        Heading.CHECK,
        "Show how many simulated boots are kept, how large they are, and where they lie.",
    ),
    "patch": Listed(
        "patch",
        Heading.KERNELS,
        "Put the Perf capsule into a checkout of Tock, and wire it and IPC into the Earl Grey"
        " board.",
    ),
    "image": Listed(
        "board",
        Heading.KERNELS,
        "Lay the suite for a board: a flash image a boot, a TAB an app, a manifest, a README.",
    ),
    "install": Listed(
        "board",
        Heading.KERNELS,
        "Load one laid boot onto its board, by the tool that the board's profile names.",
    ),
    "run-tab": Listed(
        "board",
        Heading.KERNELS,
        "Run any TABs on a kernel and show what they print, until nothing more can come.",
    ),
    "listen": Listed(
        "board", Heading.KERNELS, "Write down what a board says, and show it, until Ctrl-C."
    ),
}


@dataclass(frozen=True)
class About:
    """What the help says of a verb besides what it does and its options."""

    examples: tuple[str, ...]
    exits: dict[int, str]


P = ParamSpec("P")
_ABOUT: dict[str, About] = {}  # of the verbs whose modules are loaded
_debug = False


def verb(
    examples: tuple[str, ...], exits: Mapping[int, str] | None = None
) -> Callable[[Callable[P, None]], Callable[P, None]]:
    """Declare the function NAME_verb as the verb NAME. `exits` says what its exit codes mean where
    that is not the usual."""

    def declared(function: Callable[P, None]) -> Callable[P, None]:
        usual = {code: MEANING[code] for code in (OK, UNUSABLE, INTERRUPTED)}
        means = sorted((usual | dict(exits or {})).items())
        name = function.__name__.removesuffix("_verb").replace("_", "-")
        _ABOUT[name] = About(examples, {code: text for code, text in means if text != NEVER})
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


def debugging() -> bool:
    """Return whether --debug was given."""
    return _debug


def set_debugging(value: bool) -> None:
    """Remember that --debug was given, for as long as the tool runs."""
    global _debug
    _debug = _debug or value


_DEBUG = inspect.Parameter(
    "debug",
    inspect.Parameter.KEYWORD_ONLY,
    default=False,
    annotation=Annotated[
        bool, typer.Option("--debug", callback=set_debugging, help="Show the trace of an error.")
    ],
)


def _callback(function: Callable[..., None]) -> Callable[..., None]:
    """Return a verb's function as Typer takes it: with the options of its bundles, and --debug."""
    own = inspect.signature(function).parameters
    bundles: dict[str, Any] = {
        name: one.annotation for name, one in own.items() if is_dataclass(one.annotation)
    }
    options: list[inspect.Parameter] = []
    for name, parameter in own.items():
        inner = inspect.signature(bundles[name]).parameters.values() if name in bundles else ()
        options += (one.replace(kind=_DEBUG.kind) for one in inner or [parameter])

    def called(debug: bool, **given: object) -> None:
        for name, bundle in bundles.items():
            given[name] = bundle(**{field.name: given.pop(field.name) for field in fields(bundle)})
        function(**given)

    called.__doc__ = function.__doc__
    called.__signature__ = inspect.Signature([*options, _DEBUG])  # type: ignore[attr-defined]
    return called


class Verb(TyperCommand):
    """A verb whose help ends in examples and exit codes."""

    def format_epilog(self, ctx: "Context", formatter: "HelpFormatter") -> None:
        said = about(str(self.name))
        with formatter.section("Examples"):
            for example in said.examples:
                formatter.write("\n".join(_folded(example, formatter.width)) + "\n")
        _write_exits(formatter, said.exits)


class Verbs(TyperGroup):
    """All verbs of the list, each of which is loaded when it is asked for; the help has them under
    their headings, each with its first sentence."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        self.commands = dict.fromkeys(VERBS)  # type: ignore[assignment]  # for a near name

    def get_command(self, ctx: "Context", cmd_name: str) -> "Command | None":
        if cmd_name not in VERBS:
            return None
        callback = _callback(function_of(cmd_name))
        info = typer.models.CommandInfo(cmd_name, cls=Verb, callback=callback)
        return typer.main.get_command_from_info(
            info, pretty_exceptions_short=True, rich_markup_mode=None
        )

    def format_commands(self, ctx: "Context", formatter: "HelpFormatter") -> None:
        for heading in Heading:
            with formatter.section(heading):
                formatter.write_dl(
                    [(name, one.help) for name, one in VERBS.items() if one.heading is heading]
                )

    def format_epilog(self, ctx: "Context", formatter: "HelpFormatter") -> None:
        _write_exits(formatter, MEANING)


def _write_exits(formatter: "HelpFormatter", exits: Mapping[int, str]) -> None:
    with formatter.section("Exit codes"):
        formatter.write_dl([(str(code), meaning) for code, meaning in exits.items()])


def _folded(command: str, width: int) -> list[str]:
    """Break a command that can be pasted into lines that a backslash joins."""
    lines = [" "]
    for part in _PART.findall(command):
        if len(lines[-1]) + len(part) + 3 > width and lines[-1].strip():
            lines[-1] += " \\"
            lines.append("     ")
        lines[-1] += f" {part}"
    return lines
