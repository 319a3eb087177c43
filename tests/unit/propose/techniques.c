/* Tests of the pages of techniques: all pages that come with the program are read, pages are chosen
 * by the facts and by the source, needs are kept, and the user's pages come first. */
#include "core/task.h"
#include "propose/model/techniques.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#define PAGES KEET_SOURCE_DIR "/prompts/techniques"
#define EMULATED "tensor cp_async mma wmma ldmatrix mbarrier"

static struct arena *arena;
static char folder[64];

static int set_up(void **state)
{
    arena = arena_create();
    strcpy(folder, "/tmp/keet-pages-XXXXXX");
    assert_non_null(mkdtemp(folder));
    return 0;
}

static int tear_down(void **state)
{
    char command[128];

    snprintf(command, sizeof(command), "rm -r %s", folder);
    assert_int_equal(system(command), 0);
    arena_destroy(arena);
    return 0;
}

static void put(const char *name, const char *text)
{
    char path[128];
    FILE *f;

    snprintf(path, sizeof(path), "%s/%s", folder, name);
    f = fopen(path, "w");
    assert_non_null(f);
    fputs(text, f);
    fclose(f);
}

/* The pages for a kernel of ours. */
static const char *pages_for(
    const struct techniques *t, const char *kernel, const char *executes, unsigned first)
{
    struct task *task = arena_alloc(arena, sizeof(*task));
    struct candidate c;
    const char *title;
    struct err err;

    assert_true(task_load(
        task, arena, arena_printf(arena, "%s/kernels/%s.cu", KEET_SOURCE_DIR, kernel), &err));
    candidate_begin(&c, arena, task, 1);
    return techniques_choose(t, technique_facts(arena, &c, executes), task->source, task->source,
        first, 5, arena, &title);
}

static void kernels_get_what_fits(void **state)
{
    struct err err;
    struct techniques *t = techniques_load(PAGES, NULL, &err);
    const char *text;

    assert_non_null(t);
    text = pages_for(t, "attention", EMULATED, 0);
    assert_non_null(strstr(text, "### Online softmax"));
    assert_non_null(strstr(text, "### Products of f32 on tensor cores"));
    assert_null(strstr(text, "Fits:"));
    assert_non_null(strstr(pages_for(t, "conv2d", EMULATED, 0), "### Convolution as a product"));
    assert_non_null(strstr(pages_for(t, "prefix_sum", EMULATED, 0), "look-back"));
    assert_non_null(strstr(pages_for(t, "histogram", EMULATED, 0), "### Histograms"));
    assert_non_null(strstr(pages_for(t, "transpose", EMULATED, 0), "### Transposes"));
    assert_non_null(strstr(pages_for(t, "stencil3d", EMULATED, 0), "### 2.5-D"));
    assert_non_null(strstr(pages_for(t, "spmv_csr", EMULATED, 0), "### Sparse rows"));
    /* An instruction that the device lacks is not proposed; without tensor cores f32 stays f32. */
    assert_null(strstr(pages_for(t, "matmul_f16", EMULATED, 0), "wgmma"));
    text = pages_for(t, "matmul_f16", EMULATED " wgmma tma cluster", 0);
    assert_non_null(strstr(text, "### wgmma on tiles"));
    assert_non_null(strstr(text, "#### tensor_copy\n")); /* the page of a move that it names */
    assert_null(strstr(pages_for(t, "matmul", "", 0), "### Products of f32 on tensor cores"));
    techniques_destroy(t);
}

static void requests_of_a_kind_begin_with_different_pages(void **state)
{
    struct err err;
    struct techniques *t = techniques_load(PAGES, NULL, &err);
    const char *heads[3];

    for (unsigned i = 0; i < 3; i++) {
        const char *text = pages_for(t, "matmul_f16", EMULATED, i);

        heads[i] = arena_strndup(arena, text, strcspn(text, "\n"));
        assert_true(strncmp(heads[i], "### ", 4) == 0);
        for (unsigned k = 0; k < i; k++)
            assert_string_not_equal(heads[i], heads[k]);
    }
    techniques_destroy(t);
}

static void the_users_pages_come_first(void **state)
{
    struct err err;
    struct techniques *t;
    const char *text, *title;

    put("mine.md", "# My own way\nFits: zorn; needs f32; unless my_way\nDo as I say.\n");
    put("other.md", "# Another\nFits: nothing_like_it\nNo.\n");
    put("notes.txt", "no page");
    t = techniques_load(PAGES, folder, &err);
    assert_non_null(t);
    text = techniques_choose(t, " f32 loop ", "void Zorn()", "", 0, 2, arena, &title);
    assert_string_equal(title, "My own way");
    assert_memory_equal(text, "### My own way\nDo as I say.\n", 28);
    text = techniques_choose(t, " f32 ", "void Zorn()", "my_way(x);", 0, 9, arena, &title);
    assert_null(strstr(text, "My own way")); /* the version has it already */
    text = techniques_choose(t, " f64 loop ", "void Zorn()", "", 0, 9, arena, &title);
    assert_null(strstr(text, "My own way"));
    techniques_destroy(t);
    t = techniques_load(folder, NULL, &err);
    text = techniques_choose(t, " f64 ", "", "", 0, 9, arena, &title);
    assert_string_equal(text, "");
    assert_null(title);
    techniques_destroy(t);
}

static void mistakes_are_named(void **state)
{
    struct err err;

    put("bad.md", "# Title\nNo line that says what it fits.\n");
    assert_null(techniques_load(PAGES, folder, &err));
    assert_non_null(strstr(err.text, "bad.md: expected a line \"# Title\""));
    assert_null(techniques_load(PAGES, "/nowhere", &err));
    assert_non_null(strstr(err.text, "/nowhere cannot be read"));
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(kernels_get_what_fits),
        TEST(requests_of_a_kind_begin_with_different_pages),
        TEST(the_users_pages_come_first),
        TEST(mistakes_are_named),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
