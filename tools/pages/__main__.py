# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Generates the parts of README, docs/ and the site that show results, catalogue and built apps.

    python tools/pages [--check] [tables] [pictures] [bodies]

`make tables` runs it."""

import sys

from refresh import refresh

if __name__ == "__main__":
    sys.exit(refresh(("tables", "pictures", "bodies"), "tables"))
