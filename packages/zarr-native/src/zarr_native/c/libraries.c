/* Find and test compression libraries.
 *
 * Nobody promises that a module of another distribution exports these functions.  So a library that
 * is found at run time is used only after a test: a frame that the library's Python module wrote
 * decodes to what it contains, a cut frame and a result that is too large are refused, and what the
 * library encodes, it decodes. */
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#include "codec_forms.h"
#include "libraries.h"

#ifdef HAVE_ZSTD
#include <zstd.h>
#endif
#ifdef HAVE_BLOSC
#include <blosc.h>
#endif
#ifdef HAVE_LZ4
#include <lz4.h>
#endif
#ifdef HAVE_LIBDEFLATE
#include <libdeflate.h>
#endif

const Zstd *zstd_library;
const Blosc *blosc_library;
const Lz4 *lz4_library;
const Deflate *deflate_library;

static Zstd zstd;
static Blosc blosc;
static Lz4 lz4;
static Deflate deflate_functions;

/* Set a member to a function of the linked library, or of the one at run time. */
#define LINKED(member, function) memcpy(&member, &(void *){(void *)function}, sizeof(void *))
#define FOUND(member, function)                                      \
    do {                                                             \
        void *address = dlsym(handle, #function);                    \
        if (!address) return "does not export " #function;           \
        memcpy(&member, &address, sizeof address);                   \
    } while (0)

static const char *find_zstd(void *handle) {
    zstd_free_idle();
#ifdef HAVE_ZSTD
    (void)handle;
    LINKED(zstd.version, ZSTD_versionNumber);
    LINKED(zstd.compress_bound, ZSTD_compressBound);
    LINKED(zstd.is_error, ZSTD_isError);
    LINKED(zstd.content_size, ZSTD_getFrameContentSize);
    LINKED(zstd.create_decoder, ZSTD_createDCtx);
    LINKED(zstd.free_decoder, ZSTD_freeDCtx);
    LINKED(zstd.decode, ZSTD_decompressDCtx);
    LINKED(zstd.create_encoder, ZSTD_createCCtx);
    LINKED(zstd.free_encoder, ZSTD_freeCCtx);
    LINKED(zstd.set_parameter, ZSTD_CCtx_setParameter);
    LINKED(zstd.encode, ZSTD_compress2);
#else
    FOUND(zstd.version, ZSTD_versionNumber);
    FOUND(zstd.compress_bound, ZSTD_compressBound);
    FOUND(zstd.is_error, ZSTD_isError);
    FOUND(zstd.content_size, ZSTD_getFrameContentSize);
    FOUND(zstd.create_decoder, ZSTD_createDCtx);
    FOUND(zstd.free_decoder, ZSTD_freeDCtx);
    FOUND(zstd.decode, ZSTD_decompressDCtx);
    FOUND(zstd.create_encoder, ZSTD_createCCtx);
    FOUND(zstd.free_encoder, ZSTD_freeCCtx);
    FOUND(zstd.set_parameter, ZSTD_CCtx_setParameter);
    FOUND(zstd.encode, ZSTD_compress2);
#endif
    if (zstd.version() < 10400 || zstd.version() >= 20000) return "has an unknown version";
    zstd_library = &zstd;
    return NULL;
}

static const char *find_blosc(void *handle) {
#ifdef HAVE_BLOSC
    (void)handle;
    LINKED(blosc.version, blosc_get_version_string);
    LINKED(blosc.decode, blosc_decompress_ctx);
    LINKED(blosc.encode, blosc_compress_ctx);
#else
    FOUND(blosc.version, blosc_get_version_string);
    FOUND(blosc.decode, blosc_decompress_ctx);
    FOUND(blosc.encode, blosc_compress_ctx);
#endif
    if (strncmp(blosc.version(), "1.", 2)) return "has an unknown version";
    blosc_library = &blosc;
    return NULL;
}

static const char *find_lz4(void *handle) {
#ifdef HAVE_LZ4
    (void)handle;
    LINKED(lz4.version, LZ4_versionNumber);
    LINKED(lz4.compress_bound, LZ4_compressBound);
    LINKED(lz4.decode, LZ4_decompress_safe);
    LINKED(lz4.encode, LZ4_compress_fast);
#else
    FOUND(lz4.version, LZ4_versionNumber);
    FOUND(lz4.compress_bound, LZ4_compressBound);
    FOUND(lz4.decode, LZ4_decompress_safe);
    FOUND(lz4.encode, LZ4_compress_fast);
#endif
    if (lz4.version() < 10800 || lz4.version() >= 20000) return "has an unknown version";
    lz4_library = &lz4;
    return NULL;
}

static const char *find_deflate(void *handle) {
#ifdef HAVE_LIBDEFLATE
    (void)handle;
    LINKED(deflate_functions.create_decoder, libdeflate_alloc_decompressor);
    LINKED(deflate_functions.free_decoder, libdeflate_free_decompressor);
    LINKED(deflate_functions.decode_gzip, libdeflate_gzip_decompress_ex);
    LINKED(deflate_functions.decode_zlib, libdeflate_zlib_decompress_ex);
    LINKED(deflate_functions.create_encoder, libdeflate_alloc_compressor);
    LINKED(deflate_functions.free_encoder, libdeflate_free_compressor);
    LINKED(deflate_functions.encode_gzip, libdeflate_gzip_compress);
    LINKED(deflate_functions.gzip_bound, libdeflate_gzip_compress_bound);
#else
    FOUND(deflate_functions.create_decoder, libdeflate_alloc_decompressor);
    FOUND(deflate_functions.free_decoder, libdeflate_free_decompressor);
    FOUND(deflate_functions.decode_gzip, libdeflate_gzip_decompress_ex);
    FOUND(deflate_functions.decode_zlib, libdeflate_zlib_decompress_ex);
    FOUND(deflate_functions.create_encoder, libdeflate_alloc_compressor);
    FOUND(deflate_functions.free_encoder, libdeflate_free_compressor);
    FOUND(deflate_functions.encode_gzip, libdeflate_gzip_compress);
    FOUND(deflate_functions.gzip_bound, libdeflate_gzip_compress_bound);
#endif
    deflate_library = &deflate_functions;
    return NULL;
}

/* --- the test --- */

/* What the frames contain: this number of bytes, each its position modulo 13. */
#define CONTENT 208
#define BLOSC_CONTENT 416

static const uint8_t zstd_frame[] = {40,  181, 47, 253, 36, 208, 165, 0,  0,  104, 0,
                                     1,   2,   3,  4,   5,  6,   7,   8,  9,  10,  11,
                                     12,  1,   0,  64,  160, 230, 23, 211, 117, 60, 90};
static const uint8_t lz4_frame[] = {208, 0, 0, 0, 223, 0,  1,  2,  3, 4,   5,  6,  7, 8,
                                    9,   10, 11, 12, 13, 0, 171, 80, 8, 9, 10, 11, 12};
static const uint8_t blosc_frame[] = {
    2, 1, 49, 4, 160, 1,  0,  0,  160, 1, 0,  0,  65,  0, 0,  0,   20, 0,  0,  0,  41, 0,
    0, 0, 223, 0, 4,  8,  12, 3,  7,   11, 2, 6,  10,  1, 5,  9,   13, 0,  72, 15, 94, 0,
    75, 6, 185, 0, 15, 201, 0, 78, 3,  107, 0, 15, 52, 1, 80, 80,  9,  0,  4,  8,  12};
static const uint8_t gzip_frame[] = {31,  139, 8,   0,   0,   0,   0,   0,  0,   255, 99,  96,
                                     100, 98,  102, 97,  101, 99,  231, 224, 228, 226, 230, 97,
                                     24,  250, 28,  0,   140, 167, 242, 98, 208, 0,   0,   0};
static const uint8_t zlib_frame[] = {120, 156, 99,  96,  100, 98, 102, 97, 101, 99,  231, 224, 228,
                                     226, 230, 97,  24,  250, 28, 0,   242, 239, 4,   225};

static int is_content(const uint8_t *data, int64_t size) {
    for (int64_t i = 0; i < size; i++)
        if (data[i] != i % 13) return 0;
    return 1;
}

static int passes(const char *name, const int64_t *parameters, int count, const uint8_t *frame,
                  int64_t size, int64_t content) {
    zarr_codec *codec = built_in_codec(name, parameters, count);
    if (!codec) return 0;
    uint8_t decoded[BLOSC_CONTENT + 1], encoded[2048];
    void *worker = codec->worker_new ? codec->worker_new(codec) : NULL;
    int good = !codec->worker_new || worker;
    good = good && codec->decode(codec, worker, frame, size, decoded, content) == content &&
           is_content(decoded, content) &&
           codec->decode(codec, worker, frame, size - 1, decoded, content) < 0 &&
           codec->decode(codec, worker, frame, size, decoded, content - 1) < 0 &&
           codec->encode_bound(codec, content) <= (int64_t)sizeof encoded;
    if (good) {
        codec->decode(codec, worker, frame, size, decoded, content);
        size = codec->encode(codec, worker, decoded, content, encoded, sizeof encoded);
        memset(decoded, 255, sizeof decoded);
        good = size > 0 && codec->decode(codec, worker, encoded, size, decoded, content) == content &&
               is_content(decoded, content);
    }
    if (worker) codec->worker_free(codec, worker);
    free(codec);
    return good;
}

static int test_zstd(void) {
    return passes("zstd", (int64_t[]){3, 1}, 2, zstd_frame, sizeof zstd_frame, CONTENT);
}
/* Replace the encoder of zstd by that of a newer version, which is faster.  Every version decodes all
 * frames. */
static const char *find_newer_encoder(void *handle) {
    Zstd older = zstd, newer = zstd;
    if (!zstd_library) return "needs zstd";
    FOUND(newer.version, ZSTD_versionNumber);
    FOUND(newer.compress_bound, ZSTD_compressBound);
    FOUND(newer.create_encoder, ZSTD_createCCtx);
    FOUND(newer.free_encoder, ZSTD_freeCCtx);
    FOUND(newer.set_parameter, ZSTD_CCtx_setParameter);
    FOUND(newer.encode, ZSTD_compress2);
    if (newer.version() <= older.version()) return "is not newer";
    if (newer.version() >= 20000) return "has an unknown version";
    zstd = newer;
    if (test_zstd()) return NULL;
    zstd = older;
    return "does not pass the test";
}
static int test_blosc(void) {
    return passes("blosc", (int64_t[]){1, 9, 1, 4, 0}, 5, blosc_frame, sizeof blosc_frame,
                  BLOSC_CONTENT);
}
static int test_lz4(void) {
    return passes("numcodecs.lz4", (int64_t[]){1}, 1, lz4_frame, sizeof lz4_frame, CONTENT);
}
static int test_deflate(void) {
    return passes("gzip", (int64_t[]){6}, 1, gzip_frame, sizeof gzip_frame, CONTENT) &&
           passes("numcodecs.zlib", (int64_t[]){6}, 1, zlib_frame, sizeof zlib_frame, CONTENT);
}

static void forget(const char *name) {
    if (!strcmp(name, "zstd")) {
        zstd_free_idle();
        zstd_library = NULL;
    }
    if (!strcmp(name, "blosc")) blosc_library = NULL;
    if (!strcmp(name, "lz4")) lz4_library = NULL;
    if (!strcmp(name, "deflate")) deflate_library = NULL;
}

const char *load_library(const char *name, const char *path) {
    static const struct {
        const char *name;
        const char *(*find)(void *);
        int (*test)(void);
    } known[] = {{"zstd", find_zstd, test_zstd},
                 {"newer zstd", find_newer_encoder, test_zstd},
                 {"blosc", find_blosc, test_blosc},
                 {"lz4", find_lz4, test_lz4},
                 {"deflate", find_deflate, test_deflate}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        if (strcmp(name, known[i].name)) continue;
        void *handle = NULL;
        if (*path && !(handle = dlopen(path, RTLD_NOW | RTLD_LOCAL))) return "cannot be loaded";
        const char *problem = known[i].find(handle);
        if (!problem && !known[i].test()) {
            forget(name);
            problem = "does not pass the test";
        }
        if (problem && handle) dlclose(handle);
        return problem;
    }
    return "is not known";
}
