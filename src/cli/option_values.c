/* Owns the reading of options' values. */
#include "cli/option_values.h"

#include "base/mem.h"
#include "base/str.h"
#include "device/findings.h"
#include "search/search.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool parse_u64(const char *name, const char *text, uint64_t *value, struct err *err)
{
    char *end;

    errno = 0;
    *value = strtoull(text, &end, 0);
    if (errno || end == text || *end || *text == '-')
        return err_set(err, "--%s %s: expected a whole number", name, text);
    return true;
}

bool option_time(const char *text, double *seconds)
{
    char *end;
    const double value = strtod(text, &end);
    double unit = 0;

    if (end != text && strcmp(end, "s") == 0)
        unit = 1;
    else if (end != text && strcmp(end, "m") == 0)
        unit = 60;
    else if (end != text && strcmp(end, "h") == 0)
        unit = 3600;
    *seconds = value * unit;
    return *seconds > 0 && *seconds < 1e9;
}

/* "50" is a number of nodes; "10m" is wall time. */
bool option_budget(struct options *options, const char *text, struct err *err)
{
    options->budget_text = text;
    options->budget_nodes = 0;
    options->budget_s = 0;
    if (strcmp(text, "all") == 0)
        return true;
    if (option_time(text, &options->budget_s))
        return true;
    options->budget_s = 0;
    if (!parse_u64("budget", text, &options->budget_nodes, err) || !options->budget_nodes)
        return err_set(err,
            "--budget %s: expected a number of variants (50), a time (90s, 10m, 2h) or `all`",
            text);
    return true;
}

bool option_one_of(struct err *err, const char *option, const char *name, const char *const *names)
{
    err_set(err, "%s %s: expected one of", option, name);
    for (size_t i = 0; names[i]; i++) {
        const size_t used = strlen(err->text);
        snprintf(err->text + used, sizeof(err->text) - used, "%s %s", i ? "," : "", names[i]);
    }
    return false;
}

bool option_episodes(struct options *options, const char *how, struct err *err)
{
    static const char *const words[] = {"off", "on", "only", NULL};

    for (unsigned i = 0; words[i]; i++)
        if (strcmp(how, words[i]) == 0)
            options->episodes = i;
    return str_among(how, words) || option_one_of(err, "--episodes", how, words);
}

bool option_policy(struct options *options, const char *name, struct err *err)
{
    options->policy = name;
    return str_among(name, search_policies) ||
           option_one_of(err, "--policy", name, search_policies);
}

bool option_objective(struct options *options, const char *name, struct err *err)
{
    return objective_parse(name, &options->objective) ||
           err_set(err, "--objective %s: expected time, energy or edp", name);
}

bool option_model(struct options *options, const char *spec, struct err *err)
{
    if (strcmp(spec, "none") == 0) {
        options->nr_models = 0;
        return true;
    }
    if (options->nr_models == OPTIONS_MAX_MODELS)
        return err_set(err, "at most %d models in one run", OPTIONS_MAX_MODELS);
    options->models[options->nr_models++] = spec;
    return true;
}

/* "0,1": numbers of GPUs, none twice. */
bool option_gpus(struct options *options, const char *text, struct err *err)
{
    uint64_t seen = 0;
    const char *at = text;

    options->gpus = text;
    for (;;) {
        char *end;
        const unsigned long n = strtoul(at, &end, 10);

        if (end == at || *at == '-' || *at == '+' || n > 63 || (*end && *end != ',') ||
            (seen >> n & 1))
            return err_set(err, "--gpus %s: expected numbers of GPUs, such as 0,1", text);
        seen |= UINT64_C(1) << n;
        if (!*end)
            return true;
        at = end + 1;
    }
}

bool option_sanitize(struct options *options, const char *arg, struct err *err)
{
    for (const char *at = arg; *at;) {
        const size_t len = strcspn(at, ",");
        unsigned bits = len == 3 && !strncmp(at, "all", 3) ? (1u << NR_DEVICE_CHECKS) - 1 : 0;
        for (int c = 0; c < NR_DEVICE_CHECKS; c++) {
            const char *name = device_check_name((enum device_check)c);
            bits |= strlen(name) == len && !strncmp(at, name, len) ? 1u << c : 0;
        }
        if (len == strlen("race=strict") && !strncmp(at, "race=strict", len)) {
            bits |= 1u << DEVICE_CHECK_RACE;
            options->strict_races = true;
        }
        if (!bits)
            return err_set(err,
                "--sanitize %s: expected all, or some of memory,init,race,sync,leak, not %.*s", arg,
                (int)len, at);
        options->sanitize |= bits;
        at += len + (at[len] == ',');
    }
    return options->sanitize ||
           err_set(err, "--sanitize: expected all, or memory,init,race,sync,leak");
}

/* Adds a value to the list of an option that may be given several times. */
static bool add_flag(
    const char **list, unsigned *nr, const char *what, const char *arg, struct err *err)
{
    if (*nr == OPTIONS_MAX_FLAGS)
        return err_set(err, "%s %s: at most %d of them", what, arg, OPTIONS_MAX_FLAGS);
    list[(*nr)++] = arg;
    return true;
}

bool option_include(struct options *options, const char *dir, struct err *err)
{
    return add_flag(options->include_dirs, &options->nr_include_dirs, "-I", dir, err);
}

