/* One call: the chunks of a box, or points, by one or several threads.
 *
 * Threads live for a call only, so nothing has to survive a fork, and none is created before a call
 * has worked for longer than creating one takes.  A shard is opened by one thread, which divides
 * its inner chunks into groups of neighbours for all threads.
 *
 * What goes wrong is never explained here: the number of the stored object is noted, and Python
 * does it. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "native.h"

#define THREAD_NS 60000           /* of work before the first thread is created */
#define THREAD_BYTES (1 << 18)    /* decoded bytes of a task for which threads are always faster */
#define CHECK_NS 50000000         /* between two checks for signals */
#define GAP (1 << 14)             /* bytes that are read rather than skipped */
#define GROUP_BYTES (1 << 19)     /* encoded bytes that are read at once */
#define GROUP_DECODED (1 << 22)   /* decoded bytes of a group, between which interrupts are noticed */
#define MAX_THREADS 64
#define EMPTY_CHUNK (-2)          /* size of a chunk that is not stored */

typedef struct {
    int64_t offset, size; /* stored bytes; WRITE_BOX: decoded ones, then the encoded size */
    int64_t inner;
    int64_t first; /* of the points of this inner chunk */
} Item;

typedef struct Shard Shard;
struct Shard {
    int64_t number; /* of the stored object */
    int64_t origin[MAX_DIMS];
    int file;
    const uint8_t *memory; /* instead of a file */
    Item *items;
    int64_t *groups; /* first items; one more than groups */
    int64_t group_count, next, pending;
    Value *encoded; /* WRITE_BOX: the encoded bytes of each group */
    int failed;
    int64_t first, last; /* points */
    Shard *link;
};

struct Job {
    Call *call;
    const Plan *plan;
    int root;
    int64_t first[MAX_DIMS], count[MAX_DIMS]; /* stored objects of the box */
    int64_t total, next;
    int64_t *starts; /* READ_POINTS: the first point of each stored object */
    int opening;     /* threads that may still add groups */
    Shard *shards;   /* with groups that no thread has taken */
    int no_memory;
    int64_t room;
    pthread_mutex_t lock;
    pthread_cond_t changed;
};

