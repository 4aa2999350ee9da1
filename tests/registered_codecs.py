"""Creates registered codecs, and applies them as an array does."""

import numpy as np
import pytest
from plain_data_type import Plain
from zarr_core.engine.chain import CodecChain
from zarr_core.errors import ExtensionLoadError, UnknownExtensionError
from zarr_core.extension import (
    ArrayRepresentation,
    ArrayToArrayCodec,
    ExtensionDefinition,
    create_extension,
    data_type_for,
)


def made(name, **configuration):
    return create_extension("codec", ExtensionDefinition(name, configuration))


def data_type(name):
    """The data type of a name; skips the test if no distribution provides it."""
    try:
        return create_extension("data_type", ExtensionDefinition(name))
    except (UnknownExtensionError, ExtensionLoadError) as error:
        pytest.skip(str(error))


def representation(array, fill=0, name=None):
    try:
        found = data_type_for(array.dtype) if name is None else data_type(name)
    except UnknownExtensionError:
        found = Plain(array.dtype)
    fill = np.zeros((), array.dtype) if array.dtype.names else np.asarray(fill).astype(array.dtype)
    return ArrayRepresentation(array.shape, found, fill.reshape(()))


def chain(codec, array, fill=0, name=None):
    """The codec resolved for chunks like this one, followed by ``bytes`` if its result is an array."""
    more = [ExtensionDefinition("bytes", {"endian": "little"})]
    items = [codec, *(more if isinstance(codec, ArrayToArrayCodec) else ())]
    return CodecChain.of(*items).prepare(representation(array, fill, name))


def encode(codec, array):
    """What an array -> array codec gives for a chunk."""
    return codec.encode(array, representation(array))


def round_trip(codec, array, fill=0, name=None):
    """Encode and decode; the chunk must not change, and the encoded size must be as declared."""
    bound = chain(codec, array, fill, name).with_settings(write_empty_chunks=True)
    before = array.copy()
    data = bound.encode(array)
    assert array.tobytes() == before.tobytes()
    if bound.encoded_size is not None:
        assert len(data) == bound.encoded_size
    back = bound.decode(data)
    assert back.shape == array.shape
    assert back.dtype == array.dtype
    return bytes(data), back
