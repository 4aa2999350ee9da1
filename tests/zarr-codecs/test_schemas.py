"""Schemas and configurations of extensions; imports of libraries."""

import json
import subprocess
import sys
from importlib.resources import files

import jsonschema
import pytest
from zarr_codecs import _numcodecs
from zarr_codecs.pickle import PickleCodec
from zarr_core import override_extensions
from zarr_core.errors import ExtensionConfigurationError
from zarr_core.extension import ExtensionDefinition, create_extension, package_schema

PACKAGES = ("zarr_codecs", "zarr_dtypes", "zarr_formats", "zarr_grids", "zarr_sharding")
SCHEMAS = {
    f"{folder.name}/{file.name.removesuffix('.json')}": (package, file)
    for package in PACKAGES
    for folder in (files(package) / "schemas").iterdir()
    for file in folder.iterdir()
}
WRITTEN_AS = {
    "data_type/variable_length_bytes": "bytes",
    "data_type/structured": "struct",
    "data_type/complex_float32": "complex64",
    "data_type/complex_float64": "complex128",
}


@pytest.mark.parametrize("path", SCHEMAS)
def test_examples_of_schemas_are_valid_configurations(path):
    package, file = SCHEMAS[path]
    schema = json.loads(file.read_text())
    jsonschema.Draft202012Validator.check_schema(schema)
    point, name = path.split("/")
    for example in schema.get("examples", ()):
        jsonschema.validate(example, schema)
        assert package_schema(package, point, name).accepts(example)
        if point in ("format", "storage_transformer"):
            continue
        assert schema["additionalProperties"] is False
        with override_extensions({"codec": {"numcodecs.pickle": PickleCodec}}):
            made, again = (
                create_extension(point, ExtensionDefinition(name, example), complete=False)
                for _ in range(2)
            )
        assert (again, hash(again)) == (made, hash(made))
        if point == "codec":
            assert made.to_configuration() == example
            continue
        written = made.to_definition()
        assert written.name == WRITTEN_AS.get(path, name)
        assert create_extension(point, written).to_definition() == written
        if point == "data_type" and name != "structured":
            assert written.configuration == example


DELTA = {"dtype": "<i4"}
LABELS = {"dtype": "|O", "labels": ["a"]}
SCALE = {"scale": 1, "offset": 1}
SECONDS = {"unit": "s", "scale_factor": 1}
FIELD = {"name": "x", "data_type": "int8"}
EXPERT = {"mode": "expert", "minbits": 1, "maxbits": 13, "maxprec": 19, "minexp": -2}
# Those of registered codecs and data types are cases of the corpus.
INVALID = {
    "codec/n5.lz4": [
        *({}, {"blockSize": 63}, {"blockSize": 1 << 26}, {"blockSize": "64"}, {"level": 1}),
        {"blockSize": 64, "acceleration": 1},
    ],
    "codec/numcodecs.adler32": [{"location": "middle"}],
    "codec/numcodecs.astype": [{"encode_dtype": "|O"}, {"decode_dtype": "<i4"}],
    "codec/numcodecs.bitround": [{"keepbits": -1}, {"keepbits": 53}],
    "codec/numcodecs.blosc": [{"shuffle": "shuffle"}, {"shuffle": 3}],
    "codec/numcodecs.bz2": [{"level": 0}],
    "codec/numcodecs.categorize": [
        *({**LABELS, "labels": "ab"}, {**LABELS, "labels": [1]}, {**LABELS, "astype": "<f4"}),
        *({**LABELS, "dtype": "<i4"}, {**LABELS, "labels": [*map(str, range(256))]}),
    ],
    "codec/numcodecs.crc32": [{"location": "middle"}],
    "codec/numcodecs.delta": [
        *({}, {"dtype": "|O"}, {"dtype": "i4,f8"}, {"dtype": "nothing"}),
        *({**DELTA, "astype": "|b1"}, {**DELTA, "astype": "|S3"}),
    ],
    "codec/numcodecs.fixedscaleoffset": [
        *({"scale": 0, "offset": 1}, {"scale": 1}, {"scale": "1", "offset": 1}),
        {**SCALE, "dtype": "<M8[s]"},
    ],
    "codec/numcodecs.fletcher32": [{"location": "end"}],
    "codec/numcodecs.gzip": [{"level": 10}],
    "codec/numcodecs.jenkins_lookup3": [{"prefix": "ab"}, {"initval": -1}],
    "codec/numcodecs.json2": [
        *({"encoding": "rot13"}, {"encoding": "nothing"}, {"separators": [","]}, {"strict": 1}),
    ],
    "codec/numcodecs.lz4": [{"acceleration": "1"}],
    "codec/numcodecs.lzma": [
        *({"format": 0}, {"format": 3}, {"preset": 10}, {"filters": []}),
        *({"preset": 1, "filters": [{"id": 33}]}, {"format": 2, "check": 4}),
    ],
    "codec/numcodecs.msgpack2": [{"raw": "no"}],
    "codec/numcodecs.packbits": [{"bits": 1}],
    "codec/numcodecs.quantize": [
        *({"digits": 1.5}, {"digits": 400}, {"digits": -400}, {"digits": 3, "dtype": "<i4"}),
    ],
    "codec/numcodecs.shuffle": [{"elementsize": -1}],
    "codec/numcodecs.zlib": [{"level": 10}],
    "codec/numcodecs.zstd": [{"level": 23}],
    "data_type/null_terminated_bytes": [
        *({"length_bytes": 0}, {"length_bytes": 2**31}, {"length": 3}),
    ],
    "data_type/raw_bytes": [{"length_bytes": -1}, {}],
    "data_type/structured": [{"fields": [["x"]]}, {"fields": [["x", "int8", [2]]]}],
    "data_type/variable_length_bytes": [{"length_bytes": 3}],
}


