/* Owns the recorder of launches: its choices, its files, and the totals of all kernels. */
#include "swdriver/sw_record.h"

#include "base/clock.h"
#include "base/file.h"
#include "base/mem.h"
#include "base/str.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    POISON = 0xAA,
    MOST_POINTERS = 64,
    MOST_GLOBAL_BYTES = 64 << 20,
    SAMPLE_BYTES = 1 << 20 /* of memory over the limit */
};

/* All launches of one kernel. */
struct kernel_total {
    char *name;
    uint64_t nr_launches, nr_recorded, nr_timed;
    double time_ns, floor_ns, threads;
};

/* Memory that a launch can reach: an allocation, or a variable of the module. */
struct shot_memory {
    uint64_t address, bytes;
    const char *name; /* of a variable; NULL: an allocation */
    bool constant;
    enum sw_memory memory;
    bool written;    /* before the launch */
    bool kept;       /* what was written before is in a file */
    uint8_t *before; /* ... and here; NULL: not kept, or nothing was written */
};

struct sw_shot {
    uint64_t order;
    struct shot_memory *memories;
    size_t nr_memories, cap_memories;
};

static struct {
    bool asked, on, dry;
    const char *folder, *kernel;
    uint64_t nr_each, nr_skipped, bytes_left;
    uint64_t order;
    double written_s;
    struct kernel_total *totals;
    size_t nr_totals, cap_totals;
    FILE *lines;
} recorder;

static uint64_t number(const char *variable, uint64_t otherwise)
{
    const char *text = getenv(variable);

    return text != NULL && text[0] != '\0' ? strtoull(text, NULL, 0) : otherwise;
}

static void open_lines(void)
{
    struct err err;
    char path[4096];

    snprintf(path, sizeof(path), "%s/launches-%d.jsonl", recorder.folder, (int)getpid());
    if (file_mkdirs(recorder.folder, &err))
        recorder.lines = fopen(path, "we");
    if (recorder.lines == NULL)
        fprintf(stderr, "libkeet-cuda: cannot write %s; nothing is captured\n", path);
    recorder.on = recorder.lines != NULL;
}

bool sw_recording(void)
{
    if (!recorder.asked) {
        recorder.asked = true;
        recorder.folder = getenv("KEET_CAPTURE");
        recorder.kernel = getenv("KEET_CAPTURE_KERNEL");
        recorder.dry = number("KEET_CAPTURE_DRY", 0) != 0;
        recorder.nr_each = number("KEET_CAPTURE_LAUNCHES", 1);
        recorder.nr_skipped = number("KEET_CAPTURE_SKIP", 0);
        recorder.bytes_left = number("KEET_CAPTURE_BYTES", UINT64_C(256) << 20);
        if (recorder.folder != NULL && recorder.folder[0] != '\0')
            open_lines();
    }
    return recorder.on;
}

bool sw_record_is_dry(void)
{
    return sw_recording() && recorder.dry;
}

/* --- totals --- */

static struct kernel_total *total_of(const char *name)
{
    struct kernel_total *t;

    for (size_t i = 0; i < recorder.nr_totals; i++)
        if (strcmp(recorder.totals[i].name, name) == 0)
            return &recorder.totals[i];
    recorder.totals = grow(
        recorder.totals, &recorder.cap_totals, recorder.nr_totals + 1, sizeof(*recorder.totals));
    t = &recorder.totals[recorder.nr_totals++];
    *t = (struct kernel_total){.name = xstrdup(name)};
    return t;
}

static void write_totals(bool ended)
{
    struct str text = {0};
    struct err err;
    char path[4096];

    str_addf(&text, "{\"ended\": %s, \"dry\": %s, \"launches\": %llu, \"kernels\": [",
        ended ? "true" : "false", recorder.dry ? "true" : "false",
        (unsigned long long)recorder.order);
    for (size_t i = 0; i < recorder.nr_totals; i++) {
        const struct kernel_total *t = &recorder.totals[i];

        str_addf(&text,
            "%s\n{\"kernel\": \"%s\", \"launches\": %llu, \"recorded\": %llu, \"timed\": %llu, "
            "\"time_ns\": %.17g, \"floor_ns\": %.17g, \"threads\": %.17g}",
            i > 0 ? "," : "", t->name, (unsigned long long)t->nr_launches,
            (unsigned long long)t->nr_recorded, (unsigned long long)t->nr_timed, t->time_ns,
            t->floor_ns, t->threads);
    }
    str_add(&text, "]}\n");
    snprintf(path, sizeof(path), "%s/totals-%d.json", recorder.folder, (int)getpid());
    file_write(path, text.text, text.len, &err);
    str_finish(&text);
    recorder.written_s = clock_ns() / 1e9;
}

