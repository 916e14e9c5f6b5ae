# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Programs that consist of verbs: declaration, help, and errors.

To add the verb NAME, write a function NAME_verb with the decorator `verb`, which adds examples and
exit codes to its help, and list it with its module in the `VerbProgram`. A module is loaded only to
call its verb or show its help: `tockmark table` does not load the packages of `tockmark site`.

A parameter of the function is an argument or an option, declared as for Typer. If its type is a
dataclass (a bundle of options of several verbs, run_options.py), the fields become options of the
verb. Every verb also has --debug. If it has more than MANY options, its help groups them.
"""

import ast
import importlib
import importlib.util
import inspect
import io
import os
import re
import sys
import traceback
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields, is_dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, ParamSpec

import typer
from typer._click._textwrap import TextWrapper
from typer.core import TyperCommand, TyperGroup

from tockmark import __version__
from tockmark.base import paths
from tockmark.base.errors import (
    INTERRUPTED,
    MEANING,
    OK,
    UNUSABLE,
    TockmarkError,
    one_line,
    print_message,
    with_advice,
)
from tockmark.show import text

if TYPE_CHECKING:
    from typer._click import Command, Context, HelpFormatter


TextWrapper.wordsep_re = TextWrapper.wordsep_simple_re  # help breaks no word at a hyphen

NEVER = ""  # the meaning of an exit code that this verb does not use
_ARGUMENT = r"""(?:'[^']*'|"[^"]*"|[^\s'"])+"""
MORE = "Groups"  # the heading of the groups in the help
# Parts of an example that stay on one line: a comment, an option with its value, an argument.
_PART = re.compile(rf"# .*|--?[\w-]+ (?![-#]){_ARGUMENT}|{_ARGUMENT}")

MANY = 10  # options of a verb, above which its help groups them
ADVANCED = "Advanced"  # the heading of options without another one
TRIVIAL = ("at least 0", "at least 1")  # bounds that the help does not show
TYPES = {  # Typer's names for the values of options
    "<list[Path]>": "PATH",
    "<path>": "PATH",
    "<str>": "TEXT",
    "<list[str]>": "TEXT",
    "<int>": "N",
    "<list[int]>": "N",
    "<int range>": "N",
    "<float range>": "N",
}


@dataclass(frozen=True)
class Group:
    """Verbs behind a common word, such as `tockmark board image`, each with its module."""

    help: str
    verbs: Mapping[str, str]


@dataclass(frozen=True)
class About:
    """The examples of a verb, and the meaning of each exit code that it can end with."""

    examples: tuple[str, ...]
    exits: dict[int, str]
    bare_values: Mapping[str, str]  # the value of an option that is given without a .toml file


P = ParamSpec("P")
_ABOUT: dict[str, About] = {}  # by the verb's function, as `module.name`: only of loaded modules
_debug = False


def verb(
    *examples: str,
    exits: Mapping[int, str] | None = None,
    bare_values: Mapping[str, str] | None = None,
) -> Callable[[Callable[P, None]], Callable[P, None]]:
    """Declare the function NAME_verb as the verb NAME.

    `exits` replaces the usual meanings of exit codes and adds others. `bare_values` has the options
    whose .toml file can be omitted, each with its value in that case."""

    def declare(function: Callable[P, None]) -> Callable[P, None]:
        usual = {code: MEANING[code] for code in (OK, UNUSABLE, INTERRUPTED)}
        meanings = sorted((usual | dict(exits or {})).items())
        _ABOUT[f"{function.__module__}.{function.__name__}"] = About(
            examples,
            {code: meaning for code, meaning in meanings if meaning != NEVER},
            bare_values or {},
        )
        return function

    return declare


