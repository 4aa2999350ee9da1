"""Compare providers of the same codec: ``python -m benchmarks.providers``.

Every provider of a codec that has alternatives, those too, encodes a chunk at
some levels, then decodes what it wrote: megabytes a second of the chunk, best of several,
and how many bytes are stored for a hundred.
"""

from __future__ import annotations

import argparse
import sys
import time
from typing import TYPE_CHECKING, Any, cast

import numpy as np
import zarr_core as zarr
from zarr_core.extension import ExtensionDefinition, ZarrError, create_extension

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import ModuleType

LEVELS = (1, 5, 9)
CONFIGURATIONS: dict[str, tuple[dict[str, Any], ...]] = {
    **{
        name: tuple({"level": level} for level in LEVELS)
        for name in ("gzip", "numcodecs.gzip", "numcodecs.zlib")
    },
    "crc32c": ({},),
    "numcodecs.adler32": ({},),
    "numcodecs.crc32": ({},),
    "numcodecs.crc32c": ({},),
}
SECONDS = 0.3


def chunk(nbytes: int) -> bytes:
    """A wave with noise, rounded to one decimal."""
    count = nbytes // 4
    noise = np.random.default_rng(0).normal(size=count)
    return (np.sin(np.arange(count) / 50) * 100 + noise).round(1).astype("f4").tobytes()


def rate(call: Callable[[], object], nbytes: int) -> float:
    """Return the megabytes per second of the fastest call."""
    best, end = 9.0, time.perf_counter() + SECONDS
    while (start := time.perf_counter()) < end:
        call()
        best = min(best, time.perf_counter() - start)
    return nbytes / best / 1e6


def rows(name: str, data: bytes) -> list[str]:
    found = []
    lines = [
        line
        for line in zarr.installed_extensions(load=False)
        if (line.extension_point, line.name) == ("codec", name)
    ]
    for configuration in CONFIGURATIONS[name]:
        for line in lines:
            with zarr.config.set(providers={f"codec.{name}": line.choice}):
                try:
                    codec: Any = create_extension("codec", ExtensionDefinition(name, configuration))
                except ZarrError as error:
                    found.append(f"| `{name}` | `{line.choice}` | {error} |")
                    continue
            encoded = bytes(codec.encode(data, len(data)))
            assert codec.decode(encoded, len(data)) == data
            cells = [
                f"`{name}`",
                " ".join(str(value) for value in configuration.values()),
                f"`{line.choice}`",
                f"{rate(lambda c=codec: c.encode(data, len(data)), len(data)):,.0f}",  # type: ignore[misc] # bound at once
                f"{rate(lambda c=codec, e=encoded: c.decode(e, len(data)), len(data)):,.0f}",  # type: ignore[misc] # bound at once
                f"{100 * len(encoded) / len(data):.1f}",
            ]
            found.append("| " + " | ".join(cells) + " |")
    return found


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.providers", description=__doc__)
    parser.add_argument("--only", metavar="TEXT", default="", help="codecs whose name has this")
    parser.add_argument("--size", metavar="KIB", type=int, default=1024, help="of the chunk (1024)")
    parser.add_argument(
        "--without",
        metavar="MODULE",
        action="append",
        default=[],
        help="treat a module as not installed",
    )
    options = parser.parse_args()
    for module in options.without:
        sys.modules[module] = cast("ModuleType", None)  # imports fail
    data = chunk(options.size << 10)
    print("| codec | level | provider | encodes MB/s | decodes MB/s | bytes of 100 |")
    print("|---|---|---|---:|---:|---:|")
    for name in CONFIGURATIONS:
        if options.only in name:
            print("\n".join(rows(name, data)), flush=True)


if __name__ == "__main__":
    main()
