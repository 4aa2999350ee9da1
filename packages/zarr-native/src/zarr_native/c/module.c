/* The Python module _native: arguments and results.  All work is done without Python's lock. */
#define PY_SSIZE_T_CLEAN
#ifndef Py_LIMITED_API
#define Py_LIMITED_API 0x030b0000
#endif
#include <Python.h>

/* Not Py_RETURN_NONE: with headers of Python 3.12 and later it adds no reference, which Python 3.11 needs. */

#include <limits.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "native.h"

#define PLAN_CAPSULE "zarr_native.plan"
#define BATCH_BYTES (1 << 25) /* of decoded chunks that are encoded before they are stored in memory */
#define VALUE_BYTES (1 << 24) /* of values that are in memory at once, for each thread */
#define VALUE_COUNT (1 << 14) /* the same as a number */

/* A plan with what it refers to. */
typedef struct {
    Plan plan;
    PyObject *codecs; /* keeps the capsules alive */
} OwnedPlan;

static atomic_llong chunks_read, chunks_written;

/* --- plans --- */

static void free_plan(PyObject *capsule) {
    OwnedPlan *owned = PyCapsule_GetPointer(capsule, PLAN_CAPSULE);
    if (!owned) return;
    Py_XDECREF(owned->codecs);
    free(owned->plan.root);
    free(owned->plan.prefix);
    free(owned);
}

static int integers(PyObject *tuple, int64_t *to, int count) {
    if (!PyTuple_Check(tuple) || PyTuple_Size(tuple) != count) {
        PyErr_Format(PyExc_ValueError, "expected a tuple of %d integers", count);
        return -1;
    }
    for (int i = 0; i < count; i++) {
        to[i] = PyLong_AsLongLong(PyTuple_GetItem(tuple, i));
        if (to[i] == -1 && PyErr_Occurred()) return -1;
    }
    return 0;
}

/* The chain of a tuple of capsules; `sizes` has the exact size of the data before each codec and at
 * the end, -1 where it depends on the content. */
static int read_chain(Plan *plan, PyObject *codecs, PyObject *sizes) {
    Py_ssize_t count = PyTuple_Check(codecs) ? PyTuple_Size(codecs) : -1;
    if (count < 0 || count > MAX_CODECS) {
        PyErr_Format(PyExc_ValueError, "expected a tuple of at most %d codecs", MAX_CODECS);
        return -1;
    }
    if (integers(sizes, plan->chain.bound, (int)count + 1)) return -1;
    for (int i = 0; i < count; i++) {
        plan->chain.codec[i] =
            PyCapsule_GetPointer(PyTuple_GetItem(codecs, i), ZARR_CODEC_CAPSULE);
        if (!plan->chain.codec[i]) return -1;
    }
    plan->chain.count = (int)count;
    return 0;
}

PyDoc_STRVAR(plan_doc,
             "plan(shape, outer, chunk, order, item, swap, is_bool, fill, missing_is_error, write_empty,\n"
             "     codecs, sizes, room, index, root, follow_links, writable, prefix, separator,\n"
             "     partial_limit)\n--\n\n"
             "Return a plan; order is the order of the dimensions in an encoded chunk; index is None, or\n"
             "whether it has a checksum and whether it is at the start.");

static PyObject *plan_new(PyObject *module, PyObject *args) {
    (void)module;
    PyObject *shape, *outer, *chunk, *order, *codecs, *sizes, *index, *root;
    Py_buffer fill;
    const char *prefix, *separator;
    long long item, room, partial_limit;
    int swap, is_bool, missing_is_error, write_empty, follow_links, writable;
    if (!PyArg_ParseTuple(args, "OOOOLipy*ppOOLOOppssL", &shape, &outer, &chunk, &order, &item, &swap, &is_bool,
                          &fill, &missing_is_error, &write_empty, &codecs, &sizes, &room, &index, &root,
                          &follow_links, &writable, &prefix, &separator, &partial_limit))
        return NULL;
    OwnedPlan *owned = calloc(1, sizeof *owned);
    PyObject *capsule = owned ? PyCapsule_New(owned, PLAN_CAPSULE, free_plan) : PyErr_NoMemory();
    if (!capsule) {
        PyBuffer_Release(&fill);
        free(owned);
        return NULL;
    }
    Plan *plan = &owned->plan;
    int64_t dimensions[MAX_DIMS];
    Py_ssize_t ndim = PyTuple_Check(shape) ? PyTuple_Size(shape) : -1;
    if (ndim < 1 || ndim > MAX_DIMS || item < 1 || item > MAX_ITEM || fill.len != item ||
        strlen(separator) >= sizeof plan->separator) {
        PyErr_SetString(PyExc_ValueError, "an argument of the plan is not supported");
        goto failed;
    }
    plan->ndim = (int)ndim;
    if (integers(shape, plan->shape, plan->ndim) || integers(outer, plan->outer, plan->ndim) ||
        integers(chunk, plan->chunk, plan->ndim) || integers(order, dimensions, plan->ndim) ||
        read_chain(plan, codecs, sizes))
        goto failed;
    plan->item = item, plan->swap = swap, plan->is_bool = is_bool;
    memcpy(plan->fill, fill.buf, (size_t)item);
    plan->missing_is_error = missing_is_error, plan->write_empty = write_empty;
    plan->follow_links = follow_links, plan->writable = writable;
    plan->partial_limit = partial_limit;
    plan->chain.room = room;
    if (index != Py_None) {
        int64_t how[2];
        if (integers(index, how, 2)) goto failed;
        plan->sharded = 1;
        plan->index_crc = how[0] != 0, plan->index_at_start = how[1] != 0;
    }
    const char *problem = plan_complete(plan, dimensions);
    if (problem) {
        PyErr_SetString(PyExc_ValueError, problem);
        goto failed;
    }
    Py_INCREF(codecs);
    owned->codecs = codecs;
    strcpy(plan->separator, separator);
    if (!(plan->prefix = strdup(prefix))) goto no_memory;
    if (root != Py_None) {
        PyObject *encoded = NULL;
        if (!PyUnicode_FSConverter(root, &encoded)) goto failed;
        plan->root = strdup(PyBytes_AsString(encoded));
        Py_DECREF(encoded);
        if (!plan->root) goto no_memory;
    }
    PyBuffer_Release(&fill);
    return capsule;
no_memory:
    PyErr_NoMemory();
failed:
    PyBuffer_Release(&fill);
    Py_DECREF(capsule);
    return NULL;
}

