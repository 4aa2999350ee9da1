/* A target of libFuzzer: codecs, indexes of shards, values, selections and plans.
 *
 * `make fuzz` compiles it with the sources of the module, without Python, and runs it.  The first byte
 * of the input selects what is done:
 *
 * - a codec decodes the input, or what it encoded before with some bytes changed;
 * - a selection of an array is read, whose values are the rest of the input;
 * - a box is written to files or to memory, read and compared; then some bytes of a file are changed,
 *   and the box is read again.
 *
 * All memory has exactly the size that it must have, so the address sanitizer reports every access
 * outside of it. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "native.h"

#define CHECK(condition)                                                  \
    do                                                                    \
        if (!(condition)) {                                               \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition); \
            abort();                                                      \
        }                                                                 \
    while (0)
#define MAX_OBJECTS 64
#define MAX_ELEMENTS (1 << 14)
#define COUNT(array) (int)(sizeof(array) / sizeof *(array))

static const struct {
    const char *name;
    int fixed; /* bytes that encoding adds; -1 if the size depends on the content */
    int count;
    int64_t parameters[5];
} settings[] = {
    {"crc32c", 4, 0, {0}},
    {"numcodecs.shuffle", 0, 1, {4}},
    {"numcodecs.shuffle", 0, 1, {1}},
    {"numcodecs.zlib", -1, 1, {1}},
    {"gzip", -1, 1, {5}},
    {"zstd", -1, 2, {1, 1}},
    {"zstd", -1, 2, {3, 0}},
    {"numcodecs.lz4", -1, 1, {1}},
    {"blosc", -1, 5, {1, 5, 1, 4, 0}},
    {"blosc", -1, 5, {0, 1, 2, 2, 64}},
    {"blosc", -1, 5, {5, 1, 0, 1, 0}},
};
static zarr_codec *codecs[COUNT(settings)];
static char root[] = "/tmp/zarr-native-fuzz-XXXXXX";

static void remove_root(void) {
    char command[64];
    snprintf(command, sizeof command, "rm -r %s", root);
    if (system(command)) fprintf(stderr, "%s was not removed\n", root);
}

int LLVMFuzzerInitialize(int *argc, char ***argv) {
    (void)argc, (void)argv;
    static const char *const libraries[] = {"zstd", "blosc", "lz4", "deflate"};
    for (int i = 0; i < COUNT(libraries); i++) {
        const char *problem = load_library(libraries[i], "");
        if (problem) fprintf(stderr, "without %s: %s\n", libraries[i], problem);
    }
    for (int i = 0; i < COUNT(settings); i++) {
        codecs[i] = built_in_codec(settings[i].name, settings[i].parameters, settings[i].count);
        if (!codecs[i]) fprintf(stderr, "without the codec %s\n", settings[i].name);
    }
    CHECK(mkdtemp(root));
    atexit(remove_root);
    return 0;
}

/* --- the input --- */

typedef struct {
    const uint8_t *data;
    size_t size;
} Input;

static int take(Input *input) {
    if (!input->size) return 0;
    input->size--;
    return *input->data++;
}

static uint8_t *copy_of(const uint8_t *data, size_t size) {
    uint8_t *copy = malloc(size ? size : 1);
    CHECK(copy);
    if (size) memcpy(copy, data, size);
    return copy;
}

/* Change bytes, and perhaps the length, as the input says. */
static void change(Input *input, uint8_t *data, int64_t *size) {
    for (int count = take(input) % 4; count >= 0 && *size; count--) {
        int64_t at = (take(input) | take(input) << 8) % *size;
        if (take(input) & 1) at = *size - 1 - at; /* indexes are often at the end */
        data[at] = (uint8_t)take(input);
    }
    if (!(take(input) % 8)) *size -= *size ? take(input) % *size : 0;
}

/* --- codecs --- */

