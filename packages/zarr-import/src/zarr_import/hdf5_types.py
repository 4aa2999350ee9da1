"""Data types for the elements of HDF5 datasets."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import reduce
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np
from zarr_core.extension import ExtensionDefinition

from zarr_import.dtypes import offsets, pack_dtype
from zarr_import.errors import UnsupportedSourceError

if TYPE_CHECKING:
    from collections.abc import Callable

    from zarr_core.extension import JSON

    NDArray = np.ndarray[Any, Any]


@dataclass(frozen=True, slots=True)
class Elements:
    """The data type of a dataset in Zarr."""

    dtype: Any  # as for zarr_core.create_array
    inner_shape: tuple[int, ...] = ()  # of an element that is an array: additional dimensions
    exact: bool = False  # whether the bytes in the file, without filters, are those of Zarr
    convert: Callable[[NDArray], NDArray] | None = None  # what h5py reads
    serializer: ExtensionDefinition | None = None  # if not the default of the data type
    attributes: dict[str, JSON] = field(default_factory=dict)  # that describe the elements
    notes: list[str] = field(default_factory=list)  # differences from the source

    @property
    def itemsize(self) -> int | None:
        """Bytes of an element of the source in Zarr; None if variable."""
        fixed = isinstance(self.dtype, np.dtype)
        return self.dtype.itemsize * prod(self.inner_shape) if fixed else None


def field_of(elements: Any, fields: tuple[str, ...]) -> Any:
    """Return a field of a field ... of elements, or of their dtype."""
    return reduce(lambda part, name: part[name], fields, elements)


def dtype_of(dataset: Any, fields: tuple[str, ...]) -> np.dtype[Any]:
    """Return the dtype of the elements of a dataset, or of a field of a field ... of them."""
    try:
        dtype: np.dtype[Any] = field_of(dataset.dtype, fields)
    except TypeError as error:  # such as H5T_TIME
        raise UnsupportedSourceError(dataset.name, f"NumPy has no such type ({error})") from error
    return dtype


def is_divided(dtype: np.dtype[Any]) -> bool:
    """Whether a field, at any depth, is an array or of variable length, unlike fields in Zarr."""
    parts = [dtype[name] for name in dtype.names or ()]
    return any(part.shape or part.kind == "O" or is_divided(part) for part in parts)


def elements_of(h5py: Any, dataset: Any, fields: tuple[str, ...]) -> Elements:
    """Return the data type of a dataset or a field; raise UnsupportedSourceError if unsupported."""
    dtype, name = dtype_of(dataset, fields), "/".join((dataset.name, *fields))
    string = h5py.check_string_dtype(dtype)
    if string is not None and string.length is None:
        return Elements("string", convert=lambda read: _texts(read, name))
    reference = h5py.check_ref_dtype(dtype)
    if reference is not None:
        return _references(h5py, dataset, reference)
    sequence = h5py.check_vlen_dtype(dtype)
    if sequence is not None:
        if sequence.hasobject or sequence.names:
            raise UnsupportedSourceError(name, f"sequences of {sequence} are not supported")
        if not sequence.isnative:  # h5py 3.16 reads their bytes in native byte order
            raise UnsupportedSourceError(
                name, f"sequences of {sequence.str} are not supported: h5py ignores the byte order"
            )
        codec = ExtensionDefinition("numcodecs.vlen-array", {"dtype": sequence.str})
        return Elements(ExtensionDefinition("v2.object"), serializer=codec)
    notes: list[str] = []
    if dataset.id.get_type().get_class() == h5py.h5t.BITFIELD:
        notes.append(f"bit fields, stored as {dtype.name}")
    attributes: dict[str, JSON] = {}
    words = h5py.check_enum_dtype(dtype)
    if words is not None:
        ordered = sorted((int(value), str(word)) for word, value in words.items())
        attributes = {
            "flag_values": [value for value, _ in ordered],
            "flag_meanings": " ".join(word.replace(" ", "_") for _, word in ordered),
        }
        notes.append(f"an enumeration, stored as {dtype.name} with flag_values and flag_meanings")
    base, inner_shape = dtype.base, dtype.shape
    if inner_shape:
        notes.append(f"elements are arrays of shape {inner_shape}, stored as additional dimensions")
    plain = pack_dtype(base, name)
    exact = (
        bool(dataset.id.get_type().equal(h5py.h5t.py_create(dtype, logical=True)))
        and (plain.itemsize, offsets(plain)) == (base.itemsize, offsets(base))
        and plain in (plain.newbyteorder("<"), plain.newbyteorder(">"))
    )
    return Elements(
        plain, inner_shape, exact, lambda read: read.astype(plain, copy=False),
        attributes=attributes, notes=notes,
    )  # fmt: skip


def _texts(read: NDArray, name: str) -> NDArray:
    """Decode the variable-length strings that h5py reads as bytes."""
    texts = np.empty(read.shape, object)
    try:
        for number, value in enumerate(read.flat):
            texts.flat[number] = value.decode("utf-8") if isinstance(value, bytes) else str(value)
    except UnicodeDecodeError as error:
        raise UnsupportedSourceError(name, f"a string is not UTF-8: {error}") from error
    return texts


def _references(h5py: Any, dataset: Any, kind: Any) -> Elements:
    if kind is not h5py.Reference:
        raise UnsupportedSourceError(dataset.name, "region references are not supported")
    file = dataset.file

    def paths(read: NDArray) -> NDArray:
        result = np.empty(read.shape, object)
        for number, value in enumerate(read.flat):
            result.flat[number] = path_of(file, value)
        return result

    return Elements("string", convert=paths, notes=["references, stored as paths in the source"])


def path_of(file: Any, reference: Any) -> str:
    """Return the path of the object of a reference, or "" if it does not exist."""
    if not reference:
        return ""
    try:
        return str(file[reference].name or "")
    except (ValueError, KeyError, RuntimeError, OSError):  # removed or damaged objects
        return ""
