/* The least that reading or writing chunks in files can cost: for each chunk, system calls, one call of
 * the codec, and one copy, divided among threads.  Nothing is checked or protected. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

typedef int (*Decode)(const void *, void *, size_t, int);
typedef int (*Encode)(int, int, size_t, size_t, const void *, void *, size_t, const char *, size_t, int);

typedef struct {
    const char *root;
    int ndim;                  /* of the array; the first lengths of others are 1 */
    int64_t grid[3], chunk[3]; /* chunks of the array, elements of a chunk */
    int64_t item;
    char *memory;
    Decode decode; /* of Blosc; null for uncompressed chunks */
    Encode encode;
    int writing;
    int64_t from, to; /* the chunks of a thread */
    int failed;
} Loop;

/* Copy the rows of a chunk from or to the array. */
static void copy(const Loop *loop, const int64_t *at, char *data, int to_array) {
    int64_t row = loop->chunk[2] * loop->item, wide = loop->grid[2] * row;
    for (int64_t i = 0; i < loop->chunk[0]; i++)
        for (int64_t j = 0; j < loop->chunk[1]; j++, data += row) {
            int64_t y = at[1] * loop->chunk[1] + j, x = at[0] * loop->chunk[0] + i;
            char *here = loop->memory + (x * loop->grid[1] * loop->chunk[1] + y) * wide + at[2] * row;
            memcpy(to_array ? here : data, to_array ? data : here, (size_t)row);
        }
}

static int create(char *path) {
    int file = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (file >= 0 || errno != ENOENT) return file;
    for (char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = 0;
        mkdir(path, 0777);
        *slash = '/';
    }
    return open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
}

static int one(const Loop *loop, int64_t number, char *encoded, char *decoded) {
    int64_t at[3], nbytes = loop->chunk[0] * loop->chunk[1] * loop->chunk[2] * loop->item, left = number;
    char path[4096], partial[4200];
    if (strlen(loop->root) > 4000) return -1;
    for (int d = 2; d >= 0; left /= loop->grid[d--]) at[d] = left % loop->grid[d];
    int length = snprintf(path, sizeof path, "%s/c", loop->root);
    for (int d = 3 - loop->ndim; d < 3; d++)
        length += snprintf(path + length, sizeof path - (size_t)length, "/%ld", (long)at[d]);
    if (loop->writing) {
        int64_t size = nbytes;
        copy(loop, at, decoded, 0);
        if (loop->encode)
            size = loop->encode(5, 1, 4, (size_t)nbytes, decoded, encoded, (size_t)nbytes + 16, "lz4", 0, 1);
        snprintf(partial, sizeof partial, "%s.%ld", path, (long)number);
        int file = create(partial);
        if (file < 0 || write(file, loop->encode ? encoded : decoded, (size_t)size) != size) return -1;
        return close(file) || rename(partial, path);
    }
    int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0) return -1;
    ssize_t size = read(file, loop->decode ? encoded : decoded, (size_t)nbytes + 16);
    close(file);
    if (size < 0 || (loop->decode && loop->decode(encoded, decoded, (size_t)nbytes, 1) != nbytes)) return -1;
    copy(loop, at, decoded, 1);
    return 0;
}

static void *some(void *argument) {
    Loop *loop = argument;
    size_t nbytes = (size_t)(loop->chunk[0] * loop->chunk[1] * loop->chunk[2] * loop->item) + 16;
    char *encoded = malloc(nbytes), *decoded = malloc(nbytes);
    for (int64_t i = loop->from; i < loop->to && !loop->failed; i++)
        loop->failed = !encoded || !decoded || one(loop, i, encoded, decoded);
    free(encoded);
    free(decoded);
    return NULL;
}

/* Read or write all chunks; 0 on success. */
int c_loop(const char *root, int ndim, const int64_t *grid, const int64_t *chunk, int64_t item, char *memory,
           void *decode, void *encode, int writing, int threads) {
    Loop loops[64];
    pthread_t started[64];
    int64_t total = grid[0] * grid[1] * grid[2], failed = 0;
    if (threads > 64 || total * chunk[0] * chunk[1] * chunk[2] * item < 1 << 18) threads = 1;
    for (int i = 0; i < threads; i++) {
        loops[i] = (Loop){.root = root, .ndim = ndim, .item = item, .memory = memory, .decode = (Decode)decode,
                          .encode = (Encode)encode, .writing = writing, .from = total * i / threads,
                          .to = total * (i + 1) / threads};
        memcpy(loops[i].grid, grid, sizeof loops[i].grid);
        memcpy(loops[i].chunk, chunk, sizeof loops[i].chunk);
        if (i && pthread_create(&started[i], NULL, some, &loops[i])) return -1;
    }
    some(&loops[0]);
    for (int i = 0; i < threads; i++) {
        if (i) pthread_join(started[i], NULL);
        failed |= loops[i].failed;
    }
    return failed ? -1 : 0;
}
