/* Owns the functions of the system that device code calls: printf, assert, malloc and free.
 * Arguments lie in the caller's frame, in the thread's local memory. */
#include "emu/exec/exec.h"

#include "base/mem.h"
#include "emu/state/windows.h"
#include "emu/watch/where.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What services cost, in warp instructions: about what they take of the host's time. */
enum {
    STEPS_OF_PRINT = 4,
    BYTES_PER_STEP = 8, /* of a format and of what it prints */
    STEPS_OF_MALLOC = 256,
    STEPS_OF_FREE = 64
};

/* Host memory at a generic address of one lane, and how many bytes there are from it on; NULL:
 * nothing is there. */
static const uint8_t *span_at(const struct block_worker *k, const struct warp *w, unsigned lane,
    uint64_t address, uint64_t *bytes)
{
    const uint64_t local = address - WINDOW_LOCAL, shared = address - WINDOW_SHARED;
    const struct mem_buffer *b;
    *bytes = 0;
    if (local < WINDOW_BYTES) {
        if (local >= k->program->local_bytes)
            return NULL;
        *bytes = k->program->local_bytes - local;
        return w->local + (size_t)lane * k->program->local_bytes + local;
    }
    if (shared < WINDOW_BYTES) {
        if (shared >= k->shared_bytes)
            return NULL;
        *bytes = k->shared_bytes - shared;
        return k->shared + shared;
    }
    b = memory_find(k->memory, address, 1);
    if (!b)
        return NULL;
    *bytes = b->bytes - (address - b->base);
    return b->host + (address - b->base);
}

static void string_at(const struct block_worker *k, const struct warp *w, unsigned lane,
    uint64_t address, char *text, size_t bytes)
{
    uint64_t nr;
    const uint8_t *at = span_at(k, w, lane, address, &nr);
    const size_t most = nr < bytes - 1 ? (size_t)nr : bytes - 1;
    const size_t len = at ? strnlen((const char *)at, most) : 0;
    if (len)
        memcpy(text, at, len);
    text[len] = 0;
}

static uint64_t argument(const struct block_worker *k, const struct warp *w, const struct inst *in,
    unsigned lane, unsigned which, unsigned bytes)
{
    uint64_t value = 0;
    memcpy(&value, frame_at(k, w, lane, in->a, in->rows[which]), bytes);
    return value;
}

static void give(const struct block_worker *k, const struct warp *w, const struct inst *in,
    unsigned lane, uint64_t value, unsigned bytes)
{
    if (in->target != NO_ROW)
        memcpy(frame_at(k, w, lane, in->a, in->target), &value, bytes);
}

static void name_of(const struct block_worker *k, const struct warp *w, unsigned lane, char *who)
{
    where_thread(&k->exec->run, k->block.index, w->index * WARP_LANES + lane, who);
}

/* __assertfail(message, file, line, function, char_size) */
bool service_assert(
    struct block_worker *k, struct warp *w, const struct inst *in, uint32_t pc, uint32_t mask)
{
    unsigned lane = (unsigned)__builtin_ctz(mask);
    uint32_t line = (uint32_t)argument(k, w, in, lane, 2, 4);
    char message[200], who[WHERE_BYTES];
    string_at(k, w, lane, argument(k, w, in, lane, 0, 8), message, sizeof(message));
    name_of(k, w, lane, who);
    exec_fault(k, VERDICT_FAULT, pc, "assertion failed: %s (line %u) by %s", message, line, who);
    if (k->program->info[pc].line == 0)
        k->fault.line = line;
    return false;
}

/* --- printf --- */

enum { SPEC_BYTES = 32, STRING_BYTES = 512, MOST_WIDTH = STRING_BYTES };

struct printing {
    const struct block_worker *k;
    const struct warp *w;
    unsigned lane;
    uint64_t args; /* generic address of the next argument */
    struct str *out;
    size_t room;   /* no more is printed into `out` than this, and a conversion */
    uint64_t read; /* bytes of strings */
    int32_t nr;    /* arguments used */
};

/* The next argument, at its own alignment. */
static uint64_t next(struct printing *p, unsigned bytes)
{
    uint64_t value = 0;
    p->args = (p->args + bytes - 1) / bytes * bytes;
    uint64_t there;
    const uint8_t *at = span_at(p->k, p->w, p->lane, p->args, &there);
    if (there >= bytes)
        memcpy(&value, at, bytes);
    p->args += bytes;
    p->nr++;
    return value;
}

