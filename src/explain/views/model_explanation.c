/* Owns the conversation with a model about one profile, and the checking of the model's text. */
#include "explain/views/model_explanation.h"

#include "base/share.h"
#include "explain/ground.h"
#include "propose/model/ask.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { LINES_SHOWN = 16, MAX_CALLS = 5, MAX_TALK = 8 };

struct talk {
    const struct model_explanation_options *options;
    struct ask *ask;
    struct candidate *c;
    struct ask_values values;
    struct ground_facts facts;
    struct model_explanation *said;
    struct ask_message messages[MAX_TALK];
    unsigned nr_messages;
};

/* ---- what the model is shown ---- */

static bool is_shown(const struct line_cost *line, const struct counters *n)
{
    unsigned nr_above = 0;

    for (unsigned i = 0; i < n->nr_lines; i++)
        nr_above += n->lines[i].warp_inst > line->warp_inst;
    return line->line > 0 && (nr_above < LINES_SHOWN || line->stall_cycles > 0);
}

static void add_line(struct str *out, const struct line_cost *l)
{
    const struct {
        const char *what;
        double value;
    } costs[] = {{"warp instructions", l->warp_inst},
        {"requests to global memory", l->global_requests}, {"sectors", l->global_sectors},
        {"sectors at best", l->global_sectors_ideal}, {"shared wavefronts", l->shared_wavefronts},
        {"shared wavefronts at best", l->shared_wavefronts_ideal},
        {"local requests", l->local_requests}, {"atomics", l->atomics}, {"barriers", l->barriers},
        {"divergent branches", l->branches_divergent}, {"cycles waiting", l->stall_cycles}};

    str_addf(out, "line %u:", l->line);
    for (size_t i = 0; i < sizeof(costs) / sizeof(costs[0]); i++)
        if (costs[i].value > 0)
            str_addf(out, " %.6g %s;", costs[i].value, costs[i].what);
    str_add_char(out, '\n');
}

static const char *write_metrics(const struct candidate *c)
{
    const struct counters *n = &c->profile.total;
    struct str out = {0};
    const char *text;

    for (int m = 0; m < NR_METRICS; m++)
        if (counters_has(n, (enum metric)m))
            str_addf(&out, "`%s` = %.6g %s (%s)\n", metric_name((enum metric)m),
                counters_get(n, (enum metric)m), metric_unit((enum metric)m),
                provenance_name(n->metric[m].from));
    if (n->nr_lines > 0)
        str_add(&out, "\nBy line, all warps together:\n");
    for (unsigned i = 0; i < n->nr_lines; i++)
        if (is_shown(&n->lines[i], n))
            add_line(&out, &n->lines[i]);
    text = arena_strdup(c->arena, str_text(&out));
    str_finish(&out);
    return text;
}

/* Facts that every engineer may use without looking them up. */
static const char by_heart[] =
    "A warp has 32 lanes. Shared memory has 32 banks of 4 bytes. A sector has 32 bytes, a line 128 "
    "bytes. A block has at most 1024 threads, a thread at most 255 registers. 100%.";

/* ---- asking ---- */

static void say(struct talk *t, const char *role, const char *text)
{
    if (t->nr_messages < MAX_TALK)
        t->messages[t->nr_messages++] = (struct ask_message){role, text};
}

static void start_over(struct talk *t)
{
    t->nr_messages = 0;
    say(t, "system", ask_prompt(t->ask, ASK_SYSTEM, &t->values, t->c->arena));
}

/* Why no further question may be asked; NULL: go on. */
static const char *limit(const struct talk *t)
{
    if (t->options->max_tokens && t->said->tokens >= t->options->max_tokens)
        return "--max-tokens is spent";
    if (t->options->max_cost > 0 && t->said->cost >= t->options->max_cost)
        return "--max-cost is spent";
    return NULL;
}

