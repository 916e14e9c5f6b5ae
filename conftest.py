# SPDX-License-Identifier: Apache-2.0 OR MIT
"""What all tests share. Ctrl-C works in them even where the shell that started them ignores it, as
one does for a job in the background; what they run is simulated, and not taken from the cache; the
key that vouches for boots is one of their own. The programs that they start inherit this.

`make test` runs them on all cores (pytest-xdist). The tests of a file run one after the other, and
so do files that make the same product anew. Long files begin first, so that no core is idle at the
end.
"""

import os
import signal

import pytest

signal.signal(signal.SIGINT, signal.default_int_handler)
os.environ["TOCKMARK_CACHE"] = "off"
os.environ["TOCKMARK_KEY"] = "of the tests, and of nobody else"

# Files, and a folder of them, that make one thing: links of the kernel, a browser and its sites.
TOGETHER = {
    "test_judge.py": "kernel-layouts",
    "test_kernel_layouts.py": "kernel-layouts",
    "browser": "browser",
}
LONG = ("test_every_page.py", "test_doc_commands.py", "test_bench.py", "test_first_measurement.py")


@pytest.hookimpl(tryfirst=True)  # xdist reads the groups here, too
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        group = TOGETHER.get(item.path.name) or TOGETHER.get(item.path.parent.name)
        item.add_marker(pytest.mark.xdist_group(group or str(item.path)))
    items.sort(key=lambda item: item.path.name not in LONG)  # else their order stays
