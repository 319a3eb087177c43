/* Owns the reading of Nsight Compute's CSV into counters. */
#include "explain/import_ncu.h"

#include "base/file.h"
#include "base/mem.h"
#include "base/proc.h"
#include "base/str.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { MAX_FIELDS = 16384, MAX_KERNELS = 1000000, MAX_FILE_BYTES = 1 << 30 };

/* ---- CSV ---- */

struct record {
    char **fields; /* grown by the reader; texts in the arena */
    size_t nr, cap;
};

struct csv_reader {
    struct arena *arena;
    const char *at, *end;
    unsigned line;
    char delimiter;
    bool decimal_comma; /* the file's commas are decimal marks */
};

static const char *end_of_line(const char *at, const char *end)
{
    const char *newline = memchr(at, '\n', (size_t)(end - at));

    return newline ? newline : end;
}

static void skip_line(struct csv_reader *r)
{
    const char *end = end_of_line(r->at, r->end);

    r->at = end < r->end ? end + 1 : end;
    r->line++;
}

/* One field, with its quotes undone; leaves `at` on the delimiter or the line's end. */
static char *read_field(struct csv_reader *r, struct str *text)
{
    bool quoted = r->at < r->end && *r->at == '"';

    str_clear(text);
    r->at += quoted;
    while (r->at < r->end) {
        char c = *r->at;

        if (quoted && c == '"') {
            if (r->at + 1 < r->end && r->at[1] == '"') {
                r->at++;
            } else {
                quoted = false;
                r->at++;
                continue;
            }
        } else if (!quoted && (c == r->delimiter || c == '\n')) {
            break;
        }
        r->line += c == '\n';
        if (c != '\r' && c != '\0') {
            str_add_char(text, c);
        }
        r->at++;
    }
    while (text->len > 0 && text->text[text->len - 1] == ' ') {
        text->text[--text->len] = '\0';
    }
    return arena_strndup(r->arena, str_text(text), text->len);
}

static bool read_record(struct csv_reader *r, struct record *record)
{
    struct str text = {0};

    record->nr = 0;
    if (r->at >= r->end) {
        return false;
    }
    while (record->nr < MAX_FIELDS) {
        if (record->nr == record->cap) {
            record->cap = record->cap ? 2 * record->cap : 32;
            record->fields = xrealloc(record->fields, record->cap * sizeof(*record->fields));
        }
        record->fields[record->nr++] = read_field(r, &text);
        if (r->at >= r->end || *r->at != r->delimiter) {
            break;
        }
        r->at++;
    }
    str_finish(&text);
    skip_line(r); /* over the newline, and over the rest of an absurdly long row */
    return true;
}

/* ---- the header ---- */

struct columns {
    struct record names;
    int id, process, kernel, grid, block, device, metric_name, metric_unit, metric_value;
};

static int column(const struct record *names, const char *name)
{
    for (size_t i = 0; i < names->nr; i++) {
        if (strcasecmp(names->fields[i], name) == 0) {
            return (int)i;
        }
    }
    return -1;
}

/* Lines before and between tables are the program's own output and ==PROF== messages. */
static bool is_header(const struct csv_reader *r)
{
    const char *at = r->at, *end = end_of_line(at, r->end);

    if (end - at >= 3 && memcmp(at, "\xEF\xBB\xBF", 3) == 0) {
        at += 3;
    }
    return end - at > 8 && (strncmp(at, "\"ID\"", 4) == 0 || strncmp(at, "ID,", 3) == 0 ||
                               strncmp(at, "ID;", 3) == 0);
}

static void read_header(struct csv_reader *r, struct columns *c)
{
    if (r->end - r->at >= 3 && memcmp(r->at, "\xEF\xBB\xBF", 3) == 0) {
        r->at += 3;
    }
    r->delimiter = r->at[*r->at == '"' ? 4 : 2] == ';' ? ';' : ',';
    read_record(r, &c->names);
    c->id = column(&c->names, "ID");
    c->process = column(&c->names, "Process ID");
    c->kernel = column(&c->names, "Kernel Name");
    c->grid = column(&c->names, "Grid Size");
    c->block = column(&c->names, "Block Size");
    c->device = column(&c->names, "Device Name");
    c->metric_name = column(&c->names, "Metric Name");
    c->metric_unit = column(&c->names, "Metric Unit");
    c->metric_value = column(&c->names, "Metric Value");
}

