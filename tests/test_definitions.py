# SPDX-License-Identifier: Apache-2.0 OR MIT
"""A benchmark is an entry of apps/catalogue.toml, a definition in apps/c, and a word in
docs/benchmarks.md: the three have to agree.

The definitions are read from the tables in C behind the preprocessor, which needs no build.
"""

import ast
import re
import subprocess
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import pytest

from tockmark import paths
from tockmark.suite import catalogue

GCC = "riscv64-unknown-elf-gcc"
INCLUDES = ["-Iapps/runtime", "-Iapps/asm", "--specs=picolibc.specs"]
MACHINE = ["-march=rv32imc", "-mabi=ilp32", "-std=c11"]
TIME_READ = "apps/runtime/bench.c"  # the harness's own row
KNOWN = catalogue.load()


@dataclass(frozen=True)
class Definition:
    """What a table in C says of a benchmark."""

    group: str
    samples: int
    inner: int
    params: dict[str, list[int | str]]
    scenes: list[int]  # in which it runs, if not in the ordinary boot
    skip: str | None

    def __add__(self, other: "Definition") -> "Definition":
        """An id may have an entry of its own for each value of its first parameter."""
        first = next(iter(self.params))
        values = [*self.params[first], *other.params[first]]
        params = {**self.params, first: values}
        assert replace(other, params=self.params, scenes=self.scenes) == self
        return replace(self, params=params, scenes=self.scenes + other.scenes)


def preprocessed(source: str, abi: int) -> str:
    command = [GCC, "-E", "-P", *MACHINE, *INCLUDES, f"-DTM_ABI={abi}", '-DTM_CFLAGS=""', source]
    return subprocess.run(
        command, check=True, capture_output=True, text=True, cwd=paths.ROOT
    ).stdout


def initializers(text: str) -> list[str]:
    """The texts between the braces of a table's entries, which are those that begin with an id."""
    found = []
    for match in re.finditer(r"\{\s*\.id = ", text):
        depth, end = 0, match.start()
        while True:
            depth += {"{": 1, "}": -1}.get(text[end], 0)
            end += 1
            if depth == 0:
                break
        found.append(text[match.start() + 1 : end - 1])
    return found


def number(expression: str, names: dict[str, int]) -> int:
    """A constant of C that is one of Python, too, once its names are numbers."""
    plain = re.sub(r"[A-Za-z_]\w*", lambda m: str(names[m[0]]), expression)
    value: Any = eval(compile(ast.parse(plain, mode="eval"), "C", "eval"), {"__builtins__": {}})
    return int(value)


def definition(group: str, entry: str, names: dict[str, int]) -> tuple[str, Definition]:
    def field(name: str) -> str | None:
        match = re.search(rf"\.{name} = (\"[^\"]*\"|[^,{{}}]+)", entry)
        return match[1].strip().strip('"') if match else None

    params: dict[str, list[int | str]] = {}
    pattern = r'\{\s*\.name = "(\w+)",\s*\.(numbers|names) = \([^)]*\)\{([^}]*)\}'
    for name, kind, values in re.findall(pattern, entry):
        words = [value.strip() for value in values.split(",")]
        params[name] = [w.strip('"') if kind == "names" else number(w, names) for w in words]
    scene = number(field("scene") or "0", names)
    in_one = number(field("one_scene") or "false", names) or not params
    scenes = 1 if in_one else len(next(iter(params.values())))
    skip = field("skip")
    return field("id") or "", Definition(
        group,
        number(field("samples") or "0", names),
        number(field("inner") or "0", names),
        params,
        [scene + i for i in range(scenes)] if scene else [],
        skip if skip != "0" else None,
    )


@cache
def definitions(abi: int) -> dict[str, Definition]:
    """Every benchmark of every app."""
    found: dict[str, Definition] = {}
    sources = sorted((paths.ROOT / "apps" / "c").glob("*.c"))
    for source in [TIME_READ, *(str(path.relative_to(paths.ROOT)) for path in sources)]:
        text = preprocessed(source, abi)
        names = {"true": 1, "false": 0}
        for body in re.findall(r"enum \w*\s*\{([^}]*=[^}]*)\}", text):
            for name, value in re.findall(r"(\w+) = (\w+)", body):
                names[name] = int(value, 0)
        app = re.search(r'struct tm_app tm_app = \{\s*\.name = "(\w+)"', text)
        group = app[1] if app else "time"
        for entry in initializers(text):
            id_, defined = definition(group, entry, names)
            found[id_] = found[id_] + defined if id_ in found else defined
    return found


def test_every_benchmark_of_the_catalogue_is_defined_and_no_other() -> None:
    for abi in (1, 2):
        assert set(definitions(abi)) == set(KNOWN.benchmarks)


@pytest.mark.parametrize("id_", KNOWN.benchmarks)
def test_the_definition_says_what_the_catalogue_says(id_: str) -> None:
    entry, defined = KNOWN.benchmarks[id_], definitions(2)[id_]
    assert (defined.group, defined.samples, defined.inner, defined.params) == (
        entry.group,
        entry.samples,
        entry.inner,
        entry.params,
    )
    assert defined.skip is None, "version 2 has all"


@pytest.mark.parametrize("id_", KNOWN.benchmarks)
def test_every_scene_has_its_boot(id_: str) -> None:
    """A benchmark that needs others beside it runs in boots of its group, one for each scene."""
    boots = [boot for boot in KNOWN.named_boots if id_ in boot.measures]
    assert {boot.group for boot in boots} <= {KNOWN.benchmarks[id_].group}
    assert sorted(boot.scene for boot in boots) == definitions(2)[id_].scenes


def test_what_version_1_lacks_has_its_reason() -> None:
    skipped = {id_: d.skip for id_, d in definitions(1).items() if d.skip}
    assert "syscall.yield_no_wait" in skipped
    assert all("version 1" in reason for reason in skipped.values())


def test_the_page_names_every_benchmark_and_no_other() -> None:
    text = (paths.ROOT / "docs" / "benchmarks.md").read_text()
    named = set(re.findall(rf"`((?:{'|'.join(KNOWN.groups())})\.[a-z_]+)`", text))
    assert named == set(KNOWN.benchmarks)
