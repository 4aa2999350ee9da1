"""Codecs of this library in arrays of zarr-python."""

import pickle
import subprocess
import sys
import warnings

import numpy as np
import pytest
import zarr as zarr_python
import zarr_core as zarr
from example_distributions import install_examples, write_distribution
from zarr_bridge.offer import register
from zarr_core.errors import ExtensionLoadError
from zarr_core.registry import discovery
from zarr_python_state import forget_offers

NAMES = (
    "acme.xor", "bytes", "crc32c", "gzip", "transpose", "numcodecs.adler32", "numcodecs.delta",
    "numcodecs.pcodec",
)  # fmt: skip
VALUES = np.arange(-300, 300, dtype="int32").reshape(20, 30) * 70_001


@pytest.fixture(scope="module")
def acme(tmp_path_factory):
    """The example of a codec, installed as a stranger would."""
    return install_examples(tmp_path_factory.mktemp("acme"), "acme-xor")


@pytest.fixture
def registered(acme, monkeypatch):
    """Codecs of this library, which zarr-python uses instead of its own."""
    monkeypatch.syspath_prepend(str(acme))
    discovery.refresh()
    with zarr_python.config.set({}):
        assert register(*NAMES) == [*NAMES]
        yield
    monkeypatch.undo()
    discovery.refresh()


@pytest.fixture(autouse=True)
def _forgotten_afterwards():
    yield
    forget_offers()


def written(tmp_path, **codecs):
    options = {"chunks": (8, 8), "data": VALUES, "fill_value": 0, "compressors": None, **codecs}
    with warnings.catch_warnings(action="ignore"):  # zarr-python: not in the specification
        zarr_python.create_array(tmp_path / "a.zarr", **options)
        array = zarr_python.open_array(tmp_path / "a.zarr")
        again = pickle.loads(pickle.dumps(array))
        assert np.array_equal(again[3:17, ::2], VALUES[3:17, ::2])
    assert np.array_equal(array[...], VALUES)
    assert np.array_equal(zarr.open_array(tmp_path / "a.zarr")[...], VALUES)
    return array


CODECS = [
    {"compressors": {"name": "acme.xor", "configuration": {"key": 7}}},
    {"compressors": [{"name": "acme.xor"}, {"name": "crc32c"}]},
    {"compressors": {"name": "gzip", "configuration": {"level": 1}}},
    {"filters": {"name": "transpose", "configuration": {"order": [1, 0]}}},
    {"filters": {"name": "numcodecs.delta", "configuration": {"dtype": "<i4", "astype": "<i8"}}},
    {"serializer": {"name": "numcodecs.pcodec", "configuration": {}}},
    {"shards": (16, 16), "compressors": {"name": "acme.xor"}},
]


@pytest.mark.parametrize("codecs", CODECS, ids=str)
def test_zarr_python_uses_them(registered, tmp_path, codecs):
    if "pcodec" in str(codecs):
        pytest.importorskip("pcodec")
    array = written(tmp_path, **codecs)
    used = [*array.filters, array.serializer, *array.compressors]
    if "shards" not in codecs:
        assert all(type(codec).__module__ == "zarr_bridge.zarr_python_codecs" for codec in used)


def test_configurations_are_checked_by_their_schema(registered):
    with pytest.raises(ValueError, match=r"(?s)acme\.xor.*lock"):
        zarr_python.create_array(
            {}, shape=4, dtype="i4", compressors={"name": "acme.xor", "configuration": {"lock": 1}}
        )


def test_damage_is_an_error(registered, tmp_path):
    written(
        tmp_path,
        compressors=[{"name": "acme.xor"}, {"name": "numcodecs.adler32", "configuration": {}}],
    )
    chunk = tmp_path / "a.zarr" / "c" / "0" / "0"
    chunk.write_bytes(chunk.read_bytes()[:-1] + b"?")
    with (
        warnings.catch_warnings(action="ignore", category=zarr_python.errors.ZarrUserWarning),
        pytest.raises(Exception, match=r"(?i)checksum"),
    ):
        zarr_python.open_array(tmp_path / "a.zarr")[...]


