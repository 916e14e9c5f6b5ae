# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The catalogue (apps/catalogue.toml): what every benchmark means, and which rows to expect."""

import hashlib
import itertools
import tomllib
from dataclasses import dataclass
from pathlib import Path

from tockmark import paths
from tockmark.errors import TockmarkError

SECTIONS = (  # the order of the tables
    "Processor and system calls",
    "Procedure calls and loops",
    "Memory latencies",
    "Memory bandwidths",
)
OVERHEAD = "time.read"  # what a reading itself costs; every app measures it for itself

Params = dict[str, int | str]


@dataclass(frozen=True)
class Benchmark:
    """One entry of the catalogue."""

    id: str
    section: str
    samples: int
    inner: int
    what: str
    counts: str
    params: dict[str, list[int | str]]
    unit: str = "call"
    bytes: str | None = None  # the parameter that holds the bytes moved in a sample

    @property
    def group(self) -> str:
        return self.id.partition(".")[0]

    def variants(self) -> list[Params]:
        """Every combination of the parameters, in the catalogue's order."""
        names = list(self.params)
        return [
            dict(zip(names, values, strict=True))
            for values in itertools.product(*self.params.values())
        ]


@dataclass(frozen=True)
class Catalogue:
    """All benchmarks, by id, in order."""

    benchmarks: dict[str, Benchmark]
    sha256: str

    def groups(self) -> list[str]:
        """The groups, which are the apps, in the catalogue's order."""
        return list(dict.fromkeys(benchmark.group for benchmark in self.benchmarks.values()))

    def sections(self) -> list[str]:
        """The sections that have rows: the usual ones first."""
        found = dict.fromkeys(benchmark.section for benchmark in self.benchmarks.values())
        return [s for s in SECTIONS if s in found] + [s for s in found if s not in SECTIONS]

    def expected(self, app: str) -> list[tuple[str, Params]]:
        """The rows that an app must give, the read overhead first."""
        rows: list[tuple[str, Params]] = [(OVERHEAD, {})]
        for benchmark in self.benchmarks.values():
            if benchmark.group == app and benchmark.id != OVERHEAD:
                rows += [(benchmark.id, params) for params in benchmark.variants()]
        return rows


def load(path: Path = paths.CATALOGUE) -> Catalogue:
    """Read and check the catalogue."""
    try:
        data = path.read_bytes()
        entries = tomllib.loads(data.decode())["benchmark"]
        benchmarks = [Benchmark(**{"params": {}, **entry}) for entry in entries]
    except OSError as error:
        raise TockmarkError(
            f"cannot read the catalogue {paths.shown(path)}: {error.strerror}",
            "run the tool from a checkout of tockmark",
        ) from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, KeyError, TypeError) as error:
        raise TockmarkError(
            f"{paths.shown(path)} does not follow the catalogue's form: {error}"
        ) from error
    by_id = {benchmark.id: benchmark for benchmark in benchmarks}
    if len(by_id) != len(benchmarks):
        raise TockmarkError(f"{paths.shown(path)} has an id twice")
    return Catalogue(by_id, hashlib.sha256(data).hexdigest())


def label(id_: str, params: Params) -> str:
    """How a row is named everywhere: the id, then its parameters."""
    return " ".join([id_, *(f"{name}={value}" for name, value in params.items())])
