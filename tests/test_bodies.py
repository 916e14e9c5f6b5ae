# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The site shows the bodies of the built apps. Needs the products of `make build`."""

import pytest

import bodies
from tockmark.site import pages
from tockmark.suite import catalogue


def test_the_file_has_the_bodies_of_the_apps() -> None:
    assert {pages.BODIES: pages.BODIES.read_bytes()} == bodies.generate()


def test_every_body_of_the_catalogue_is_listed_for_each_interface() -> None:
    bodies_by_name = pages.load_bodies()
    expected: dict[str, set[int]] = {}
    for benchmark in catalogue.load().benchmarks.values():
        for name in benchmark.bodies:
            expected.setdefault(name, set()).update({2} if benchmark.skip_v1 else {1, 2})
    for name, abis in expected.items():
        assert abis == {abi for body in bodies_by_name[name] for abi in body.abis}, name


def test_a_listing_begins_each_line_with_the_offset() -> None:
    (body,) = pages.load_bodies()["tm_loop_alternating"]
    lines = body.listing.splitlines()
    assert lines[0].split() == ["0", "add", "sp,", "sp,", "-16"]
    assert [line.split() for line in lines if "bnez" in line] == [
        ["c", "bnez", "a5,", "10"],
        ["18", "bnez", "a0,", "8"],
    ]
    assert lines[-1].split() == ["1e", "ret"]


@pytest.mark.parametrize("name", ["tm_flash_chain", "tm_call_args_10"])
def test_equal_instructions_are_counted_and_calls_are_named(name: str) -> None:
    (body,) = pages.load_bodies()[name]
    texts = {"tm_flash_chain": "the same 63 times more", "tm_call_args_10": "tm_procedure_args_10"}
    assert texts[name] in body.listing
