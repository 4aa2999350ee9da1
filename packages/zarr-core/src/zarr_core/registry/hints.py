"""What to say about an extension that nobody provides."""

from __future__ import annotations

from fnmatch import fnmatchcase

from zarr_core.config import config
from zarr_core.errors import UnknownExtensionError
from zarr_core.registry import bridges, discovery, registry
from zarr_core.registry.points import kind_called

# Which distribution of this project has which well-known names; `*` for the rest of one.
_WELL_KNOWN: dict[str, dict[str, str]] = {
    "zarr-bridge": {"bridge": "zarr-python", "store": "icechunk zarr.*"},
    "zarr-codecs": {
        "bridge": "numcodecs",
        "codec": "blosc conditional crc32c gzip transpose zstd "
        "adler32 bitround bz2 cast_value crc32 fletcher32 lz4 lzma packbits pcodec reshape "
        "scale_offset shuffle squeeze vlen-bytes vlen-utf8 zfp zlib numcodecs.* v2.filters",
    },
    "zarr-dtypes": {
        "data_type": "bfloat16 bytes complex_* fixed_length_utf32 float4_* float6_* float8_* "
        "int2 int4 null_terminated_bytes numpy.datetime64 numpy.timedelta64 raw_bytes string "
        "struct structured uint2 uint4 variable_length_bytes variable_length_utf8 datetime "
        "timedelta",
    },
    "zarr-grids": {
        "chunk_grid": "rectangular rectilinear",
        "chunk_key_encoding": "fanout suffix template",
        "chunk_memory_layout": "C F",
    },
    "zarr-sharding": {
        "codec": "sharding_indexed",
        "storage_transformer": "sharding",
    },
    "zarr-stores": {
        "store": "abfs abfss adl arrow_hdfs az azure dav dbfs dbm dir dropbox fsspec ftp "
        "gcs gdrive gist git github gs hdfs hf http https jlab json jupyter lakefs libarchive lmdb mdb "
        "mongodb mongodb+srv obstore oci oss parq parquet postgres postgresql redis rediss reference s3 "
        "s3a sftp smb sqldb sqlite ssh tar temp tos unix upath webdav webhdfs zip",
    },
    "zarr-formats": {
        "format": "draft draft-2021 n5 v1 v2",
        "data_type": "v2.*",
        "codec": "n5.* n5_default",
        "chunk_key_encoding": "n5 v3_draft",
    },
}


# Why nobody provides it, and what to do, for names that are left out on purpose.
_LEFT_OUT = {
    ("codec", "numcodecs.pickle"): "Reading pickled objects runs any code that their writer "
    "chose, so they are refused. If you trust the data, allow them for a while: "
    "from zarr_codecs.pickle import PickleCodec; "
    "zarr_core.extensions({'codec': {'numcodecs.pickle': PickleCodec}}).",
}


_OTHERS = "; or what gives it to numcodecs (entry-point group numcodecs.codecs)"


def unknown(kind: str, name: str, where: str) -> UnknownExtensionError:
    """The error about an unknown extension, with similar names and what to do."""
    from difflib import get_close_matches  # noqa: PLC0415 - lazy: only to explain

    known = {*registry.names(kind), *bridges.offers().get(kind, {})}
    similar = get_close_matches(name, sorted(known))
    return UnknownExtensionError(kind, name, where, similar, install_hint(kind, name))


def install_hint(kind: str, name: str) -> str:
    """What to do about an extension that nobody provides.

    Parameters
    ----------
    kind, name : str
        The extension.
    """
    if reason := _LEFT_OUT.get((kind, name)):
        return reason
    if "*" not in config.settings.disabled_plugins:
        installed = discovery.scan().providers.get(kind, {}).get(name, ())
        installed = installed or bridges.offers().get(kind, {}).get(name, ())
        if installed:  # and yet unknown
            return (
                f"It is in {', '.join(item.origin for item in installed)}, which the setting "
                "disabled_plugins switches off."
            )
        if found := registry.alternatives(kind, name):
            return (
                f"An alternative for it is there, and is used once you choose it: "
                f"zarr_core.config.set(providers={{'{kind}.{name}': '{found[0].choice}'}})"
            )
    if distribution := well_known(kind, name):
        off = " and do not switch it off" if registry.is_disabled(distribution) else ""
        others = _OTHERS if kind == "codec" and name.startswith("numcodecs.") else ""
        return f"Install it{off}: pip install --upgrade {distribution}{others}"
    point = kind_called(kind)
    fsspec = f"If fsspec has it, write fsspec+{name}://. " if kind == "store" else ""
    return (
        f"{fsspec}"
        f"Install the distribution that provides it (entry-point group {point.group}), or give "
        f"its class for a while: zarr_core.extensions({{'{kind}': {{'{name}': ...}}}})."
    )


def well_known(kind: str, name: str) -> str:
    """The distribution of this project that has an extension; empty if none has it."""
    for distribution, kinds in _WELL_KNOWN.items():
        if any(fnmatchcase(name, pattern) for pattern in kinds.get(kind, "").split()):
            return distribution
    return ""
