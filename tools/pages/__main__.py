# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Makes what README, docs/ and the site show of committed results, catalogue and built apps.

    python tools/pages [--check] [tables] [pictures] [bodies]

`make tables` runs it."""

import sys

from refresh import refresh

if __name__ == "__main__":
    sys.exit(refresh(("tables", "pictures", "bodies"), "tables"))