static int64_t now_ns(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

/* Note a stored object for Python; the lock is held. */
static void leave(Job *job, int64_t number) {
    Call *call = job->call;
    if (call->kind == READ_POINTS) number = call->points[job->starts[number]].chunk;
    if (call->left_count == job->room) {
        int64_t room = job->room ? 2 * job->room : 64;
        int64_t *left = realloc(call->left, (size_t)room * sizeof *left);
        if (!left) {
            job->no_memory = 1;
            return;
        }
        call->left = left, job->room = room;
    }
    call->left[call->left_count++] = number;
}

static void coordinates(const Job *job, int64_t number, int64_t *at) {
    for (int d = job->plan->ndim - 1; d >= 0; d--) {
        at[d] = job->first[d] + number % job->count[d];
        number /= job->count[d];
    }
}

/* --- a chunk and the box --- */

/* The part of the box within a chunk, and where it is in the memory of the call. */
typedef struct {
    int64_t shape[MAX_DIMS], strides[MAX_DIMS]; /* the strides of a chunk in C order */
    char *memory;
    int64_t skip;   /* bytes of the chunk before the part */
    int whole;      /* the part is the chunk */
    int contiguous; /* the part is contiguous in the memory */
} Part;

static void find_part(const Call *call, const int64_t *origin, Part *part) {
    const Plan *plan = call->plan;
    c_strides(plan->ndim, plan->chunk, plan->item, part->strides);
    part->memory = call->memory;
    part->skip = 0;
    part->whole = 1;
    for (int d = 0; d < plan->ndim; d++) {
        int64_t start = origin[d], stop = start + plan->chunk[d], end = call->lo[d] + call->shape[d];
        int64_t low = start > call->lo[d] ? start : call->lo[d], high = stop < end ? stop : end;
        part->shape[d] = high - low;
        part->memory += (low - call->lo[d]) * call->strides[d];
        part->skip += (low - start) * part->strides[d];
        if (low != start || high != stop) part->whole = 0;
    }
    part->contiguous = is_contiguous(plan->ndim, part->shape, call->strides, plan->item);
}

/* Decode a chunk into the result; 0, or -1 if Python has to. */
static int place_chunk(const Call *call, Worker *worker, const int64_t *origin, const uint8_t *data,
                       int64_t size) {
    const Plan *plan = call->plan;
    Part part;
    find_part(call, origin, &part);
    if (part.whole && part.contiguous && !plan->swap) {
        if (chain_decode(&plan->chain, worker, data, size, (uint8_t *)part.memory)) return -1;
        return !plan->is_bool || are_bools((uint8_t *)part.memory, plan->nbytes) ? 0 : -1;
    }
    if (plan->chain.count) {
        uint8_t *decoded = worker_buffer(worker, DECODED, plan->nbytes);
        if (!decoded || chain_decode(&plan->chain, worker, data, size, decoded)) return -1;
        data = decoded;
    } else if (size != plan->nbytes) {
        return -1;
    }
    if (plan->is_bool && !are_bools(data, plan->nbytes)) return -1;
    copy_box(plan->ndim, part.shape, part.memory, call->strides, (const char *)data + part.skip,
             part.strides, plan->item, plan->swap);
    return 0;
}

static void fill_part(const Call *call, const int64_t *origin) {
    Part part;
    find_part(call, origin, &part);
    fill_box(call->plan->ndim, part.shape, part.memory, call->strides, call->plan->fill,
             call->plan->item);
}

/* --- points --- */

/* Copy the points of one decoded chunk, `points[0 .. count)`, into the result. */
static void place_points(const Call *call, const Point *points, int64_t count, const uint8_t *data,
                         int64_t step) {
    const Plan *plan = call->plan;
    int64_t none = 0;
    for (int64_t i = 0; i < count; i++)
        copy_box(0, &none, call->memory + points[i].position * call->strides[0], &none,
                 (const char *)data + points[i].offset * step, &none, plan->item,
                 step ? plan->swap : 0);
}

static int decode_points(const Call *call, Worker *worker, const Point *points, int64_t count,
                         const uint8_t *data, int64_t size) {
    const Plan *plan = call->plan;
    if (plan->chain.count) {
        uint8_t *decoded = worker_buffer(worker, DECODED, plan->nbytes);
        if (!decoded || chain_decode(&plan->chain, worker, data, size, decoded)) return -1;
        data = decoded;
    } else if (size != plan->nbytes) {
        return -1;
    }
    if (plan->is_bool && !are_bools(data, plan->nbytes)) return -1;
    place_points(call, points, count, data, plan->item);
    return 0;
}

/* --- reading a chunk that is stored alone --- */

/* Read a chunk from its file into the memory of the worker, or directly into the result. */
static int read_file(Job *job, Worker *worker, const int64_t *origin, const char *key,
                     const Point *points, int64_t count) {
    const Call *call = job->call;
    const Plan *plan = job->plan;
    int points_only = call->kind == READ_POINTS, raw = !plan->chain.count;
    Part part;
    if (!points_only) find_part(call, origin, &part);
    /* Python reads the rows of a thin part instead of the chunk. */
    if (raw && plan->nbytes > plan->partial_limit && (points_only || !part.whole)) return -1;
    int file = open_beneath(job->root, key, O_RDONLY | O_NONBLOCK, plan->follow_links);
    if (file == -ENOENT && !plan->missing_is_error) {
        if (points_only)
            place_points(call, points, count, plan->fill, 0);
        else
            fill_part(call, origin);
        return 0;
    }
    if (file < 0) return -1;
    int64_t size = file_size(file);
    int result = -1;
    if (size > 0 && size <= (raw ? plan->nbytes : plan->chain.room)) {
        int direct = raw && !points_only && part.whole && part.contiguous && !plan->swap;
        if (direct && size == plan->nbytes) {
            result = read_fully(file, (uint8_t *)part.memory, size, 0);
            if (!result && plan->is_bool && !are_bools((uint8_t *)part.memory, size)) result = -1;
        } else if (!direct) {
            uint8_t *buffer = worker_buffer(worker, ENCODED, raw ? plan->nbytes : plan->chain.room);
            if (buffer && !read_fully(file, buffer, size, 0))
                result = points_only ? decode_points(call, worker, points, count, buffer, size)
                                     : place_chunk(call, worker, origin, buffer, size);
        }
    }
    close(file);
    return result;
}

static int read_one(Job *job, Worker *worker, int64_t number, const int64_t *at, const Point *points,
                    int64_t count) {
    const Call *call = job->call;
    const Plan *plan = job->plan;
    int64_t origin[MAX_DIMS];
    char key[MAX_KEY];
    for (int d = 0; d < plan->ndim; d++) origin[d] = at[d] * plan->chunk[d];
    if (!call->values) {
        if (plan_key(plan, at, key) < 0) return -1;
        return read_file(job, worker, origin, key, points, count);
    }
    Value value = call->values[number];
    if (!value.data) {
        if (plan->missing_is_error) return -1;
        if (call->kind == READ_POINTS)
            place_points(call, points, count, plan->fill, 0);
        else
            fill_part(call, origin);
        return 0;
    }
    if (call->kind == READ_POINTS)
        return decode_points(call, worker, points, count, value.data, value.size);
    return place_chunk(call, worker, origin, value.data, value.size);
}

/* --- shards --- */

static uint64_t little_endian(const uint8_t *bytes) {
    uint64_t value = 0;
    for (int i = 7; i >= 0; i--) value = value << 8 | bytes[i];
    return value;
}

static int by_offset(const void *left, const void *right) {
    int64_t a = ((const Item *)left)->offset, b = ((const Item *)right)->offset;
    return (a > b) - (a < b);
}

static void inner_origin(const Plan *plan, const int64_t *shard, int64_t inner, int64_t *origin) {
    for (int d = plan->ndim - 1; d >= 0; d--) {
        origin[d] = shard[d] + inner % plan->grid[d] * plan->chunk[d];
        inner /= plan->grid[d];
    }
}

static void free_shard(Shard *shard) {
    if (shard->file >= 0) close(shard->file);
    for (int64_t i = 0; shard->encoded && i < shard->group_count; i++)
        free((void *)shard->encoded[i].data);
    free(shard->encoded);
    free(shard->items);
    free(shard->groups);
    free(shard);
}

/* Fill the part of an empty inner chunk, or note where a stored one is; -1 if its entry is damaged. */
static int note_inner(Job *job, Shard *shard, const uint8_t *index, int64_t inner, int64_t low,
                      int64_t high, int64_t first, int64_t *count) {
    const Plan *plan = job->plan;
    uint64_t offset = little_endian(index + 16 * inner), size = little_endian(index + 16 * inner + 8);
    if (offset == EMPTY && size == EMPTY) {
        if (job->call->kind == READ_POINTS) {
            int64_t stop = first;
            while (stop < shard->last && job->call->points[stop].inner == inner) stop++;
            place_points(job->call, job->call->points + first, stop - first, plan->fill, 0);
        } else {
            int64_t origin[MAX_DIMS];
            inner_origin(plan, shard->origin, inner, origin);
            fill_part(job->call, origin);
        }
        return 0;
    }
    /* Compared without a sum, which could overflow. */
    if (offset < (uint64_t)low || offset > (uint64_t)high || size > (uint64_t)high - offset) return -1;
    if (size > (uint64_t)(plan->chain.count ? plan->chain.room : plan->nbytes)) return -1;
    if (!shard->memory && !plan->chain.count && plan->nbytes > plan->partial_limit) {
        /* Python reads the rows of a thin part instead of the inner chunk. */
        int64_t origin[MAX_DIMS];
        Part part = {.whole = 0};
        inner_origin(plan, shard->origin, inner, origin);
        if (job->call->kind != READ_POINTS) find_part(job->call, origin, &part);
        if (!part.whole) return -1;
    }
    shard->items[(*count)++] = (Item){(int64_t)offset, (int64_t)size, inner, first};
    return 0;
}

/* Note all inner chunks of the box, or of the points; returns their number, or -1.  The index is null
 * for a shard that is written. */
static int64_t note_items(Job *job, Shard *shard, const uint8_t *index, int64_t low, int64_t high) {
    const Plan *plan = job->plan;
    const Call *call = job->call;
    int64_t count = 0, from[MAX_DIMS], to[MAX_DIMS], at[MAX_DIMS];
    if (call->kind == READ_POINTS) {
        shard->items = malloc((size_t)(shard->last - shard->first) * sizeof(Item));
        if (!shard->items) return -1;
        for (int64_t i = shard->first; i < shard->last; i++)
            if (i == shard->first || call->points[i].inner != call->points[i - 1].inner)
                if (note_inner(job, shard, index, call->points[i].inner, low, high, i, &count))
                    return -1;
        return count;
    }
    int64_t most = 1;
    for (int d = 0; d < plan->ndim; d++) {
        int64_t start = call->lo[d] - shard->origin[d], stop = start + call->shape[d];
        int64_t length = plan->shape[d] - shard->origin[d];
        if (length > plan->outer[d]) length = plan->outer[d];
        from[d] = at[d] = start > 0 ? start / plan->chunk[d] : 0;
        to[d] = ((stop < length ? stop : length) + plan->chunk[d] - 1) / plan->chunk[d];
        most *= to[d] - from[d];
    }
    shard->items = malloc((size_t)most * sizeof(Item));
    if (!shard->items) return -1;
    for (;;) {
        int64_t inner = 0;
        for (int d = 0; d < plan->ndim; d++) inner = inner * plan->grid[d] + at[d];
        if (!index) {
            shard->items[count] = (Item){count * plan->nbytes, plan->nbytes, inner, 0};
            count++;
        } else if (note_inner(job, shard, index, inner, low, high, 0, &count)) {
            return -1;
        }
        int d = plan->ndim - 1;
        while (d >= 0 && ++at[d] == to[d]) at[d] = from[d], d--;
        if (d < 0) return count;
    }
}

/* Divide the inner chunks into groups of neighbours; -1 if there is not enough memory. */
static int group_items(const Plan *plan, Shard *shard, int64_t count, int threads) {
    int64_t bytes = 0, longest = GROUP_DECODED / plan->nbytes;
    int sorted = 1;
    for (int64_t i = 0; i < count; i++) {
        bytes += shard->items[i].size;
        if (i && shard->items[i].offset < shard->items[i - 1].offset) sorted = 0;
    }
    if (!sorted) qsort(shard->items, (size_t)count, sizeof(Item), by_offset);
    shard->groups = malloc((size_t)(count + 1) * sizeof *shard->groups);
    if (!shard->groups) return -1;
    /* Several groups for each thread, but no tiny ones. */
    int64_t most = bytes / (4 * threads);
    if (most < 1 << 16) most = 1 << 16;
    if (most > GROUP_BYTES || threads == 1) most = GROUP_BYTES;
    int64_t start = 0, stop = 0, first = 0;
    for (int64_t i = 0; i < count; i++) {
        const Item *item = &shard->items[i];
        int64_t end = item->offset + item->size;
        if (i && item->offset - stop <= GAP && end - start <= most && i - first < longest) {
            if (end > stop) stop = end;
            continue;
        }
        shard->groups[shard->group_count++] = first = i;
        start = item->offset, stop = end;
    }
    shard->groups[shard->group_count] = count;
    return 0;
}

/* Open a shard, read its index and prepare its groups.  Returns the shard; null if it is finished,
 * with *done whether it was read, as a missing one. */
static Shard *open_shard(Job *job, Worker *worker, int64_t number, const int64_t *at, int64_t first,
                         int64_t last, int *done) {
    const Plan *plan = job->plan;
    const Call *call = job->call;
    char key[MAX_KEY];
    Shard *shard = calloc(1, sizeof *shard);
    *done = 0;
    if (!shard) return NULL;
    shard->number = number, shard->file = -1, shard->first = first, shard->last = last;
    for (int d = 0; d < plan->ndim; d++) shard->origin[d] = at[d] * plan->outer[d];
    int64_t size = 0;
    int missing;
    if (call->values) {
        shard->memory = call->values[number].data;
        size = call->values[number].size;
        missing = !shard->memory;
    } else {
        if (plan_key(plan, at, key) < 0) goto failed;
        shard->file = open_beneath(job->root, key, O_RDONLY | O_NONBLOCK, plan->follow_links);
        missing = shard->file == -ENOENT;
        if (shard->file < 0 && !missing) goto failed;
        if (!missing) size = file_size(shard->file);
    }
    if (missing) {
        if (plan->missing_is_error) goto failed;
        if (call->kind == READ_POINTS) {
            place_points(call, call->points + first, last - first, plan->fill, 0);
        } else {
            int64_t shape[MAX_DIMS];
            char *memory = call->memory;
            for (int d = 0; d < plan->ndim; d++) {
                int64_t start = shard->origin[d], stop = start + plan->outer[d];
                int64_t end = call->lo[d] + call->shape[d];
                int64_t low = start > call->lo[d] ? start : call->lo[d];
                shape[d] = (stop < end ? stop : end) - low;
                memory += (low - call->lo[d]) * call->strides[d];
            }
            fill_box(plan->ndim, shape, memory, call->strides, plan->fill, plan->item);
        }
        *done = 1;
        goto failed;
    }
    if (size < plan->index_size) goto failed;
    int64_t start = plan->index_at_start ? 0 : size - plan->index_size;
    const uint8_t *index;
    if (shard->memory) {
        index = shard->memory + start;
    } else {
        uint8_t *buffer = worker_buffer(worker, DECODED, plan->index_size);
        if (!buffer || read_fully(shard->file, buffer, plan->index_size, start)) goto failed;
        index = buffer;
    }
    if (plan->index_crc) {
        const uint8_t *stored = index + 16 * plan->inner_count;
        uint32_t expected = (uint32_t)stored[0] | (uint32_t)stored[1] << 8 |
                            (uint32_t)stored[2] << 16 | (uint32_t)stored[3] << 24;
        if (crc32c(index, 16 * plan->inner_count) != expected) goto failed;
    }
    int64_t low = plan->index_at_start ? plan->index_size : 0;
    int64_t high = plan->index_at_start ? size : size - plan->index_size;
    int64_t count = note_items(job, shard, index, low, high);
    if (count < 0) goto failed;
    if (!count) {
        *done = 1;
        goto failed;
    }
    if (group_items(plan, shard, count, call->threads)) goto failed;
    shard->pending = shard->group_count;
    return shard;
failed:
    if (shard->file < 0) shard->file = -1;
    free_shard(shard);
    return NULL;
}

/* Read and decode one group; 0, or -1 if Python has to read the shard. */
static int read_group(Job *job, Worker *worker, const Shard *shard, int64_t group) {
    const Plan *plan = job->plan;
    const Call *call = job->call;
    int64_t from = shard->groups[group], to = shard->groups[group + 1];
    int64_t start = shard->items[from].offset, stop = start;
    for (int64_t i = from; i < to; i++)
        if (shard->items[i].offset + shard->items[i].size > stop)
            stop = shard->items[i].offset + shard->items[i].size;
    const uint8_t *data;
    if (shard->memory) {
        data = shard->memory + start;
    } else {
        uint8_t *buffer = worker_buffer(worker, ENCODED, stop > start ? stop - start : 1);
        if (!buffer || read_fully(shard->file, buffer, stop - start, start)) return -1;
        data = buffer;
    }
    for (int64_t i = from; i < to; i++) {
        const Item *item = &shard->items[i];
        const uint8_t *encoded = data + (item->offset - start);
        if (call->kind == READ_POINTS) {
            int64_t last = item->first;
            while (last < shard->last && call->points[last].inner == item->inner) last++;
            if (decode_points(call, worker, call->points + item->first, last - item->first, encoded,
                              item->size))
                return -1;
        } else {
            int64_t origin[MAX_DIMS];
            inner_origin(plan, shard->origin, item->inner, origin);
            if (place_chunk(call, worker, origin, encoded, item->size)) return -1;
        }
    }
    return 0;
}

/* --- writing --- */

/* Whether the box contains a stored object, or as much of it as the array contains. */
static int is_complete(const Call *call, const int64_t *at) {
    const Plan *plan = call->plan;
    for (int d = 0; d < plan->ndim; d++) {
        int64_t start = at[d] * plan->outer[d], stop = plan->shape[d];
        if (stop - start > plan->outer[d]) stop = start + plan->outer[d];
        if (start < call->lo[d] || stop > call->lo[d] + call->shape[d]) return 0;
    }
    return 1;
}

/* Encode a chunk; its size in *encoded, EMPTY_CHUNK if it is not stored, or -1 if Python has to.
 * The elements are copied, if necessary, to `memory`, or to memory of the worker if it is null. */
static int64_t encode_chunk(const Call *call, Worker *worker, const int64_t *origin, uint8_t *memory,
                            const uint8_t **encoded) {
    const Plan *plan = call->plan;
    Part part;
    find_part(call, origin, &part);
    const uint8_t *data = (const uint8_t *)part.memory;
    if (!part.whole || !part.contiguous || plan->swap) {
        if (!memory && !(memory = worker_buffer(worker, DECODED, plan->nbytes))) return -1;
        if (!part.whole)
            fill_box(plan->ndim, plan->chunk, (char *)memory, part.strides, plan->stored_fill,
                     plan->item);
        copy_box(plan->ndim, part.shape, (char *)memory, part.strides, part.memory, call->strides,
                 plan->item, plan->swap);
        data = memory;
    }
    if (plan->is_bool && !are_bools(data, plan->nbytes)) return -1;
    if (!plan->write_empty && is_filled(data, plan->nbytes, plan->stored_fill, plan->item))
        return EMPTY_CHUNK;
    if (plan->chain.count) return chain_encode(&plan->chain, worker, data, encoded);
    *encoded = data;
    return plan->nbytes;
}

static int write_one(Job *job, Worker *worker, const int64_t *at) {
    const Plan *plan = job->plan;
    int64_t origin[MAX_DIMS];
    char key[MAX_KEY];
    if (!is_complete(job->call, at) || plan_key(plan, at, key) < 0) return -1;
    for (int d = 0; d < plan->ndim; d++) origin[d] = at[d] * plan->chunk[d];
    Value value;
    value.size = encode_chunk(job->call, worker, origin, NULL, &value.data);
    /* Removing a value, and perhaps its directories, is left to Python. */
    if (value.size == EMPTY_CHUNK) return is_missing(plan, job->root, key) ? 0 : -1;
    return value.size < 0 ? -1 : replace_value(plan, job->root, worker, key, &value, 1);
}

/* Prepare the groups of a shard that is written completely; null if Python has to write it.  Inner
 * chunks beyond the array are not stored. */
static Shard *new_shard(Job *job, int64_t number, const int64_t *at) {
    const Plan *plan = job->plan;
    if (!is_complete(job->call, at)) return NULL;
    Shard *shard = calloc(1, sizeof *shard);
    if (!shard) return NULL;
    shard->number = number, shard->file = -1;
    for (int d = 0; d < plan->ndim; d++) shard->origin[d] = at[d] * plan->outer[d];
    int64_t count = note_items(job, shard, NULL, 0, 0);
    if (count > 0 && !group_items(plan, shard, count, job->call->threads) &&
        (shard->encoded = calloc((size_t)shard->group_count, sizeof *shard->encoded))) {
        shard->pending = shard->group_count;
        return shard;
    }
    free_shard(shard);
    return NULL;
}

/* Encode one group; 0, or -1 if Python has to write the shard. */
static int encode_group(Job *job, Worker *worker, Shard *shard, int64_t group) {
    const Plan *plan = job->plan;
    const Chain *chain = &plan->chain;
    int64_t from = shard->groups[group], to = shard->groups[group + 1], used = 0;
    /* For compressed chunks less than the bound, which is too much for most. */
    int64_t bound = chain->bound[chain->count];
    int64_t room = bound;
    if (chain->fixed[chain->count] && __builtin_mul_overflow(to - from, bound, &room)) return -1;
    uint8_t *bytes = malloc((size_t)(room ? room : 1));
    if (!bytes) return -1;
    for (int64_t i = from; i < to; i++) {
        Item *item = &shard->items[i];
        int64_t origin[MAX_DIMS];
        const uint8_t *encoded;
        inner_origin(plan, shard->origin, item->inner, origin);
        item->size = encode_chunk(job->call, worker, origin, chain->count ? NULL : bytes + used, &encoded);
        if (item->size == EMPTY_CHUNK) continue;
        if (item->size < 0) goto failed;
        if (item->size > room - used) {
            int64_t more = 2 * room > used + item->size ? 2 * room : used + item->size;
            uint8_t *moved = realloc(bytes, (size_t)more);
            if (!moved) goto failed;
            bytes = moved, room = more;
        }
        if (encoded != bytes + used) memcpy(bytes + used, encoded, (size_t)item->size);
        used += item->size;
    }
    shard->encoded[group] = (Value){bytes, used};
    return 0;
failed:
    free(bytes);
    return -1;
}

static void put_little_endian(uint8_t *bytes, uint64_t value, int count) {
    for (int i = 0; i < count; i++) bytes[i] = (uint8_t)(value >> 8 * i);
}

/* Store a shard of which all groups are encoded; 0, or -1 if Python has to write it. */
static int store_shard(Job *job, Worker *worker, const Shard *shard) {
    const Plan *plan = job->plan;
    int64_t at[MAX_DIMS], offset = plan->index_at_start ? plan->index_size : 0;
    char key[MAX_KEY];
    int is_empty = 1;
    for (int d = 0; d < plan->ndim; d++) at[d] = shard->origin[d] / plan->outer[d];
    if (plan_key(plan, at, key) < 0) return -1;
    uint8_t *index = worker_buffer(worker, DECODED, plan->index_size);
    Value *pieces = malloc((size_t)(shard->group_count + 1) * sizeof *pieces);
    int result = -1;
    if (!index || !pieces) goto end;
    memset(index, 0xff, (size_t)plan->index_size); /* EMPTY */
    for (int64_t i = 0; i < shard->groups[shard->group_count]; i++) {
        const Item *item = &shard->items[i];
        if (item->size == EMPTY_CHUNK) continue;
        put_little_endian(index + 16 * item->inner, (uint64_t)offset, 8);
        put_little_endian(index + 16 * item->inner + 8, (uint64_t)item->size, 8);
        offset += item->size;
        is_empty = 0;
    }
    if (is_empty) {
        result = is_missing(plan, job->root, key) ? 0 : -1;
        goto end;
    }
    int64_t size = 16 * plan->inner_count;
    if (plan->index_crc) put_little_endian(index + size, crc32c(index, size), 4);
    memcpy(pieces + plan->index_at_start, shard->encoded,
           (size_t)shard->group_count * sizeof *pieces);
    pieces[plan->index_at_start ? 0 : shard->group_count] = (Value){index, plan->index_size};
    result = replace_value(plan, job->root, worker, key, pieces, shard->group_count + 1);
end:
    free(pieces);
    return result;
}

/* --- threads --- */

/* The bytes that the next task decodes at least, if a thread takes it. */
static int has_work(const Job *job) { return job->shards || job->next < job->total; }

/* Do one task; 0 if nothing is left.  The lock is held before and after. */
static int do_task(Job *job, Worker *worker) {
    const Plan *plan = job->plan;
    while (!job->shards && job->next == job->total && job->opening && !job->call->stopped)
        pthread_cond_wait(&job->changed, &job->lock);
    if (job->call->stopped || !has_work(job)) return 0;
    Shard *shard = job->shards;
    if (shard) {
        int64_t group = shard->next++;
        if (shard->next == shard->group_count) job->shards = shard->link;
        int failed = shard->failed;
        pthread_mutex_unlock(&job->lock);
        int writing = job->call->kind == WRITE_BOX;
        if (!failed)
            failed = writing ? encode_group(job, worker, shard, group)
                             : read_group(job, worker, shard, group);
        pthread_mutex_lock(&job->lock);
        if (failed) shard->failed = 1;
        if (!--shard->pending) {
            if (writing && !shard->failed) {
                pthread_mutex_unlock(&job->lock);
                failed = store_shard(job, worker, shard);
                pthread_mutex_lock(&job->lock);
                if (failed) shard->failed = 1;
            }
            if (shard->failed)
                leave(job, shard->number);
            else
                job->call->done_count++;
            free_shard(shard);
        }
        return 1;
    }
    int64_t number = job->next++, at[MAX_DIMS], first = 0, last = 0;
    if (plan->sharded) job->opening++;
    pthread_mutex_unlock(&job->lock);
    const Point *points = NULL;
    if (job->call->kind == READ_POINTS) {
        first = job->starts[number], last = job->starts[number + 1];
        points = job->call->points + first;
        int64_t chunk = points->chunk;
        for (int d = plan->ndim - 1; d >= 0; d--) {
            int64_t count = (plan->shape[d] + plan->outer[d] - 1) / plan->outer[d];
            at[d] = chunk % count;
            chunk /= count;
        }
    } else {
        coordinates(job, number, at);
    }
    int done = 0;
    if (job->call->kind == WRITE_BOX && plan->sharded)
        shard = new_shard(job, number, at);
    else if (job->call->kind == WRITE_BOX)
        done = !write_one(job, worker, at);
    else if (!plan->sharded)
        done = !read_one(job, worker, number, at, points, last - first);
    else
        shard = open_shard(job, worker, number, at, first, last, &done);
    pthread_mutex_lock(&job->lock);
    if (plan->sharded) {
        job->opening--;
        if (shard) {
            shard->link = job->shards;
            job->shards = shard;
        }
        pthread_cond_broadcast(&job->changed);
        if (shard) return 1;
    }
    if (done)
        job->call->done_count++;
    else
        leave(job, number);
    return 1;
}

static void *thread_main(void *argument) {
    Job *job = argument;
    Worker worker;
    worker_start(&worker);
    pthread_mutex_lock(&job->lock);
    while (do_task(job, &worker)) continue;
    pthread_mutex_unlock(&job->lock);
    worker_end(&worker, &job->plan->chain);
    return NULL;
}

/* Tasks that threads could do now; the lock is held. */
static int64_t tasks(const Job *job) {
    int64_t count = job->total - job->next;
    for (const Shard *shard = job->shards; shard; shard = shard->link)
        count += shard->group_count - shard->next;
    return count;
}

static void run_tasks(Job *job) {
    Call *call = job->call;
    pthread_t threads[MAX_THREADS];
    int created = 0, wanted = call->threads < MAX_THREADS ? call->threads : MAX_THREADS;
    int64_t start = now_ns(), checked = start;
    int large = job->plan->nbytes >= THREAD_BYTES && !job->plan->sharded;
    Worker worker;
    worker_start(&worker);
    pthread_mutex_lock(&job->lock);
    for (;;) {
        int64_t now = 0;
        if (created < wanted - 1) {
            int64_t left = tasks(job);
            if (left > 1 && (large || (now = now_ns()) - start > THREAD_NS)) {
                int64_t more = left - 1 < wanted - 1 ? left - 1 : wanted - 1;
                sigset_t all, before; /* signals are for the other threads of the process */
                sigfillset(&all);
                pthread_sigmask(SIG_SETMASK, &all, &before);
                while (created < more && !pthread_create(&threads[created], NULL, thread_main, job))
                    created++;
                pthread_sigmask(SIG_SETMASK, &before, NULL);
                if (created < more) wanted = created + 1; /* the system has no more */
            }
        }
        if (!do_task(job, &worker)) break;
        if (!now) now = now_ns();
        if (call->check && now - checked > CHECK_NS) {
            checked = now;
            pthread_mutex_unlock(&job->lock);
            int stop = call->check(call->context);
            pthread_mutex_lock(&job->lock);
            if (stop) {
                call->stopped = 1;
                pthread_cond_broadcast(&job->changed);
            }
        }
    }
    pthread_mutex_unlock(&job->lock);
    /* No thread may still write into the memory of the caller. */
    for (int i = 0; i < created; i++) pthread_join(threads[i], NULL);
    worker_end(&worker, &job->plan->chain);
    while (job->shards) { /* after an interrupt */
        Shard *shard = job->shards;
        job->shards = shard->link;
        free_shard(shard);
    }
}

/* The stored objects of a box; 0 if they are too many to number. */
static int count_objects(Job *job) {
    const Plan *plan = job->plan;
    const Call *call = job->call;
    job->total = 1;
    for (int d = 0; d < plan->ndim; d++) {
        job->first[d] = call->lo[d] / plan->outer[d];
        job->count[d] = (call->lo[d] + call->shape[d] - 1) / plan->outer[d] - job->first[d] + 1;
        if (__builtin_mul_overflow(job->total, job->count[d], &job->total)) return 0;
    }
    return 1;
}

/* The first point of each stored object. */
static int count_points(Job *job) {
    const Call *call = job->call;
    job->starts = malloc((size_t)(call->point_count + 1) * sizeof *job->starts);
    if (!job->starts) return 0;
    for (int64_t i = 0; i < call->point_count; i++)
        if (!i || call->points[i].chunk != call->points[i - 1].chunk) job->starts[job->total++] = i;
    job->starts[job->total] = call->point_count;
    return 1;
}

int run_call(Call *call) {
    const Plan *plan = call->plan;
    Job job = {.call = call, .plan = plan, .root = -1};
    int result = -1;
    if (call->kind == READ_POINTS ? !count_points(&job) : !count_objects(&job)) goto end;
    if (!call->values) {
        job.root = open_root(plan->root);
        if (job.root < 0) goto end;
    }
    if (pthread_mutex_init(&job.lock, NULL)) goto end;
    if (pthread_cond_init(&job.changed, NULL)) {
        pthread_mutex_destroy(&job.lock);
        goto end;
    }
    run_tasks(&job);
    pthread_cond_destroy(&job.changed);
    pthread_mutex_destroy(&job.lock);
    result = job.no_memory ? -1 : 0;
end:
    if (job.root >= 0) close(job.root);
    free(job.starts);
    return result;
}
