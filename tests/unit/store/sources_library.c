/* The library: what a search finds, what may be read, and when a tree is indexed anew. */
#include "store/library.h"

#include "base/file.h"
#include "base/str.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

struct fixture {
    char folder[64], tree[96], cache[96];
};

static void put(const struct fixture *f, const char *name, const char *text, size_t len)
{
    struct str path = {0};
    struct err err;

    str_addf(&path, "%s/%s", f->folder, name);
    if (!file_write(str_text(&path), text, len, &err))
        fail_msg("%s", err.text);
    str_finish(&path);
}

/* 100 lines "int line_N;" with something else on line 70. */
static void put_long(const struct fixture *f, const char *name, const char *line_70)
{
    struct str text = {0};

    for (int i = 1; i <= 100; i++) {
        if (i == 70)
            str_addf(&text, "%s\n", line_70);
        else
            str_addf(&text, "int line_%d;\n", i);
    }
    put(f, name, text.text, text.len);
    str_finish(&text);
}

static int set_up(void **state)
{
    struct fixture *f = calloc(1, sizeof(*f));
    struct err err;
    char path[160];

    strcpy(f->folder, "/tmp/keet-library-XXXXXX");
    assert_non_null(mkdtemp(f->folder));
    snprintf(f->tree, sizeof(f->tree), "%s/tree", f->folder);
    snprintf(f->cache, sizeof(f->cache), "%s/cache", f->folder);
    snprintf(path, sizeof(path), "%s/include/cute/.git", f->tree);
    assert_true(file_mkdirs(path, &err));
    put_long(f, "tree/include/cute/copy.hpp", "struct SM90_TMA_LOAD_2D : tensor_copy {};");
    put_long(f, "tree/include/cute/mma.hpp", "struct MMA_64x64x16 {}; // warpgroup");
    put(f, "tree/notes.md", "TMA loads are asynchronous\n", 27);
    put(f, "tree/picture.png", "TMA secretpicture\n", 18);
    put(f, "tree/binary.h", "TMA secretbinary\0\n", 18);
    put(f, "tree/include/cute/.git/config.h", "TMA secrethidden\n", 17);
    put(f, "outside.h", "TMA secretoutside\n", 18);
    snprintf(path, sizeof(path), "%s/link.h", f->tree);
    assert_int_equal(symlink("../outside.h", path), 0);
    snprintf(path, sizeof(path), "%s/out", f->tree);
    assert_int_equal(symlink("..", path), 0);
    *state = f;
    return 0;
}

static int tear_down(void **state)
{
    char command[128];

    snprintf(command, sizeof(command), "rm -r %s", ((struct fixture *)*state)->folder);
    free(*state);
    return system(command);
}

static struct library *must_open(const struct fixture *f, const char *cache)
{
    struct err err;
    struct library *l = library_open(f->tree, cache, &err);

    if (!l)
        fail_msg("%s", err.text);
    return l;
}

static void search(struct library *l, const char *query, struct str *out)
{
    struct err err;

    str_clear(out);
    if (!library_search(l, query, 8, out, &err))
        fail_msg("%s", err.text);
}

static void test_search(void **state)
{
    struct library *l = must_open(*state, "");
    struct str out = {0};
    struct err err;

    /* an identifier as it is, and the line it is on */
    search(l, "SM90_TMA_LOAD_2D", &out);
    assert_non_null(
        strstr(out.text, "include/cute/copy.hpp:70: struct SM90_TMA_LOAD_2D : tensor_copy {};\n"));
    assert_null(strstr(out.text, "mma.hpp"));
    /* parts of names, in any case; words of the path count too */
    search(l, "tma load", &out);
    assert_non_null(strstr(out.text, "copy.hpp:70:"));
    search(l, "mma warpgroup", &out);
    assert_non_null(strstr(out.text, "mma.hpp:70:"));
    /* all words nowhere: any of them */
    search(l, "asynchronous warpgroup", &out);
    assert_non_null(strstr(out.text, "notes.md:1: TMA loads are asynchronous\n"));
    assert_non_null(strstr(out.text, "mma.hpp:70:"));
    /* what is not in the index */
    search(l, "TMA", &out);
    assert_null(strstr(out.text, "secret"));
    search(l, "secretpicture", &out);
    assert_non_null(strstr(out.text, "nothing found"));
    search(l, "secretoutside OR secretbinary NOT secrethidden", &out);
    assert_null(strstr(out.text, "TMA secret"));
    /* the query language of FTS5 has no say */
    search(l, "\"TMA\" AND NEAR(tma* load) {path}: ^ -", &out);
    assert_non_null(out.text);
    assert_false(library_search(l, " *\"(-_", 8, &out, &err));
    assert_non_null(strstr(err.text, "no words"));
    str_finish(&out);
    library_close(l);
}

static void test_at_most_two_of_a_file(void **state)
{
    struct library *l = must_open(*state, "");
    struct str out = {0};
    unsigned nr = 0;

    search(l, "int", &out); /* in four pieces of each of the two long files */
    for (const char *p = out.text; (p = strstr(p, "\n\n")); p++)
        nr++;
    assert_int_equal(nr, 4);
    str_finish(&out);
    library_close(l);
}

