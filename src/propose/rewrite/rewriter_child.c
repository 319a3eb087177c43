/* Owns the border between the rewriter's child and us: requests, answers, and the child's end. */
#include "base/fork_server.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/str.h"
#include "core/chip.h"
#include "propose/rewrite/listings.h"
#include "propose/rewrite/rewriter.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A kernel takes milliseconds. Processor time counts, so that a busy machine changes no list. */
enum { CPU_S = 5, WALL_S = 120, MOST_OPTIONS = 4096, MOST_VARIANT = UINT16_MAX };

static const uint64_t memory_bytes = (uint64_t)1 << 30, output_bytes = 64u << 20;

/* Texts of an answer that are sent along; what is over is made when it is asked for. */
static const size_t texts_bytes = 16u << 20;

struct rewriter {
    struct fork_server *server;
    struct listings *listings;
};

struct rewriter_world {
    const struct task *task;
    bool forbid_fast_math;
    uint32_t smem_per_block_bytes;
};

/* The source follows. action ACTION_NONE: list the options. */
struct rewriting {
    uint32_t action, variant;
};

/* ---- texts on their way out: lengths and bytes ---- */

static void put_number(struct str *out, uint32_t number)
{
    str_add_n(out, (const char *)&number, sizeof(number));
}

static void put_text(struct str *out, const char *text, size_t bytes)
{
    put_number(out, (uint32_t)bytes);
    str_add_n(out, text, bytes);
}

struct answer_reader {
    const char *at;
    size_t left;
    bool bad; /* the answer is not one of ours */
};

static const char *take(struct answer_reader *r, size_t bytes)
{
    const char *at = r->at;

    if (r->bad || bytes > r->left) {
        r->bad = true;
        return NULL;
    }
    r->at += bytes;
    r->left -= bytes;
    return at;
}

static uint32_t take_number(struct answer_reader *r)
{
    const char *at = take(r, sizeof(uint32_t));
    uint32_t number = 0;

    if (at)
        memcpy(&number, at, sizeof(number));
    return number;
}

/* In the arena; "" from a bad answer. arena NULL: the text is skipped. */
static const char *take_text(struct answer_reader *r, struct arena *arena, size_t *bytes)
{
    const uint32_t len = take_number(r);
    const char *at = take(r, len);

    *bytes = at ? len : 0;
    r->bad = r->bad || memchr(at, '\0', len);
    return r->bad || !arena ? "" : arena_strndup(arena, at, len);
}

/* ---- the child ---- */

static void answer_list(const struct rewrite_in *in, struct str *out)
{
    struct str refusals = {0};
    struct option_list list = {.arena = in->arena, .refusals = &refusals};
    struct made_text texts[REWRITER_MOST];

    rewriter_list_here(in, &list, texts);
    put_text(out, str_text(&refusals), refusals.len);
    put_number(out, list.nr);
    for (unsigned i = 0; i < list.nr; i++) {
        put_number(out, (uint32_t)list.items[i].action);
        put_number(out, list.items[i].variant);
        put_text(out, list.items[i].what, strlen(list.items[i].what));
        put_text(out, texts[i].text, out->len + texts[i].bytes < texts_bytes ? texts[i].bytes : 0);
    }
    str_finish(&refusals);
}

static void answer_make(
    const struct rewrite_in *in, const struct rewriting *request, struct str *out)
{
    const struct option option = {.action = (enum action)request->action,
        .proposer = PROPOSER_REWRITER,
        .variant = request->variant};
    struct rewrite_out made = {.edits = {.arena = in->arena}};
    const bool good = rewriter_make_here(in, &option, &made);
    const char *word = good ? made.what : made.why ? made.why : "";

    put_number(out, good);
    put_text(out, word, strlen(word));
    put_text(out, good ? made.text : "", good ? made.bytes : 0);
}

