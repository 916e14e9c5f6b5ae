# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The command line: where each verb is written, how one is declared, what its help looks like, and
how the tool says in one line what went wrong.

HEADINGS lists the verbs. A verb's module is loaded only when the verb is called or its own help is
shown: `tockmark table` does not wait for what `tockmark site` needs. In its module the verb NAME is
the function NAME_verb with the decorator `verb`, which adds examples and exit codes to its help.

A parameter of such a function is an argument or an option, as Typer has it. Or its type is a
bundle, a dataclass of options that several verbs have (run_options.py): its fields are options of
the verb, in the bundle's place. Every verb has --debug besides.
"""

import ast
import importlib
import inspect
import io
import os
import re
import sys
import traceback
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, is_dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ParamSpec

import typer
from typer.core import TyperCommand, TyperGroup

from tockmark import __version__, paths
from tockmark.errors import INTERRUPTED, MEANING, OK, UNUSABLE, TockmarkError, one_line, say
from tockmark.show import text

if TYPE_CHECKING:
    from typer._click import Command, Context, HelpFormatter


NEVER = ""  # in place of what an exit code means: this verb does not end with it
_ARGUMENT = r"""(?:'[^']*'|"[^"]*"|[^\s'"])+"""
# Where a line of an example is not broken: in a comment, an option with its value, an argument.
_PART = re.compile(rf"# .*|--?[\w-]+ (?![-#]){_ARGUMENT}|{_ARGUMENT}")


# The verbs under the headings of the help, in their order, each with its module in this folder.
HEADINGS = {
    "Measure": {
        "run": "measure",
        "profile": "measure",
        "trace": "trace",
        "latency": "measure",
    },
    "Compare": {
        "judge": "checkout",
        "compare": "read",
        "bisect": "checkout",
        "campaign": "checkout",
        "history": "read",
    },
    "Show": {"table": "read", "site": "draw", "list": "read", "help": "read"},
    "Prepare": {"doctor": "dev", "patch": "checkout"},
}


@dataclass(frozen=True)
class Group:
    """Verbs behind a word of their own: `tockmark ci gate`."""

    help: str
    verbs: Mapping[str, str]


GROUPS = {
    "board": Group(
        "Images for boards, and what boards print.",
        dict.fromkeys(["image", "install", "listen", "parse", "agree", "run-tab"], "board"),
    ),
    "ci": Group(
        "What continuous integration asks for.",
        {"gate": "read", "export": "read", "verify": "dev"},
    ),
    "dev": Group(
        "What developers of tockmark ask for.",
        dict.fromkeys(
            [
                *("validate", "conformance", "same-simulator"),
                *("instances", "isolation", "cache"),
            ],
            "dev",
        ),
    ),
}
MORE = "Groups"  # the heading above them
TOP = {verb: module for verbs in HEADINGS.values() for verb, module in verbs.items()}
IN_GROUP = {verb: name for name, group in GROUPS.items() for verb in group.verbs}
VERBS = TOP | {verb: module for group in GROUPS.values() for verb, module in group.verbs.items()}


def spelled(name: str) -> str:
    """Return a verb as it is written behind `tockmark`."""
    return f"{IN_GROUP[name]} {name}" if name in IN_GROUP else name


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
            examples, {code: meaning for code, meaning in means if meaning != NEVER}
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


def _command(name: str) -> "Command":
    """Return a verb as Typer runs it."""
    callback = _callback(function_of(name))
    info = typer.models.CommandInfo(name, cls=Verb, callback=callback)
    return typer.main.get_command_from_info(
        info, pretty_exceptions_short=True, rich_markup_mode=None
    )


class VerbGroup(TyperGroup):
    """The verbs of a group, each of which is loaded when it is asked for."""

    def __init__(self, name: str, **settings: Any) -> None:
        super().__init__(name=name, rich_markup_mode=None, **settings)
        self.commands = dict.fromkeys(GROUPS[name].verbs)  # type: ignore[assignment]

    def get_command(self, ctx: "Context", cmd_name: str) -> "Command | None":
        return _command(cmd_name) if cmd_name in self.commands else None

    def format_commands(self, ctx: "Context", formatter: "HelpFormatter") -> None:
        said = _first_sentences()
        with formatter.section("Verbs"):
            formatter.write_dl([(name, said[name]) for name in self.commands])


