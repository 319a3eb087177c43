/* Owns the acceptance test of the explanations: each kernel of planted.txt is compiled, profiled on
 * the emulator and explained; the planted cause must come first, on its line, and kernels in good
 * order must get no finding. With KEET_CONFUSION set, the table is written to that file. With
 * KEET_LIBRARY naming another folder of the same form, such as heldout/, that one is examined; what
 * is found is required where floors[] has the folder, and otherwise only reported. */
#include "base/arena.h"
#include "base/file.h"
#include "base/str.h"
#include "compile/compile.h"
#include "core/candidate.h"
#include "device/device.h"
#include "explain/explain.h"
#include "explain/ground.h"
#include "explain/hypotheses.h"
#include "profile/profile.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

enum { MAX_PLANTED = 256, MAX_NAMES = 64 };

struct planted {
    char kernel[64], tool[32], lines[64];
    char first[32]; /* tool of the first finding, "none" */
    bool is_first, is_among_three, is_on_line;
};

static struct planted planted[MAX_PLANTED];
static unsigned nr_planted;

static const char own_folder[] = KEET_SOURCE_DIR "/tests/explain";
static const char *folder = own_folder; /* KEET_LIBRARY's */

/* Percent of the planted kernels, at least, whose cause is found first, among the first three, and
 * on its line, and of the kernels in good order, at most, that get a finding. Of blind2/, they are
 * what its first run gave. */
static const struct share_floor {
    const char *folder;
    unsigned first, three, lines, alarms;
} floors[] = {
    /* Lines: recompute_window has none. Its exponentials bring their range reductions along; the
     * model of time takes only the special functions away, which is too little for a finding. */
    {own_folder, 90, 98, 98, 5},
    {KEET_SOURCE_DIR "/tests/explain/blind2", 84, 92, 92, 5},
};

static struct device *device;
static struct compiler *compiler;

static void read_table(void)
{
    char text[4096];
    FILE *f;

    if (getenv("KEET_LIBRARY"))
        folder = getenv("KEET_LIBRARY");
    snprintf(text, sizeof(text), "%s/planted.txt", folder);
    f = fopen(text, "r");

    assert_non_null(f);
    while (fgets(text, sizeof(text), f)) {
        struct planted *p = &planted[nr_planted];

        if (text[0] == '#')
            continue;
        assert_true(nr_planted < MAX_PLANTED);
        assert_int_equal(sscanf(text, "%63s %31s %63s", p->kernel, p->tool, p->lines), 3);
        nr_planted++;
    }
    fclose(f);
}

/* Is the line in "17,18,19"? */
static bool is_guilty(const char *lines, unsigned line)
{
    for (const char *at = lines; *at; at += strspn(at, ",")) {
        char *end;

        if (strtoul(at, &end, 10) == line)
            return true;
        if (end == at)
            return false;
        at = end;
    }
    return false;
}

static void explain_one(struct arena *arena, const struct planted *p, struct candidate *c)
{
    struct task *task = arena_alloc(arena, sizeof(*task));
    struct profiler *profiler;
    struct err err;
    bool ok;

    if (!task_load(task, arena, arena_printf(arena, "%s/kernels/%s.cu", folder, p->kernel), &err))
        fail_msg("%s: %s", p->kernel, err.text);
    *c = (struct candidate){.arena = arena,
        .task = task,
        .parent = -1,
        .seed = 1,
        .option = {.action = ACTION_NONE},
        .source = task->source,
        .source_bytes = task->source_bytes,
        .plan = task->plan,
        .recalled_from = -1};
    profiler = profiler_create(device, task, &(struct profiler_options){0}, &err);
    ok = profiler && compile_kernel(compiler, c, &err) && profile_kernel(profiler, c, &err) &&
         explain_kernel(device->chip, c, &err);
    profiler_destroy(profiler);
    if (!ok)
        fail_msg("%s: %s", p->kernel, err.text);
    if (c->verdict != VERDICT_OK)
        fail_msg("%s: %s: %s", p->kernel, verdict_name(c->verdict), c->verdict_text);
}

/* Answers that name one cause: many launches that are shorter than what starting them costs. */
static const char *const same_cause[][2] = {{"launch_overhead", "tiny_launches"}};

static bool names(const char *found, const char *tool)
{
    for (size_t i = 0; i < sizeof(same_cause) / sizeof(same_cause[0]); i++) {
        if ((!strcmp(tool, same_cause[i][0]) && !strcmp(found, same_cause[i][1])) ||
            (!strcmp(tool, same_cause[i][1]) && !strcmp(found, same_cause[i][0])))
            return true;
    }
    return strcmp(found, tool) == 0;
}

static void judge(struct planted *p, const struct explanation *e)
{
    snprintf(p->first, sizeof(p->first), "%s", e->nr_findings ? e->findings[0].tool : "none");
    p->is_first = names(p->first, p->tool);
    p->is_among_three = p->is_first;
    for (unsigned i = 0; i < e->nr_findings && i < 3; i++) {
        const struct finding *f = &e->findings[i];

        if (!names(f->tool, p->tool))
            continue;
        p->is_among_three = true;
        p->is_on_line = p->is_on_line || is_guilty(p->lines, f->line);
    }
    if (strcmp(p->tool, "none") != 0 ? !(p->is_first && p->is_on_line) : !p->is_first) {
        printf("%s: planted %s at %s:", p->kernel, p->tool, p->lines);
        for (unsigned i = 0; i < e->nr_findings; i++)
            printf(" %s:%u (%s)", e->findings[i].tool, e->findings[i].line,
                finding_gain(&e->findings[i]).text);
        printf("%s\n", e->nr_findings ? "" : " none");
    }
}

