/* Owns the list of a run's calls. */
#include "cli/commands.h"
#include "cli/look.h"
#include "report/json_text.h"
#include "store/store.h"

#include <math.h>
#include <stdio.h>

static json_t *call_json(const struct store_call *row)
{
    const struct model_call *call = &row->call;
    json_t *out = json_object();

    json_object_set_new(out, "node", json_integer(row->node));
    json_object_set_new(out, "move", json_text_or_null(row->action));
    json_object_set_new(out, "purpose", json_text_or_null(call->purpose));
    json_object_set_new(out, "model", json_text_or_null(call->model));
    json_object_set_new(out, "verdict", json_text_or_null(verdict_name(call->verdict)));
    json_object_set_new(out, "verdict_text", json_text_or_null(call->verdict_text));
    json_object_set_new(out, "outcome", json_text_or_null(call->outcome));
    json_object_set_new(out, "error", json_text_or_null(call->error));
    json_object_set_new(out, "attempts", json_integer(call->attempts));
    json_object_set_new(out, "tokens_in", json_integer((json_int_t)call->tokens_in));
    json_object_set_new(out, "tokens_cached", json_integer((json_int_t)call->tokens_cached));
    json_object_set_new(out, "tokens_out", json_integer((json_int_t)call->tokens_out));
    json_object_set_new(out, "tokens_estimated", json_boolean(call->tokens_estimated));
    json_object_set_new(out, "lost_in", json_integer((json_int_t)call->lost_in));
    json_object_set_new(out, "lost_out", json_integer((json_int_t)call->lost_out));
    json_object_set_new(out, "cost", json_real_or_null(call->cost));
    json_object_set_new(out, "latency_ms", json_real(call->latency_ms));
    json_object_set_new(out, "waited_ms", json_real(call->waited_ms));
    json_object_set_new(out, "queued_ms", json_real(call->queued_ms));
    json_object_set_new(out, "prompt", json_text_or_null(call->prompt));
    json_object_set_new(out, "reply", json_text_or_null(call->reply));
    return out;
}

static void print_json(const struct store_call *rows, unsigned nr)
{
    json_t *list = json_array();
    struct str text = {0};

    for (unsigned i = 0; i < nr; i++)
        json_array_append_new(list, call_json(&rows[i]));
    json_add(&text, list, JSON_INDENT(1));
    fputs(str_text(&text), stdout);
    str_finish(&text);
}

static void print_row(const struct store_call *row)
{
    const struct model_call *c = &row->call;
    char dollars[32] = "?";

    if (!isnan(c->cost))
        snprintf(dollars, sizeof(dollars), "%.4f", c->cost);
    printf("%5lld  %-10s %-15s %-16s %5u %8llu %8llu %7llu %7llu %8.1f %9s  %s\n",
        (long long)row->node, c->purpose, row->action ? row->action : "(unfinished)",
        c->error ? "no answer" : verdict_name(c->verdict), c->attempts,
        (unsigned long long)c->tokens_in, (unsigned long long)c->tokens_cached,
        (unsigned long long)c->tokens_out, (unsigned long long)(c->lost_in + c->lost_out),
        c->latency_ms * 1e-3, dollars, c->model);
}

static void print_table(const struct store_call *rows, unsigned nr)
{
    unsigned long long in = 0, cached = 0, tokens_out = 0, lost = 0;
    unsigned nr_unpriced = 0;
    double cost = 0;

    printf("%5s  %-10s %-15s %-16s %5s %8s %8s %7s %7s %8s %9s  %s\n", "node", "purpose", "move",
        "verdict", "sent", "in", "cached", "out", "lost", "seconds", "dollars", "model");
    for (unsigned i = 0; i < nr; i++) {
        const struct model_call *c = &rows[i].call;

        print_row(&rows[i]);
        in += c->tokens_in;
        cached += c->tokens_cached;
        tokens_out += c->tokens_out;
        lost += c->lost_in + c->lost_out;
        cost += isnan(c->cost) ? 0 : c->cost;
        nr_unpriced += isnan(c->cost) != 0;
    }
    printf(
        "%u calls, %llu tokens in (%llu cached), %llu out, %llu lost to answers that broke off\n",
        nr, in, cached, tokens_out, lost);
    if (nr_unpriced < nr)
        printf("%.4f dollars\n", cost);
    if (nr_unpriced)
        printf("%u calls of unknown cost (?): their model has no price in prompts/prices.txt\n",
            nr_unpriced);
}

bool cmd_calls(const struct options *options, int *status, struct err *err)
{
    struct store_call *rows;
    struct looked_run l;
    unsigned nr = 0;
    const bool ok = look_open_run(&l, options->kernel_path, options->run, err) &&
                    store_list_calls(l.store, l.arena, &rows, &nr, err);

    if (ok && options->json)
        print_json(rows, nr);
    else if (ok)
        print_table(rows, nr);
    look_close_run(&l);
    return ok;
}
