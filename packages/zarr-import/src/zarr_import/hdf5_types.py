"""Data types of HDF5, as those of Zarr."""

from __future__ import annotations

from dataclasses import dataclass, field
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np
from zarr_core.extension import ExtensionDefinition

from zarr_import.dtypes import offsets, packed
from zarr_import.unsupported import UnsupportedSourceError

if TYPE_CHECKING:
    from collections.abc import Callable

    from zarr_core.extension import JSON

    NDArray = np.ndarray[Any, Any]


@dataclass(frozen=True, slots=True)
class Elements:
    """What the elements of a dataset become.

    Parameters
    ----------
    dtype : dtype or str
        What :func:`zarr_core.create_array` takes.
    within : tuple of int
        Shape of an element that is an array: further dimensions.
    exact : bool
        Whether the bytes in the file, behind the filters, are those of Zarr.
    convert : callable, optional
        Makes elements of what h5py reads.
    serializer : ExtensionDefinition, optional
        The codec that only such elements have.
    attributes : dict
        What tells the meaning of the elements.
    notes : list of str
        What is not as it was.
    """

    dtype: Any
    within: tuple[int, ...] = ()
    exact: bool = False
    convert: Callable[[NDArray], NDArray] | None = None
    serializer: ExtensionDefinition | None = None
    attributes: dict[str, JSON] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)

    @property
    def itemsize(self) -> int | None:
        """Bytes of an element of the source, as it is here; None if they differ."""
        fixed = isinstance(self.dtype, np.dtype)
        return self.dtype.itemsize * prod(self.within) if fixed else None


def elements_of(h5py: Any, dataset: Any) -> Elements:
    """Find what the elements of a dataset become.

    Raises
    ------
    UnsupportedSourceError
        If there is no data type for them.
    """
    name = dataset.name
    try:
        dtype = dataset.dtype
    except TypeError as error:  # such as H5T_TIME
        raise UnsupportedSourceError(name, f"NumPy has no such type ({error})") from error
    string = h5py.check_string_dtype(dtype)
    if string is not None and string.length is None:
        return Elements("string", convert=lambda read: _texts(read, name))
    reference = h5py.check_ref_dtype(dtype)
    if reference is not None:
        return _references(h5py, dataset, reference)
    sequence = h5py.check_vlen_dtype(dtype)
    if sequence is not None:
        if sequence.hasobject or sequence.names:
            raise UnsupportedSourceError(name, f"elements are sequences of {sequence}")
        if not sequence.isnative:  # h5py 3.16 takes their bytes for those of this machine
            raise UnsupportedSourceError(
                name, f"elements are sequences of {sequence.str}, whose byte order h5py mistakes"
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
    base, within = dtype.base, dtype.shape
    if within:
        notes.append(f"elements are arrays of shape {within}, stored as further dimensions")
    plain = packed(base, name)
    exact = (
        bool(dataset.id.get_type().equal(h5py.h5t.py_create(dtype, logical=True)))
        and (plain.itemsize, offsets(plain)) == (base.itemsize, offsets(base))
        and plain in (plain.newbyteorder("<"), plain.newbyteorder(">"))
    )
    return Elements(
        plain, within, exact, lambda read: read.astype(plain, copy=False), None, attributes, notes
    )


def _texts(read: NDArray, name: str) -> NDArray:
    """Strings of the bytes that h5py reads for those of variable length."""
    texts = np.empty(read.shape, object)
    try:
        for place, value in enumerate(read.flat):
            texts.flat[place] = value.decode("utf-8") if isinstance(value, bytes) else str(value)
    except UnicodeDecodeError as error:
        raise UnsupportedSourceError(name, f"a string is not UTF-8: {error}") from error
    return texts


def _references(h5py: Any, dataset: Any, kind: Any) -> Elements:
    if kind is not h5py.Reference:
        raise UnsupportedSourceError(
            dataset.name, "elements refer to parts of datasets, for which Zarr has no data type"
        )
    file = dataset.file

    def paths(read: NDArray) -> NDArray:
        found = np.empty(read.shape, object)
        for place, value in enumerate(read.flat):
            found.flat[place] = path_of(file, value)
        return found

    return Elements("string", convert=paths, notes=["references, stored as paths in the source"])


def path_of(file: Any, reference: Any) -> str:
    """The path of the object that a reference leads to; empty if it leads to none."""
    if not reference:
        return ""
    try:
        return str(file[reference].name or "")
    except (ValueError, KeyError):  # of what has been removed
        return ""
