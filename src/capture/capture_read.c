/* Owns the reading of what the software driver recorded, and the saving of contents as .npy. */
#include "capture/capture.h"

#include "base/file.h"
#include "base/mem.h"
#include "core/npy.h"

#include <dirent.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MOST_BYTES ((size_t)4 << 30)

static void read_three(uint32_t *to, const json_t *from, const char *name)
{
    const json_t *list = json_object_get(from, name);

    for (size_t i = 0; i < 3; i++)
        to[i] = (uint32_t)json_integer_value(json_array_get(list, i));
}

static const char *text_of(struct arena *arena, const json_t *from, const char *name)
{
    const char *text = json_string_value(json_object_get(from, name));

    return text != NULL ? arena_strdup(arena, text) : NULL;
}

static uint64_t number_of(const json_t *from, const char *name)
{
    return (uint64_t)json_integer_value(json_object_get(from, name));
}

static const uint8_t *bytes_of(struct arena *arena, const char *hex, unsigned nr)
{
    uint8_t *bytes = arena_alloc(arena, nr + 1);
    unsigned value = 0;

    for (unsigned i = 0; i < nr && hex != NULL && sscanf(hex + (size_t)2 * i, "%2x", &value) == 1;
         i++)
        bytes[i] = (uint8_t)value;
    return bytes;
}

static void read_param(struct arena *arena, struct capture_param *p, const json_t *from)
{
    const json_t *list = json_object_get(from, "pointers");
    struct capture_pointer *pointers;

    p->offset = (unsigned)number_of(from, "offset");
    p->bytes = (unsigned)number_of(from, "bytes");
    p->texture = json_is_true(json_object_get(from, "texture"));
    p->data = bytes_of(arena, json_string_value(json_object_get(from, "hex")), p->bytes);
    p->nr_pointers = (unsigned)json_array_size(list);
    p->pointers = pointers = arena_array(arena, p->nr_pointers + 1, sizeof(*pointers));
    for (unsigned i = 0; i < p->nr_pointers; i++) {
        const json_t *one = json_array_get(list, i);

        pointers[i] = (struct capture_pointer){(unsigned)number_of(one, "at"),
            (unsigned)number_of(one, "memory"), number_of(one, "offset")};
    }
}

/* The type of memory is that of the first parameter that leads to its start or into it. */
static void name_memories(struct arena *arena, struct capture_launch *l)
{
    for (unsigned i = 0; i < l->nr_params; i++) {
        const struct capture_param *p = &l->params[i];

        for (unsigned j = 0; j < p->nr_pointers; j++) {
            struct capture_memory *m =
                p->pointers[j].memory < l->nr_memories ? &l->memories[p->pointers[j].memory] : NULL;
            if (m == NULL || m->name != NULL)
                continue;
            m->name = p->bytes == 8 ? arena_printf(arena, "arg%u", i)
                                    : arena_printf(arena, "arg%u_at%u", i, p->pointers[j].at);
            if (p->bytes != 8 || !capture_elem(p->type, &m->elem) ||
                m->bytes % elem_bytes(m->elem) != 0)
                m->elem = ELEM_U8;
            m->addresses = p->type != NULL && strstr(p->type, "**") != NULL;
        }
    }
}