@pytest.mark.parametrize(
    ("path", "configuration"), [(path, item) for path in INVALID for item in INVALID[path]]
)
def test_invalid_configurations_are_rejected(path, configuration):
    point, name = path.split("/")
    with pytest.raises(ExtensionConfigurationError):
        create_extension(point, ExtensionDefinition(name, configuration))
    if point == "data_type":
        _, file = SCHEMAS[path]
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate(configuration, json.loads(file.read_text()))


PROGRAM = """
import sys
from zarr_codecs import blosc, bz2, checksums, crc32c, gzip, lz4, lzma, numcodecs_names, shuffle
from zarr_codecs import transpose, zlib, zstd
numcodecs_names.NumcodecsBloscCodec(), numcodecs_names.NumcodecsZstdCodec(), lz4.Lz4Codec()
shuffle.ShuffleCodec(4), checksums.Fletcher32Codec(), checksums.NumcodecsCrc32cCodec()
blosc.BloscCodec("lz4"), crc32c.Crc32cCodec(), gzip.GzipCodec(3), transpose.TransposeCodec([0]), zstd.ZstdCodec(1)
print(*sorted(sys.modules.keys() & {"numcodecs", "deflate", "zstandard", "google_crc32c"}))
"""


def test_libraries_are_loaded_when_a_chunk_needs_them():
    run = subprocess.run(
        [sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=True
    )
    assert run.stdout.strip() == ""


def test_missing_numcodecs_is_not_a_damaged_chunk():
    program = """
import sys
sys.modules["numcodecs"] = None
from zarr_codecs.blosc import BloscCodec
from zarr_core.extension import ChunkDecodeError, CodecError
try:
    BloscCodec().encode(b"abc", None)
except CodecError as error:
    assert not isinstance(error, ChunkDecodeError)
    print(error)
"""
    run = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert "cannot import numcodecs, which the codec requires" in run.stdout


@pytest.mark.parametrize("version", ["0.17.0a1", "0.16.6rc1", "0.16.6.dev3+g12ab"])
def test_development_versions_of_numcodecs(version, monkeypatch):
    numcodecs = pytest.importorskip("numcodecs")
    monkeypatch.setattr(numcodecs, "__version__", version)
    release = _numcodecs.release.__wrapped__()
    assert (0, 16) <= release[:2] == tuple(map(int, version.split(".")[:2]))