@dataclass(frozen=True)
class VerbProgram:
    """A command, such as `tockmark`, and its verbs.

    `package` is the Python package of the verbs' modules. `headings` maps each heading of the help
    to its verbs, and each verb to its module.
    """

    name: str
    package: str
    help: str
    headings: Mapping[str, Mapping[str, str]]
    groups: Mapping[str, Group] = field(default_factory=dict)
    option_headings: Mapping[str, str] = field(default_factory=dict)  # with the options of each

    @cached_property
    def top(self) -> dict[str, str]:
        """The verbs outside groups, each with its module."""
        return {verb: module for verbs in self.headings.values() for verb, module in verbs.items()}

    @cached_property
    def verbs(self) -> dict[str, str]:
        """All verbs, each with its module."""
        return self.top | {
            verb: module for group in self.groups.values() for verb, module in group.verbs.items()
        }

    def full_name(self, verb: str) -> str:
        """Return a verb with its group, as a user types it."""
        groups = self.groups.items()
        return next((f"{name} {verb}" for name, group in groups if verb in group.verbs), verb)

    def function_of(self, verb: str) -> Callable[..., None]:
        """Load the verb's module and return its function."""
        module = importlib.import_module(f"{self.package}.{self.verbs[verb]}")
        function: Callable[..., None] = getattr(module, f"{verb.replace('-', '_')}_verb")
        return function

    def about(self, verb: str) -> About:
        """Load the verb's module and return its examples and exit codes."""
        function = self.function_of(verb)
        return _ABOUT[f"{function.__module__}.{function.__name__}"]

    def command(self, verb: str) -> "Command":
        """Load the verb's module and return the verb as a command of Typer."""
        callback = _callback(self.function_of(verb))
        command_class = type(
            "Verb", (_Verb,), {"about": self.about(verb), "headings": self.option_headings}
        )
        info = typer.models.CommandInfo(verb, cls=command_class, callback=callback)
        return typer.main.get_command_from_info(
            info, pretty_exceptions_short=True, rich_markup_mode=None
        )

    def first_sentences(self) -> dict[str, str]:
        """Return the first sentence of each verb's docstring, without loading its module."""
        sentences = {}
        for module in set(self.verbs.values()):
            spec = importlib.util.find_spec(f"{self.package}.{module}")
            assert spec, module
            source = Path(str(spec.origin)).read_text(encoding="utf-8")
            for function in ast.parse(source).body:
                if isinstance(function, ast.FunctionDef) and function.name.endswith("_verb"):
                    verb = function.name.removesuffix("_verb").replace("_", "-")
                    docstring = " ".join((ast.get_docstring(function) or "").split())
                    sentences[verb] = re.split(r"(?<=[.?]) ", docstring)[0]
        return sentences

    def command_line(self) -> typer.Typer:
        """Return the program as a Typer application."""
        app = typer.Typer(
            name=self.name,
            cls=type("Verbs", (_Verbs,), {"program": self}),
            help=self.help,
            no_args_is_help=True,
            pretty_exceptions_enable=False,
            rich_markup_mode=None,
            context_settings={"help_option_names": ["-h", "--help"]},
        )

        @app.callback(invoke_without_command=True)
        def top(
            version: Annotated[
                bool, typer.Option("--version", help="Print version and commit, then exit.")
            ] = False,
        ) -> None:
            if version:
                sha, changed, _ = (paths.commit_of_checkout() or "").partition(paths.DIRTY)
                commit = f", commit {sha}{', with changes' * bool(changed)}" if sha else ""
                print(f"{self.name} {__version__}{commit}")
                raise typer.Exit(OK)

        return app


def set_debugging(value: bool) -> None:
    """Remember that --debug was given."""
    global _debug
    _debug = _debug or value


_DEBUG = inspect.Parameter(
    "debug",
    inspect.Parameter.KEYWORD_ONLY,
    default=False,
    annotation=Annotated[
        bool,
        typer.Option("--debug", callback=set_debugging, help="Print a traceback after an error."),
    ],
)