static int child_body(int fd, const void *context, const void *input, size_t bytes)
{
    const struct rewriter_world *world = context;
    struct rewrite_in in = {.arena = arena_create(),
        .task = world->task,
        .forbid_fast_math = world->forbid_fast_math,
        .smem_per_block_bytes = world->smem_per_block_bytes,
        .source = (const char *)input + sizeof(struct rewriting),
        .bytes = bytes - sizeof(struct rewriting)};
    struct rewriting request;
    struct plan plan;
    enum verdict verdict;
    struct str out = {0};
    struct err err = {0};

    memcpy(&request, input, sizeof(request));
    if (chdir("/") != 0)
        err_errno(&err, "cannot go to /");
    else if (plan_parse(&plan, in.task, in.arena, in.source, in.bytes, &verdict, &err)) {
        in.plan = &plan;
        in.tree = cuda_tree_parse(in.arena, in.source, in.bytes, plan.tunes, plan.nr_tunes, &err);
    }
    if (!in.tree) {
        (void)!write(STDERR_FILENO, err.text, strlen(err.text));
        return 1;
    }
    if (request.action == (uint32_t)ACTION_NONE)
        answer_list(&in, &out);
    else
        answer_make(&in, &request, &out);
    return fd_write(fd, out.text, out.len) ? 0 : 1;
}

const char *rewriter_parser(struct err *err)
{
    return cuda_tree_library(err);
}

struct rewriter *rewriter_start(
    const struct task *task, bool forbid_fast_math, uint32_t smem_per_block_bytes, struct err *err)
{
    static const char *const readable[] = {"/dev/null", "/dev/urandom", NULL};
    const struct rewriter_world world = {task, forbid_fast_math,
        smem_per_block_bytes ? smem_per_block_bytes : chip_default()->smem_per_block_max_bytes};
    const struct proc_limits limits = {.time_s = WALL_S,
        .cpu_s = CPU_S,
        .memory_bytes = memory_bytes,
        .output_bytes = output_bytes,
        .readable = readable};
    struct fork_server *server;
    struct rewriter *rewriter;

    /* Loaded once: the children cannot read files. */
    if (!rewriter_parser(err))
        return NULL;
    server = fork_server_create(child_body, &world, &limits, err);
    if (!server)
        return NULL;
    rewriter = xcalloc(1, sizeof(*rewriter));
    rewriter->server = server;
    rewriter->listings = listings_create();
    return rewriter;
}

void rewriter_stop(struct rewriter *rewriter)
{
    if (!rewriter)
        return;
    fork_server_destroy(rewriter->server);
    listings_destroy(rewriter->listings);
    free(rewriter);
}

/* ---- our side ---- */

static const char *end_of(struct arena *arena, const struct proc_result *result)
{
    switch (result->end) {
    case PROC_DEADLINE:
        return arena_printf(arena, "the parser took over %d s on this source", CPU_S);
    case PROC_MEMORY:
        return arena_printf(
            arena, "the parser took over %u MiB on this source", (unsigned)(memory_bytes >> 20));
    case PROC_SIGNALLED:
        return arena_printf(arena, "the parser crashed on this source (signal %d: %s)",
            result->status, strsignal(result->status));
    case PROC_EXITED:
        return arena_printf(arena, "the parser gave up on this source: %.*s",
            (int)strcspn(result->errors, "\n"), result->errors);
    default:
        return "the parser left no answer on this source";
    }
}

/* *why: NULL, or why there is no answer. */
static bool ask(const struct rewrite_in *in, struct rewriting request, struct proc_result *result,
    const char **why, struct err *err)
{
    struct str bytes = {0};
    bool ok;

    str_add_n(&bytes, (const char *)&request, sizeof(request));
    str_add_n(&bytes, in->source, in->bytes);
    ok = fork_server_call(in->rewriter->server, bytes.text, bytes.len, result, err);
    str_finish(&bytes);
    if (!ok)
        return false;
    if (result->end == PROC_UNSAFE) {
        proc_result_finish(result);
        return err_set(err, "reading a source: %s", proc_unsafe_text);
    }
    *why = result->end == PROC_EXITED && result->status == 0 ? NULL : end_of(in->arena, result);
    return true;
}

static void give_up(struct option_list *list, const char *why)
{
    log_note("%s: no mechanical move is offered", why);
    str_addf(list->refusals, "rewriter: %s\n", why);
    list->note = arena_printf(list->arena, "no mechanical move is offered: %s", why);
}

