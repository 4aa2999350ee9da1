"""Change stored bytes at random, and read them with compiled code and with Python.

``python scripts/fuzz_native.py [--seconds 60] [--seed 0]``.  Chunks, headers of compressors and
indexes of shards are changed, some with a correct checksum.  Both readers must return the same
elements, or both must raise the same error.  ``make sanitize`` runs it with the address and
undefined behaviour sanitizers.
"""

from __future__ import annotations

import argparse
import time
from typing import TYPE_CHECKING, Any

import google_crc32c
import numpy as np
import zarr_core as zarr
from zarr_core.errors import ZarrError
from zarr_native import processed_chunks
from zarr_native.executor import Executor

if TYPE_CHECKING:
    from collections.abc import Iterator

CHAINS: tuple[list[str], ...] = (
    [], ["crc32c"], ["zstd"], ["blosc"], ["numcodecs.lz4"], ["gzip"], ["numcodecs.zlib"],
    ["numcodecs.shuffle", "zstd", "crc32c"], ["blosc", "zstd"],
)  # fmt: skip
DATA = np.arange(24 * 24, dtype="int32").reshape(24, 24) % 50
Stored = dict[str, bytes]


def main(arguments: list[str] | None = None) -> int:
    """Run until the time is over; return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args(arguments)
    cases, read = fuzz(options.seconds, options.seed)
    print(f"{cases} cases, {read} chunks and shards read by compiled code, no difference")
    return 0


def fuzz(seconds: float, seed: int) -> tuple[int, int]:
    """Compare both readers; return the numbers of cases and of natively read stored objects.

    Raises an AssertionError at the first difference.
    """
    rng = np.random.default_rng(seed)
    before = processed_chunks()[0]
    cases = 0
    with zarr.override_extensions({"native": {"default": Executor}}):
        originals = list(arrays())
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            original = originals[rng.integers(len(originals))]
            stored = dict(original)
            keys = [key for key in stored if key != "zarr.json"]
            key = keys[rng.integers(len(keys))]
            stored[key] = mutated(rng, stored[key])
            compare(stored, rng, f"seed {seed}, case {cases}, {key}")
            cases += 1
    return cases, processed_chunks()[0] - before


def arrays() -> Iterator[Stored]:
    """Yield the stored bytes of arrays with all chains, with and without shards."""
    for chain in CHAINS:
        for shards, location in ((None, ""), ((24, 24), "end"), ((12, 24), "start")):
            options: dict[str, Any] = {"chunks": (6, 8), "compressors": chain, "shards": shards}
            if location == "start":
                options["shards"] = {"shape": shards, "index_location": location}
            stored: Stored = {}
            zarr.create_array(stored, data=DATA, **options)
            yield {key: bytes(value) for key, value in stored.items()}


def mutated(rng: np.random.Generator, value: bytes) -> bytes:
    """Change some bytes: single ones, numbers of a header or index, or the length."""
    data = bytearray(value)
    for _ in range(rng.integers(1, 4)):
        if not data:
            break
        at = int(rng.integers(len(data)))
        kind = rng.integers(7)
        if kind == 0:
            data[at] ^= 1 << int(rng.integers(8))
        elif kind == 1:
            data[min(at, 19)] = int(rng.integers(256))  # headers are at the start
        elif kind == 2:
            del data[at:]
        elif kind == 3:
            data += rng.bytes(int(rng.integers(1, 40)))
        elif kind == 4:  # an entry of an index at the end
            place = max(0, len(data) - 4 - 8 * int(rng.integers(1, 25)))
            numbers = (0, 1, 2**31, 2**63 - 1, 2**63, 2**64 - 1, len(data))
            number = numbers[rng.integers(len(numbers))]
            data[place : place + 8] = number.to_bytes(8, "little")
        elif kind == 5:  # an entry of an index at the start
            place = 8 * int(rng.integers(12))
            data[place : place + 8] = int(rng.integers(len(data) + 9)).to_bytes(8, "little")
        else:  # a correct checksum at the end, over an index of 12 entries
            for length in (12 * 16, len(data) - 4):
                if 0 <= length <= len(data) - 4:
                    body = bytes(data[len(data) - 4 - length : len(data) - 4])
                    data[-4:] = google_crc32c.value(body).to_bytes(4, "little")
    return bytes(data)


def compare(stored: Stored, rng: np.random.Generator, where: str) -> None:
    """Read with and without compiled code; raise an AssertionError if the results differ."""
    low = rng.integers(0, 23, 2)
    high = low + rng.integers(1, 24, 2)
    box = tuple(slice(int(a), int(b)) for a, b in zip(low, high, strict=True))
    for selection in (..., box):
        found = [outcome(stored, native, selection) for native in ("auto", "off")]
        assert found[0] == found[1], f"{where}: {found[0][:2]} instead of {found[1][:2]}"


def outcome(stored: Stored, native: str, selection: Any) -> tuple[str, str, bytes]:
    """The elements, or the class and message of the error."""
    with zarr.config.set(native=native, threads=2):
        try:
            return "", "", zarr.open_array(zarr.MemoryStore(stored))[selection].tobytes()
        except ZarrError as error:
            return type(error).__name__, str(error), b""


if __name__ == "__main__":
    raise SystemExit(main())
