# SPDX-License-Identifier: Apache-2.0 OR MIT
"""How a verb is added to the command line, and what its help looks like: what it does, its options,
examples that can be pasted, and its exit codes. Nothing is cut: a line that is too long goes on in
the next."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING

import typer
from typer.core import TyperCommand, TyperGroup

from tockmark.errors import INTERRUPTED, MEANING, OK, UNUSABLE

if TYPE_CHECKING:
    from typer._click import Context, HelpFormatter

NEVER = ""  # in place of what an exit code means: this verb does not end with it
_ARGUMENT = r"""(?:'[^']*'|"[^"]*"|[^\s'"])+"""
# What a line of an example is not broken in: a comment, an option with its value, an argument.
_PART = re.compile(rf"# .*|--?[\w-]+ (?![-#]){_ARGUMENT}|{_ARGUMENT}")


class Group(StrEnum):
    """Under which heading the help has a verb; the headings stand in this order."""

    MEASURE = "Measure"
    COMPARE = "Compare"
    SHOW = "Show"
    CHECK = "Check"
    KERNELS = "Kernels and boards"


@dataclass(frozen=True)
class About:
    """What the help says of a verb besides what it does and its options."""

    group: Group
    examples: tuple[str, ...]
    own: Mapping[int, str] = field(default_factory=dict)

    @property
    def exits(self) -> dict[int, str]:
        """Its exit codes, and what each means. Every verb has the usual ones, unless its own
        say otherwise."""
        usual = {code: MEANING[code] for code in (OK, UNUSABLE, INTERRUPTED)}
        every = {**usual, **self.own}
        return {code: every[code] for code in sorted(every) if every[code] != NEVER}


ABOUT: dict[str, About] = {}  # by the verb's name


def add(
    app: typer.Typer,
    name: str,
    verb: Callable[..., None],
    group: Group,
    examples: tuple[str, ...],
    exits: Mapping[int, str] | None = None,
) -> None:
    """Add a verb. `exits` says what its exit codes mean where that is not the usual."""
    ABOUT[name] = About(group, examples, exits or {})
    app.command(name=name, cls=_Verb)(verb)


class _Verb(TyperCommand):
    """A verb whose help ends in examples and exit codes."""

    def format_epilog(self, ctx: "Context", formatter: "HelpFormatter") -> None:
        about = ABOUT[str(self.name)]
        with formatter.section("Examples"):
            for example in about.examples:
                formatter.write("\n".join(_folded(example, formatter.width)) + "\n")
        with formatter.section("Exit codes"):
            formatter.write_dl([(str(code), said) for code, said in about.exits.items()])


class Verbs(TyperGroup):
    """All verbs, under their headings, each with the first sentence of its help."""

    def format_commands(self, ctx: "Context", formatter: "HelpFormatter") -> None:
        for group in Group:
            with formatter.section(group):
                formatter.write_dl(
                    [
                        (name, command.get_short_help_str(limit=1000))
                        for name, command in self.commands.items()
                        if ABOUT[name].group is group
                    ]
                )

    def format_epilog(self, ctx: "Context", formatter: "HelpFormatter") -> None:
        with formatter.section("Exit codes"):
            formatter.write_dl([(str(code), said) for code, said in MEANING.items()])


def _folded(command: str, width: int) -> list[str]:
    """A command that can be pasted, in lines that a backslash joins."""
    lines = [" "]
    for part in _PART.findall(command):
        if len(lines[-1]) + len(part) + 3 > width and lines[-1].strip():
            lines[-1] += " \\"
            lines.append("     ")
        lines[-1] += f" {part}"
    return lines
