/* zarr_codec.h: the binary interface of a codec in native code, version 1.
 *
 * A codec is a struct of function pointers for one configuration, such as "zstd, level 3".  A Python
 * codec offers it by a method
 *
 *     def __zarr_codec_v1__(self, decoded_size: int | None) -> capsule | None
 *
 * which returns a PyCapsule named ZARR_CODEC_CAPSULE with a pointer to a zarr_codec, or None if this
 * configuration has no native form.  decoded_size is the size of what the codec encodes, in bytes;
 * None if it is not constant.  The struct lives at least as long as the capsule; the destructor of
 * the capsule, if any, frees it.  This header needs neither Python nor zarr-native, and can be copied.
 *
 * Rules for all functions
 *
 * - They are re-entrant: any number of threads call them at once, without Python's lock.  They do
 *   not call Python, create threads, print, or let an exception leave.  What a call needs and
 *   threads must not share, such as a compression context, is worker memory: one for each thread.
 * - Buffers have no alignment, do not overlap, and are valid during the call only.
 * - Nothing is read outside src[0 .. src_size), nothing is written outside dst[0 .. dst_capacity),
 *   whatever src contains: stored bytes may be damaged or malicious.
 * - A negative result means "not done": the caller discards dst and calls the Python method, which
 *   does it or raises the error.  Rare cases can therefore be left to Python.
 *
 * The struct grows at its end: read a member only if `size` covers it.  `abi` changes if the meaning
 * of a member changes; a struct with another number is not used.
 */
#ifndef ZARR_CODEC_H
#define ZARR_CODEC_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define ZARR_CODEC_ABI 1
#define ZARR_CODEC_CAPSULE "zarr_codec_v1"

typedef struct zarr_codec zarr_codec;

struct zarr_codec {
    uint32_t abi;     /* ZARR_CODEC_ABI */
    uint32_t size;    /* sizeof(zarr_codec) of the header with which the codec was compiled */
    const char *name; /* for messages */
    void *state;      /* of the codec; never changed after the capsule was returned */

    /* The largest size that encode returns for this many bytes; negative if they are too many. */
    int64_t (*encode_bound)(const zarr_codec *codec, int64_t decoded_size);

    /* Encode src; return the size in dst.  dst_capacity is at least encode_bound(src_size). */
    int64_t (*encode)(const zarr_codec *codec, void *worker, const uint8_t *src, int64_t src_size,
                      uint8_t *dst, int64_t dst_capacity);

    /* Decode src; return the size in dst.  The result is complete and exact: if src decodes to more
     * than dst_capacity bytes, or something follows its end, the result is negative. */
    int64_t (*decode)(const zarr_codec *codec, void *worker, const uint8_t *src, int64_t src_size,
                      uint8_t *dst, int64_t dst_capacity);

    /* Optional, both or neither: memory that one thread uses for several calls.  A null result of
     * worker_new means that there is not enough memory. */
    void *(*worker_new)(const zarr_codec *codec);
    void (*worker_free)(const zarr_codec *codec, void *worker);
};

#ifdef __cplusplus
}
#endif
#endif