/* The next option of a listing, with its text; room NULL: without. */
static struct option take_option(
    struct answer_reader *r, struct arena *arena, struct arena *room, struct made_text *made)
{
    struct option option = {.proposer = PROPOSER_REWRITER};
    const uint32_t action = take_number(r);
    size_t bytes;

    option.action = (enum action)action;
    option.variant = take_number(r);
    option.what = take_text(r, arena, &bytes);
    made->text = take_text(r, room, &made->bytes);
    r->bad = r->bad || action >= (uint32_t)NR_ACTIONS || option.variant > MOST_VARIANT;
    return option;
}

static bool take_options(struct answer_reader *r, struct option_list *list)
{
    struct option_list found = {.arena = list->arena};
    size_t bytes;
    const char *refusals = take_text(r, list->arena, &bytes);
    const uint32_t nr = take_number(r);

    r->bad = r->bad || nr > MOST_OPTIONS;
    for (uint32_t i = 0; i < nr && !r->bad; i++) {
        struct made_text made;
        const struct option option = take_option(r, list->arena, NULL, &made);

        option_add(&found, &option);
    }
    if (r->bad || r->left)
        return false;
    str_add(list->refusals, refusals);
    for (unsigned i = 0; i < found.nr; i++)
        option_add(list, &found.items[i]);
    return true;
}

static bool rewriter_list(const struct rewrite_in *in, struct option_list *list, struct err *err)
{
    struct listings *listings = in->rewriter->listings;
    struct answer_reader r = {0};
    struct proc_result result;
    const char *why;

    r.at = listings_find(listings, in->source, in->bytes, &r.left);
    if (r.at)
        return take_options(&r, list) || err_set(err, "a kept list of moves is damaged");
    if (!ask(in, (struct rewriting){.action = (uint32_t)ACTION_NONE}, &result, &why, err))
        return false;
    r = (struct answer_reader){.at = result.output, .left = result.output_bytes};
    if (!why && !take_options(&r, list))
        why = "the parser's answer on this source is damaged";
    if (why) {
        give_up(list, why);
    } else {
        listings_keep(listings, in->source, in->bytes, result.output, result.output_bytes);
        result.output = NULL;
    }
    proc_result_finish(&result);
    return true;
}

/* Has the option been made already, when the source's moves were listed? */
static bool was_made(
    const struct rewrite_in *in, const struct option *option, struct rewrite_out *out)
{
    struct answer_reader r = {0}, at;
    struct option listed;
    struct made_text made;
    size_t bytes;
    uint32_t nr;

    r.at = listings_find(in->rewriter->listings, in->source, in->bytes, &r.left);
    if (!r.at)
        return false;
    take_text(&r, NULL, &bytes); /* refusals */
    for (nr = take_number(&r); nr > 0 && !r.bad; nr--) {
        at = r;
        listed = take_option(&r, NULL, NULL, &made);
        if (listed.action != option->action || listed.variant != option->variant)
            continue;
        if (made.bytes == 0) /* too much to be sent along */
            return false;
        out->what = take_option(&at, in->arena, in->arena, &made).what;
        out->text = made.text;
        out->bytes = made.bytes;
        return true;
    }
    return false;
}

static bool rewriter_make(const struct rewrite_in *in, const struct option *option,
    struct rewrite_out *out, bool *made, struct err *err)
{
    struct proc_result result;
    const char *why;

    *made = was_made(in, option, out);
    if (*made)
        return true;
    if (!ask(in, (struct rewriting){(uint32_t)option->action, option->variant}, &result, &why, err))
        return false;
    if (!why) {
        struct answer_reader r = {.at = result.output, .left = result.output_bytes};
        const bool good = take_number(&r) == 1;
        size_t bytes;
        const char *word = take_text(&r, in->arena, &bytes);
        const char *text = take_text(&r, in->arena, &out->bytes);

        out->what = good ? word : NULL;
        out->text = good ? text : NULL;
        why = r.bad || r.left ? "the parser's answer on this source is damaged"
              : good          ? NULL
                              : word;
    }
    out->why = why;
    *made = !why;
    proc_result_finish(&result);
    return true;
}

const struct proposer_ops rewriter_ops = {
    "rewriter", PROPOSER_REWRITER, rewriter_list, rewriter_make};