static void read_begin(struct capture *c, struct arena *arena, const json_t *line, int process)
{
    const json_t *params = json_object_get(line, "params"),
                 *memories = json_object_get(line, "memories");
    struct capture_launch *l = &c->launches[c->nr_launches++];
    const char **types;

    *l = (struct capture_launch){.symbol = text_of(arena, line, "kernel"),
        .order = number_of(line, "order"),
        .nth = number_of(line, "launch"),
        .process = process,
        .smem_bytes = (uint32_t)number_of(line, "smem_bytes"),
        .nr_params = (unsigned)json_array_size(params),
        .nr_memories = (unsigned)json_array_size(memories)};
    read_three(l->grid, line, "grid");
    read_three(l->block, line, "block");
    read_three(l->cluster, line, "cluster");
    l->params = arena_array(arena, l->nr_params + 1, sizeof(*l->params));
    l->memories = arena_array(arena, l->nr_memories + 1, sizeof(*l->memories));
    types = arena_array(arena, l->nr_params + 1, sizeof(*types));
    l->name = capture_name(arena, l->symbol != NULL ? l->symbol : "?", types, l->nr_params);
    for (unsigned i = 0; i < l->nr_params; i++) {
        read_param(arena, &l->params[i], json_array_get(params, i));
        l->params[i].type = types[i];
    }
    for (unsigned i = 0; i < l->nr_memories; i++) {
        const json_t *m = json_array_get(memories, i);
        const char *path = arena_printf(
            arena, "%s/%llu-%d/%u.before", c->folder, (unsigned long long)l->order, process, i);
        const char *sample = arena_printf(
            arena, "%s/%llu-%d/%u.sample", c->folder, (unsigned long long)l->order, process, i);

        l->memories[i] = (struct capture_memory){.bytes = number_of(m, "bytes"),
            .kind = text_of(arena, m, "kind"),
            .name = text_of(arena, m, "name"),
            .elem = ELEM_U8,
            .kept = json_is_true(json_object_get(m, "kept")),
            .written = json_is_true(json_object_get(m, "written")),
            .before = file_exists(path) ? path : NULL,
            .sample = file_exists(sample) ? sample : NULL};
    }
    name_memories(arena, l);
}

static void read_end(struct capture *c, struct arena *arena, const json_t *line, int process)
{
    const json_t *changed = json_object_get(line, "changed"),
                 *stored = json_object_get(line, "stored");
    struct capture_launch *l = NULL;

    for (unsigned i = 0; i < c->nr_launches; i++)
        if (c->launches[i].process == process && c->launches[i].order == number_of(line, "order"))
            l = &c->launches[i];
    if (l == NULL)
        return;
    l->ran = json_is_true(json_object_get(line, "ran"));
    l->fault = text_of(arena, line, "fault");
    l->time_ns = json_number_value(json_object_get(line, "time_ns"));
    l->floor_ns = json_number_value(json_object_get(line, "floor_ns"));
    l->moved_bytes = json_number_value(json_object_get(line, "moved_bytes"));
    for (size_t i = 0; i < json_array_size(stored); i++)
        if ((size_t)json_integer_value(json_array_get(stored, i)) < l->nr_memories)
            l->memories[json_integer_value(json_array_get(stored, i))].stored = true;
    for (size_t i = 0; i < json_array_size(changed); i++) {
        const size_t n = (size_t)json_integer_value(json_array_get(changed, i));
        const char *path = arena_printf(
            arena, "%s/%llu-%d/%zu.after", c->folder, (unsigned long long)l->order, process, n);

        if (n >= l->nr_memories)
            continue;
        l->memories[n].changed = true;
        l->memories[n].after = file_exists(path) ? path : NULL;
    }
}

/* A line that was not written whole, because the program was killed, is left out. */
static bool read_launches(
    struct capture *c, struct arena *arena, const char *path, int process, struct err *err)
{
    char *text;
    size_t len;
    size_t cap = c->nr_launches, nr_lines = 0;
    struct capture_launch *all;

    if (!file_read(path, MOST_BYTES, &text, &len, err))
        return false;
    for (size_t i = 0; i < len; i++)
        nr_lines += text[i] == '\n';
    all = arena_array(arena, cap + nr_lines + 1, sizeof(*all));
    if (cap > 0)
        memcpy(all, c->launches, cap * sizeof(*all));
    c->launches = all;
    for (const char *at = text; *at != '\0'; at = str_next_line(at)) {
        json_t *line = json_loadb(at, strcspn(at, "\n"), 0, NULL);
        const char *event = json_string_value(json_object_get(line, "event"));

        if (event != NULL && strcmp(event, "begin") == 0)
            read_begin(c, arena, line, process);
        else if (event != NULL)
            read_end(c, arena, line, process);
        json_decref(line);
    }
    free(text);
    return true;
}

