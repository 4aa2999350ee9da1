"""Exchange of an array between this library and another, in both directions."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING, Any

import numpy as np
import zarr_core
from extension_arrays import forms
from zarr_core.extension import create_extension

if TYPE_CHECKING:
    from pathlib import Path

    from extension_arrays import Form
    from interop_peers import Peer

YES, NO = "yes", "no"
READING, WRITING = "does not read", "does not write"


def cell(peer: Peer, kind: str, name: str, place: Path) -> tuple[str, list[str]]:
    """Return the cell of the table, and the messages of the other library.

    The cell is one word if all arrays of an extension have the same outcome.
    """
    found, said = {}, []
    for form in forms(kind, name):
        (here := place / form.label).mkdir(parents=True)
        found[form.label] = outcome(peer, form, here, said)
    if len(set(found.values())) == 1:
        return found.popitem()[1], said
    return "; ".join(f"{label}: {word}" for label, word in found.items()), said


def outcome(peer: Peer, form: Form, place: Path, said: list[str]) -> str:
    """Return ``yes``, ``no`` (not supported by the other library), or a description of the failure.

    ``yes`` means that each library reads what the other one writes, that both write the same
    bytes if the specification defines them, and that the metadata has the same meaning after
    the other library rewrites it.
    """
    ours = form.create(place / "ours")
    shutil.copytree(place / "ours", place / "theirs")
    shutil.copytree(place / "ours", place / "document")
    try:
        peer.open(place / "ours")
    except Exception as error:
        said.append(f"opening {form.label}: {error!r:.200}")
        return NO
    ours[...] = form.values
    expected = ours[...]
    tried = (
        lambda: _reading(peer, form, place / "ours", expected),
        lambda: _writing(peer, form, place, expected),
        lambda: _rewriting(peer, place / "document", ours),
    )
    found = []
    for attempt, failure in zip(
        tried, (READING, WRITING, "does not write the document"), strict=True
    ):
        try:
            found.append(attempt())
        except Exception as error:
            said.append(f"{form.label}: {error!r:.200}")
            found.append(failure)
    if found[:2] == [READING, WRITING]:
        return NO
    return ", ".join(filter(None, found)) or YES


def _reading(peer: Peer, form: Form, place: Path, expected: np.ndarray) -> str:
    got = peer.read(place, expected.dtype)
    return "" if same(got, expected, form.bits) else "reads other elements"


def _writing(peer: Peer, form: Form, place: Path, expected: np.ndarray) -> str:
    peer.write(place / "theirs", form.values)
    got = zarr_core.open_array(place / "theirs", mode="r")[...]
    if not same(got, expected, form.bits):
        return "writes other elements"
    ours, theirs = (_chunks(place / name) for name in ("ours", "theirs"))
    if not form.same_bytes or ours == theirs:
        return ""
    return "stores other bytes" if ours.keys() == theirs.keys() else "stores other chunks"


def _chunks(place: Path) -> dict[str, bytes]:
    files = (file for file in place.rglob("*") if file.is_file() and file.name != "zarr.json")
    return {str(file.relative_to(place)): file.read_bytes() for file in files}


def _rewriting(peer: Peer, place: Path, ours: zarr_core.Array) -> str:
    peer.rewrite(place)
    again = zarr_core.open_array(place, mode="r")
    return "" if meaning(again) == meaning(ours) else "changes the document"


def meaning(array: zarr_core.Array) -> dict[str, Any]:
    """Return a metadata document in a normal form."""
    fill = np.asarray(array.fill_value)
    return {
        "shape": array.shape,
        "data type": array.dtype,
        "fill value": fill.tolist() if fill.dtype.kind in "TUO" else fill.tobytes(),
        "chunks": (array.read_chunk_sizes, array.write_chunk_sizes),
        "codecs": (array.filters, array.serializer, array.compressors),
        "keys": create_extension("chunk_key_encoding", array.metadata.chunk_key_encoding),
    }


def same(got: Any, expected: np.ndarray, bits: int = 8) -> bool:
    """Whether elements are equal bit for bit; only the significant bits of each byte are compared."""
    got = np.asarray(got)
    if got.shape != expected.shape:
        return False
    if expected.dtype.kind in "TUO":
        return bool(got.tolist() == expected.tolist())
    return _bits(got, bits) == _bits(expected, bits)


def _bits(array: np.ndarray, bits: int) -> bytes:
    native = array.astype(array.dtype.newbyteorder("="))
    return (np.frombuffer(native.tobytes(), "u1") & ((1 << bits) - 1)).tobytes()
