"""Documents of version 2 for tests, constant or random."""

import json

from hypothesis import strategies as st

ARRAY = {
    "zarr_format": 2,
    "shape": [6, 4],
    "chunks": [2, 3],
    "dtype": "<i4",
    "compressor": None,
    "fill_value": 0,
    "order": "C",
    "filters": None,
}


def array(**changes):
    """The document above with other members; ``...`` removes a member."""
    return {name: value for name, value in (ARRAY | changes).items() if value is not ...}


def stored(document):
    """The encoded document."""
    return json.dumps(document).encode()


NUMBERS = {
    "|b1": st.booleans(),
    "<i4": st.integers(-(2**31), 2**31 - 1),
    ">u2": st.integers(0, 2**16 - 1),
    "<f8": st.floats(allow_nan=False, allow_infinity=False)
    | st.sampled_from(["NaN", "Infinity", "-Infinity"]),
    ">c8": st.tuples(st.just(1.5), st.sampled_from([0, -0.0, "NaN"])).map(list),
    "<M8[ns]": st.integers(-(2**63), 2**63 - 1),
    "|S3": st.sampled_from(["", "YQ==", "YWJj"]),
    "<U3": st.sampled_from(["", "ab", "\u03a9"]),
}
CODECS = (
    {"id": "zlib", "level": 1},
    {"id": "blosc", "cname": "lz4", "clevel": 5, "shuffle": -1},
    {"id": "zstd", "level": 1, "checksum": False},
    {"id": "crc32"},
    {"id": "acme", "anything": [1, {"a": None}]},
)


@st.composite
def arrays(draw):
    """Documents of every data type with filters, compressors and unknown members."""
    rank = draw(st.integers(0, 3))
    dtype = draw(st.sampled_from(sorted(NUMBERS)))
    document = {
        "zarr_format": 2,
        "shape": draw(st.lists(st.integers(0, 9), min_size=rank, max_size=rank)),
        "chunks": draw(st.lists(st.integers(1, 5), min_size=rank, max_size=rank)),
        "dtype": dtype,
        "compressor": draw(st.none() | st.sampled_from(CODECS)),
        "fill_value": draw(st.none() | NUMBERS[dtype]),
        "order": draw(st.sampled_from("CF")),
        "filters": draw(st.none() | st.lists(st.sampled_from(CODECS), max_size=2)),
    }
    if draw(st.booleans()):
        document["dimension_separator"] = draw(st.sampled_from("./"))
    if draw(st.booleans()):
        document["further"] = draw(st.sampled_from([None, 1, {"must_understand": True}]))
    return dict(draw(st.permutations(list(document.items()))))
