# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Makes what pages show of the lab: findings, chapters of studies, their pictures, and what
docs/trust.md and docs/method.md have of validation and robustness.

    python lab/pages [--check] [findings] [chapter_pictures] [blocks]

`make findings` runs it."""

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[2] / "tools" / "pages"))

from refresh import refresh

if __name__ == "__main__":
    sys.exit(refresh(("findings", "chapter_pictures", "blocks"), "findings"))
