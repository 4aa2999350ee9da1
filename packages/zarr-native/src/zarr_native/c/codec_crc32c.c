/* crc32c (RFC 3720): the checksum, by the processor's instruction where it has one, and the codec. */
#include <pthread.h>
#include <string.h>

#include "codec_forms.h"

#define SIZE 4
#define POLYNOMIAL 0x82F63B78u /* reversed */

static uint32_t table[8][256];
static uint32_t (*update)(uint32_t, const uint8_t *, int64_t);
static pthread_once_t once = PTHREAD_ONCE_INIT;

/* Eight bytes at once, by tables. */
static uint32_t by_tables(uint32_t crc, const uint8_t *data, int64_t size) {
    for (; size >= 8; data += 8, size -= 8) {
        crc ^= (uint32_t)data[0] | (uint32_t)data[1] << 8 | (uint32_t)data[2] << 16 |
               (uint32_t)data[3] << 24;
        crc = table[7][crc & 255] ^ table[6][crc >> 8 & 255] ^ table[5][crc >> 16 & 255] ^
              table[4][crc >> 24] ^ table[3][data[4]] ^ table[2][data[5]] ^ table[1][data[6]] ^
              table[0][data[7]];
    }
    while (size-- > 0) crc = crc >> 8 ^ table[0][(crc ^ *data++) & 255];
    return crc;
}

#if defined(__x86_64__) && defined(__GNUC__)
#include <nmmintrin.h>
__attribute__((target("sse4.2"))) static uint32_t by_instruction(uint32_t crc, const uint8_t *data,
                                                                 int64_t size) {
    uint64_t wide = crc;
    for (; size >= 8; data += 8, size -= 8) {
        uint64_t word;
        memcpy(&word, data, sizeof word);
        wide = _mm_crc32_u64(wide, word);
    }
    crc = (uint32_t)wide;
    while (size-- > 0) crc = _mm_crc32_u8(crc, *data++);
    return crc;
}
static int has_instruction(void) { return __builtin_cpu_supports("sse4.2"); }
#elif defined(__aarch64__) && defined(__ARM_FEATURE_CRC32)
#include <arm_acle.h>
static uint32_t by_instruction(uint32_t crc, const uint8_t *data, int64_t size) {
    for (; size >= 8; data += 8, size -= 8) {
        uint64_t word;
        memcpy(&word, data, sizeof word);
        crc = __crc32cd(crc, word);
    }
    while (size-- > 0) crc = __crc32cb(crc, *data++);
    return crc;
}
static int has_instruction(void) { return 1; }
#else
#define by_instruction by_tables
static int has_instruction(void) { return 0; }
#endif

static void choose(void) {
    for (uint32_t byte = 0; byte < 256; byte++) {
        uint32_t crc = byte;
        for (int bit = 0; bit < 8; bit++) crc = crc >> 1 ^ (crc & 1 ? POLYNOMIAL : 0);
        table[0][byte] = crc;
    }
    for (int row = 1; row < 8; row++)
        for (int byte = 0; byte < 256; byte++)
            table[row][byte] = table[row - 1][byte] >> 8 ^ table[0][table[row - 1][byte] & 255];
    update = has_instruction() ? by_instruction : by_tables;
}

uint32_t crc32c(const uint8_t *data, int64_t size) {
    pthread_once(&once, choose);
    return ~update(~0u, data, size);
}

/* --- the codec --- */

static int64_t bound(const zarr_codec *codec, int64_t size) {
    (void)codec;
    return size > INT64_MAX - SIZE ? -1 : size + SIZE;
}

static int64_t decode(const zarr_codec *codec, void *worker, const uint8_t *src, int64_t size,
                      uint8_t *dst, int64_t capacity) {
    (void)codec, (void)worker;
    size -= SIZE;
    if (size < 0 || size > capacity) return -1;
    const uint8_t *stored = src + size;
    uint32_t expected = (uint32_t)stored[0] | (uint32_t)stored[1] << 8 | (uint32_t)stored[2] << 16 |
                        (uint32_t)stored[3] << 24;
    if (crc32c(src, size) != expected) return -1;
    memcpy(dst, src, (size_t)size);
    return size;
}

static int64_t encode(const zarr_codec *codec, void *worker, const uint8_t *src, int64_t size,
                      uint8_t *dst, int64_t capacity) {
    (void)codec, (void)worker;
    if (size > capacity - SIZE) return -1;
    memcpy(dst, src, (size_t)size);
    uint32_t crc = crc32c(dst, size); /* of the copy: other threads may change the source */
    for (int i = 0; i < SIZE; i++) dst[size + i] = (uint8_t)(crc >> 8 * i);
    return size + SIZE;
}

int crc32c_form(Form *form) {
    form->codec.encode_bound = bound;
    form->codec.encode = encode;
    form->codec.decode = decode;
    return 1;
}
