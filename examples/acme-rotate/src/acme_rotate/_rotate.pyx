# cython: language_level=3
"""The native form of acme.rotate: the bits of each byte are rotated."""

from cpython.pycapsule cimport PyCapsule_GetPointer, PyCapsule_New
from libc.stdint cimport int64_t, uint8_t, uint32_t
from libc.stdlib cimport calloc, free


cdef extern from "zarr_codec.h":
    enum: ZARR_CODEC_ABI
    const char *ZARR_CODEC_CAPSULE
    ctypedef struct zarr_codec:
        uint32_t abi
        uint32_t size
        const char *name
        void *state
        int64_t (*encode_bound)(const zarr_codec *, int64_t) noexcept nogil
        int64_t (*encode)(const zarr_codec *, void *, const uint8_t *, int64_t, uint8_t *,
                          int64_t) noexcept nogil
        int64_t (*decode)(const zarr_codec *, void *, const uint8_t *, int64_t, uint8_t *,
                          int64_t) noexcept nogil


cdef int64_t bound(const zarr_codec *codec, int64_t size) noexcept nogil:
    return size


cdef int64_t rotate(const uint8_t *src, int64_t size, uint8_t *dst, int64_t capacity,
                    int bits) noexcept nogil:
    cdef int64_t i
    if size > capacity:
        return -1  # Python raises the error
    for i in range(size):
        dst[i] = <uint8_t>((src[i] << bits) | (src[i] >> (8 - bits)))
    return size


cdef int64_t encode(const zarr_codec *codec, void *worker, const uint8_t *src, int64_t size,
                    uint8_t *dst, int64_t capacity) noexcept nogil:
    return rotate(src, size, dst, capacity, <int><int64_t>codec.state)


cdef int64_t decode(const zarr_codec *codec, void *worker, const uint8_t *src, int64_t size,
                    uint8_t *dst, int64_t capacity) noexcept nogil:
    return rotate(src, size, dst, capacity, 8 - <int><int64_t>codec.state)


cdef void free_codec(object made) noexcept:
    free(PyCapsule_GetPointer(made, ZARR_CODEC_CAPSULE))


def capsule(int bits):
    """Return the native form for a number of bits, from 0 to 7; its state is the number."""
    cdef zarr_codec *codec = <zarr_codec *>calloc(1, sizeof(zarr_codec))
    if codec == NULL:
        raise MemoryError
    codec.abi = ZARR_CODEC_ABI
    codec.size = sizeof(zarr_codec)
    codec.name = "acme.rotate"
    codec.state = <void *><int64_t>bits
    codec.encode_bound = bound
    codec.encode = encode
    codec.decode = decode
    return PyCapsule_New(codec, ZARR_CODEC_CAPSULE, free_codec)
