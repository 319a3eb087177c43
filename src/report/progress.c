/* Owns the live line. */
#include "report/report.h"

#include "base/clock.h"
#include "base/terminal.h"

#include <unistd.h>

static const uint64_t REDRAW_NS = 50000000;

void progress_init(struct progress *p, FILE *out, bool quiet, bool verbose, uint64_t budget)
{
    *p = (struct progress){
        .out = out,
        .live = isatty(terminal_fd(out)) && !verbose,
        .quiet = quiet,
        .verbose = verbose,
        .budget = budget,
        .best_shown = 1,
    };
}

/* Adds the move in words. A model's text may hold anything, so control characters become blanks. */
static void add_what(struct str *line, const struct candidate *c)
{
    const size_t start = line->len;

    str_add(line, c->option.what ? c->option.what : action_name(c->option.action));
    for (size_t i = start; i < line->len; i++)
        if ((unsigned char)line->text[i] < ' ' || line->text[i] == 127)
            line->text[i] = ' ';
}

/* Cuts a line after `columns` characters. */
static void cut(struct str *line, unsigned columns)
{
    size_t at = 0;

    for (unsigned nr = 0; at < line->len && nr < columns; nr++) {
        const size_t bytes = str_utf8_bytes(line->text + at, line->len - at);

        at += bytes ? bytes : 1;
    }
    line->len = at < line->len ? at : line->len;
    line->text[line->len] = '\0';
}

static void wipe(struct progress *p)
{
    if (p->dirty)
        terminal_control(p->out, "\r\033[K");
    p->dirty = false;
}

static void add_count(struct str *line, const struct progress *p, uint64_t nr)
{
    if (p->budget)
        str_addf(line, "[%llu/%llu] ", (unsigned long long)nr, (unsigned long long)p->budget);
    else
        str_addf(line, "[%llu] ", (unsigned long long)nr);
}

void progress_trying(
    struct progress *p, const struct progress_state *state, const struct candidate *c)
{
    const uint64_t now = clock_ns();
    struct str line = {0};

    if (p->quiet || !p->live || now - p->last_ns < REDRAW_NS)
        return;
    p->last_ns = now;
    add_count(&line, p, state->nr_evaluated);
    str_addf(&line, "fastest so far %.2fx %s", state->best_speedup,
        state->from == PROV_MEASURED ? "" : "(modelled) ");
    if (state->nr_failed)
        str_addf(&line, "| %llu failed ", (unsigned long long)state->nr_failed);
    str_addf(&line, "| %.0f s | trying on node %lld: ", state->elapsed_s, (long long)c->parent);
    add_what(&line, c);
    cut(&line, report_columns(p->out) - 1);
    wipe(p);
    fputs(str_text(&line), p->out);
    fflush(p->out);
    p->dirty = true;
    str_finish(&line);
}

static void print(struct progress *p, struct str *line)
{
    wipe(p);
    fprintf(p->out, "%s\n", str_text(line));
    fflush(p->out);
    str_finish(line);
}

void progress_revised(
    struct progress *p, const struct progress_state *state, const struct candidate *c)
{
    struct str line = {0};

    p->best_shown = state->best_speedup;
    if (p->quiet)
        return;
    add_count(&line, p, state->nr_evaluated);
    str_addf(&line, "node %lld led, and is ", (long long)c->node);
    if (c->verdict == VERDICT_OK)
        str_addf(
            &line, "%.2fx %s where all blocks run", c->speedup, report_speedup_word(state->from));
    else
        str_addf(&line, "%s at the timed size", verdict_name(c->verdict));
    str_addf(&line, "; node %lld leads: %.2fx", (long long)state->best, state->best_speedup);
    if (c->verdict != VERDICT_OK && c->verdict_text)
        str_addf(&line, "\n        %s", c->verdict_text);
    print(p, &line);
}

void progress_done(
    struct progress *p, const struct progress_state *state, const struct candidate *c)
{
    const bool better = state->best == c->node && state->best_speedup > p->best_shown;
    struct str line = {0};

    if (p->quiet || (!better && !p->verbose))
        return;
    add_count(&line, p, state->nr_evaluated);
    str_addf(&line, "node %lld ", (long long)c->node);
    if (c->verdict == VERDICT_OK && c->profile.timing.refused)
        str_addf(&line, "no ratio (%s) ",
            c->profile.timing.note ? c->profile.timing.note : "clocks differ");
    else if (c->verdict == VERDICT_OK)
        str_addf(&line, "%.2fx %s ", c->speedup, report_speedup_word(state->from));
    else
        str_addf(&line, "%s ", verdict_name(c->verdict));
    if (c->recalled)
        str_addf(&line, "(same as node %lld) ", (long long)c->recalled_from);
    if (c->reused)
        str_add(&line, "(evaluated in an earlier run) ");
    str_addf(&line, "<- node %lld: ", (long long)c->parent);
    add_what(&line, c);
    if (c->verdict != VERDICT_OK && c->verdict_text)
        str_addf(&line, "\n        %s", c->verdict_text);
    print(p, &line);
    p->best_shown = better ? state->best_speedup : p->best_shown;
}

void progress_finish(struct progress *p)
{
    wipe(p);
    fflush(p->out);
}