__attribute__((destructor)) static void finish(void)
{
    if (!recorder.on)
        return;
    write_totals(true);
    fclose(recorder.lines);
    for (size_t i = 0; i < recorder.nr_totals; i++)
        free(recorder.totals[i].name);
    free(recorder.totals);
}

/* --- memory --- */

/* Has nobody written these bytes? */
static bool is_poison(CUcontext ctx, uint64_t address, uint64_t bytes)
{
    enum { PART_BYTES = 1 << 20 };
    const uint8_t poison = recorder.dry ? 0 : POISON;
    uint8_t *part = xmalloc(PART_BYTES);
    bool is = true;
    struct err err;

    for (uint64_t at = 0; is && at < bytes; at += PART_BYTES) {
        const uint64_t nr = bytes - at < PART_BYTES ? bytes - at : PART_BYTES;

        is = emu_read(ctx->emu, address + at, part, nr, &err) && part[0] == poison &&
             memcmp(part, part + 1, nr - 1) == 0;
    }
    free(part);
    return is;
}

static bool write_raw(
    const struct sw_shot *shot, size_t i, const char *when, const uint8_t *bytes, uint64_t nr)
{
    struct err err;
    char path[4096];

    snprintf(path, sizeof(path), "%s/%llu-%d", recorder.folder, (unsigned long long)shot->order,
        (int)getpid());
    if (!file_mkdirs(path, &err))
        return false;
    snprintf(path, sizeof(path), "%s/%llu-%d/%zu.%s", recorder.folder,
        (unsigned long long)shot->order, (int)getpid(), i, when);
    return file_write(path, bytes, nr, &err);
}

/* False: they are over the limit. */
static bool take_from_limit(uint64_t bytes)
{
    if (bytes > recorder.bytes_left)
        return false;
    recorder.bytes_left -= bytes;
    return true;
}

/* Keeps and writes what is there before the launch, as far as the limit goes, and of what does not
 * fit a sample, so that a task can have the like of it. */
static void keep(CUcontext ctx, struct sw_shot *shot, size_t i)
{
    struct shot_memory *m = &shot->memories[i];
    const uint64_t sample = m->bytes < SAMPLE_BYTES ? m->bytes : SAMPLE_BYTES;
    struct err err;

    m->written = !is_poison(ctx, m->address, m->bytes);
    m->kept = !m->written || take_from_limit(m->bytes);
    if (!m->written)
        return;
    m->before = xmalloc(m->kept ? m->bytes : sample);
    if (emu_read(ctx->emu, m->address, m->before, m->kept ? m->bytes : sample, &err))
        write_raw(shot, i, m->kept ? "before" : "sample", m->before, m->kept ? m->bytes : sample);
    if (!m->kept) {
        free(m->before);
        m->before = NULL;
    }
}

static size_t memory_number(CUcontext ctx, struct sw_shot *shot, const struct shot_memory *found)
{
    for (size_t i = 0; i < shot->nr_memories; i++)
        if (shot->memories[i].address == found->address)
            return i;
    shot->memories =
        grow(shot->memories, &shot->cap_memories, shot->nr_memories + 1, sizeof(*shot->memories));
    shot->memories[shot->nr_memories] = *found;
    keep(ctx, shot, shot->nr_memories);
    return shot->nr_memories++;
}

/* The allocation or the variable that an address lies in, or just behind. */
static bool find_memory(
    CUcontext ctx, const struct sw_op *op, uint64_t address, struct shot_memory *found)
{
    const struct sw_alloc *alloc = address != 0 ? sw_find(ctx, address) : NULL;
    struct emu_global global;

    if (alloc != NULL) {
        *found = (struct shot_memory){
            .address = alloc->address, .bytes = alloc->bytes, .memory = alloc->memory};
        return true;
    }
    for (unsigned i = 0; emu_global(op->function->module->module, i, &global); i++) {
        if (address - global.address >= global.bytes)
            continue;
        *found = (struct shot_memory){.address = global.address,
            .bytes = global.bytes,
            .name = global.name,
            .constant = global.constant};
        return true;
    }
    return false;
}

