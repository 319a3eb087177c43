/* Decodes what tests/gpu/record stored on a machine with a GPU, by CUPTI's host half, and compares
 * it with what Nsight Compute printed for the same kernels. Where nothing was recorded, or CUPTI
 * cannot be opened, it says so and counts as skipped.
 *
 *     recorded [FOLDER]      default: tests/gpu/recorded */
#include "base/arena.h"
#include "base/file.h"
#include "base/mem.h"
#include "explain/import_ncu.h"
#include "nv/cupti.h"
#include "nv/cupti_trace.h"
#include "nv/energy.h"
#include "nv/metrics_map.h"
#include "tests/sanitized.h"

#include <dirent.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SKIPPED = 77, MOST_SAMPLES = 10000 };

/* Counts are the same each time. Times, rates and hits are those of another run. Conflicts of banks
 * include those with other warps' requests, which differ from run to run: of the wavefronts, this
 * much. Where the data stay in L2, what goes to DRAM all the same is noise: of what L2 reads and is
 * given to write, this much. */
static const double count_tolerance = 0.01, rate_tolerance = 0.25, points = 5;
static const double conflict_noise = 0.03, dram_noise = 0.1;
enum { SECTOR_BYTES = 32 };

struct folder {
    char path[3000];
    struct arena *arena;
    struct cupti *cupti;
    char chip[64];
    const char *names[METRICS_MAP_NAMES];
    unsigned nr_names;
    bool alike; /* Nsight Compute left caches and clocks as they are, as the recorder does */
    unsigned nr_wrong, nr_compared, nr_unlike;
};

static void wrong(struct folder *f, const char *kernel, const char *what, double a, double b)
{
    printf("WRONG %s: %s: %.9g, expected %.9g\n", kernel, what, a, b);
    f->nr_wrong++;
}

static bool read_text(struct folder *f, const char *name, char **text, size_t *len, struct err *err)
{
    char path[4096];

    snprintf(path, sizeof(path), "%s/%s", f->path, name);
    return file_read(path, 64 << 20, text, len, err);
}

/* ---- counters ---- */

static bool is_exact(enum metric metric)
{
    const char *unit = metric_unit(metric);

    return strcmp(unit, "ns") != 0 && strcmp(unit, "cycle") != 0 && strcmp(unit, "%") != 0 &&
           metric != METRIC_DRAM_BYTES && metric != METRIC_L2_SECTORS;
}

/* By default Nsight Compute empties the caches and locks the clocks: these are then of another
 * situation. */
static bool is_unlike(const struct folder *f, enum metric metric)
{
    return !f->alike && (metric == METRIC_TIME_NS || metric == METRIC_CYCLES ||
                            metric == METRIC_DRAM_BYTES || metric == METRIC_DRAM_PCT ||
                            metric == METRIC_L2_SECTORS || metric == METRIC_OCCUPANCY_ACHIEVED_PCT);
}

static double allowed_of(enum metric metric, const struct counters *theirs)
{
    const double b = fabs(counters_get(theirs, metric));

    switch (metric) {
    case METRIC_SHARED_LD_CONFLICTS:
        return count_tolerance * b +
               conflict_noise * counters_get(theirs, METRIC_SHARED_LD_WAVEFRONTS);
    case METRIC_SHARED_ST_CONFLICTS:
        return count_tolerance * b +
               conflict_noise * counters_get(theirs, METRIC_SHARED_ST_WAVEFRONTS);
    case METRIC_DRAM_BYTES:
        return rate_tolerance * b + dram_noise * SECTOR_BYTES *
                                        (counters_get(theirs, METRIC_L2_SECTORS) +
                                            counters_get(theirs, METRIC_GLOBAL_ST_SECTORS));
    default:
        return is_exact(metric)
                   ? count_tolerance * b
                   : rate_tolerance * b + (strcmp(metric_unit(metric), "%") == 0 ? points : 0);
    }
}