static void fuzz_codec(Input *input) {
    int number = take(input) % COUNT(settings), from_encoded = take(input) & 1;
    const zarr_codec *codec = codecs[number];
    if (!codec) return;
    void *worker = codec->worker_new ? codec->worker_new(codec) : NULL;
    int64_t capacity = take(input) | take(input) << 8, size, decoded;
    uint8_t *encoded, *to;
    if (from_encoded) {
        Input content = {input->data, input->size / 2};
        input->data += content.size, input->size -= content.size;
        int64_t bound = codec->encode_bound(codec, (int64_t)content.size);
        CHECK(bound >= 0);
        uint8_t *source = copy_of(content.data, content.size);
        encoded = malloc((size_t)bound + 1);
        CHECK(encoded);
        size = codec->encode(codec, worker, source, (int64_t)content.size, encoded, bound);
        CHECK(size <= bound);
        if (size >= 0) {
            uint8_t *exact = copy_of(encoded, (size_t)size), *again = malloc(content.size + 1);
            decoded = codec->decode(codec, worker, exact, size, again, (int64_t)content.size);
            /* Python does what is left, such as empty frames. */
            CHECK(decoded < 0 || (decoded == (int64_t)content.size && !memcmp(again, source, content.size)));
            CHECK(decoded >= 0 || !content.size);
            free(again), free(exact);
            change(input, encoded, &size);
        }
        free(source);
        uint8_t *exact = copy_of(encoded, size < 0 ? 0 : (size_t)size);
        free(encoded);
        encoded = exact, size = size < 0 ? 0 : size;
        if (take(input) & 1) capacity = (int64_t)content.size;
    } else {
        size = (int64_t)input->size;
        encoded = copy_of(input->data, input->size);
    }
    to = malloc((size_t)capacity + !capacity);
    CHECK(to);
    decoded = codec->decode(codec, worker, encoded, size, to, capacity);
    CHECK(decoded <= capacity);
    free(to), free(encoded);
    if (worker) codec->worker_free(codec, worker);
}

/* --- plans and selections --- */

/* A plan that the input describes; 0 if it is not valid. */
static int new_plan(Input *input, Plan *plan) {
    static const int items[] = {1, 2, 4, 8, 16, 3, 256};
    int64_t order[MAX_DIMS];
    int flags = take(input), turn = take(input);
    memset(plan, 0, sizeof *plan);
    plan->ndim = 1 + take(input) % 3;
    plan->sharded = flags & 1;
    plan->index_crc = flags >> 1 & 1, plan->index_at_start = flags >> 2 & 1;
    plan->missing_is_error = flags >> 3 & 1, plan->write_empty = flags >> 4 & 1;
    plan->item = items[take(input) % COUNT(items)];
    int swap = take(input);
    plan->swap = (int[]){0, 2, 4, 8, swap}[swap % 5];
    plan->is_bool = plan->item == 1 && flags >> 5 & 1;
    plan->partial_limit = flags >> 6 & 1 ? 16 : INT64_MAX / 2;
    for (int d = 0; d < plan->ndim; d++) {
        plan->chunk[d] = take(input) % 9;
        plan->outer[d] = plan->chunk[d] * (plan->sharded ? take(input) % 5 : 1);
        plan->shape[d] = take(input) % 41;
        order[d] = (d + turn) % plan->ndim;
    }
    for (int i = 0; i < plan->item; i++) plan->fill[i] = plan->is_bool ? 1 : (uint8_t)(i * turn);
    plan->chain.count = take(input) % 3;
    int64_t exact = plan->item;
    for (int d = 0; d < plan->ndim; d++) exact *= plan->chunk[d];
    for (int i = 0; i < plan->chain.count; i++) {
        int number = take(input) % COUNT(settings);
        if (!(plan->chain.codec[i] = codecs[number])) return 0;
        exact = exact < 0 || settings[number].fixed < 0 ? -1 : exact + settings[number].fixed;
        plan->chain.bound[i + 1] = exact;
    }
    plan->chain.room = plan->item * 512;
    plan->prefix = "c.", strcpy(plan->separator, flags >> 7 ? "/" : ".");
    return !plan_complete(plan, order);
}

typedef struct {
    Axis axes[MAX_DIMS];
    int64_t strides[MAX_DIMS], elements, objects;
    char *memory;
} Selected;

static void free_selected(const Plan *plan, Selected *selected) {
    for (int d = 0; d < plan->ndim; d++) {
        free(selected->axes[d].list);
        free(selected->axes[d].numbers);
    }
    free(selected->memory);
}