/* --- calls --- */

/* Python calls handlers of signals in its main thread only, which is the thread that called fork() in
   a child process. */
static unsigned long main_thread;

static void set_main_thread(void) { main_thread = PyThread_get_thread_ident(); }

static int find_main_thread(void) {
    PyObject *threading = PyImport_ImportModule("threading");
    PyObject *thread = threading ? PyObject_CallMethod(threading, "main_thread", NULL) : NULL;
    PyObject *ident = thread ? PyObject_GetAttrString(thread, "ident") : NULL;
    if (ident) main_thread = PyLong_AsUnsignedLong(ident);
    Py_XDECREF(threading);
    Py_XDECREF(thread);
    Py_XDECREF(ident);
    return PyErr_Occurred() || pthread_atfork(NULL, NULL, set_main_thread) ? -1 : 0;
}

static int check_signals(void *context) {
    PyThreadState **state = context;
    PyEval_RestoreThread(*state);
    int stop = PyErr_CheckSignals();
    *state = PyEval_SaveThread();
    return stop;
}

/* The coordinates of a stored object as a tuple. */
static PyObject *coordinates(const Call *call, int64_t number) {
    int64_t at[MAX_DIMS];
    object_at(call, number, at);
    PyObject *tuple = PyTuple_New(call->plan->ndim);
    for (int d = 0; tuple && d < call->plan->ndim; d++) {
        PyObject *coordinate = PyLong_FromLongLong(at[d]);
        if (!coordinate || PyTuple_SetItem(tuple, d, coordinate)) {
            Py_DECREF(tuple);
            return NULL;
        }
    }
    return tuple;
}

/* Do a call; 0, or -1 if Python has to do everything, perhaps with an error. */
static int run(Call *call) {
    int64_t before = call->done_count;
    PyThreadState *state = PyEval_SaveThread();
    /* When the interpreter ends, Python ends other threads that take its lock: they may do so only
       when no thread of this call uses their stack any more. */
    call->check = PyThread_get_thread_ident() == main_thread ? check_signals : NULL;
    call->context = &state;
    int failed = run_call(call);
    PyEval_RestoreThread(state);
    atomic_fetch_add(call->kind == WRITE_BOX ? &chunks_written : &chunks_read, call->done_count - before);
    /* The exception of the signal handler. */
    return call->stopped || PyErr_Occurred() ? -1 : failed;
}

/* The coordinates of what a call left, as a list, or None if that is all; frees their numbers. */
static PyObject *left_over(Call *call, int failed) {
    PyObject *result = NULL;
    if (PyErr_Occurred()) {
        /* Nothing is returned. */
    } else if (failed || !call->done_count) {
        result = Py_NewRef(Py_None);
    } else if ((result = PyList_New(call->left_count))) {
        for (int64_t i = 0; i < call->left_count; i++) {
            PyObject *at = coordinates(call, call->left[i]);
            if (!at || PyList_SetItem(result, i, at)) {
                Py_DECREF(result);
                result = NULL;
                break;
            }
        }
    }
    free(call->left);
    call->left = NULL;
    return result;
}

/* The selection of a call, and the memory with its elements. */
typedef struct {
    Axis axes[MAX_DIMS];
    int64_t strides[MAX_DIMS];
    Py_buffer view;
    int lists; /* dimensions whose lists have to be freed */
} Selection;

static void free_selection(Selection *selection) {
    for (int d = 0; d < selection->lists; d++) {
        free(selection->axes[d].list);
        free(selection->axes[d].numbers);
    }
    PyBuffer_Release(&selection->view);
}

/* The list of an array of indices. */
static int read_list(const Plan *plan, int d, PyObject *item, Axis *axis) {
    Py_buffer indices;
    int result = -1;
    if (PyObject_GetBuffer(item, &indices, PyBUF_STRIDES)) return -1;
    if (indices.ndim != 1 || indices.itemsize != 8 || indices.shape[0] != axis->count) {
        PyErr_SetString(PyExc_ValueError, "expected arrays of int64, one element for each of the memory");
        goto end;
    }
    if (!(axis->list = malloc((size_t)axis->count * sizeof *axis->list))) {
        PyErr_NoMemory();
        goto end;
    }
    for (int64_t i = 0; i < axis->count; i++) {
        Pick *pick = &axis->list[i];
        memcpy(&pick->element, (const char *)indices.buf + i * indices.strides[0], 8);
        pick->position = i;
        if (pick->element < 0 || pick->element >= plan->shape[d]) {
            PyErr_SetString(PyExc_ValueError, "the selection is not within the array");
            goto end;
        }
    }
    result = 0;
end:
    PyBuffer_Release(&indices);
    return result;
}

