# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The files of a site's pages. A name out of a result makes an address of letters, digits, dots and
dashes alone, and no two pages have the same one."""

from tockmark.plain import file_name


class Addresses:
    """Files that are taken so far; those of one thing stay the same."""

    def __init__(self) -> None:
        self._of: dict[tuple[str, object], str] = {}
        self._taken: set[str] = set()

    def page(self, folder: str, key: object, name: str) -> str:
        """The path of a page from the site's root, by the thing that it is of."""
        if (folder, key) not in self._of:
            # In small letters: some file systems take both for one.
            stem = file_name(name).lower().replace("..", ".")
            path, more = f"{folder}/{stem}.html", 1
            while path in self._taken:
                more += 1
                path = f"{folder}/{stem}-{more}.html"
            self._taken.add(path)
            self._of[folder, key] = path
        return self._of[folder, key]
