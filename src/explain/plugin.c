/* Owns the tools that users bring: their input, and the reading of their answers. */
#include "explain/plugin.h"

#include "base/mem.h"
#include "base/proc.h"
#include "explain/tool.h"

#include <dirent.h>
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { SCHEMA = 1, MOST_PER_TOOL = 2, MAX_OUTPUT_BYTES = 1 << 20, MAX_TOOLS = 64 };

static const double MOST_SHARE = 0.97;
enum { MOST_TEXT_BYTES = 360 };
static const double MOST_WEIGHT = 10;
static const uint64_t MEMORY_BYTES = 2ull << 30;

/* ---- the input of a tool ---- */

static json_t *metrics_of(const struct counters *n)
{
    json_t *all = json_object();

    for (int m = 0; m < NR_METRICS; m++) {
        if (counters_has(n, (enum metric)m)) {
            json_object_set_new(all, metric_name((enum metric)m),
                json_pack("{s:f, s:s, s:s}", "value", counters_get(n, (enum metric)m), "unit",
                    metric_unit((enum metric)m), "from", provenance_name(n->metric[m].from)));
        }
    }
    return all;
}

static json_t *facts_of(const struct compilation *compilation)
{
    json_t *all = json_array();

    for (unsigned i = 0; i < compilation->nr_kernels; i++) {
        const struct kernel_facts *f = &compilation->kernels[i];

        json_array_append_new(all,
            json_pack("{s:s, s:i, s:i, s:i}", "kernel", f->kernel, "registers", (int)f->registers,
                "spill_bytes", (int)(f->spill_store_bytes + f->spill_load_bytes), "smem_bytes",
                (int)f->smem_static_bytes));
    }
    return all;
}

static json_t *lines_of(const struct counters *n)
{
    json_t *all = json_array();

    for (unsigned i = 0; i < n->nr_lines; i++) {
        const struct line_cost *l = &n->lines[i];

        json_array_append_new(
            all, json_pack("{s:i, s:f, s:f, s:f, s:f}", "line", (int)l->line, "warp_inst",
                     l->warp_inst, "global_sectors", l->global_sectors, "shared_wavefronts",
                     l->shared_wavefronts, "stall_cycles", l->stall_cycles));
    }
    return all;
}

static void set_text(json_t *root, const char *key, const char *text)
{
    json_t *string = text ? json_string(text) : NULL;

    json_object_set_new(root, key, string ? string : json_null());
}

static char *question(const struct candidate *c)
{
    json_t *root = json_object();
    char *text;

    json_object_set_new(root, "keet_tool", json_integer(SCHEMA));
    set_text(root, "kernel_file", c->task ? c->task->path : NULL);
    set_text(root, "source", c->source);
    set_text(root, "ptx", c->compilation.ptx);
    set_text(root, "class", bound_name(c->explanation.bound));
    json_object_set_new(root, "time_ns", json_real(c->profile.time_ns));
    json_object_set_new(root, "metrics", metrics_of(&c->profile.total));
    json_object_set_new(root, "facts", facts_of(&c->compilation));
    json_object_set_new(root, "lines", lines_of(&c->profile.total));
    text = json_dumps(root, JSON_COMPACT | JSON_REAL_PRECISION(12));
    json_decref(root);
    return text;
}

/* ---- the answer of a tool ---- */

static unsigned nr_lines(const char *source)
{
    unsigned nr = 1;

    for (const char *at = source ? source : ""; *at; at++) {
        nr += *at == '\n';
    }
    return nr;
}

static const char *cite(struct finding *f, const struct candidate *c, const json_t *names)
{
    size_t i;
    json_t *name;

    json_array_foreach(names, i, name)
    {
        const char *text = json_string_value(name);
        enum metric metric;

        if (!text || !metric_parse(text, &metric) || !counters_has(&c->profile.total, metric)) {
            return "evidence that is no metric of the profile";
        }
        if (f->nr_evidence < FINDING_MAX_EVIDENCE) {
            f->evidence[f->nr_evidence++] = (struct evidence){metric,
                counters_get(&c->profile.total, metric), c->profile.total.metric[metric].from};
        }
    }
    return NULL;
}

static const char *weigh(struct finding *f, const json_t *weights)
{
    const char *name;
    json_t *weight;

    json_object_foreach((json_t *)(uintptr_t)weights, name, weight)
    {
        double value = json_number_value(weight);
        enum action action;

        if (!action_parse(name, &action) || action == ACTION_NONE) {
            return "weights of a move that does not exist";
        }
        if (!json_is_number(weight) || !(value > 0) || value > MOST_WEIGHT) {
            return "a weight that is not above 0 and at most 10";
        }
        if (f->nr_weights == FINDING_MAX_WEIGHTS) {
            return "weights of over six moves";
        }
        finding_weigh(f, {action, value});
    }
    return NULL;
}

/* Fills *f from a finding of the answer. Returns the fault of the finding; NULL: there is none. */
static const char *take(struct finding *f, const struct candidate *c, const json_t *json)
{
    const char *text = json_string_value(json_object_get(json, "text"));
    const json_t *line = json_object_get(json, "line"), *share = json_object_get(json, "share");
    const json_t *evidence = json_object_get(json, "evidence");
    const json_t *weights = json_object_get(json, "weights");
    const char *wrong;

    if (!text || !*text || strlen(text) > MOST_TEXT_BYTES) {
        return "a text that is missing, empty or over 360 bytes";
    }
    if (line && (!json_is_integer(line) || json_integer_value(line) < 0 ||
                    json_integer_value(line) > nr_lines(c->source))) {
        return "a line that the source does not have";
    }
    if (share && (!json_is_number(share) || !(json_number_value(share) >= 0) ||
                     json_number_value(share) > MOST_SHARE)) {
        return "a share that is not in 0..0.97";
    }
    if (evidence && !json_is_array(evidence)) {
        return "evidence that is not a list";
    }
    if (weights && !json_is_object(weights)) {
        return "weights that are not an object";
    }
    *f = (struct finding){.severity = SEVERITY_WARNING,
        .from_user = true,
        .line = line ? (unsigned)json_integer_value(line) : 0,
        .share = share ? json_number_value(share) : 0.1};
    memcpy(f->text, text, strlen(text) + 1);
    wrong = weigh(f, weights);
    return wrong ? wrong : cite(f, c, evidence);
}

