"""Native forms of codecs: those of zarr-codecs by their class, others by a method of the codec."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from zarr_native import _native, libraries

if TYPE_CHECKING:
    from collections.abc import Callable

METHOD = "__zarr_codec_v1__"
"""The method with which a codec offers its native form; see ``zarr_codec.h``."""

# In the order of the numbers of the compiled code.
_COMPRESSORS = ("blosclz", "lz4", "lz4hc", "snappy", "zlib", "zstd")
_SHUFFLES = ("noshuffle", "shuffle", "bitshuffle")


class Form(NamedTuple):
    """The native form of a codec: its name, its library, and its parameters as integers."""

    name: str
    library: str
    parameters: Callable[[Any], tuple[int, ...]]


# By class, as another distribution can provide a codec of the same name that encodes differently.
FORMS = {
    "zarr_codecs.blosc.BloscCodec": Form(
        "blosc",
        "blosc",
        lambda codec: (
            _COMPRESSORS.index(codec.cname),
            codec.clevel,
            _SHUFFLES.index(codec.shuffle or "bitshuffle"),
            codec.typesize or 1,
            codec.blocksize,
        ),
    ),
    "zarr_codecs.crc32c.Crc32cCodec": Form("crc32c", "", lambda codec: ()),
    "zarr_codecs.gzip.GzipCodec": Form("gzip", "deflate", lambda codec: (codec.level,)),
    "zarr_codecs.lz4.Lz4Codec": Form("numcodecs.lz4", "lz4", lambda codec: (codec.acceleration,)),
    "zarr_codecs.shuffle.ShuffleCodec": Form(
        "numcodecs.shuffle",
        "",
        lambda codec: (max(1, 4 if codec.elementsize is None else codec.elementsize),),
    ),
    "zarr_codecs.zlib.ZlibCodec": Form("numcodecs.zlib", "deflate", lambda codec: (codec.level,)),
    "zarr_codecs.zstd.ZstdCodec": Form(
        "zstd", "zstd", lambda codec: (codec.level, int(codec.checksum))
    ),
}


def class_name(value: object) -> str:
    """The module and name of the class of an object; a subclass has another one."""
    kind = type(value)
    return f"{kind.__module__}.{kind.__qualname__}"


def native_form(codec: Any, decoded_size: int | None) -> tuple[Any, str]:
    """Return the capsule of a codec and an empty string, or None and the reason why it has none."""
    form = FORMS.get(class_name(codec))
    if form is None:
        method = getattr(codec, METHOD, None)
        if method is None:
            return None, f"{class_name(codec)} has no native form"
        capsule = method(decoded_size)
        reason = f"{class_name(codec)} has no native form for this configuration"
        return capsule, "" if capsule is not None else reason
    problem = libraries.problem(form.library) if form.library else ""
    capsule = _native.codec(form.name, form.parameters(codec))
    # gzip and zlib have a second library.
    if capsule is None:
        return None, f"{form.name} has no native form: {problem or 'a parameter is not supported'}"
    return capsule, ""
