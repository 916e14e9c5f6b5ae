# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The boot manifest: the 0x400 bytes in front of a kernel by which Earl Grey's boot ROM finds its
entry.

The format is OpenTitan's public one, of the commit that Tock's CW310 board names (earlgrey_es,
edf5e35f5d): the fields and what they mean are declared in
`opentitan/sw/device/silicon_creator/lib/manifest.h`, the constants in `lib/base/chip.h` and
`sw/device/lib/base/hardened.h`. Two ROMs read it (docs/boards.md):

- the *test ROM* of FPGA bitstreams reads `address_translation` and `entry_point`, and jumps;
- the *ROM* of the product checks all of it and a signature, which nobody can make here: what
  `boot_manifest` gives is unsigned, and only the test ROM enters it.
"""

import struct
from collections.abc import Iterable
from dataclasses import dataclass, field, fields

from tockmark.errors import TockmarkError

SIZE = 0x400  # bytes
LONGEST = 0x10000  # bytes of an image in the first boot stage, itself included
IDENTIFIER = int.from_bytes(b"OTRE", "little")  # says: an image of the first boot stage
MINOR, MAJOR = 0x6C47, 0x71C3  # of the format
NO_TRANSLATION = 0x1D4  # "false", as OpenTitan hardens it against glitches
ANY_DEVICE = 0xA5A5A5A5  # in the place of a constraint that is not set
EXTENSIONS = 15  # places in the table of extensions, two words each


def _words(number: int, value: int = 0) -> tuple[int, ...]:
    return field(default=(value,) * number, metadata={"words": number})


@dataclass(frozen=True, kw_only=True)
class BootManifest:
    """All fields in the order in which they lie, without gaps: little-endian words of 4 bytes.

    Lengths and places are bytes from the start of the manifest."""

    rsa_signature: tuple[int, ...] = _words(96)  # of all that follows; none
    # Which of the constraints count, a bit each. None: the image may run on any chip.
    selector_bits: int = 0
    device_id: tuple[int, ...] = _words(8, ANY_DEVICE)
    manuf_state_creator: int = ANY_DEVICE
    manuf_state_owner: int = ANY_DEVICE
    life_cycle_state: int = ANY_DEVICE
    rsa_modulus: tuple[int, ...] = _words(96)  # of the key that signed; none
    address_translation: int = NO_TRANSLATION  # the image runs where it lies
    identifier: int = IDENTIFIER
    manifest_version: int = MAJOR << 16 | MINOR
    signed_region_end: int
    length: int  # of the image, the manifest included
    version_major: int = 0  # of the image, for its author
    version_minor: int = 0
    security_version: int = 0  # the oldest: protects from going back, and there is nothing to
    timestamp: tuple[int, ...] = _words(2)  # 1970: the same kernel gives the same image
    binding_value: tuple[int, ...] = _words(8)  # goes into keys, of which we use none
    max_key_version: int = 0
    code_start: int = SIZE  # what may be executed,
    code_end: int  # up to here, exclusive
    entry_point: int
    extensions: tuple[int, ...] = _words(2 * EXTENSIONS)

    def __bytes__(self) -> bytes:
        words: list[int] = []
        for item in fields(self):
            value = getattr(self, item.name)
            words += (value,) if isinstance(value, int) else value
        return struct.pack(f"<{len(words)}I", *words)


def boot_manifest(segments: Iterable[tuple[int, bytes]], entry: int, base: int) -> bytes:
    """The manifest of a kernel of these segments (address, content) in the flash that begins at
    `base`, entered at `entry`.

    Raises TockmarkError for a kernel to which the format, or the check of it in the ROM of the
    product (`manifest_check` and `boot_policy_manifest_check`), leaves no manifest."""
    segments = list(segments)
    for start, _ in segments:
        if start < base + SIZE:
            raise _none(f"it has a segment at {start:#x}", f"link it from {base + SIZE:#x} on")
    end = max((start + len(data) - base for start, data in segments), default=SIZE)
    length = -(-end // 4) * 4  # code ends at a word
    if length > LONGEST:
        raise _none(f"it ends {length} bytes into flash", f"make it {LONGEST} at most")
    if entry % 4 or not any(start <= entry < start + len(data) for start, data in segments):
        raise _none(f"its entry {entry:#x} is no word of its code", "see how it was linked")
    # Constants and initial data lie behind the code; one region has them all.
    return bytes(
        BootManifest(
            signed_region_end=length, length=length, code_end=length, entry_point=entry - base
        )
    )


def _none(why: str, todo: str) -> TockmarkError:
    return TockmarkError(f"this kernel cannot have a boot manifest: {why}", todo)
