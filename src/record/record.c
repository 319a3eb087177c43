/* Owns the recorder of launches: its choices, its files, and the totals of all kernels. */
#include "record/record.h"

#include "base/clock.h"
#include "base/file.h"
#include "base/mem.h"
#include "base/str.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    MOST_POINTERS = 64,
    MOST_VARIABLE_BYTES = 64 << 20,
    SAMPLE_BYTES = 1 << 20 /* of memory over the limit */
};

/* All launches of one kernel. */
struct kernel_total {
    char *name;
    uint64_t nr_launches, nr_recorded, nr_timed;
    double time_ns, floor_ns, threads;
};

struct shot_memory {
    struct record_memory is;
    bool written;    /* before the launch */
    bool kept;       /* what was written before is in a file */
    uint8_t *before; /* ... and here; NULL: not kept, or nothing was written */
};

struct record_shot {
    uint64_t order;
    struct shot_memory *memories;
    size_t nr_memories, cap_memories;
};

static struct {
    bool asked, on, dry;
    pid_t process;
    const char *folder, *kernel;
    uint64_t nr_each, nr_skipped, bytes_left;
    uint64_t order;
    double written_s;
    struct kernel_total *totals;
    size_t nr_totals, cap_totals;
    FILE *lines;
} recorder;

/* Of totals and lines: activities are told by threads of others, and programs end while threads of
 * theirs go on. Who has it looks at no memory of the program. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

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
        fprintf(stderr, "keet-opt: cannot write %s; nothing is captured\n", path);
    recorder.on = recorder.lines != NULL;
    recorder.process = getpid();
}

bool record_on(void)
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

bool record_is_dry(void)
{
    return record_on() && recorder.dry;
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

/* What a child of fork() has of totals is its parent's. */
__attribute__((destructor)) static void finish(void)
{
    if (!recorder.on || recorder.process != getpid())
        return;
    pthread_mutex_lock(&lock);
    write_totals(true);
    fclose(recorder.lines);
    recorder.lines = NULL;
    for (size_t i = 0; i < recorder.nr_totals; i++)
        free(recorder.totals[i].name);
    free(recorder.totals);
    recorder.totals = NULL;
    recorder.nr_totals = recorder.cap_totals = 0;
    pthread_mutex_unlock(&lock);
}

/* --- memory --- */

/* Has nobody written these bytes? */
static bool is_poison(struct record_view *view, uint64_t address, uint64_t bytes)
{
    enum { PART_BYTES = 1 << 20 };
    uint8_t *part = xmalloc(PART_BYTES);
    bool is = view->poison >= 0;

    for (uint64_t at = 0; is && at < bytes; at += PART_BYTES) {
        const uint64_t nr = bytes - at < PART_BYTES ? bytes - at : PART_BYTES;

        is = view->read(view, address + at, part, nr) && part[0] == view->poison &&
             memcmp(part, part + 1, nr - 1) == 0;
    }
    free(part);
    return is;
}

static bool write_raw(
    const struct record_shot *shot, size_t i, const char *when, const uint8_t *bytes, uint64_t nr)
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
static void keep(struct record_view *view, struct record_shot *shot, size_t i)
{
    struct shot_memory *m = &shot->memories[i];
    const uint64_t sample = m->is.bytes < SAMPLE_BYTES ? m->is.bytes : SAMPLE_BYTES;

    m->written = !is_poison(view, m->is.address, m->is.bytes);
    m->kept = !m->written || take_from_limit(m->is.bytes);
    if (!m->written)
        return;
    m->before = xmalloc(m->kept ? m->is.bytes : sample);
    if (view->read(view, m->is.address, m->before, m->kept ? m->is.bytes : sample))
        write_raw(
            shot, i, m->kept ? "before" : "sample", m->before, m->kept ? m->is.bytes : sample);
    else
        m->kept = false;
    if (!m->kept) {
        free(m->before);
        m->before = NULL;
    }
}

