/* Chains of bytes -> bytes codecs, and the memory of a thread. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "native.h"

void worker_start(Worker *worker) {
    memset(worker, 0, sizeof *worker);
    worker->directory = -1;
}

void worker_end(Worker *worker, const Chain *chain) {
    for (int i = 0; i < chain->count; i++)
        if (worker->codec[i]) chain->codec[i]->worker_free(chain->codec[i], worker->codec[i]);
    for (int i = 0; i < 4; i++) release_memory(worker->buffer[i]);
    if (worker->directory >= 0) close(worker->directory);
}

uint8_t *worker_buffer(Worker *worker, int which, int64_t size) {
    if (worker->room[which] < size) {
        release_memory(worker->buffer[which]);
        worker->buffer[which] = take_memory(size);
        worker->room[which] = worker->buffer[which] ? size : 0;
    }
    return worker->buffer[which];
}

/* The worker memory of a codec, created for the first chunk; 0 if there is not enough memory. */
static int prepare(const Chain *chain, Worker *worker, int i) {
    const zarr_codec *codec = chain->codec[i];
    if (!codec->worker_new || worker->codec[i]) return 1;
    worker->codec[i] = codec->worker_new(codec);
    return worker->codec[i] != NULL;
}

int chain_decode(const Chain *chain, Worker *worker, const uint8_t *src, int64_t size,
                 uint8_t *dst) {
    if (!chain->count) {
        if (size != chain->bound[0]) return -1;
        memcpy(dst, src, (size_t)size);
        return 0;
    }
    for (int i = chain->count - 1; i >= 0; i--) {
        const zarr_codec *codec = chain->codec[i];
        int64_t capacity = chain->bound[i];
        uint8_t *to = i ? worker_buffer(worker, i & 1 ? FIRST : SECOND, capacity) : dst;
        if (!to || !prepare(chain, worker, i)) return -1;
        size = codec->decode(codec, worker->codec[i], src, size, to, capacity);
        if (size < 0 || size > capacity || (chain->fixed[i] && size != capacity)) return -1;
        src = to;
    }
    return 0;
}

int64_t chain_encode(const Chain *chain, Worker *worker, const uint8_t *src,
                     const uint8_t **encoded) {
    int64_t size = chain->bound[0];
    for (int i = 0; i < chain->count; i++) {
        const zarr_codec *codec = chain->codec[i];
        int64_t capacity = chain->bound[i + 1];
        uint8_t *to = worker_buffer(worker, i & 1 ? FIRST : SECOND, capacity);
        if (!to || !prepare(chain, worker, i)) return -1;
        size = codec->encode(codec, worker->codec[i], src, size, to, capacity);
        if (size < 0 || size > capacity || (chain->fixed[i + 1] && size != capacity)) return -1;
        src = to;
    }
    *encoded = src;
    return size;
}
