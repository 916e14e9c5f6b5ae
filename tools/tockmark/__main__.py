# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Where the tool begins, as `tockmark` and as `python -m tockmark`. It imports within `main`, which
meets a Ctrl-C that comes meanwhile."""

import importlib
import sys

SITE = {"jinja2", "matplotlib"}  # packages that only the extra `site` installs


def main() -> None:
    """Load the tool and run it."""
    start("tockmark.cli.app")


def start(module: str) -> None:
    """Load a module and call its `main`. Ctrl-C may come while it loads; and a package may be
    missing, then or when it is first used."""
    try:
        importlib.import_module(module).main()
    except (ImportError, SyntaxError) as error:
        from pathlib import Path

        from tockmark.base.errors import UNUSABLE, one_line, print_message

        if "--debug" in sys.argv:
            raise
        package = (error.name or "").partition(".")[0] if isinstance(error, ImportError) else ""
        if package in SITE:
            print_message(f"pages and pictures need {package}; run `pip install 'tockmark[site]'`")
            sys.exit(UNUSABLE)
        todo = "run `make setup`, or remove .venvs before it if that finds nothing to do"
        if Path(__file__).with_name("installed").is_dir():  # paths.py, which may not be there
            todo = "install tockmark anew"
        print_message(f"this environment is not whole: {one_line(error)}; {todo}")
        sys.exit(UNUSABLE)
    except KeyboardInterrupt:
        from tockmark.base.errors import INTERRUPTED, print_message

        print_message("interrupted")
        sys.exit(INTERRUPTED)


if __name__ == "__main__":
    main()
