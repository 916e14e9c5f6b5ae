# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Drive Debian's Chromium, headless and without a network, on pages in folders.

The checks of a page are in look.js and contrast.js."""

import os
import shutil
from pathlib import Path
from typing import Any

from selenium.webdriver import Chrome as Driver
from selenium.webdriver import ChromeOptions, ChromeService

HERE = Path(__file__).parent
QUESTIONS = "".join((HERE / name).read_text("utf-8") for name in ("look.js", "contrast.js"))
BROWSER, DRIVER = shutil.which("chromium"), shutil.which("chromedriver")
PHONE, TABLET, DESK, PAPER = (
    360,
    768,
    1280,
    1047,
)  # px; the last is A4 across, minus margins of 1 cm, at 96 px per inch
TALL = 800


class Chrome:
    """One browser for all tests."""

    def __init__(self) -> None:
        assert BROWSER
        assert DRIVER
        options = ChromeOptions()
        options.binary_location = BROWSER
        options.unhandled_prompt_behavior = "ignore"  # a page with a prompt then hangs and fails
        options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
        for argument in (
            "--headless=new",
            "--disable-gpu",
            "--disable-dev-shm-usage",  # a container's /dev/shm is small
            "--disable-background-networking",
            "--disable-component-update",
            "--no-first-run",
            "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
            *(["--no-sandbox"] if os.geteuid() == 0 else []),  # root cannot use the sandbox
        ):
            options.add_argument(argument)
        # With both paths given, Selenium searches for neither; these settings enforce that.
        own = os.environ | {"SE_OFFLINE": "true", "SE_AVOID_STATS": "true"}
        self.driver = Driver(options, ChromeService(DRIVER, env=own))
        self.driver.set_page_load_timeout(60)
        self.driver.set_script_timeout(60)

    def send_command(self, method: str, **arguments: Any) -> None:
        """Run a command of the DevTools protocol."""
        self.driver.execute_cdp_cmd(method, arguments)

    def open(self, page: Path, at: str = "") -> None:
        """Open a file, at an anchor if one is given."""
        self.driver.get(page.as_uri() + at)

    def wide(self, width: int) -> None:
        """Set the window's width in px; a narrow window emulates a phone."""
        self.send_command(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=TALL,
            deviceScaleFactor=1,
            mobile=width <= PHONE,
        )

    def media(self, scheme: str = "light", kind: str = "screen") -> None:
        """Set the colour scheme (dark or light) and the media (screen or print)."""
        wanted = [{"name": "prefers-color-scheme", "value": scheme}]
        self.send_command("Emulation.setEmulatedMedia", media=kind, features=wanted)

    def run(self, script: str, *arguments: Any) -> Any:
        """Run a script that may use look.js and contrast.js, and return its result."""
        return self.driver.execute_script(QUESTIONS + script, *arguments)

    def ask(self, question: str) -> list[str]:
        """Return the lines of one of these functions."""
        lines: list[str] = self.run(f"return {question};")
        return lines

    def logged(self) -> list[str]:
        """Return the console messages since the last call."""
        entries: list[dict[str, Any]] = self.driver.get_log("browser")  # type: ignore[no-untyped-call]
        return [f"{entry['level']}: {entry['message']}" for entry in entries]

    def close(self) -> None:
        """End the browser and its driver."""
        self.driver.quit()
