"""The decoder of Zstandard frames of the page, in Node.js, with frames of libzstd."""

import base64
import json
import random
import subprocess
from pathlib import Path

import numpy as np
import pytest
import zarr_cli
from servers import places
from servers.requirement import unavailable

zstandard = pytest.importorskip("zstandard")

MODULE = Path(zarr_cli.__file__).parent / "serve" / "page" / "zstd.js"
PROGRAM = f"""
import {{ decodeZstd }} from {json.dumps(MODULE.as_uri())};
import {{ readFileSync }} from "node:fs";
const results = JSON.parse(readFileSync(0, "utf8")).map((text) => {{
    try {{
        const data = decodeZstd(new Uint8Array(Buffer.from(text, "base64")));
        return Buffer.from(data).toString("base64");
    }} catch (error) {{
        return `!${{error.constructor.name}}: ${{error.message}}`;
    }}
}});
console.log(JSON.stringify(results));
"""


def decode(frames):
    """Return the bytes of each frame; for a damaged one, the message."""
    node = places.system("node")
    if node is None:
        unavailable(places.how_to_get("Node.js", "apt-get install nodejs"))
    done = subprocess.run(
        [str(node), "--experimental-default-type=module", "--input-type=module", "-e", PROGRAM],
        input=json.dumps([base64.b64encode(frame).decode() for frame in frames]),
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    return [
        text if text.startswith("!") else base64.b64decode(text) for text in json.loads(done.stdout)
    ]


RANDOM = np.random.default_rng(0)
VALUES = {
    "empty": b"",
    "one byte": b"a",
    "short": b"abc" * 5,
    "zeros": bytes(200_000),
    "noise": RANDOM.bytes(5000),
    "few symbols": RANDOM.integers(0, 5, 150_000, dtype="i2").tobytes(),
    "floats": np.linspace(-3, 3, 100_000, dtype="f4").tobytes(),
    "normal": RANDOM.normal(size=50_000).astype("f4").tobytes(),
    "steps": (np.arange(50_000) // 7).astype("i4").tobytes(),
    "skewed": RANDOM.geometric(0.1, 100_000).clip(0, 255).astype("u1").tobytes(),
    "text": MODULE.read_bytes() * 3,
}


def frame(value, level, **options):
    return zstandard.ZstdCompressor(level=level, **options).compress(value)


def test_frames_of_all_levels():
    frames, expected = [], []
    for value in VALUES.values():
        for level in (-5, 1, 3, 9, 19):
            for more in (True, False):
                frames.append(frame(value, level, write_checksum=more, write_content_size=more))
                expected.append(value)
    assert decode(frames) == expected


def test_several_and_skippable_frames():
    one, other = frame(VALUES["text"], 3), frame(VALUES["steps"], 1)
    skipped = (0x184D2A53).to_bytes(4, "little") + (3).to_bytes(4, "little") + b"abc"
    assert decode([one + skipped + other]) == [VALUES["text"] + VALUES["steps"]]


def test_damaged_frames_are_errors():
    """With a checksum, no changed byte gives other elements; there is always an Error."""
    value = VALUES["text"][:20_000]
    whole = frame(value, 3, write_checksum=True)
    damaged = [whole[:length] for length in range(0, len(whole), 97)]
    chosen = random.Random(1)
    for _ in range(300):
        changed = bytearray(whole)
        changed[chosen.randrange(len(whole))] ^= 1 << chosen.randrange(8)
        damaged.append(bytes(changed))
    results = decode(damaged)
    assert results[0] == b""
    for result in results[1:]:
        assert result == value or result[:7] == "!Error:", result[:80]