/* A selection that the input describes, with memory; 0 if it is too large. */
static int select_elements(Input *input, const Plan *plan, Selected *selected, int boxes) {
    int kinds = boxes ? 0 : take(input), fortran = take(input) & 1;
    memset(selected, 0, sizeof *selected);
    selected->elements = selected->objects = 1;
    for (int d = 0; d < plan->ndim; d++) {
        Axis *axis = &selected->axes[d];
        int64_t length = plan->shape[d];
        axis->step = 1;
        if (kinds >> d & 1) {
            axis->count = 1 + take(input) % 8;
            CHECK((axis->list = malloc((size_t)axis->count * sizeof(Pick))));
            for (int64_t i = 0; i < axis->count; i++) axis->list[i] = (Pick){take(input) % length, i};
        } else {
            axis->start = take(input) % length;
            axis->step = kinds >> 4 & 1 ? 1 + take(input) % 7 : 1;
            axis->count = 1 + take(input) % ((length - 1 - axis->start) / axis->step + 1);
            if (boxes && take(input) & 1) axis->start = 0, axis->count = length;
        }
        selected->elements *= axis->count;
        CHECK(!axis_complete(axis, plan->outer[d]));
        selected->objects *= axis->objects;
    }
    if (selected->elements > MAX_ELEMENTS || selected->objects > MAX_OBJECTS) return 0;
    int64_t stride = plan->item;
    for (int i = 0; i < plan->ndim; i++) {
        int d = fortran ? i : plan->ndim - 1 - i;
        selected->strides[d] = stride;
        stride *= selected->axes[d].count;
    }
    return (selected->memory = calloc(1, (size_t)stride)) != NULL;
}

static Call call_of(const Plan *plan, const Selected *selected, Kind kind, int threads) {
    return (Call){.plan = plan, .kind = kind, .axes = selected->axes, .strides = selected->strides,
                  .memory = selected->memory, .threads = threads};
}

/* Do a call; the number of stored objects that are left. */
static int64_t run_checked(Call *call, int64_t objects) {
    CHECK(!run_call(call));
    CHECK(call->left_count + call->done_count == objects);
    for (int64_t i = 0; i < call->left_count; i++) CHECK(call->left[i] >= 0 && call->left[i] < objects);
    free(call->left);
    call->left = NULL;
    return call->left_count;
}

/* Let the checksum of an index be correct, so that its entries are used. */
static void correct_index(const Plan *plan, uint8_t *data, int64_t size) {
    if (!plan->sharded || !plan->index_crc || size < plan->index_size) return;
    uint8_t *index = data + (plan->index_at_start ? 0 : size - plan->index_size);
    uint32_t crc = crc32c(index, plan->index_size - 4);
    for (int i = 0; i < 4; i++) index[plan->index_size - 4 + i] = (uint8_t)(crc >> 8 * i);
}

static void fuzz_values(Input *input) {
    Plan plan;
    Selected selected;
    if (!new_plan(input, &plan)) return;
    int usable = select_elements(input, &plan, &selected, 0), correct = take(input);
    Value values[MAX_OBJECTS] = {{0}};
    uint8_t *copies[MAX_OBJECTS] = {0};
    if (usable) {
        for (int64_t i = 0; i < selected.objects; i++) {
            int kind = take(input);
            size_t size = (size_t)(take(input) | (kind & 2 ? take(input) << 8 : 0));
            if (!(kind & 1)) continue;
            if (size > input->size) size = input->size;
            values[i].data = copies[i] = copy_of(input->data, size);
            values[i].size = (int64_t)size;
            if (correct & 1) correct_index(&plan, copies[i], values[i].size);
            if (correct & 2) input->data += size, input->size -= size; /* else used again */
        }
        Call call = call_of(&plan, &selected, READ_BOX, 1 + (correct >> 2) % 3);
        call.values = values;
        run_checked(&call, selected.objects);
        for (int64_t i = 0; i < selected.objects; i++) free(copies[i]);
    }
    free_selected(&plan, &selected);
}

