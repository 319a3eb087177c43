/* Owns the parts of a run, the measurement of the original, and the replay of a resumed tree. */
#include "run/session.h"

#include "base/clock.h"
#include "base/lock.h"
#include "base/log.h"
#include "base/rng.h"
#include "base/share.h"
#include "base/str.h"
#include "cli/cmd_init.h"
#include "run/cutlass.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"

enum { DEFAULT_IN_FLIGHT = 4 };

uint32_t session_move_id(const struct option *option)
{
    return (uint32_t)option->action | (uint32_t)option->proposer << 8 | option->variant << 16;
}

void session_candidate(struct session *s, struct arena *arena, struct candidate *c, int64_t node,
    int64_t parent, struct option option)
{
    *c = (struct candidate){
        .arena = arena,
        .task = &s->task,
        .node = node,
        .parent = parent,
        .seed = rng_mix(s->run.seed, (uint64_t)node),
        .option = option,
        .recalled_from = -1,
    };
}

/* What the search is told: the reward, and the moves that the new node offers. A node recalled from
 * an equal one offers none, so that no part of the tree is searched twice. */
static struct search_outcome outcome_of(
    const struct session *s, const struct candidate *c, struct arena *arena)
{
    struct search_outcome outcome = {0};
    struct search_move *moves;

    outcome.ok = c->verdict == VERDICT_OK && c->speedup > 0;
    if (!outcome.ok)
        return outcome;
    outcome.reward =
        log2(objective_gain(s->options->objective, &s->root.profile, &c->profile, c->speedup));
    if (c->recalled)
        return outcome;
    moves = arena_array(arena, c->nr_options, sizeof(*moves));
    for (unsigned i = 0; i < c->nr_options; i++)
        moves[i] = (struct search_move){session_move_id(&c->options[i]), c->options[i].prior};
    outcome.moves = moves;
    outcome.nr_moves = c->nr_options;
    return outcome;
}

/* Where an interval is known, it must exclude 1. */
static bool is_surely_faster(const struct candidate *c)
{
    return c->profile.timing.ratio <= 0 || c->profile.timing.ratio_low > 1;
}

/* Tell search and tallies. */
static void tell(struct session *s, const struct search_pick *pick, const struct candidate *c)
{
    const struct search_outcome outcome = outcome_of(s, c, c->arena);

    search_tell(s->search, pick, &outcome);
    s->nr_nodes++;
    s->nr_evaluated += !c->recalled;
    s->nr_ok += outcome.ok;
    s->nr_reused += c->reused;
    s->verdicts[c->verdict]++;
    if (outcome.ok && objective_take(s->options->objective, &s->standing, &c->profile, c->speedup,
                          is_surely_faster(c))) {
        s->best_speedup = c->speedup;
        s->best = c->node;
    }
}

/* log2 of a candidate's speed over its parent's; 0 when it failed. */
static double gain_of(const struct candidate *parent, const struct candidate *c)
{
    const bool ok = c->verdict == VERDICT_OK && c->speedup > 0 && parent->speedup > 0;

    return ok ? log2(c->speedup / parent->speedup) : 0;
}

bool session_store(struct session *s, struct trial *trial, struct err *err)
{
    struct candidate *c = &trial->c;

    if (!store_kernel(s->store, c, err) || !reuse_note(s->reuse, c, err) ||
        !lessons_note(s->memory, &trial->parent, c, err))
        return false;
    tell(s, &trial->pick, c);
    propose_told(s->propose, c, gain_of(&trial->parent, c));
    trial->state = TRIAL_FREE; /* its memory stays until the next pick takes it */
    return true;
}

static const char *with_suffix(struct arena *arena, const char *path, const char *suffix)
{
    const char *name = file_name(path);
    const size_t len = strlen(name) - (str_ends(name, ".cu") ? 3 : 0);

    return arena_printf(arena, "%.*s%s", (int)len, name, suffix);
}