/* --- lines --- */

static void add_hex(struct str *line, const uint8_t *bytes, size_t nr)
{
    for (size_t i = 0; i < nr; i++)
        str_addf(line, "%02x", bytes[i]);
}

static void add_param(CUcontext ctx, const struct sw_op *op, struct sw_shot *shot, struct str *line,
    uint32_t offset, uint32_t bytes)
{
    const uint8_t *at = (const uint8_t *)op->params + offset;
    uint64_t word = 0;
    unsigned nr = 0;

    str_addf(line, "{\"offset\": %u, \"bytes\": %u, \"hex\": \"", offset, bytes);
    add_hex(line, at, bytes);
    memcpy(&word, at, bytes < 8 ? bytes : 8);
    str_addf(line, "\", \"texture\": %s, \"pointers\": [",
        bytes == 8 && emu_is_texture(ctx->emu, word) ? "true" : "false");
    for (uint32_t i = 0; i + 8 <= bytes && nr < MOST_POINTERS; i += 8) {
        struct shot_memory found;

        memcpy(&word, at + i, 8);
        if (!find_memory(ctx, op, word, &found))
            continue;
        str_addf(line, "%s{\"at\": %u, \"memory\": %zu, \"offset\": %llu}", nr++ > 0 ? ", " : "", i,
            memory_number(ctx, shot, &found), (unsigned long long)(word - found.address));
    }
    str_add(line, "]}");
}

/* Variables that a kernel reaches by name: all of the module that are not the compiler's own. */
static void add_globals(CUcontext ctx, const struct sw_op *op, struct sw_shot *shot)
{
    struct emu_global g;

    for (unsigned i = 0; emu_global(op->function->module->module, i, &g); i++)
        if (g.name[0] != '$' && g.name[0] != '.' && g.bytes > 0 && g.bytes <= MOST_GLOBAL_BYTES)
            memory_number(ctx, shot,
                &(struct shot_memory){.address = g.address,
                    .bytes = g.bytes,
                    .name = g.name,
                    .constant = g.constant});
}

static void add_memories(const struct sw_shot *shot, struct str *line)
{
    static const char *const kinds[] = {"device", "managed", "host", "registered"};

    str_add(line, ", \"memories\": [");
    for (size_t i = 0; i < shot->nr_memories; i++) {
        const struct shot_memory *m = &shot->memories[i];

        str_addf(line, "%s{\"bytes\": %llu, \"kind\": \"%s\", ", i > 0 ? ", " : "",
            (unsigned long long)m->bytes,
            m->name == NULL ? kinds[m->memory]
            : m->constant   ? "constant"
                            : "variable");
        if (m->name != NULL)
            str_addf(line, "\"name\": \"%s\", ", m->name);
        str_addf(line, "\"kept\": %s, \"written\": %s}", m->kept ? "true" : "false",
            m->written ? "true" : "false");
    }
    str_add(line, "]");
}

static void add_three(struct str *line, const char *name, const uint32_t *values)
{
    str_addf(line, ", \"%s\": [%u, %u, %u]", name, values[0], values[1], values[2]);
}

static void put_line(struct str *line)
{
    str_add(line, "}\n");
    fwrite(line->text, 1, line->len, recorder.lines);
    fflush(recorder.lines);
    str_finish(line);
}

struct sw_shot *sw_record_begin(CUcontext ctx, const struct sw_op *op)
{
    const char *name = op->function->kernel.name;
    struct kernel_total *total = total_of(name);
    const uint64_t nth = total->nr_launches++, order = recorder.order++;
    const uint32_t *each, *offsets;
    struct str line = {0};
    struct sw_shot *shot;
    uint32_t all;
    unsigned nr = 0;

