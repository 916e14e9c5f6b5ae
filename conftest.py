# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Settings of all tests.

Ctrl-C works in tests, and in the programs that they start, even if the shell ignores it, as it does
for a background job. Nothing is taken from the cache of boots.

`make test` and `make test-lab` use all cores (pytest-xdist). The tests of a file run in sequence,
and so do files that rebuild the same product. Long files start first, so that no core is idle at
the end.
"""

import os
import signal
from pathlib import Path

import pytest
from hypothesis import settings
from xdist.remote import Producer
from xdist.scheduler import LoadScopeScheduling

from tockmark.show import text

signal.signal(signal.SIGINT, signal.default_int_handler)
settings.register_profile("tockmark", deadline=None, database=None, max_examples=200)
settings.register_profile("quick", settings.get_profile("tockmark"), max_examples=50)
settings.load_profile("tockmark")
os.environ["TOCKMARK_CACHE"] = "off"

# Files and folders that share a product (links of the kernel, a browser) and so run in sequence.
TOGETHER = {
    "test_judge.py": "kernel-layouts",
    "test_kernel_layouts.py": "kernel-layouts",
    "browser": "browser",
}
LONG = (
    # make test
    "test_every_page.py",
    "test_bench.py",
    "test_callgrind.py",
    "test_first_measurement.py",
    "test_wheel.py",
    # make test-lab
    "test_conformance.py",
    "test_cores.py",
    "test_availability.py",
    "test_interleavings.py",
    "test_trap_cases.py",
    "test_rust_identity.py",
)


@pytest.fixture(autouse=True)
def plain_output(monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep the width and colours that a verb sets from later tests."""
    monkeypatch.setattr(text, "_columns", text.LINE)
    monkeypatch.setattr(text, "_on", False)


class Together(LoadScopeScheduling):
    """A scheduler that gives each core whole files, or files that belong together. The groups of
    xdist do not work with pytest 9.2, which passes other test names."""

    def _split_scope(self, nodeid: str) -> str:
        path = Path(nodeid.partition("::")[0])
        return TOGETHER.get(path.name) or TOGETHER.get(path.parent.name) or str(path)


def pytest_xdist_make_scheduler(config: pytest.Config, log: Producer) -> Together:
    return Together(config, log)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    items.sort(key=lambda item: item.path.name not in LONG)  # a stable sort
