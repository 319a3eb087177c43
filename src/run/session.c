/* Owns the parts of a run, and the measurement of the original. */
#include "run/session_parts.h"

#include "base/clock.h"
#include "base/file.h"
#include "base/lock.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/rng.h"
#include "base/share.h"
#include "base/str.h"
#include "run/cutlass.h"
#include "run/moves.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { DEFAULT_IN_FLIGHT = 4, FIRST_DESIGNS = 3, MOST_INSTRUCTIONS = 1 << 16 };

void session_candidate(struct session *s, struct arena *arena, struct candidate *c, int64_t node,
    int64_t parent, struct option option)
{
    candidate_init(c, arena, s->task);
    c->node = node;
    c->parent = parent;
    c->seed = rng_mix(s->run.seed, (uint64_t)node);
    c->option = option;
}

/* What the search is told: the reward, and the moves that the new node offers. A node that was
 * recalled from an equal node offers no moves, so that no part of the tree is searched twice. */
static struct search_outcome outcome_of(
    const struct session *s, const struct candidate *c, struct arena *arena)
{
    struct search_outcome outcome = {0};
    struct search_move *moves;

    outcome.ok = c->verdict == VERDICT_OK && c->speedup > 0;
    outcome.closes = c->verdict == VERDICT_DECLINED;
    if (!outcome.ok)
        return outcome;
    outcome.reward =
        log2(objective_gain(s->options->objective, &s->root.profile, &c->profile, c->speedup));
    if (c->recalled)
        return outcome;
    moves = moves_of(c, arena);
    for (unsigned i = 0; i < c->nr_options && s->options->no_best; i++)
        moves[i].flags &= (uint8_t)~SEARCH_FROM_BEST;
    outcome.moves = moves;
    outcome.nr_moves = c->nr_options;
    return outcome;
}

/* The speedup's interval, where one is known, excludes 1. */
static bool is_surely_faster(const struct candidate *c)
{
    return c->profile.timing.ratio <= 0 || c->profile.timing.ratio_low > 1;
}

void session_tell(struct session *s, const struct search_pick *pick, const struct candidate *c)
{
    const struct search_outcome outcome = outcome_of(s, c, c->arena);

    search_tell(s->search, pick, &outcome);
    s->state.nr_nodes++;
    if (s->in_flight.fill && c->option.proposer != PROPOSER_MODEL)
        s->state.nr_fill += candidate_cost(c);
    else
        s->state.nr_evaluated += candidate_cost(c);
    in_flight_told(s, c);
    s->state.nr_ok += outcome.ok;
    s->state.nr_reused += c->reused;
    s->state.verdicts[c->verdict]++;
    s->state.recalled[c->verdict] += c->recalled;
    if (outcome.ok && objective_take(s->options->objective, &s->standing, &c->profile, c->speedup,
                          is_surely_faster(c)))
        lead_taken(s, c);
}

double session_gain(const struct candidate *parent, const struct candidate *c)
{
    const bool ok = c->verdict == VERDICT_OK && c->speedup > 0 && parent->speedup > 0;

    return ok ? log2(c->speedup / parent->speedup) : 0;
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
    if (s->options->objective == OBJECTIVE_TIME || workbench_device(s->bench, 0)->ops->energy)
        return true;
    return err_set(err,
        "--objective %s needs a GPU's own energy counter, and the device in use (%s) has none: "
        "nothing here can be measured, and nothing is made up; use --objective time",
        objective_name(s->options->objective), workbench_chip(s->bench)->name);
}

/* How many picks may be under way. With models: one for each device, and some that wait for a
 * model. Without models: one for each device, or --in-flight. The tree depends on this number and
 * not on the number of devices. */
static unsigned slots_of(const struct session *s)
{
    const struct session_options *o = s->options;
    const unsigned nr_devices = workbench_nr_devices(s->bench);
    unsigned nr = nr_devices;

    if (o->nr_models > 0)
        nr = o->in_flight == 1 ? nr : nr + (o->in_flight ? o->in_flight : DEFAULT_IN_FLIGHT);
    else if (o->in_flight > nr)
        nr = o->in_flight;
    /* Half of them are left to what goes beside the budget. */
    return nr < PROPOSE_MAX_IN_FLIGHT / 2 ? nr : PROPOSE_MAX_IN_FLIGHT / 2;
}

