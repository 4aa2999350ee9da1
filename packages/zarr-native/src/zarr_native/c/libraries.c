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

const Zstd *zstd_library, *small_zstd_library;
const Blosc *blosc_library;
const Lz4 *lz4_library;
const Deflate *deflate_library;

/* Set a member to a function of the library at run time, or of the linked one if there is no handle. */
#define SET(member, name, linked)                                    \
    do {                                                             \
        void *address = handle ? dlsym(handle, name) : linked;       \
        if (!address) return "does not export " name;                \
        memcpy(&member, &address, sizeof address);                   \
    } while (0)
#ifdef HAVE_ZSTD
#define SET_ZSTD(member, function) SET(found.member, #function, (void *)function)
#else
#define SET_ZSTD(member, function) SET(found.member, #function, NULL)
#endif
#ifdef HAVE_BLOSC
#define SET_BLOSC(member, function) SET(found.member, #function, (void *)function)
#else
#define SET_BLOSC(member, function) SET(found.member, #function, NULL)
#endif
#ifdef HAVE_LZ4
#define SET_LZ4(member, function) SET(found.member, #function, (void *)function)
#else
#define SET_LZ4(member, function) SET(found.member, #function, NULL)
#endif
#ifdef HAVE_LIBDEFLATE
#define SET_DEFLATE(member, function) SET(found.member, #function, (void *)function)
#else
#define SET_DEFLATE(member, function) SET(found.member, #function, NULL)
#endif

static const char *set_zstd(void *handle, Zstd *library) {
    Zstd found;
    SET_ZSTD(version, ZSTD_versionNumber);
    SET_ZSTD(compress_bound, ZSTD_compressBound);
    SET_ZSTD(is_error, ZSTD_isError);
    SET_ZSTD(content_size, ZSTD_getFrameContentSize);
    SET_ZSTD(create_decoder, ZSTD_createDCtx);
    SET_ZSTD(free_decoder, ZSTD_freeDCtx);
    SET_ZSTD(decode, ZSTD_decompressDCtx);
    SET_ZSTD(create_encoder, ZSTD_createCCtx);
    SET_ZSTD(free_encoder, ZSTD_freeCCtx);
    SET_ZSTD(set_parameter, ZSTD_CCtx_setParameter);
    SET_ZSTD(encode, ZSTD_compress2);
    if (found.version() < 10400 || found.version() >= 20000) return "has an unknown version";
    *library = found;
    return NULL;
}

static const char *find_zstd(void *handle) {
    static Zstd zstd;
    zstd_free_idle();
    const char *problem = set_zstd(handle, &zstd);
    if (!problem) zstd_library = &zstd;
    return problem;
}

static const char *find_small_zstd(void *handle) {
    static Zstd zstd;
    if (!zstd_library) return "needs zstd";
    const char *problem = set_zstd(handle, &zstd);
    if (!problem) small_zstd_library = &zstd;
    return problem;
}

static const char *find_blosc(void *handle) {
    static Blosc blosc;
    Blosc found;
    SET_BLOSC(version, blosc_get_version_string);
    SET_BLOSC(decode, blosc_decompress_ctx);
    SET_BLOSC(encode, blosc_compress_ctx);
    if (strncmp(found.version(), "1.", 2)) return "has an unknown version";
    blosc = found;
    blosc_library = &blosc;
    return NULL;
}

static const char *find_lz4(void *handle) {
    static Lz4 lz4;
    Lz4 found;
    SET_LZ4(version, LZ4_versionNumber);
    SET_LZ4(compress_bound, LZ4_compressBound);
    SET_LZ4(decode, LZ4_decompress_safe);
    SET_LZ4(encode, LZ4_compress_fast);
    if (found.version() < 10800 || found.version() >= 20000) return "has an unknown version";
    lz4 = found;
    lz4_library = &lz4;
    return NULL;
}

static const char *find_deflate(void *handle) {
    static Deflate deflate;
    Deflate found;
    SET_DEFLATE(create_decoder, libdeflate_alloc_decompressor);
    SET_DEFLATE(free_decoder, libdeflate_free_decompressor);
    SET_DEFLATE(decode_gzip, libdeflate_gzip_decompress_ex);
    SET_DEFLATE(decode_zlib, libdeflate_zlib_decompress_ex);
    SET_DEFLATE(create_encoder, libdeflate_alloc_compressor);
    SET_DEFLATE(free_encoder, libdeflate_free_compressor);
    SET_DEFLATE(encode_gzip, libdeflate_gzip_compress);
    SET_DEFLATE(gzip_bound, libdeflate_gzip_compress_bound);
    deflate = found;
    deflate_library = &deflate;
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
    if (!strcmp(name, "small zstd")) small_zstd_library = NULL;
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
                 {"small zstd", find_small_zstd, test_zstd},
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
