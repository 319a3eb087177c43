/* Owns `keet-opt write`: the conversation that ends with a task's first kernel. */
#include "cli/commands.h"

#include "base/file.h"
#include "base/share.h"
#include "base/str.h"
#include "cli/load_task.h"
#include "cli/parts.h"
#include "core/chip.h"
#include "propose/model/ask.h"
#include "run/session.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MAX_TRIES = 4 };

struct first {
    const struct options *options;
    struct arena *arena;
    struct task task; /* its text; nothing is parsed */
    struct candidate c;
    struct ask *ask;
    struct ask_values values;
    struct ask_message messages[1 + 2 * MAX_TRIES];
    unsigned nr_messages;
    const char *output;
    uint64_t tokens;
    double cost;
};

static const char stub[] = "\n#pragma keet launch keet_none<<<1, 1>>>()\n"
                           "__global__ void keet_none() {}\n";

/* The contract must be valid by itself, before a model is paid for an answer. */
static bool check_contract(struct first *f, const char *text, size_t len, struct err *err)
{
    const char *path = f->options->kernel_path;
    const char *with = arena_printf(f->arena, "%s%s", text, stub);
    struct task task;
    struct err ignored;

    if (task_parse(&task, f->arena, path, text, len, &ignored))
        return err_set(err, "%s: it has a kernel already; try: keet-opt %s", path, path);
    if (!task_parse(&task, f->arena, path, with, strlen(with), err))
        return false;
    f->task = (struct task){.path = path, .source = arena_strndup(f->arena, text, len)};
    f->task.source_bytes = len;
    return true;
}

/* Adds the task as it stands, then the code and plan lines of the answer. */
static void compose(const struct first *f, const char *code, struct str *out)
{
    str_add(out, f->task.source);
    str_add(out, "\n");
    for (const char *line = code, *next; *line; line = next) {
        const enum task_line kind = task_line(line);

        next = str_next_line(line);
        if (kind == TASK_LINE_CODE || kind == TASK_LINE_PLAN)
            str_add_n(out, line, (size_t)(next - line));
    }
}

/* Tries the kernel as a run begins: parses, compiles and runs the kernel, and compares the results
 * with those that the contract expects. False with *why set: as far as one can tell, the kernel is
 * to blame. */
static bool try_it(const struct first *f, const char *path, struct err *why)
{
    struct options o = *f->options;
    struct workbench_options bench_options = options_bench(&o);
    struct session_options options;
    struct workbench *bench;
    struct session *session;
    struct task task;

    o.kernel_path = path;
    o.nr_models = 0;
    o.record_path = o.reuse_path = o.memory_path = NULL;
    o.resume = false;
    o.db_path = arena_printf(f->arena, "%s.trial.db", path);
    options = options_session(&o);
    if (!load_task(&task, f->arena, &o, why) || !(bench = workbench_open(&bench_options, why)))
        return false;
    session = session_open(&options, bench, &task, why);
    session_close(session);
    workbench_close(bench);
    store_remove(o.db_path);
    return session != NULL;
}

static void say(struct first *f, const char *role, const char *text)
{
    f->messages[f->nr_messages++] = (struct ask_message){role, text};
}

static bool may_ask(const struct first *f, struct err *err)
{
    const struct options *o = f->options;

    if (o->max_tokens && f->tokens >= o->max_tokens)
        return err_set(err, "no kernel that is right yet, and --max-tokens is spent");
    if (o->max_cost > 0 && f->cost >= o->max_cost)
        return err_set(err, "no kernel that is right yet, and --max-cost is spent");
    return true;
}

/* Asks one question. *code is the answer's code, or *why says what is wrong with the answer. */
static bool put(
    struct first *f, enum ask_prompt prompt, const char **code, const char **why, struct err *err)
{
    struct model_call call;

    say(f, "user", ask_prompt(f->ask, prompt, &f->values, f->arena));
    if (!may_ask(f, err) ||
        !ask_put(f->ask, 0, "write", f->messages, f->nr_messages, f->arena, &call, err))
        return false;
    f->tokens += call.tokens_in + call.tokens_out + call.lost_in + call.lost_out;
    f->cost += call.cost > 0 ? call.cost : 0;
    if (call.error || !call.reply)
        return err_set(err, "the model gave no answer: %.1000s", call.error ? call.error : "none");
    say(f, "assistant", call.reply);
    *code = ask_code(call.reply, "", f->arena, why);
    return true;
}

static bool converse(struct first *f, struct err *err)
{
    const char *code = NULL, *why = NULL, *path = arena_printf(f->arena, "%s.trying.cu", f->output);
    struct err fault;
    bool ok = true, right = false;

    for (unsigned i = 0; ok && !right && i < MAX_TRIES; i++) {
        struct str text = {0};

        f->values.text = why;
        ok = put(f, i ? ASK_FIRST_AGAIN : ASK_FIRST, &code, &why, err);
        if (ok && code) {
            compose(f, code, &text);
            ok = file_write(path, str_text(&text), text.len, err);
            right = ok && try_it(f, path, &fault);
            why = arena_strdup(f->arena, fault.text);
            if (right)
                ok = file_write(f->output, str_text(&text), text.len, err);
        }
        str_finish(&text);
        if (ok && !right && f->options->verbosity >= 0)
            fprintf(stderr, "try %u: %s\n", i + 1, why);
    }
    unlink(path);
    return ok &&
           (right || err_set(err, "%s: no kernel that is right after %d tries; the last: %.1000s",
                         f->options->kernel_path, MAX_TRIES, why));
}

static bool open_ask(struct first *f, struct err *err)
{
    const struct options *o = f->options;
    char *prompts = share_find("prompts");
    struct ask_options options = {.models = o->models,
        .nr_models = o->nr_models,
        .prompts_dir = prompts,
        .record_path = o->record_path,
        .need_prices = o->max_cost > 0,
        .seed = o->seed};

    if (!prompts)
        return err_set(err, "the folder prompts/ was not found beside the program; set KEET_SHARE "
                            "to the folder that holds it");
    f->ask = ask_create(&options, err);
    free(prompts);
    f->c = (struct candidate){.arena = f->arena, .task = &f->task, .source = ""};
    f->values = (struct ask_values){.c = &f->c, .chip = chip_of_device(o->device)};
    if (!f->values.chip)
        f->values.chip = chip_default();
    return f->ask != NULL;
}

bool cmd_write(const struct options *options, int *status, struct err *err)
{
    const char *path = options->kernel_path;
    struct first f = {.options = options, .arena = arena_create()};
    char *text = NULL;
    size_t len;
    bool ok;

    f.output = options->output_path;
    if (!f.output)
        f.output = arena_printf(
            f.arena, "%.*s.first.cu", (int)(strlen(path) - (str_ends(path, ".cu") ? 3 : 0)), path);
    ok = options->nr_models > 0 ||
         err_set(err, "write: --model says who writes it, as in --model anthropic:NAME");
    ok = ok && file_read(path, TASK_MAX_BYTES, &text, &len, err) &&
         check_contract(&f, text, len, err) && open_ask(&f, err);
    command_ends_neatly();
    ok = ok && converse(&f, err);
    if (ok && options->verbosity >= 0)
        printf("%s\n", f.output);
    free(text);
    ask_destroy(f.ask);
    arena_destroy(f.arena);
    return ok;
}
