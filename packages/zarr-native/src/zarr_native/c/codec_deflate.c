/* gzip and numcodecs.zlib: one stream, by libdeflate if it is available, otherwise by zlib.
 *
 * The encoded bytes are those of the same codec in Python, which prefers the same libraries. */
#include <limits.h>
#include <stdlib.h>

#include "codec_forms.h"
#include "libraries.h"

#ifdef HAVE_ZLIB
#include <zlib.h>
#endif

#define GZIP_WBITS 31
#define ZLIB_WBITS 15

typedef struct {
    void *decoder, *encoder;
} Contexts;

#ifdef HAVE_ZLIB
static int64_t zlib_bound(const zarr_codec *codec, int64_t size) {
    (void)codec;
    return size > UINT_MAX ? -1 : (int64_t)compressBound((uLong)size) + 32;
}

static int64_t zlib_decode(int wbits, const uint8_t *src, int64_t size, uint8_t *dst,
                           int64_t capacity) {
    z_stream stream = {.next_in = (Bytef *)src, .avail_in = (uInt)size, .next_out = dst,
                       .avail_out = (uInt)capacity};
    if (size > UINT_MAX || capacity > UINT_MAX || inflateInit2(&stream, wbits) != Z_OK) return -1;
    int state = inflate(&stream, Z_FINISH);
    int64_t found = state == Z_STREAM_END && !stream.avail_in ? (int64_t)stream.total_out : -1;
    inflateEnd(&stream);
    return found;
}

static int64_t zlib_encode(int wbits, int level, const uint8_t *src, int64_t size, uint8_t *dst,
                           int64_t capacity) {
    z_stream stream = {.next_in = (Bytef *)src, .avail_in = (uInt)size, .next_out = dst,
                       .avail_out = (uInt)capacity};
    if (size > UINT_MAX || capacity > UINT_MAX ||
        deflateInit2(&stream, level, Z_DEFLATED, wbits, 8, Z_DEFAULT_STRATEGY) != Z_OK)
        return -1;
    int state = deflate(&stream, Z_FINISH);
    int64_t found = state == Z_STREAM_END ? (int64_t)stream.total_out : -1;
    deflateEnd(&stream);
    return found;
}
#else
static int64_t zlib_bound(const zarr_codec *codec, int64_t size) {
    (void)codec;
    return size + 1024; /* nothing is encoded */
}
#endif

static int64_t decode(void *worker, DeflateDecode library, int wbits, const uint8_t *src,
                      int64_t size, uint8_t *dst, int64_t capacity) {
    if (library) {
        Contexts *contexts = worker;
        size_t used = 0, found = 0;
        if (!contexts->decoder && !(contexts->decoder = deflate_library->create_decoder())) return -1;
        int failed = library(contexts->decoder, src, (size_t)size, dst, (size_t)capacity, &used, &found);
        /* It stops after the first stream. */
        return !failed && used == (size_t)size ? (int64_t)found : -1;
    }
#ifdef HAVE_ZLIB
    return zlib_decode(wbits, src, size, dst, capacity);
#else
    (void)wbits;
    return -1;
#endif
}

static int64_t gzip_decode(const zarr_codec *codec, void *worker, const uint8_t *src, int64_t size,
                           uint8_t *dst, int64_t capacity) {
    (void)codec;
    return decode(worker, deflate_library ? deflate_library->decode_gzip : NULL, GZIP_WBITS, src, size,
                  dst, capacity);
}

static int64_t zlib_decode_stream(const zarr_codec *codec, void *worker, const uint8_t *src,
                                  int64_t size, uint8_t *dst, int64_t capacity) {
    (void)codec;
    return decode(worker, deflate_library ? deflate_library->decode_zlib : NULL, ZLIB_WBITS, src, size,
                  dst, capacity);
}

static int64_t gzip_bound(const zarr_codec *codec, int64_t size) {
    if (deflate_library) return (int64_t)deflate_library->gzip_bound(NULL, (size_t)size);
    return zlib_bound(codec, size);
}

static int64_t gzip_encode(const zarr_codec *codec, void *worker, const uint8_t *src, int64_t size,
                           uint8_t *dst, int64_t capacity) {
    int level = (int)*parameters_of(codec);
    if (deflate_library) {
        Contexts *contexts = worker;
        if (!contexts->encoder && !(contexts->encoder = deflate_library->create_encoder(level)))
            return -1;
        size_t found =
            deflate_library->encode_gzip(contexts->encoder, src, (size_t)size, dst, (size_t)capacity);
        return found ? (int64_t)found : -1;
    }
#ifdef HAVE_ZLIB
    return zlib_encode(GZIP_WBITS, level, src, size, dst, capacity);
#else
    return -1;
#endif
}

static int64_t zlib_encode_stream(const zarr_codec *codec, void *worker, const uint8_t *src,
                                  int64_t size, uint8_t *dst, int64_t capacity) {
    (void)worker;
#ifdef HAVE_ZLIB
    return zlib_encode(ZLIB_WBITS, (int)*parameters_of(codec), src, size, dst, capacity);
#else
    (void)codec, (void)src, (void)size, (void)dst, (void)capacity;
    return -1;
#endif
}

static void *worker_new(const zarr_codec *codec) {
    (void)codec;
    return calloc(1, sizeof(Contexts));
}

static void worker_free(const zarr_codec *codec, void *worker) {
    (void)codec;
    Contexts *contexts = worker;
    if (contexts->decoder) deflate_library->free_decoder(contexts->decoder);
    if (contexts->encoder) deflate_library->free_encoder(contexts->encoder);
    free(contexts);
}

static int form_of(Form *form, int lowest) {
#ifndef HAVE_ZLIB
    if (!deflate_library) return 0;
#endif
    if (*form->parameters < lowest || *form->parameters > 9) return 0;
    form->codec.worker_new = worker_new;
    form->codec.worker_free = worker_free;
    return 1;
}

int gzip_form(Form *form) {
    form->codec.encode_bound = gzip_bound;
    form->codec.encode = gzip_encode;
    form->codec.decode = gzip_decode;
    return form_of(form, 0);
}

int zlib_form(Form *form) {
    form->codec.encode_bound = zlib_bound;
    form->codec.encode = zlib_encode_stream;
    form->codec.decode = zlib_decode_stream;
    return form_of(form, -1);
}