static void test_read(void **state)
{
    struct library *l = must_open(*state, "");
    struct str out = {0};
    struct err err;

    assert_true(library_read(l, "include/cute/copy.hpp", 69, 2, &out, &err));
    assert_string_equal(out.text, "include/cute/copy.hpp, lines 69 to 70 of 100:\n"
                                  "  69  int line_69;\n"
                                  "  70  struct SM90_TMA_LOAD_2D : tensor_copy {};\n");
    str_clear(&out);
    assert_true(library_read(l, "include/cute/copy.hpp", 99, 1000000, &out, &err));
    assert_non_null(strstr(out.text, "lines 99 to 100 of 100"));
    str_clear(&out);
    assert_true(library_read(l, "include/cute/copy.hpp", 0, 0, &out, &err));
    assert_non_null(strstr(out.text, "lines 1 to 100 of 100"));
    assert_false(library_read(l, "include/cute/copy.hpp", 101, 1, &out, &err));
    assert_non_null(strstr(err.text, "has 100 lines"));
    str_finish(&out);
    library_close(l);
}

static void test_confined(void **state)
{
    static const char *const paths[] = {"../outside.h", "link.h", "out/outside.h", "/etc/passwd",
        "include/../../outside.h", "include/cute/../../../outside.h", "include", "", ".", "..",
        "nowhere.h", "binary.h", "out/tree/../outside.h"};
    struct library *l = must_open(*state, "");
    struct str out = {0};
    struct err err;

    for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++) {
        if (library_read(l, paths[i], 1, 10, &out, &err))
            fail_msg("%s was read: %s", paths[i], out.text);
    }
    assert_int_equal(out.len, 0);
    library_close(l);
}

static void test_output_is_capped(void **state)
{
    const struct fixture *f = *state;
    const size_t len = 300000;
    char *text = malloc(len);
    struct str out = {0};
    struct library *l;
    struct err err;

    memset(text, 'x', len);
    for (size_t i = 500; i < len; i += 500)
        text[i] = '\n';
    put(f, "tree/wide.h", text, len);
    l = must_open(f, "");
    assert_true(library_read(l, "wide.h", 1, 200, &out, &err));
    assert_in_range(out.len, 6000, LIBRARY_TEXT_BYTES + 300);
    assert_non_null(strstr(out.text, "cut before line"));
    library_close(l);
    str_finish(&out);
    free(text);
}

static void test_indexed_once(void **state)
{
    const struct fixture *f = *state;
    struct str out = {0};
    struct library *l = must_open(f, f->cache);

    assert_int_equal(library_nr_indexed(l), 3); /* two headers and the notes */
    library_close(l);
    l = must_open(f, f->cache);
    assert_int_equal(library_nr_indexed(l), 0);
    search(l, "SM90_TMA_LOAD_2D", &out);
    assert_non_null(strstr(out.text, "copy.hpp:70:"));
    library_close(l);
    put(f, "tree/new.cuh", "struct brandnew;\n", 17);
    l = must_open(f, f->cache);
    assert_int_equal(library_nr_indexed(l), 4);
    search(l, "brandnew", &out);
    assert_non_null(strstr(out.text, "new.cuh:1: struct brandnew;"));
    str_finish(&out);
    library_close(l);
}

static unsigned nr_of_indexes(const struct fixture *f)
{
    char command[256];
    unsigned nr = 0;
    FILE *pipe;

    snprintf(command, sizeof(command), "ls %s | grep -c 'library.db$'", f->cache);
    pipe = popen(command, "r");
    assert_int_equal(fscanf(pipe, "%u", &nr), 1);
    pclose(pipe);
    return nr;
}

/* Indexes of what a tree was before stay for a while, and go when nobody has opened them. */
static void test_old_indexes_go(void **state)
{
    const struct fixture *f = *state;
    char command[256];

    library_close(must_open(f, f->cache));
    put(f, "tree/a.cuh", "struct a;\n", 10);
    library_close(must_open(f, f->cache));
    assert_int_equal(nr_of_indexes(f), 2);
    snprintf(command, sizeof(command), "touch -d '40 days ago' %s/*.library.db", f->cache);
    assert_int_equal(system(command), 0);
    library_close(must_open(f, f->cache)); /* the second one is in use again */
    put(f, "tree/b.cuh", "struct b;\n", 10);
    library_close(must_open(f, f->cache));
    assert_int_equal(nr_of_indexes(f), 2);
}

/* An index that was cut off, or is none, is made anew. */
static void test_damaged_index(void **state)
{
    const struct fixture *f = *state;
    struct library *l = must_open(f, f->cache);
    char command[256];

    library_close(l);
    snprintf(command, sizeof(command), "for f in %s/*.library.db; do echo nonsense > $f; done",
        f->cache);
    assert_int_equal(system(command), 0);
    l = must_open(f, f->cache);
    assert_int_equal(library_nr_indexed(l), 3);
    library_close(l);
}

static void test_no_tree(void **state)
{
    const struct fixture *f = *state;
    struct err err;

    assert_null(library_open("/nonexistent", "", &err));
    assert_non_null(strstr(err.text, "/nonexistent"));
    assert_int_equal(mkdir(f->cache, 0700), 0);
    assert_null(library_open(f->cache, "", &err));
    assert_non_null(strstr(err.text, "no sources"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_search, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_at_most_two_of_a_file, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_read, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_confined, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_output_is_capped, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_indexed_once, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_old_indexes_go, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_damaged_index, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_no_tree, set_up, tear_down),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
