# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Ctrl-C, and SIGTERM like it: the first ends a run, and no other one loses what the run keeps."""

import signal
from collections.abc import Iterator
from contextlib import contextmanager

_BY = (signal.SIGINT, signal.SIGTERM)


@contextmanager
def ended_once() -> Iterator[None]:
    """Within, the first is a KeyboardInterrupt; those behind it are ignored."""
    before = [signal.signal(number, _end) for number in _BY]
    try:
        yield
    finally:
        for number, handler in zip(_BY, before, strict=True):
            signal.signal(number, handler)


def end_no_more() -> None:
    """From here on all are ignored."""
    for number in _BY:
        signal.signal(number, signal.SIG_IGN)


def _end(number: int, frame: object) -> None:
    end_no_more()
    raise KeyboardInterrupt
