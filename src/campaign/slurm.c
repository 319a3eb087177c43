/* Owns the calls of Slurm's commands and the reading of their output. */
#include "campaign/slurm.h"

#include "base/mem.h"
#include "base/proc.h"
#include "base/str.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_OUTPUT = 16 << 20, MOST_WORDS = 400 };
static const double deadline_s = 60; /* sbatch itself waits for a controller that is busy */

/* ---- running one ---- */

/* Sets the error to the output of a command that failed, on one line. */
static void say_failure(const char *name, const struct proc_result *result, struct err *err)
{
    const char *said = result->errors_bytes > 0 ? result->errors : result->output;
    char words[MOST_WORDS + 1];
    size_t nr = 0;

    for (; *said && nr < MOST_WORDS; said++) {
        if (!isspace((unsigned char)*said))
            words[nr++] = iscntrl((unsigned char)*said) ? '?' : *said;
        else if (nr > 0 && words[nr - 1] != ' ')
            words[nr++] = ' ';
    }
    while (nr > 0 && words[nr - 1] == ' ')
        nr--;
    words[nr] = '\0';
    if (nr > 0)
        err_set(err, "%s: %s", name, words);
    else
        err_set(err, "%s ended with status %d and said nothing", name, result->status);
}

/* *output: the text that the command printed, to be freed. */
static bool run(const char *const argv[], char **output, struct err *err)
{
    const struct proc_limits limits = {.time_s = deadline_s, .output_bytes = MOST_OUTPUT};
    struct proc_result result;
    bool ok = false;

    if (!proc_run(argv, &limits, &result, err))
        return false;
    if (result.end == PROC_DEADLINE)
        err_set(err, "%s did not answer within %.0f s", argv[0], deadline_s);
    else if (result.end == PROC_OUTPUT)
        err_set(err, "%s printed more than %d MiB", argv[0], MOST_OUTPUT >> 20);
    else if (result.end != PROC_EXITED)
        err_set(err, "%s was ended by signal %d", argv[0], result.status);
    else if (result.status == 127)
        err_set(err,
            "%s is not found in PATH: --executor slurm runs where Slurm's commands are, such as a "
            "login node",
            argv[0]);
    else if (result.status != 0)
        say_failure(argv[0], &result, err);
    else
        ok = true;
    if (ok && output) {
        *output = result.output;
        result.output = NULL;
    }
    proc_result_finish(&result);
    return ok;
}

bool slurm_check(struct err *err)
{
    static const char *const commands[] = {"sbatch", "squeue", "scancel"};

    for (size_t i = 0; i < ARRAY_SIZE(commands); i++) {
        const char *const argv[] = {commands[i], "--version", NULL};

        if (!run(argv, NULL, err))
            return false;
    }
    return true;
}

bool slurm_submit(const struct slurm_array *array, uint64_t *job, struct err *err)
{
    struct str range = {0}, name = {0}, log = {0}, gres = {0};
    const char *argv[16] = {"sbatch", "--parsable", "--requeue", "--open-mode=append"};
    unsigned nr = 4;
    char *output = NULL;
    bool ok;

    str_addf(&range, "--array=0-%u", array->nr - 1);
    if (array->most)
        str_addf(&range, "%%%u", array->most);
    str_addf(&name, "--job-name=%s", array->name);
    str_addf(&log, "--output=%s", array->log);
    argv[nr++] = str_text(&range);
    argv[nr++] = str_text(&name);
    argv[nr++] = str_text(&log);
    if (array->gres) {
        str_addf(&gres, "--gres=%s", array->gres);
        argv[nr++] = str_text(&gres);
    }
    argv[nr++] = array->script;
    argv[nr] = NULL;
    ok = run(argv, &output, err) && slurm_parse_job(output, job, err);
    free(output);
    str_finish(&range);
    str_finish(&name);
    str_finish(&log);
    str_finish(&gres);
    return ok;
}

