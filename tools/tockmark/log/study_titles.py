# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Which benchmark of the catalogue a title of the 2021 study's logs is: what study.toml says."""

import re
import tomllib
from importlib.resources import files

import msgspec

from tockmark.suite.catalogue import Params

COUNTED = re.compile(r"_(cycles|instructions)(?=$|,|:)")
_PARAMS = re.compile(r", ([a-z][a-z_ ]*) (\d{1,9})$")
WORD = 4  # bytes that a load moves


class Titled(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A title of the study's, or a pattern of titles, and what is behind it."""

    title: str = msgspec.field(name="is")
    id: str
    params: Params = msgspec.field(default_factory=dict)
    samples: int | None = None
    inner: int = 1
    loaded: str | None = None
    counts: str | None = None


class Facts(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What study.toml says."""

    overhead: dict[str, int]
    remarks: list[str]
    benchmark: list[Titled]

    @property
    def loaded(self) -> set[str]:
        """The columns that say how much a sample loaded."""
        return {entry.loaded for entry in self.benchmark if entry.loaded}


def facts() -> Facts:
    """The same, read."""
    text = files("tockmark.log").joinpath("study.toml").read_text(encoding="utf-8")
    return msgspec.convert(tomllib.loads(text), Facts)


def named(title: str, known: Facts) -> Titled:
    """What is behind a title; one that is not known becomes `study.<its words>`."""
    bare = COUNTED.sub("", title)
    for entry in known.benchmark:
        pattern = re.sub(r"\\{(\w+)\\}", r"(?P<\1>\\d{1,9})", re.escape(entry.title))
        match = re.fullmatch(pattern, bare)
        if match:
            found = {key: int(value) for key, value in match.groupdict().items()}
            return msgspec.structs.replace(entry, params={**entry.params, **found})
    params: Params = {}
    while match := _PARAMS.search(bare):
        bare = bare[: match.start()]
        params = {match[1].replace(" ", "_"): int(match[2]), **params}
    slug = re.sub(r"[^a-z0-9]+", "_", bare.lower())[:80].strip("_")
    return Titled(title, f"study.{slug or 'untitled'}", params)