/* One conversion; spec holds it from % to before its length and letter. */
static void convert(struct printing *p, char spec[SPEC_BYTES + 8], bool is_long, char letter)
{
    char text[STRING_BYTES];
    size_t end = strlen(spec);
    double real;
    uint64_t bits;
    if (p->out->len >= p->room) { /* nobody will see it */
        next(p, is_long || strchr("spfFeEgGaA", letter) ? 8 : 4);
        return;
    }
    switch (letter) {
    case 'd':
    case 'i':
        bits = next(p, is_long ? 8 : 4);
        memcpy(spec + end, PRId64, sizeof(PRId64));
        str_addf(p->out, spec, is_long ? (int64_t)bits : (int64_t)(int32_t)bits);
        return;
    case 'u':
    case 'x':
    case 'X':
    case 'o':
        bits = next(p, is_long ? 8 : 4);
        memcpy(spec + end, PRIu64, sizeof(PRIu64));
        spec[strlen(spec) - 1] = letter;
        str_addf(p->out, spec, bits);
        return;
    case 'c':
        memcpy(spec + end, "c", 2);
        str_addf(p->out, spec, (int)next(p, 4));
        return;
    case 's':
        string_at(p->k, p->w, p->lane, next(p, 8), text, sizeof(text));
        p->read += strlen(text);
        memcpy(spec + end, "s", 2);
        str_addf(p->out, spec, text);
        return;
    case 'p':
        str_addf(p->out, "0x%" PRIx64, next(p, 8));
        return;
    default:
        bits = next(p, 8);
        memcpy(&real, &bits, 8);
        spec[end] = letter;
        spec[end + 1] = 0;
        str_addf(p->out, spec, real);
    }
}

/* A width or precision, or MOST_WIDTH where it is larger. */
static size_t put_width(char *spec, long width)
{
    width = width < -MOST_WIDTH ? -MOST_WIDTH : width > MOST_WIDTH ? MOST_WIDTH : width;
    return (size_t)snprintf(spec, 12, "%ld", width);
}

/* Flags, width, precision and length as printf has them; * takes an argument. Gives what follows
 * the letter. */
static const char *conversion(struct printing *p, const char *at)
{
    char spec[SPEC_BYTES + 8] = "%";
    size_t nr = 1;
    bool is_long = false;
    for (at++; *at && strchr("-+ #0123456789.*", *at); at++) {
        if (*at == '*') {
            nr += put_width(spec + nr, (int32_t)next(p, 4));
        } else if (*at >= '1' && *at <= '9') {
            char *end;
            nr += put_width(spec + nr, strtol(at, &end, 10));
            at = end - 1;
        } else
            spec[nr++] = *at;
        if (nr > SPEC_BYTES - 12)
            nr = SPEC_BYTES - 12;
    }
    spec[nr] = 0;
    for (; *at && strchr("hlLzjt", *at); at++)
        is_long |= *at != 'h';
    if (*at == '%') {
        str_add_char(p->out, '%');
        return at + 1;
    }
    if (!*at || !strchr("diuxXocspfFeEgGaA", *at)) { /* as it stands */
        str_add(p->out, spec);
        return at;
    }
    convert(p, spec, is_long, *at);
    return at + 1;
}

/* *cost: in warp instructions. */
static int32_t print_lane(struct block_worker *k, const struct warp *w, const struct inst *in,
    unsigned lane, struct str *out, uint64_t *cost)
{
    char format[2 * STRING_BYTES];
    const size_t printed = k->log.text.len;
    struct printing p = {.k = k,
        .w = w,
        .lane = lane,
        .args = argument(k, w, in, lane, 1, 8),
        .out = out,
        .room = printed < EMU_PRINT_BYTES ? EMU_PRINT_BYTES - printed : 0};
    string_at(k, w, lane, argument(k, w, in, lane, 0, 8), format, sizeof(format));
    for (const char *at = format; *at;) {
        if (*at == '%')
            at = conversion(&p, at);
        else
            str_add_char(out, *at++);
    }
    *cost = STEPS_OF_PRINT + (strlen(format) + p.read + out->len) / BYTES_PER_STEP;
    return p.nr;
}