class Verbs(TyperGroup):
    """All verbs, each of which is loaded when it is asked for; the help has them under their
    headings, each with its first sentence."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        # For a near name.
        self.commands = dict.fromkeys([*TOP, *GROUPS])  # type: ignore[assignment]

    def list_commands(self, ctx: "Context") -> list[str]:
        return [*TOP, *GROUPS]

    def get_command(self, ctx: "Context", cmd_name: str) -> "Command | None":
        if cmd_name in TOP:
            return _command(cmd_name)
        if cmd_name in GROUPS:
            said = GROUPS[cmd_name].help
            return VerbGroup(cmd_name, help=said, no_args_is_help=True)
        return None

    def format_commands(self, ctx: "Context", formatter: "HelpFormatter") -> None:
        said = _first_sentences()
        for heading, verbs in HEADINGS.items():
            with formatter.section(heading):
                formatter.write_dl([(name, said[name]) for name in verbs])
        with formatter.section(MORE):
            formatter.write_dl(
                [(name, f"{one.help} {', '.join(one.verbs)}.") for name, one in GROUPS.items()]
            )

    def format_epilog(self, ctx: "Context", formatter: "HelpFormatter") -> None:
        _write_exits(formatter, MEANING)


def _first_sentences() -> dict[str, str]:
    """Return what each verb does, from its docstring, without loading the verbs' modules."""
    found = {}
    for module in set(VERBS.values()):
        source = Path(__file__).with_name(f"{module}.py").read_text(encoding="utf-8")
        for function in ast.parse(source).body:
            if isinstance(function, ast.FunctionDef) and function.name.endswith("_verb"):
                said = " ".join((ast.get_docstring(function) or "").split())
                found[_name(function.name)] = re.split(r"(?<=[.?]) ", said)[0]
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


app = typer.Typer(
    name="tockmark",
    cls=Verbs,
    help="""Measure what the Tock operating system costs on OpenTitan Earl Grey.

    `tockmark VERB --help` says more of a verb, `tockmark help TOPIC` of everything else.""",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)


@app.callback(invoke_without_command=True)
def top(
    version: Annotated[
        bool, typer.Option("--version", help="Show version and commit, and exit.")
    ] = False,
) -> None:
    if version:
        sha, changed, _ = (paths.commit_of_checkout() or "").partition(paths.DIRTY)
        commit = f", commit {sha}{', with changes' * bool(changed)}" if sha else ""
        print(f"tockmark {__version__}{commit}")
        raise typer.Exit(OK)


def main() -> None:
    """Run the tool; an error is one line, and a trace only with --debug."""
    _open_what_is_closed()
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # a terminal may know ASCII only
    try:
        paths.check_environment(sys.argv[0])
        text.choose(sys.stdout)
        try:
            app(prog_name="tockmark")
        finally:
            sys.stdout.flush()  # at the exit a full disk would be told of in a trace
    except TockmarkError as error:
        if _debug:
            traceback.print_exc()
        say(one_line(error))
        sys.exit(error.code)
    except BrokenPipeError:  # `tockmark table … | head`
        _silence()
        sys.exit(OK)
    except OSError as error:  # which no verb expects: a disk is full, say
        if _debug:
            traceback.print_exc()
        where = error.filename or "the standard output"
        say(one_line(f"{where}: {error.strerror}"))
        _silence()
        sys.exit(UNUSABLE)
    except ImportError:  # __main__ tells
        raise
    except Exception as error:
        if _debug:
            raise
        what = f"unexpected {type(error).__name__}: {one_line(error)}"
        say(f"{what}; --debug shows the trace, please report it")
        sys.exit(UNUSABLE)


def _open_what_is_closed() -> None:
    """Put something in the place of a standard stream that the caller has closed, or the next file
    to be opened would be taken for it. Whoever prints to the standard output learns that it cannot
    be written; what would be said on the standard error is lost."""
    for number, how in enumerate((os.O_RDONLY, os.O_RDONLY, os.O_WRONLY)):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, how)  # as the lowest number that is free
    sys.stdout = sys.stdout or os.fdopen(1, "w", encoding="utf-8", closefd=False)
    sys.stderr = sys.stderr or os.fdopen(2, "w", encoding="utf-8", closefd=False)


def _silence() -> None:
    """Try no more to write to the standard output, at the exit neither."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
