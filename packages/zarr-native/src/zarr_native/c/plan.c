/* Plans, selections, and keys of chunks. */
#include <stdlib.h>
#include <string.h>

#include "native.h"

int plan_key(const Plan *plan, const int64_t *coordinates, char *key) {
    size_t length = strlen(plan->prefix), between = strlen(plan->separator);
    if (length >= MAX_KEY) return -1;
    memcpy(key, plan->prefix, length);
    for (int d = 0; d < plan->ndim; d++) {
        if (length + between + 24 >= MAX_KEY) return -1;
        if (d) {
            memcpy(key + length, plan->separator, between);
            length += between;
        }
        char digits[24];
        int count = 0;
        int64_t number = coordinates[d];
        do digits[count++] = (char)('0' + number % 10);
        while (number /= 10);
        while (count) key[length++] = digits[--count];
    }
    key[length] = 0;
    return (int)length;
}

/* Multiply a size in bytes by positive lengths; 0 if it is too large. */
static int multiply(int count, const int64_t *lengths, int64_t *size) {
    for (int i = 0; i < count; i++)
        if (lengths[i] < 1 || __builtin_mul_overflow(*size, lengths[i], size) || *size > INT64_MAX / 4)
            return 0;
    return 1;
}

static const char *complete_chain(Chain *chain, int64_t nbytes) {
    int64_t room = chain->room;
    if (room < 0) return "the room is negative";
    chain->bound[0] = nbytes;
    chain->fixed[0] = 1;
    for (int i = 0; i < chain->count; i++) {
        const zarr_codec *codec = chain->codec[i];
        if (codec->abi != ZARR_CODEC_ABI || codec->size < sizeof(zarr_codec) || !codec->encode_bound ||
            !codec->encode || !codec->decode || !codec->worker_new != !codec->worker_free)
            return "a codec has another version of the binary interface, or lacks a function";
        int64_t exact = chain->bound[i + 1], bound = codec->encode_bound(codec, chain->bound[i]);
        if (bound < 0 || bound > INT64_MAX / 4 || (exact >= 0 && bound < exact))
            return "a codec cannot encode as many bytes";
        chain->fixed[i + 1] = exact >= 0;
        chain->bound[i + 1] = exact >= 0 ? exact : bound;
    }
    int64_t last = chain->bound[chain->count];
    chain->room = chain->fixed[chain->count] || last > room ? last : room;
    return NULL;
}

const char *plan_complete(Plan *plan, const int64_t *order) {
    int64_t size = plan->item, elements = 1, single = 1, stride = plan->item, swap = plan->swap;
    plan->nbytes = plan->item;
    if ((swap && swap != 2 && swap != 4 && swap != 8) || (swap && plan->item % swap))
        return "the byte order is not supported";
    if (!multiply(plan->ndim, plan->chunk, &plan->nbytes) || !multiply(plan->ndim, plan->outer, &size) ||
        !multiply(plan->ndim, plan->shape, &elements))
        return "a length is not positive, or the size is too large";
    for (int d = 0; d < plan->ndim; d++) {
        plan->grid[d] = plan->outer[d] / plan->chunk[d];
        if (plan->outer[d] % plan->chunk[d] || (!plan->sharded && plan->grid[d] != 1))
            return "the inner chunks do not divide the stored object";
    }
    plan->is_c_order = 1;
    for (int i = plan->ndim - 1; i >= 0; i--) {
        int64_t d = order[i];
        if (d != i) plan->is_c_order = 0;
        if (d < 0 || d >= plan->ndim || plan->strides[d]) /* twice */
            return "the order of the dimensions is not a permutation";
        plan->strides[d] = stride;
        stride *= plan->chunk[d];
    }
    if (plan->sharded) {
        plan->inner_count = 1;
        if (!multiply(plan->ndim, plan->grid, &plan->inner_count) || plan->inner_count > 1 << 20)
            return "too many inner chunks";
        plan->index_size = 16 * plan->inner_count + (plan->index_crc ? 4 : 0);
    }
    copy_box(1, &single, (char *)plan->stored_fill, &plan->item, (char *)plan->fill, &plan->item,
             plan->item, plan->swap);
    return complete_chain(&plan->chain, plan->nbytes);
}

static int by_element(const void *left, const void *right) {
    int64_t a = ((const Pick *)left)->element, b = ((const Pick *)right)->element;
    return (a > b) - (a < b);
}

int axis_complete(Axis *axis, int64_t outer) {
    if (!axis->list && axis->step <= outer) {
        axis->first = axis->start / outer;
        axis->objects = (axis->start + (axis->count - 1) * axis->step) / outer - axis->first + 1;
        return 0;
    }
    int sorted = 1;
    for (int64_t i = 1; axis->list && i < axis->count && sorted; i++)
        sorted = axis->list[i - 1].element <= axis->list[i].element;
    if (!sorted) qsort(axis->list, (size_t)axis->count, sizeof *axis->list, by_element);
    if (!(axis->numbers = malloc((size_t)axis->count * sizeof *axis->numbers))) return -1;
    axis->objects = 0;
    for (int64_t i = 0; i < axis->count; i++) {
        int64_t number = (axis->list ? axis->list[i].element : axis->start + i * axis->step) / outer;
        if (!i || number != axis->numbers[axis->objects - 1]) axis->numbers[axis->objects++] = number;
    }
    return 0;
}