static const char *field(const struct record *row, int column)
{
    return column >= 0 && (size_t)column < row->nr ? row->fields[column] : "";
}

/* ---- numbers ---- */

static bool is_grouped(const char *at, char mark)
{
    const char *first = strchr(at, mark);

    while (first) {
        size_t digits = strspn(first + 1, "0123456789");

        if (digits != 3) {
            return false;
        }
        first = first[4] == mark ? first + 4 : NULL;
    }
    return true;
}

/* Does this value show what commas mean in the file? 1: decimal, -1: thousands, 0: no. */
static int comma_says(const char *text)
{
    const char *comma = strchr(text, ','), *dot = strchr(text, '.');

    if (!comma || text[strspn(text, "+-0123456789.,eE%")] != '\0') {
        return 0;
    }
    if (dot) {
        return strrchr(text, '.') > strrchr(text, ',') ? -1 : 1;
    }
    if (strchr(comma + 1, ',')) {
        return -1;
    }
    return is_grouped(text, ',') && strcspn(text + strspn(text, "+-"), "0") != 0 ? 0 : 1;
}

static bool read_number(const struct csv_reader *r, const char *text, double *value)
{
    char plain[64];
    char decimal = '.';
    size_t nr = 0;
    char *end;

    if (strlen(text) >= sizeof(plain) || !strpbrk(text, "0123456789")) {
        return false;
    }
    if (comma_says(text) > 0 || (r->decimal_comma && strchr(text, ',') && comma_says(text) == 0) ||
        (r->decimal_comma && !strchr(text, ',') && strchr(text, '.') && is_grouped(text, '.'))) {
        decimal = ',';
    }
    for (const char *at = text; *at; at++) {
        if (*at == decimal) {
            plain[nr++] = '.';
        } else if (*at != ',' && *at != '.' && *at != ' ' && *at != '\'') {
            plain[nr++] = *at;
        }
    }
    plain[nr] = '\0';
    if (!isdigit((unsigned char)plain[0]) && !strchr("+-.", plain[0])) {
        return false; /* nan, inf, 0x */
    }
    *value = strtod(plain, &end);
    return end != plain && (*end == '\0' || *end == '%') && isfinite(*value) &&
           !strpbrk(plain, "xXpP");
}

/* The factor from a unit to our base unit: 1000 for Kbyte where the base unit is bytes. */
static double unit_scale(const char *unit)
{
    static const struct {
        const char *unit;
        double scale;
    } times[] = {{"ns", 1}, {"nsecond", 1}, {"us", 1e3}, {"usecond", 1e3}, {"ms", 1e6},
        {"msecond", 1e6}, {"s", 1e9}, {"second", 1e9}};
    size_t len = strcspn(unit, "/");

    for (size_t i = 0; i < ARRAY_SIZE(times); i++) {
        if (strncmp(unit, times[i].unit, len) == 0 && times[i].unit[len] == '\0') {
            return times[i].scale;
        }
    }
    if (len > 1 && islower((unsigned char)unit[1])) {
        switch (unit[0]) {
        case 'K':
            return 1e3;
        case 'M':
            return 1e6;
        case 'G':
            return 1e9;
        case 'T':
            return 1e12;
        default:
            break;
        }
    }
    return 1;
}

/* ---- metrics ---- */

/* The labels of the details page (sections SpeedOfLight, LaunchStats, Occupancy,
 * MemoryWorkloadAnalysis, InstructionStats, SchedulerStats) for metrics that we know. */