/* The selection of a tuple of slices or arrays, and the memory of an array with its elements; 0, or -1
 * with an error. */
static int read_selection(Call *call, PyObject *index, PyObject *array, Selection *selection) {
    const Plan *plan = call->plan;
    Py_buffer *view = &selection->view;
    int writing = call->kind == WRITE_BOX;
    selection->lists = 0;
    if (!PyTuple_Check(index) || PyTuple_Size(index) != plan->ndim) {
        PyErr_Format(PyExc_ValueError, "expected a tuple of %d slices or arrays", plan->ndim);
        return -1;
    }
    if (PyObject_GetBuffer(array, view, PyBUF_STRIDES | (writing ? 0 : PyBUF_WRITABLE))) return -1;
    if (view->ndim != plan->ndim || view->itemsize != plan->item) goto wrong;
    for (int d = 0; d < plan->ndim; d++) {
        PyObject *item = PyTuple_GetItem(index, d);
        Axis *axis = &selection->axes[d];
        *axis = (Axis){.count = view->shape[d], .step = 1};
        selection->lists = d + 1;
        selection->strides[d] = view->strides[d];
        if (axis->count < 1) goto wrong;
        if (Py_TYPE(item) == &PySlice_Type) { /* PySlice_Unpack does not check it */
            Py_ssize_t start, stop, step;
            if (PySlice_Unpack(item, &start, &stop, &step)) goto failed;
            if (start < 0 || start >= plan->shape[d] || step < 1 || (writing && step != 1) ||
                axis->count - 1 > (plan->shape[d] - 1 - start) / step)
                goto wrong;
            axis->start = start;
            axis->step = axis->count == 1 ? 1 : step;
        } else if (writing) {
            PyErr_SetString(PyExc_TypeError, "expected a tuple of slices");
            goto failed;
        } else if (read_list(plan, d, item, axis)) {
            goto failed;
        }
        if (axis_complete(axis, plan->outer[d])) {
            PyErr_NoMemory();
            goto failed;
        }
    }
    call->axes = selection->axes, call->strides = selection->strides, call->memory = view->buf;
    return 0;
wrong:
    PyErr_SetString(PyExc_ValueError, "the selection is not within the array, or does not fit the memory");
failed:
    free_selection(selection);
    return -1;
}

/* Whether the selection has elements of several chunks. */
static int has_several_chunks(const Call *call) {
    for (int d = 0; d < call->plan->ndim; d++) {
        const Axis *axis = &call->axes[d];
        int64_t first = axis->start, last = first + (axis->count - 1) * axis->step;
        if (axis->list) first = axis->list[0].element, last = axis->list[axis->count - 1].element;
        if (first / call->plan->chunk[d] != last / call->plan->chunk[d]) return 1;
    }
    return 0;
}

static const Plan *plan_of(PyObject *capsule) {
    OwnedPlan *owned = PyCapsule_GetPointer(capsule, PLAN_CAPSULE);
    return owned ? &owned->plan : NULL;
}

/* Set the number of threads: an integer, or what a function returns, which is called only if the selection
 * has elements of several chunks.  0, or -1 with an error. */
static int read_threads(Call *call, PyObject *threads, int several) {
    call->threads = 1;
    if (!several) return 0;
    PyObject *number = PyCallable_Check(threads) ? PyObject_CallNoArgs(threads) : Py_NewRef(threads);
    long count = number ? PyLong_AsLong(number) : -1;
    Py_XDECREF(number);
    if (PyErr_Occurred()) return -1;
    call->threads = count < 1 ? 1 : count > INT_MAX ? INT_MAX : (int)count;
    return 0;
}

/* The values of stored objects in memory: bytes-like objects, or None for a missing one. */
typedef struct {
    Value *values;
    Py_buffer *views;
    Py_ssize_t count;
} Values;

static void free_values(Values *values) {
    while (values->count-- > 0)
        if (values->views[values->count].obj) PyBuffer_Release(&values->views[values->count]);
    free(values->values);
    free(values->views);
}

/* What a function returns for the key of a stored object; NULL with an error. */
static PyObject *value_of(const Call *call, PyObject *function, int64_t number) {
    int64_t at[MAX_DIMS];
    char key[MAX_KEY];
    object_at(call, number, at);
    if (plan_key(call->plan, at, key) < 0) {
        PyErr_SetString(PyExc_ValueError, "a chunk key is too long");
        return NULL;
    }
    PyObject *name = PyUnicode_FromString(key), *value = NULL;
    if (name) value = PyObject_CallFunctionObjArgs(function, name, NULL);
    Py_XDECREF(name);
    return value;
}

/* Whether values can be taken from an object; 0 with an error. */
static int is_source(PyObject *source, int64_t total) {
    if (PyList_Check(source) ? PyList_Size(source) == total : PyCallable_Check(source)) return 1;
    PyErr_SetString(PyExc_ValueError, "expected one value for each stored object, or a function");
    return 0;
}

