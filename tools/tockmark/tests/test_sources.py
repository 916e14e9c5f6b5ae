# SPDX-License-Identifier: Apache-2.0 OR MIT
"""A product is used only if its sources have not changed."""

import os
from pathlib import Path

import pytest

from tockmark.base import paths
from tockmark.base.errors import TockmarkError
from tockmark.target import sources


@pytest.fixture
def product(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a stamped kernel that was just built from two source folders."""
    monkeypatch.setattr(paths, "ROOT", tmp_path)
    for call in (sources.check, sources.digest):
        call.cache_clear()
    (tmp_path / "kernel" / "src").mkdir(parents=True)
    (tmp_path / "driver").mkdir()
    (tmp_path / "kernel" / "src" / "main.rs").write_text("nop\n")
    built = tmp_path / "build" / "kernel"
    built.parent.mkdir()
    built.write_text("ELF")
    os.utime(built, (1, 1))
    sources.write_stamp("kernel+driver", built)
    sources.digest.cache_clear()
    return built


def change(product: Path, name: str, text: str) -> None:
    (product.parent.parent / name).write_text(text)


def test_a_product_of_the_current_sources_is_accepted(product: Path) -> None:
    sources.check(product)


@pytest.mark.parametrize(
    "name", ["kernel/src/main.rs", "kernel/src/more.S", "driver/main.c", "Cargo.lock"]
)
def test_a_changed_source_is_reported(product: Path, name: str) -> None:
    change(product, name, "nop\nnop\n")
    with pytest.raises(TockmarkError, match="sources") as caught:
        sources.check(product)
    assert "make build" in str(caught.value)


@pytest.mark.parametrize("name", ["kernel/README.md", "README.md", "kernel/.swap"])
def test_other_files_do_not_matter(product: Path, name: str) -> None:
    change(product, name, "words\n")
    sources.check(product)


def test_a_product_that_somebody_else_built_is_not_checked(product: Path) -> None:
    """It has no stamp, or is newer than its stamp."""
    change(product, "kernel/src/main.rs", "nop\nnop\n")
    os.utime(product)
    os.utime(sources.stamp_path(product), (2, 2))
    sources.check(product)
    sources.check.cache_clear()
    os.utime(product, (1, 1))
    sources.stamp_path(product).unlink()
    sources.check(product)
