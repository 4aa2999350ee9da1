"""A codec from arrays to arrays without optional methods."""

from zarr_core.extension import ArrayToArrayCodec


class Negate(ArrayToArrayCodec):
    """Supports whole chunks only; returns a scalar for an array without dimensions, as NumPy does."""

    def encoded_representation(self, decoded):
        return decoded

    def encode(self, array, decoded):
        return -array

    def decode(self, array, decoded):
        return -array
