/* zstd: frames that declare their content size; all others are left to Python. */
#include <stdlib.h>

#include "codec_forms.h"
#include "libraries.h"

#define LEVEL 100    /* ZSTD_c_compressionLevel */
#define CHECKSUM 201 /* ZSTD_c_checksumFlag */
#define SMALL (1 << 17) /* as in zarr_codecs/_zstandard.py; docs/decisions/0028 has the measurement */
#define UNKNOWN (~0ULL - 1) /* ZSTD_CONTENTSIZE_ERROR; the next number is "unknown" */

typedef struct {
    void *decoder, *encoder, *small_encoder;
} Contexts;

/* Creating a decoder takes longer than decoding a small frame. */
static Idle decoders;

void zstd_free_idle(void) {
    void *decoder;
    while ((decoder = idle_take(&decoders))) zstd_library->free_decoder(decoder);
}

static const Zstd *encoding_library(int64_t size) {
    return small_zstd_library && size <= SMALL ? small_zstd_library : zstd_library;
}

static int64_t bound(const zarr_codec *codec, int64_t size) {
    (void)codec;
    const Zstd *library = encoding_library(size);
    size_t found = library->compress_bound((size_t)size);
    return library->is_error(found) || found > INT64_MAX ? -1 : (int64_t)found;
}

static int64_t decode(const zarr_codec *codec, void *worker, const uint8_t *src, int64_t size,
                      uint8_t *dst, int64_t capacity) {
    (void)codec;
    Contexts *contexts = worker;
    unsigned long long content = zstd_library->content_size(src, (size_t)size);
    if (!content || content >= UNKNOWN || content > (unsigned long long)capacity) return -1;
    if (!contexts->decoder && !(contexts->decoder = idle_take(&decoders)) &&
        !(contexts->decoder = zstd_library->create_decoder()))
        return -1;
    size_t found = zstd_library->decode(contexts->decoder, dst, (size_t)content, src, (size_t)size);
    return found == content ? (int64_t)found : -1;
}

static int64_t encode(const zarr_codec *codec, void *worker, const uint8_t *src, int64_t size,
                      uint8_t *dst, int64_t capacity) {
    const int64_t *p = parameters_of(codec);
    Contexts *contexts = worker;
    const Zstd *library = encoding_library(size);
    void **encoder = library == zstd_library ? &contexts->encoder : &contexts->small_encoder;
    if (!*encoder) {
        void *created = library->create_encoder();
        if (!created) return -1;
        if (library->is_error(library->set_parameter(created, LEVEL, (int)p[0])) ||
            library->is_error(library->set_parameter(created, CHECKSUM, (int)p[1]))) {
            library->free_encoder(created);
            return -1;
        }
        *encoder = created;
    }
    size_t found = library->encode(*encoder, dst, (size_t)capacity, src, (size_t)size);
    return library->is_error(found) ? -1 : (int64_t)found;
}

static void *worker_new(const zarr_codec *codec) {
    (void)codec;
    return calloc(1, sizeof(Contexts));
}

static void worker_free(const zarr_codec *codec, void *worker) {
    (void)codec;
    Contexts *contexts = worker;
    if (contexts->decoder && !idle_put(&decoders, contexts->decoder))
        zstd_library->free_decoder(contexts->decoder);
    if (contexts->encoder) zstd_library->free_encoder(contexts->encoder);
    if (contexts->small_encoder) small_zstd_library->free_encoder(contexts->small_encoder);
    free(contexts);
}

int zstd_form(Form *form) {
    const int64_t *p = form->parameters;
    if (!zstd_library || p[0] < -131072 || p[0] > 22 || p[1] < 0 || p[1] > 1) return 0;
    form->codec.encode_bound = bound;
    form->codec.encode = encode;
    form->codec.decode = decode;
    form->codec.worker_new = worker_new;
    form->codec.worker_free = worker_free;
    return 1;
}