/* Write a box to memory, and compare it with what is read. */
static void fuzz_outputs(const Plan *plan, Selected *selected, int threads, const char *written) {
    int64_t nbytes = selected->elements * plan->item, at[MAX_DIMS];
    int is_fixed = plan->chain.fixed[plan->chain.count] && !plan->sharded;
    Output outputs[MAX_OBJECTS];
    Value values[MAX_OBJECTS] = {{0}};
    Call call = call_of(plan, selected, WRITE_BOX, threads);
    call.outputs = outputs, call.last = selected->objects;
    for (int64_t i = 0; i < selected->objects; i++) {
        object_at(&call, i, at);
        outputs[i] = (Output){NULL, NOT_ENCODED};
        if (is_fixed && is_complete(&call, at))
            CHECK((outputs[i].data = malloc((size_t)plan->chain.bound[plan->chain.count])));
    }
    int64_t left = run_checked(&call, selected->objects), unknown = 0;
    for (int64_t i = 0; i < selected->objects; i++) {
        unknown += outputs[i].size == NOT_ENCODED;
        if (outputs[i].size >= 0) values[i] = (Value){outputs[i].data, outputs[i].size};
    }
    CHECK(unknown == left);
    memset(selected->memory, 0x55, (size_t)nbytes);
    Call read = call_of(plan, selected, READ_BOX, threads);
    read.values = values;
    if (!run_checked(&read, selected->objects) && !left)
        CHECK(!memcmp(written, selected->memory, (size_t)nbytes));
    for (int64_t i = 0; i < selected->objects; i++) free(outputs[i].data);
}

/* --- files --- */

static void path_of(const Plan *plan, const Call *call, int64_t number, char *path) {
    int64_t at[MAX_DIMS];
    char key[MAX_KEY];
    object_at(call, number, at);
    CHECK(plan_key(plan, at, key) >= 0);
    snprintf(path, 2 * MAX_KEY, "%s/%s", root, key);
}

/* Change some bytes of a file. */
static void change_file(Input *input, const Plan *plan, const char *path, int correct) {
    int file = open(path, O_RDWR);
    if (file < 0) return;
    int64_t size = lseek(file, 0, SEEK_END);
    uint8_t *data = malloc((size_t)size + 1);
    CHECK(data && pread(file, data, (size_t)size, 0) == size);
    change(input, data, &size);
    if (correct) correct_index(plan, data, size);
    CHECK(!ftruncate(file, size) && pwrite(file, data, (size_t)size, 0) == size);
    close(file);
    free(data);
}

static void fuzz_files(Input *input) {
    Plan plan;
    Selected selected;
    char path[2 * MAX_KEY];
    if (!new_plan(input, &plan)) return;
    plan.root = root, plan.writable = 1, plan.missing_is_error = 0;
    if (select_elements(input, &plan, &selected, 1)) {
        int64_t nbytes = selected.elements * plan.item;
        int how = take(input);
        for (int64_t i = 0; i < nbytes; i++)
            selected.memory[i] = how & 1 ? (char)plan.fill[i % plan.item]
                                         : (char)(input->size ? input->data[(size_t)i % input->size] : i);
        if (plan.is_bool)
            for (int64_t i = 0; i < nbytes; i++) selected.memory[i] &= 1;
        char *written = (char *)copy_of((uint8_t *)selected.memory, (size_t)nbytes);
        int threads = 1 + (how >> 1) % 3;
        if (how >> 4 & 1) fuzz_outputs(&plan, &selected, threads, written);
        memcpy(selected.memory, written, (size_t)nbytes);
        Call call = call_of(&plan, &selected, WRITE_BOX, threads);
        int64_t left = run_checked(&call, selected.objects);
        memset(selected.memory, 0x55, (size_t)nbytes);
        Call read = call_of(&plan, &selected, READ_BOX, 1);
        int64_t unread = run_checked(&read, selected.objects);
        if (!left && !unread) CHECK(!memcmp(written, selected.memory, (size_t)nbytes));
        path_of(&plan, &call, take(input) % selected.objects, path);
        change_file(input, &plan, path, how >> 3 & 1);
        read = call_of(&plan, &selected, READ_BOX, 1);
        run_checked(&read, selected.objects);
        for (int64_t i = 0; i < selected.objects; i++) {
            path_of(&plan, &call, i, path);
            unlink(path);
        }
        free(written);
    }
    free_selected(&plan, &selected);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    Input input = {data, size};
    switch (take(&input) % 3) {
        case 0: fuzz_codec(&input); break;
        case 1: fuzz_values(&input); break;
        default: fuzz_files(&input);
    }
    return 0;
}
