/* Owns the reading of fat binaries: which PTX is in them, and what ptxas says of its kernels in the
 * machine code beside it. The wrapper is __fatBinC_Wrapper_t of
 * fatbinary_section.h. Behind it stand a header (magic 0xBA55ED50, version, bytes of the header,
 * bytes of all entries) and the entries: kind, bytes of the entry's header and of its payload, and
 * for PTX how many bytes of the payload count, the architecture, flags, and the bytes of the text
 * when it is unpacked. nvcc packs PTX with zstd since CUDA 12.8, and with LZ4 blocks before. */
#include "cudart/rt.h"

#include "base/arena.h"
#include "base/mem.h"
#include "nv/sass_read.h"

#include <stdlib.h>
#include <string.h>
#include <zstd.h>

enum {
    WRAPPER_MAGIC = 0x466243B1,
    WRAPPER_LINKED = 2, /* version of a wrapper whose last pointer leads to wrapped binaries */
    KIND_PTX = 1,
    KIND_ELF = 2,
    FLAG_LZ4 = 0x2000,
    FLAG_ZSTD = 0x8000,
    NEWEST_ARCH = 90,
    MOST_BYTES = 1 << 30
};
#define FATBIN_MAGIC UINT32_C(0xBA55ED50)

struct wrapper {
    int32_t magic, version;
    const void *binary;
    void *further; /* of linked ones: an array of pointers to binaries, NULL at its end */
};

struct fat_header {
    uint32_t magic;
    uint16_t version, header_bytes;
    uint64_t entries_bytes;
};

struct fat_entry {
    uint16_t kind, version;
    uint32_t header_bytes;
    uint64_t payload_bytes;
    uint32_t used_bytes, options_at;
    uint16_t minor, major;
    uint32_t arch, name_at, name_bytes;
    uint64_t flags, zero, text_bytes;
};

/* One block of LZ4's format: literals, then a match in what was written, again and again. */
static size_t run_length(const uint8_t **at, const uint8_t *end, size_t nibble)
{
    size_t nr = nibble;
    uint8_t more = 255;

    while (nibble == 15 && more == 255 && *at < end)
        nr += more = *(*at)++;
    return nr;
}

static bool unpack_lz4(uint8_t *to, size_t to_bytes, const uint8_t *from, size_t from_bytes)
{
    const uint8_t *at = from, *const end = from + from_bytes;
    size_t done = 0;

    while (at < end) {
        const uint8_t token = *at++;
        const size_t literals = run_length(&at, end, token >> 4);
        size_t distance, length;

        if (literals > (size_t)(end - at) || literals > to_bytes - done)
            return false;
        memcpy(to + done, at, literals);
        at += literals;
        done += literals;
        if (end - at < 2)
            break;
        distance = at[0] | (size_t)at[1] << 8;
        at += 2;
        length = run_length(&at, end, token & 15) + 4;
        if (distance == 0 || distance > done || length > to_bytes - done)
            return false;
        for (; length > 0; length--, done++)
            to[done] = to[done - distance];
    }
    return done == to_bytes;
}

static char *unpack(const struct fat_entry *e, size_t *nr_bytes, const char **why)
{
    const uint8_t *payload = (const uint8_t *)e + e->header_bytes;
    const bool packed = e->flags & (FLAG_LZ4 | FLAG_ZSTD);
    const uint64_t bytes = packed ? e->text_bytes : e->payload_bytes;
    const uint64_t used = packed ? e->used_bytes : e->payload_bytes;
    char *text;
    bool ok = true;

    *why = "its PTX is damaged";
    if (bytes > MOST_BYTES || used > e->payload_bytes)
        return NULL;
    *nr_bytes = bytes;
    text = xcalloc(1, bytes + 1);
    if (e->flags & FLAG_ZSTD)
        ok = ZSTD_decompress(text, bytes, payload, used) == bytes;
    else if (packed)
        ok = unpack_lz4((uint8_t *)text, bytes, payload, used);
    else
        memcpy(text, payload, bytes);
    if (!ok) {
        free(text);
        return NULL;
    }
    return text;
}

