"""Restores the state of zarr-python after a test."""

import sys


def forget_offers():
    """Unregister the codecs of zarr_bridge in zarr-python, and restore all settings."""
    if "zarr" not in sys.modules:
        return
    import zarr.registry

    zarr.config.reset()
    content = vars(zarr.registry)
    registries = content.get("__codec_registries") or content["_codec_registries"]
    for name, codecs in list(registries.items()):
        for label in [it for it in codecs if it.startswith("zarr_bridge.")]:
            del codecs[label]
        if not codecs and not codecs.lazy_load_list:
            del registries[name]
