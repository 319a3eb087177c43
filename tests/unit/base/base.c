/* base/: arena, str, err, file, rng, hash, mem, clock, share. */
#include "base/arena.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/mem.h"
#include "base/rng.h"
#include "base/share.h"
#include "base/str.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

/* ---- arena ---- */

static void test_arena(void **state)
{
    static const char zeros[3 << 20];
    struct arena *arena = arena_create();
    char *before = NULL;

    for (size_t bytes = 0; bytes < 3000; bytes += 37) {
        char *p = arena_alloc(arena, bytes);
        assert_int_equal((uintptr_t)p % 16, 0);
        assert_memory_equal(p, zeros, bytes);
        memset(p, 0x5a, bytes); /* what comes next must not overlap: it is looked at for zeros */
        assert_ptr_not_equal(p, before);
        before = bytes ? p : NULL;
    }
    assert_memory_equal(arena_array(arena, 3, 1 << 20), zeros, sizeof(zeros));
    assert_string_equal(arena_strdup(arena, "warp"), "warp");
    assert_string_equal(arena_strndup(arena, "occupancy", 3), "occ");
    assert_string_equal(arena_strndup(arena, NULL, 0), "");
    assert_string_equal(arena_printf(arena, "%s:%d", "k.cu", 12), "k.cu:12");
    arena_reset(arena);
    assert_memory_equal(arena_alloc(arena, 4096), zeros, 4096);
    arena_destroy(arena);
    arena_destroy(NULL);
}

/* ---- str ---- */

static void test_str(void **state)
{
    struct str s = {0};
    char *text;

    assert_string_equal(str_text(&s), "");
    str_finish(&s);
    for (int i = 0; i < 1000; i++)
        str_addf(&s, "%d,", i % 10);
    assert_int_equal(s.len, 2000);
    assert_memory_equal(s.text, "0,1,2,3,4,5,6,7,8,9,0,1,", 24);
    assert_int_equal(s.text[2000], '\0');
    str_clear(&s);
    assert_string_equal(str_text(&s), "");
    str_add(&s, "a");
    str_add_n(&s, "b\0c", 3);
    str_add_char(&s, 'd');
    str_add_n(&s, NULL, 0);
    assert_int_equal(s.len, 5);
    assert_memory_equal(s.text, "ab\0cd", 6);
    text = str_take(&s);
    assert_memory_equal(text, "ab\0cd", 6);
    free(text);
    assert_int_equal(s.len, 0);
    text = str_take(&s);
    assert_string_equal(text, "");
    free(text);
    str_finish(&s);
}

static void test_str_compare(void **state)
{
    assert_true(str_starts("kernel.cu", "kern"));
    assert_true(str_starts("kernel.cu", ""));
    assert_false(str_starts("ker", "kern"));
    assert_true(str_ends("kernel.cu", ".cu"));
    assert_true(str_ends("kernel.cu", ""));
    assert_false(str_ends("cu", ".cu"));
    assert_false(str_ends("kernel.cuh", ".cu"));
}

static void test_str_lines(void **state)
{
    const char *text = "one\n\nthree";

    text = str_next_line(text);
    assert_string_equal(text, "\nthree");
    text = str_next_line(text);
    assert_string_equal(text, "three");
    text = str_next_line(text);
    assert_string_equal(text, "");
    assert_ptr_equal(str_next_line(text), text);
}

/* Where "sum" stands as a word in the first len bytes of the text; -1: nowhere. */
static long find_sum(const char *text, size_t len)
{
    const char *at = str_find_word(text, text + len, "sum", 3);

    return at ? at - text : -1;
}

static void test_str_find_word(void **state)
{
    assert_int_equal(find_sum("sum", 3), 0);
    assert_int_equal(find_sum("sums+sum2+_sum+(sum)", 20), 16);
    assert_int_equal(find_sum("sumsum sum", 10), 7);
    assert_int_equal(find_sum("sums", 3), 0); /* what is behind the end does not count */
    assert_int_equal(find_sum("a sum", 4), -1);
    assert_int_equal(find_sum("su", 2), -1);
    assert_int_equal(find_sum("", 0), -1);
    assert_int_equal(find_sum("sumsum", 6), -1);
}

static void test_str_among(void **state)
{
    static const char *const words[] = {"in", "out", "inout", NULL};

    assert_true(str_among("in", words));
    assert_true(str_among("inout", words));
    assert_false(str_among("ino", words));
    assert_false(str_among("", words));
    assert_false(str_among("in", words + 3));
}

