/* Functions of compression libraries: found at run time in a module that has it, and
 * tested; otherwise linked, if the module was built with the library's development files. */
#ifndef ZARR_NATIVE_LIBRARIES_H
#define ZARR_NATIVE_LIBRARIES_H

#include <stddef.h>
#include <stdint.h>

typedef struct {
    unsigned (*version)(void);
    size_t (*compress_bound)(size_t);
    unsigned (*is_error)(size_t);
    unsigned long long (*content_size)(const void *, size_t);
    void *(*create_decoder)(void);
    size_t (*free_decoder)(void *);
    size_t (*decode)(void *, void *, size_t, const void *, size_t);
    void *(*create_encoder)(void);
    size_t (*free_encoder)(void *);
    size_t (*set_parameter)(void *, int, int);
    size_t (*encode)(void *, void *, size_t, const void *, size_t);
} Zstd;

typedef struct {
    const char *(*version)(void);
    int (*decode)(const void *, void *, size_t, int);
    int (*encode)(int, int, size_t, size_t, const void *, void *, size_t, const char *, size_t, int);
} Blosc;

typedef struct {
    int (*version)(void);
    int (*compress_bound)(int);
    int (*decode)(const char *, char *, int, int);
    int (*encode)(const char *, char *, int, int, int);
} Lz4;

typedef int (*DeflateDecode)(void *, const void *, size_t, void *, size_t, size_t *, size_t *);
typedef size_t (*DeflateEncode)(void *, const void *, size_t, void *, size_t);
typedef size_t (*DeflateBound)(void *, size_t);

typedef struct {
    void *(*create_decoder)(void);
    void (*free_decoder)(void *);
    DeflateDecode decode_gzip, decode_zlib;
    void *(*create_encoder)(int);
    void (*free_encoder)(void *);
    DeflateEncode encode_gzip;
    DeflateBound gzip_bound;
} Deflate;

/* Null until the library was loaded. */
extern const Zstd *zstd_library;
extern const Zstd *small_zstd_library; /* encodes small chunks; null if zstd_library does */
extern const Blosc *blosc_library;
extern const Lz4 *lz4_library;
extern const Deflate *deflate_library;

#endif
