/* Keys of chunks. */
#include <stdio.h>
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