static size_t memory_number(
    struct record_view *view, struct record_shot *shot, const struct record_memory *found)
{
    for (size_t i = 0; i < shot->nr_memories; i++)
        if (shot->memories[i].is.address == found->address)
            return i;
    shot->memories =
        grow(shot->memories, &shot->cap_memories, shot->nr_memories + 1, sizeof(*shot->memories));
    shot->memories[shot->nr_memories] = (struct shot_memory){.is = *found};
    keep(view, shot, shot->nr_memories);
    return shot->nr_memories++;
}

/* --- lines --- */

static void add_hex(struct str *line, const uint8_t *bytes, size_t nr)
{
    for (size_t i = 0; i < nr; i++)
        str_addf(line, "%02x", bytes[i]);
}

static void add_param(struct record_view *view, struct record_shot *shot, struct str *line,
    const struct record_param *param)
{
    uint64_t word = 0;
    unsigned nr = 0;

    str_addf(line, "{\"offset\": %u, \"bytes\": %u, \"hex\": \"", param->offset, param->bytes);
    add_hex(line, param->data, param->bytes);
    memcpy(&word, param->data, param->bytes < 8 ? param->bytes : 8);
    str_addf(line, "\", \"texture\": %s, \"pointers\": [",
        param->bytes == 8 && view->is_texture != NULL && view->is_texture(view, word) ? "true"
                                                                                      : "false");
    for (uint32_t i = 0; i + 8 <= param->bytes && nr < MOST_POINTERS; i += 8) {
        struct record_memory found;

        memcpy(&word, param->data + i, 8);
        if (!view->find(view, word, &found))
            continue;
        str_addf(line, "%s{\"at\": %u, \"memory\": %zu, \"offset\": %llu}", nr++ > 0 ? ", " : "", i,
            memory_number(view, shot, &found), (unsigned long long)(word - found.address));
    }
    str_add(line, "]}");
}

/* All of the module that are not the compiler's own. */
static void add_variables(struct record_view *view, struct record_shot *shot)
{
    struct record_memory found;

    for (unsigned i = 0; view->variable(view, i, &found); i++)
        if (found.name[0] != '$' && found.name[0] != '.' && found.bytes > 0 &&
            found.bytes <= MOST_VARIABLE_BYTES)
            memory_number(view, shot, &found);
}

