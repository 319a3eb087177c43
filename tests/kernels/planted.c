/* Owns the acceptance test of the sanitizers: each kernel of planted.cu has one fault that must be
 * reported at its line and nothing else may be; and of ten kernels of barriers.cu, each barrier in
 * turn is taken out, which must be found each time. */
#include "base/arena.h"
#include "base/file.h"
#include "base/mem.h"
#include "compile/compile.h"
#include "core/chip.h"
#include "emu/emu.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#define FOLDER KEET_SOURCE_DIR "/tests/kernels/"

enum { MAX_KERNELS = 128, MAX_LINES = 1024, NR = 512, BLOCKS = 4, THREADS = 128 };

static const char *const check_names[NR_EMU_CHECKS] = {"memory", "init", "race", "sync", "leak"};

static struct {
    struct arena *arena;
    struct compiler *compiler;
} bench;

struct file {
    char *text;
    size_t bytes;
    const char *names[MAX_KERNELS];
    unsigned first_line[MAX_KERNELS + 1];
    unsigned nr;
    const char *lines[MAX_LINES];
    unsigned nr_lines;
};

static void read_kernels(struct file *f, const char *name)
{
    struct err err;
    char *path = arena_printf(bench.arena, FOLDER "%s", name), *text;

    memset(f, 0, sizeof(*f));
    if (!file_read(path, 1 << 20, &text, &f->bytes, &err))
        fail_msg("%s", err.text);
    f->text = arena_strndup(bench.arena, text, f->bytes);
    free(text);
    for (const char *at = f->text; at && *at; at = strchr(at, '\n') ? strchr(at, '\n') + 1 : NULL) {
        assert_true(f->nr_lines + 1 < MAX_LINES && f->nr < MAX_KERNELS);
        f->lines[++f->nr_lines] = at;
        if (strncmp(at, "KERNEL ", 7) == 0) {
            f->first_line[f->nr] = f->nr_lines;
            f->names[f->nr++] = arena_strndup(bench.arena, at + 7, strcspn(at + 7, "("));
        }
    }
    f->first_line[f->nr] = f->nr_lines + 1;
}

static struct emu_module *load(
    struct emu *emu, const struct file *f, const char *source, const char *name)
{
    struct compile_input input = {
        .source = source, .name = "planted.cu", .kernels = f->names, .nr_kernels = f->nr};
    struct compilation compilation = {0};
    enum verdict verdict = VERDICT_OK;
    struct emu_result result;
    struct emu_module *module;
    const char *text = "";
    unsigned line = 0;
    struct err err;

    if (!compile_source(
            bench.compiler, &input, bench.arena, &compilation, &verdict, &line, &text, &err))
        fail_msg("%s", err.text);
    if (verdict != VERDICT_OK)
        fail_msg("%s:%u: %s", name, line, text);
    if (!emu_load(emu, compilation.ptx, compilation.ptx_bytes, &module, &result, &err) || !module)
        fail_msg("%s", result.text);
    return module;
}

static struct emu_result launch(struct emu *emu, const struct emu_module *module, const char *name)
{
    float a[NR];
    struct err err;
    uint64_t buffers[2] = {
        emu_alloc(emu, sizeof(a), "a", &err), emu_alloc(emu, sizeof(a), "b", &err)};
    struct {
        uint64_t a, b;
        int32_t n;
    } params = {buffers[0], buffers[1], NR};
    const struct emu_launch how = {.kernel = name,
        .grid = {BLOCKS, 1, 1},
        .block = {THREADS, 1, 1},
        .smem_bytes = 1024,
        .params = &params,
        .params_bytes = sizeof(params),
        .find_races = true,
        .find_uninit = true,
        .find_sync = true,
        .find_leaks = true,
        .step_limit = 1 << 22,
        .max_reports = 50};
    struct emu_result result;

    for (unsigned i = 0; i < NR; i++)
        a[i] = (float)(i % 7) / 8;
    assert_true(emu_write(emu, buffers[0], a, sizeof(a), &err));
    if (!emu_launch(emu, module, &how, bench.arena, &result, &err))
        fail_msg("%s", err.text);
    emu_free(emu, buffers[0]);
    emu_free(emu, buffers[1]);
    return result;
}

/* What a line's mark says: "FAULT race" for word FAULT; NULL when it has no such mark. */
static const char *mark(const struct file *f, unsigned line, const char *word)
{
    const size_t length = strcspn(f->lines[line], "\n");
    const char *at = strstr(f->lines[line], word);

    return at && at < f->lines[line] + length ? at + strlen(word) + 1 : NULL;
}

