/* Owns `keet-opt campaign`: makes a campaign from the command line, and reads the options in a line
 * of its list. */
#include "cli/commands.h"

#include "base/file.h"
#include "base/proc.h"
#include "base/share.h"
#include "base/str.h"
#include "campaign/campaign.h"
#include "campaign/conduct.h"
#include "campaign/results.h"
#include "cli/option_table.h"
#include "nv/gpus.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- which GPUs ---- */

/* *list: the GPUs that the driver sees, as "0,1"; "" when no GPU works. A child asks the driver,
 * because a process that forks must not initialise the driver. */
static bool find_gpus(struct arena *arena, const char **list, struct err *err)
{
    const struct proc_limits limits = {.time_s = 60};
    struct proc_result result;
    struct gpus gpus = {0};

    if (!proc_call(gpus_probe_body, NULL, &limits, &result, err))
        return false;
    if (result.end == PROC_EXITED && result.status == 0 && result.output_bytes == sizeof(gpus))
        memcpy(&gpus, result.output, sizeof(gpus));
    proc_result_finish(&result);
    *list = "";
    for (unsigned i = 0; gpus.initialised && i < gpus.nr; i++)
        *list = arena_printf(arena, "%s%s%u", *list, i ? "," : "", i);
    return true;
}

/* ---- a line of the list ---- */

struct parse_user {
    const char *gpus;            /* "": none */
    const struct options *given; /* on the command line */
};

/* Do these options start programs, beside those that `except` starts? */
static bool starts_programs(const struct options *o, const struct options *except)
{
    for (unsigned i = 0; i < o->nr_models; i++) {
        bool given = !str_starts(o->models[i], "cmd:");

        for (unsigned k = 0; k < except->nr_models && !given; k++)
            given = strcmp(o->models[i], except->models[k]) == 0;
        if (!given)
            return true;
    }
    return o->tools_dir && !(except->tools_dir && strcmp(o->tools_dir, except->tools_dir) == 0);
}

/* A list is code where it starts programs: whoever runs the list must have said so. */
static bool may_start(const struct options *o, const struct options *given, struct err *err)
{
    return given->campaign.trust || !starts_programs(o, given) ||
           err_set(err,
               "it starts programs (--model cmd: or --tools): read it, and give --trust if you "
               "trust who wrote it");
}

static bool check_options(const struct options *o, struct err *err)
{
    for (unsigned i = 0; i < o->nr_given; i++)
        if (!(o->given[i].row->verbs & TASK_LINE))
            return err_set(err, "--%s is not an option of a task", o->given[i].row->name);
    if (o->verb != VERB_OPTIMIZE)
        return err_set(err, "a line is a kernel file and options of a search, such as --budget 50");
    if (str_starts(o->device, "gpu:"))
        return err_set(err,
            "--device %s: the campaign hands out GPUs; expected gpu, and --gpus for "
            "which",
            o->device);
    return true;
}

/* Reads the words of a line with keet-opt's own reader of options. */
static bool parse_task(void *user, struct campaign *c, struct campaign_task *task,
    const char *const *words, unsigned nr, struct err *err)
{
    const struct parse_user *parse = user;
    const char **argv = arena_array(c->arena, nr + 3, sizeof(*argv));
    const char **kept = arena_array(c->arena, nr + 1, sizeof(*kept));
    struct options o;

    argv[0] = "keet-opt";
    argv[1] = task->kernel;
    for (unsigned i = 0; i < nr; i++)
        argv[i + 2] = kept[i] = words[i]; /* the reader of options puts argv in another order */
    if (!options_parse(&o, (int)nr + 2, (char **)argv, err) || !check_options(&o, err) ||
        !may_start(&o, parse->given, err))
        return false;
    task->words = kept;
    task->nr_words = nr;
    task->timed = o.budget_nodes == 0;
    task->budget = task->timed ? o.budget_s : (double)o.budget_nodes;
    task->seed = o.seed;
    task->max_tokens = o.max_tokens;
    task->max_cost = o.max_cost;
    task->has_model = o.nr_models > 0;
    task->device = strcmp(o.device, "auto") != 0 ? o.device : *parse->gpus ? "gpu" : "emu";
    return true;
}

/* The tasks of a campaign that was made before, perhaps by another. */
static bool tasks_may_start(struct campaign *c, struct parse_user *user, struct err *err)
{
    for (unsigned i = 0; i < c->nr_tasks; i++) {
        struct campaign_task copy = c->tasks[i];

        if (!parse_task(user, c, &copy, copy.words, copy.nr_words, err))
            return err_wrap(err, "%s: task %s", c->folder, copy.name);
    }
    return true;
}

