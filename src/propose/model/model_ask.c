/* Owns what a model is sent: the messages of each stage, within their budget. */
#include "base/mem.h"
#include "propose/model/by_kind.h"
#include "propose/model/call_record.h"
#include "propose/model/episode.h"
#include "propose/model/evidence.h"
#include "propose/model/lookup.h"
#include "propose/model/model_parts.h"
#include "propose/model/phrases.h"

#include <stdlib.h>
#include <string.h>

enum {
    PROMPT_TOKENS = 24000, /* the budget of a prompt, unless the options say another */
    REPLY_TOKENS = 16384   /* room to think, and a long kernel file */
};

static const char rest_left_out[] = "(the rest is left out: the prompt would be too long)";
static const char *const purposes[] = {"plan", "write", "repair", "episode"};

const char *model_purpose(const struct model_job *job)
{
    return purposes[job->stage];
}

size_t model_prompt_bytes(const struct model *m)
{
    const unsigned tokens = m->options->prompt_tokens;

    return (size_t)(tokens ? tokens : PROMPT_TOKENS) * TOKEN_BYTES;
}

/* The words of executes.md's first line; of a chip, all that Hopper has. */
static const char *executes_words(const struct model *m, const char *page)
{
    static const char all[] = "tensor cp_async mma wmma ldmatrix mbarrier wgmma tma cluster";
    static const char head[] = "Executed:";

    if (!m->options->emulated)
        return all;
    if (strncmp(page, head, strlen(head)) != 0)
        return "tensor";
    page += strlen(head);
    return arena_printf(m->arena, "tensor%.*s", (int)strcspn(page, "\n"), page);
}

void model_write_system(struct model *m)
{
    const struct prompt_values units = {
        .text = {[PLACE_UNITS] = phrase_units(m->options->chip),
            [PLACE_UNIT_NAMES] = phrase_unit_names(m->options->chip)}};
    const char *executes = prompt_fill(m->prompts, PROMPT_EXECUTES, &units, m->arena);
    const struct prompt_values values = {
        .text = {
            [PLACE_CONTRACT] = phrase_contract(m->arena, m->task),
            [PLACE_HARDWARE] = phrase_hardware(m->arena, m->options->chip),
            [PLACE_EXECUTES] = m->options->emulated ? executes : "All that the chip has.",
            [PLACE_INSTRUCTIONS] = m->options->instructions,
        }};

    m->executes = executes_words(m, executes);
    m->system = m->system_by_text = prompt_fill(m->prompts, PROMPT_SYSTEM, &values, m->arena);
    if (!m->options->library)
        return;
    m->system = arena_printf(
        m->arena, "%s\n%s", m->system, prompt_fill(m->prompts, PROMPT_CUTLASS, &values, m->arena));
    m->system_by_text = arena_printf(m->arena, "%s%s", m->system, lookup_by_text(m->arena));
}

static const char *page_of(const void *prompts, enum action action)
{
    return prompts_action(prompts, action);
}

/* What makes a request differ from the others of its kind: requests that follow each other, or are
 * under way at once, shall not bring the same answer. */
static const char *hint_of(const struct candidate *c)
{
    static const char *const designs[] = {"Take the way that you believe in most.",
        "Another engineer designs at the same time. Take a way that is less obvious than the first "
        "that comes to mind.",
        "Aim at the highest throughput of the busiest unit: the largest tiles that registers and "
        "shared memory allow, deep rings of asynchronous copies, few and long-lived blocks.",
        "Aim at parallelism: let the timed size fill the whole chip at once (split the long "
        "dimension where there are too few blocks), with small tiles and many warps.",
        "Aim at the least traffic: every byte comes from memory once, what is used again stays in "
        "registers, and intermediate results never leave the chip.",
        "Think of another algorithm, or another order of the sums, that needs less work.",
        "Do in one launch what takes several, or in two that are each simple what one does badly.",
        "Take the best version apart and ask of each part what the chip's floor for it is."};
    static const char *const improvements[] = {"Take the largest cost first.",
        "Look at the second largest cost too; the largest was looked at before.",
        "Think of the whole chip: waves, tails, blocks a multiprocessor, launches.",
        "Think of the instructions: what is executed beside the useful work?",
        "Think of latency: what waits for what, and what could be under way meanwhile?",
        "Think of the layout of data in shared memory and in registers."};

    if (c->option.action == ACTION_DESIGN)
        return designs[c->option.variant % ARRAY_SIZE(designs)];
    if (c->option.action == ACTION_IMPROVE && c->option.variant < ARRAY_SIZE(improvements))
        return improvements[c->option.variant];
    return NULL;
}

