/* Native forms of the codecs of zarr-codecs. */
#ifndef ZARR_NATIVE_CODEC_FORMS_H
#define ZARR_NATIVE_CODEC_FORMS_H

#include "native.h"

#define MAX_PARAMETERS 5

typedef struct {
    zarr_codec codec;
    int64_t parameters[MAX_PARAMETERS];
} Form;

static inline const int64_t *parameters_of(const zarr_codec *codec) {
    return ((const Form *)codec)->parameters;
}

/* Set the functions of a form; 0 if the library is missing or a parameter is not supported. */
int blosc_form(Form *form);    /* compressor, level, shuffle, size of an element, size of a block */
int crc32c_form(Form *form);   /* none */
int gzip_form(Form *form);     /* level */
int lz4_form(Form *form);      /* acceleration */
int shuffle_form(Form *form);  /* size of an element */
int zlib_form(Form *form);     /* level */
int zstd_form(Form *form);     /* level, checksum */

/* Before the functions of zstd change. */
void zstd_free_idle(void);

#endif
