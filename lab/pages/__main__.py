# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Generate the lab's pages: docs/findings.md, the studies' pages with their pictures, and the
blocks on validation and robustness in docs/trust.md and docs/method.md.

    python lab/pages [--check] [findings] [chapter_pictures] [blocks]

`make findings` runs it."""

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[2] / "tools" / "pages"))

from refresh import refresh

if __name__ == "__main__":
    sys.exit(refresh(("findings", "chapter_pictures", "blocks"), "findings"))