def test_codecs_that_zarr_python_lacks_are_registered(acme, tmp_path, monkeypatch):
    points = "[zarr_core.codec]\nacme.broken = nowhere:Codec\n"
    write_distribution(tmp_path, "broken-codec", "2.5", points)
    for site in (acme, tmp_path):
        monkeypatch.syspath_prepend(str(site))
    discovery.refresh()
    with zarr_python.config.set({}):
        with pytest.warns(
            UserWarning, match=r"'acme\.broken' is not registered: .*broken-codec 2\.5"
        ):
            names = register()
        assert "acme.xor" in names
        assert not [name for name in names if name.startswith("v2.") or name == "gzip"]
        with pytest.raises(ExtensionLoadError, match=r"broken-codec 2\.5"):
            register("acme.broken")
        array = written(tmp_path, compressors={"name": "gzip", "configuration": {"level": 1}})
        assert type(array.compressors[0]).__module__ == "zarr.codecs.gzip"
    monkeypatch.undo()
    discovery.refresh()


def test_one_class_for_both_libraries(tmp_path):
    """zarr-python finds the second entry point and writes; both read, without register()."""
    site = tmp_path / "site"
    write_distribution(
        site, "both-plugin", "1.0",
        "[zarr_core.codec]\nboth.xor = both:Xor\n"
        "[zarr.codecs]\nboth.xor = both_zarr:Xor\n"
        "[zarr_core.chunk_key_encoding]\nboth.flat = both:Flat\n"
        "[zarr.chunk_key_encoding]\nboth.flat = both_zarr:Flat\n",
    )  # fmt: skip
    (site / "both.py").write_text(
        "from dataclasses import dataclass\n"
        "from zarr_core.extension import BytesToBytesCodec, ChunkKeyEncoding, ExtensionDefinition\n"
        "@dataclass(frozen=True, slots=True)\n"
        "class Xor(BytesToBytesCodec):\n"
        "    key: int = 7\n"
        "    def encode(self, data, decoded_size):\n"
        "        return bytes(byte ^ self.key for byte in bytes(data))\n"
        "    decode = encode\n"
        "class Flat(ChunkKeyEncoding):\n"
        "    @classmethod\n"
        "    def from_definition(cls, definition): return cls()\n"
        "    def to_definition(self): return ExtensionDefinition('both.flat')\n"
        "    def encode(self, chunk): return 'x' + '-'.join(map(str, chunk))\n"
        "    def decode(self, key, ndim): return tuple(map(int, key[1:].split('-'))) if key[0] == 'x' else None\n"
    )
    (site / "both_zarr.py").write_text(
        "import both\n"
        "from zarr_bridge.zarr_python_codecs import adapt_to_zarr_python\n"
        "Xor = adapt_to_zarr_python('both.xor', both.Xor)\n"
        "Flat = adapt_to_zarr_python('both.flat', both.Flat)\n"
    )
    code = (
        "import sys; sys.path.insert(0, sys.argv[1])\n"
        "import numpy as np, zarr\n"
        "xor = {'name': 'both.xor', 'configuration': {'key': 9}}\n"
        "a = zarr.create_array(sys.argv[2], shape=(5, 6), chunks=(2, 3), dtype='float32',\n"
        "    compressors=[xor], chunk_key_encoding={'name': 'both.flat'})\n"
        "a[...] = np.arange(30).reshape(5, 6)\n"
        "import zarr_core\n"
        "ours = zarr_core.open_array(sys.argv[2], mode='a')\n"
        "assert type(ours.compressors[0]).__module__ == 'both'\n"
        "ours[0] = -1\n"
        "print(ours[...].sum(), zarr.open_array(sys.argv[2])[...].sum(), ours.nchunks_initialized)"
    )
    command = [sys.executable, "-W", "ignore", "-c", code, str(site), str(tmp_path / "a.zarr")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.stderr == ""
    assert done.stdout.split() == ["414.0", "414.0", "6"]
    assert (tmp_path / "a.zarr" / "x2-1").is_file()
