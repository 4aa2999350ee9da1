/* numcodecs.shuffle: the first bytes of all elements, then the second bytes, and so on. */
#include <string.h>

#include "codec_forms.h"

#define TILE 256 /* elements; a tile of all byte positions stays in the cache */

static int64_t bound(const zarr_codec *codec, int64_t size) {
    (void)codec;
    return size;
}

/* Transpose bytes: `count` elements of `width` bytes. */
static int64_t transpose(const zarr_codec *codec, const uint8_t *src, int64_t size, uint8_t *dst,
                         int64_t capacity, int decoding) {
    int64_t width = *parameters_of(codec), count = size / width;
    if (size % width || size > capacity) return -1;
    if (width == 1) {
        memcpy(dst, src, (size_t)size);
        return size;
    }
    for (int64_t start = 0; start < count; start += TILE) {
        int64_t stop = start + TILE < count ? start + TILE : count;
        for (int64_t byte = 0; byte < width; byte++) {
            if (decoding)
                for (int64_t i = start; i < stop; i++) dst[i * width + byte] = src[byte * count + i];
            else
                for (int64_t i = start; i < stop; i++) dst[byte * count + i] = src[i * width + byte];
        }
    }
    return size;
}

static int64_t decode(const zarr_codec *codec, void *worker, const uint8_t *src, int64_t size,
                      uint8_t *dst, int64_t capacity) {
    (void)worker;
    return transpose(codec, src, size, dst, capacity, 1);
}

static int64_t encode(const zarr_codec *codec, void *worker, const uint8_t *src, int64_t size,
                      uint8_t *dst, int64_t capacity) {
    (void)worker;
    return transpose(codec, src, size, dst, capacity, 0);
}

int shuffle_form(Form *form) {
    if (*form->parameters < 1) return 0;
    form->codec.encode_bound = bound;
    form->codec.encode = encode;
    form->codec.decode = decode;
    return 1;
}