/* What is said without a model holds to the same standard: every claim in it is grounded. What the
 * checker cannot look up is what the tools conclude: bounds of gains, and stage 1's summary. */
static void check_grounded(const struct planted *p, const struct candidate *c)
{
    const struct hypotheses all = explain_hypotheses(device->chip, c);
    struct str text = {0}, said = {0};
    struct ground ground;

    hypotheses_write(&all, c, &text);
    str_addf(&said, "%s 132", c->explanation.summary);
    for (unsigned i = 0; i < all.nr; i++)
        str_addf(&said, " %s",
            strstr(all.items[i].why, "; to gain") ? strstr(all.items[i].why, "; to gain") : "");
    ground_check(&ground, c->arena, str_text(&text),
        &(struct ground_facts){&c->profile.total, c->source, str_text(&said), &c->profile});
    if (ground.nr_grounded < ground.nr_claims)
        fail_msg("%s: %s", p->kernel, ground_mark(&ground, c->arena, str_text(&text)));
    assert_true(all.nr == 0 || ground.nr_claims >= all.nr);
    str_finish(&text);
    str_finish(&said);
}

/* ---- the confusion table ---- */

static unsigned names_of(const char *names[MAX_NAMES], bool found)
{
    unsigned nr = 0;

    for (unsigned i = 0; i < nr_planted; i++) {
        const char *name = found ? planted[i].first : planted[i].tool;
        unsigned k = 0;

        while (k < nr && strcmp(names[k], name) != 0)
            k++;
        if (k == nr && nr < MAX_NAMES)
            names[nr++] = name;
    }
    return nr;
}

static void add_table(struct str *out)
{
    const char *rows[MAX_NAMES], *columns[MAX_NAMES];
    const unsigned nr_rows = names_of(rows, false), nr_columns = names_of(columns, true);

    str_add(out, "| planted | kernels | found first |\n|---|---|---|\n");
    for (unsigned r = 0; r < nr_rows; r++) {
        unsigned all = 0, nr_shown = 0;

        for (unsigned i = 0; i < nr_planted; i++)
            all += strcmp(planted[i].tool, rows[r]) == 0;
        str_addf(out, "| %s | %u |", rows[r], all);
        for (unsigned k = 0; k < nr_columns; k++) {
            unsigned nr = 0;

            for (unsigned i = 0; i < nr_planted; i++)
                nr += strcmp(planted[i].tool, rows[r]) == 0 &&
                      strcmp(planted[i].first, columns[k]) == 0;
            if (nr)
                str_addf(out, "%s %s %u", nr_shown++ ? "," : "", columns[k], nr);
        }
        str_add(out, " |\n");
    }
}

static void write_table(const struct str *table)
{
    const char *path = getenv("KEET_CONFUSION");
    struct err err;

    if (path && !file_write(path, str_text(table), table->len, &err))
        fail_msg("%s", err.text);
}

static void test_planted_causes_are_found(void **state)
{
    unsigned nr = 0, first = 0, three = 0, lines = 0, clean = 0, alarms = 0;
    struct str table = {0};

    (void)state;
    for (unsigned i = 0; i < nr_planted; i++) {
        struct planted *p = &planted[i];
        struct arena *arena = arena_create();
        struct candidate c;

        explain_one(arena, p, &c);
        judge(p, &c.explanation);
        check_grounded(p, &c);
        if (strcmp(p->tool, "none") == 0) {
            clean++;
            alarms += !p->is_first;
        } else {
            nr++;
            first += p->is_first;
            three += p->is_among_three;
            lines += p->is_on_line;
        }
        arena_destroy(arena);
    }
    str_addf(&table,
        "%u kernels with a planted bottleneck: first finding in %u (%.1f%%), among the first three "
        "in %u (%.1f%%), on the guilty line in %u (%.1f%%).\n%u kernels in good order: a finding "
        "for %u (%.1f%%).\n\n",
        nr, first, 100.0 * first / nr, three, 100.0 * three / nr, lines, 100.0 * lines / nr, clean,
        alarms, 100.0 * alarms / clean);
    add_table(&table);
    fputs(str_text(&table), stdout);
    write_table(&table);
    str_finish(&table);
    assert_true(folder != own_folder || (nr >= 60 && clean >= 20));
    for (size_t i = 0; i < sizeof(floors) / sizeof(floors[0]); i++) {
        const struct share_floor *f = &floors[i];

        if (strcmp(folder, f->folder) != 0)
            continue;
        assert_true(first * 100 >= nr * f->first);
        assert_true(three * 100 >= nr * f->three);
        assert_true(lines * 100 >= nr * f->lines);
        assert_true(alarms * 100 <= clean * f->alarms);
    }
}

static int setup(void **state)
{
    const struct device_options options = {.name = "emu", .nr_threads = 2};
    struct compiler_options compiler_options = {0};
    struct err err;

    (void)state;
    read_table();
    device = device_create(&options, &err);
    if (device) {
        compiler_options.arch = device->chip->arch;
        compiler = compiler_create(&compiler_options, &err);
    }
    if (!compiler)
        fprintf(stderr, "%s\n", err.text);
    return compiler ? 0 : -1;
}

static int teardown(void **state)
{
    (void)state;
    compiler_destroy(compiler);
    device_destroy(device);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_planted_causes_are_found)};

    return cmocka_run_group_tests(tests, setup, teardown);
}