def _callback(function: Callable[..., None]) -> Callable[..., None]:
    """Return a function for Typer: the verb's, with the options of its bundles and --debug."""
    parameters = inspect.signature(function).parameters
    bundles: dict[str, Any] = {
        name: parameter.annotation
        for name, parameter in parameters.items()
        if is_dataclass(parameter.annotation)
    }
    options: list[inspect.Parameter] = []
    for name, parameter in parameters.items():
        inner = inspect.signature(bundles[name]).parameters.values() if name in bundles else ()
        options += (option.replace(kind=_DEBUG.kind) for option in inner or [parameter])

    def call(debug: bool, **values: object) -> None:
        for name, bundle in bundles.items():
            values[name] = bundle(**{f.name: values.pop(f.name) for f in fields(bundle)})
        function(**values)

    call.__doc__ = function.__doc__
    call.__signature__ = inspect.Signature([*options, _DEBUG])  # type: ignore[attr-defined]
    return call


def _help_record(name: str, help: str) -> tuple[str, str]:
    """Return an option's name and help, with plain words instead of Typer's types and ranges."""
    name = re.sub(r"<[^>]+>", lambda match: TYPES.get(match[0], match[0]), name)
    match = re.fullmatch(r"(.*?)\.?(?: \((default: [^()]*)\)\.)?  \[([^][]*)\]", help, re.DOTALL)
    if match is None:
        return name, help
    text, default, extra = match.groups()
    extra = re.sub(r"(\d+)<=x<=(\d+)", r"\1 to \2", extra)
    extra = re.sub(r"x>=(\d+)", r"at least \1", extra)
    notes = [default, *(note for note in extra.split("; ") if note not in TRIVIAL)]
    if default:  # it says more than Typer's
        notes = [default, *(note for note in notes[1:] if not re.match("default: |required", note))]
    notes = list(filter(None, notes))
    return name, f"{text} ({'; '.join(notes)})." if notes else f"{text}."


class _Verb(TyperCommand):
    """A verb whose help shows its options in groups, its examples and its exit codes."""

    about: ClassVar[About]
    headings: ClassVar[Mapping[str, str]]

    def parse_args(self, ctx: "Context", args: list[str]) -> list[str]:
        bare = self.about.bare_values
        full_args = [
            f"{arg}={bare[arg]}" if arg in bare and not following.endswith(".toml") else arg
            for arg, following in zip(args, [*args[1:], ""], strict=False)
        ]
        return super().parse_args(ctx, full_args)

    def format_options(self, ctx: "Context", formatter: "HelpFormatter") -> None:
        headings = {
            option: head for head, names in self.headings.items() for option in names.split()
        }
        sections: dict[str, list[tuple[str, str]]] = {"Arguments": [], "Options": []}
        sections |= {heading: [] for heading in [*self.headings, ADVANCED]}
        parameters = self.get_params(ctx)
        many = sum(param.param_type_name == "option" for param in parameters) > MANY
        for param in parameters:
            if record := param.get_help_record(ctx):
                heading = headings.get(param.opts[-1], ADVANCED) if many else "Options"
                is_argument = param.param_type_name == "argument"
                sections["Arguments" if is_argument else heading].append(_help_record(*record))
        for heading, records in sections.items():
            if records:
                with formatter.section(heading):
                    formatter.write_dl(records)

    def format_epilog(self, ctx: "Context", formatter: "HelpFormatter") -> None:
        with formatter.section("Examples"):
            for example in self.about.examples:
                formatter.write("\n".join(_folded(example, formatter.width)) + "\n")
        _write_exits(formatter, self.about.exits)


class _Group(TyperGroup):
    """The verbs of a group, loaded on demand."""

    def __init__(self, name: str, program: VerbProgram) -> None:
        group = program.groups[name]
        super().__init__(name=name, help=group.help, no_args_is_help=True, rich_markup_mode=None)
        self.commands = dict.fromkeys(group.verbs)  # type: ignore[assignment]
        self.program = program

    def get_command(self, ctx: "Context", cmd_name: str) -> "Command | None":
        return self.program.command(cmd_name) if cmd_name in self.commands else None

    def format_commands(self, ctx: "Context", formatter: "HelpFormatter") -> None:
        sentences = self.program.first_sentences()
        with formatter.section("Verbs"):
            formatter.write_dl([(name, sentences[name]) for name in self.commands])