/* How many pages of techniques a request shows. */
static unsigned nr_techniques(enum action request)
{
    switch (request) {
    case ACTION_DESIGN:
        return 5;
    case ACTION_PARAMETERISE:
        return 0;
    case ACTION_IMPROVE:
        return 3;
    default:
        return 2;
    }
}

/* The pages, and in the hint of a second or later request of a kind the page that is in front. */
static void fill_techniques(struct model *m, const struct candidate *shown, struct candidate *c,
    struct prompt_values *values)
{
    struct arena *arena = c->arena;
    const char *hint = hint_of(c), *title;

    values->text[PLACE_HINT] = hint;
    if (m->options->no_techniques)
        return;
    values->text[PLACE_TECHNIQUES] =
        techniques_choose(m->techniques, technique_facts(arena, shown, m->executes),
            m->task->source, arena_strndup(arena, shown->source, shown->source_bytes),
            c->option.variant, nr_techniques(c->option.action), arena, &title);
    if (hint && title && c->option.variant > 0)
        values->text[PLACE_HINT] =
            arena_printf(arena, "%s\nOne technique to consider first: %s.", hint, title);
}

/* What earlier runs came to stands last: it is long, and what is too long is cut from the end. */
static const char *lessons_of(struct arena *arena, const struct propose_context *context)
{
    const char *lessons = phrase_lessons(arena, context->lessons, context->nr_lessons);
    const char *runs = phrase_experiences(arena, context->experiences, context->nr_experiences);

    return arena_printf(arena, "%s%s%s", lessons, *lessons && *runs ? "\n" : "", runs);
}

void model_fill(struct model *m, const struct propose_context *context, struct candidate *c,
    struct model_job *job)
{
    const struct candidate *parent = context->parent;
    const struct candidate *best = context->best ? context->best : parent;
    const bool from_scratch = c->option.action == ACTION_DESIGN;
    const struct candidate *shown = from_scratch ? best : parent;
    const struct chip *chip = m->options->chip;
    struct arena *arena = c->arena;

    job->evidence = context->evidence;
    job->base = arena_strndup(arena, shown->source, shown->source_bytes);
    job->values = (struct prompt_values){
        .text = {
            [PLACE_CONTRACT] = phrase_contract(arena, m->task),
            [PLACE_HARDWARE] = phrase_hardware(arena, chip),
            [PLACE_SOURCE] = phrase_source(arena, job->base),
            [PLACE_STATE] = phrase_state(arena, shown),
            [PLACE_FINDINGS] = phrase_findings(arena, shown),
            [PLACE_EVIDENCE] = context->evidence ? evidence_text(arena, chip, shown) : NULL,
            [PLACE_SIBLINGS] = phrase_siblings(
                arena, parent, context->siblings, context->nr_siblings, context->evidence),
            [PLACE_LESSONS] = lessons_of(arena, context),
            [PLACE_MOVE] = evidence_moves(arena, chip, shown, page_of, m->prompts),
            [PLACE_BEST] = best->node != shown->node
                               ? evidence_version(arena, chip, best, context->evidence)
                               : NULL,
            [PLACE_PARTNER] = context->partner ? evidence_version(arena, chip, context->partner,
                                                     context->evidence)
                                               : NULL,
            [PLACE_OTHERS] = evidence_others(
                arena, context->headlines, context->nr_headlines, shown->node, best->node),
        }};
    fill_techniques(m, shown, c, &job->values);
}

