"""Messages do not repeat long stored text, whatever the format."""

import json
import warnings

import numpy as np
import pytest
import zarr_core as zarr
from hostile_text import raw_signs
from zarr_core.errors import ZarrError

LONG = "n\x1b[2J" * 4_000


def replaced(value, place, new):
    """A copy of a JSON value with another value at one location."""
    if not place:
        return new
    first, *rest = place
    copy = list(value) if isinstance(value, list) else dict(value)
    old = copy[first] if isinstance(copy, list) or first in copy else {}
    copy[first] = replaced(old, rest, new)
    return copy


def places(value, place=()):
    """The locations of all strings of a JSON value, and an additional member of each object."""
    if isinstance(value, dict):
        yield (*place, LONG)
        for name, item in value.items():
            yield from places(item, (*place, name))
    elif isinstance(value, list):
        for number, item in enumerate(value):
            yield from places(item, (*place, number))
    if place:
        yield place


@pytest.mark.parametrize("zarr_format", [3, 2, "n5", "v1", "draft", "draft-2021"])
@pytest.mark.parametrize("new", [LONG, [LONG] * 20, {LONG: LONG}], ids=["text", "list", "object"])
def test_long_text_anywhere_in_a_document(zarr_format, new):
    data = np.arange(6, dtype="i4").reshape(2, 3)
    plain = zarr.MemoryStore()
    zarr.create_array(plain, data=data, zarr_format=zarr_format)
    documents = {
        key: json.loads(bytes(plain.get(key)))
        for key in plain.list()
        if bytes(plain.get(key))[:1] == b"{"
    }
    messages = []
    for key, document in documents.items():
        for place in places(document):
            store = zarr.MemoryStore({key: bytes(plain.get(key)) for key in plain.list()})
            store.set(key, json.dumps(replaced(document, place, new)).encode())
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                try:
                    array = zarr.open(store, "r", zarr_format=zarr_format)
                    messages += [repr(array), repr(array.info)]
                except ZarrError as error:
                    messages.append(str(error))
            messages += [str(warning.message) for warning in caught]
    assert len(messages) > 10
    for message in messages:
        assert len(message) < 6000, message[:500]
        assert not raw_signs(message)


@pytest.mark.parametrize("zarr_format", [3, 2, "n5", "v1", "draft", "draft-2021"])
def test_a_long_path(zarr_format):
    for path in (LONG.replace("\x1b", ""), "/".join(["n"] * 4_000)):
        with pytest.raises(ZarrError) as refused:
            zarr.open(zarr.MemoryStore({"other": b""}), "r", path=path, zarr_format=zarr_format)
        assert len(str(refused.value)) < 3000
