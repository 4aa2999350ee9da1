"""What a test has changed in zarr-python, put back for the tests after it."""

import sys


def forget_offers():
    """Take back the codecs that zarr_bridge has given to zarr-python, and all settings."""
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