static void test_str_utf8(void **state)
{
    assert_int_equal(str_utf8_bytes("a", 1), 1);
    assert_int_equal(str_utf8_bytes("\0", 1), 1);
    assert_int_equal(str_utf8_bytes("\xc3\xa9", 2), 2);
    assert_int_equal(str_utf8_bytes("\xe2\x82\xac", 3), 3);
    assert_int_equal(str_utf8_bytes("\xf4\x8f\xbf\xbf", 4), 4);
    assert_int_equal(str_utf8_bytes("", 0), 0);
    assert_int_equal(str_utf8_bytes("\xc3\xa9", 1), 0);         /* cut off */
    assert_int_equal(str_utf8_bytes("\xc0\x80", 2), 0);         /* not the shortest form */
    assert_int_equal(str_utf8_bytes("\xe0\x9f\xbf", 3), 0);     /* the same */
    assert_int_equal(str_utf8_bytes("\xed\xa0\x80", 3), 0);     /* a surrogate */
    assert_int_equal(str_utf8_bytes("\xf4\x90\x80\x80", 4), 0); /* above U+10FFFF */
    assert_int_equal(str_utf8_bytes("\xe9 t", 3), 0);           /* Latin-1 */
}

/* ---- err ---- */

static void test_err(void **state)
{
    struct err err;

    assert_false(err_set(&err, "no %s", "toolkit"));
    assert_string_equal(err.text, "no toolkit");
    assert_false(err_wrap(&err, "compiling %s", "a.cu"));
    assert_string_equal(err.text, "compiling a.cu: no toolkit");
    errno = ENOENT;
    assert_false(err_errno(&err, "cannot open %s", "x"));
    assert_string_equal(err.text, "cannot open x: No such file or directory");
}

/* Texts that do not fit are cut, and nothing is written past the end. */
static void test_err_is_cut(void **state)
{
    struct {
        struct err err;
        char guard[16];
    } e;
    char longer[ERR_TEXT_BYTES * 2];

    memset(longer, 'x', sizeof(longer) - 1);
    longer[sizeof(longer) - 1] = '\0';
    memset(e.guard, 0x7e, sizeof(e.guard));
    err_set(&e.err, "%s", longer);
    assert_int_equal(strlen(e.err.text), ERR_TEXT_BYTES - 1);
    err_wrap(&e.err, "context");
    assert_int_equal(strlen(e.err.text), ERR_TEXT_BYTES - 1);
    assert_true(str_starts(e.err.text, "context: xxx"));
    err_set(&e.err, "cause");
    err_wrap(&e.err, "%s", longer);
    assert_true(strlen(e.err.text) < ERR_TEXT_BYTES);
    errno = ENOENT;
    err_errno(&e.err, "%s", longer);
    assert_int_equal(strlen(e.err.text), ERR_TEXT_BYTES - 1);
    for (size_t i = 0; i < sizeof(e.guard); i++)
        assert_int_equal(e.guard[i], 0x7e);
}

/* ---- file ---- */

static void test_file(void **state)
{
    static const char bytes[] = "one\0two\nthree";
    char dir[] = "/tmp/keet-base-XXXXXX", path[256], *text;
    struct stat st;
    struct err err;
    size_t len;
    mode_t mask;

    assert_non_null(mkdtemp(dir));
    snprintf(path, sizeof(path), "%s/a/b/c", dir);
    assert_true(file_mkdirs(path, &err));
    assert_true(file_mkdirs(path, &err)); /* again is fine */
    snprintf(path, sizeof(path), "%s/a/b/c/file", dir);
    assert_false(file_exists(path));
    assert_true(file_write(path, bytes, sizeof(bytes), &err));
    assert_true(file_exists(path));
    mask = umask(0);
    umask(mask);
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(st.st_mode & 0777, 0666 & ~mask);
    assert_true(file_read(path, sizeof(bytes), &text, &len, &err));
    assert_int_equal(len, sizeof(bytes));
    assert_memory_equal(text, bytes, sizeof(bytes));
    assert_int_equal(text[len], '\0');
    free(text);
    assert_false(file_read(path, sizeof(bytes) - 1, &text, &len, &err));
    assert_non_null(strstr(err.text, path));
    assert_true(file_write(path, "", 0, &err)); /* replaces */
    assert_true(file_read(path, 10, &text, &len, &err));
    assert_int_equal(len, 0);
    free(text);
    unlink(path);

    assert_false(file_read(path, 10, &text, &len, &err));
    assert_non_null(strstr(err.text, "No such file"));
    snprintf(path, sizeof(path), "%s/a", dir);
    assert_false(file_read(path, 10, &text, &len, &err)); /* a folder */
    snprintf(path, sizeof(path), "%s/fifo", dir);
    assert_int_equal(mkfifo(path, 0600), 0); /* nobody writes it */
    assert_true(file_read(path, 10, &text, &len, &err));
    assert_int_equal(len, 0);
    free(text);
    snprintf(path, sizeof(path), "%s/a", dir);
    assert_false(file_write(path, "x", 1, &err));
    snprintf(path, sizeof(path), "%s/nowhere/file", dir);
    assert_false(file_write(path, "x", 1, &err));
    assert_false(file_mkdirs("/dev/null/x", &err));
    snprintf(path, sizeof(path), "rm -r %s", dir);
    assert_int_equal(system(path), 0);
}

