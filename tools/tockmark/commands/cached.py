# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The verb `cache`: what is kept of simulations."""

from typing import Annotated

import typer

from tockmark import paths
from tockmark.commands.common import AsJson, Debug, print_json
from tockmark.commands.verb import Group, add
from tockmark.errors import TockmarkError
from tockmark.target import cache


def register(app: typer.Typer) -> None:
    """Add this verb to the command line."""
    add(app, "cache", cache_verb, Group.CHECK, ("tockmark cache", "tockmark cache --clear"))


def cache_verb(
    clear: Annotated[bool, typer.Option("--clear", help="Remove all of it.")] = False,
    as_json: AsJson = False,
    debug: Debug = False,
) -> None:
    """Show how many simulated boots are kept, how large they are, and where they lie.

    A run of the same simulator, image and options takes its log from there. TOCKMARK_CACHE in the
    environment names another folder, or is `off`. What was not used for longest goes first."""
    kept = cache.default()
    if kept.folder is None:
        raise TockmarkError(f"{cache.PLACE} is off: nothing is kept", f"unset {cache.PLACE}")
    try:
        count, size = kept.clear() if clear else kept.size()
    except OSError as error:
        raise TockmarkError(f"{paths.shown(kept.folder)}: {error.strerror}") from error
    told = {"boots": count, "bytes": size, "most_bytes": kept.limit, "folder": str(kept.folder)}
    if as_json:
        print_json(told | {"cleared": clear})
    elif clear:
        print(f"removed {count} boots, {size} bytes, from {paths.shown(kept.folder)}")
    else:
        where = paths.shown(kept.folder)
        print(f"{count} boots, {size} of at most {kept.limit} bytes, in {where}")
