/* Owns the table of a campaign on a terminal. */
#include "campaign/table.h"

#include "base/clock.h"
#include "base/mem.h"
#include "base/terminal.h"
#include "report/report.h"

#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

enum { NAME = 24, LINE = 100 };

void table_summary(const struct campaign *c, const struct campaign_figures *all, struct str *out)
{
    unsigned nr[4] = {0};

    for (unsigned i = 0; i < c->nr_tasks; i++)
        nr[all[i].state]++;
    str_addf(out, "%u of %u done", nr[TASK_DONE], c->nr_tasks);
    if (nr[TASK_RUNNING])
        str_addf(out, ", %u running", nr[TASK_RUNNING]);
    if (nr[TASK_FAILED])
        str_addf(out, ", %u failed", nr[TASK_FAILED]);
}

void table_head(struct str *out)
{
    str_addf(out, "%-*s %-8s %11s %9s  %s\n", NAME, "task", "state", "variants", "speedup", "");
}

static void add_budget(
    const struct campaign_task *t, const struct campaign_figures *f, struct str *out)
{
    struct str cell = {0};

    if (t->timed)
        str_addf(&cell, "%lld", (long long)f->digest.nr_evaluated);
    else
        str_addf(&cell, "%lld/%.0f", (long long)f->digest.nr_evaluated, t->budget);
    str_addf(out, " %11s", str_text(&cell));
    str_finish(&cell);
}

void table_row(const struct campaign_task *t, const struct campaign_figures *f, struct str *out)
{
    const size_t start = out->len;

    str_addf(out, "%-*.*s %-8s", NAME, NAME, t->name, campaign_state_name(f));
    add_budget(t, f, out);
    if (f->measured)
        str_addf(out, " %8.2fx  %s", f->digest.speedup,
            f->digest.from == PROV_MEASURED ? "" : provenance_name(f->digest.from));
    else
        str_addf(out, " %9s  ", "-");
    if (f->problem)
        str_addf(out, "%s%s", f->measured ? ", " : "", f->problem);
    else if (f->why)
        str_addf(out, "%s%s", f->measured ? ", " : "", f->why);
    for (size_t i = start; i < out->len; i++)
        if ((unsigned char)out->text[i] < ' ')
            out->text[i] = ' ';
    str_add_char(out, '\n');
}

/* ---- live ---- */

void table_init(struct table *table, FILE *out)
{
    *table = (struct table){.out = out, .live = out && isatty(terminal_fd(out))};
    table->arena = arena_create();
}

static unsigned screen_rows(const struct table *table)
{
    struct winsize size;

    if (ioctl(terminal_fd(table->out), TIOCGWINSZ, &size) == 0 && size.ws_row > 4)
        return size.ws_row;
    return 24;
}

/* Running tasks come first, then failed ones, then the rest, as many as fit. */
static void add_rows(
    const struct campaign *c, const struct campaign_figures *all, unsigned most, struct str *out)
{
    static const int order[] = {TASK_RUNNING, TASK_FAILED, TASK_DONE, TASK_WAITING};
    unsigned nr = 0;

    for (int o = 0; o < 4; o++) {
        for (unsigned i = 0; i < c->nr_tasks && nr < most; i++) {
            if ((int)all[i].state != order[o])
                continue;
            table_row(&c->tasks[i], &all[i], out);
            nr++;
        }
    }
    if (nr < c->nr_tasks)
        str_addf(out, "... and %u more\n", c->nr_tasks - nr);
}

/* Writes lines cut to the screen's width; each line clears the old one. */
static void show(struct table *table, const char *text)
{
    char up[32];

    snprintf(up, sizeof(up), "\033[%uA", table->nr_lines);
    if (table->nr_lines > 0)
        terminal_control(table->out, up);
    table->nr_lines = 0;
    while (*text) {
        const size_t len = strcspn(text, "\n");

        fprintf(table->out, "%.*s", len > LINE ? LINE : (int)len, text);
        terminal_control(table->out, "\033[K\n");
        table->nr_lines++;
        text = str_next_line(text);
    }
    terminal_control(table->out, "\033[J");
}

static void draw(struct table *table, const struct campaign *c, unsigned round)
{
    struct campaign_figures *all =
        arena_array(table->arena, c->nr_tasks, sizeof(struct campaign_figures));
    const uint64_t begun_ns = clock_ns();
    struct str text = {0};
    struct err ignored; /* a database that cannot be read now is read the next time */

    for (unsigned i = 0; i < c->nr_tasks; i++)
        campaign_figures(c, &c->tasks[i], table->arena, &all[i], &ignored);
    str_addf(&text, "%s: ", c->folder);
    table_summary(c, all, &text);
    str_addf(&text, ", round %u\n", round);
    if (table->trouble)
        str_addf(&text, "%s\n", table->trouble);
    table_head(&text);
    add_rows(c, all, screen_rows(table) - 4 - (table->trouble != NULL), &text);
    show(table, str_text(&text));
    str_finish(&text);
    arena_reset(table->arena);
    table->drawn_ns = clock_ns();
    table->cost_ns = table->drawn_ns - begun_ns;
}

void table_tick(struct table *table, const struct campaign *c, unsigned round)
{
    /* Once a second; with very many tasks less often, so that looking stays cheap. */
    if (table->live && clock_ns() - table->drawn_ns > 1000000000 + 20 * table->cost_ns)
        draw(table, c, round);
}

void table_ended(struct table *table, const struct campaign *c, const struct campaign_task *t)
{
    const struct campaign_slice *last = &t->slices[t->nr_slices - 1];
    struct campaign_figures figures;
    struct str text = {0};
    struct err ignored;

    if (!table->out || table->live)
        return;
    if (campaign_figures(c, t, table->arena, &figures, &ignored)) {
        str_addf(&text, "round %-2u ", last->round);
        table_row(t, &figures, &text);
        fputs(str_text(&text), table->out);
        fflush(table->out);
    }
    str_finish(&text);
    arena_reset(table->arena);
}

void table_trouble(struct table *table, const char *trouble)
{
    const char *now = trouble ? trouble : "", *before = table->trouble ? table->trouble : "";

    if (strcmp(now, before) == 0)
        return;
    free(table->trouble);
    table->trouble = trouble ? xstrdup(trouble) : NULL;
    if (table->out && !table->live)
        fprintf(table->out, "%s\n", trouble ? trouble : "going on");
}

void table_finish(struct table *table, const struct campaign *c)
{
    if (table->live && table->nr_lines > 0)
        draw(table, c, 0);
    free(table->trouble);
    arena_destroy(table->arena);
}