class _Verbs(TyperGroup):
    """All verbs of a program, loaded on demand.

    The help lists them under their headings, each with the first sentence of its docstring."""

    program: ClassVar[VerbProgram]

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        # Typer suggests similar names among these.
        names = [*self.program.top, *self.program.groups]
        self.commands = dict.fromkeys(names)  # type: ignore[assignment]

    def list_commands(self, ctx: "Context") -> list[str]:
        return list(self.commands)

    def get_command(self, ctx: "Context", cmd_name: str) -> "Command | None":
        if cmd_name in self.program.top:
            return self.program.command(cmd_name)
        return _Group(cmd_name, self.program) if cmd_name in self.program.groups else None

    def format_commands(self, ctx: "Context", formatter: "HelpFormatter") -> None:
        sentences = self.program.first_sentences()
        for heading, verbs in self.program.headings.items():
            with formatter.section(heading):
                formatter.write_dl([(name, sentences[name]) for name in verbs])
        if groups := self.program.groups:
            with formatter.section(MORE):
                formatter.write_dl(
                    [(name, f"{of.help} {', '.join(of.verbs)}.") for name, of in groups.items()]
                )

    def format_epilog(self, ctx: "Context", formatter: "HelpFormatter") -> None:
        _write_exits(formatter, MEANING)


def _write_exits(formatter: "HelpFormatter", exits: Mapping[int, str]) -> None:
    with formatter.section("Exit codes"):
        formatter.write_dl([(str(code), meaning) for code, meaning in exits.items()])


def _folded(command: str, width: int) -> list[str]:
    """Return a command as lines joined by backslashes, which can be pasted."""
    lines = [" "]
    for part in _PART.findall(command):
        if len(lines[-1]) + len(part) + 3 > width and lines[-1].strip():
            lines[-1] += " \\"
            lines.append("     ")
        lines[-1] += f" {part}"
    return lines


def run(app: typer.Typer) -> None:
    """Run a program with the arguments of this process.

    Print an error as one line, with --debug also its traceback, and exit with its code."""
    _open_closed_streams()
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # a terminal may know ASCII only
    try:
        paths.check_environment(sys.argv[0])
        text.set_output(sys.stdout)
        try:
            app(prog_name=app.info.name)
        finally:
            sys.stdout.flush()  # or a full disk gives a traceback at exit
    except TockmarkError as error:
        if _debug:
            traceback.print_exc()
        print_message(one_line(error))
        sys.exit(error.code)
    except BrokenPipeError:  # `tockmark table … | head`
        _silence()
        sys.exit(OK)
    except OSError as error:  # one that no verb handles, such as a full disk
        if _debug:
            traceback.print_exc()
        print_message(one_line(f"{error.filename or _written(error)}: {error.strerror}"))
        _silence()
        sys.exit(UNUSABLE)
    except ImportError:  # __main__.py reports it
        raise
    except Exception as error:
        if _debug:
            raise
        problem = f"unexpected {type(error).__name__}: {one_line(error)}"
        print_message(with_advice(problem, "run it with --debug and report the traceback"))
        sys.exit(UNUSABLE)


def _written(error: OSError) -> str:
    """Return what was written when an error without a file's name occurred: the file of a method of
    Path, or else stdout."""
    frames = (frame.f_locals for frame, _ in traceback.walk_tb(error.__traceback__))
    files = [values["self"] for values in frames if isinstance(values.get("self"), Path)]
    if isinstance(error, FileNotFoundError):  # no folder for temporary files
        return "cannot start"
    return str(files[-1]) if files else "the standard output"


def _open_closed_streams() -> None:
    """Replace closed standard streams by /dev/null, so that no opened file gets their descriptor.

    Writing to a closed stdout still fails; messages to a closed stderr are lost."""
    for number, mode in enumerate((os.O_RDONLY, os.O_RDONLY, os.O_WRONLY)):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, mode)  # it gets the lowest free number
    sys.stdout = sys.stdout or os.fdopen(1, "w", encoding="utf-8", closefd=False)
    sys.stderr = sys.stderr or os.fdopen(2, "w", encoding="utf-8", closefd=False)


def _silence() -> None:
    """Stop writing to stdout, also at exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