static bool read_instructions(struct session *s, const char **text, struct err *err)
{
    char *read;
    size_t len;

    if (!file_read(s->options->instructions_path, MOST_INSTRUCTIONS, &read, &len, err))
        return err_wrap(err, "--instructions");
    *text = arena_strndup(s->arena, read, len);
    free(read);
    return true;
}

bool session_is_independent(const struct session *s)
{
    return strcmp(s->options->policy, "best_of_n") == 0;
}

static bool open_propose(struct session *s, struct err *err)
{
    const struct session_options *o = s->options;
    const char *cutlass = workbench_cutlass(s->bench);
    struct propose_options propose_options = {
        .forbid_fast_math = o->forbid_fast_math,
        .smem_per_block_bytes = workbench_chip(s->bench)->smem_per_block_max_bytes,
        .models = o->models,
        .nr_models = o->nr_models,
        .record_path = o->record_path,
        .in_flight = o->in_flight ? o->in_flight : DEFAULT_IN_FLIGHT,
        .prompt_tokens = o->prompt_tokens,
        .plan = o->plan,
        .no_techniques = o->no_techniques,
        .independent = session_is_independent(s),
        .episodes = o->episodes,
        .temperature = o->temperature,
        .effort = o->effort,
        .techniques_dir = o->techniques_dir,
        .emulated = strcmp(workbench_device(s->bench, 0)->ops->name, "emu") == 0,
        .call_s = o->call_s,
        .model_only = o->model_only,
        .tune_only = o->tune_only,
        .need_prices = o->max_cost > 0,
        .show_only = o->show_prompt,
        .seed = o->seed,
    };
    char *prompts = share_find("prompts");

    if (o->instructions_path && !read_instructions(s, &propose_options.instructions, err)) {
        free(prompts);
        return false;
    }
    if (!prompts)
        return err_set(err,
            "the folder prompts/ was not found beside the program; set KEET_SHARE to "
            "the folder that holds it");
    propose_options.prompts_dir = arena_strdup(s->arena, prompts);
    free(prompts);
    propose_options.runs_on = workbench_chip(s->bench);
    if (o->nr_models > 0 || o->show_prompt)
        propose_options.chip = propose_options.runs_on;
    s->journal =
        (struct propose_journal){s, save_call, in_flight_surround_again, in_flight_load_node};
    propose_options.journal = &s->journal;
    if (cutlass && propose_options.chip) {
        s->cutlass = cutlass_create(cutlass, workbench_options(s->bench)->cache_dir);
        s->library = (struct propose_library){s->cutlass, cutlass_search, cutlass_read};
        propose_options.library = &s->library;
    }
    s->propose = propose_create(&propose_options, s->task, err);
    return s->propose != NULL;
}

static bool open_parts(struct session *s, struct err *err)
{
    const struct session_options *o = s->options;

    s->in_flight.nr_slots = slots_of(s);
    s->in_flight.nr_fill_slots = workbench_nr_devices(s->bench);
    s->in_flight.fill = s->in_flight.fill_left = o->nr_models > 0 && !o->model_only ? o->fill : 0;
    /* The proposers' child is made before the evaluator's threads. */
    return can_measure(s, err) && open_propose(s, err) &&
           (s->evaluator = evaluator_create(s->bench, s->task, loop_check_and_profile, err));
}

/* The specs of models, one a line: the specs of the run so far, then the specs of this command. */
static const char *models_of(struct session *s, const char *so_far)
{
    const struct session_options *o = s->options;
    const char *all = so_far ? so_far : "";

    for (unsigned i = 0; i < o->nr_models; i++) {
        const char *lines = arena_printf(s->arena, "\n%s\n", all);

        if (!strstr(lines, arena_printf(s->arena, "\n%s\n", o->models[i])))
            all = arena_printf(s->arena, "%s%s%s", all, *all ? "\n" : "", o->models[i]);
    }
    return all;
}