static bool save_call(
    struct session *s, const struct candidate *c, unsigned number, struct err *err)
{
    return store_save_call(s->store, c, number, err);
}

static bool can_measure(const struct session *s, struct err *err)
{
    if (s->options->objective == OBJECTIVE_TIME || s->device->ops->energy)
        return true;
    return err_set(err,
        "--objective %s needs a GPU's own energy counter, and the device in use (%s) has none: "
        "nothing here can be measured, and nothing is made up; use --objective time",
        objective_name(s->options->objective), s->device->chip->name);
}

/* How many picks may be under way. With models, so many wait for one while each device has a trial.
 * Without, as many as there are devices, or --in-flight: the tree depends on that number, and not
 * on how many devices there are. */
static unsigned slots_of(const struct session *s)
{
    const struct options *o = s->options;
    const unsigned nr_devices = evaluator_nr_devices(s->evaluator);
    unsigned nr = nr_devices;

    if (o->nr_models > 0)
        nr = o->in_flight == 1 ? nr : nr + (o->in_flight ? o->in_flight : DEFAULT_IN_FLIGHT);
    else if (o->in_flight > nr)
        nr = o->in_flight;
    return nr < PROPOSE_MAX_IN_FLIGHT ? nr : PROPOSE_MAX_IN_FLIGHT;
}

static bool open_parts(struct session *s, struct err *err)
{
    const struct options *o = s->options;
    struct propose_options propose_options = {
        .forbid_fast_math = o->forbid_fast_math,
        .models = o->models,
        .nr_models = o->nr_models,
        .record_path = o->record_path,
        .in_flight = o->in_flight ? o->in_flight : DEFAULT_IN_FLIGHT,
        .prompt_tokens = o->prompt_tokens,
        .no_plan = o->no_plan,
        .model_only = o->model_only,
        .need_prices = o->max_cost > 0,
        .seed = o->seed,
    };
    char *prompts;
    struct compiler_options compiler_options = {.cache_dir = o->cache_dir};

    if (!init_load_task(&s->task, s->arena, o, err))
        return false;
    s->evaluator = evaluator_create(o, &s->task, err);
    if (!s->evaluator)
        return false;
    s->device = evaluator_device(s->evaluator);
    if (!can_measure(s, err))
        return false;
    if (!cutlass_find(o->cutlass_dir, &s->cutlass_root, err))
        return false;
    compiler_options.cutlass_dir = s->cutlass_root;
    compiler_options.arch = s->device->chip->arch;
    s->compiler = compiler_create(&compiler_options, err);
    if (!s->compiler)
        return false;
    prompts = share_find("prompts");
    if (!prompts)
        return err_set(err,
            "the folder prompts/ was not found beside the program; set KEET_SHARE to "
            "the folder that holds it");
    propose_options.prompts_dir = arena_strdup(s->arena, prompts);
    free(prompts);
    if (o->nr_models > 0 || o->show_prompt)
        propose_options.chip = s->device->chip;
    s->journal = (struct propose_journal){s, save_call};
    propose_options.journal = &s->journal;
    if (s->cutlass_root && propose_options.chip) {
        s->cutlass = cutlass_create(s->cutlass_root, o->cache_dir);
        s->library = (struct propose_library){s->cutlass, cutlass_search, cutlass_read};
        propose_options.library = &s->library;
    }
    s->nr_slots = slots_of(s);
    s->propose = propose_create(&propose_options, &s->task, err);
    return s->propose != NULL;
}

/* The specs, one a line: those of the run so far, and those that it is given now. */
static const char *models_of(struct session *s, const char *so_far)
{
    const struct options *o = s->options;
    const char *all = so_far ? so_far : "";

    for (unsigned i = 0; i < o->nr_models; i++) {
        const char *lines = arena_printf(s->arena, "\n%s\n", all);

        if (!strstr(lines, arena_printf(s->arena, "\n%s\n", o->models[i])))
            all = arena_printf(s->arena, "%s%s%s", all, *all ? "\n" : "", o->models[i]);
    }
    return all;
}

