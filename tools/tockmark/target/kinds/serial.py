# SPDX-License-Identifier: Apache-2.0 OR MIT
"""A board behind a serial port."""

from collections.abc import Mapping
from typing import Annotated, Self

import msgspec

from tockmark.errors import TockmarkError
from tockmark.target.protocol import Ability, Session, Start, fields

Positive = Annotated[int, msgspec.Meta(ge=1)]


class Target(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How to talk to it, as a board profile says."""

    icache: bool
    baud: Positive
    silence_s: Positive
    port: str | None = None

    @property
    def can(self) -> frozenset[Ability]:
        return frozenset({Ability.CYCLES})

    def ready(self) -> None:
        if self.port is None:
            raise TockmarkError("no port is named", "give the board's with --port /dev/tty…")

    def configured(self, options: Mapping[str, object]) -> Self:
        return msgspec.structs.replace(
            self, **fields(options, {"port": "port", "baud": "baud"}, "serial")
        )

    def key(self, start: Start) -> None:
        """A board never prints the same twice for certain."""

    def start(self, start: Start) -> Session:
        raise TockmarkError("no boot can be run behind a serial port yet")

    def provenance(self) -> dict[str, object]:
        return {}