static void add_kernel(struct capture *c, struct arena *arena, const json_t *from)
{
    const char *symbol = json_string_value(json_object_get(from, "kernel"));
    struct capture_kernel *k = NULL;

    if (symbol == NULL)
        return;
    for (unsigned i = 0; i < c->nr_kernels; i++)
        if (strcmp(c->kernels[i].symbol, symbol) == 0)
            k = &c->kernels[i];
    if (k == NULL) {
        k = &c->kernels[c->nr_kernels++];
        k->symbol = arena_strdup(arena, symbol);
        k->name = capture_name(arena, symbol, NULL, 0);
    }
    k->nr_launches += number_of(from, "launches");
    k->nr_timed += number_of(from, "timed");
    k->time_ns += json_number_value(json_object_get(from, "time_ns"));
    k->floor_ns += json_number_value(json_object_get(from, "floor_ns"));
    k->threads += json_number_value(json_object_get(from, "threads"));
    c->time_ns += json_number_value(json_object_get(from, "time_ns"));
}

static bool read_totals(struct capture *c, struct arena *arena, const char *path, struct err *err)
{
    json_error_t why;
    json_t *all = json_load_file(path, 0, &why), *kernels = json_object_get(all, "kernels");
    struct capture_kernel *old = c->kernels;

    if (all == NULL)
        return err_set(err, "%s: %s", path, why.text);
    c->dry |= json_is_true(json_object_get(all, "dry"));
    c->ended &= json_is_true(json_object_get(all, "ended"));
    c->kernels =
        arena_array(arena, c->nr_kernels + json_array_size(kernels) + 1, sizeof(*c->kernels));
    if (c->nr_kernels > 0)
        memcpy(c->kernels, old, c->nr_kernels * sizeof(*old));
    for (size_t i = 0; i < json_array_size(kernels); i++)
        add_kernel(c, arena, json_array_get(kernels, i));
    json_decref(all);
    return true;
}

static int by_time(const void *a, const void *b)
{
    const struct capture_kernel *x = a, *y = b;

    if (x->time_ns != y->time_ns)
        return x->time_ns < y->time_ns ? 1 : -1;
    return x->threads != y->threads ? (x->threads < y->threads ? 1 : -1)
                                    : strcmp(x->symbol, y->symbol);
}

bool capture_read(struct capture *c, struct arena *arena, const char *folder, struct err *err)
{
    DIR *dir = opendir(folder);
    bool ok = true;

    *c = (struct capture){.folder = folder, .ended = true};
    if (dir == NULL)
        return err_errno(err, "cannot read %s", folder);
    for (struct dirent *e; ok && (e = readdir(dir)) != NULL;) {
        const char *path = arena_printf(arena, "%s/%s", folder, e->d_name);
        int process;

        if (sscanf(e->d_name, "launches-%d.jsonl", &process) == 1)
            ok = read_launches(c, arena, path, process, err);
        else if (str_starts(e->d_name, "totals-") && str_ends(e->d_name, ".json"))
            ok = read_totals(c, arena, path, err);
    }
    closedir(dir);
    qsort(c->kernels, c->nr_kernels, sizeof(*c->kernels), by_time);
    return ok;
}

static bool save_one(struct arena *arena, const char **path, const struct capture_memory *m,
    const char *when, struct err *err)
{
    const uint64_t nr = m->bytes / elem_bytes(m->elem);
    const char *slash, *to;
    char *bytes;
    size_t len;
    bool ok;

    if (*path == NULL)
        return true;
    slash = strrchr(*path, '/');
    to = arena_printf(arena, "%.*s/%s.%s.npy", (int)(slash - *path), *path, m->name, when);
    if (!file_read(*path, MOST_BYTES, &bytes, &len, err))
        return false;
    ok = len == m->bytes ? npy_write(to, m->elem, bytes, &nr, 1, err)
                         : err_set(err, "%s has %zu bytes instead of %llu", *path, len,
                               (unsigned long long)m->bytes);
    free(bytes);
    if (ok)
        unlink(*path);
    *path = to;
    return ok;
}

bool capture_save(struct capture *c, struct arena *arena, struct err *err)
{
    bool ok = true;

    for (unsigned i = 0; i < c->nr_launches; i++)
        for (unsigned j = 0; ok && j < c->launches[i].nr_memories; j++) {
            struct capture_memory *m = &c->launches[i].memories[j];

            ok = save_one(arena, &m->before, m, "before", err) &&
                 save_one(arena, &m->after, m, "after", err);
        }
    return ok;
}