bool model_refill(struct model *m, struct model_job *job, struct err *err)
{
    const struct propose_journal *journal = m->options->journal;
    struct propose_context context;

    if (!journal || !journal->surround)
        return true;
    if (!journal->surround(journal->session, job->c, &context, err))
        return false;
    model_fill(m, &context, job->c, job);
    return true;
}

/* Whether the job's model looks things up by calling functions. */
static bool has_functions(const struct model *m, const struct model_job *job)
{
    const struct endpoint *e = &m->endpoints[job->endpoint];

    return (m->options->library || job->stage == STAGE_EPISODE) && !e->by_text &&
           (!e->llm || llm_has_tools(e->llm));
}

/* Plan and write: one question after the system's part. */
static bool build_first(
    struct model *m, struct model_job *job, struct llm_message messages[4], size_t most_bytes)
{
    const enum prompt prompt =
        job->stage == STAGE_PLAN ? PROMPT_PLAN : prompt_of(job->c->option.action);
    struct prompt_values trimmed;

    if (!prompt_trim(
            m->prompts, prompt, &job->values, most_bytes / TOKEN_BYTES, job->c->arena, &trimmed))
        return false;
    job->write_text = prompt_fill(m->prompts, prompt, &trimmed, job->c->arena);
    messages[1] = (struct llm_message){.role = "user", .text = job->write_text};
    return true;
}

/* The first bytes of a text, up to the end of a line, and a note that the rest is left out. */
static const char *first_lines(struct arena *arena, const char *text, size_t bytes)
{
    while (bytes > 0 && text[bytes - 1] != '\n')
        bytes--;
    return arena_printf(arena, "%.*s%s", (int)bytes, text, rest_left_out);
}

/* Repair: the question and the answer that failed come again, then the problem. What is too long is
 * cut from the question first, in the order of prompt.h, then from the end of the answer. The
 * problem is never cut. */
static bool build_repair(
    struct model *m, struct model_job *job, struct llm_message messages[4], size_t most_bytes)
{
    struct arena *arena = job->c->arena;
    const char *problem = prompt_fill(m->prompts, PROMPT_REPAIR, &job->values, arena);
    const char *asked = job->write_text, *answer = job->last_reply;
    const size_t answer_bytes = strlen(answer);
    const enum prompt kind = prompt_of(job->c->option.action);
    struct prompt_values trimmed;
    size_t left;

    if (strlen(problem) + sizeof(rest_left_out) >= most_bytes)
        return false;
    left = most_bytes - strlen(problem);
    if (strlen(asked) + answer_bytes > left) {
        const size_t room = answer_bytes < left ? left - answer_bytes : 0;
        const bool fits =
            prompt_trim(m->prompts, kind, &job->values, room / TOKEN_BYTES, arena, &trimmed);

        asked = prompt_fill(m->prompts, kind, &trimmed, arena);
        if (!fits && strlen(asked) + sizeof(rest_left_out) >= left)
            return false;
        if (!fits)
            answer = first_lines(arena, answer, left - strlen(asked) - sizeof(rest_left_out));
    }
    messages[1] = (struct llm_message){.role = "user", .text = asked, .stable_until_here = true};
    messages[2] = (struct llm_message){.role = "assistant", .text = answer};
    messages[3] = (struct llm_message){.role = "user", .text = problem};
    return true;
}

bool model_build(
    struct model *m, struct model_job *job, struct llm_message messages[4], unsigned *nr)
{
    const char *system = has_functions(m, job) ? m->system : m->system_by_text;
    const size_t most = model_prompt_bytes(m);
    size_t used;

