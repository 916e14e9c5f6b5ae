# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Simulate boots on the workers of a Dask cluster: `tockmark run --dask ADDRESS`.

The workers belong to the user, who trusts them. Each needs the same version of tockmark, and
receives the simulator and the images as bytes. Connections use the settings of Dask, such as TLS.
"""

import atexit
import functools
import hashlib
import logging
import socket
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import CancelledError
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec.structs import replace

import tockmark
from tockmark.base.errors import TockmarkError, one_line
from tockmark.target.protocol import LostError, Session
from tockmark.wire.captured import Captured, Ending

if TYPE_CHECKING:
    from distributed import Client, Future

CONNECT = 30  # seconds for the scheduler to answer, and for a first worker to appear
ALONE = 60.0  # seconds without any worker, after which a run ends
LOOK = 5.0  # seconds between two checks of the number of workers
DEATHS = 3  # of workers during the same boot, after which a run ends
STOPPED = Captured((), ending=Ending(killed=True))  # the state of a boot until it ends
Files = Mapping[str, bytes]  # by name
Begin = Callable[[Path, Path], Session]  # starts a boot, given a simulator and a folder of files

_lock = threading.Lock()  # for the simulators that a worker writes


@dataclass
class RemoteBoot:
    """A boot that waits for a worker, runs there, or has ended."""

    client: "Client"
    future: "Future[Captured]"
    program: "Future[bytes]"  # the simulator: kept here, so that it is sent only once
    captured: Captured = STOPPED
    stopped: bool = False

    @property
    def cycles(self) -> int:
        return self.ending().cycles

    def lines(self) -> Iterator[str]:
        """Yield all that the boot printed, once it has ended. LostError if no worker can end it."""
        from distributed import KilledWorker

        last_seen = time.monotonic()  # when there was a worker
        while True:
            try:
                self.captured = self.future.result(timeout=LOOK)
                break
            except TimeoutError:
                last_seen = time.monotonic() if self.client.nthreads() else last_seen
                if time.monotonic() - last_seen > ALONE:
                    raise LostError("the Dask cluster has no worker left") from None
            except (CancelledError, KilledWorker, OSError) as error:
                if self.stopped:
                    break
                died = f"{DEATHS} Dask workers died while they simulated this boot"
                problem = died if isinstance(error, KilledWorker) else f"Dask: {one_line(error)}"
                raise LostError(problem) from error
        yield from self.captured.lines

    def stop(self) -> None:
        """Give the boot up. A worker that has started it still runs it to its end."""
        self.stopped = True
        self.future.cancel()

    def ending(self) -> Ending:
        assert self.captured.ending is not None
        return self.captured.ending


def start(client: "Client", begin: Begin, simulator: bytes, files: Files) -> RemoteBoot:
    """Queue a boot. The simulator is a separate task, which Dask repeats if its result is lost."""
    program = client.submit(bytes, simulator)
    future = client.submit(simulate, begin, program, files, pure=False)
    return RemoteBoot(client, future, program)


def simulate(begin: Begin, simulator: bytes, files: Files) -> Captured:
    """Run a boot to its end on a worker."""
    with tempfile.TemporaryDirectory() as folder:
        for name, content in files.items():
            Path(folder, name).write_bytes(content)
        with _lock:
            path = _simulator_file(simulator)
        session = begin(path, Path(folder))
        lines, ending = tuple(session.lines()), session.ending()
    return Captured(lines, ending=replace(ending, host=socket.gethostname()))


@functools.cache
def _simulator_file(simulator: bytes) -> Path:
    """Write a simulator to a file of this worker, once: it cannot run while it is written."""
    from distributed import get_worker

    path = Path(get_worker().local_directory, hashlib.sha256(simulator).hexdigest())
    path.write_bytes(simulator)
    path.chmod(0o700)
    return path


@functools.cache
def connect(address: str) -> "Client":
    """Return the client of a scheduler. TockmarkError if its workers cannot be used."""
    try:
        from distributed import Client
    except ImportError as error:
        problem = "--dask needs a package that is not installed"
        raise TockmarkError(problem, "run `pip install 'tockmark[dask]'`") from error
    for name in ("distributed", "distributed.client"):
        logging.getLogger(name).setLevel(logging.CRITICAL)
    try:
        client = Client(address, timeout=CONNECT, set_as_default=False)
        client.wait_for_workers(1, timeout=CONNECT)
        versions = client.run(lambda: __import__("tockmark").__version__, on_error="return")
        client.run_on_scheduler(
            lambda dask_scheduler: setattr(dask_scheduler, "allowed_failures", DEATHS - 1)
        )
    except (OSError, TypeError, ValueError) as error:
        problem = f"no Dask cluster answers at {one_line(address)}: {one_line(error)}"
        raise TockmarkError(problem, "give the address of a scheduler with workers") from error
    atexit.register(client.close)
    for worker, version in versions.items():
        if version != tockmark.__version__:
            problem = f"the Dask worker {worker} has tockmark {one_line(version)}"
            raise TockmarkError(problem, f"install tockmark {tockmark.__version__} there")
    return client