/* What is no file stays what it is: /dev/null as root, too. */
static void test_file_write_into_a_pipe(void **state)
{
    char path[] = "/tmp/keet-pipe-XXXXXX", text[8] = "";
    struct stat there;
    struct err err;

    (void)state;
    assert_non_null(mkdtemp(path));
    char *pipe = xmalloc(sizeof(path) + 2);
    snprintf(pipe, sizeof(path) + 2, "%s/p", path);
    assert_int_equal(mkfifo(pipe, 0600), 0);
    const int fd = open(pipe, O_RDWR);
    assert_true(fd >= 0);
    assert_true(file_write(pipe, "abc", 3, &err));
    assert_int_equal(read(fd, text, sizeof(text)), 3);
    assert_string_equal(text, "abc");
    assert_true(lstat(pipe, &there) == 0 && S_ISFIFO(there.st_mode));
    close(fd);
    unlink(pipe);
    rmdir(path);
    free(pipe);
}

/* More than one buffer, not a multiple of it. */
static void test_file_large(void **state)
{
    const size_t len = 1000003;
    char path[] = "/tmp/keet-base-XXXXXX", *bytes = xmalloc(len), *back;
    struct err err;
    size_t nr;

    close(mkstemp(path));
    for (size_t i = 0; i < len; i++)
        bytes[i] = (char)(i * 31 + i / 257);
    assert_true(file_write(path, bytes, len, &err));
    assert_true(file_read(path, len, &back, &nr, &err));
    assert_int_equal(nr, len);
    assert_memory_equal(back, bytes, len);
    unlink(path);
    free(bytes);
    free(back);
}

static void test_file_name(void **state)
{
    assert_string_equal(file_name("kernels/matmul.cu"), "matmul.cu");
    assert_string_equal(file_name("matmul.cu"), "matmul.cu");
    assert_string_equal(file_name("/"), "");
}

/* ---- rng ---- */

/* The first numbers of SplitMix64 from state 1234567, as other implementations give them. */
static void test_splitmix64(void **state)
{
    static const uint64_t known[] = {6457827717110365317u, 3203168211198807973u,
        9817491932198370423u, 4593380528125082431u, 16408922859458223821u};
    struct rng rng = {.state = 1234567};

    for (size_t i = 0; i < ARRAY_SIZE(known); i++)
        assert_true(rng_next(&rng) == known[i]);
}

static void test_rng_streams(void **state)
{
    struct rng a, b, c;
    uint64_t x;

    rng_seed(&a, 7, 0);
    rng_seed(&b, 7, 0);
    rng_seed(&c, 7, 1);
    x = rng_next(&a);
    assert_true(x == rng_next(&b));
    assert_true(x != rng_next(&c));
    for (uint64_t seed = 0; seed < 50; seed++) {
        for (uint64_t i = 0; i < 50; i++) {
            assert_true(rng_mix(seed, i) == rng_mix(seed, i));
            assert_true(rng_mix(seed, i) != rng_mix(seed, i + 1));
            assert_true(rng_mix(seed, i) != rng_mix(seed + 1, i));
        }
    }
}

/* Chi-squared over 10 values, 9 degrees of freedom: over 33.7 once in ten thousand seeds. */
static void test_rng_below(void **state)
{
    unsigned counts[10] = {0};
    const unsigned nr = 100000;
    double chi = 0;
    struct rng rng;

    rng_seed(&rng, 1, 2);
    for (unsigned i = 0; i < nr; i++) {
        const uint64_t x = rng_below(&rng, 10);
        assert_true(x < 10);
        counts[x]++;
    }
    for (int i = 0; i < 10; i++)
        chi += pow(counts[i] - nr / 10.0, 2) / (nr / 10.0);
    assert_true(chi < 33.7);
    assert_true(rng_below(&rng, 0) == 0);
    assert_true(rng_below(&rng, 1) == 0);
}

