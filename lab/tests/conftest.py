# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The fixtures that the lab's tests share with the product's unit tests."""

from tockmark.tests.conftest import catalogue, log

__all__ = ["catalogue", "log"]