static void append(struct candidate *c, const struct finding *f)
{
    struct explanation *e = &c->explanation;
    struct finding *all = arena_array(c->arena, e->nr_findings + 1u, sizeof(*all));

    if (e->nr_findings > 0) {
        memcpy(all, e->findings, e->nr_findings * sizeof(*all));
    }
    all[e->nr_findings++] = *f;
    e->findings = all;
}

void plugin_answer(
    const char *name, struct candidate *c, const char *text, size_t len, struct str *notes)
{
    json_error_t problem;
    json_t *root = json_loadb(text, len, 0, &problem), *findings, *json;
    size_t i;

    findings = json_object_get(root, "findings");
    if (!root) {
        str_addf(notes, "tool %s: not JSON at line %d: %s\n", name, problem.line, problem.text);
    } else if (json_integer_value(json_object_get(root, "keet_tool")) != SCHEMA ||
               !json_is_array(findings)) {
        str_addf(notes, "tool %s: expected {\"keet_tool\": %d, \"findings\": [...]}\n", name,
            (int)SCHEMA);
    } else {
        json_array_foreach(findings, i, json)
        {
            struct finding f;
            const char *wrong = i < MOST_PER_TOOL ? take(&f, c, json) : "one finding too many";

            if (wrong) {
                str_addf(notes, "tool %s: finding %zu left out: %s\n", name, i + 1, wrong);
            } else {
                f.tool = arena_strdup(c->arena, name);
                append(c, &f);
            }
        }
    }
    json_decref(root);
}

/* ---- running them ---- */

static bool run_tool(const char *folder, const char *name, const char *input, struct candidate *c,
    struct str *notes, struct err *err)
{
    const char *path = arena_printf(c->arena, "%s/%s", folder, name);
    const char *argv[] = {path, NULL};
    const char *const runnable[] = {folder, "/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64",
        "/etc/ld.so.cache", "/etc/alternatives", "/etc/localtime", "/dev/zero", "/dev/urandom",
        NULL};
    const struct proc_limits limits = {.time_s = 5,
        .memory_bytes = MEMORY_BYTES,
        .output_bytes = MAX_OUTPUT_BYTES,
        .runnable = runnable,
        .stop = proc_interrupted()};
    struct proc_result result;
    bool ok = true;

    if (!proc_run_fed(argv, input, strlen(input), &limits, &result, err)) {
        return false;
    }
    if (result.end == PROC_EXITED && result.status == 0) {
        plugin_answer(name, c, result.output, result.output_bytes, notes);
    } else if (result.end == PROC_EXITED) {
        str_addf(notes, "tool %s: exit status %d: %.200s\n", name, result.status,
            result.errors ? result.errors : "");
    } else if (result.end == PROC_DEADLINE) {
        str_addf(notes, "tool %s: stopped after five seconds\n", name);
    } else if (result.end == PROC_OUTPUT) {
        str_addf(notes, "tool %s: said over %d bytes\n", name, (int)MAX_OUTPUT_BYTES);
    } else if (result.end == PROC_UNSAFE) {
        str_addf(notes, "tool %s: not run: %s\n", name, proc_unsafe_text);
    } else if (result.end == PROC_MEMORY) {
        str_addf(notes, "tool %s: needed over 2 GiB\n", name);
    } else if (result.end == PROC_STOPPED) {
        ok = err_set(err, "interrupted");
    } else {
        str_addf(notes, "tool %s: crashed\n", name);
    }
    proc_result_finish(&result);
    return ok;
}

static int by_name(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static bool is_tool(struct arena *arena, const char *folder, const char *name)
{
    const char *path = arena_printf(arena, "%s/%s", folder, name);
    struct stat st;

    return name[0] != '.' && stat(path, &st) == 0 && S_ISREG(st.st_mode) && access(path, X_OK) == 0;
}

bool plugins_run(const char *folder, struct candidate *c, struct str *notes, struct err *err)
{
    struct advice advice;
    DIR *dir = NULL;
    char *names[MAX_TOOLS];
    char *input = NULL;
    size_t nr = 0;
    bool ok = true;

    if (c->verdict != VERDICT_OK) {
        return true;
    }
    dir = opendir(folder);
    if (!dir) {
        return err_errno(err, "--tools %s", folder);
    }
    for (struct dirent *entry; nr < MAX_TOOLS && (entry = readdir(dir)) != NULL;) {
        if (is_tool(c->arena, folder, entry->d_name)) {
            names[nr++] = arena_strdup(c->arena, entry->d_name);
        }
    }
    closedir(dir);
    qsort(names, nr, sizeof(names[0]), by_name);
    input = question(c);
    for (size_t i = 0; ok && i < nr && input; i++) {
        ok = run_tool(folder, names[i], input, c, notes, err);
    }
    free(input);
    advice = advice_of_findings(c);
    priors_fill(c, &advice);
    return ok;
}