/* As the run is known: what of it is not the usual follows the policy. */
static const char *policy_text(const struct session *s)
{
    const struct options *o = s->options;
    const char *text = o->policy;

    if (o->feedback)
        text = arena_printf(s->arena, "%s, feedback %s", text, o->feedback);
    if (o->objective != OBJECTIVE_TIME)
        text = arena_printf(s->arena, "%s, objective %s", text, objective_name(o->objective));
    return text;
}

/* A new run, or with --resume the newest one of the same kernel, seed, policy and device. */
static bool open_run(struct session *s, bool *resumed, struct err *err)
{
    const struct options *o = s->options;
    struct run_info run = {
        .kernel_path = o->kernel_path,
        .original = s->task.source,
        .device = arena_printf(s->arena, "%s:%s", s->device->ops->name, s->device->chip->key),
        .policy = policy_text(s),
        .version = KEET_VERSION,
        .seed = o->seed,
        .budget = o->budget_text,
        .models = models_of(s, NULL),
    };
    struct run_info old;
    bool found = false;

    *resumed = false;
    s->store = store_open(s->db_path, err);
    if (!s->store)
        return false;
    if (o->resume && !store_find_run(s->store, s->arena, &old, &found, err))
        return false;
    if (!found) {
        s->run = run;
        return store_begin_run(s->store, &s->run, err);
    }
    if (!store_same_run(&old, &run, err))
        return err_wrap(err, "cannot resume the run in %s", s->db_path);
    *resumed = true;
    s->run = old;
    s->run.models = models_of(s, old.models);
    s->run.budget = run.budget;
    return store_go_on(s->store, s->run.models, s->run.budget, err);
}

/* The oracle: the file's `reference` kernel where it has one, else the original itself. */
static bool compile_oracle(struct session *s, struct err *err)
{
    const struct launch *oracle = s->task.reference;
    struct compile_input input;
    enum verdict verdict = VERDICT_OK;
    unsigned line = 0;
    const char *text = NULL;
    char *code;
    bool ok;

    s->reference = s->root.compilation;
    if (!oracle)
        return true;
    code = task_code(s->task.source, s->task.source_bytes);
    input = (struct compile_input){
        .source = code,
        .name = file_name(s->task.path),
        .kernels = &oracle->kernel,
        .nr_kernels = 1,
        .tunes = s->task.plan.tunes,
        .nr_tunes = s->task.plan.nr_tunes,
    };
    ok = compile_source(s->compiler, &input, s->arena, &s->reference, &verdict, &line, &text, err);
    free(code);
    if (ok && verdict != VERDICT_OK)
        return err_set(err, "the reference kernel does not compile: %s", text);
    return ok;
}

static bool must_live(const struct candidate *c, struct err *err)
{
    if (c->verdict == VERDICT_OK)
        return true;
    return err_set(err,
        "%s: the original kernel itself fails (%s), so nothing can be compared "
        "with it: %s",
        c->task->path, verdict_name(c->verdict), c->verdict_text ? c->verdict_text : "");
}

bool session_recall(struct session *s, struct candidate *c, struct err *err)
{
    bool found;

    return store_recall(s->store, c, err) &&
           (candidate_settled(c) || reuse_find(s->reuse, c, &found, err));
}

/* An objective that cannot be measured is refused at once, not found out after a night. */
static bool has_energy(const struct session *s, struct err *err)
{
    const struct profile *profile = &s->root.profile;

    if (s->options->objective == OBJECTIVE_TIME || counters_has(&profile->total, METRIC_ENERGY_J))
        return true;
    return err_set(err, "--objective %s: the original's energy is not known: %s",
        objective_name(s->options->objective),
        profile->no_energy ? profile->no_energy : "the stored run did not measure it");
}

