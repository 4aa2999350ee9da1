/* Memory and contexts that are used again by the next call: new memory causes page faults, which take
 * longer than decompression for large chunks, and are the same for every call of a new thread. */
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

#include "native.h"

#define LARGE (1 << 16)      /* bytes; malloc() finds smaller memory fast */
#define KEPT_BYTES (1 << 24) /* for each processor, as zarr-core */

typedef struct {
    int64_t size;
    _Alignas(16) uint8_t bytes[];
} Memory;

static Idle memories;
static atomic_llong kept_bytes;

void *idle_take(Idle *idle) {
    for (int i = 0; i < IDLE_COUNT; i++) {
        if (!atomic_load_explicit(&idle->objects[i], memory_order_relaxed)) continue;
        void *object = atomic_exchange(&idle->objects[i], NULL);
        if (object) return object;
    }
    return NULL;
}

int idle_put(Idle *idle, void *object) {
    for (int i = 0; i < IDLE_COUNT; i++) {
        void *none = NULL;
        if (atomic_compare_exchange_strong(&idle->objects[i], &none, object)) return 1;
    }
    return 0;
}

uint8_t *take_memory(int64_t size) {
    Memory *memory = NULL;
    if (size >= LARGE && (memory = idle_take(&memories))) {
        atomic_fetch_sub(&kept_bytes, memory->size);
        if (memory->size < size) { /* its place is for a larger one */
            free(memory);
            memory = NULL;
        }
    }
    if (!memory) {
        if (!(memory = malloc(sizeof *memory + (size_t)size))) return NULL;
        memory->size = size;
    }
    return memory->bytes;
}

void release_memory(uint8_t *bytes) {
    if (!bytes) return;
    Memory *memory = (Memory *)(bytes - offsetof(Memory, bytes));
    if (memory->size >= LARGE) {
        static atomic_llong limit;
        if (!atomic_load(&limit)) {
            long processors = sysconf(_SC_NPROCESSORS_ONLN);
            atomic_store(&limit, (processors < 1 ? 1 : processors) * (int64_t)KEPT_BYTES);
        }
        int64_t size = memory->size; /* another thread may take and free it */
        int fits = atomic_fetch_add(&kept_bytes, size) + size <= atomic_load(&limit);
        if (fits && idle_put(&memories, memory)) return;
        atomic_fetch_sub(&kept_bytes, size);
    }
    free(memory);
}