/* Only what is one of the chip's own metrics: sums and quotients are ours. */
static void compare(struct folder *f, const char *kernel, const struct counters *ours,
    const struct counters *theirs)
{
    unsigned nr_rows;
    const struct metrics_map_row *rows = metrics_map_rows(&nr_rows);

    for (unsigned r = 0; r < nr_rows; r++) {
        const enum metric metric = rows[r].metric;
        const double a = counters_get(ours, metric), b = counters_get(theirs, metric);

        if (rows[r].terms[1].name || rows[r].over || !counters_has(ours, metric) ||
            !counters_has(theirs, metric))
            continue;
        if (is_unlike(f, metric)) {
            f->nr_unlike++;
            continue;
        }
        f->nr_compared++;
        if (fabs(a - b) > allowed_of(metric, theirs))
            wrong(f, kernel, metric_name(metric), a, b);
    }
}

static bool decode(struct folder *f, const char *kernel, struct counters *counters, struct err *err)
{
    struct cupti_config *config =
        cupti_config_create(f->cupti, f->chip, f->names, f->nr_names, err);
    double values[METRICS_MAP_NAMES];
    char name[320], *image;
    size_t bytes;
    bool ok;

    if (config == NULL)
        return false;
    snprintf(name, sizeof(name), "%s/counters.bin", kernel);
    ok = read_text(f, name, &image, &bytes, err);
    if (ok) {
        ok = cupti_evaluate(config, (const uint8_t *)image, bytes, 0, values, err);
        free(image);
    }
    if (ok)
        metrics_map_apply(f->names, values, f->nr_names, counters);
    cupti_config_destroy(config);
    return ok;
}

static bool check_counters(struct folder *f, const char *kernel, struct err *err)
{
    struct counters counters = {0};
    struct import import;
    char path[4096];

    if (!decode(f, kernel, &counters, err))
        return false;
    if (!counters_has(&counters, METRIC_THREAD_INST) ||
        counters_get(&counters, METRIC_THREAD_INST) <= 0)
        wrong(f, kernel, "instructions", counters_get(&counters, METRIC_THREAD_INST), 1);
    snprintf(path, sizeof(path), "%s/%s/ncu.csv", f->path, kernel);
    if (!file_exists(path)) {
        printf("%s: nothing of Nsight Compute's was recorded\n", kernel);
        return true;
    }
    if (!import_ncu_file(&import, f->arena, path, err))
        return false;
    if (import.nr_kernels != 1)
        wrong(f, kernel, "kernels in ncu.csv", import.nr_kernels, 1);
    else
        compare(f, kernel, &counters, &import.kernels[0].counters);
    return true;
}

/* ---- activity and energy ---- */

static bool check_trace(struct folder *f, const char *kernel, struct err *err)
{
    struct trace_kernel kernels[64];
    struct trace trace = {.kernels = kernels};
    unsigned long long start, end;
    char name[320], *text, *line;
    struct trace_span span;
    size_t len;

    snprintf(name, sizeof(name), "%s/trace.txt", kernel);
    if (!read_text(f, name, &text, &len, err))
        return false;
    for (line = strtok(text, "\n"); line && trace.nr < 64; line = strtok(NULL, "\n")) {
        struct trace_kernel *k = &kernels[trace.nr];

        if (sscanf(line, "%127s %llu %llu", k->name, &start, &end) != 3 || end <= start) {
            wrong(f, kernel, "a line of trace.txt", trace.nr, 0);
            continue;
        }
        if (strcmp(k->name, kernel) != 0)
            wrong(f, kernel, "another kernel in trace.txt", trace.nr, 0);
        k->start_ns = start;
        k->end_ns = end;
        trace.nr++;
    }
    free(text);
    span = trace_span(&trace);
    printf("%s: %u launches in %.3g us, %.3g us of it idle\n", kernel, trace.nr, span.span_ns / 1e3,
        span.gap_ns / 1e3);
    if (trace.nr != 5 || span.gap_ns < 0 || span.gap_ns >= span.span_ns)
        wrong(f, kernel, "the span", span.gap_ns, span.span_ns);
    return true;
}

