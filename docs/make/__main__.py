# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Makes what docs/ and the site show of the committed results, the code and the built apps.

    .venv/bin/python docs/make [--check] [tables] [pictures] [architecture] [bodies] [findings]

Each is a module beside this one, whose `made` gives the whole content of its files; without a name
all are made. What differs from the file is written. With --check it is only named, and the exit
code is 1. `make tables` calls the first four, and `make findings` the last.
"""

import argparse
import importlib
import sys
from pathlib import Path

from tockmark.paths import shown

MAKERS = ("tables", "pictures", "architecture", "bodies", "findings")


def main() -> int:
    parser = argparse.ArgumentParser(prog="docs/make", description="Makes what docs/ shows.")
    parser.add_argument("makers", nargs="*", metavar="MODULE", help=", ".join(MAKERS))
    parser.add_argument("--check", action="store_true", help="only say what is stale")
    given = parser.parse_args()
    if unknown := set(given.makers) - set(MAKERS):
        parser.error(f"there is no {', '.join(sorted(unknown))}; name {', '.join(MAKERS)}")
    stale = False
    for name in given.makers or MAKERS:
        contents: dict[Path, bytes] = importlib.import_module(name).made()
        for path, content in contents.items():
            if path.exists() and path.read_bytes() == content:
                continue
            stale = True
            target = "findings" if name == "findings" else "tables"
            print(f"{shown(path)}: {f'stale; run `make {target}`' if given.check else 'refreshed'}")
            if not given.check:
                path.write_bytes(content)
    return 1 if stale and given.check else 0


if __name__ == "__main__":
    sys.exit(main())
