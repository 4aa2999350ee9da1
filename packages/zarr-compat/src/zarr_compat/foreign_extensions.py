"""What to use for names of extensions that were published for zarr-python or numcodecs.

``published_extensions.toml`` has the extensions of distributions of others;
``scripts/list_extensions.py --published`` updates it.
"""

from __future__ import annotations

import tomllib
from functools import cache
from importlib.resources import files
from typing import Any

from zarr_core.extension import installed_entry_points

__all__ = ["advice_on_extension"]


def advice_on_extension(extension_point: str, name: str) -> str:
    """Return how to use an installed or published extension; empty if there is none."""
    # zarr-python also reads groups with the name of the codec, such as "zarr.codecs.gzip".
    group = f"zarr.{extension_point.replace('codec', 'codecs')}"
    for point in installed_entry_points("zarr."):
        if (point.group, point.name) == (group, name) or point.group == f"{group}.{name}":
            provider = f"{point.distribution} {point.version}"
            return f"{provider} provides it for zarr-python; to use it: pip install zarr-bridge"
    plain = name.removeprefix("numcodecs.")
    library, needed = ("zarr", " zarr-bridge") if plain == name else ("numcodecs", "")
    for distribution, kinds in _published().items():
        if plain in kinds.get(f"{library}.{extension_point}", "").split():
            return f"A package with it has been published: pip install {distribution}{needed}"
    if library == "zarr":
        return ""
    return (
        "Or install the distribution that provides it to numcodecs (entry-point group "
        "numcodecs.codecs); for your own codec: numcodecs.register_codec(its class)"
    )


@cache
def _published() -> dict[str, Any]:
    text = files(__package__ or "").joinpath("published_extensions.toml").read_text()
    return tomllib.loads(text)