static void add_memories(const struct record_shot *shot, struct str *line)
{
    static const char *const kinds[] = {[RECORD_DEVICE] = "device",
        [RECORD_MANAGED] = "managed",
        [RECORD_HOST] = "host",
        [RECORD_REGISTERED] = "registered",
        [RECORD_VARIABLE] = "variable",
        [RECORD_CONSTANT] = "constant"};

    str_add(line, ", \"memories\": [");
    for (size_t i = 0; i < shot->nr_memories; i++) {
        const struct shot_memory *m = &shot->memories[i];

        str_addf(line, "%s{\"bytes\": %llu, \"kind\": \"%s\", ", i > 0 ? ", " : "",
            (unsigned long long)m->is.bytes, kinds[m->is.kind]);
        if (m->is.name != NULL)
            str_addf(line, "\"name\": \"%s\", ", m->is.name);
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
    pthread_mutex_lock(&lock);
    if (recorder.lines != NULL) {
        fwrite(line->text, 1, line->len, recorder.lines);
        fflush(recorder.lines);
    }
    pthread_mutex_unlock(&lock);
    str_finish(line);
}

static bool wants(const struct kernel_total *total)
{
    return (recorder.kernel == NULL || strstr(total->name, recorder.kernel) != NULL) &&
           total->nr_launches >= recorder.nr_skipped && total->nr_recorded < recorder.nr_each;
}

bool record_wants(const char *kernel)
{
    bool wanted;

    pthread_mutex_lock(&lock);
    wanted = wants(total_of(kernel));
    pthread_mutex_unlock(&lock);
    return wanted;
}

/* True: it is to be recorded. nth: of its kernel. */
static bool count(const struct record_launch *launch, uint64_t *nth, uint64_t *order)
{
    struct kernel_total *total;
    bool wanted;

    pthread_mutex_lock(&lock);
    total = total_of(launch->kernel);
    wanted = wants(total);
    *nth = total->nr_launches++;
    *order = recorder.order++;
    total->nr_recorded += wanted;
    total->threads += (double)launch->grid[0] * launch->grid[1] * launch->grid[2] *
                      launch->block[0] * launch->block[1] * launch->block[2];
    if (recorder.lines != NULL && clock_ns() / 1e9 > recorder.written_s + 1)
        write_totals(false);
    pthread_mutex_unlock(&lock);
    return wanted;
}

struct record_shot *record_begin(const struct record_launch *launch, struct record_view *view)
{
    struct str line = {0};
    struct record_shot *shot;
    uint64_t nth, order;

    if (!count(launch, &nth, &order))
        return NULL;
    shot = xcalloc(1, sizeof(*shot));
    shot->order = order;
    str_addf(&line,
        "{\"event\": \"begin\", \"order\": %llu, \"kernel\": \"%s\", \"launch\": %llu, "
        "\"device\": %d",
        (unsigned long long)order, launch->kernel, (unsigned long long)nth, launch->device);
    add_three(&line, "grid", launch->grid);
    add_three(&line, "block", launch->block);
    add_three(&line, "cluster", launch->cluster);
    str_addf(&line, ", \"smem_bytes\": %u, \"stream\": \"%llx\", \"params\": [", launch->smem_bytes,
        (unsigned long long)launch->stream);
    for (unsigned i = 0; i < launch->nr_params; i++) {
        str_add(&line, i > 0 ? ", " : "");
        add_param(view, shot, &line, &launch->params[i]);
    }
    str_add(&line, "]");
    add_variables(view, shot);
    add_memories(shot, &line);
    put_line(&line);
    return shot;
}

/* Where the contents before are known, memory that the launch stored into may be unchanged. */
static bool after_launch(struct record_view *view, struct record_shot *shot, size_t i)
{
    const struct shot_memory *m = &shot->memories[i];
    const bool fits = m->is.bytes <= recorder.bytes_left;
    uint8_t *after;
    bool changed = true;

    if (!m->kept || (m->before == NULL && !fits))
        return true;
    after = xmalloc(m->is.bytes);
    if (!view->read(view, m->is.address, after, m->is.bytes) ||
        (m->before != NULL && memcmp(after, m->before, m->is.bytes) == 0))
        changed = false;
    else if (take_from_limit(m->is.bytes))
        write_raw(shot, i, "after", after, m->is.bytes);
    free(after);
    return changed;
}

static void add_after(struct record_view *view, struct record_shot *shot, struct str *line)
{
    struct str stored = {0}, changed = {0};

    for (size_t i = 0; i < shot->nr_memories; i++) {
        const struct record_memory *m = &shot->memories[i].is;

        if (m->kind == RECORD_CONSTANT || (view->stored != NULL && !view->stored(view, m->address)))
            continue;
        const bool other = after_launch(view, shot, i);

        if (other || view->stored != NULL)
            str_addf(&stored, "%s%zu", stored.len > 0 ? ", " : "", i);
        if (other)
            str_addf(&changed, "%s%zu", changed.len > 0 ? ", " : "", i);
    }
    str_addf(line, ", \"stored\": [%s], \"changed\": [%s]", str_text(&stored), str_text(&changed));
    str_finish(&stored);
    str_finish(&changed);
}

void record_took(const char *kernel, const struct record_time *time)
{
    struct kernel_total *total;

    pthread_mutex_lock(&lock);
    total = total_of(kernel);
    total->nr_timed++;
    total->time_ns += time->time_ns;
    total->floor_ns += time->floor_ns;
    pthread_mutex_unlock(&lock);
}

void record_end(const char *kernel, struct record_shot *shot, struct record_view *view,
    const struct record_time *time, const char *fault)
{
    struct str line = {0};

    if (time != NULL && time->time_ns > 0)
        record_took(kernel, time);
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
        add_after(view, shot, &line);
    put_line(&line);
    for (size_t i = 0; i < shot->nr_memories; i++)
        free(shot->memories[i].before);
    free(shot->memories);
    free(shot);
}
