"""Small numbers: fill values and signs that TensorStore writes, and those that it reads.

That elements are read both ways is in the table of tests/interop/test_extensions.py.
"""

import json

import ml_dtypes
import numpy as np
import pytest
import tensorstore
import zarr_core as zarr

THEIRS = [
    "bfloat16", "float8_e3m4", "float8_e4m3b11fnuz", "float8_e4m3fn", "float8_e4m3fnuz",
    "float8_e5m2", "float8_e5m2fnuz", "float8_e8m0fnu", "float4_e2m1fn", "int2", "int4",
]  # fmt: skip
"""What TensorStore has; the other types of the registry it refuses."""
FLOATS = [name for name in THEIRS if not name.startswith("int")]
BITS = {
    "bfloat16": 16, "float6_e2m3fn": 6, "float6_e3m2fn": 6, "float4_e2m1fn": 4,
    "int2": 2, "int4": 4, "uint2": 2, "uint4": 4,
}  # fmt: skip


def values_of(name, shape=(5, 7)):
    dtype = np.dtype(getattr(ml_dtypes, name))
    bits = 1 << BITS.get(name, 8)
    octets = np.random.default_rng(3).integers(0, bits, shape, f"u{dtype.itemsize}")
    return octets.view(dtype)


def theirs_at(path, **create):
    kvstore = {"driver": "file", "path": f"{path}/"}
    metadata = {"metadata": create} if create else {}
    spec = {"driver": "zarr3", "kvstore": kvstore, **metadata}
    return tensorstore.open(spec, create=bool(create), open=not create).result()


def bits_of(value):
    value = np.asarray(value)
    return value.view(f"u{value.dtype.itemsize}").tolist()


def same(left, right):
    return left.dtype == right.dtype and bits_of(left) == bits_of(right)


def test_the_sign_that_tensorstore_extends_is_read(tmp_path):
    """-1 is 0xff in its int4, 0x0f in that of ml_dtypes; the text permits both."""
    theirs = theirs_at(tmp_path, shape=[4], data_type="int4", fill_value=-1)
    theirs[1:] = np.array([-8, -2, 5], ml_dtypes.int4)
    ours = zarr.open(tmp_path)
    assert ours[...].astype(int).tolist() == [-1, -8, -2, 5]
    assert bits_of(ours[...]) == [15, 8, 14, 5]
    assert bits_of(ours.fill_value) == 15


FORMS = [0, -0.0, 1, 1.5, -2, 0.1, 3e-3, "NaN", "Infinity", "-Infinity", "0x01", "0x0001"]


def taken_alike(name, form):
    """Whether the text says what a form stands for, and TensorStore takes it as such."""
    infinite = name in ("bfloat16", "float8_e3m4", "float8_e5m2")
    if isinstance(form, str):
        if form.startswith("0x"):
            return name != "float8_e8m0fnu" and len(form) == (6 if name == "bfloat16" else 4)
        return infinite or (form == "NaN" and name != "float4_e2m1fn")
    # Numbers of this type go wrong in TensorStore 0.1.86: 1.0 gets the bits 0x3f, not 0x7f.
    return name != "float8_e8m0fnu" or form == 0


@pytest.mark.parametrize(
    ("name", "form"),
    [(name, form) for name in FLOATS for form in FORMS if taken_alike(name, form)],
)
def test_fill_values_of_tensorstore(tmp_path, name, form):
    theirs = theirs_at(tmp_path, shape=[2], data_type=name, fill_value=form)
    written = json.loads((tmp_path / "zarr.json").read_text())["fill_value"]
    ours = zarr.open(tmp_path)
    assert bits_of(ours.fill_value) == bits_of(theirs.fill_value)
    assert same(ours[...], np.asarray(theirs))
    made = ours.stored.resolved.data_type
    assert bits_of(made.fill_value_from_json(form)) == bits_of(theirs.fill_value)
    if name != "float8_e8m0fnu":  # see above
        assert made.fill_value_to_json(ours.stored.resolved.fill_value) == written


@pytest.mark.parametrize("name", [name for name in THEIRS if name != "float8_e8m0fnu"])
def test_our_fill_values_are_read_by_tensorstore(tmp_path, name):
    values = values_of(name, (40,))
    for number, value in enumerate(values):
        path = tmp_path / str(number)
        zarr.create_array(path, shape=2, dtype=name, fill_value=value)
        theirs = theirs_at(path)
        mask = (1 << BITS.get(name, 8)) - 1
        assert bits_of(theirs.fill_value) & mask == bits_of(value)