static const struct {
    const char *label;
    enum metric metric;
} labels[] = {
    {"Duration", METRIC_TIME_NS},
    {"Elapsed Cycles", METRIC_CYCLES},
    {"DRAM Throughput", METRIC_DRAM_PCT},
    {"Memory Throughput", METRIC_MEMORY_PCT}, /* with another unit: bytes a second, of DRAM */
    {"SOL Memory", METRIC_MEMORY_PCT},        /* before 2022 */
    {"Memory [%]", METRIC_MEMORY_PCT},
    {"Compute (SM) Throughput", METRIC_SM_PCT},
    {"SOL SM", METRIC_SM_PCT},
    {"SM [%]", METRIC_SM_PCT},
    {"L1/TEX Hit Rate", METRIC_L1_HIT_PCT},
    {"L2 Hit Rate", METRIC_L2_HIT_PCT},
    {"Executed Instructions", METRIC_WARP_INST},
    {"One or More Eligible", METRIC_ISSUE_PCT},
    {"Registers Per Thread", METRIC_REGISTERS},
    {"Static Shared Memory Per Block", METRIC_SMEM_STATIC},
    {"Dynamic Shared Memory Per Block", METRIC_SMEM_DYNAMIC},
    {"Block Size", METRIC_BLOCK_THREADS},
    {"Grid Size", METRIC_GRID_BLOCKS},
    {"Waves Per SM", METRIC_WAVES},
    {"Block Limit SM", METRIC_OCC_LIMIT_BLOCKS},
    {"Block Limit Registers", METRIC_OCC_LIMIT_REGISTERS},
    {"Block Limit Shared Mem", METRIC_OCC_LIMIT_SMEM},
    {"Block Limit Warps", METRIC_OCC_LIMIT_WARPS},
    {"Theoretical Occupancy", METRIC_OCCUPANCY_PCT},
    {"Achieved Occupancy", METRIC_OCCUPANCY_ACHIEVED_PCT},
};

static bool find_metric(const char *name, enum metric *metric)
{
    if (metric_parse(name, metric)) {
        return true;
    }
    for (size_t i = 0; i < ARRAY_SIZE(labels); i++) {
        if (strcmp(labels[i].label, name) == 0) {
            *metric = labels[i].metric;
            return true;
        }
    }
    return false;
}

struct building {
    struct imported_kernel kernel;
    const char *process;
    double stalls;                     /* all stall ratios, those unknown to us included */
    double tensor_pipe, tensor_halves; /* instructions; NAN: not given */
};

struct list {
    struct building *all;
    size_t nr, cap;
};

static void add_value(const struct csv_reader *r, struct building *b, const char *name,
    const char *unit, const char *text)
{
    static const char stall[] = "smsp__average_warps_issue_stalled_";
    enum metric metric;
    double value;
    bool known = find_metric(name, &metric);

    if (!*text || !*name) {
        return;
    }
    /* One label may stand for a share and for a rate. */
    known = known && (strcmp(metric_unit(metric), "%") != 0 || !*unit || strcmp(unit, "%") == 0);
    if (!read_number(r, text, &value)) {
        b->kernel.nr_unreadable += known;
        b->kernel.nr_other += !known;
        return;
    }
    if (str_starts(name, stall) && str_ends(name, "_per_issue_active.pct") &&
        !strstr(name, "not_issued")) {
        b->stalls += value;
    }
    if (strcmp(name, "sm__inst_executed_pipe_tensor.sum") == 0) {
        b->tensor_pipe = value;
        return;
    }
    if (strcmp(name, "sm__inst_executed_pipe_tensor_op_hmma_type_hfma2.sum") == 0) {
        b->tensor_halves = value;
        return;
    }
    if (!known) {
        b->kernel.nr_other++;
        return;
    }
    if (strcmp(metric_unit(metric), "%") != 0) {
        value *= unit_scale(unit);
    }
    counters_set(&b->kernel.counters, metric, value, PROV_MEASURED);
}

/* Nsight Compute gives a stall as warps per issued instruction, times 100. We keep its share of all
 * stalls, so that the stalls add up to 100. */
static void share_stalls(struct building *b)
{
    for (int m = METRIC_STALL_LONG_PCT; m <= METRIC_STALL_OTHER_PCT; m++) {
        struct counter *c = &b->kernel.counters.metric[m];

        if (c->from != PROV_ABSENT && b->stalls > 0) {
            c->value *= 100 / b->stalls;
        }
    }
}

/* HFMA2, by which constants are moved in any kernel, shares the pipe with matrix instructions. How
 * many of the two a count of the pipe has is known where the count is 0, or HFMA2 has its own. */
static void count_matrix_insts(struct building *b)
{
    const double halves = b->tensor_pipe <= 0 ? 0 : b->tensor_halves;
    const double left = b->tensor_pipe - halves;

    if (isfinite(left)) {
        counters_set(&b->kernel.counters, METRIC_INST_TENSOR, fmax(left, 0), PROV_MEASURED);
    }
}

