# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The ordinary tools of every language check the sources; their warnings are errors."""

import ast
import os
import subprocess
import sys
import tomllib
from collections import Counter, defaultdict
from pathlib import Path

import plain_english
import pytest

ROOT = Path(__file__).parents[1]
BIN = Path(sys.executable).parent
CHIP = ["--target", "riscv32imc-unknown-none-elf"]
KERNEL = ["--release", "--package", "tockmark-kernel", *CHIP]
SUITE = ["--package", "tockmark-suite", *CHIP]
HOST = ["--workspace", "--exclude", "tockmark-suite"]  # its apps build for Tock only
V1 = ["--features", "abi-v1,nexysvideo"]
EIGHT = ["--features", "eight"]
PMP_8 = ["--features", "pmp-8"]
CRYPTO = ["--features", "crypto"]
PROGRAMS = ["--manifest-path", "lab/studies/programs/apps/Cargo.toml"]
CRATE = ["--package", "tockmark-tock"]
CRATE_V1 = [*CRATE, "--features", "abi-v1"]
# Code that is compiled once and run once needs neither debug information nor incremental builds.
LEAN = {"CARGO_INCREMENTAL": "0", "CARGO_PROFILE_DEV_DEBUG": "0", "CARGO_PROFILE_TEST_DEBUG": "0"}
LONGEST = 800
LISTS = (ROOT / "apps" / "catalogue.toml",)  # lists, which may be as long as they have entries
HEADER = "SPDX-License-Identifier: Apache-2.0 OR MIT"


def files(*suffixes: str) -> list[Path]:
    """Return our files with these suffixes: those that git has or would add."""
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    paths = [ROOT / name for name in listed.splitlines() if name.endswith(suffixes)]
    return [path for path in paths if path.exists()]


DENY = ["--", "-D", "warnings"]
CHECKERS = [
    ["cargo", "fmt", "--all", "--check"],
    ["cargo", "fmt", *PROGRAMS, "--check"],
    ["cargo", "clippy", "--quiet", *HOST, "--all-targets", *DENY],
    ["cargo", "clippy", "--quiet", *KERNEL, *DENY],
    ["cargo", "clippy", "--quiet", *SUITE, *DENY],
    ["cargo", "test", "--quiet", *HOST],
    [str(BIN / "ruff"), "check"],
    [str(BIN / "ruff"), "format", "--check"],
    [str(BIN / "mypy"), "--strict"],
]
VARIANTS = [
    ["cargo", "clippy", "--quiet", *KERNEL, *V1, *DENY],
    ["cargo", "clippy", "--quiet", *KERNEL, *EIGHT, *DENY],
    ["cargo", "clippy", "--quiet", *KERNEL, *PMP_8, *DENY],
    ["cargo", "clippy", "--quiet", *KERNEL, *CRYPTO, *DENY],
    ["cargo", "clippy", "--quiet", *CRATE_V1, "--all-targets", *DENY],
    ["cargo", "clippy", "--quiet", *CRATE, *CHIP, *DENY],
    ["cargo", "clippy", "--quiet", *CRATE_V1, *CHIP, *DENY],
    ["cargo", "clippy", "--quiet", *SUITE, "--features", "abi-v1", *DENY],
    ["cargo", "test", "--quiet", *CRATE_V1],
    ["cargo", "test", "--quiet", "--package", "tockmark-kernel", *V1],
    ["cargo", "test", "--quiet", "--package", "tockmark-kernel", *EIGHT],
    ["cargo", "test", "--quiet", "--package", "tockmark-kernel", *PMP_8, "--lib", "sharing"],
]


@pytest.mark.parametrize(
    "command",
    [*CHECKERS, *(pytest.param(command, marks=pytest.mark.whole) for command in VARIANTS)],
    ids=" ".join,
)
def test_checker(command: list[str]) -> None:
    # One folder for all variants, so that dependencies are compiled once.
    own = os.environ | {"CARGO_TARGET_DIR": str(ROOT / "build" / "cargo-test")} | LEAN
    done = subprocess.run(command, cwd=ROOT, env=own, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_unsafe_code_is_in_one_crate_of_the_apps_only() -> None:
    """The suite has no unsafe code. In the other crate each unsafe block has a comment that says
    why it is safe. The linters of both crates check this."""
    apps = ROOT / "apps" / "rust"
    folders = (apps / "suite", ROOT / "lab" / "studies" / "programs" / "apps")
    suite = [path for path in files(".rs") if any(map(path.is_relative_to, folders))]
    assert len(suite) > 25
    assert not [path for path in suite if "unsafe" in path.read_text(encoding="utf-8")]

    def lints(*where: str) -> dict[str, dict[str, str]]:
        manifest = tomllib.loads(ROOT.joinpath(*where).read_text(encoding="utf-8"))
        own: dict[str, dict[str, str]] = manifest.get("workspace", manifest)["lints"]
        return own

    manifest = (apps / "suite" / "Cargo.toml").read_text(encoding="utf-8")
    assert "\n[lints]\nworkspace = true\n" in manifest
    for own in (lints("Cargo.toml"), lints("apps", "rust", "tock", "Cargo.toml")):
        assert own["clippy"]["undocumented_unsafe_blocks"] == "deny"
        assert own["rust"]["unsafe_op_in_unsafe_fn"] == "deny"
    assert lints("Cargo.toml")["rust"]["unsafe_code"] == "deny"


def test_clang_format() -> None:
    sources = files(".c", ".cc", ".h")
    assert sources
    command = ["clang-format", "--dry-run", "-Werror", *map(str, sources)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    "path",
    files(".c", ".cc", ".h", ".S", ".sv", ".ld", ".rs", ".py", ".sh", ".toml", ".mk", "Makefile"),
    ids=lambda path: str(path.relative_to(ROOT)),
)
def test_file_is_short_and_licensed(path: Path) -> None:
    lines = path.read_text(encoding="utf-8").splitlines()
    assert len(lines) < LONGEST or path in LISTS
    assert any(HEADER in line for line in lines[:3])


def test_no_class_name_is_in_two_modules() -> None:
    """A name with one meaning can be searched for. Tests are not checked."""
    modules = defaultdict(list)
    for path in files(".py"):
        if "tests" not in path.relative_to(ROOT).parts:
            for node in ast.walk(ast.parse(path.read_bytes())):
                if isinstance(node, ast.ClassDef):
                    modules[node.name].append(path.relative_to(ROOT))
    assert len(modules) > 100
    assert not {name: places for name, places in modules.items() if len(places) > 1}


def test_text_is_plain_english() -> None:
    planted = plain_english.phrases_in("a.py", ["x = 1  # taken in the place of the other"])
    assert [phrase.instead for phrase in planted] == ["instead of"]
    lines, phrases = plain_english.read(plain_english.checked_files())
    assert 1000 * len(phrases) <= plain_english.MOST * lines, "python tests/plain_english.py"


def test_names_hold_a_noun() -> None:
    """A local variable, a parameter or a loop variable is named after what it holds."""
    vague = {"found", "one", "said", "known", "told"}
    nodes = (node for path in files(".py") for node in ast.walk(ast.parse(path.read_text())))
    names = Counter(
        getattr(node, "id", None) or getattr(node, "arg", None)
        for node in nodes
        if isinstance(node, ast.Name | ast.arg)
    )
    assert sum(names[name] for name in vague) <= 20, {name: names[name] for name in vague}