static void add_names(struct str *out, const char *const *names, unsigned nr)
{
    str_add(out, "--name=");
    for (unsigned i = 0; i < nr; i++) {
        str_add(out, i ? "," : "");
        str_add(out, names[i]);
    }
}

bool slurm_queue(const char *const *names, unsigned nr, struct slurm_rows *rows, struct err *err)
{
    struct str chosen = {0};
    const char *argv[] = {
        "squeue", "--noheader", "--array", "--states=all", "--format=%j|%F|%K|%T|%r", NULL, NULL};
    char *output = NULL;
    bool ok;

    add_names(&chosen, names, nr);
    argv[5] = str_text(&chosen);
    ok = run(argv, &output, err) && slurm_parse_queue(output, rows, err);
    free(output);
    str_finish(&chosen);
    return ok;
}

bool slurm_cancel(const char *const *names, unsigned nr, struct err *err)
{
    bool ok = true;

    for (unsigned i = 0; ok && i < nr; i++) { /* scancel takes one name */
        struct str chosen = {0};
        const char *argv[] = {"scancel", "--quiet", NULL, NULL};

        add_names(&chosen, &names[i], 1);
        argv[2] = str_text(&chosen);
        ok = run(argv, NULL, err);
        str_finish(&chosen);
    }
    return ok;
}

bool slurm_cancel_task(const struct slurm_row *row, struct err *err)
{
    struct str task = {0};
    const char *argv[] = {"scancel", "--quiet", NULL, NULL};
    bool ok;

    str_addf(&task, "%llu_%u", (unsigned long long)row->job, row->index);
    argv[2] = str_text(&task);
    ok = run(argv, NULL, err);
    str_finish(&task);
    return ok;
}

/* ---- reading ---- */

enum slurm_state slurm_state_of(const char *word)
{
    static const struct {
        const char *word;
        enum slurm_state state;
    } known[] = {
        {"PENDING", SLURM_WAITING},
        {"REQUEUED", SLURM_WAITING},
        {"REQUEUE_FED", SLURM_WAITING},
        {"REQUEUE_HOLD", SLURM_WAITING},
        {"RESV_DEL_HOLD", SLURM_WAITING},
        {"SPECIAL_EXIT", SLURM_WAITING},
        {"BOOT_FAIL", SLURM_ENDED},
        {"COMPLETED", SLURM_ENDED},
        {"DEADLINE", SLURM_ENDED},
        {"FAILED", SLURM_ENDED},
        {"NODE_FAIL", SLURM_ENDED},
        {"OUT_OF_MEMORY", SLURM_ENDED},
        {"PREEMPTED", SLURM_ENDED},
        {"REVOKED", SLURM_ENDED},
        {"TIMEOUT", SLURM_ENDED},
        {"CANCELLED", SLURM_CANCELLED},
    };

    for (size_t i = 0; i < ARRAY_SIZE(known); i++)
        if (strcmp(word, known[i].word) == 0)
            return known[i].state;
    return SLURM_RUNNING;
}

/* Is `said`, in squeue's words, the reason why a job waits? squeue may print an underscore for a
 * blank.
 */
static bool is_reason(const char *said, const char *reason)
{
    for (; *reason; said++, reason++)
        if (*said != *reason && !(*said == '_' && *reason == ' '))
            return false;
    return !*said;
}

enum slurm_hold slurm_hold_of(const struct slurm_row *row)
{
    static const char *const held[] = {"JobHeldUser", "JobHeldAdmin", "job requeued in held state",
        "job requeued in special exit state"};
    static const char *const stuck[] = {"launch failed requeued held", "JobHoldMaxRequeue",
        "BadConstraints", "PartitionTimeLimit", "PartitionNodeLimit", "InvalidAccount",
        "InvalidQOS", "AccountNotAllowed", "QOSNotAllowed", "DependencyNeverSatisfied"};

