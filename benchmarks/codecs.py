"""What a codec adds to its library: ``python -m benchmarks.codecs``.

Every codec of zarr-codecs, and a direct call of its library (or NumPy), encode and decode one
chunk in turn.  The difference is the overhead of the codec for each chunk: validation, views,
names.

Both use the memory that the engine passes to codecs.  The result is the tenth percentile of
the times, because other processes make both slower.
"""

from __future__ import annotations

import argparse
import gc
import sys
import time
import warnings
from functools import partial
from importlib.metadata import entry_points
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from zarr_core.extension import (
    ArrayRepresentation,
    ArrayToArrayCodec,
    BytesToBytesCodec,
    ExtensionDefinition,
    create_extension,
    data_type_for,
)

from benchmarks.bare_codecs import STRING, Case, Sized, cases

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import ModuleType

LIMIT = 5.0
"""Microseconds that a codec may add."""
SIZES = (1 << 11, 1 << 16)  # bytes of a chunk
ROUNDS = 200
MORE = 5  # times so many for what seems to be above the limit
SAMPLE = 0.0003  # seconds of calls between two looks at the clock
DATA_TYPES = {"text": "string", "octets": "bytes", "arrays": "v2.object"}


def chunk(dtype: str, nbytes: int) -> Any:
    """Compressible elements with this number of bytes."""
    count = nbytes // (8 if dtype in DATA_TYPES else np.dtype(dtype).itemsize)
    if dtype in DATA_TYPES:
        kind: Any = {"text": "a{}".format, "octets": lambda n: b"a%d" % n}.get(dtype)
        elements = np.empty(count, object)
        for place in range(count):
            elements[place] = kind(place % 7) if kind else np.arange(place % 3, dtype="i4")
        return elements.astype(STRING if dtype == "text" else object).reshape(16, -1)
    waves = np.sin(np.arange(count) / 50) * 100
    values = np.round(waves + np.random.default_rng(0).normal(size=count), 1)
    return (values > 0 if dtype == "?" else values.astype(dtype)).reshape(16, -1)


def seconds(call: Callable[[], object], count: int) -> float:
    """Processor time of a call: other programs count only by what they do to caches."""
    start = time.process_time()
    for _ in range(count):
        call()
    return (time.process_time() - start) / count


def compare(ours: Callable[[], object], bare: Callable[[], object]) -> tuple[float, float]:
    """Microseconds of the direct call, and the overhead of the codec."""
    for call in (bare, ours):
        call()
    count = max(1, int(SAMPLE / max(seconds(bare, 3), 1e-7)))
    samples: dict[Callable[[], object], list[float]] = {bare: [], ours: []}
    turn = [bare, ours]
    gc.disable()
    try:
        for _ in range(MORE):
            for _ in range(ROUNDS):
                for call in turn:
                    samples[call].append(seconds(call, count))
                turn.reverse()
            least, most = (1e6 * steady(samples[call]) for call in (bare, ours))
            if most - least < LIMIT:
                break
    finally:
        gc.enable()
    return least, most - least


def steady(times: list[float]) -> float:
    """The tenth percentile of the samples, which is more reliable than the minimum."""
    return sorted(times)[len(times) // 10]


def measure(case: Case, nbytes: int) -> list[tuple[float, float] | None]:
    """Encode, decode, decode into memory: the bare call and what is added."""
    array = chunk(case.dtype, nbytes)
    kind: Any = (
        create_extension("data_type", ExtensionDefinition(DATA_TYPES[case.dtype]))
        if case.dtype in DATA_TYPES
        else data_type_for(array.dtype)
    )
    decoded = ArrayRepresentation(array.shape, kind, kind.default_fill_value())
    codec: Any = create_extension("codec", ExtensionDefinition(case.name, case.configuration))
    if isinstance(codec, BytesToBytesCodec):
        return measure_bytes(case, codec.complete(decoded), memoryview(array.tobytes()))
    frozen = array.view()
    frozen.flags.writeable = False
    if isinstance(codec, ArrayToArrayCodec):
        codec.encoded_representation(decoded)
    else:
        codec.check(decoded)
    stored = codec.encode(frozen, decoded)
    bare_stored = case.encode(array)
    return [
        compare(partial(codec.encode, frozen, decoded), partial(case.encode, array)),
        compare(
            partial(codec.decode, stored, decoded), partial(case.decode, bare_stored, array.shape)
        ),
        None,
    ]


def measure_bytes(
    case: Case, codec: BytesToBytesCodec, data: memoryview
) -> list[tuple[float, float] | None]:
    encoded, bare_encoded, out = (
        bytes(codec.encode(data, len(data))),
        bytes(case.encode(data)),
        bytearray(data),
    )
    size, memory = len(data), memoryview(out)
    bare = case.decode.bound(size) if isinstance(case.decode, Sized) else case.decode

    def decode_then_copy(encoded: Any, out: memoryview) -> None:
        out[:] = memoryview(bare(encoded)).cast("B")

    bare_into = case.decode_into or decode_then_copy
    return [
        compare(partial(codec.encode, data), partial(case.encode, data)),
        compare(partial(codec.decode, encoded, size), partial(bare, bare_encoded)),
        compare(
            partial(codec.decode_into, encoded, memory), partial(bare_into, bare_encoded, memory)
        ),
    ]


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.codecs", description=__doc__)
    parser.add_argument("--only", metavar="TEXT", default="", help="codecs whose name has this")
    parser.add_argument(
        "--without",
        metavar="MODULE",
        action="append",
        default=[],
        help="treat a module as not installed",
    )
    options = parser.parse_args()
    for module in options.without:
        sys.modules[module] = cast("ModuleType", None)  # what makes an import fail
    warnings.simplefilter("ignore")
    verbs = ("encode", "decode", "into memory")
    heads = [f"{size >> 10} KiB {verb}" for size in SIZES for verb in verbs]
    print(f"microseconds of the bare call + what the codec adds; `!` above {LIMIT:.0f}\n")
    print("| codec | " + " | ".join(heads) + " | |")
    print("|---|" + "---:|" * len(heads) + "---|")
    seen, within, total = set(), 0, 0
    for case in cases():
        seen.add(case.name)
        if options.only not in case.name:
            continue
        cells = []
        for figure in (figure for size in SIZES for figure in measure(case, size)):
            if figure is None:
                cells.append("")
                continue
            bare, added = figure
            total += 1
            within += added < LIMIT
            cells.append(f"{bare:.1f} {added:+.1f}{' !' if added >= LIMIT else ''}")
        print(f"| `{case.name}` | " + " | ".join(cells) + f" | {case.note} |", flush=True)
    print(f"\n{within} of {total} within {LIMIT:.0f} microseconds")
    names = {point.name for point in entry_points(group="zarr_core.codec")}
    print("not measured, consist of other codecs: " + ", ".join(sorted(names - seen)))


if __name__ == "__main__":
    main()
