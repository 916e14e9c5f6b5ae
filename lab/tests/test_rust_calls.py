# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Builds the Rust apps with calls by a library: `CALLS=tock`, `LIBTOCK_RS=DIR`.

The libtock-rs here is our stand-in with the same items, on top of the crate tock, so the build is
tested without libtock-rs. Needs `make build`."""

import subprocess
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest
from products import called

from tockmark.base import paths
from tockmark.result import file
from tockmark.result.model import Result

PACKAGE = """
[package]
name = "{name}"
version = "0.1.0"
edition = "2021"
[dependencies]
tock = {{ path = "{root}/apps/rust/tock", package = "tockmark-tock" }}
{more}
[workspace]
"""

PLATFORM = """
#![no_std]
use core::cell::Cell;
use core::marker::PhantomData;
pub use tock::{share, AllowRo, AllowRw, CommandReturn, ErrorCode, Subscribe, YieldNoWaitReturn};
use share::Handle;

pub mod subscribe {
    pub struct AnyId;
    pub struct OneId<const DRIVER: u32, const NUMBER: u32>;
}
pub struct DefaultConfig;
pub trait Upcall<Ids> {
    fn upcall(&self, first: u32, second: u32, third: u32);
}
impl Upcall<subscribe::AnyId> for Cell<bool> {
    fn upcall(&self, _: u32, _: u32, _: u32) {
        self.set(true);
    }
}
#[repr(transparent)]
struct Called<U, Ids>(U, PhantomData<Ids>);
impl<U: Upcall<Ids>, Ids> tock::Upcall for Called<U, Ids> {
    fn upcall(&self, first: u32, second: u32, third: u32) {
        self.0.upcall(first, second, third);
    }
}
pub trait Syscalls: tock::Syscalls {
    fn command(driver: u32, number: u32, first: u32, second: u32) -> CommandReturn {
        <Self as tock::Syscalls>::command(driver, number, first, second)
    }
    fn yield_wait() {
        <Self as tock::Syscalls>::yield_wait()
    }
    fn yield_no_wait() -> YieldNoWaitReturn {
        <Self as tock::Syscalls>::yield_no_wait()
    }
    fn subscribe<'share, Ids: 'share, U: Upcall<Ids>, Config, const D: u32, const N: u32>(
        handle: Handle<'_, Subscribe<'share, Self, D, N>>,
        upcall: &'share U,
    ) -> Result<(), ErrorCode> {
        let called = unsafe { &*(upcall as *const U).cast::<Called<U, Ids>>() };
        <Self as tock::Syscalls>::subscribe(handle, called)
    }
    fn allow_rw<'share, Config, const D: u32, const N: u32>(
        handle: Handle<'_, AllowRw<'share, Self, D, N>>,
        buffer: &'share mut [u8],
    ) -> Result<(), ErrorCode> {
        <Self as tock::Syscalls>::allow_rw(handle, buffer)
    }
    fn allow_ro<'share, Config, const D: u32, const N: u32>(
        handle: Handle<'_, AllowRo<'share, Self, D, N>>,
        buffer: &'share [u8],
    ) -> Result<(), ErrorCode> {
        <Self as tock::Syscalls>::allow_ro(handle, buffer)
    }
    fn memop_increment_brk(bytes: u32) -> Result<*const u8, ErrorCode> {
        <Self as tock::Syscalls>::memop_increment_brk(bytes).map(|was| was.cast_const())
    }
}
impl<S: tock::Syscalls> Syscalls for S {}
"""

# The start-up code: a part of a library that must not be linked.
RUNTIME = """
#![no_std]
pub use tock::Kernel as TockSyscalls;
core::arch::global_asm!(
    ".section .start, \\"ax\\"\\n.globl start\\nstart: j rust_start\\n.previous"
);
#[no_mangle]
extern "C" fn rust_start() -> ! {
    extern "Rust" {
        fn libtock_unsafe_main() -> !;
    }
    unsafe { libtock_unsafe_main() }
}
"""

OF_ALL = "syscall,upcall,console.write"
ROWS = f"{OF_ALL},irq.upcall,ctx,ipc.share"
# The most instructions that a library may add to a sample, by version: a frame, checks of the
# result words (two in version 2, one in version 1), and the returned result (the study languages).
MOST = {1: 10, 2: 14}
AS_IT_COMES = ("syscall.command", "syscall.by_")  # version 1 does not check a counter
SKIPPED = {
    "syscall.memop": "libtock-rs has no memop that asks for the start of the flash",
    "syscall.brk": "libtock-rs has no safe brk",
    "upcall.yield_wait_for": "libtock-rs has no yield-wait-for",
    "ctx.ring": "libtock-rs has no IPC",
    "ipc.share": "libtock-rs has no IPC",
}


def make(root: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return called("-s", "-f", "apps/rust/build.mk", f"OUT={root / 'apps'}", *arguments)


def built(root: Path, *arguments: str) -> None:
    done = make(root, *arguments)
    assert done.returncode == 0, done.stderr


def run(apps: Path, abi: int, out: Path, only: str = ROWS) -> Result:
    command = [sys.executable, "-m", "tockmark", "run", "--abi", str(abi), "--apps", str(apps)]
    command += ["--lang", "rust"]
    more = ["--only", only, "--icache", "off", "-o", str(out)]
    done = subprocess.run([*command, *more], cwd=paths.ROOT, text=True, capture_output=True)
    assert done.returncode == 0, done.stderr
    result = file.load(out)
    assert not result.incomplete
    return result


def counted(result: Result) -> dict[str, float]:
    """Return the instructions of a sample by row, without rows that measure no call."""
    return {
        row.label: row.instructions
        for row in result.rows
        if row.instructions is not None and not (row.is_overhead or row.is_control)
    }


@pytest.fixture(scope="module")
def by_assembly(tmp_path_factory: pytest.TempPathFactory) -> Callable[[int], Result]:
    """Return the result of the apps of `make build`, by version."""
    out = tmp_path_factory.mktemp("raw")

    @cache
    def measured(abi: int) -> Result:
        apps = paths.ROOT / "build" / "apps" / f"rust-abi{abi}"
        return run(apps, abi, out / f"{abi}.json", OF_ALL)

    return measured


@pytest.fixture(scope="module", params=[1, 2])
def pair(
    request: pytest.FixtureRequest,
    tmp_path_factory: pytest.TempPathFactory,
    by_assembly: Callable[[int], Result],
) -> object:
    """Return the version, and the results by assembly and by the crate tock."""
    abi = request.param
    root = tmp_path_factory.mktemp(f"calls{abi}")
    built(root, f"ABI={abi}", "CALLS=tock")
    return abi, by_assembly(abi), run(root / "apps-tock", abi, root / "tock.json", OF_ALL)


def test_the_crates_instructions_are_counted(pair: tuple[int, Result, Result]) -> None:
    abi, raw, tock = pair
    before, after = counted(raw), counted(tock)
    assert before.keys() == after.keys()
    assert len(before) > 15
    for label, own in before.items():
        if abi == 1 and label.startswith(AS_IT_COMES) and "absent" not in label:
            assert after[label] == own, label
        else:
            assert 0 < after[label] - own <= MOST[abi], label


def test_the_apps_name_the_library_of_their_calls(pair: tuple[int, Result, Result]) -> None:
    _, raw, tock = pair
    assert not raw.provenance.app_values("cc")[0].endswith(" tock")
    assert tock.provenance.app_values("cc")[0].endswith(" tock")


def stand_in(root: Path) -> Path:
    """Make the folder of our stand-in for libtock-rs."""
    more = {"platform": "", "runtime": 'libtock_platform = { path = "../platform" }'}
    for name, source in (("platform", PLATFORM), ("runtime", RUNTIME)):
        (root / name / "src").mkdir(parents=True)
        package = PACKAGE.format(name=f"libtock_{name}", root=paths.ROOT, more=more[name])
        (root / name / "Cargo.toml").write_text(package)
        (root / name / "src" / "lib.rs").write_text(source)
    return root


def test_the_apps_run_with_a_libtock_rs(
    tmp_path: Path, by_assembly: Callable[[int], Result]
) -> None:
    built(tmp_path, f"LIBTOCK_RS={stand_in(tmp_path / 'libtock-rs')}")
    result = run(tmp_path / "apps-libtock", 2, tmp_path / "library.json")
    assert result.provenance.app_values("cc")[0].endswith(" libtock-rs")
    assert {gone.id: gone.why for gone in result.skipped} == SKIPPED
    before, after = counted(by_assembly(2)), counted(result)
    assert before.keys() - after.keys() == SKIPPED.keys() - {"ctx.ring", "ipc.share"}
    for label, own in after.items():
        assert 0 < own - before[label] <= MOST[2], label


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("LIBTOCK_RS=/nowhere",), "/nowhere has no platform/ and runtime/"),
        (("CALLS=c",), "CALLS=c is not available; use CALLS=tock"),
        (("CALLS=tock", "LIBTOCK_RS=/nowhere"), "exclude each other"),
    ],
)
def test_an_impossible_build_is_refused(
    tmp_path: Path, arguments: tuple[str, ...], message: str
) -> None:
    done = make(tmp_path, *arguments)
    assert done.returncode != 0
    assert message in done.stderr
    assert done.stderr.count("\n") == 1
