/* Owns the translation of the command line into the options of each part. */
#include "cli/parts.h"

struct workbench_options options_bench(const struct options *o)
{
    return (struct workbench_options){
        .device = {.name = o->device,
            .nr_threads = o->nr_threads,
            .deadline_s = o->deadline_s,
            .worker_bytes = o->worker_bytes,
            .no_sandbox = o->no_sandbox},
        .gpus = o->gpus,
        .cache_dir = o->cache_dir,
        .cutlass_dir = o->cutlass_dir,
        .no_screen = o->no_screen,
        .energy = o->objective != OBJECTIVE_TIME,
    };
}

struct session_options options_session(const struct options *o)
{
    return (struct session_options){
        .db_path = o->db_path,
        .output_path = o->output_path,
        .resume = o->resume,
        .budget_text = o->budget_text,
        .budget_nodes = o->budget_nodes,
        .budget_s = o->budget_s,
        .window = o->window,
        .policy = o->policy,
        .objective = o->objective,
        .seed = o->seed,
        .reuse_path = o->reuse_path,
        .feedback = o->feedback,
        .tools_dir = o->tools_dir,
        .forbid_fast_math = o->forbid_fast_math,
        .in_flight = o->in_flight,
        .models = o->models,
        .nr_models = o->nr_models,
        .record_path = o->record_path,
        .memory_path = o->memory_path,
        .prompt_tokens = o->prompt_tokens,
        .max_tokens = o->max_tokens,
        .max_cost = o->max_cost,
        .no_memory = o->no_memory,
        .plan = o->plan && !o->no_plan,
        .temperature = o->temperature,
        .effort = o->effort,
        .techniques_dir = o->techniques_dir,
        .instructions_path = o->instructions_path,
        .call_s = o->call_s,
        .model_only = o->model_only,
        .tune_only = o->verb == VERB_TUNE,
        .fill = o->fill,
        .episodes = (enum episodes)o->episodes,
        .no_techniques = o->no_techniques,
        .no_best = o->no_best,
        .show_prompt = o->show_prompt,
    };
}

struct model_explanation_options options_model_explanation(const struct options *o)
{
    return (struct model_explanation_options){
        .models = o->models,
        .nr_models = o->nr_models,
        .record_path = o->record_path,
        .max_tokens = o->max_tokens,
        .max_cost = o->max_cost,
        .seed = o->seed,
    };
}