/* Set the values of the next stored objects, from the place `first` of `total`, from a list, or by a function;
 * -1 with an error.  There is at least one, and not many more than VALUE_BYTES: a cache may read them from a file.
 * The numbers of the objects are null if they are the places. */
static int read_values(Call *call, PyObject *source, int64_t first, int64_t total, const int64_t *numbers,
                       Values *values) {
    int64_t most = total - first < VALUE_COUNT ? total - first : VALUE_COUNT;
    int64_t room = (int64_t)VALUE_BYTES * call->threads;
    *values = (Values){0};
    values->values = calloc((size_t)most + 1, sizeof *values->values);
    values->views = calloc((size_t)most + 1, sizeof *values->views);
    if (!values->values || !values->views) {
        PyErr_NoMemory();
        goto failed;
    }
    for (; values->count < most && room > 0; values->count++) {
        int64_t i = values->count, place = first + i;
        PyObject *value = PyList_Check(source) ? Py_XNewRef(PyList_GetItem(source, place))
                                               : value_of(call, source, numbers ? numbers[place] : place);
        Py_buffer *view = &values->views[i];
        if (!value) goto failed;
        int failed = value != Py_None && PyObject_GetBuffer(value, view, PyBUF_SIMPLE);
        Py_DECREF(value); /* the view has a reference */
        if (failed) goto failed;
        if (!view->obj) continue;
        /* Empty values have a pointer, too: a null one is missing. */
        values->values[i].data = view->buf ? view->buf : (void *)values->values;
        values->values[i].size = view->len;
        room -= view->len;
    }
    call->values = values->values;
    return 0;
failed:
    free_values(values);
    return -1;
}

PyDoc_STRVAR(read_box_doc,
             "read_box(plan, index, out, threads, values=None)\n--\n\n"
             "Read the outer product of slices and arrays of indices into an array; values are those of\n"
             "its stored objects, in C order, if in memory, or a function that returns the value of a key.\n"
             "Return the coordinates of stored objects that were not read, or None if none was.");

/* Read the box of a call from files or values; 0, or -1 if Python has to do everything, perhaps with an error. */
static int read_from(Call *call, PyObject *source) {
    if (source == Py_None) {
        if (call->plan->root) return run(call);
        PyErr_SetString(PyExc_ValueError, "the plan has no directory");
        return -1;
    }
    int64_t total = object_count(call);
    if (!is_source(source, total)) return -1;
    int failed = total ? 0 : -1;
    for (int64_t first = 0; !failed && first < total; first = call->last) {
        Values values;
        if (read_values(call, source, first, total, NULL, &values)) return -1;
        call->first = first, call->last = first + values.count;
        failed = run(call);
        free_values(&values);
    }
    return failed;
}

/* The same for sorted points. */
static int read_points_from(Call *call, PyObject *source) {
    if (source == Py_None) return run(call); /* see read_points() */
    const Point *points = call->points;
    int64_t count = call->point_count, total = 0, start = 0;
    int failed = -1;
    int64_t *numbers = malloc((size_t)(count + 1) * sizeof *numbers);
    if (!numbers) {
        PyErr_NoMemory();
        return -1;
    }
    for (int64_t i = 0; i < count; i++)
        if (!i || points[i].chunk != points[i - 1].chunk) numbers[total++] = points[i].chunk;
    if (is_source(source, total)) failed = 0;
    for (int64_t first = 0; !failed && first < total;) {
        Values values;
        if ((failed = read_values(call, source, first, total, numbers, &values))) break;
        first += values.count;
        int64_t stop = start;
        while (stop < count && points[stop].chunk <= numbers[first - 1]) stop++;
        call->points = points + start, call->point_count = stop - start;
        failed = run(call);
        free_values(&values);
        start = stop;
    }
    free(numbers);
    return failed;
}

static PyObject *read_box(PyObject *module, PyObject *const *args, Py_ssize_t count) {
    (void)module;
    if (count != 4 && count != 5) {
        PyErr_SetString(PyExc_TypeError, "read_box takes 4 or 5 arguments");
        return NULL;
    }
    Call call = {.plan = plan_of(args[0]), .kind = READ_BOX};
    if (!call.plan) return NULL;
    Selection selection;
    if (read_selection(&call, args[1], args[2], &selection)) return NULL;
    PyObject *result = NULL;
    if (!read_threads(&call, args[3], has_several_chunks(&call)))
        result = left_over(&call, read_from(&call, count == 5 ? args[4] : Py_None));
    free_selection(&selection);
    return result;
}

/* Parse an index of integers and slices with positive steps, as NumPy does; the number of dimensions of the
 * result, and the dimensions of the array that they are, or -1 for anything else and for no elements. */
