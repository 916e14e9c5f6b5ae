# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The entry point of `tockmark` and `python -m tockmark`.

It imports modules inside `main`, which handles Ctrl-C during the import."""

import importlib
import sys

SITE = {"jinja2", "matplotlib"}  # packages of the extra `site`


def main() -> None:
    """Load the tool and run it."""
    start("tockmark.cli.app")


def start(module: str) -> None:
    """Import a module and call its `main`; report Ctrl-C and missing packages."""
    try:
        importlib.import_module(module).main()
    except (ImportError, SyntaxError) as error:
        from pathlib import Path

        from tockmark.base.errors import UNUSABLE, one_line, print_message, with_advice

        if "--debug" in sys.argv:
            raise
        package = (error.name or "").partition(".")[0] if isinstance(error, ImportError) else ""
        if package in SITE:
            todo = "run `pip install 'tockmark[site]'`"
            print_message(with_advice(f"pages and pictures need {package}", todo))
            sys.exit(UNUSABLE)
        todo = "run `make setup`; if it finds nothing to do, remove .venvs first"
        if Path(__file__).with_name("installed").is_dir():  # as in paths.py, which may be missing
            todo = "install tockmark again"
        print_message(with_advice(f"the Python environment is incomplete: {one_line(error)}", todo))
        sys.exit(UNUSABLE)
    except KeyboardInterrupt:
        from tockmark.base.errors import INTERRUPTED, print_message

        print_message("interrupted")
        sys.exit(INTERRUPTED)


if __name__ == "__main__":
    main()
