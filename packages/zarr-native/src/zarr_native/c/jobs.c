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
#define WINDOW (1 << 18) /* bytes of an uncompressed chunk that are read at once, and stay in the cache */
#define DENSE 4          /* a window is read whole if at least one byte in so many is selected */

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
    int64_t total, next;
    int64_t *starts; /* READ_POINTS: the first point of each stored object */
    int opening;     /* threads that may still add groups */
    Shard *shards;   /* with groups that no thread has taken */
    int no_memory;
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
    if (call->left_count == call->left_room) {
        int64_t room = call->left_room ? 2 * call->left_room : 64;
        int64_t *left = realloc(call->left, (size_t)room * sizeof *left);
        if (!left) {
            job->no_memory = 1;
            return;
        }
        call->left = left, call->left_room = room;
    }
    call->left[call->left_count++] = number;
}

void object_at(const Call *call, int64_t number, int64_t *at) {
    const Plan *plan = call->plan;
    for (int d = plan->ndim - 1; d >= 0; d--) {
        const Axis *axis = call->axes ? &call->axes[d] : NULL;
        int64_t count = axis ? axis->objects : (plan->shape[d] - 1) / plan->outer[d] + 1;
        at[d] = number % count;
        if (axis) at[d] = axis->numbers ? axis->numbers[at[d]] : axis->first + at[d];
        number /= count;
    }
}

/* --- a chunk and the selection --- */

/* The part of the selection within a chunk, and where it is in the memory of the call. */
typedef struct {
    int64_t shape[MAX_DIMS];
    int64_t from[MAX_DIMS];      /* strides in the chunk; of a listed dimension for one element */
    const Pick *picks[MAX_DIMS]; /* of the listed dimensions */
    int64_t origin[MAX_DIMS];
    char *memory;
    int64_t skip; /* bytes of the chunk before the part */
    int listed;   /* number of dimensions with lists */
    int whole;    /* the part is the chunk */
    int direct;   /* ... and is in the memory as in the chunk */
} Part;

