/* blosc: c-blosc trusts the header of a frame, so the header is checked first, as by zarr-codecs. */
#include <limits.h>
#include <string.h>

#include "codec_forms.h"
#include "libraries.h"

#define HEADER 16
#define VERSION 2
#define COMPRESSORS 5 /* that c-blosc can contain: blosclz, lz4, snappy, zlib, zstd */
#define MEMCPYED 0x02
#define RESERVED 0x08
#define LARGEST (INT_MAX - HEADER)
#define MAX_RATIO (1 << 15) /* a Zstandard block of 4 bytes can decode to 128 KiB */

/* In the order of the parameter. */
static const char *const names[] = {"blosclz", "lz4", "lz4hc", "snappy", "zlib", "zstd"};

static int64_t field(const uint8_t *header, int at) {
    return (int64_t)((uint32_t)header[at] | (uint32_t)header[at + 1] << 8 |
                     (uint32_t)header[at + 2] << 16 | (uint32_t)header[at + 3] << 24);
}

/* The decoded size of a frame with a valid header, or -1. */
static int64_t content_size(const uint8_t *src, int64_t size) {
    if (size < HEADER || src[0] != VERSION) return -1;
    int flags = src[2], typesize = src[3];
    int64_t nbytes = field(src, 4), blocksize = field(src, 8);
    if (field(src, 12) != size || nbytes > LARGEST || !typesize || flags & RESERVED) return -1;
    if (flags & MEMCPYED) return nbytes + HEADER == size ? nbytes : -1;
    if (!nbytes) return 0;
    if (blocksize <= 0 || blocksize > nbytes || flags >> 5 >= COMPRESSORS) return -1;
    int64_t starts = (nbytes + blocksize - 1) / blocksize * 4;
    return HEADER + starts <= size && nbytes <= MAX_RATIO * size ? nbytes : -1;
}

static int64_t bound(const zarr_codec *codec, int64_t size) {
    (void)codec;
    return size > LARGEST ? -1 : size + HEADER;
}

static int64_t decode(const zarr_codec *codec, void *worker, const uint8_t *src, int64_t size,
                      uint8_t *dst, int64_t capacity) {
    (void)codec, (void)worker;
    int64_t content = content_size(src, size);
    if (content <= 0 || content > capacity) return -1; /* Python decodes an empty frame */
    return blosc_library->decode(src, dst, (size_t)content, 1) == content ? content : -1;
}

static int64_t encode(const zarr_codec *codec, void *worker, const uint8_t *src, int64_t size,
                      uint8_t *dst, int64_t capacity) {
    (void)worker;
    const int64_t *p = parameters_of(codec);
    if (size > LARGEST) return -1;
    int encoded = blosc_library->encode((int)p[1], (int)p[2], (size_t)p[3], (size_t)size, src, dst,
                                        (size_t)capacity, names[p[0]], (size_t)p[4], 1);
    return encoded > 0 ? encoded : -1;
}

int blosc_form(Form *form) {
    const int64_t *p = form->parameters;
    if (!blosc_library || p[0] < 0 || p[0] > 5 || p[1] < 0 || p[1] > 9 || p[2] < 0 || p[2] > 2 ||
        p[3] < 1 || p[4] < 0 || p[4] > INT_MAX)
        return 0;
    form->codec.encode_bound = bound;
    form->codec.encode = encode;
    form->codec.decode = decode;
    return 1;
}