/* Asks one question. *reply is NULL when no reply came, and said->why_not says why. */
static bool put(struct talk *t, unsigned model, enum ask_prompt prompt, const char *purpose,
    const char **reply, struct err *err)
{
    const char *stop = limit(t);
    struct model_call *call;

    *reply = NULL;
    if (stop) {
        t->said->why_not = stop;
        return true;
    }
    say(t, "user", ask_prompt(t->ask, prompt, &t->values, t->c->arena));
    call = candidate_add_call(t->c);
    if (!ask_put(t->ask, model, purpose, t->messages, t->nr_messages, t->c->arena, call, err))
        return false;
    t->said->nr_calls++;
    t->said->tokens += call->tokens_in + call->tokens_out + call->lost_in + call->lost_out;
    t->said->cost += isnan(call->cost) ? 0 : call->cost;
    if (call->error || !call->reply) {
        t->said->why_not = call->error ? call->error : "no reply";
        return true;
    }
    *reply = call->reply;
    say(t, "assistant", *reply);
    return true;
}

/* ---- the answer ---- */

/* Counts the judgements such as "H2 refuted: ...", whatever marks of emphasis surround them. */
static void count_judgements(struct model_explanation *said, const char *text)
{
    static const struct {
        const char *word;
        size_t at;
    } words[] = {{"confirmed", offsetof(struct model_explanation, nr_confirmed)},
        {"refuted", offsetof(struct model_explanation, nr_refuted)},
        {"open", offsetof(struct model_explanation, nr_open)}};

    said->nr_confirmed = said->nr_refuted = said->nr_open = 0;
    for (const char *line = text; *line;) {
        const char *at = line + strspn(line, " *-#");

        if (*at == 'H' && at[1] >= '0' && at[1] <= '9') {
            at += 1 + strspn(at + 1, "0123456789");
            at += strspn(at, " *:");
            for (size_t i = 0; i < 3; i++)
                if (strncmp(at, words[i].word, strlen(words[i].word)) == 0)
                    ++*(unsigned *)(void *)((char *)said + words[i].at);
        }
        line = str_next_line(line);
    }
}

static void check(struct talk *t, const char *text, struct ground *ground)
{
    ground_check(ground, t->c->arena, text, &t->facts);
}

static void take(struct talk *t, const char *text, const struct ground *ground)
{
    struct model_explanation *said = t->said;

    said->text = ground_mark(ground, t->c->arena, text);
    said->nr_claims = ground->nr_claims;
    said->nr_grounded = ground->nr_grounded;
    count_judgements(said, text);
}

static unsigned nr_false(const struct ground *ground)
{
    return ground->nr_claims - ground->nr_grounded;
}

/* Sends the claims that do not hold back to the model, once. The better of the two texts stays. */
static bool correct(struct talk *t, unsigned model, struct err *err)
{
    struct ground ground;
    const char *reply;

    t->values.text = t->said->text;
    t->said->sent_back = true;
    if (!put(t, model, ASK_CORRECT, "correct", &reply, err))
        return false;
    t->said->why_not = NULL; /* the first text stands */
    if (!reply)
        return true;
    check(t, reply, &ground);
    if (nr_false(&ground) < t->said->nr_claims - t->said->nr_grounded && ground.nr_claims > 0)
        take(t, reply, &ground);
    return true;
}

static bool review(struct talk *t, unsigned model, const char *draft, struct err *err)
{
    struct ground ground;
    const char *reply;

    start_over(t);
    t->values.hypotheses = t->said->hypotheses;
    t->values.text = draft;
    if (!put(t, model, ASK_REVIEW, "review", &reply, err))
        return false;
    t->said->why_not = NULL;
    draft = reply ? reply : draft; /* an unreviewed draft is better than none */
    check(t, draft, &ground);
    take(t, draft, &ground);
    t->said->nr_claims_first = ground.nr_claims;
    t->said->nr_grounded_first = ground.nr_grounded;
    return nr_false(&ground) == 0 || correct(t, model, err);
}

static bool converse(struct talk *t, struct err *err)
{
    const unsigned reviewer = t->options->nr_models > 1;
    const char *draft;

    start_over(t);
    if (!put(t, 0, ASK_HYPOTHESES, "hypotheses", &t->said->hypotheses, err))
        return false;
    if (!t->said->hypotheses)
        return true;
    t->values.metrics = write_metrics(t->c);
    if (!put(t, 0, ASK_JUDGE, "judge", &draft, err))
        return false;
    return !draft || review(t, reviewer, draft, err);
}