static int parse_index(const Plan *plan, PyObject *index, Axis *axes, int *kept) {
    int is_tuple = PyTuple_CheckExact(index), has_ellipsis = 0, used = 0, ndim = 0;
    Py_ssize_t count = is_tuple ? PyTuple_Size(index) : 1;
    for (Py_ssize_t i = 0; i < count; i++) {
        PyObject *item = is_tuple ? PyTuple_GetItem(index, i) : index;
        if (item == Py_Ellipsis && i == count - 1) {
            has_ellipsis = 1;
            break;
        }
        if (used == plan->ndim) return -1;
        Axis *axis = &axes[used];
        Py_ssize_t start, stop, step;
        if (PyLong_CheckExact(item)) {
            int64_t at = PyLong_AsLongLong(item), size = plan->shape[used];
            if (PyErr_Occurred()) {
                PyErr_Clear(); /* Python raises another error */
                return -1;
            }
            if (at < -size || at >= size) return -1;
            *axis = (Axis){.count = 1, .start = at < 0 ? at + size : at, .step = 1};
        } else if (Py_TYPE(item) == &PySlice_Type) {
            if (PySlice_Unpack(item, &start, &stop, &step)) {
                PyErr_Clear();
                return -1;
            }
            Py_ssize_t length = PySlice_AdjustIndices((Py_ssize_t)plan->shape[used], &start, &stop, step);
            if (step < 1 || length < 1) return -1;
            *axis = (Axis){.count = length, .start = start, .step = length == 1 ? 1 : step};
            kept[ndim++] = used;
        } else {
            return -1;
        }
        used++;
    }
    for (; used < plan->ndim; used++) {
        axes[used] = (Axis){.count = plan->shape[used], .step = 1};
        kept[ndim++] = used;
    }
    return has_ellipsis && !ndim ? -1 : ndim; /* an array without dimensions */
}

/* A new array with the kept dimensions of a selection, and its memory; null, perhaps with an error. */
static PyObject *new_array(PyObject *empty, PyObject *dtype, const Plan *plan, Selection *selection, int ndim,
                           const int *kept) {
    PyObject *array = NULL, *shape = PyTuple_New(ndim);
    for (int i = 0; shape && i < ndim; i++) {
        PyObject *length = PyLong_FromLongLong(selection->axes[kept[i]].count);
        if (!length || PyTuple_SetItem(shape, i, length)) Py_CLEAR(shape);
    }
    if (shape) array = PyObject_CallFunctionObjArgs(empty, shape, dtype, NULL);
    Py_XDECREF(shape);
    Py_buffer *view = &selection->view;
    if (!array || PyObject_GetBuffer(array, view, PyBUF_STRIDES | PyBUF_WRITABLE)) {
        Py_XDECREF(array);
        return NULL;
    }
    if (view->ndim != ndim || view->itemsize != plan->item) {
        PyErr_SetString(PyExc_ValueError, "the dtype is not that of the plan");
        PyBuffer_Release(view);
        Py_DECREF(array);
        return NULL;
    }
    memset(selection->strides, 0, sizeof selection->strides);
    for (int i = 0; i < ndim; i++) selection->strides[kept[i]] = view->strides[i];
    return array;
}

PyDoc_STRVAR(read_index_doc,
             "read_index(plan, index, empty, dtype, threads, values=None)\n--\n\n"
             "Read integers and slices within one stored object to a new array, empty(shape, dtype); values as\n"
             "in read_box().  Return the array, or a scalar, or None for any other index, and if Python has to\n"
             "read the object.");

static PyObject *read_index(PyObject *module, PyObject *const *args, Py_ssize_t count) {
    (void)module;
    if (count != 5 && count != 6) {
        PyErr_SetString(PyExc_TypeError, "read_index takes 5 or 6 arguments");
        return NULL;
    }
    Call call = {.plan = plan_of(args[0]), .kind = READ_BOX};
    if (!call.plan) return NULL;
    const Plan *plan = call.plan;
    Selection selection;
    int kept[MAX_DIMS], ndim = parse_index(plan, args[1], selection.axes, kept);
    if (ndim < 0) return Py_NewRef(Py_None);
    for (int d = 0; d < plan->ndim; d++) {
        const Axis *axis = &selection.axes[d];
        if (axis->start / plan->outer[d] != (axis->start + (axis->count - 1) * axis->step) / plan->outer[d])
            return Py_NewRef(Py_None);
        selection.axes[d].first = axis->start / plan->outer[d];
        selection.axes[d].objects = 1;
    }
    PyObject *array = new_array(args[2], args[3], plan, &selection, ndim, kept);
    if (!array) {
        if (!PyErr_ExceptionMatches(PyExc_MemoryError)) return NULL;
        PyErr_Clear(); /* Python explains it */
        return Py_NewRef(Py_None);
    }
    call.axes = selection.axes, call.strides = selection.strides, call.memory = selection.view.buf;
    int failed = read_threads(&call, args[4], has_several_chunks(&call)) ||
                 read_from(&call, count == 6 ? args[5] : Py_None);
    free(call.left);
    PyBuffer_Release(&selection.view);
    PyObject *result = NULL;
    if (!PyErr_Occurred()) {
        if (failed || !call.done_count) {
            result = Py_NewRef(Py_None);
        } else if (ndim) {
            result = Py_NewRef(array);
        } else { /* a scalar */
            PyObject *nothing = PyTuple_New(0);
            result = nothing ? PyObject_GetItem(array, nothing) : NULL;
            Py_XDECREF(nothing);
        }
    }
    Py_DECREF(array);
    return result;
}