/* The command line's options of a search, as words that begin every line. */
static const char *const *common_words(const struct options *o, struct arena *arena, unsigned *nr)
{
    const char **words = arena_array(arena, 2 * o->nr_given + 1, sizeof(*words));

    *nr = 0;
    for (unsigned i = 0; i < o->nr_given; i++) {
        if (!(o->given[i].row->verbs & TASK_LINE))
            continue;
        words[(*nr)++] = arena_printf(arena, "--%s", o->given[i].row->name);
        if (o->given[i].value)
            words[(*nr)++] = o->given[i].value;
    }
    return words;
}

/* ---- the whole ---- */

/* kernels/ -> kernels.campaign, lists/night.txt -> night.campaign */
static const char *folder_of(const struct options *o, struct arena *arena)
{
    const char *path = o->kernel_path, *name, *dot;
    size_t len = strlen(path);

    if (o->campaign.folder)
        return o->campaign.folder;
    while (len > 1 && path[len - 1] == '/')
        len--;
    name = file_name(arena_strndup(arena, path, len));
    dot = strrchr(name, '.');
    len = dot && dot > name ? (size_t)(dot - name) : strlen(name);
    return arena_printf(arena, "%.*s.campaign", (int)len, name);
}

/* Forgets the failed slice of each task, so that the task goes on from the slice before. */
static void forget_failures(struct campaign *c)
{
    for (unsigned i = 0; i < c->nr_tasks; i++) {
        struct campaign_task *t = &c->tasks[i];
        if (t->nr_slices > 0 && t->slices[t->nr_slices - 1].problem)
            t->nr_slices--;
    }
}

/* Opens the campaign of the command line. A list or a directory makes a campaign; with --resume the
 * list must agree with the campaign in the folder. The folder of a campaign is resumed as it
 * stands. */
static bool open_campaign(
    struct campaign *c, const struct options *o, const char *gpus, struct err *err)
{
    struct parse_user user = {gpus, o};
    const char *folder = folder_of(o, c->arena);
    struct campaign wanted;
    const char *const *words;
    unsigned nr;
    bool ok;

    if (campaign_is_folder(o->kernel_path))
        return (o->resume ||
                   err_set(err, "%s holds a campaign; --resume goes on with it", o->kernel_path)) &&
               campaign_open(c, o->kernel_path, err) && tasks_may_start(c, &user, err);
    words = common_words(o, c->arena, &nr);
    if (!o->resume || !campaign_is_folder(folder)) {
        if (o->campaign.rounds)
            c->nr_rounds = o->campaign.rounds;
        return campaign_read(c, o->kernel_path, words, nr, parse_task, &user, err) &&
               campaign_create(c, folder, err);
    }
    campaign_init(&wanted);
    ok = campaign_read(&wanted, o->kernel_path, words, nr, parse_task, &user, err) &&
         campaign_open(c, folder, err) && campaign_same(c, &wanted, err);
    campaign_finish(&wanted);
    return ok;
}

static bool run(struct campaign *c, const struct options *o, const char *gpus, struct err *err)
{
    char *program = share_binary();
    const struct conduct_options conduct_options = {
        .program = program,
        .executor = o->campaign.executor,
        .jobs = o->campaign.jobs,
        .gpus = gpus,
        .gres = o->campaign.gres,
        .slurm = o->campaign.slurm,
        .time_s = o->campaign.time_s,
        .tokens = o->campaign.tokens,
        .cost = o->campaign.cost,
        .task_time_s = o->campaign.task_time_s,
        .task_time = o->campaign.task_time,
        .stopped = command_ends_neatly(),
        .out = o->verbosity < 0 ? NULL : stderr,
    };

    const bool ok = program ? conduct(c, &conduct_options, err) : err_errno(err, "/proc/self/exe");

    free(program);
    return ok;
}

bool cmd_campaign(const struct options *options, int *status, struct err *err)
{
    struct campaign c;
    struct str text = {0};
    const char *gpus = options->gpus;
    bool ok;

    campaign_init(&c);
    if (strcmp(options->campaign.executor, "slurm") == 0)
        gpus = options->campaign.gres && strstr(options->campaign.gres, "gpu") ? "0" : "";
    ok = gpus || find_gpus(c.arena, &gpus, err);
    ok = ok && open_campaign(&c, options, gpus, err);
    if (ok && options->campaign.retry)
        forget_failures(&c);
    ok = ok && run(&c, options, gpus, err) && results_campaign(&c, 0, options->json, &text, err);
    if (ok)
        fputs(str_text(&text), stdout);
    *status = ok && strcmp(c.ended, "complete") == 0 ? EXIT_DONE : EXIT_FAILED;
    str_finish(&text);
    campaign_finish(&c);
    return ok;
}
