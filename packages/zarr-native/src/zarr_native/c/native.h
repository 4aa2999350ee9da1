/* Declarations shared by the files of this module.  Nothing here needs Python, except module.c. */
#ifndef ZARR_NATIVE_H
#define ZARR_NATIVE_H

#include <stddef.h>
#include <stdint.h>

#include "zarr_codec.h"

#define MAX_DIMS 32
#define MAX_CODECS 8
#define MAX_ITEM 256    /* bytes of an element */
#define MAX_KEY 1024    /* bytes of a key; longer ones are left to Python */
#define MAX_NAME 100    /* bytes of a file name for which temporary files are called after it */
#define EMPTY UINT64_MAX /* offset and length of an empty inner chunk, sharding codec 1.0 */

/* --- plan.c: what the metadata says --- */

/* Bytes -> bytes codecs in the order of encoding. */
typedef struct {
    int count;
    const zarr_codec *codec[MAX_CODECS];
    /* Of the input of codec i; bound[count] is that of the encoded chunk.  Exact if fixed. */
    int64_t bound[MAX_CODECS + 1];
    int fixed[MAX_CODECS + 1];
    int64_t room; /* longer encoded chunks are left to Python */
} Chain;

/* All that is known before a call; never changed after it was created. */
typedef struct {
    int ndim;
    int64_t shape[MAX_DIMS]; /* of the array, in elements */
    int64_t outer[MAX_DIMS]; /* of a stored object: a shard, or a chunk */
    int64_t chunk[MAX_DIMS]; /* of a chunk: an inner chunk if there are shards */
    int64_t strides[MAX_DIMS]; /* of the elements of a decoded chunk, in bytes; transposed or not */
    int is_c_order;          /* whether the strides are those of C order */
    int64_t item;            /* bytes of an element */
    int64_t nbytes;          /* decoded bytes of a chunk */
    int swap;                /* bytes whose order is reversed, within an element; 0 for none */
    int is_bool;             /* only the bytes 0 and 1 are valid */
    uint8_t fill[MAX_ITEM];        /* the fill value in memory */
    uint8_t stored_fill[MAX_ITEM]; /* the same in the stored byte order */
    int missing_is_error;
    int write_empty; /* whether chunks of fill values are stored */
    Chain chain;
    int sharded;
    int64_t grid[MAX_DIMS]; /* inner chunks of a shard in each dimension */
    int64_t inner_count;
    int64_t index_size; /* bytes, with the checksum */
    int index_crc, index_at_start;
    char *root; /* directory of the store; null if the values are in memory */
    int follow_links, writable;
    char *prefix; /* of every chunk key */
    char separator[8];
    int64_t partial_limit; /* larger uncompressed chunks in files are read in part */
} Plan;

/* An element of a list of indices, and its place in the list. */
typedef struct {
    int64_t element, position;
} Pick;

/* The selected elements of a dimension: start + i * step, or those of a list. */
typedef struct {
    int64_t count, start, step;
    Pick *list;               /* sorted by element; null if there is none */
    int64_t objects, first;   /* the number of stored objects with such elements, and the first one */
    int64_t *numbers;         /* of these objects; null if they follow each other */
} Axis;

/* Compute the other members from shape, outer, chunk, item, swap, fill, sharded, index_crc, the codecs of
 * the chain, its room, and the exact sizes in bound[1 ..]: -1 where they depend on the content.
 * `order` is the order of the dimensions in an encoded chunk.  Returns what is not supported, or null. */
const char *plan_complete(Plan *plan, const int64_t *order);
/* Sort the list, and find the stored objects; -1 if there is not enough memory. */
int axis_complete(Axis *axis, int64_t outer);
/* The key of a chunk; its length, or -1 if it does not fit. */
int plan_key(const Plan *plan, const int64_t *coordinates, char *key);

/* --- copy.c: parts of arrays in memory --- */

int is_contiguous(int ndim, const int64_t *shape, const int64_t *strides, int64_t item);
/* Copy a box of elements between arrays with any strides, in bytes; `swap` as in Plan. */
void copy_box(int ndim, const int64_t *shape, char *to, const int64_t *to_strides, const char *from,
              const int64_t *from_strides, int64_t item, int swap);
/* Set all elements of a box to one value. */
void fill_box(int ndim, const int64_t *shape, char *to, const int64_t *to_strides,
              const uint8_t *value, int64_t item);
/* Copy single elements; element `origin` is at `from`. */
void copy_picks(int64_t count, const Pick *picks, int64_t origin, char *to, int64_t to_stride,
                const char *from, int64_t from_stride, int64_t item, int swap);
int are_bools(const uint8_t *bytes, int64_t count);
/* Whether all elements have the bits of a value. */
int is_filled(const uint8_t *data, int64_t nbytes, const uint8_t *value, int64_t item);

/* --- idle.c: what the next call can use again --- */