/* Means and variances within five standard errors of 1/2, 1/12 and 0, 1. */
static void test_rng_distributions(void **state)
{
    const int nr = 200000;
    double u = 0, uu = 0, n = 0, nn = 0;
    struct rng rng;

    rng_seed(&rng, 3, 4);
    for (int i = 0; i < nr; i++) {
        const double x = rng_unit(&rng), y = rng_normal(&rng);
        assert_true(x >= 0 && x < 1);
        assert_true(isfinite(y));
        u += x;
        uu += (x - 0.5) * (x - 0.5);
        n += y;
        nn += y * y;
    }
    assert_true(fabs(u / nr - 0.5) < 5 * sqrt(1.0 / 12 / nr));
    assert_true(fabs(uu / nr - 1.0 / 12) < 5 * sqrt(1.0 / 180 / nr));
    assert_true(fabs(n / nr) < 5 * sqrt(1.0 / nr));
    assert_true(fabs(nn / nr - 1) < 5 * sqrt(2.0 / nr));
}

/* ---- hash, mem, clock, share ---- */

/* XXH3 128 of nothing with seed 0, from xxHash's own test vectors. */
static void test_hash(void **state)
{
    char hex[HASH_HEX_BYTES];
    struct hash a, b;

    hash_hex(hash_bytes(NULL, 0, 0), hex);
    assert_string_equal(hex, "99aa06d3014798d86001c324468d497f");
    a = hash_bytes("kernel", 6, 0);
    b = hash_bytes("kernel", 6, 1);
    assert_memory_not_equal(&a, &b, sizeof(a));
    b = hash_bytes("kernem", 6, 0);
    assert_memory_not_equal(&a, &b, sizeof(a));
    b = hash_bytes("kernel", 6, 0);
    assert_memory_equal(&a, &b, sizeof(a));
}

static void test_grow(void **state)
{
    size_t cap = 0, nr = 0;
    unsigned *items = NULL;

    for (; nr < 1000; nr++) {
        items = grow(items, &cap, nr + 1, sizeof(*items));
        assert_true(cap > nr);
        items[nr] = (unsigned)nr * 3;
    }
    for (size_t i = 0; i < nr; i++)
        assert_int_equal(items[i], i * 3);
    assert_ptr_equal(grow(items, &cap, 5, sizeof(*items)), items);
    free(items);
}

static void test_clock(void **state)
{
    const uint64_t start = clock_ns();
    int year, month, day, hour, minute, second, len = 0;
    char text[32];

    usleep(2000);
    assert_true(clock_ns() - start >= 2000000);
    clock_utc(text);
    assert_int_equal(sscanf(text, "%4d-%2d-%2dT%2d:%2d:%2dZ%n", &year, &month, &day, &hour, &minute,
                         &second, &len),
        6);
    assert_int_equal(len, 20);
    assert_in_range(month, 1, 12);
}

static void test_share(void **state)
{
    char *path = share_binary();

    assert_true(str_ends(path, "/test_base"));
    assert_true(file_exists(path));
    free(path);
    path = share_find("kernels");
    assert_string_equal(path, KEET_SOURCE_DIR "/kernels"); /* tests run in the build tree */
    free(path);
    assert_null(share_find("no-such-folder-of-ours"));
    setenv("KEET_SHARE", "/tmp", 1);
    assert_null(share_find("kernels"));
    setenv("KEET_SHARE", KEET_SOURCE_DIR "/tests", 1);
    path = share_find("unit");
    assert_string_equal(path, KEET_SOURCE_DIR "/tests/unit");
    free(path);
    unsetenv("KEET_SHARE");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_arena),
        cmocka_unit_test(test_str),
        cmocka_unit_test(test_str_compare),
        cmocka_unit_test(test_str_lines),
        cmocka_unit_test(test_str_find_word),
        cmocka_unit_test(test_str_among),
        cmocka_unit_test(test_str_utf8),
        cmocka_unit_test(test_err),
        cmocka_unit_test(test_err_is_cut),
        cmocka_unit_test(test_file),
        cmocka_unit_test(test_file_write_into_a_pipe),
        cmocka_unit_test(test_file_large),
        cmocka_unit_test(test_file_name),
        cmocka_unit_test(test_splitmix64),
        cmocka_unit_test(test_rng_streams),
        cmocka_unit_test(test_rng_below),
        cmocka_unit_test(test_rng_distributions),
        cmocka_unit_test(test_hash),
        cmocka_unit_test(test_grow),
        cmocka_unit_test(test_clock),
        cmocka_unit_test(test_share),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