static const struct fat_entry *newest(const void *binary, unsigned kind, const char **why)
{
    const struct fat_header *header = binary;
    const struct fat_entry *best = NULL;
    const uint8_t *at, *end;

    *why = "it is no fat binary";
    if (binary == NULL || header->magic != FATBIN_MAGIC)
        return NULL;
    *why = "it holds machine code only: build it with PTX, as -arch=sm_90 does";
    at = (const uint8_t *)binary + header->header_bytes;
    for (end = at + header->entries_bytes; at + sizeof(*best) <= end;) {
        const struct fat_entry *e = (const void *)at;

        if (e->header_bytes < sizeof(*e) || e->payload_bytes > (uint64_t)(end - at))
            return NULL;
        if (e->kind == kind && e->arch > NEWEST_ARCH && best == NULL)
            *why = "its PTX is for a newer device than compute capability 9.0";
        if (e->kind == kind && e->arch <= NEWEST_ARCH && (!best || best->arch < e->arch))
            best = e;
        at += e->header_bytes + e->payload_bytes;
    }
    return best;
}

/* Calls each binary of a wrapper. */
static void each_binary(
    const struct wrapper *w, void (*each)(const void *binary, void *context), void *context)
{
    if (w->version != WRAPPER_LINKED || w->further == NULL) {
        each(w->binary, context);
        return;
    }
    for (void *const *part = w->further; *part != NULL; part++)
        each(*part, context);
}

/* Not in a header of CUDA: libkeet-cuda.so has it for such as know it. */
void keet_software_driver_facts(CUfunction function, unsigned registers, unsigned spill_bytes,
    unsigned machine_insts, bool serial_products);

static void tell_facts(const void *binary, void *context)
{
    CUmodule module = context;
    const char *why;
    const struct fat_entry *entry = newest(binary, KIND_ELF, &why);
    size_t nr_bytes;
    char *bytes = entry != NULL ? unpack(entry, &nr_bytes, &why) : NULL;
    struct arena *arena = arena_create();
    struct cubin cubin;

    if (bytes != NULL && cubin_read(bytes, nr_bytes, arena, &cubin, &why)) {
        for (unsigned i = 0; i < cubin.nr_kernels; i++) {
            const struct cubin_kernel *kernel = &cubin.kernels[i];
            struct sass_facts sass;
            CUfunction function;

            if (cuModuleGetFunction(&function, module, kernel->name) != CUDA_SUCCESS)
                continue;
            sass_read(&cubin, kernel, arena, &sass);
            keet_software_driver_facts(
                function, kernel->registers, 0, sass.all.nr, sass_serial_products(&sass));
        }
    }
    arena_destroy(arena);
    free(bytes);
}

void rt_tell_facts(const void *wrapper, CUmodule module)
{
    each_binary(wrapper, tell_facts, module);
}

struct texts {
    char **text;
    size_t nr;
    const char **why;
};

static void add(const void *binary, void *context)
{
    struct texts *t = context;
    const struct fat_entry *entry = newest(binary, KIND_PTX, t->why);
    size_t nr_bytes;
    char *text = entry != NULL ? unpack(entry, &nr_bytes, t->why) : NULL;

    if (text == NULL)
        return;
    t->text = xrealloc(t->text, (t->nr + 1) * sizeof(*t->text));
    t->text[t->nr++] = text;
}

char **rt_ptx_of(const void *wrapper, size_t *nr, const char **why)
{
    const struct wrapper *w = wrapper;
    struct texts texts = {.why = why};

    *nr = 0;
    *why = "its wrapper is unknown";
    if (w == NULL || w->magic != WRAPPER_MAGIC)
        return NULL;
    each_binary(w, add, &texts);
    *nr = texts.nr;
    return texts.text;
}
