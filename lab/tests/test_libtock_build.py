# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Builds the apps with a libtock-c (`make apps LIBTOCK_C=DIR`).

The library here is our stand-in with the same functions, so the build is tested without libtock-c.
Needs `make build`."""

import subprocess
import sys
from pathlib import Path

import pytest
from products import called

from tockmark.base import paths
from tockmark.result import file

HEADER = """
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
typedef void(subscribe_upcall)(int, int, int, void *);
typedef enum { TOCK_SYSCALL_FAILURE = 0, TOCK_SYSCALL_SUCCESS = 128 } syscall_rtype_t;
typedef enum { TOCK_STATUSCODE_SUCCESS = 0, TOCK_STATUSCODE_FAIL = 1 } statuscode_t;
typedef struct { syscall_rtype_t type; uint32_t data[3]; } syscall_return_t;
typedef struct {
    bool success; subscribe_upcall *callback; void *userdata; statuscode_t status;
} subscribe_return_t;
typedef struct { bool success; void *ptr; size_t size; statuscode_t status; } allow_rw_return_t;
typedef struct {
    bool success; const void *ptr; size_t size; statuscode_t status;
} allow_ro_return_t;
typedef struct { statuscode_t status; uintptr_t data; } memop_return_t;
typedef struct { uint32_t data0, data1, data2; } yield_waitfor_return_t;
void yield(void);
int yield_no_wait(void);
yield_waitfor_return_t yield_wait_for(uint32_t, uint32_t);
void tock_exit(uint32_t);
syscall_return_t command(uint32_t, uint32_t, int, int);
subscribe_return_t subscribe(uint32_t, uint32_t, subscribe_upcall *, void *);
allow_rw_return_t allow_readwrite(uint32_t, uint32_t, void *, size_t);
allow_ro_return_t allow_readonly(uint32_t, uint32_t, const void *, size_t);
memop_return_t memop(uint32_t, uintptr_t);
"""

# Uses the suite's own calls; `stray` is a part of a library that must not be linked.
SOURCE = """
#include "tock.h"
#define tock_exit theirs
#include "libtock/tock.h"
void nowhere(void);
void stray(void) { nowhere(); }
static struct tock_return last;
void yield(void) { tock_yield_wait(); }
int yield_no_wait(void) { return tock_yield_no_wait(); }
yield_waitfor_return_t yield_wait_for(uint32_t driver, uint32_t number) {
    last = tock_yield_wait_for(driver, number);
    return (yield_waitfor_return_t){last.variant, last.word[0], last.word[1]};
}
syscall_return_t command(uint32_t driver, uint32_t number, int first, int second) {
    last = tock_command(driver, number, first, second);
    return (syscall_return_t){last.variant, {last.word[0], last.word[1], last.word[2]}};
}
subscribe_return_t subscribe(uint32_t driver, uint32_t number, subscribe_upcall *call, void *data) {
    last = tock_subscribe(driver, number, (tock_upcall *)call, data);
    return (subscribe_return_t){!tock_failed(last), (subscribe_upcall *)last.word[0], 0, 0};
}
allow_rw_return_t allow_readwrite(uint32_t driver, uint32_t number, void *at, size_t size) {
    last = tock_allow_rw(driver, number, at, size);
    return (allow_rw_return_t){!tock_failed(last), (void *)last.word[0], last.word[1], 0};
}
allow_ro_return_t allow_readonly(uint32_t driver, uint32_t number, const void *at, size_t size) {
    last = tock_allow_ro(driver, number, at, size);
    return (allow_ro_return_t){!tock_failed(last), (void *)last.word[0], last.word[1], 0};
}
memop_return_t memop(uint32_t operation, uintptr_t argument) {
    last = tock_memop(operation, argument);
    return (memop_return_t){tock_failed(last), last.word[0]};
}
"""


def make(root: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return called("-s", "-f", "apps/build.mk", f"OUT={root / 'apps'}", *arguments)


@pytest.fixture(scope="module")
def apps(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build the apps with the stand-in."""
    root = tmp_path_factory.mktemp("libtock")
    library = root / "libtock-c" / "libtock"
    archive = library / "build" / "rv32imc" / "libtock.a"
    archive.parent.mkdir(parents=True)
    (library / "tock.h").write_text(HEADER)
    (root / "tock.c").write_text(SOURCE)
    prefix, object_ = "riscv64-unknown-elf-", str(root / "tock.o")
    flags = ["-march=rv32imc", "-mabi=ilp32", "-Os", "-ffunction-sections", "-w", "-DTM_ABI=2"]
    includes = ["-Iapps/runtime", "-Iapps/asm", f"-I{library.parent}", "--specs=picolibc.specs"]
    compiler = [f"{prefix}gcc", *flags, *includes, "-c", str(root / "tock.c"), "-o", object_]
    subprocess.run(compiler, cwd=paths.ROOT, check=True)
    subprocess.run([f"{prefix}ar", "rcs", str(archive), object_], check=True)
    done = make(root, "ABI=2", f"LIBTOCK_C={library.parent}")
    assert done.returncode == 0, done.stderr
    return root / "apps-libtock"


def test_the_librarys_instructions_are_counted(apps: Path, tmp_path: Path) -> None:
    counted = {}
    for name, more in (("raw", []), ("library", ["--apps", str(apps)])):
        out = tmp_path / f"{name}.json"
        command = [sys.executable, "-m", "tockmark", "run", "--only", "upcall", "--icache", "off"]
        subprocess.run([*command, "-o", str(out), *more], cwd=paths.ROOT, check=True)
        result = file.load(out)
        assert not result.incomplete
        assert ("libtock-c" in result.provenance.app_values("cc")[0]) == (name == "library")
        upcalls = [row for row in result.rows if row.id.startswith("upcall.")]
        counted[name] = {row.id: row.instructions or 0 for row in upcalls}
    assert counted["raw"].keys() == counted["library"].keys()
    for id_, raw in counted["raw"].items():
        assert 5 < counted["library"][id_] - raw < 100, id_


def test_a_library_without_yield_wait_for_is_refused(tmp_path: Path) -> None:
    """Releases 2.0 and 2.1 of libtock-c have none."""
    archive = tmp_path / "libtock" / "build" / "rv32imc" / "libtock.a"
    archive.parent.mkdir(parents=True)
    archive.touch()
    (tmp_path / "libtock" / "tock.h").write_text(HEADER.replace("yield_wait_for", "yield_for"))
    done = make(tmp_path, "ABI=2", f"LIBTOCK_C={tmp_path}")
    assert done.returncode != 0
    assert "f25a2b29" in done.stderr
    assert done.stderr.count("\n") == 1


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("ABI=3",), "there is no version 3 of the system-call interface"),
        (
            ("ABI=2", "LIBTOCK_C=/nowhere"),
            "/nowhere/libtock/build/rv32imc/libtock.a does not exist",
        ),
    ],
)
def test_an_impossible_build_is_refused(
    tmp_path: Path, arguments: tuple[str, ...], message: str
) -> None:
    done = make(tmp_path, *arguments)
    assert done.returncode != 0
    assert message in done.stderr
    assert done.stderr.count("\n") == 1
