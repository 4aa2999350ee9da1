/* numcodecs.lz4: the decoded size in four bytes, then one LZ4 block. */
#include <limits.h>

#include "codec_forms.h"
#include "libraries.h"

#define HEADER 4
#define LARGEST 0x7E000000 /* LZ4_MAX_INPUT_SIZE */
#define MAX_RATIO 255

static int64_t bound(const zarr_codec *codec, int64_t size) {
    (void)codec;
    return size > LARGEST ? -1 : (int64_t)lz4_library->compress_bound((int)size) + HEADER;
}

static int64_t decode(const zarr_codec *codec, void *worker, const uint8_t *src, int64_t size,
                      uint8_t *dst, int64_t capacity) {
    (void)codec, (void)worker;
    int64_t block = size - HEADER;
    if (block < 1 || block > INT_MAX) return -1;
    int64_t content = (int64_t)((uint32_t)src[0] | (uint32_t)src[1] << 8 | (uint32_t)src[2] << 16 |
                                (uint32_t)src[3] << 24);
    if (!content || content > capacity || content > LARGEST || content > MAX_RATIO * block) return -1;
    int found = lz4_library->decode((const char *)src + HEADER, (char *)dst, (int)block, (int)content);
    return found == content ? content : -1;
}

static int64_t encode(const zarr_codec *codec, void *worker, const uint8_t *src, int64_t size,
                      uint8_t *dst, int64_t capacity) {
    (void)worker;
    if (size > LARGEST || size < 1 || capacity - HEADER > INT_MAX) return -1;
    for (int i = 0; i < HEADER; i++) dst[i] = (uint8_t)(size >> 8 * i);
    int found = lz4_library->encode((const char *)src, (char *)dst + HEADER, (int)size,
                                    (int)(capacity - HEADER), (int)*parameters_of(codec));
    return found > 0 ? found + HEADER : -1;
}

int lz4_form(Form *form) {
    if (!lz4_library || *form->parameters < INT_MIN || *form->parameters > INT_MAX) return 0;
    form->codec.encode_bound = bound;
    form->codec.encode = encode;
    form->codec.decode = decode;
    return 1;
}
