"""Data types of this library in zarr-python, through one more entry point of their author."""

import pickle
import subprocess
import sys

import numpy as np
import pytest

zarr_python = pytest.importorskip("zarr")
ml_dtypes = pytest.importorskip("ml_dtypes")

zarr_dtype = pytest.importorskip("zarr.dtype")
import zarr_core as zc  # noqa: E402
from zarr_bridge.zarr_python_codecs import adapt_to_zarr_python  # noqa: E402
from zarr_core.extension import ExtensionDefinition, create_extension  # noqa: E402

NAMES = ["bfloat16", "float8_e5m2", "float8_e4m3fn", "float6_e2m3fn", "float4_e2m1fn", "int4"]


@pytest.fixture(params=NAMES)
def adapted(request):
    """The data type of this library and its class for zarr-python, which is registered."""
    data_type = create_extension("data_type", ExtensionDefinition(request.param))
    adapter = adapt_to_zarr_python(request.param, type(data_type))
    zarr_dtype.data_type_registry.register(request.param, adapter)
    yield data_type, adapter
    zarr_dtype.data_type_registry.unregister(request.param)


@pytest.fixture
def values(adapted):
    return np.array([[1, 0, 2], [3, 1, 0], [0, 2, 2]]).astype(adapted[0].numpy_dtype)


def create(path, name, **arguments):
    arguments = {"shape": (3, 3), "chunks": (2, 2), "compressors": None} | arguments
    return zarr_python.create_array(path, dtype=name, zarr_format=3, **arguments)


@pytest.mark.parametrize("shards", [None, (4, 4)])
def test_what_zarr_python_writes_is_read_equal_and_the_reverse(adapted, values, tmp_path, shards):
    name = adapted[0].to_definition().name
    theirs = create(tmp_path / "a.zarr", name, shards=shards, fill_value=2)
    theirs[:2] = values[:2]
    ours = zc.open_array(tmp_path / "a.zarr", mode="a")
    assert ours.metadata.data_type == adapted[0].to_definition()
    ours[2, 1:] = values[2, 1:]
    expected = values.copy()
    expected[2, 0] = 2
    for array in ours, zarr_python.open_array(tmp_path / "a.zarr"):
        assert array[...].tobytes() == expected.tobytes()


def test_metadata_are_those_of_this_library(adapted, values, tmp_path):
    theirs = create(tmp_path / "a.zarr", adapted[0].to_definition().name)
    ours = zc.create_array(
        tmp_path / "b.zarr", shape=(3, 3), chunks=(2, 2), dtype=adapted[0], compressors=None
    )
    assert theirs.metadata.dtype.to_json(3) == adapted[0].to_definition().to_json()
    assert zc.open_array(tmp_path / "a.zarr").metadata.codecs == ours.metadata.codecs
    assert zc.open_array(tmp_path / "a.zarr").metadata.fill_value == ours.metadata.fill_value
    ours[...] = values
    assert zarr_python.open_array(tmp_path / "b.zarr")[...].tobytes() == values.tobytes()


def test_dtype_of_numpy_is_recognised_and_those_of_zarr_python_remain(adapted):
    data_type, adapter = adapted
    found = zarr_dtype.parse_dtype(data_type.numpy_dtype, zarr_format=3)
    assert isinstance(found, adapter | adapter.ordered)
    assert type(zarr_dtype.parse_dtype("int16", zarr_format=3)) is zarr_dtype.Int16
    assert pickle.loads(pickle.dumps(found)) == found


def test_scalars_that_the_type_does_not_have_are_errors(adapted):
    data_type, adapter = adapted
    found = adapter.from_json(data_type.to_definition().to_json(), zarr_format=3)
    assert found.from_json_scalar(found.to_json_scalar(1, zarr_format=3), zarr_format=3) == 1
    with pytest.raises((TypeError, ValueError)):
        found.cast_scalar("north")
    for data in ("<i2", {"name": data_type.to_definition().name}):
        with pytest.raises(ValueError, match="version 3"):
            adapter.from_json(data, zarr_format=2)


PLUGIN = """
from dataclasses import dataclass
import numpy as np
from zarr_core.extension import DataType, ExtensionDefinition

@dataclass(frozen=True, slots=True)
class Fixed(DataType):
    digits: int = 2

    @classmethod
    def from_definition(cls, definition): return cls(**definition.configuration)
    def to_definition(self): return ExtensionDefinition("acme.fixed", {"digits": self.digits})
    @property
    def numpy_dtype(self): return np.dtype("int32")
    def fill_value_from_json(self, value): return np.array(round(float(value) * 10**self.digits), "int32")
    def fill_value_to_json(self, value): return str(int(value) / 10**self.digits)
"""
PROGRAM = """
import sys; sys.path.insert(0, sys.argv[1])
import zarr
name = {"name": "acme.fixed", "configuration": {"digits": 3}}
import fixed_zarr
if tuple(map(int, zarr.__version__.split(".")[:3])) < (3, 4, 2):  # never loads entry points of data types
    zarr.dtype.data_type_registry._lazy_load()
fixed = fixed_zarr.Fixed.from_json(name, zarr_format=3)
a = zarr.create_array(sys.argv[2], shape=4, chunks=2, dtype=fixed, fill_value=1500)
a[0] = 250
import zarr_core
ours = zarr_core.open_array(sys.argv[2], mode="a")
ours[3] = 7
print(ours.metadata.fill_value, ours[...].tolist(), zarr.open_array(sys.argv[2])[...].tolist())
"""


def test_data_type_with_a_configuration_by_entry_points(tmp_path):
    site = tmp_path / "site"
    info = site / "fixed_plugin-1.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: fixed-plugin\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(
        "[zarr_core.data_type]\nacme.fixed = fixed:Fixed\n"
        "[zarr.data_type]\nacme.fixed = fixed_zarr:Fixed\n"
    )
    (site / "fixed.py").write_text(PLUGIN)
    (site / "fixed_zarr.py").write_text(
        "import fixed\nfrom zarr_bridge.zarr_python_codecs import adapt_to_zarr_python\n"
        "Fixed = adapt_to_zarr_python('acme.fixed', fixed.Fixed)\n"
    )
    command = [sys.executable, "-W", "ignore", "-c", PROGRAM, str(site), str(tmp_path / "a.zarr")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.stderr == ""
    assert done.stdout == "1.5 [250, 1500, 1500, 7] [250, 1500, 1500, 7]\n"
