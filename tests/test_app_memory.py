# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The apps' memcpy (apps/runtime/memory.c), compiled for the host as tm_memcpy."""

import ctypes
import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

SOURCE = Path(__file__).parents[1] / "apps" / "runtime" / "memory.c"
AREA = 200


@pytest.fixture(scope="session")
def code(tmp_path_factory: pytest.TempPathFactory) -> ctypes.CDLL:
    library = tmp_path_factory.mktemp("host") / "memory.so"
    strict = ["-std=c11", "-O3", "-fno-tree-loop-distribute-patterns", "-Wall", "-Wextra"]
    command = ["gcc", *strict, "-Dmemcpy=tm_memcpy", "-shared", "-fPIC", str(SOURCE)]
    subprocess.run([*command, "-o", str(library)], check=True)
    loaded = ctypes.CDLL(str(library))
    loaded.tm_memcpy.restype = ctypes.c_void_p
    loaded.tm_memcpy.argtypes = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t]
    return loaded


@given(
    data=st.binary(min_size=AREA, max_size=AREA),
    size=st.integers(0, 128),
    to=st.integers(0, 64),
    start=st.integers(0, 64),
)
def test_memcpy_writes_only_the_target_bytes(
    code: ctypes.CDLL, data: bytes, size: int, to: int, start: int
) -> None:
    source = ctypes.create_string_buffer(data, AREA)
    target = ctypes.create_string_buffer(b"\x5a" * AREA, AREA)
    returned = code.tm_memcpy(ctypes.addressof(target) + to, ctypes.addressof(source) + start, size)
    assert returned == ctypes.addressof(target) + to
    expected = b"\x5a" * to + data[start : start + size] + b"\x5a" * (AREA - to - size)
    assert target.raw == expected