bool model_explain(const struct model_explanation_options *options, const struct chip *chip,
    struct candidate *c, struct model_explanation *said, struct err *err)
{
    struct ask_options ask_options = {.models = options->models,
        .nr_models = options->nr_models,
        .record_path = options->record_path,
        .need_prices = options->max_cost > 0,
        .seed = options->seed};
    struct talk t = {.options = options, .c = c, .said = said, .values = {.c = c, .chip = chip}};
    char *prompts = share_find("prompts");
    bool ok;

    *said = (struct model_explanation){0};
    if (!prompts)
        return err_set(err, "the folder prompts/ was not found beside the program; set KEET_SHARE "
                            "to the folder that holds it");
    ask_options.prompts_dir = prompts;
    t.ask = ask_create(&ask_options, err);
    ok = t.ask != NULL;
    if (ok) {
        t.facts = (struct ground_facts){.counters = &c->profile.total,
            .source = arena_strndup(c->arena, c->source, c->source_bytes),
            .said = arena_printf(c->arena, "%s\n%s", ask_known(&t.values, c->arena), by_heart),
            .profile = &c->profile};
        ok = converse(&t, err);
    }
    ask_destroy(t.ask);
    free(prompts);
    return ok;
}

/* ---- printing ---- */

void text_indent(struct str *out, const char *text, const char *indent)
{
    while (*text) {
        const size_t len = strcspn(text, "\n");

        if (len > 0)
            str_addf(out, "%s%.*s\n", indent, (int)len, text);
        text = str_next_line(text);
    }
}

static double percent(unsigned part, unsigned all)
{
    return all > 0 ? 100.0 * part / all : 100;
}

void model_explanation_print(struct str *out, const struct model_explanation *said, bool markdown)
{
    const char *indent = markdown ? "- " : "  ";

    str_add(out, markdown ? "\n### In a model's words\n\n" : "\nIn a model's words\n");
    if (said->hypotheses) {
        str_add(out, markdown ? "From the source, before any counter was shown:\n\n"
                              : " from the source, before any counter was shown:\n");
        text_indent(out, said->hypotheses, indent);
    }
    if (said->text) {
        str_addf(out,
            markdown ? "\nJudged by the counters (%u confirmed, %u refuted, %u open):\n\n"
                     : " judged by the counters (%u confirmed, %u refuted, %u open):\n",
            said->nr_confirmed, said->nr_refuted, said->nr_open);
        text_indent(out, said->text, indent);
        str_addf(out, "%sGrounded: %u of %u claims (%.0f%%)", markdown ? "\n" : " ",
            said->nr_grounded, said->nr_claims, percent(said->nr_grounded, said->nr_claims));
        if (said->sent_back)
            str_addf(out, "; %u of %u before it was sent back", said->nr_grounded_first,
                said->nr_claims_first);
        str_add(out, ".\n");
    }
    if (said->why_not)
        str_addf(out, "%sNo explanation came: %s.\n", markdown ? "\n" : " ", said->why_not);
    str_addf(out, "%sLanguage model: %u calls, %llu tokens, %.4f dollars.\n", markdown ? "\n" : " ",
        said->nr_calls, (unsigned long long)said->tokens, said->cost);
}

json_t *model_explanation_json(const struct model_explanation *said)
{
    return json_pack("{s:s?, s:s?, s:i, s:i, s:i, s:i, s:i, s:i, s:i, s:b, s:s?, s:i, s:I, s:f}",
        "hypotheses", said->hypotheses, "text", said->text, "confirmed", (int)said->nr_confirmed,
        "refuted", (int)said->nr_refuted, "open", (int)said->nr_open, "claims",
        (int)said->nr_claims, "grounded", (int)said->nr_grounded, "claims_first",
        (int)said->nr_claims_first, "grounded_first", (int)said->nr_grounded_first, "sent_back",
        said->sent_back, "why_not", said->why_not, "calls", (int)said->nr_calls, "tokens",
        (json_int_t)said->tokens, "cost", said->cost);
}
