# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The boot manifest against the numbers that OpenTitan has published, field by field."""

import struct

from hypothesis import given
from hypothesis import strategies as st

from tockmark.target.image import MANIFEST_SIZE as SIZE
from tockmark.target.image import boot_manifest

BASE = 0x2000_0000
# Offset and size in bytes, copied by hand from the assertions and types of manifest.h
# (earlgrey_es): not computed, so that they can contradict what we lay.
PUBLISHED = {
    "rsa_signature": (0, 384),
    "selector_bits": (384, 4),
    "device_id": (388, 32),
    "manuf_state_creator": (420, 4),
    "manuf_state_owner": (424, 4),
    "life_cycle_state": (428, 4),
    "rsa_modulus": (432, 384),
    "address_translation": (816, 4),
    "identifier": (820, 4),
    "manifest_version.minor": (824, 2),
    "manifest_version.major": (826, 2),
    "signed_region_end": (828, 4),
    "length": (832, 4),
    "version_major": (836, 4),
    "version_minor": (840, 4),
    "security_version": (844, 4),
    "timestamp": (848, 8),
    "binding_value": (856, 32),
    "max_key_version": (888, 4),
    "code_start": (892, 4),
    "code_end": (896, 4),
    "entry_point": (900, 4),
    "extensions": (904, 120),
}
NUMBER = {2: "<H", 4: "<I"}


def read(raw: bytes) -> dict[str, int | bytes]:
    """The fields, from where they are published to lie."""
    found: dict[str, int | bytes] = {}
    for name, (offset, size) in PUBLISHED.items():
        piece = raw[offset : offset + size]
        found[name] = struct.unpack(NUMBER[size], piece)[0] if size in NUMBER else piece
    return found


def laid(*segments: tuple[int, bytes], entry: int = BASE + SIZE) -> dict[str, int | bytes]:
    return read(boot_manifest(segments, entry, BASE))


def test_the_published_fields_fill_the_manifest() -> None:
    """Of the copy above: no gap, no overlap."""
    ends = [0]
    for offset, size in PUBLISHED.values():
        assert offset == ends[-1]
        ends.append(offset + size)
    assert ends[-1] == SIZE == 1024


def test_every_field_has_its_value_in_its_place() -> None:
    """The values are written out here as the format's description has them."""
    code, data = b"\x13\0\0\0" * 25, b"abcde"
    assert laid((BASE + 0x400, code), (BASE + 0x464, data), entry=BASE + 0x408) == {
        "rsa_signature": bytes(384),
        "selector_bits": 0,
        "device_id": b"\xa5" * 32,
        "manuf_state_creator": 0xA5A5A5A5,
        "manuf_state_owner": 0xA5A5A5A5,
        "life_cycle_state": 0xA5A5A5A5,
        "rsa_modulus": bytes(384),
        "address_translation": 0x1D4,
        "identifier": 0x4552544F,
        "manifest_version.minor": 0x6C47,
        "manifest_version.major": 0x71C3,
        "signed_region_end": 0x46C,
        "length": 0x46C,
        "version_major": 0,
        "version_minor": 0,
        "security_version": 0,
        "timestamp": bytes(8),
        "binding_value": bytes(32),
        "max_key_version": 0,
        "code_start": 0x400,
        "code_end": 0x46C,
        "entry_point": 0x408,
        "extensions": bytes(120),
    }


def rom_takes(found: dict[str, int | bytes]) -> bool:
    """The checks of the ROM of the product, rule by rule, but for the signature."""
    sizes = ("length", "signed_region_end", "code_start", "code_end", "entry_point")
    length, signed, start, end, entry = (int(found[name]) for name in sizes)
    return (
        found["identifier"] == 0x4552544F
        and found["manifest_version.major"] == 0x71C3
        and found["address_translation"] in (0x739, 0x1D4)
        and 1024 <= length <= 0x10000
        and signed <= length
        and 1024 <= start < end <= signed
        and start <= entry < end
        and (start | end | entry) % 4 == 0
    )


@given(
    gap=st.integers(0, 16),
    sizes=st.lists(st.integers(1, 2000), min_size=1, max_size=4),
    word=st.integers(0, 499),
    base=st.sampled_from([BASE, 0x2008_0000, 0]),
)
def test_kernels_of_any_shape_get_what_the_rom_takes(
    gap: int, sizes: list[int], word: int, base: int
) -> None:
    segments, at = [], base + SIZE + 4 * gap
    for size in sizes:
        segments.append((at, b"x" * size))
        at += size + gap
    end = segments[-1][0] + sizes[-1]
    entry = segments[0][0] + 4 * (word % -(-sizes[0] // 4))
    found = read(boot_manifest(segments, entry, base))
    assert rom_takes(found)
    assert found["entry_point"] == entry - base
    assert 0 <= int(found["length"]) - (end - base) < 4
    assert boot_manifest(reversed(segments), entry, base) == boot_manifest(segments, entry, base)
