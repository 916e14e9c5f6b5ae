# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Compare the boot manifest with OpenTitan's published format, field by field."""

import struct

from hypothesis import given
from hypothesis import strategies as st

from tockmark.target.image import MANIFEST_SIZE as SIZE
from tockmark.target.image import boot_manifest

BASE = 0x2000_0000
# Offset and size in bytes, copied by hand from the assertions and types of manifest.h
# (earlgrey_es), so that they are independent of our code.
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
    """Read the fields at their published offsets."""
    fields: dict[str, int | bytes] = {}
    for name, (offset, size) in PUBLISHED.items():
        piece = raw[offset : offset + size]
        fields[name] = struct.unpack(NUMBER[size], piece)[0] if size in NUMBER else piece
    return fields


def manifest_fields(
    *segments: tuple[int, bytes], entry: int = BASE + SIZE
) -> dict[str, int | bytes]:
    return read(boot_manifest(segments, entry, BASE))


def test_the_published_fields_fill_the_manifest() -> None:
    """The published fields have no gap and no overlap."""
    ends = [0]
    for offset, size in PUBLISHED.values():
        assert offset == ends[-1]
        ends.append(offset + size)
    assert ends[-1] == SIZE == 1024


def test_every_field_has_its_value() -> None:
    """The values are copied from the description of the format."""
    code, data = b"\x13\0\0\0" * 25, b"abcde"
    assert manifest_fields((BASE + 0x400, code), (BASE + 0x464, data), entry=BASE + 0x408) == {
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


def rom_accepts(fields: dict[str, int | bytes]) -> bool:
    """Apply the checks of the ROM of the product, except the signature."""
    sizes = ("length", "signed_region_end", "code_start", "code_end", "entry_point")
    length, signed, start, end, entry = (int(fields[name]) for name in sizes)
    return (
        fields["identifier"] == 0x4552544F
        and fields["manifest_version.major"] == 0x71C3
        and fields["address_translation"] in (0x739, 0x1D4)
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
def test_the_rom_accepts_the_manifest_of_any_kernel(
    gap: int, sizes: list[int], word: int, base: int
) -> None:
    segments, at = [], base + SIZE + 4 * gap
    for size in sizes:
        segments.append((at, b"x" * size))
        at += size + gap
    end = segments[-1][0] + sizes[-1]
    entry = segments[0][0] + 4 * (word % -(-sizes[0] // 4))
    fields = read(boot_manifest(segments, entry, base))
    assert rom_accepts(fields)
    assert fields["entry_point"] == entry - base
    assert 0 <= int(fields["length"]) - (end - base) < 4
    assert boot_manifest(reversed(segments), entry, base) == boot_manifest(segments, entry, base)
