"""CRC-32C, slow and without dependencies."""

from __future__ import annotations


def checksum(data: bytes) -> int:
    """Return the CRC-32C (RFC 3720, appendix B.4)."""
    value = 0xFFFFFFFF
    for byte in data:
        value = _TABLE[(value ^ byte) & 0xFF] ^ (value >> 8)
    return value ^ 0xFFFFFFFF


def _table() -> list[int]:
    entries = []
    for number in range(256):
        for _ in range(8):
            number = number >> 1 ^ (0x82F63B78 if number & 1 else 0)
        entries.append(number)
    return entries


_TABLE = _table()