/* Encode some of the stored objects of a call, and pass them to `store`; 0, or -1 as run(). */
static int store_batch(Call *call, PyObject *store, Output *outputs, PyObject **reserved) {
    const Plan *plan = call->plan;
    int64_t count = call->last - call->first, at[MAX_DIMS];
    int is_fixed = plan->chain.fixed[plan->chain.count] && !plan->sharded, failed = 0;
    memset(reserved, 0, (size_t)count * sizeof *reserved);
    for (int64_t i = 0; i < count; i++) outputs[i] = (Output){NULL, NOT_ENCODED};
    for (int64_t i = 0; is_fixed && i < count; i++) {
        object_at(call, call->first + i, at);
        if (!is_complete(call, at)) continue;
        reserved[i] = PyBytes_FromStringAndSize(NULL, (Py_ssize_t)plan->chain.bound[plan->chain.count]);
        if (!reserved[i]) {
            failed = -1;
            break;
        }
        outputs[i].data = (uint8_t *)PyBytes_AsString(reserved[i]);
    }
    if (!failed) failed = run(call);
    for (int64_t i = 0; i < count; i++) {
        Output *output = &outputs[i];
        if (!failed && output->size != NOT_ENCODED) {
            char key[MAX_KEY];
            PyObject *name = NULL, *data = NULL, *result = NULL;
            object_at(call, call->first + i, at);
            if (plan_key(plan, at, key) >= 0) name = PyUnicode_FromString(key);
            if (output->size == EMPTY_CHUNK)
                data = Py_NewRef(Py_None);
            else if (reserved[i])
                data = Py_NewRef(reserved[i]);
            else
                data = PyBytes_FromStringAndSize((char *)output->data, (Py_ssize_t)output->size);
            if (name && data) result = PyObject_CallFunctionObjArgs(store, name, data, NULL);
            if (!result) failed = -1;
            Py_XDECREF(name);
            Py_XDECREF(data);
            Py_XDECREF(result);
        }
        if (!reserved[i]) free(output->data);
        Py_XDECREF(reserved[i]);
    }
    return failed;
}

/* Write to a store in memory; the result as of left_over(). */
static PyObject *write_memory(Call *call, PyObject *store) {
    const Plan *plan = call->plan;
    int64_t total = object_count(call), size = plan->item;
    for (int d = 0; d < plan->ndim; d++) size *= plan->outer[d]; /* see plan_complete() */
    int64_t most = size < BATCH_BYTES ? BATCH_BYTES / size : 1;
    if (most > total) most = total;
    Output *outputs = calloc((size_t)most + 1, sizeof *outputs);
    PyObject **reserved = calloc((size_t)most + 1, sizeof *reserved);
    int failed = outputs && reserved ? 0 : -1;
    call->outputs = outputs;
    for (int64_t first = 0; !failed && first < total; first = call->last) {
        call->first = first;
        call->last = total - first < most ? total : first + most;
        failed = store_batch(call, store, outputs, reserved);
    }
    free(outputs);
    free(reserved);
    return left_over(call, failed);
}

PyDoc_STRVAR(write_box_doc,
             "write_box(plan, index, values, threads, store=None)\n--\n\n"
             "Write the complete stored objects of the box of a tuple of slices without steps: to files,\n"
             "or by store(key, bytes), with None for what is not stored.  Return the coordinates of those\n"
             "that were not written, or None if none was.");

static PyObject *write_box(PyObject *module, PyObject *const *args, Py_ssize_t count) {
    (void)module;
    if (count != 4 && count != 5) {
        PyErr_SetString(PyExc_TypeError, "write_box takes 4 or 5 arguments");
        return NULL;
    }
    Call call = {.plan = plan_of(args[0]), .kind = WRITE_BOX};
    if (!call.plan) return NULL;
    PyObject *store = count == 5 && args[4] != Py_None ? args[4] : NULL;
    if (!call.plan->writable || (!store && !call.plan->root)) {
        PyErr_SetString(PyExc_ValueError, "the plan is not for writing");
        return NULL;
    }
    Selection selection;
    if (read_selection(&call, args[1], args[2], &selection)) return NULL;
    PyObject *result = NULL;
    if (!read_threads(&call, args[3], has_several_chunks(&call)))
        result = store ? write_memory(&call, store) : left_over(&call, run(&call));
    free_selection(&selection);
    return result;
}

static int by_chunk(const void *left, const void *right) {
    const Point *a = left, *b = right;
    if (a->chunk != b->chunk) return a->chunk < b->chunk ? -1 : 1;
    if (a->inner != b->inner) return a->inner < b->inner ? -1 : 1;
    return 0;
}

/* Find the chunk and the place of each point; -1 if one is outside of the array. */
static int find_points(const Plan *plan, const Py_buffer *indices, int64_t count, Point *points) {
    int sorted = 1;
    for (int64_t i = 0; i < count; i++) {
        Point point = {0, 0, 0, i};
        for (int d = 0; d < plan->ndim; d++) {
            int64_t at;
            memcpy(&at, (const char *)indices[d].buf + i * indices[d].strides[0], sizeof at);
            if (at < 0 || at >= plan->shape[d]) return -1;
            int64_t objects = (plan->shape[d] + plan->outer[d] - 1) / plan->outer[d];
            int64_t inside = at % plan->outer[d];
            point.chunk = point.chunk * objects + at / plan->outer[d];
            point.inner = point.inner * plan->grid[d] + inside / plan->chunk[d];
            point.offset += inside % plan->chunk[d] * plan->strides[d];
        }
        points[i] = point;
        if (i && by_chunk(&points[i - 1], &point) > 0) sorted = 0;
    }
    if (!sorted) qsort(points, (size_t)count, sizeof *points, by_chunk);
    return 0;
}

PyDoc_STRVAR(read_points_doc,
             "read_points(plan, indices, out, threads, values=None)\n--\n\n"
             "Read single elements; indices are arrays of int64, one for each dimension; values are as in\n"
             "read_box().  Return the coordinates of stored objects that were not read, or None if none was.");

