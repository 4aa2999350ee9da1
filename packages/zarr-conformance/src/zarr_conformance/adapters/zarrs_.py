"""zarrs-python (https://github.com/zarrs/zarrs-python): zarr-python with codecs of zarrs."""

from __future__ import annotations

import warnings
from importlib.metadata import version

from zarr_conformance.adapters.zarr_python_3 import ZarrPython3, zarr


class ZarrsPython(ZarrPython3):
    """Metadata is handled by zarr-python, chunks by zarrs."""

    implementation = "zarrs-python"

    def version(self) -> str:
        return f"{version('zarrs')} on zarr-python {super().version()}"

    def category(self, error: BaseException) -> str:
        # In strict mode it raises errors instead of falling back to zarr-python.
        kind = type(error).__name__
        if kind.startswith("Unsupported") or kind == "DiscontiguousArrayError":
            return "unsupported"
        if str(error).endswith("not supported"):  # of byte orders, in either mode
            return "unsupported"
        return super().category(error)


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    path = "zarrs.ZarrsCodecPipeline"
    zarr.config.set({"codec_pipeline.path": path, "codec_pipeline.strict": True})
    ZarrsPython().serve()
