"""Compare this library with other Zarr libraries, interleaved in one run."""