static PyObject *read_points(PyObject *module, PyObject *const *args, Py_ssize_t count) {
    (void)module;
    if (count != 4 && count != 5) {
        PyErr_SetString(PyExc_TypeError, "read_points takes 4 or 5 arguments");
        return NULL;
    }
    Call call = {.plan = plan_of(args[0]), .kind = READ_POINTS};
    if (!call.plan) return NULL;
    const Plan *plan = call.plan;
    Py_buffer view, indices[MAX_DIMS];
    int found = 0;
    PyObject *result = NULL;
    Point *points = NULL;
    PyObject *source = count == 5 ? args[4] : Py_None;
    if ((source == Py_None && !plan->root) || !PyTuple_Check(args[1]) || PyTuple_Size(args[1]) != plan->ndim) {
        PyErr_SetString(PyExc_ValueError, "the plan has no directory, or the indices do not fit");
        return NULL;
    }
    if (PyObject_GetBuffer(args[2], &view, PyBUF_STRIDES | PyBUF_WRITABLE)) return NULL;
    int64_t length = view.ndim == 1 ? view.shape[0] : -1, stride = view.ndim ? view.strides[0] : 0;
    int good = length >= 0 && view.itemsize == plan->item;
    for (; good && found < plan->ndim; found++) {
        if (PyObject_GetBuffer(PyTuple_GetItem(args[1], found), &indices[found], PyBUF_STRIDES)) goto end;
        const Py_buffer *it = &indices[found];
        good = it->ndim == 1 && it->itemsize == 8 && it->shape[0] == length;
    }
    if (!good) {
        PyErr_SetString(PyExc_ValueError, "the indices are not arrays of int64 of one length");
        goto end;
    }
    points = malloc((size_t)(length + 1) * sizeof *points);
    if (!points) {
        PyErr_NoMemory();
        goto end;
    }
    int outside;
    Py_BEGIN_ALLOW_THREADS
    outside = find_points(plan, indices, length, points);
    Py_END_ALLOW_THREADS
    if (outside) {
        PyErr_SetString(PyExc_ValueError, "an index is not within the array");
        goto end;
    }
    call.points = points, call.point_count = length;
    int several = length && by_chunk(&points[0], &points[length - 1]); /* they are sorted */
    if (read_threads(&call, args[3], several)) goto end;
    call.memory = view.buf, call.strides = &stride;
    result = left_over(&call, read_points_from(&call, source));
end:
    free(points);
    while (found-- > 0) PyBuffer_Release(&indices[found]);
    PyBuffer_Release(&view);
    return result;
}

/* --- codecs --- */

static void free_codec(PyObject *capsule) { free(PyCapsule_GetPointer(capsule, ZARR_CODEC_CAPSULE)); }

PyDoc_STRVAR(codec_doc,
             "codec(name, parameters)\n--\n\n"
             "Return the native form of a codec of zarr-codecs; None if it is not available.");

static PyObject *codec_new(PyObject *module, PyObject *args) {
    (void)module;
    const char *name;
    PyObject *parameters;
    int64_t numbers[MAX_CODECS];
    if (!PyArg_ParseTuple(args, "sO", &name, &parameters)) return NULL;
    Py_ssize_t count = PyTuple_Check(parameters) ? PyTuple_Size(parameters) : -1;
    if (count < 0 || count > MAX_CODECS) {
        PyErr_SetString(PyExc_ValueError, "parameters must be a short tuple");
        return NULL;
    }
    if (integers(parameters, numbers, (int)count)) return NULL;
    zarr_codec *codec = built_in_codec(name, numbers, (int)count);
    if (!codec) return Py_NewRef(Py_None);
    PyObject *capsule = PyCapsule_New(codec, ZARR_CODEC_CAPSULE, free_codec);
    if (!capsule) free(codec);
    return capsule;
}

/* Memory of exactly some bytes: the page behind it cannot be used, and what is before it is checked. */
typedef struct {
    uint8_t *pages, *data;
    size_t size, before;
} Guarded;

#define FILLER 0xa5

static int guard(Guarded *memory, int64_t size) {
    size_t page = (size_t)sysconf(_SC_PAGESIZE), used = ((size_t)size + page - 1) / page * page;
    memory->size = used + page;
    memory->pages = mmap(NULL, memory->size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory->pages == MAP_FAILED) {
        memory->pages = NULL;
        PyErr_NoMemory();
        return -1;
    }
    memory->before = used - (size_t)size;
    memory->data = memory->pages + memory->before;
    memset(memory->pages, FILLER, memory->before);
    if (mprotect(memory->pages + used, page, PROT_NONE)) {
        PyErr_SetFromErrno(PyExc_OSError);
        return -1;
    }
    return 0;
}

static int is_damaged(const Guarded *memory) {
    for (size_t i = 0; i < memory->before; i++)
        if (memory->pages[i] != FILLER) return 1;
    return 0;
}