/* "(128, 1, 1)" */
static void read_extents(const char *text, unsigned extents[3])
{
    for (int i = 0; i < 3; i++) {
        char *end;

        text += strcspn(text, "0123456789");
        if (!*text) {
            return;
        }
        extents[i] = (unsigned)strtoul(text, &end, 10);
        text = end;
    }
}

static void fill_launch(struct building *b)
{
    struct counters *c = &b->kernel.counters;
    const unsigned *grid = b->kernel.grid, *block = b->kernel.block;

    if (block[0] > 0 && !counters_has(c, METRIC_BLOCK_THREADS)) {
        counters_set(
            c, METRIC_BLOCK_THREADS, (double)block[0] * block[1] * block[2], PROV_MEASURED);
    }
    if (grid[0] > 0 && !counters_has(c, METRIC_GRID_BLOCKS)) {
        counters_set(c, METRIC_GRID_BLOCKS, (double)grid[0] * grid[1] * grid[2], PROV_MEASURED);
    }
    if (!counters_has(c, METRIC_WARPS_LAUNCHED) && block[0] > 0 && grid[0] > 0) {
        double warps = ceil((double)block[0] * block[1] * block[2] / 32);

        counters_set(c, METRIC_WARPS_LAUNCHED, warps * grid[0] * grid[1] * grid[2], PROV_MEASURED);
    }
}

static struct building *start_kernel(
    struct list *list, const struct columns *c, const struct record *row)
{
    struct building *b;

    if (list->nr == list->cap) {
        list->cap = list->cap ? 2 * list->cap : 16;
        list->all = xrealloc(list->all, list->cap * sizeof(*list->all));
    }
    b = &list->all[list->nr++];
    *b = (struct building){
        .process = field(row, c->process), .tensor_pipe = NAN, .tensor_halves = NAN};
    b->kernel.id = field(row, c->id);
    b->kernel.name = field(row, c->kernel);
    b->kernel.device = field(row, c->device);
    read_extents(field(row, c->grid), b->kernel.grid);
    read_extents(field(row, c->block), b->kernel.block);
    return b;
}

/* Rows of one launch stand together, in every version seen; so looking back from the end is quick.
 */
static struct building *find_kernel(
    struct list *list, size_t first, const struct columns *c, const struct record *row)
{
    for (size_t i = list->nr; i > first && i + 8 > list->nr; i--) {
        struct building *b = &list->all[i - 1];

        if (strcmp(b->kernel.id, field(row, c->id)) == 0 &&
            strcmp(b->process, field(row, c->process)) == 0) {
            return b;
        }
    }
    return start_kernel(list, c, row);
}

/* ---- the two pages ---- */

static bool is_launch_row(const struct columns *c, const struct record *row)
{
    const char *id = field(row, c->id);

    return *id && id[strspn(id, "0123456789")] == '\0' && row->nr > (size_t)c->kernel;
}

static void read_raw_row(const struct csv_reader *r, struct list *list, const struct columns *c,
    const struct record *units, const struct record *row)
{
    struct building *b = start_kernel(list, c, row);

    for (size_t i = 0; i < c->names.nr && i < row->nr; i++) {
        const char *name = c->names.fields[i];

        if (strstr(name, "__")) {
            add_value(r, b, name, i < units->nr ? units->fields[i] : "", row->fields[i]);
        }
    }
}

static void read_table(struct csv_reader *r, struct list *list, struct columns *c, bool *raw)
{
    struct record row = {0}, units = {0};
    size_t first = list->nr;

    *raw = c->metric_name < 0;
    while (r->at < r->end && list->nr < MAX_KERNELS) {
        if (is_header(r)) {
            break;
        }
        if (str_starts(r->at, "==")) {
            skip_line(r);
            continue;
        }
        read_record(r, &row);
        if (*raw && units.nr == 0 && row.nr > 4 && !*field(&row, c->id)) {
            struct record swap = units;

            units = row;
            row = swap;
        } else if (!is_launch_row(c, &row)) {
            continue;
        } else if (*raw) {
            read_raw_row(r, list, c, &units, &row);
        } else if (*field(&row, c->metric_name)) {
            add_value(r, find_kernel(list, first, c, &row), field(&row, c->metric_name),
                field(&row, c->metric_unit), field(&row, c->metric_value));
        }
    }
    free(row.fields);
    free(units.fields);
}