    if (job->stage == STAGE_EPISODE)
        system = model_episode_text(m, job);
    used = strlen(system);
    messages[0] = (struct llm_message){.role = "system", .text = system, .stable_until_here = true};
    *nr = job->stage == STAGE_REPAIR ? 4 : 2;
    if (job->stage == STAGE_EPISODE && job->write_text) { /* as it was: a conversation goes on */
        messages[1] = (struct llm_message){
            .role = "user", .text = job->write_text, .stable_until_here = true};
        return true;
    }
    return used < most && (job->stage == STAGE_REPAIR ? build_repair(m, job, messages, most - used)
                                                      : build_first(m, job, messages, most - used));
}

bool model_note(const struct model *m, const struct candidate *c, unsigned number, struct err *err)
{
    const struct propose_journal *journal = m->options->journal;

    return !journal || journal->save(journal->session, c, number, err);
}

void model_finish_job(struct model_job *job, const char *why)
{
    job->stage = STAGE_READY;
    if (why) {
        job->hopeless = true;
        job->c->proposal_note = why;
        candidate_fail(job->c, VERDICT_NO_KERNEL, 0, "%s", why);
    }
}

/* The messages, and after them the look-ups made so far. */
static const struct llm_message *with_turns(
    const struct model_job *job, const struct llm_message *head, unsigned *nr)
{
    struct llm_message *all = arena_array(job->c->arena, *nr + job->nr_turns, sizeof(*all));

    memcpy(all, head, *nr * sizeof(*all));
    if (job->nr_turns > 0)
        memcpy(all + *nr, job->turns, job->nr_turns * sizeof(*all));
    *nr += job->nr_turns;
    all[*nr - 1].stable_until_here |= job->stage == STAGE_EPISODE;
    return all;
}

/* What a call costs in thought, by what it is asked for. */
static void set_by_kind(const struct model *m, const struct model_job *job, struct llm_request *r)
{
    const struct candidate *c = job->c;
    const char *kind = job->stage != STAGE_WRITE             ? purposes[job->stage]
                       : action_is_request(c->option.action) ? action_name(c->option.action)
                                                             : action_name(ACTION_IMPROVE);
    const char *temperature = by_kind(c->arena, m->options->temperature, kind);

    r->temperature = temperature ? strtod(temperature, NULL) : -1;
    r->effort = by_kind(c->arena, m->options->effort, kind);
}

bool model_ask(struct model *m, struct model_job *job, struct err *err)
{
    struct llm_message head[4];
    struct llm_request request = {.max_tokens = REPLY_TOKENS, .purpose = model_purpose(job)};
    struct model_call *call;

    if (m->endpoints[job->endpoint].broken && job->stage == STAGE_EPISODE && job->nr_turns > 0) {
        model_finish_job(job, "the model of the episode is given up");
        return true;
    }
    if (m->endpoints[job->endpoint].broken) {
        const int other = model_choose(m);
        job->endpoint = other < 0 ? job->endpoint : (unsigned)other;
        job->nr_turns = 0; /* each endpoint has look-ups in a form of its own */
    }
    if (!model_build(m, job, head, &request.nr_messages)) {
        model_finish_job(job, "the kernel file is longer than a prompt may be (--prompt-tokens)");
        return true;
    }
    set_by_kind(m, job, &request);
    request.messages = with_turns(job, head, &request.nr_messages);
    job->with_functions = has_functions(m, job);
    if (job->with_functions && job->stage == STAGE_EPISODE) {
        request.tools = episode_tools;
        request.nr_tools = NR_EPISODE_TOOLS + (m->options->library ? NR_TOOLS : 0);
    } else if (job->with_functions) {
        request.tools = lookup_tools;
        request.nr_tools = NR_TOOLS;
    }
    call = candidate_add_call(job->c);
    *call = call_record_begin(job->c->arena, &request, m->endpoints[job->endpoint].spec);
    call->error = "no answer had come when the run ended";
    call->tokens_in = prompt_tokens(call->prompt); /* until the endpoint says */
    call->tokens_estimated = true;
    job->prompt_bytes = strlen(call->prompt);
    return llm_start(m->endpoints[job->endpoint].llm, &request, &job->id, err) &&
           model_note(m, job->c, job->c->nr_calls - 1, err);
}