static bool check_energy(struct folder *f, const char *kernel, struct err *err)
{
    struct energy_sample *samples = xcalloc(MOST_SAMPLES, sizeof(*samples));
    struct energy_options options = energy_defaults();
    struct energy_estimate e;
    char path[4096], line[128];
    unsigned nr = 0;
    FILE *file;

    snprintf(path, sizeof(path), "%s/%s/energy.csv", f->path, kernel);
    file = fopen(path, "re");
    if (file == NULL) {
        printf("%s: no energy was recorded\n", kernel);
        free(samples);
        return true;
    }
    (void)err;
    while (fgets(line, sizeof(line), file) && nr < MOST_SAMPLES) {
        struct energy_sample *s = &samples[nr];

        nr += sscanf(line, "%lf,%lf,%lf", &s->time_s, &s->nr_launches, &s->energy_j) == 3;
    }
    fclose(file);
    energy_estimate(samples, nr, &options, &e);
    free(samples);
    if (!e.known)
        printf("%s: %s\n", kernel, e.reason);
    if (!e.known || !(e.low <= e.joules && e.joules <= e.high) || e.power_w < 30 ||
        e.power_w > 1200)
        wrong(f, kernel, "watts", e.power_w, 400);
    else
        printf("%s: %.4g J per launch (%.4g to %.4g), %.0f W\n", kernel, e.joules, e.low, e.high,
            e.power_w);
    return true;
}

/* ---- the folder ---- */

static bool read_about(struct folder *f, struct err *err)
{
    char *text, *line;
    size_t len;

    if (!read_text(f, "about.txt", &text, &len, err))
        return false;
    printf("%s", text);
    if (sscanf(text, "chip %63s", f->chip) != 1) {
        free(text);
        return err_set(err, "about.txt names no chip");
    }
    f->alike = strstr(text, "\nncu caches and clocks as they are") != NULL;
    free(text);
    if (!read_text(f, "names.txt", &text, &len, err))
        return false;
    for (line = strtok(text, "\n"); line && f->nr_names < METRICS_MAP_NAMES;
         line = strtok(NULL, "\n"))
        f->names[f->nr_names++] = arena_strdup(f->arena, line);
    free(text);
    return true;
}

static bool check_kernels(struct folder *f, struct err *err)
{
    DIR *dir = opendir(f->path);
    struct dirent *entry;
    unsigned nr = 0;
    bool ok = dir != NULL;

    while (ok && (entry = readdir(dir)) != NULL) {
        char image[4096];

        snprintf(image, sizeof(image), "%s/%.200s/counters.bin", f->path, entry->d_name);
        if (entry->d_name[0] == '.' || !file_exists(image))
            continue;
        nr++;
        ok = check_counters(f, entry->d_name, err) && check_trace(f, entry->d_name, err) &&
             check_energy(f, entry->d_name, err);
    }
    if (dir)
        closedir(dir);
    printf("%u kernels, %u values compared with Nsight Compute's, %u wrong\n", nr, f->nr_compared,
        f->nr_wrong);
    if (f->nr_unlike > 0)
        printf(
            "%u values not compared: Nsight Compute had emptied the caches and locked the clocks\n",
            f->nr_unlike);
    return ok && (nr > 0 || err_set(err, "%s: no kernels", f->path));
}

int main(int argc, char **argv)
{
    struct folder f = {0};
    struct err err;
    bool ok;

    snprintf(
        f.path, sizeof(f.path), "%s", argc > 1 ? argv[1] : KEET_SOURCE_DIR "/tests/gpu/recorded");
    if (!file_exists(f.path)) {
        printf("skipped: nothing was recorded on a GPU yet; on a machine with one, run "
               "tests/gpu/record\n");
        return SKIPPED;
    }
    /* AddressSanitizer ends a process that opens a library with RTLD_DEEPBIND, as CUPTI does. */
    if (KEET_SANITIZED && getenv("KEET_CUPTI") == NULL) {
        printf("skipped: CUPTI cannot be opened under AddressSanitizer\n");
        return SKIPPED;
    }
    f.cupti = cupti_open(&err);
    if (f.cupti == NULL) {
        printf("skipped: %s\n", err.text);
        return SKIPPED;
    }
    f.arena = arena_create();
    ok = read_about(&f, &err) && check_kernels(&f, &err);
    if (!ok)
        printf("%s\n", err.text);
    cupti_close(f.cupti);
    arena_destroy(f.arena);
    return ok && f.nr_wrong == 0 ? 0 : 1;
}
