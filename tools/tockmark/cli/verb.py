# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The verbs: where each is written, how one is declared, and what its help looks like.

HEADINGS lists them all. A verb's module is loaded only when the verb is called or its own help is
shown: `tockmark table` does not wait for what `tockmark plot` needs. In its module the verb NAME is
the function NAME_verb with the decorator `verb`, which adds examples and exit codes to its help.

A parameter of such a function is an argument or an option, as Typer has it. Or its type is a
bundle, a dataclass of options that several verbs have (options.py): its fields are options of the
verb, in the bundle's place. Every verb has --debug besides.
"""

import ast
import importlib
import inspect
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, is_dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ParamSpec

import typer
from typer.core import TyperCommand, TyperGroup

from tockmark.errors import INTERRUPTED, MEANING, OK, UNUSABLE

if TYPE_CHECKING:
    from typer._click import Command, Context, HelpFormatter


NEVER = ""  # in place of what an exit code means: this verb does not end with it
_ARGUMENT = r"""(?:'[^']*'|"[^"]*"|[^\s'"])+"""
# Where a line of an example is not broken: in a comment, an option with its value, an argument.
_PART = re.compile(rf"# .*|--?[\w-]+ (?![-#]){_ARGUMENT}|{_ARGUMENT}")


# The verbs under the headings of the help, in their order, each with its module in this folder.
HEADINGS = {
    "Measure": {"run": "measure", "profile": "measure", "parse": "board"},
    "Compare": {
        "compare": "read",
        "gate": "ci",
        "agree": "board",
        "history": "read",
        "judge": "changes",
        "bisect": "changes",
    },
    "Show": {
        "table": "read",
        "export": "ci",
        "fit": "read",
        "list": "read",
        "plot": "draw",
        "site": "draw",
        "help": "read",
    },
    "Check": dict.fromkeys(["doctor", "validate", "conformance", "interrupts-off", "cache"], "dev"),
    "Kernels and boards": {
        "patch": "patch",
        **dict.fromkeys(["image", "install", "run-tab", "listen"], "board"),
    },
}
VERBS = {verb: module for verbs in HEADINGS.values() for verb, module in verbs.items()}


@dataclass(frozen=True)
class About:
    """What the help says of a verb besides what it does and its options."""

    examples: tuple[str, ...]
    exits: dict[int, str]


P = ParamSpec("P")
_ABOUT: dict[str, About] = {}  # of the verbs whose modules are loaded
_debug = False


def verb(
    *examples: str, exits: Mapping[int, str] | None = None
) -> Callable[[Callable[P, None]], Callable[P, None]]:
    """Declare the function NAME_verb as the verb NAME. `exits` says what its exit codes mean where
    that is not the usual."""

    def declared(function: Callable[P, None]) -> Callable[P, None]:
        usual = {code: MEANING[code] for code in (OK, UNUSABLE, INTERRUPTED)}
        means = sorted((usual | dict(exits or {})).items())
        _ABOUT[_name(function.__name__)] = About(
            examples, {code: text for code, text in means if text != NEVER}
        )
        return function

    return declared


def function_of(name: str) -> Callable[..., None]:
    """Load the verb's module and return the function that is the verb."""
    module = importlib.import_module(f"tockmark.cli.{VERBS[name]}")
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
    """All verbs, each of which is loaded when it is asked for; the help has them under their
    headings, each with its first sentence."""

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
        said = _first_sentences()
        for heading, verbs in HEADINGS.items():
            with formatter.section(heading):
                formatter.write_dl([(name, said[name]) for name in verbs])

    def format_epilog(self, ctx: "Context", formatter: "HelpFormatter") -> None:
        _write_exits(formatter, MEANING)


def _first_sentences() -> dict[str, str]:
    """Return what each verb does, from its docstring, without loading the verbs' modules."""
    found = {}
    for module in set(VERBS.values()):
        source = Path(__file__).with_name(f"{module}.py").read_text(encoding="utf-8")
        for function in ast.parse(source).body:
            if isinstance(function, ast.FunctionDef) and function.name.endswith("_verb"):
                text = " ".join((ast.get_docstring(function) or "").split())
                found[_name(function.name)] = re.split(r"(?<=[.?]) ", text)[0]
    return found


def _name(function: str) -> str:
    """Return the name of the verb that a function is."""
    return function.removesuffix("_verb").replace("_", "-")


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