/* Run one function of a codec; None for "not done". */
static PyObject *use_codec(PyObject *args, int decoding) {
    PyObject *capsule;
    Py_buffer data;
    long long capacity = -1;
    if (!PyArg_ParseTuple(args, decoding ? "Oy*L" : "Oy*", &capsule, &data, &capacity)) return NULL;
    PyObject *result = NULL;
    void *worker = NULL;
    Guarded from = {0}, to = {0};
    const zarr_codec *codec = PyCapsule_GetPointer(capsule, ZARR_CODEC_CAPSULE);
    if (!codec) goto end;
    if (!decoding) capacity = codec->encode_bound(codec, data.len);
    if (capacity < 0) {
        result = Py_NewRef(Py_None);
        goto end;
    }
    if (capacity > INT64_MAX / 4 || guard(&from, data.len) || guard(&to, capacity)) {
        if (!PyErr_Occurred()) PyErr_NoMemory();
        goto end;
    }
    memcpy(from.data, data.buf, (size_t)data.len);
    if (codec->worker_new && !(worker = codec->worker_new(codec))) {
        PyErr_NoMemory();
        goto end;
    }
    int64_t size;
    int changed;
    Py_BEGIN_ALLOW_THREADS
    size = decoding ? codec->decode(codec, worker, from.data, data.len, to.data, capacity)
                    : codec->encode(codec, worker, from.data, data.len, to.data, capacity);
    changed = memcmp(from.data, data.buf, (size_t)data.len);
    Py_END_ALLOW_THREADS
    if (size > capacity)
        PyErr_SetString(PyExc_RuntimeError, "the codec returned more bytes than there is room for");
    else if (changed || is_damaged(&from) || is_damaged(&to))
        PyErr_SetString(PyExc_RuntimeError, "the codec wrote outside of its buffer");
    else
        result = size < 0 ? Py_NewRef(Py_None) : PyBytes_FromStringAndSize((char *)to.data, size);
end:
    if (worker) codec->worker_free(codec, worker);
    if (from.pages) munmap(from.pages, from.size);
    if (to.pages) munmap(to.pages, to.size);
    PyBuffer_Release(&data);
    return result;
}

PyDoc_STRVAR(decode_doc, "decode(codec, data, capacity)\n--\n\n"
                         "Decode with the native form alone; None if it leaves it to Python.  For tests: the\n"
                         "process ends if the codec uses memory behind its buffers.");
PyDoc_STRVAR(encode_doc, "encode(codec, data)\n--\n\n"
                         "Encode with the native form alone; as decode().");

static PyObject *codec_decode(PyObject *module, PyObject *args) {
    (void)module;
    return use_codec(args, 1);
}

static PyObject *codec_encode(PyObject *module, PyObject *args) {
    (void)module;
    return use_codec(args, 0);
}

PyDoc_STRVAR(load_doc, "load_library(name, path)\n--\n\n"
                       "Load the functions of a compression library from a file, or the linked ones if\n"
                       "the path is empty.  Return why they are not used, or None.");

static PyObject *library_load(PyObject *module, PyObject *args) {
    (void)module;
    const char *name;
    PyObject *path = NULL;
    if (!PyArg_ParseTuple(args, "sO&", &name, PyUnicode_FSConverter, &path)) return NULL;
    const char *problem = load_library(name, PyBytes_AsString(path));
    Py_DECREF(path);
    if (!problem) return Py_NewRef(Py_None);
    return PyUnicode_FromString(problem);
}

PyDoc_STRVAR(counts_doc, "counts()\n--\n\n"
                         "Return how many stored objects this process read and wrote natively.");

static PyObject *counts(PyObject *module, PyObject *unused) {
    (void)module, (void)unused;
    return Py_BuildValue("LL", (long long)atomic_load(&chunks_read),
                         (long long)atomic_load(&chunks_written));
}

static PyMethodDef methods[] = {
    {"plan", plan_new, METH_VARARGS, plan_doc},
    {"read_box", (PyCFunction)(void (*)(void))read_box, METH_FASTCALL, read_box_doc},
    {"read_index", (PyCFunction)(void (*)(void))read_index, METH_FASTCALL, read_index_doc},
    {"write_box", (PyCFunction)(void (*)(void))write_box, METH_FASTCALL, write_box_doc},
    {"read_points", (PyCFunction)(void (*)(void))read_points, METH_FASTCALL, read_points_doc},
    {"codec", codec_new, METH_VARARGS, codec_doc},
    {"decode", codec_decode, METH_VARARGS, decode_doc},
    {"encode", codec_encode, METH_VARARGS, encode_doc},
    {"load_library", library_load, METH_VARARGS, load_doc},
    {"counts", counts, METH_NOARGS, counts_doc},
    {NULL, NULL, 0, NULL},
};

static int execute(PyObject *module) {
    const char *names = ""
#ifdef HAVE_ZSTD
                        " zstd"
#endif
#ifdef HAVE_BLOSC
                        " blosc"
#endif
#ifdef HAVE_LZ4
                        " lz4"
#endif
#ifdef HAVE_LIBDEFLATE
                        " deflate"
#endif
#ifdef HAVE_ZLIB
                        " zlib"
#endif
        ;
    if (find_main_thread() || PyModule_AddStringConstant(module, "LINKED", names)) return -1;
    return PyModule_AddIntConstant(module, "CODEC_ABI", ZARR_CODEC_ABI);
}

static PyModuleDef_Slot slots[] = {
    {Py_mod_exec, (void *)execute},
    {0, NULL},
};

static struct PyModuleDef definition = {
    PyModuleDef_HEAD_INIT, "_native", "Batches of chunks, without Python's lock.", 0, methods, slots,
    NULL, NULL, NULL,
};

PyMODINIT_FUNC PyInit__native(void) { return PyModuleDef_Init(&definition); }
