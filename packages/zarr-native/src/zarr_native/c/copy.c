/* Parts of arrays in memory: copies between any strides, fill values, tests of elements. */
#include <string.h>

#include "native.h"

int is_contiguous(int ndim, const int64_t *shape, const int64_t *strides, int64_t item) {
    for (int d = ndim - 1; d >= 0; d--) {
        if (shape[d] != 1 && strides[d] != item) return 0;
        item *= shape[d];
    }
    return 1;
}

/* Drop dimensions of length 1, let the target's smallest stride be the last, and merge dimensions
 * that are contiguous in both arrays, so that the inner loop is as long as possible. */
static int simplify(int ndim, const int64_t *shape, const int64_t *to, const int64_t *from,
                    int64_t *n, int64_t *t, int64_t *f) {
    int count = 0;
    for (int d = 0; d < ndim; d++) {
        if (shape[d] == 1) continue;
        int64_t size = to[d] < 0 ? -to[d] : to[d];
        int at = count++;
        while (at > 0 && (t[at - 1] < 0 ? -t[at - 1] : t[at - 1]) < size) {
            n[at] = n[at - 1], t[at] = t[at - 1], f[at] = f[at - 1];
            at--;
        }
        n[at] = shape[d], t[at] = to[d], f[at] = from[d];
    }
    int last = 0;
    for (int d = 1; d < count; d++) {
        if (t[last] == n[d] * t[d] && f[last] == n[d] * f[d]) {
            n[last] *= n[d], t[last] = t[d], f[last] = f[d];
        } else {
            last++;
            n[last] = n[d], t[last] = t[d], f[last] = f[d];
        }
    }
    return count ? last + 1 : 0;
}

#define STRIDED(type)                                                 \
    for (int64_t i = 0; i < count; i++, to += t, from += f) {         \
        type value;                                                   \
        memcpy(&value, from, sizeof value);                           \
        memcpy(to, &value, sizeof value);                             \
    }                                                                 \
    break
#define SWAPPED(type, reverse)                                        \
    for (int64_t i = 0; i < count; i++, to += t, from += f)           \
        for (int64_t k = 0; k < item; k += (int64_t)sizeof(type)) {   \
            type value;                                               \
            memcpy(&value, from + k, sizeof value);                   \
            value = reverse(value);                                   \
            memcpy(to + k, &value, sizeof value);                     \
        }                                                             \
    break

static void copy_row(int64_t count, char *to, int64_t t, const char *from, int64_t f, int64_t item,
                     int swap) {
    if (swap) {
        switch (swap) {
            case 2: SWAPPED(uint16_t, __builtin_bswap16);
            case 4: SWAPPED(uint32_t, __builtin_bswap32);
            default: SWAPPED(uint64_t, __builtin_bswap64);
        }
        return;
    }
    if (t == item && f == item) {
        memcpy(to, from, (size_t)(count * item));
        return;
    }
    switch (item) {
        case 1: STRIDED(uint8_t);
        case 2: STRIDED(uint16_t);
        case 4: STRIDED(uint32_t);
        case 8: STRIDED(uint64_t);
        default:
            for (int64_t i = 0; i < count; i++, to += t, from += f) memcpy(to, from, (size_t)item);
    }
}

void copy_box(int ndim, const int64_t *shape, char *to, const int64_t *to_strides, const char *from,
              const int64_t *from_strides, int64_t item, int swap) {
    int64_t n[MAX_DIMS], t[MAX_DIMS], f[MAX_DIMS], at[MAX_DIMS] = {0};
    for (int d = 0; d < ndim; d++)
        if (!shape[d]) return;
    int last = simplify(ndim, shape, to_strides, from_strides, n, t, f) - 1;
    if (last < 0) {
        copy_row(1, to, item, from, item, item, swap);
        return;
    }
    for (;;) {
        copy_row(n[last], to, t[last], from, f[last], item, swap);
        int d = last - 1;
        while (d >= 0 && ++at[d] == n[d]) {
            to -= (n[d] - 1) * t[d], from -= (n[d] - 1) * f[d];
            at[d--] = 0;
        }
        if (d < 0) return;
        to += t[d], from += f[d];
    }
}

#define PICKED(type)                                                            \
    for (int64_t i = 0; i < count; i++) {                                       \
        type value;                                                             \
        memcpy(&value, from + (picks[i].element - origin) * f, sizeof value);   \
        memcpy(to + picks[i].position * t, &value, sizeof value);               \
    }                                                                           \
    break

void copy_picks(int64_t count, const Pick *picks, int64_t origin, char *to, int64_t t,
                const char *from, int64_t f, int64_t item, int swap) {
    switch (swap ? 0 : item) {
        case 1: PICKED(uint8_t);
        case 2: PICKED(uint16_t);
        case 4: PICKED(uint32_t);
        case 8: PICKED(uint64_t);
        default:
            for (int64_t i = 0; i < count; i++)
                copy_row(1, to + picks[i].position * t, item,
                         from + (picks[i].element - origin) * f, item, item, swap);
    }
}

void fill_box(int ndim, const int64_t *shape, char *to, const int64_t *to_strides,
              const uint8_t *value, int64_t item) {
    int64_t none[MAX_DIMS] = {0}, bytes = item;
    for (int d = 0; d < ndim; d++) bytes *= shape[d];
    int same = 1;
    for (int64_t k = 1; k < item; k++) same &= value[k] == value[0];
    if (same && is_contiguous(ndim, shape, to_strides, item))
        memset(to, value[0], (size_t)bytes);
    else
        copy_box(ndim, shape, to, to_strides, (const char *)value, none, item, 0);
}

int are_bools(const uint8_t *bytes, int64_t count) {
    uint8_t all = 0;
    for (int64_t i = 0; i < count; i++) all |= bytes[i];
    return all <= 1;
}

int is_filled(const uint8_t *data, int64_t nbytes, const uint8_t *value, int64_t item) {
    /* The same bytes as one element further on: bit by bit, so that -0.0 is not 0.0. */
    return !memcmp(data, value, (size_t)item) &&
           !memcmp(data, data + item, (size_t)(nbytes - item));
}
