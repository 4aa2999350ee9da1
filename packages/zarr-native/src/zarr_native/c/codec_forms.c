/* The table of the native forms, by the name of the codec in metadata. */
#include <stdlib.h>
#include <string.h>

#include "codec_forms.h"

static const struct {
    const char *name;
    int parameters;
    int (*form)(Form *);
} forms[] = {
    {"blosc", 5, blosc_form},          {"crc32c", 0, crc32c_form},
    {"gzip", 1, gzip_form},            {"numcodecs.lz4", 1, lz4_form},
    {"numcodecs.shuffle", 1, shuffle_form}, {"numcodecs.zlib", 1, zlib_form},
    {"zstd", 2, zstd_form},
};

zarr_codec *built_in_codec(const char *name, const int64_t *parameters, int count) {
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        if (strcmp(name, forms[i].name)) continue;
        Form *form = count == forms[i].parameters ? calloc(1, sizeof *form) : NULL;
        if (!form) return NULL;
        form->codec.abi = ZARR_CODEC_ABI;
        form->codec.size = sizeof form->codec;
        form->codec.name = forms[i].name;
        for (int p = 0; p < count; p++) form->parameters[p] = parameters[p];
        if (forms[i].form(form)) return &form->codec;
        free(form);
        return NULL;
    }
    return NULL;
}