    if (row->state != SLURM_WAITING)
        return SLURM_FREE;
    for (size_t i = 0; i < ARRAY_SIZE(held); i++)
        if (is_reason(row->reason, held[i]))
            return SLURM_HELD;
    for (size_t i = 0; i < ARRAY_SIZE(stuck); i++)
        if (is_reason(row->reason, stuck[i]))
            return SLURM_STUCK;
    /* limits of accounts and services on any one job: QOSMaxCpuPerJobLimit and its kin */
    return strstr(row->reason, "PerJob") ? SLURM_STUCK : SLURM_FREE;
}

void slurm_rows_finish(struct slurm_rows *rows)
{
    free(rows->at);
    *rows = (struct slurm_rows){0};
}

/* Reads a number of digits up to the character `end`, and moves *at behind `end`. */
static bool take_number(const char **at, char end, uint64_t most, uint64_t *value)
{
    char *stop;

    if (!isdigit((unsigned char)**at))
        return false;
    errno = 0;
    *value = strtoull(*at, &stop, 10);
    if (errno || *stop != end || *value > most)
        return false;
    *at = stop + (end != '\0');
    return true;
}

static bool take_word(const char **at, char *word, size_t bytes)
{
    const size_t len = strcspn(*at, "|");

    if (len == 0 || (*at)[len] != '|')
        return false;
    snprintf(word, bytes, "%.*s", (int)len, *at);
    *at += len + 1;
    return len < bytes;
}

static bool take_index(const char **at, uint32_t *index)
{
    static const char rest[] = "N/A|";
    uint64_t value;

    *index = SLURM_REST;
    if (str_starts(*at, rest)) {
        *at += strlen(rest);
        return true;
    }
    if (!take_number(at, '|', SLURM_REST - 1, &value))
        return false;
    *index = (uint32_t)value;
    return true;
}

static bool parse_row(const char *at, struct slurm_row *row)
{
    if (!take_word(&at, row->name, sizeof(row->name)) ||
        !take_number(&at, '|', UINT64_MAX, &row->job) || !take_index(&at, &row->index) ||
        !take_word(&at, row->word, sizeof(row->word)))
        return false;
    row->state = slurm_state_of(row->word);
    snprintf(row->reason, sizeof(row->reason), "%s", at);
    return true;
}

/* The next line that is not empty, without blanks at its ends; heap memory, NULL after the last. */
static char *next_line(const char **at)
{
    while (isspace((unsigned char)**at))
        ++*at;
    if (!**at)
        return NULL;
    const size_t len = strcspn(*at, "\n");
    size_t kept = len;
    char *line;

    while (kept > 0 && isspace((unsigned char)(*at)[kept - 1]))
        kept--;
    line = xmalloc(kept + 1);
    memcpy(line, *at, kept);
    line[kept] = '\0';
    *at += len;
    return line;
}

bool slurm_parse_queue(const char *text, struct slurm_rows *rows, struct err *err)
{
    char *line;

    while ((line = next_line(&text)) != NULL) {
        struct slurm_row row;
        const bool ok = parse_row(line, &row);

        if (!ok)
            err_set(err, "squeue printed a line that is not understood: %.80s", line);
        free(line);
        if (!ok)
            return false;
        rows->at = grow(rows->at, &rows->cap, rows->nr + 1, sizeof(*rows->at));
        rows->at[rows->nr++] = row;
    }
    return true;
}

bool slurm_parse_job(const char *text, uint64_t *job, struct err *err)
{
    char *last = NULL, *line;
    const char *at;
    bool ok;

    while ((line = next_line(&text)) != NULL) {
        free(last);
        last = line;
    }
    if (last)
        last[strcspn(last, ";")] = '\0';
    at = last ? last : "";
    ok = take_number(&at, '\0', UINT64_MAX, job) && *job > 0;
    if (!ok)
        err_set(err, "sbatch printed no number of a job: %.80s", last ? last : "(nothing)");
    free(last);
    return ok;
}
