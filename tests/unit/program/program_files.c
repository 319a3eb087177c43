/* Copies of trees, what a run wrote, which file a kernel is in, and two changes of one text. */
#include "program/user_program.h"

#include "base/file.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

struct place {
    struct arena *arena;
    char folder[64];
};

static int setup(void **state)
{
    struct place *p = calloc(1, sizeof(*p));

    p->arena = arena_create();
    strcpy(p->folder, "/tmp/program_files_XXXXXX");
    *state = p;
    return mkdtemp(p->folder) == NULL;
}

static int teardown(void **state)
{
    struct place *p = *state;
    struct err err;

    assert_true(program_remove_tree(p->folder, &err));
    assert_false(file_exists(p->folder));
    arena_destroy(p->arena);
    free(p);
    return 0;
}

static const char *in(struct place *p, const char *name)
{
    return arena_printf(p->arena, "%s/%s", p->folder, name);
}

static void put(struct place *p, const char *name, const char *text)
{
    const char *path = in(p, name), *slash = strrchr(path, '/');
    struct err err;

    assert_true(file_mkdirs(arena_strndup(p->arena, path, (size_t)(slash - path)), &err));
    assert_true(file_write(path, text, strlen(text), &err));
}

static void a_copy_has_sources_and_no_products(void **state)
{
    static const char object[64] = "\177ELF\2\1\1\0\0\0\0\0\0\0\0\0\1";
    const struct program_leave_out out = {.file = "bin/solver"};
    struct place *p = *state;
    struct program_files files;
    struct err err;

    put(p, "tree/src/main.cu", "main");
    put(p, "tree/bin/solver", "old");
    put(p, "tree/bin/script.sh", "kept");
    put(p, "tree/build/CMakeCache.txt", "made elsewhere");
    put(p, "tree/.git/config", "");
    put(p, "tree/x.keet.db", "");
    assert_true(file_write(in(p, "tree/src/main.o"), object, sizeof(object), &err));
    chmod(in(p, "tree/bin/script.sh"), 0755);
    assert_int_equal(symlink("src/main.cu", in(p, "tree/link.cu")), 0);
    assert_true(program_copy_tree(in(p, "tree"), in(p, "copy"), &out, &err));
    assert_true(program_list_files(&files, p->arena, in(p, "copy"), false, &err));
    assert_int_equal(files.nr, 2);
    assert_string_equal(files.files[0].name, "bin/script.sh");
    assert_string_equal(files.files[1].name, "src/main.cu");
    assert_int_equal(access(in(p, "copy/bin/script.sh"), X_OK), 0);
    assert_true(file_exists(in(p, "copy/link.cu")));
    assert_false(program_copy_tree(in(p, "tree"), in(p, "copy"), &out, &err)); /* it is there */
}

static void a_link_is_removed_and_not_followed(void **state)
{
    struct place *p = *state;
    struct err err;

    put(p, "user/precious.txt", "x");
    put(p, "copy/file", "x");
    assert_int_equal(symlink(in(p, "user"), in(p, "copy/link")), 0);
    assert_true(program_remove_tree(in(p, "copy"), &err));
    assert_true(file_exists(in(p, "user/precious.txt")));
}

static void what_a_run_wrote(void **state)
{
    struct place *p = *state;
    struct program_files before, after, written;
    struct err err;

    put(p, "tree/input", "same");
    put(p, "tree/state", "1");
    assert_true(program_list_files(&before, p->arena, in(p, "tree"), true, &err));
    put(p, "tree/state", "2");
    put(p, "tree/new", "");
    assert_true(program_list_files(&after, p->arena, in(p, "tree"), true, &err));
    written = program_written(p->arena, &before, &after);
    assert_int_equal(written.nr, 2);
    assert_string_equal(written.files[0].name, "new");
    assert_string_equal(written.files[1].name, "state");
}

static const char *source_of(struct place *p, const char *kernel)
{
    struct program_files files;
    struct err err;

    assert_true(program_list_files(&files, p->arena, in(p, "tree"), false, &err));
    return program_source_of(p->arena, in(p, "tree"), &files, kernel);
}

static void the_file_that_launches_a_kernel(void **state)
{
    struct place *p = *state;

    put(p, "tree/inc/step.cuh", "template <class T> __global__ void step(T *x) { *x += 1; }\n");
    put(p, "tree/src/a.cu", "#include \"../inc/step.cuh\"\nvoid unused();\n");
    put(p, "tree/src/b.cu",
        "#include \"step.cuh\"\nvoid f(float *x) { sim::step<float>\n<<<1, 2>>>(x); }\n");
    put(p, "tree/src/c.cu",
        "__global__ void alone(int *x) { *x = 0; }\n"
        "void g() { cudaLaunchKernel((void *)alone, 1, 1, args, 0, 0); }\n");
    put(p, "tree/src/d.cu", "__global__ void far(int *x) { *x = 0; }\n");
    assert_string_equal(source_of(p, "sim::step<float>"), "src/b.cu");
    assert_string_equal(source_of(p, "alone"), "src/c.cu");
    assert_string_equal(source_of(p, "far"), "src/d.cu");
    assert_null(source_of(p, "ste"));
}

static void two_changes_of_one_text(void **state)
{
    struct place *p = *state;
    const char *base = "a\nb\nc\nd\ne\nf\n";

    assert_string_equal(program_merge(p->arena, base, "a\nB\nc\nd\ne\nf\n", "a\nb\nc\nd\nE\nf\n"),
        "a\nB\nc\nd\nE\nf\n");
    assert_string_equal(
        program_merge(p->arena, base, "0\na\nb\nc\nd\ne\nf\n", "a\nb\nc\ne\nf\ng\n"),
        "0\na\nb\nc\ne\nf\ng\n");
    assert_null(program_merge(p->arena, base, "a\nB\nc\nd\ne\nf\n", "a\nX\nc\nd\ne\nf\n"));
    assert_null(program_merge(p->arena, base, "a\nX\nd\ne\nf\n", "a\nb\nC\nd\ne\nf\n"));
    /* Lines side by side, as two launches are. */
    assert_string_equal(program_merge(p->arena, base, "a\nB\nc\nd\ne\nf\n", "a\nb\nC\nd\ne\nf\n"),
        "a\nB\nC\nd\ne\nf\n");
    /* The same header in both stands once; two insertions at one place stand both. */
    assert_string_equal(
        program_merge(p->arena, base, "#h\na\nb\nc\nd\ne\nF\n", "#h\na\nb\nC\nd\ne\nf\n"),
        "#h\na\nb\nC\nd\ne\nF\n");
    assert_string_equal(
        program_merge(p->arena, base, "a\n1\nb\nc\nd\ne\nf\n", "a\n2\nb\nc\nd\ne\nf\n"),
        "a\n1\n2\nb\nc\nd\ne\nf\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_copy_has_sources_and_no_products, setup, teardown),
        cmocka_unit_test_setup_teardown(a_link_is_removed_and_not_followed, setup, teardown),
        cmocka_unit_test_setup_teardown(what_a_run_wrote, setup, teardown),
        cmocka_unit_test_setup_teardown(the_file_that_launches_a_kernel, setup, teardown),
        cmocka_unit_test_setup_teardown(two_changes_of_one_text, setup, teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