static bool says(const struct file *f, unsigned line, const char *word, enum emu_check check)
{
    const char *at = mark(f, line, word), *found = at ? strstr(at, check_names[check]) : NULL;

    return found && found < at + strcspn(at, "\n");
}

/* The number of faults marked in a kernel; what is missing or too much is wrong. */
static unsigned expect_reports(
    const struct file *f, unsigned kernel, const struct emu_result *r, unsigned *nr_wrong)
{
    unsigned nr_marks = 0;

    for (unsigned line = f->first_line[kernel]; line < f->first_line[kernel + 1]; line++) {
        const bool fault = mark(f, line, "FAULT") != NULL;
        bool found = false;
        for (unsigned i = 0; i < r->nr_reports; i++)
            found |= r->reports[i].line == line && says(f, line, "FAULT", r->reports[i].check);
        if (fault && !found && ++*nr_wrong)
            print_error("%s: nothing said of line %u, of %u reports; first: %s\n", f->names[kernel],
                line, r->nr_reports, r->text);
        nr_marks += fault;
    }
    for (unsigned i = 0; i < r->nr_reports; i++) {
        const struct emu_report *report = &r->reports[i];
        if (report->line && report->line <= f->nr_lines &&
            (says(f, report->line, "FAULT", report->check) ||
                says(f, report->line, "ALSO", report->check)))
            continue;
        ++*nr_wrong;
        print_error("%s: %s of line %u: %s\n", f->names[kernel], check_names[report->check],
            report->line, report->text);
    }
    return nr_marks;
}

static void every_planted_fault_is_found(void **state)
{
    struct emu *emu = emu_create(chip_default(), 2);
    struct file f;
    unsigned nr_faults = 0, nr_clean = 0, nr_wrong = 0;

    (void)state;
    read_kernels(&f, "planted.cu");
    struct emu_module *module = load(emu, &f, f.text, "planted.cu");
    for (unsigned i = 0; i < f.nr; i++) {
        const struct emu_result result = launch(emu, module, f.names[i]);
        const unsigned nr = expect_reports(&f, i, &result, &nr_wrong);
        nr_faults += nr;
        nr_clean += nr == 0;
    }
    print_message("%u planted faults found, %u clean kernels\n", nr_faults, nr_clean);
    assert_int_equal(nr_wrong, 0);
    assert_true(nr_faults >= 40 && nr_clean >= 5);
    emu_unload(emu, module);
    emu_destroy(emu);
}

/* --- barriers taken out one by one --- */

static const char barrier_call[] = "__syncthreads();";

static bool reports_race(const struct emu_result *r)
{
    for (unsigned i = 0; i < r->nr_reports; i++) {
        if (r->reports[i].check == EMU_CHECK_RACE)
            return true;
    }
    return false;
}

static void every_missing_barrier_is_found(void **state)
{
    struct emu *emu = emu_create(chip_default(), 2);
    struct file f;
    unsigned nr_barriers = 0;

    (void)state;
    read_kernels(&f, "barriers.cu");
    assert_int_equal(f.nr, 10);
    struct emu_module *module = load(emu, &f, f.text, "barriers.cu");
    for (unsigned i = 0; i < f.nr; i++) {
        const struct emu_result result = launch(emu, module, f.names[i]);
        if (result.nr_reports)
            fail_msg("%s: %s", f.names[i], result.text);
    }
    emu_unload(emu, module);
    for (unsigned i = 0; i < f.nr; i++) {
        const char *end = f.lines[f.first_line[i + 1] - 1];
        for (char *at = strstr((char *)f.lines[f.first_line[i]], barrier_call); at && at < end;
             at = strstr(at + 1, barrier_call)) {
            char *mutant = arena_strndup(bench.arena, f.text, f.bytes);
            memset(mutant + (at - f.text), ' ', sizeof(barrier_call) - 2); /* the ; stays */
            module = load(emu, &f, mutant, "barriers.cu");
            const struct emu_result result = launch(emu, module, f.names[i]);
            if (!reports_race(&result))
                fail_msg("%s without barrier %u: not found", f.names[i], nr_barriers);
            emu_unload(emu, module);
            nr_barriers++;
        }
    }
    print_message("%u barriers of %u kernels taken out\n", nr_barriers, f.nr);
    assert_true(nr_barriers >= 20);
    emu_destroy(emu);
}

static int setup(void **state)
{
    const struct compiler_options options = {.arch = "sm_90a"};
    struct err err = {.text = ""};

    (void)state;
    bench.arena = arena_create();
    bench.compiler = compiler_create(&options, &err);
    if (!bench.compiler)
        fail_msg("%s", err.text);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    compiler_destroy(bench.compiler);
    arena_destroy(bench.arena);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_planted_fault_is_found),
        cmocka_unit_test(every_missing_barrier_is_found),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