#define IDLE_COUNT 32

/* Objects that no thread uses.  There is no lock, so that none is held when the process forks. */
typedef struct {
    _Atomic(void *) objects[IDLE_COUNT];
} Idle;

/* Returns an object, or null. */
void *idle_take(Idle *idle);
/* 0 if there are too many, and the caller has to free the object. */
int idle_put(Idle *idle, void *object);
/* Memory of at least `size` bytes, or null; free it with release_memory(). */
uint8_t *take_memory(int64_t size);
void release_memory(uint8_t *memory);

/* --- codecs.c --- */

/* Memory of one thread. */
typedef struct {
    void *codec[MAX_CODECS];
    uint8_t *buffer[4];
    int64_t room[4];
    int directory; /* open directory for writing, of this call; -1 for none */
    char directory_path[MAX_KEY];
} Worker;

enum { ENCODED, DECODED, FIRST, SECOND }; /* uses of the buffers */

void worker_start(Worker *worker);
void worker_end(Worker *worker, const Chain *chain);
/* A buffer of the worker; null if there is not enough memory. */
uint8_t *worker_buffer(Worker *worker, int which, int64_t size);
/* Decode a chunk of exactly `nbytes` bytes; 0, or -1 if Python has to. */
int chain_decode(const Chain *chain, Worker *worker, const uint8_t *src, int64_t size, uint8_t *dst);
/* Encode a chunk; the size of *encoded, which is valid until the next call, or -1. */
int64_t chain_encode(const Chain *chain, Worker *worker, const uint8_t *src, const uint8_t **encoded);

/* --- files.c --- */

typedef struct {
    const uint8_t *data; /* null if the chunk is missing */
    int64_t size;
} Value;

int open_root(const char *path);
/* Open a file below a directory; no link leads out of it.  Returns -errno on failure. */
int open_beneath(int root, const char *path, int flags, int follow_links);
/* The length of an open regular file, or -1. */
int64_t file_size(int descriptor);
int read_fully(int descriptor, uint8_t *buffer, int64_t size, int64_t offset);
/* Replace a value as LocalStore does, by the bytes of all pieces; 0, or -1 with nothing changed. */
int replace_value(const Plan *plan, int root, Worker *worker, const char *key, const Value *pieces,
                  int64_t count);
/* Whether a value is certainly missing. */
int is_missing(const Plan *plan, int root, const char *key);

/* --- jobs.c: one call --- */

typedef enum { READ_BOX, WRITE_BOX, READ_POINTS } Kind;

#define EMPTY_CHUNK (-2) /* size of a chunk that is not stored */
#define NOT_ENCODED (-1) /* size of a chunk or shard that is left to Python */

/* The encoded bytes of a stored object, for a store in memory. */
typedef struct {
    uint8_t *data; /* of the caller, if the size is fixed; else null, and then allocated */
    int64_t size;  /* NOT_ENCODED before */
} Output;

/* The points of a chunk, in the order of reading; the offset is in bytes. */
typedef struct {
    int64_t chunk, inner, offset, position;
} Point;

typedef struct Job Job;

/* Returns 0, or -1 if there is not enough memory and Python has to do everything.  check() is called
 * about every 50 ms in the calling thread; a result other than 0 stops the work. */
typedef struct {
    const Plan *plan;
    Kind kind;
    const Axis *axes;           /* of the selection; for writing all steps are 1, without lists */
    char *memory;               /* the result, or the values to write */
    const int64_t *strides;     /* in bytes */
    int64_t first, last;        /* numbers of the stored objects, without the last; last is 0 for all */
    const Value *values;        /* of these objects, if they are in memory */
    Output *outputs;            /* WRITE_BOX, not into files: of these objects */
    const Point *points;        /* sorted by chunk */
    int64_t point_count;
    int threads;
    int (*check)(void *);
    void *context;
    /* Numbers of the stored objects that Python has to do; freed by the caller. */
    int64_t *left;
    int64_t left_count, left_room, done_count;
    int stopped;
} Call;

int run_call(Call *call);
/* The number of stored objects of a selection; 0 if they are too many. */
int64_t object_count(const Call *call);
/* Whether the selection, a box, contains a stored object, or as much of it as the array contains. */
int is_complete(const Call *call, const int64_t *at);
/* The coordinates of a stored object by its number: in the selection, or for points in the grid. */
void object_at(const Call *call, int64_t number, int64_t *at);

/* --- checksums and compressors --- */

uint32_t crc32c(const uint8_t *data, int64_t size);

/* The native form of a codec of zarr-codecs; null if its library is not available, or a parameter
 * is not supported.  Freed with free(). */
zarr_codec *built_in_codec(const char *name, const int64_t *parameters, int count);
/* Load the functions of a library from a file; null, or why they are not used. */
const char *load_library(const char *name, const char *path);

#endif