/* Looks at all values once, to learn the meaning of a comma in this file. */
static bool has_decimal_commas(const char *text, size_t len)
{
    struct arena *arena = arena_create();
    struct csv_reader r = {.arena = arena, .at = text, .end = text + len, .delimiter = ','};
    struct record row = {0};
    int decimal = 0, thousands = 0;

    while (r.at < r.end && !is_header(&r)) {
        skip_line(&r);
    }
    if (r.at < r.end) {
        struct columns c = {0};

        read_header(&r, &c);
        free(c.names.fields);
    }
    while (read_record(&r, &row)) {
        for (size_t i = 0; i < row.nr; i++) {
            int says = comma_says(row.fields[i]);

            decimal += says > 0;
            thousands += says < 0;
        }
        arena_reset(arena);
    }
    free(row.fields);
    arena_destroy(arena);
    return decimal > thousands;
}

bool import_ncu_read(
    struct import *import, struct arena *arena, const char *text, size_t len, struct err *err)
{
    char *copy = arena_strndup(arena, text, len); /* ended by NUL, whatever was handed in */
    struct csv_reader r = {.arena = arena, .at = copy, .end = copy + strlen(copy), .line = 1};
    struct list list = {0};
    unsigned nr_tables = 0;

    *import = (struct import){0};
    r.decimal_comma = has_decimal_commas(copy, strlen(copy));
    while (r.at < r.end) {
        struct columns c = {0};

        if (!is_header(&r)) {
            skip_line(&r);
            continue;
        }
        read_header(&r, &c);
        if (c.kernel >= 0) {
            read_table(&r, &list, &c, &import->raw);
            nr_tables++;
        }
        free(c.names.fields);
    }
    import->kernels = arena_array(arena, list.nr + 1, sizeof(*import->kernels));
    for (size_t i = 0; i < list.nr; i++) {
        share_stalls(&list.all[i]);
        count_matrix_insts(&list.all[i]);
        fill_launch(&list.all[i]);
        import->kernels[i] = list.all[i].kernel;
    }
    import->nr_kernels = (unsigned)list.nr;
    free(list.all);
    if (nr_tables == 0) {
        return err_set(err, "no Nsight Compute table: expected a line that begins with \"ID\" and "
                            "names \"Kernel Name\" (ncu --csv --page raw, or --page details)");
    }
    return list.nr > 0 || err_set(err, "the Nsight Compute table has no kernel");
}

/* ---- files ---- */

static bool convert_report(const char *path, struct proc_result *result, struct err *err)
{
    const char *argv[] = {
        "ncu", "--import", path, "--csv", "--page", "raw", "--print-units", "base", NULL};
    const struct proc_limits limits = {.time_s = 120};

    if (!proc_run(argv, &limits, result, err)) {
        return false;
    }
    if (result->end == PROC_EXITED && result->status == 0) {
        return true;
    }
    if (result->end == PROC_EXITED && result->status == 127) {
        err_set(err,
            "reading a .ncu-rep takes Nsight Compute's ncu, which is not in PATH; install "
            "it, or export with: ncu --import %s --csv --page raw > profile.csv",
            path);
    } else {
        err_set(err, "ncu --import failed: %.300s", result->errors ? result->errors : "");
    }
    proc_result_finish(result);
    return false;
}

bool import_ncu_file(struct import *import, struct arena *arena, const char *path, struct err *err)
{
    bool ok;

    if (str_ends(path, ".ncu-rep")) {
        struct proc_result result;

        if (!file_exists(path)) {
            return err_set(err, "%s: no such file", path);
        }
        if (!convert_report(path, &result, err)) {
            return err_wrap(err, "%s", path);
        }
        ok = import_ncu_read(import, arena, result.output, result.output_bytes, err);
        proc_result_finish(&result);
    } else {
        char *text;
        size_t len;

        if (!file_read(path, MAX_FILE_BYTES, &text, &len, err)) {
            return false;
        }
        ok = import_ncu_read(import, arena, text, len, err);
        free(text);
    }
    return ok || err_wrap(err, "%s", path);
}