/* The first place of a sorted list with an element of at least `start`. */
static int64_t search(const Axis *axis, int64_t start) {
    int64_t low = 0, high = axis->count;
    while (low < high) {
        int64_t middle = low + (high - low) / 2;
        if (axis->list[middle].element < start)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* The places of the selected elements from `start` to before `stop`; returns their number. */
static int64_t find_places(const Axis *axis, int64_t start, int64_t stop, int64_t *first) {
    if (axis->list) {
        *first = search(axis, start);
        return search(axis, stop) - *first;
    }
    int64_t low = start - axis->start, high = stop - axis->start, step = axis->step;
    low = low <= 0 ? 0 : step == 1 ? low : (low - 1) / step + 1;
    high = high <= 0 ? 0 : step == 1 ? high : (high - 1) / step + 1;
    if (high > axis->count) high = axis->count;
    *first = low;
    return high > low ? high - low : 0;
}

/* Returns 0 if the part has no elements. */
static int find_part(const Call *call, const int64_t *origin, const int64_t *lengths, Part *part) {
    const Plan *plan = call->plan;
    int direct = 1;
    part->memory = call->memory;
    part->skip = 0;
    part->listed = 0;
    part->whole = 1;
    for (int d = 0; d < plan->ndim; d++) {
        const Axis *axis = &call->axes[d];
        int64_t first, count = find_places(axis, origin[d], origin[d] + lengths[d], &first);
        if (!count) return 0;
        part->shape[d] = count;
        part->from[d] = plan->strides[d];
        if (axis->list) {
            part->picks[d] = axis->list + first;
            part->origin[d] = origin[d];
            part->listed++;
        } else {
            part->picks[d] = NULL;
            part->from[d] *= axis->step;
            part->memory += first * call->strides[d];
            part->skip += (axis->start + first * axis->step - origin[d]) * plan->strides[d];
        }
        if (axis->list || axis->step != 1 || count != lengths[d]) part->whole = 0;
        if (count != 1 && call->strides[d] != plan->strides[d]) direct = 0;
    }
    part->direct = part->whole && direct;
    return 1;
}

/* Copy the part of a decoded chunk into the result, or one value for all elements. */
static void copy_part(const Call *call, const Part *part, const char *data, int is_value) {
    const Plan *plan = call->plan;
    int swap = is_value ? 0 : plan->swap;
    if (!part->listed && is_value) {
        fill_box(plan->ndim, part->shape, part->memory, call->strides, (const uint8_t *)data, plan->item);
        return;
    }
    int64_t shape[MAX_DIMS], from[MAX_DIMS], elements = 1, at[MAX_DIMS] = {0};
    int listed[MAX_DIMS], count = 0;
    for (int d = 0; d < plan->ndim; d++) {
        from[d] = is_value ? 0 : part->from[d];
        shape[d] = part->picks[d] ? 1 : part->shape[d];
        elements *= shape[d];
        if (part->picks[d]) listed[count++] = d;
    }
    if (!is_value) data += part->skip;
    if (!count) {
        copy_box(plan->ndim, shape, part->memory, call->strides, data, from, plan->item, swap);
        return;
    }
    int last = listed[--count]; /* the inner loop */
    for (;;) {
        char *to = part->memory;
        const char *source = data;
        for (int i = 0; i < count; i++) {
            int d = listed[i];
            const Pick *pick = &part->picks[d][at[i]];
            to += pick->position * call->strides[d];
            source += (pick->element - part->origin[d]) * from[d];
        }
        const Pick *picks = part->picks[last];
        if (elements == 1)
            copy_picks(part->shape[last], picks, part->origin[last], to, call->strides[last], source,
                       from[last], plan->item, swap);
        else
            for (int64_t k = 0; k < part->shape[last]; k++)
                copy_box(plan->ndim, shape, to + picks[k].position * call->strides[last], call->strides,
                         source + (picks[k].element - part->origin[last]) * from[last], from,
                         plan->item, swap);
        int i = count - 1;
        while (i >= 0 && ++at[i] == part->shape[listed[i]]) at[i--] = 0;
        if (i < 0) return;
    }
}

/* Decode a chunk into the result; 0, or -1 if Python has to. */
static int place_chunk(const Call *call, Worker *worker, const int64_t *origin, const uint8_t *data,
                       int64_t size) {
    const Plan *plan = call->plan;
    Part part;
    if (!find_part(call, origin, plan->chunk, &part)) return 0;
    if (part.direct && !plan->swap) {
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
    copy_part(call, &part, (const char *)data, 0);
    return 0;
}

/* Fill the part of a missing chunk or shard. */
static void fill_part(const Call *call, const int64_t *origin, const int64_t *lengths) {
    Part part;
    if (find_part(call, origin, lengths, &part))
        copy_part(call, &part, (const char *)call->plan->fill, 1);
}

/* --- points --- */

/* Copy the points of one decoded chunk, `points[0 .. count)`, into the result. */
static void place_points(const Call *call, const Point *points, int64_t count, const uint8_t *data,
                         int is_value) {
    const Plan *plan = call->plan;
    int64_t none = 0;
    for (int64_t i = 0; i < count; i++)
        copy_box(0, &none, call->memory + points[i].position * call->strides[0], &none,
                 (const char *)data + (is_value ? 0 : points[i].offset), &none, plan->item,
                 is_value ? 0 : plan->swap);
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
    place_points(call, points, count, data, 0);
    return 0;
}

/* --- large chunks that are not compressed --- */

/* Read a box of elements at `offset` of a file in windows; what is far from all elements is skipped. */
static int read_rows(const Plan *plan, Worker *worker, int file, int64_t offset, int ndim,
                     const int64_t *shape, const int64_t *from, char *to, const int64_t *strides) {
    while (ndim && *shape == 1) ndim--, shape++, from++, strides++;
    int64_t span = plan->item, wanted = plan->item;
    for (int d = 0; d < ndim; d++) {
        span += (shape[d] - 1) * from[d];
        wanted *= shape[d];
    }
    if (span == wanted && !plan->swap && is_contiguous(ndim, shape, strides, plan->item))
        return read_fully(file, (uint8_t *)to, span, offset);
    if (span <= WINDOW && (wanted * DENSE >= span || *from <= GAP)) {
        uint8_t *buffer = worker_buffer(worker, ENCODED, span);
        if (!buffer || read_fully(file, buffer, span, offset)) return -1;
        copy_box(ndim, shape, to, strides, (const char *)buffer, from, plan->item, plan->swap);
        return 0;
    }
    /* As many rows as fill a window; single ones if the bytes between them are skipped. */
    int64_t rows = span > WINDOW && *from < WINDOW ? WINDOW / *from : 1, some[MAX_DIMS];
    memcpy(some, shape, (size_t)ndim * sizeof *some);
    for (int64_t row = 0; row < *shape; row += rows) {
        *some = *shape - row < rows ? *shape - row : rows;
        if (read_rows(plan, worker, file, offset + row * *from, ndim, some, from, to + row * *strides, strides))
            return -1;
    }
    return 0;
}

/* Whether the elements that are needed of a chunk in a file are read without the others. */
static int is_read_in_part(const Plan *plan) {
    return !plan->chain.count && plan->nbytes > plan->partial_limit;
}

/* Read the selected elements of such a chunk at `base` of a file; 0, or -1 if Python has to. */
static int read_in_part(const Call *call, Worker *worker, int file, int64_t base, const int64_t *origin,
                        const Point *points, int64_t count) {
    const Plan *plan = call->plan;
    Part part;
    if (plan->is_bool || !plan->is_c_order) return -1;
    if (call->kind != READ_POINTS) {
        if (!find_part(call, origin, plan->chunk, &part)) return 0;
        if (part.listed) return -1;
        return read_rows(plan, worker, file, base + part.skip, plan->ndim, part.shape, part.from, part.memory,
                         call->strides);
    }
    if (count > plan->nbytes / GAP) {
        uint8_t *buffer = worker_buffer(worker, ENCODED, plan->nbytes);
        if (!buffer || read_fully(file, buffer, plan->nbytes, base)) return -1;
        return decode_points(call, worker, points, count, buffer, plan->nbytes);
    }
    for (int64_t i = 0; i < count; i++) {
        uint8_t element[MAX_ITEM];
        Point point = points[i];
        if (read_fully(file, element, plan->item, base + point.offset)) return -1;
        point.offset = 0;
        place_points(call, &point, 1, element, 0);
    }
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
    if (!points_only && !find_part(call, origin, plan->chunk, &part)) return 0;
    int file = open_beneath(job->root, key, O_RDONLY | O_NONBLOCK, plan->follow_links);
    if (file == -ENOENT && !plan->missing_is_error) {
        if (points_only)
            place_points(call, points, count, plan->fill, 1);
        else
            fill_part(call, origin, plan->chunk);
        return 0;
    }
    if (file < 0) return -1;
    int64_t size = file_size(file);
    int result = -1;
    if (size == plan->nbytes && is_read_in_part(plan) && (points_only || !part.direct || plan->swap)) {
        result = read_in_part(call, worker, file, 0, origin, points, count);
    } else if (size > 0 && size <= (raw ? plan->nbytes : plan->chain.room)) {
        int direct = raw && !points_only && part.direct && !plan->swap;
        if (direct && size == plan->nbytes) {
            result = read_fully(file, (uint8_t *)part.memory, size, 0);
            if (!result && plan->is_bool && !are_bools((uint8_t *)part.memory, size)) result = -1;
        } else if (!direct) {
            uint8_t *buffer = worker_buffer(worker, ENCODED, size + size / 8);
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
    Value value = call->values[number - call->first];
    if (!value.data) {
        if (plan->missing_is_error) return -1;
        if (call->kind == READ_POINTS)
            place_points(call, points, count, plan->fill, 1);
        else
            fill_part(call, origin, plan->chunk);
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
            place_points(job->call, job->call->points + first, stop - first, plan->fill, 1);
        } else {
            int64_t origin[MAX_DIMS];
            inner_origin(plan, shard->origin, inner, origin);
            fill_part(job->call, origin, plan->chunk);
        }
        return 0;
    }
    /* Compared without a sum, which could overflow. */
    if (offset < (uint64_t)low || offset > (uint64_t)high || size > (uint64_t)high - offset) return -1;
    if (size > (uint64_t)(plan->chain.count ? plan->chain.room : plan->nbytes)) return -1;
    shard->items[(*count)++] = (Item){(int64_t)offset, (int64_t)size, inner, first};
    return 0;
}

/* Whether the selection has elements of an inner chunk. */
static int is_selected(const Call *call, const int64_t *shard, const int64_t *at) {
    const Plan *plan = call->plan;
    for (int d = 0; d < plan->ndim; d++) {
        int64_t first, start = shard[d] + at[d] * plan->chunk[d];
        if (!find_places(&call->axes[d], start, start + plan->chunk[d], &first)) return 0;
    }
    return 1;
}

/* Note all inner chunks of the selection, or of the points; returns their number, or -1.  The index is null
 * for a shard that is written. */
static int64_t note_items(Job *job, Shard *shard, const uint8_t *index, int64_t low, int64_t high) {
    const Plan *plan = job->plan;
    const Call *call = job->call;
    int64_t count = 0, from[MAX_DIMS], to[MAX_DIMS], at[MAX_DIMS];
    int gaps = 0;
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
        const Axis *axis = &call->axes[d];
        int64_t first, start = shard->origin[d];
        int64_t selected = find_places(axis, start, start + plan->outer[d], &first);
        if (!selected) return 0;
        int64_t last = first + selected - 1;
        first = axis->list ? axis->list[first].element : axis->start + first * axis->step;
        last = axis->list ? axis->list[last].element : axis->start + last * axis->step;
        from[d] = at[d] = (first - start) / plan->chunk[d];
        to[d] = (last - start) / plan->chunk[d] + 1;
        most *= to[d] - from[d];
        /* Between the first and the last, inner chunks may not be selected. */
        if (axis->list || axis->step > plan->chunk[d]) gaps = 1;
    }
    shard->items = malloc((size_t)most * sizeof(Item));
    if (!shard->items) return -1;
    for (;;) {
        int64_t inner = 0;
        for (int d = 0; d < plan->ndim; d++) inner = inner * plan->grid[d] + at[d];
        if (gaps && !is_selected(call, shard->origin, at)) {
            /* skipped */
        } else if (!index) {
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
    int64_t most = bytes / ((int64_t)4 * threads);
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
        shard->memory = call->values[number - call->first].data;
        size = call->values[number - call->first].size;
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
            place_points(call, call->points + first, last - first, plan->fill, 1);
        } else {
            fill_part(call, shard->origin, plan->outer);
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
    int in_part = !shard->memory && is_read_in_part(plan);
    for (int64_t i = from; i < to && !in_part; i++)
        if (shard->items[i].offset + shard->items[i].size > stop)
            stop = shard->items[i].offset + shard->items[i].size;
    const uint8_t *data = NULL;
    if (shard->memory) {
        data = shard->memory + start;
    } else if (!in_part) {
        uint8_t *buffer = worker_buffer(worker, ENCODED, stop > start ? stop - start : 1);
        if (!buffer || read_fully(shard->file, buffer, stop - start, start)) return -1;
        data = buffer;
    }
    for (int64_t i = from; i < to; i++) {
        const Item *item = &shard->items[i];
        int64_t origin[MAX_DIMS], first = item->first, last = first;
        if (call->kind == READ_POINTS)
            while (last < shard->last && call->points[last].inner == item->inner) last++;
        else
            inner_origin(plan, shard->origin, item->inner, origin);
        const Point *points = call->points ? call->points + first : NULL;
        int failed;
        if (in_part)
            failed = item->size != plan->nbytes ||
                     read_in_part(call, worker, shard->file, item->offset, origin, points, last - first);
        else if (call->kind == READ_POINTS)
            failed = decode_points(call, worker, points, last - first, data + (item->offset - start),
                                   item->size);
        else
            failed = place_chunk(call, worker, origin, data + (item->offset - start), item->size);
        if (failed) return -1;
    }
    return 0;
}

/* --- writing --- */

int is_complete(const Call *call, const int64_t *at) {
    const Plan *plan = call->plan;
    for (int d = 0; d < plan->ndim; d++) {
        int64_t start = at[d] * plan->outer[d], stop = plan->shape[d];
        if (stop - start > plan->outer[d]) stop = start + plan->outer[d];
        const Axis *axis = &call->axes[d];
        if (start < axis->start || stop > axis->start + axis->count) return 0;
    }
    return 1;
}

/* Encode a chunk; its size in *encoded, EMPTY_CHUNK if it is not stored, or -1 if Python has to.
 * The elements are copied, if necessary, to `memory`, or to memory of the worker if it is null. */
static int64_t encode_chunk(const Call *call, Worker *worker, const int64_t *origin, uint8_t *memory,
                            const uint8_t **encoded) {
    const Plan *plan = call->plan;
    Part part;
    if (!find_part(call, origin, plan->chunk, &part)) return -1;
    const uint8_t *data = (const uint8_t *)part.memory;
    if (!part.direct || plan->swap) {
        if (!memory && !(memory = worker_buffer(worker, DECODED, plan->nbytes))) return -1;
        if (!part.whole)
            fill_box(plan->ndim, plan->chunk, (char *)memory, plan->strides, plan->stored_fill,
                     plan->item);
        copy_box(plan->ndim, part.shape, (char *)memory, plan->strides, part.memory, call->strides,
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

/* Keep the bytes of all pieces for the caller; 0, or -1 if there is not enough memory. */
static int keep(Output *output, const Value *pieces, int64_t count) {
    int64_t size = 0;
    for (int64_t i = 0; i < count; i++) size += pieces[i].size;
    if (!output->data && !(output->data = malloc((size_t)(size ? size : 1)))) return -1;
    uint8_t *to = output->data;
    for (int64_t i = 0; i < count; to += pieces[i++].size)
        if (pieces[i].size && pieces[i].data != to) memcpy(to, pieces[i].data, (size_t)pieces[i].size);
    output->size = size;
    return 0;
}

static int write_one(Job *job, Worker *worker, int64_t number, const int64_t *at) {
    const Plan *plan = job->plan;
    Output *output = job->call->outputs ? &job->call->outputs[number - job->call->first] : NULL;
    int64_t origin[MAX_DIMS];
    char key[MAX_KEY];
    if (!is_complete(job->call, at) || plan_key(plan, at, key) < 0) return -1;
    for (int d = 0; d < plan->ndim; d++) origin[d] = at[d] * plan->chunk[d];
    Value value;
    /* Chunks that are stored as they are in memory are copied once, to where they are kept. */
    uint8_t *memory = output && !plan->chain.count ? output->data : NULL;
    value.size = encode_chunk(job->call, worker, origin, memory, &value.data);
    if (output && value.size == EMPTY_CHUNK) {
        output->size = EMPTY_CHUNK;
        return 0;
    }
    if (output) return value.size < 0 ? -1 : keep(output, &value, 1);
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
    Output *output = job->call->outputs ? &job->call->outputs[shard->number - job->call->first] : NULL;
    if (is_empty && output) {
        output->size = EMPTY_CHUNK;
        result = 0;
        goto end;
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
    result = output ? keep(output, pieces, shard->group_count + 1)
                    : replace_value(plan, job->root, worker, key, pieces, shard->group_count + 1);
end:
    free(pieces);
    return result;
}

/* --- threads --- */

/* Whether a thread can take a task now. */
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
        object_at(job->call, points->chunk, at);
    } else {
        object_at(job->call, number, at);
    }
    int done = 0;
    if (job->call->kind == WRITE_BOX && plan->sharded)
        shard = new_shard(job, number, at);
    else if (job->call->kind == WRITE_BOX)
        done = !write_one(job, worker, number, at);
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

/* Whether reading in part makes the tasks small. */
static int is_thin(const Call *call) {
    if (!is_read_in_part(call->plan) || call->kind == WRITE_BOX) return 0;
    if (call->kind == READ_POINTS) return 1;
    int64_t wanted = call->plan->item; /* of a chunk; without overflow, as the chunk has a size */
    for (int d = 0; d < call->plan->ndim; d++) {
        int64_t count = call->axes[d].count, length = call->plan->chunk[d];
        wanted *= count < length ? count : length;
    }
    return wanted < THREAD_BYTES;
}

static void run_tasks(Job *job) {
    Call *call = job->call;
    pthread_t threads[MAX_THREADS];
    int created = 0, wanted = call->threads < MAX_THREADS ? call->threads : MAX_THREADS;
    int64_t start = now_ns(), checked = start;
    int large = job->plan->nbytes >= THREAD_BYTES && !is_thin(call);
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

int64_t object_count(const Call *call) {
    int64_t count = 1;
    for (int d = 0; d < call->plan->ndim; d++)
        if (__builtin_mul_overflow(count, call->axes[d].objects, &count)) return 0;
    return count;
}

/* Which stored objects are processed; 0 if they are too many to number. */
static int count_objects(Job *job) {
    const Call *call = job->call;
    job->next = call->first;
    job->total = call->last ? call->last : object_count(call);
    return job->total > 0;
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
    if (!call->values && !call->outputs) {
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