    total->threads += (double)op->grid[0] * op->grid[1] * op->grid[2] * op->block[0] *
                      op->block[1] * op->block[2];
    if (clock_ns() / 1e9 > recorder.written_s + 1)
        write_totals(false);
    if ((recorder.kernel != NULL && strstr(name, recorder.kernel) == NULL) ||
        nth < recorder.nr_skipped || total->nr_recorded >= recorder.nr_each)
        return NULL;
    total->nr_recorded++;
    shot = xcalloc(1, sizeof(*shot));
    shot->order = order;
    str_addf(&line,
        "{\"event\": \"begin\", \"order\": %llu, \"kernel\": \"%s\", \"launch\": %llu, "
        "\"device\": %d",
        (unsigned long long)order, name, (unsigned long long)nth, ctx->device);
    add_three(&line, "grid", op->grid);
    add_three(&line, "block", op->block);
    add_three(&line, "cluster", op->cluster);
    str_addf(&line, ", \"smem_bytes\": %u, \"stream\": \"%llx\", \"params\": [", op->smem_bytes,
        (unsigned long long)(uintptr_t)op->stream);
    emu_params(op->function->module->module, name, &nr, &each, &offsets, &all);
    for (unsigned i = 0; i < nr; i++) {
        str_add(&line, i > 0 ? ", " : "");
        add_param(ctx, op, shot, &line, offsets[i], each[i]);
    }
    str_add(&line, "]");
    add_globals(ctx, op, shot);
    add_memories(shot, &line);
    put_line(&line);
    return shot;
}

/* Where the contents before are known, memory that the launch stored into may be unchanged. */
static bool after_launch(CUcontext ctx, struct sw_shot *shot, size_t i)
{
    const struct shot_memory *m = &shot->memories[i];
    const bool fits = m->bytes <= recorder.bytes_left;
    uint8_t *after;
    bool changed = true;
    struct err err;

    if (!m->kept || (m->before == NULL && !fits))
        return true;
    after = xmalloc(m->bytes);
    if (!emu_read(ctx->emu, m->address, after, m->bytes, &err) ||
        (m->before != NULL && memcmp(after, m->before, m->bytes) == 0))
        changed = false;
    else if (take_from_limit(m->bytes))
        write_raw(shot, i, "after", after, m->bytes);
    free(after);
    return changed;
}

static void add_after(CUcontext ctx, struct sw_shot *shot, struct str *line)
{
    struct str changed = {0};

    str_add(line, ", \"stored\": [");
    for (size_t i = 0, nr = 0; i < shot->nr_memories; i++) {
        if (shot->memories[i].constant || !emu_stored(ctx->emu, shot->memories[i].address))
            continue;
        str_addf(line, "%s%zu", nr++ > 0 ? ", " : "", i);
        if (after_launch(ctx, shot, i))
            str_addf(&changed, "%s%zu", changed.len > 0 ? ", " : "", i);
    }
    str_addf(line, "], \"changed\": [%s]", str_text(&changed));
    str_finish(&changed);
}

void sw_record_end(CUcontext ctx, const struct sw_op *op, struct sw_shot *shot,
    const struct sw_time *time, const char *fault)
{
    struct kernel_total *total = total_of(op->function->kernel.name);
    struct str line = {0};

    if (time != NULL && time->time_ns > 0) {
        total->nr_timed++;
        total->time_ns += time->time_ns;
        total->floor_ns += time->floor_ns;
    }
    if (shot == NULL)
        return;
    str_addf(&line, "{\"event\": \"end\", \"order\": %llu, \"ran\": %s",
        (unsigned long long)shot->order, recorder.dry || fault != NULL ? "false" : "true");
    if (time != NULL)
        str_addf(&line, ", \"time_ns\": %.17g, \"floor_ns\": %.17g, \"moved_bytes\": %.17g",
            time->time_ns, time->floor_ns, time->moved_bytes);
    if (fault != NULL) {
        str_add(&line, ", \"fault\": \"");
        for (const char *c = fault; *c != '\0'; c++)
            str_add_char(&line, *c == '"' || *c == '\\' || (unsigned char)*c < ' ' ? '\'' : *c);
        str_add(&line, "\"");
    }
    if (!recorder.dry)
        add_after(ctx, shot, &line);
    put_line(&line);
    for (size_t i = 0; i < shot->nr_memories; i++)
        free(shot->memories[i].before);
    free(shot->memories);
    free(shot);
}