/* The policy in the record of a run: settings that are not the default follow the policy's
 * name. */
static const char *policy_text(const struct session *s)
{
    const struct session_options *o = s->options;
    const char *text = o->tune_only ? "tune" : o->policy;

    if (o->feedback)
        text = arena_printf(s->arena, "%s, feedback %s", text, o->feedback);
    if (o->objective != OBJECTIVE_TIME)
        text = arena_printf(s->arena, "%s, objective %s", text, objective_name(o->objective));
    return text;
}

/* Begin a new run; with --resume, go on with the newest run of the same kernel, seed, policy and
 * device. */
static bool open_run(struct session *s, bool *resumed, struct err *err)
{
    const struct session_options *o = s->options;
    struct run_info run = {
        .kernel_path = s->task->path,
        .original = s->task->source,
        .device = arena_printf(s->arena, "%s:%s", workbench_device(s->bench, 0)->ops->name,
            workbench_chip(s->bench)->key),
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

/* Can the objective be measured? A run refuses an objective at its beginning, not at its end. */
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
    if (!propose_kernel(s->propose, s->task->source, s->task->source_bytes, c, err) ||
        !compile_kernel(workbench_compiler(s->bench), c, err) || !must_live(c, err) ||
        !workbench_oracle(s->bench, s->task, &c->compilation, s->arena, &s->reference, err))
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
    s->state.nr_reused += c->reused;
    return propose_options(s->propose, c, err) &&
           explain_kernel(workbench_device(s->bench, 0)->chip, c, err) &&
           steering_priors(s, c, err) && store_kernel(s->store, c, err) &&
           reuse_note(s->reuse, c, err);
}

static bool plant(struct session *s, struct err *err)
{
    const struct search_options search_options = {
        .policy = s->options->policy,
        .seed = s->run.seed,
        .best_share = -1,
        .nr_fresh_first = FIRST_DESIGNS,
        .arms_converge = s->in_flight.fill > 0,
    };
    const struct search_outcome outcome = outcome_of(s, &s->root, s->arena);

    s->search = search_create(&search_options);
    if (!s->search)
        return err_set(err, "unknown search policy %s", s->options->policy);
    search_add_root(s->search, &outcome);
    propose_told(s->propose, &s->root, 0);
    s->state.best_speedup = 1;
    s->standing = objective_start(s->options->objective, &s->root.profile);
    return true;
}

static bool open_memory(struct session *s, struct err *err)
{
    const struct session_options *o = s->options;
    const struct lessons_options lessons_options = {.path = o->memory_path,
        .store = s->store,
        .kernel = file_name(s->task->path),
        .device = s->run.device};

    if (o->no_memory || (!o->memory_path && o->nr_models == 0))
        return true;
    s->memory = lessons_create(&lessons_options, err);
    return s->memory != NULL;
}

/* Open the file of --reuse. Only the emulator's evaluations are the same every time. */
static bool open_reuse(struct session *s, struct err *err)
{
    const struct session_options *o = s->options;
    const char *models = o->nr_models == 0 ? "none" : o->model_only ? "only" : "too";

    if (!o->reuse_path)
        return true;
    if (strcmp(workbench_device(s->bench, 0)->ops->name, "emu") != 0)
        return err_set(
            err, "--reuse goes with the emulator only: a measured time belongs to its run");
    s->reuse = reuse_open(o->reuse_path, &s->run,
        arena_printf(s->arena, "fast math %s, models %s, cutlass %s",
            o->forbid_fast_math ? "forbidden" : "allowed", models,
            workbench_cutlass(s->bench) ? "yes" : "no"),
        err);
    return s->reuse != NULL;
}

static const char *lock_path(struct session *s)
{
    return arena_printf(s->arena, "%s-lock", s->db_path);
}

static bool open_session(struct session *s, struct err *err)
{
    const struct session_options *o = s->options;
    bool resumed;
    int64_t nr_stored = 0;

    s->db_path = o->db_path ? o->db_path : with_suffix(s->arena, s->task->path, ".keet.db");
    s->output_path =
        o->output_path ? o->output_path : with_suffix(s->arena, s->task->path, ".keet.cu");
    if (o->show_prompt) /* a prompt is no run: nothing is kept, nobody is in the way */
        s->db_path = STORE_IN_MEMORY;
    else if (!lock_take(lock_path(s), &s->lock, err))
        return err_wrap(err, "--db %s", s->db_path);
    return open_parts(s, err) && open_run(s, &resumed, err) &&
           (!resumed || store_nr_nodes(s->store, &nr_stored, err)) && open_memory(s, err) &&
           open_reuse(s, err) && steering_open(s, err) && measure_original(s, nr_stored > 0, err) &&
           plant(s, err) && (nr_stored == 0 || session_replay(s, err));
}

struct session *session_open(const struct session_options *options, struct workbench *bench,
    const struct task *task, struct err *err)
{
    struct session *s = xcalloc(1, sizeof(*s));

    s->options = options;
    s->bench = bench;
    s->task = task;
    s->arena = arena_create();
    s->lock = -1;
    s->started_ns = options->started_ns ? options->started_ns : clock_ns();
    s->run.seed = options->seed;
    in_flight_init(&s->in_flight);
    if (open_session(s, err))
        return s;
    session_close(s);
    return NULL;
}

void session_close(struct session *s)
{
    if (!s)
        return;
    search_destroy(s->search);
    lessons_destroy(s->memory);
    reuse_close(s->reuse);
    borrowed_explanation_close(s->borrowed);
    evaluator_destroy(s->evaluator);
    propose_destroy(s->propose);
    cutlass_destroy(s->cutlass);
    store_close(s->store);
    lock_release(lock_path(s), s->lock);
    in_flight_finish(&s->in_flight);
    arena_destroy(s->arena);
    free(s);
}

/* ---- the result of the run ---- */

double session_elapsed_s(const struct session *s)
{
    return (double)(clock_ns() - s->started_ns) * 1e-9;
}

struct session_state session_state(const struct session *s)
{
    struct session_state state = s->state;

    state.elapsed_s = session_elapsed_s(s);
    state.from = s->root.profile.time_from;
    return state;
}

/* The nodes from the root to the best one, read back from the store. */
static bool load_path(struct session *s, struct session_result *result, struct err *err)
{
    unsigned depth = 0;
    int64_t node = s->state.best;
    struct candidate *path;

    for (int64_t at = node; at > 0; depth++)
        at = search_node(s->search, at).parent;
    path = arena_array(s->arena, depth + 1, sizeof(*path));
    for (unsigned i = depth + 1; i-- > 0;) {
        struct candidate *c = &path[i];
        bool found;

        session_candidate(s, s->arena, c, 0, -1, (struct option){.action = ACTION_NONE});
        if (!store_load_node(s->store, node, c, &found, err))
            return false;
        if (!found)
            return err_set(err, "node %lld is missing in the database", (long long)node);
        node = c->parent;
    }
    result->path = path;
    result->nr_path = depth + 1;
    return true;
}

bool session_result(struct session *s, struct session_result *result, struct err *err)
{
    *result = (struct session_result){.state = session_state(s),
        .run = &s->run,
        .db_path = s->db_path,
        .output_path = s->output_path};
    s->spent = propose_spent(s->propose);
    if (propose_has_model(s->propose) || s->spent.nr_calls > 0)
        result->spent = &s->spent;
    return load_path(s, result, err) && output_find_kept(s, result, err) &&
           store_tree_hash(s->store, result->tree_hash, err);
}

bool session_show_prompt(struct session *s, struct str *out, struct err *err)
{
    const struct option option = {.action = ACTION_DESIGN, .proposer = PROPOSER_MODEL};
    struct propose_context context;
    struct candidate c;

    session_candidate(s, s->arena, &c, 1, 0, option);
    return in_flight_surround(s, &c, &s->root, s->arena, &context, err) &&
           propose_show(s->propose, &context, &c, out, err);
}
