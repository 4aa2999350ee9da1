"""The core data types by name."""

from __future__ import annotations

import numpy as np
from zarr_core.data_types.boolean import Bool
from zarr_core.data_types.complex import Complex
from zarr_core.data_types.floating import Floating
from zarr_core.data_types.integer import Integer
from zarr_core.data_types.raw import RawBits
from zarr_core.definition import ExtensionDefinition

INTEGERS = [f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)]
FLOATS = ["float16", "float32", "float64"]
COMPLEX = ["complex64", "complex128"]
CLASSES = {
    "bool": Bool,
    **dict.fromkeys(INTEGERS, Integer),
    **dict.fromkeys(FLOATS, Floating),
    **dict.fromkeys(COMPLEX, Complex),
    "r8": RawBits,
    "r16": RawBits,
    "r24": RawBits,
    "r128": RawBits,
}


def data_type(name):
    return CLASSES[name].from_definition(ExtensionDefinition(name))


def from_bits(bits, name):
    return np.array(bits, f"u{np.dtype(name).itemsize}").view(name)


def bits_of(value):
    return value.tobytes().hex()
