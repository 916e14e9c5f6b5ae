# SPDX-License-Identifier: Apache-2.0 OR MIT
"""This runs simulations on a cluster of the user's, by Dask: `tockmark run --cluster tcp://…:8786`.

A worker needs Python and Dask only: the code (cluster_worker.py), the simulator and the image
travel to it, and the log comes back. What a lost worker had begun, the scheduler gives to another.
"""

import atexit
import contextlib
import functools
import hashlib
import importlib
import logging
import os
import sys
import threading
import time
import warnings
import zlib
from concurrent.futures import CancelledError
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from elftools.common.exceptions import ELFError
from elftools.elf.elffile import ELFFile

from tockmark.errors import INCOMPLETE, TockmarkError, one_line
from tockmark.paths import shown
from tockmark.rig import cluster_worker

CONNECT = 10.0  # seconds for the scheduler to answer, and for the first worker to be there
LOOK = 5.0  # seconds between looks whether there still is a worker
PATIENCE = 60.0  # seconds without any worker


@dataclass
class ClusterRun:
    """A simulation under way somewhere on a cluster."""

    cluster: "Cluster"
    future: Any  # of Dask
    _stopped: threading.Event = field(default_factory=threading.Event)

    def outcome(self) -> cluster_worker.Outcome | None:
        """Wait for what comes of it; None if it was stopped. TockmarkError if it is lost."""
        alone = None
        while not self._stopped.is_set():
            try:
                found: cluster_worker.Outcome = self.future.result(timeout=LOOK)
                return found
            except TimeoutError:
                alone = None if self.cluster.threads() else alone or time.monotonic()
                if alone and time.monotonic() - alone > PATIENCE:
                    raise self._lost(f"no worker is left since {PATIENCE:.0f} s") from None
            except (CancelledError, Exception) as error:
                if not self._stopped.is_set():
                    raise self._lost(f"{type(error).__name__}: {error}") from error
        return None

    def stop(self) -> None:
        """Give it up: it does not begin any more, or nobody takes what it prints."""
        self._stopped.set()
        self.future.cancel()

    def _lost(self, why: str) -> TockmarkError:
        return TockmarkError(
            f"{self.cluster.address} did not simulate it: {one_line(why)[:200]}",
            "run it again: what was simulated is kept",
            INCOMPLETE,
        )


@dataclass(frozen=True)
class Cluster:
    """A scheduler that answers."""

    address: str
    client: Any  # of Dask

    def threads(self) -> int:
        """Return how many simulations it runs at a time; 0 if it does not answer."""
        try:
            return sum(self.client.nthreads().values())
        except Exception:  # of the network, of any kind
            return 0

    def run(self, simulator: Path, flash: Path, options: tuple[str, ...]) -> ClusterRun:
        """Begin a simulation. TockmarkError if it cannot be sent."""
        try:
            program, image = simulator.read_bytes(), zlib.compress(flash.read_bytes(), 1)
            name = f"tockmark-simulator-{hashlib.sha256(program).hexdigest()}"
            # As a task of its own it is sent once, and made again if whoever held it is lost.
            held = self.client.submit(bytes, _packed(program), key=name)
            future = self.client.submit(cluster_worker.simulate, held, image, options, pure=False)
        except Exception as error:
            raise TockmarkError(
                f"{self.address} takes nothing: {one_line(error)}", "look after it", INCOMPLETE
            ) from error
        return ClusterRun(self, future)


@functools.lru_cache(maxsize=8)
def connect(address: str) -> Cluster:
    """Return the cluster whose scheduler is there. TockmarkError if it cannot be used."""
    try:
        distributed = importlib.import_module("distributed")
    except ImportError as error:
        raise TockmarkError(f"--cluster needs Dask: {error}", "run `make setup`") from error
    logging.getLogger("distributed").setLevel(logging.CRITICAL)  # one line of ours says it
    # Dask sends by value what is of no module that a worker could import.
    cluster_worker.simulate.__module__ = "__main__"
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # that workers have less than we have is as it should
            client = distributed.Client(address, timeout=CONNECT, set_as_default=False)
            with contextlib.ExitStack() as closing:
                closing.callback(client.close, timeout=CONNECT)
                client.wait_for_workers(1, timeout=CONNECT)
                _check_versions(address, client.get_versions())
                atexit.register(closing.pop_all().close)
    except TimeoutError as error:
        raise TockmarkError(
            f"{address} has no worker, or no scheduler", f"start one: `dask worker {address}`"
        ) from error
    except (OSError, ValueError) as error:
        raise TockmarkError(
            f"{address} is no Dask scheduler that answers: {one_line(error)}",
            "give --cluster tcp://HOST:PORT, as `dask scheduler` says it",
        ) from error
    return Cluster(address, client)


def at_a_time(address: str) -> int:
    """Return how many boots to have under way: one for each thread there, and one for each core
    here that lays the next ones."""
    return connect(address).threads() + (os.cpu_count() or 1)


def check_static(simulator: Path) -> None:
    """TockmarkError if a simulator would need libraries of the machine that it comes to."""
    try:
        with simulator.open("rb") as file:
            loaded = any(part["p_type"] == "PT_INTERP" for part in ELFFile(file).iter_segments())
    except ELFError:
        loaded = False  # no program of this kind, but one that runs may be a script
    if loaded:
        raise TockmarkError(
            f"{shown(simulator)} is linked to libraries, which workers may not have",
            "build it anew with `make sim`",
        )


def _check_versions(address: str, versions: dict[str, Any]) -> None:
    """TockmarkError where another minor version of Python runs: it cannot take code by value."""
    own = "{}.{}".format(*sys.version_info)
    for one in (versions["scheduler"], *versions["workers"].values()):
        theirs = ".".join(one["host"]["python"].split(".")[:2])
        if theirs != own:
            raise TockmarkError(
                f"{address} runs Python {theirs}, and this is {own}",
                "use one version for all, as Dask asks for",
            )


@functools.lru_cache(maxsize=4)
def _packed(program: bytes) -> bytes:
    return zlib.compress(program)
