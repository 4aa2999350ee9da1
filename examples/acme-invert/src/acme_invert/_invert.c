/* The native form of acme.invert: all bits of each byte are inverted. */
#define Py_LIMITED_API 0x030b0000
#include <Python.h>

#include "zarr_codec.h"

static int64_t bound(const zarr_codec *codec, int64_t size) { return size; }

static int64_t invert(const zarr_codec *codec, void *worker, const uint8_t *src, int64_t size,
                      uint8_t *dst, int64_t capacity) {
    if (size > capacity) return -1; /* Python raises the error */
    for (int64_t i = 0; i < size; i++) dst[i] = (uint8_t)~src[i];
    return size;
}

static zarr_codec codec = {
    .abi = ZARR_CODEC_ABI, .size = sizeof(zarr_codec), .name = "acme.invert",
    .encode_bound = bound, .encode = invert, .decode = invert,
};

static PyObject *capsule(PyObject *module, PyObject *unused) {
    return PyCapsule_New(&codec, ZARR_CODEC_CAPSULE, NULL);
}

static PyMethodDef methods[] = {{"capsule", capsule, METH_NOARGS, NULL}, {NULL, NULL, 0, NULL}};
static PyModuleDef definition = {PyModuleDef_HEAD_INIT, .m_name = "_invert", .m_methods = methods};

PyMODINIT_FUNC PyInit__invert(void) { return PyModuleDef_Init(&definition); }