bool option_define(struct options *options, const char *macro, struct err *err)
{
    return add_flag(options->defines, &options->nr_defines, "-D", macro, err);
}

bool option_fail_if(struct options *options, const char *limit, struct err *err)
{
    return add_flag(options->fail_if, &options->nr_fail_if, "--fail-if", limit, err);
}

bool option_plot(struct options *options, const char *text, struct err *err)
{
    static const char *const choices[] = {
        [PLOT_AUTO] = "auto", [PLOT_ON] = "on", [PLOT_OFF] = "off"};

    for (unsigned i = 0; i < ARRAY_SIZE(choices); i++)
        if (strcmp(text, choices[i]) == 0) {
            options->plot = (enum plot_choice)i;
            return true;
        }
    return err_set(err, "--plot %s: expected auto, on or off", text);
}

bool option_deadline(struct options *options, const char *text, struct err *err)
{
    char *end;

    options->deadline_s = strtod(text, &end);
    return (end > text && !*end && options->deadline_s >= 0.01 && options->deadline_s <= 86400) ||
           err_set(err, "--deadline %s: expected seconds, 0.01 to 86400", text);
}

bool option_worker_memory(struct options *options, const char *text, struct err *err)
{
    uint64_t *bytes = &options->worker_bytes;

    if (!parse_u64("worker-memory", text, bytes, err) || *bytes < 1 || *bytes > 1 << 30)
        return err_set(err, "--worker-memory %s: expected megabytes", text);
    *bytes <<= 20;
    return true;
}

bool option_campaign_time(struct options *options, const char *text, struct err *err)
{
    return option_time(text, &options->campaign.time_s) ||
           err_set(err, "--time %s: expected a time such as 90s, 10m, 8h", text);
}

bool option_task_time(struct options *options, const char *text, struct err *err)
{
    options->campaign.task_time = text;
    return option_time(text, &options->campaign.task_time_s) ||
           err_set(err, "--task-time %s: expected a time such as 90s, 10m, 2h", text);
}

bool option_capture_time(struct options *options, const char *text, struct err *err)
{
    return option_time(text, &options->capture.time_s) ||
           err_set(err, "--seconds %s: expected a time such as 10s, 5m", text);
}

bool option_tolerance(struct options *options, const char *text, struct err *err)
{
    char *end;
    const double value = strtod(text, &end);

    options->whole.tolerance = text;
    return (end > text && *end == '\0' && value >= 0 && value < 1) ||
           err_set(err, "--tolerance %s: expected a number from 0 to 1, such as 1e-5", text);
}

bool option_compared(struct options *options, const char *text, struct err *err)
{
    struct whole_options *w = &options->whole;

    if (w->nr_compared == OPTIONS_MAX_FLAGS)
        return err_set(err, "--compare: more than %d files", OPTIONS_MAX_FLAGS);
    w->compared[w->nr_compared++] = text;
    return true;
}

bool option_tokens(struct options *options, const char *text, struct err *err)
{
    uint64_t *tokens = &options->campaign.tokens;

    return (parse_u64("tokens", text, tokens, err) && *tokens > 0) ||
           err_set(err, "--tokens %s: expected a number of tokens", text);
}

bool option_gres(struct options *options, const char *text, struct err *err)
{
    options->campaign.gres = text;
    return *text || err_set(err, "--gres: expected what a job asks for, such as gpu:1");
}

bool option_run(struct options *options, const char *text, struct err *err)
{
    return (parse_u64("run", text, &options->run, err) && options->run > 0 &&
               options->run <= INT64_MAX) ||
           err_set(err, "--run %s: expected the number of a run; `keet-opt runs RUN.db` lists them",
               text);
}

bool option_quiet(struct options *options, const char *value, struct err *err)
{
    options->verbosity = -1;
    return true;
}

bool option_verbose(struct options *options, const char *value, struct err *err)
{
    options->verbosity++;
    return true;
}

static bool read_count(
    const struct option_row *row, const char *text, unsigned *value, struct err *err)
{
    uint64_t n;

    if (!parse_u64(row->name, text, &n, err) || n < row->least || n > row->most)
        return err_set(err, "--%s %s: expected %u to %u", row->name, text, row->least, row->most);
    *value = (unsigned)n;
    return true;
}

static bool read_dollars(
    const struct option_row *row, const char *text, double *cost, struct err *err)
{
    char *end;

    *cost = strtod(text, &end);
    return (end > text && !*end && *cost > 0 && *cost < 1e9) ||
           err_set(err, "--%s %s: expected a sum in dollars, such as 2.50", row->name, text);
}

bool option_read(
    const struct option_row *row, struct options *options, const char *value, struct err *err)
{
    void *field = (char *)options + row->field;

    switch (row->kind) {
    case OPTION_SET:
    case OPTION_CLEAR:
        *(bool *)field = row->kind == OPTION_SET;
        return true;
    case OPTION_TEXT:
        *(const char **)field = value;
        return true;
    case OPTION_NUMBER:
        return parse_u64(row->name, value, field, err);
    case OPTION_COUNT:
        return read_count(row, value, field, err);
    case OPTION_DOLLARS:
        return read_dollars(row, value, field, err);
    case OPTION_OWN:
        return row->parse(options, value, err);
    }
    return false;
}
