/* The stage: move texts, the proposers, the contract. */
#include "propose/propose.h"

#include "base/file.h"
#include "base/mem.h"
#include "base/str.h"
#include "propose/proposer.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

static const struct proposer_ops *const proposers[] = {&rewriter_ops, &tuner_ops};

struct propose {
    const struct task *task; /* borrowed */
    bool forbid_fast_math;
    char *texts[NR_ACTIONS];
    struct str refusals;
};

void option_add(struct option_list *list, const struct option *option)
{
    if (list->nr == list->cap) {
        const unsigned cap = list->cap ? 2 * list->cap : 32;
        struct option *items = arena_array(list->arena, cap, sizeof(*items));
        if (list->nr)
            memcpy(items, list->items, list->nr * sizeof(*items));
        list->items = items;
        list->cap = cap;
    }
    list->items[list->nr++] = *option;
}

static bool is_blank(const char *text)
{
    for (; *text; text++)
        if (!isspace((unsigned char)*text))
            return false;
    return true;
}

static bool read_prompt(const char *dir, const char *name, char **text, struct err *err)
{
    struct str path = {0};
    str_addf(&path, "%s/%s", dir, name);
    size_t len;
    bool good = file_read(str_text(&path), 1 << 20, text, &len, err);
    if (!good)
        err_wrap(err, "prompt files");
    else if (is_blank(*text)) {
        good = err_set(err, "prompt files: %s is empty", str_text(&path));
        free(*text);
        *text = NULL;
    }
    str_finish(&path);
    return good;
}

static bool load_prompts(struct propose *p, const char *dir, struct err *err)
{
    static const char *const general[] = {
        "system.md", "plan.md", "write.md", "repair.md", "explain.md"};
    for (size_t i = 0; i < ARRAY_SIZE(general); i++) {
        char *text = NULL;
        if (!read_prompt(dir, general[i], &text, err))
            return false;
        free(text);
    }
    for (int a = 0; a < NR_ACTIONS; a++) {
        struct str name = {0};
        str_addf(&name, "actions/%s.md", action_name((enum action)a));
        const bool good = read_prompt(dir, str_text(&name), &p->texts[a], err);
        str_finish(&name);
        if (!good)
            return false;
    }
    return true;
}

struct propose *propose_create(
    const struct propose_options *options, const struct task *task, struct err *err)
{
    struct propose *p = xcalloc(1, sizeof(*p));
    p->task = task;
    p->forbid_fast_math = options->forbid_fast_math;
    if (!load_prompts(p, options->prompts_dir, err)) {
        propose_destroy(p);
        return NULL;
    }
    return p;
}

void propose_destroy(struct propose *p)
{
    if (!p)
        return;
    for (int a = 0; a < NR_ACTIONS; a++)
        free(p->texts[a]);
    str_finish(&p->refusals);
    free(p);
}

const char *propose_refusals(const struct propose *p)
{
    return str_text(&p->refusals);
}

const char *propose_action_text(const struct propose *p, enum action action)
{
    return action >= 0 && action < NR_ACTIONS ? p->texts[action] : "";
}

/* False with a verdict on c when the source has no plan, or with err when libclang failed. */
static bool prepare(struct propose *p, struct candidate *c, const char *source, size_t bytes,
    struct rewrite_in *in, bool *has_plan, struct err *err)
{
    struct plan *plan = arena_alloc(c->arena, sizeof(*plan));
    enum verdict verdict = VERDICT_CONTRACT;
    struct err why;
    *has_plan = plan_parse(plan, p->task, c->arena, source, bytes, &verdict, &why);
    if (!*has_plan)
        return candidate_fail(c, verdict, 0, "%s", why.text);
    *in = (struct rewrite_in){.arena = c->arena,
        .task = p->task,
        .plan = plan,
        .source = source,
        .bytes = bytes,
        .forbid_fast_math = p->forbid_fast_math};
    in->tree = cuda_tree_parse(c->arena, source, bytes, plan->tunes, plan->nr_tunes, err);
    return in->tree != NULL;
}

static const struct proposer_ops *find_proposer(enum proposer proposer)
{
    for (size_t i = 0; i < ARRAY_SIZE(proposers); i++)
        if (proposers[i]->proposer == proposer)
            return proposers[i];
    return NULL;
}

static bool set_source(struct propose *p, struct candidate *c, const char *source, size_t bytes)
{
    enum verdict verdict = VERDICT_CONTRACT;
    struct err why;
    c->source = source;
    c->source_bytes = bytes;
    if (!plan_parse(&c->plan, p->task, c->arena, source, bytes, &verdict, &why))
        return candidate_fail(c, verdict, 0, "%s", why.text);
    return true;
}

bool propose_kernel(struct propose *p, const char *parent_source, size_t parent_bytes,
    struct candidate *c, struct err *err)
{
    if (c->option.action == ACTION_NONE) {
        c->proposal_note = "the original";
        return set_source(p, c, p->task->source, p->task->source_bytes);
    }
    /* A dead candidate still has a source: its parent's, for whoever looks at it. */
    c->source = arena_strndup(c->arena, parent_source, parent_bytes);
    c->source_bytes = parent_bytes;
    const struct proposer_ops *proposer = find_proposer(c->option.proposer);
    if (!proposer)
        return err_set(err, "there is no proposer %s", proposer_name(c->option.proposer));
    struct rewrite_in in;
    bool has_plan;
    if (!prepare(p, c, c->source, c->source_bytes, &in, &has_plan, err))
        return false;
    if (!has_plan)
        return true;
    struct rewrite_out out = {.edits = {.arena = c->arena}};
    if (!proposer->make(&in, &c->option, &out)) {
        c->plan = *in.plan;
        c->proposal_note = out.why ? out.why : "the move does not apply";
        return candidate_fail(c, VERDICT_NO_KERNEL, 0, "%s does not apply: %s",
            action_name(c->option.action), c->proposal_note);
    }
    size_t bytes = 0;
    const char *text = edits_apply(&out.edits, in.source, in.bytes, &bytes);
    if (!text)
        return err_set(err, "the edits of %s overlap", action_name(c->option.action));
    c->proposal_note = out.what;
    if (!c->option.what)
        c->option.what = out.what;
    return set_source(p, c, text, bytes);
}

bool propose_options(struct propose *p, struct candidate *c, struct err *err)
{
    struct option_list list = {.arena = c->arena, .refusals = &p->refusals};
    str_clear(&p->refusals);
    c->options = NULL;
    c->nr_options = 0;
    if (candidate_settled(c))
        return true;
    struct rewrite_in in;
    bool has_plan;
    struct candidate probe = {
        .arena = c->arena}; /* a broken source has no options; not our verdict */
    if (!prepare(p, &probe, c->source, c->source_bytes, &in, &has_plan, err))
        return false;
    if (!has_plan) {
        str_addf(&p->refusals, "source: %s\n", probe.verdict_text);
        return true;
    }
    for (size_t i = 0; i < ARRAY_SIZE(proposers); i++)
        if (!proposers[i]->list(&in, &list, err))
            return false;
    for (unsigned i = 0; i < list.nr; i++)
        list.items[i].prior = 1.0f / (float)list.nr;
    c->options = list.items;
    c->nr_options = list.nr;
    return true;
}
