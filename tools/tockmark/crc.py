# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The checksum that ends every line of a log that has numbers in it."""

import binascii


def crc16(data: bytes) -> int:
    """CRC-16/CCITT-FALSE: polynomial 0x1021, initial value 0xffff, nothing reflected."""
    return binascii.crc_hqx(data, 0xFFFF)
