# SPDX-License-Identifier: Apache-2.0 OR MIT
"""What a site was edited by: which results it compares, and what it calls groups and benchmarks.
The choices stand in templates/edited.toml, each with its reason."""

import tomllib
from functools import cache
from importlib import resources

import msgspec


class ChosenPair(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Two results that are compared by the choice of an editor."""

    base: str  # a result's path in the folder, without .json
    new: str
    names: tuple[str, str]  # what a reader calls them, the base first
    why: str
    paired: bool = False  # whether each link of one has its twin in the other
    title: str = ""  # if there is more to say than both names


class ChosenKernel(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A result whose kernel has a page of its own."""

    result: str
    why: str


class Edited(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """All choices."""

    comparison: tuple[ChosenPair, ...]
    kernel: tuple[ChosenKernel, ...]
    groups: dict[str, tuple[str, str]]  # at the head of a page, and in a sentence
    costs: dict[str, str]  # what `--only` takes, and what it is in a sentence
    aliases: dict[str, tuple[str, ...]]  # of a benchmark, for the search


@cache
def load() -> Edited:
    """Return the choices."""
    found = resources.files("tockmark.site") / "templates" / "edited.toml"
    return msgspec.convert(tomllib.loads(found.read_text("utf-8")), Edited)


def heading(group: str) -> str:
    """Return what a group is called at the head of a page; one that nobody named, by itself."""
    return load().groups.get(group, (group, group))[0]


def in_words(group: str) -> str:
    """Return what a group is called in a sentence."""
    return load().groups.get(group, (group, group))[1]
