/* Owns chip files: the reader, the checks, and the chips that were read. */
#include "core/chip.h"

#include "base/arena.h"
#include "base/file.h"
#include "base/mem.h"
#include "base/str.h"

#include <math.h>
#include <pthread.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_FILE_BYTES = 1 << 16, OLDEST_CAPABILITY = 80 };

enum kind { KIND_COUNT, KIND_SIZE, KIND_REAL };

static const struct chip_field {
    const char *name;
    enum kind kind;
    size_t at;
    double least, most;
} fields[] = {
#define CHIP_FIELD(kind, name, least, most, meaning)                                               \
    {#name, KIND_##kind, offsetof(struct chip, name), least, most},
#include "core/chip_fields.def"
#undef CHIP_FIELD
};
enum { NR_FIELDS = ARRAY_SIZE(fields) };

static double value_of(const struct chip *chip, const struct chip_field *field)
{
    const unsigned char *at = (const unsigned char *)chip + field->at;

    return field->kind == KIND_COUNT  ? *(const unsigned *)(const void *)at
           : field->kind == KIND_SIZE ? (double)*(const uint64_t *)(const void *)at
                                      : *(const double *)(const void *)at;
}

bool chip_figure(const struct chip *chip, unsigned nr, char name[CHIP_NAME_BYTES], double *value)
{
    if (nr < NR_FIELDS) {
        snprintf(name, CHIP_NAME_BYTES, "%s", fields[nr].name);
        *value = value_of(chip, &fields[nr]);
        return true;
    }
    nr -= NR_FIELDS;
    for (unsigned i = 0; i < 2 * NR_WORKS; i++) {
        const struct peak *peak = &chip->peak[i / 2];

        *value = i % 2 ? peak->tensor_per_s : peak->vector_per_clk_sm;
        if (*value <= 0 || nr-- > 0)
            continue;
        snprintf(name, CHIP_NAME_BYTES, "%s.%s", work_name((enum work)(i / 2)),
            i % 2 ? "tensor_per_s" : "vector_per_clk_sm");
        return true;
    }
    return false;
}

/* A line "name = value # comment" of a file. */
struct chip_line {
    struct arena *arena; /* of the chip's texts */
    const char *file;
    unsigned nr;
    const char *name, *value;
};

static bool refuse(const struct chip_line *line, struct err *err, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

static bool refuse(const struct chip_line *line, struct err *err, const char *format, ...)
{
    va_list ap;
    struct str text = {0};

    va_start(ap, format);
    str_vaddf(&text, format, ap);
    va_end(ap);
    err_set(err, "%s:%u: %s", line->file, line->nr, str_text(&text));
    str_finish(&text);
    return false;
}

/* ---- values ---- */

static bool read_number(const struct chip_line *line, double *number, struct err *err)
{
    static const struct {
        const char *name;
        double bytes;
    } units[] = {{"", 1}, {"KiB", 1024}, {"MiB", 1048576}, {"GiB", 1073741824}};
    char *end;

    *number = strtod(line->value, &end);
    if (end == line->value || !isfinite(*number))
        return refuse(line, err, "%s: \"%s\" is no number", line->name, line->value);
    end += strspn(end, " \t");
    for (size_t i = 0; i < ARRAY_SIZE(units); i++) {
        if (strcmp(end, units[i].name) == 0) {
            *number *= units[i].bytes;
            return true;
        }
    }
    return refuse(
        line, err, "%s: \"%s\" behind the number; a unit is KiB, MiB or GiB", line->name, end);
}

static bool within(
    const struct chip_line *line, double number, double least, double most, struct err *err)
{
    return (number >= least && number <= most) ||
           refuse(line, err, "%s = %g; expected %.15g to %.15g", line->name, number, least, most);
}

static bool set_field(const struct chip_line *line, const struct chip_field *field,
    struct chip *chip, struct err *err)
{
    unsigned char *at = (unsigned char *)chip + field->at;
    double number;

    if (!read_number(line, &number, err) || !within(line, number, field->least, field->most, err))
        return false;
    if (field->kind != KIND_REAL && number != floor(number))
        return refuse(line, err, "%s = %g; expected a whole number", line->name, number);
    if (field->kind == KIND_COUNT)
        *(unsigned *)(void *)at = (unsigned)number;
    else if (field->kind == KIND_SIZE)
        *(uint64_t *)(void *)at = (uint64_t)number;
    else
        *(double *)(void *)at = number;
    return true;
}

/* f16_flops.tensor_per_s, int32_ops.vector_per_clk_sm */
static bool is_peak(const char *name, enum work *work, bool *tensor)
{
    const char *dot = strchr(name, '.');
    char kind[32];

    if (dot == NULL || (size_t)(dot - name) >= sizeof(kind))
        return false;
    memcpy(kind, name, (size_t)(dot - name));
    kind[dot - name] = '\0';
    *tensor = strcmp(dot, ".tensor_per_s") == 0;
    return (*tensor || strcmp(dot, ".vector_per_clk_sm") == 0) && work_find(kind, work) &&
           *work != WORK_FLOPS;
}

static bool set_peak(
    const struct chip_line *line, enum work work, bool tensor, struct chip *chip, struct err *err)
{
    double number;

    if (!read_number(line, &number, err) || !within(line, number, 0, tensor ? 1e18 : 1e6, err))
        return false;
    *(tensor ? &chip->peak[work].tensor_per_s : &chip->peak[work].vector_per_clk_sm) = number;
    return true;
}

static bool set_arch(const struct chip_line *line, struct chip *chip, struct err *err)
{
    const size_t digits =
        str_starts(line->value, "sm_") ? strspn(line->value + 3, "0123456789") : 0;
    const char *end = line->value + 3 + digits;

    if (digits < 2 || digits > 3 || !(*end == '\0' || strcmp(end, "a") == 0))
        return refuse(line, err, "arch = %s; expected sm_80, sm_90a, ...", line->value);
    if (strtoul(line->value + 3, NULL, 10) < OLDEST_CAPABILITY)
        return refuse(line, err, "arch = %s; the oldest is sm_%d", line->value, OLDEST_CAPABILITY);
    chip->arch = arena_strdup(line->arena, line->value);
    return true;
}

static bool set(const struct chip_line *line, struct chip *chip, struct err *err)
{
    enum work work;
    bool tensor;

    if (strcmp(line->name, "arch") == 0)
        return set_arch(line, chip, err);
    if (strcmp(line->name, "name") == 0 || strcmp(line->name, "validated") == 0) {
        *(line->name[0] == 'n' ? &chip->name : &chip->validated) =
            arena_strdup(line->arena, line->value);
        return true;
    }
    for (size_t i = 0; i < NR_FIELDS; i++)
        if (strcmp(line->name, fields[i].name) == 0)
            return set_field(line, &fields[i], chip, err);
    if (is_peak(line->name, &work, &tensor))
        return set_peak(line, work, tensor, chip, err);
    return refuse(line, err,
        "%s is no figure of a chip; docs/reference/chip-file.md has the list of them", line->name);
}

/* ---- lines ---- */

static char *trimmed(char *text)
{
    size_t len;

    text += strspn(text, " \t\r");
    for (len = strlen(text); len > 0 && strchr(" \t\r", text[len - 1]); len--)
        text[len - 1] = '\0';
    return text;
}

/* Makes *text a line of its own and returns what is behind it. An empty line has no name. */
static char *cut_line(char *text, struct chip_line *line, struct err *err, bool *ok)
{
    char *next = strchr(text, '\n'), *comment, *equals;

    line->nr++;
    line->name = NULL;
    if (next != NULL)
        *next++ = '\0';
    if ((comment = strchr(text, '#')) != NULL)
        *comment = '\0';
    text = trimmed(text);
    if (*text == '\0')
        return next;
    equals = strchr(text, '=');
    if (equals == NULL) {
        *ok = refuse(line, err, "expected a line such as nr_sms = 56");
        return next;
    }
    *equals = '\0';
    line->name = trimmed(text);
    line->value = trimmed(equals + 1);
    *ok = *line->value != '\0' || refuse(line, err, "%s has no value", line->name);
    return next;
}

static void list_keys(struct str *out)
{
    for (unsigned i = 0; chip_nth(i) != NULL; i++)
        str_addf(out, "%s%s", i ? ", " : "", chip_nth(i)->key);
}

/* The first line says what the figures that the file does not give are like. */
static bool begin(const struct chip_line *line, struct chip *chip, struct err *err)
{
    const struct chip *like = strcmp(line->name, "like") == 0 ? chip_find(line->value) : NULL;
    struct str keys = {0};

    if (like != NULL) {
        *chip = *like;
        chip->name = NULL;
        chip->validated = "figures by a chip file; times held to none";
        return true;
    }
    list_keys(&keys);
    refuse(line, err,
        "the first line is like = KEY: the chip whose figures hold where the file gives none (%s)",
        str_text(&keys));
    str_finish(&keys);
    return false;
}

/* What no line alone shows. */
static bool fits_together(const char *file, const struct chip *chip, struct err *err)
{
    if (chip->name == NULL)
        return err_set(err, "%s: there is no line name = ...", file);
    if (chip->smem_per_block_max_bytes + chip->smem_reserved_bytes > chip->smem_per_sm_bytes)
        return err_set(err,
            "%s: smem_per_block_max_bytes and smem_reserved_bytes are more than smem_per_sm_bytes",
            file);
    if (chip->smem_per_block_static_max_bytes > chip->smem_per_block_max_bytes)
        return err_set(
            err, "%s: smem_per_block_static_max_bytes is more than smem_per_block_max_bytes", file);
    if (chip->smem_per_sm_bytes > chip->l1_bytes)
        return err_set(err, "%s: smem_per_sm_bytes is more than l1_bytes, which has both", file);
    if (chip->max_threads_per_block > 32 * chip->max_warps_per_sm)
        return err_set(err, "%s: max_threads_per_block is more than max_warps_per_sm have", file);
    if (chip->lat_l1 > chip->lat_l2 || chip->lat_l2 > chip->lat_dram)
        return err_set(err, "%s: expected lat_l1 <= lat_l2 <= lat_dram", file);
    return chip->l2_bytes_per_s >= chip->dram_bytes_per_s ||
           err_set(err, "%s: l2_bytes_per_s is less than dram_bytes_per_s", file);
}

/* Twice the same name is a mistake. */
static bool is_new(const struct chip_line *line, struct str *seen, struct err *err)
{
    struct str word = {0};
    bool is;

    str_addf(&word, "\n%s\n", line->name);
    is = strstr(str_text(seen), str_text(&word)) == NULL;
    str_add(seen, str_text(&word));
    str_finish(&word);
    return is || refuse(line, err, "%s was given before", line->name);
}

static bool parse(
    const char *file, char *text, struct arena *arena, struct chip *chip, struct err *err)
{
    struct chip_line line = {.arena = arena, .file = file};
    struct str seen = {0};
    bool ok = true, begun = false;

    while (ok && text != NULL) {
        text = cut_line(text, &line, err, &ok);
        if (!ok || line.name == NULL)
            continue;
        ok = is_new(&line, &seen, err) && (begun ? set(&line, chip, err) : begin(&line, chip, err));
        begun = true;
    }
    str_finish(&seen);
    if (ok && !begun)
        ok = err_set(err, "%s is empty; the first line is like = h100, or another chip", file);
    return ok && fits_together(file, chip, err);
}

/* ---- chips that were read ---- */

/* They live as long as the process, since profiles and devices point to them. */
static struct read_chip {
    struct chip chip;
    struct arena *arena;
    struct read_chip *next;
} * read_chips;
static pthread_mutex_t read_lock = PTHREAD_MUTEX_INITIALIZER;

static const struct chip *read_file(const char *path, struct err *err)
{
    struct arena *arena = arena_create();
    struct read_chip *made = arena_alloc(arena, sizeof(*made));
    char *text = NULL;
    size_t bytes;
    bool ok;

    *made = (struct read_chip){.arena = arena, .next = read_chips};
    ok = file_read(path, MOST_FILE_BYTES, &text, &bytes, err) &&
         (strlen(text) == bytes || err_set(err, "%s is no text", path)) &&
         parse(path, text, arena, &made->chip, err);
    free(text);
    if (!ok) {
        arena_destroy(arena);
        return NULL;
    }
    made->chip.key = arena_strdup(arena, path);
    read_chips = made;
    return &made->chip;
}

const struct chip *chip_open(const char *name, struct err *err)
{
    const struct chip *chip = chip_find(name);
    struct str keys = {0};

    if (chip == NULL && strpbrk(name, "./") != NULL) {
        pthread_mutex_lock(&read_lock);
        for (struct read_chip *at = read_chips; at != NULL && chip == NULL; at = at->next)
            chip = strcmp(at->chip.key, name) == 0 ? &at->chip : NULL;
        if (chip == NULL)
            chip = read_file(name, err);
        pthread_mutex_unlock(&read_lock);
        return chip;
    }
    if (chip == NULL) {
        list_keys(&keys);
        err_set(err, "no chip \"%s\"; there are %s, and chip files by their path", name,
            str_text(&keys));
        str_finish(&keys);
    }
    return chip;
}

const struct chip *chip_of_device(const char *device)
{
    const char *colon = strchr(device, ':');
    struct err ignored;

    return colon != NULL ? chip_open(colon + 1, &ignored) : NULL;
}
