# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The checksum that ends every line of a log that has numbers in it."""

import binascii


def crc16(data: bytes) -> int:
    """CRC-16/CCITT-FALSE: polynomial 0x1021, initial value 0xffff, nothing reflected."""
    return binascii.crc_hqx(data, 0xFFFF)


def sealed(head: str) -> str:
    """A line of the log: what it says, up to the space behind it, and the checksum of that."""
    return f"{head}*{crc16(head.encode('ascii')):04x}"