/* The original goes through the same stages as every candidate. */
static bool measure_original(struct session *s, bool stored, struct err *err)
{
    struct candidate *c = &s->root;

    session_candidate(s, s->arena, c, 0, -1, (struct option){.action = ACTION_NONE});
    if (!propose_kernel(s->propose, s->task.source, s->task.source_bytes, c, err) ||
        !compile_kernel(s->compiler, c, err) || !must_live(c, err) || !compile_oracle(s, err))
        return false;
    evaluator_set_original(s->evaluator, c, &s->reference);
    if (stored) {
        bool found;
        const struct compilation compiled = c->compilation;

        if (!store_load_node(s->store, 0, c, &found, err))
            return false;
        c->compilation = compiled;
        return must_live(c, err) && has_energy(s, err);
    }
    if (!session_recall(s, c, err) || !evaluator_run(s->evaluator, c, err) || !must_live(c, err) ||
        !has_energy(s, err))
        return false;
    c->speedup = 1;
    s->nr_reused += c->reused;
    return propose_options(s->propose, c, err) && explain_kernel(s->device->chip, c, err) &&
           session_priors(s, c, err) && store_kernel(s->store, c, err) &&
           reuse_note(s->reuse, c, err);
}

static bool strange_tree(int64_t node, struct err *err)
{
    return err_set(err,
        "cannot resume: node %lld is not what this version of the search would have tried; start a "
        "new run without --resume",
        (long long)node);
}

/* Tell a stored node again. The search must have asked for this very one. */
static bool retell(struct session *s, int64_t node, const struct search_pick *pick, struct err *err)
{
    struct arena *arena = s->trials[0].arena;
    struct candidate c, parent;
    bool found;

    arena_reset(arena);
    session_candidate(s, arena, &c, node, -1, (struct option){.action = ACTION_NONE});
    if (!store_load_node(s->store, node, &c, &found, err))
        return false;
    if (!found || pick->node != node || pick->parent != c.parent ||
        pick->move != session_move_id(&c.option))
        return strange_tree(node, err);
    tell(s, pick, &c);
    s->nr_evaluated += candidate_nr_repairs(&c);
    if (c.nr_calls == 0)
        return true;
    session_candidate(s, arena, &parent, c.parent, -1, (struct option){.action = ACTION_NONE});
    if (!store_load_node(s->store, c.parent, &parent, &found, err))
        return false;
    propose_told(s->propose, &c, gain_of(&parent, &c));
    return true;
}

/* Ask and tell the search again in the order in which it was done, and begin anew what was asked
 * but never told. */
static bool replay(struct session *s, struct err *err)
{
    struct store_order order;
    struct search_pick *picks;
    int64_t nr_asked = 0;
    bool ok = true;

    if (!store_load_order(s->store, s->arena, &order, err))
        return false;
    picks = arena_array(s->arena, (size_t)order.nr_asked + 1, sizeof(*picks));
    for (int64_t told = 0; ok && told <= order.nr_told; told++) {
        for (; nr_asked < order.nr_asked && order.asked[nr_asked] <= told; nr_asked++)
            if (!search_ask(s->search, &picks[nr_asked]))
                return strange_tree(nr_asked + 1, err);
        if (told == order.nr_told)
            break;
        const int64_t node = order.told[told];
        if (node < 1 || node > nr_asked)
            return strange_tree(node, err);
        ok = retell(s, node, &picks[node - 1], err);
        picks[node - 1].node = 0; /* done */
    }
    for (int64_t i = 0; ok && i < nr_asked; i++)
        ok = picks[i].node == 0 || session_begin(s, &picks[i], err);
    return ok;
}

static bool plant(struct session *s, struct err *err)
{
    const struct search_options search_options = {
        .policy = s->options->policy,
        .seed = s->run.seed,
        .best_share = -1,
    };
    const struct search_outcome outcome = outcome_of(s, &s->root, s->arena);

    s->search = search_create(&search_options);
    if (!s->search)
        return err_set(err, "unknown search policy %s", s->options->policy);
    search_add_root(s->search, &outcome);
    s->best_speedup = 1;
    s->standing = objective_start(s->options->objective, &s->root.profile);
    return true;
}