/* vprintf(format, arguments) */
bool service_print(
    struct block_worker *k, struct warp *w, const struct inst *in, uint32_t pc, uint32_t mask)
{
    struct print_log *log = &k->log;
    struct str text = {0};
    uint64_t steps = 0, cost;
    for (uint32_t m = mask; m; m &= m - 1) {
        unsigned lane = (unsigned)__builtin_ctz(m);
        str_clear(&text);
        give(k, w, in, lane, (uint32_t)print_lane(k, w, in, lane, &text, &cost), 4);
        steps += cost;
        if (log->text.len >= EMU_PRINT_BYTES) {
            log->cut = true;
            continue;
        }
        log->entries = grow(log->entries, &log->cap, log->nr + 1, sizeof(*log->entries));
        log->entries[log->nr++] =
            (struct print_entry){.block = k->block.index, .at = log->text.len, .bytes = text.len};
        str_add(&log->text, str_text(&text));
    }
    str_finish(&text);
    return exec_charge(k, pc, steps);
}

void service_printed(
    struct block_worker *workers, unsigned nr, struct arena *arena, struct emu_result *result)
{
    size_t *at = xcalloc(nr, sizeof(*at));
    struct str all = {0};
    for (;;) {
        unsigned best = nr;
        for (unsigned i = 0; i < nr; i++) {
            const struct print_log *log = &workers[i].log;
            if (at[i] < log->nr && (best == nr || log->entries[at[i]].block <
                                                      workers[best].log.entries[at[best]].block))
                best = i;
        }
        if (best == nr || all.len >= EMU_PRINT_BYTES)
            break;
        const struct print_entry *e = &workers[best].log.entries[at[best]++];
        str_add_n(&all, str_text(&workers[best].log.text) + e->at, e->bytes);
    }
    for (unsigned i = 0; i < nr; i++)
        result->print_cut |= workers[i].log.cut || at[i] < workers[i].log.nr;
    result->printed = arena_strndup(arena, str_text(&all), all.len);
    str_finish(&all);
    free(at);
}

/* --- malloc and free --- */

bool service_malloc(
    struct block_worker *k, struct warp *w, const struct inst *in, uint32_t pc, uint32_t mask)
{
    for (uint32_t m = mask; m; m &= m - 1) {
        unsigned lane = (unsigned)__builtin_ctz(m);
        uint64_t bytes = argument(k, w, in, lane, 0, 8);
        struct mem_buffer *b = NULL;
        char name[64];
        struct err err;
        snprintf(name, sizeof(name), "malloc of line %u", k->program->info[pc].near);
        const uint64_t left = EMU_HEAP_BYTES - k->memory->heap_used;
        if (bytes && left >= EMU_HEAP_HEAD && bytes <= left - EMU_HEAP_HEAD)
            b = memory_alloc(k->memory, bytes, name, &err);
        if (b) {
            b->heap = b->this_launch = true;
            b->pc = pc;
            b->block = k->block.index;
            b->heap_bytes = bytes + EMU_HEAP_HEAD;
            k->memory->heap_used += b->heap_bytes;
            if (k->counting)
                memory_note_buffer(b);
        }
        give(k, w, in, lane, b ? b->base : 0, 8);
    }
    return exec_charge(k, pc, (uint64_t)STEPS_OF_MALLOC * (unsigned)__builtin_popcount(mask));
}

/* Instructions forget the buffers that they used last: one of these may be the freed one. */
static void forget_buffers(struct block_worker *k)
{
    for (uint32_t slot = 0; slot < k->program->nr_slots; slot++) {
        k->caches[slot] = (struct pc_cache){0};
        k->patterns[slot].ready = 0;
    }
}

bool service_free(
    struct block_worker *k, struct warp *w, const struct inst *in, uint32_t pc, uint32_t mask)
{
    char who[WHERE_BYTES];
    for (uint32_t m = mask; m; m &= m - 1) {
        unsigned lane = (unsigned)__builtin_ctz(m);
        uint64_t address = argument(k, w, in, lane, 0, 8);
        struct mem_buffer *b = address ? memory_find(k->memory, address, 0) : NULL;
        if (!address)
            continue;
        if (!b || !b->heap || b->freed || b->base != address) {
            name_of(k, w, lane, who);
            return exec_fault(k, VERDICT_FAULT, pc,
                "free of 0x%" PRIx64 ", which malloc did not give or which is free already, by %s",
                address, who);
        }
        memory_retire(k->memory, b);
        forget_buffers(k);
    }
    return exec_charge(k, pc,
        (uint64_t)(STEPS_OF_FREE + k->program->nr_insts / BYTES_PER_STEP) *
            (unsigned)__builtin_popcount(mask));
}