static bool open_memory(struct session *s, struct err *err)
{
    const struct options *o = s->options;
    const struct lessons_options lessons_options = {.path = o->memory_path,
        .store = s->store,
        .kernel = file_name(s->task.path),
        .device = s->run.device};

    if (o->no_memory || (!o->memory_path && o->nr_models == 0))
        return true;
    s->memory = lessons_create(&lessons_options, err);
    return s->memory != NULL;
}

/* The emulator's evaluations are the same every time; a GPU's are not. */
static bool open_reuse(struct session *s, struct err *err)
{
    const struct options *o = s->options;
    const char *models = o->nr_models == 0 ? "none" : o->model_only ? "only" : "too";

    if (!o->reuse_path)
        return true;
    if (strcmp(s->device->ops->name, "emu") != 0)
        return err_set(
            err, "--reuse goes with the emulator only: a measured time belongs to its run");
    s->reuse = reuse_open(o->reuse_path, &s->run,
        arena_printf(s->arena, "fast math %s, models %s, cutlass %s",
            o->forbid_fast_math ? "forbidden" : "allowed", models, s->cutlass_root ? "yes" : "no"),
        err);
    return s->reuse != NULL;
}

static bool open_feedback(struct session *s, struct err *err)
{
    static const char other[] = "other:";
    const char *name = s->options->feedback;

    if (!name)
        return true;
    if (strncmp(name, other, strlen(other)) == 0) {
        s->feedback = FEEDBACK_OTHER;
        s->donor = donor_open(name + strlen(other), err);
        return s->donor || err_wrap(err, "--feedback");
    }
    return feedback_parse(name, &s->feedback) ||
           err_set(err, "--feedback %s: expected findings, none, counters, generic or other:RUN.db",
               name);
}

static const char *lock_path(struct session *s)
{
    return arena_printf(s->arena, "%s-lock", s->db_path);
}

bool session_open(struct session *s, const struct options *options, struct err *err)
{
    bool resumed;
    int64_t nr_stored = 0;

    *s = (struct session){.options = options, .arena = arena_create(), .lock = -1};
    for (unsigned i = 0; i < PROPOSE_MAX_IN_FLIGHT; i++)
        s->trials[i].arena = arena_create();
    s->started_ns = clock_ns();
    s->run.seed = options->seed;
    s->db_path = options->db_path ? options->db_path
                                  : with_suffix(s->arena, options->kernel_path, ".keet.db");
    s->output_path = options->output_path ? options->output_path
                                          : with_suffix(s->arena, options->kernel_path, ".keet.cu");
    return (lock_take(lock_path(s), &s->lock, err) || err_wrap(err, "--db %s", s->db_path)) &&
           open_parts(s, err) && open_run(s, &resumed, err) &&
           (!resumed || store_nr_nodes(s->store, &nr_stored, err)) && open_memory(s, err) &&
           open_reuse(s, err) && open_feedback(s, err) && measure_original(s, nr_stored > 0, err) &&
           plant(s, err) && (nr_stored == 0 || replay(s, err));
}

void session_close(struct session *s)
{
    search_destroy(s->search);
    lessons_destroy(s->memory);
    reuse_close(s->reuse);
    donor_close(s->donor);
    evaluator_destroy(s->evaluator);
    propose_destroy(s->propose);
    compiler_destroy(s->compiler);
    cutlass_destroy(s->cutlass);
    free(s->cutlass_root);
    store_close(s->store);
    lock_release(lock_path(s), s->lock);
    for (unsigned i = 0; i < PROPOSE_MAX_IN_FLIGHT; i++)
        arena_destroy(s->trials[i].arena);
    arena_destroy(s->arena);
}
