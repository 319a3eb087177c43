/* Owns the tests of .npy files: a round trip of each type, and the bytes that numpy.save writes. */
#include "base/file.h"
#include "core/npy.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

static char folder[] = "/tmp/keet-npy-XXXXXX";
static char path[64];

static int setup(void **state)
{
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof(path), "%s/a.npy", folder);
    return 0;
}

static int teardown(void **state)
{
    unlink(path);
    rmdir(folder);
    return 0;
}

/* numpy.save of numpy.array([[1, 2.5, -3], [4, 5, 6]], dtype='<f4'), NumPy 1.24: the header is
 * padded with blanks so that the data starts at byte 128 of a version 1.0 file. */
static size_t numpy_file(char *bytes, char version)
{
    static const char dict[] = "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }";
    static const float data[] = {1, 2.5f, -3, 4, 5, 6};
    size_t fixed = version == 1 ? 10 : 12;

    memset(bytes, ' ', 128);
    memcpy(bytes, "\x93NUMPY", 6);
    bytes[6] = version;
    bytes[7] = 0;
    bytes[8] = (char)(128 - fixed);
    bytes[9] = 0;
    if (version > 1)
        bytes[10] = bytes[11] = 0;
    memcpy(bytes + fixed, dict, strlen(dict));
    bytes[127] = '\n';
    memcpy(bytes + 128, data, sizeof(data));
    return 128 + sizeof(data);
}

static void put(const char *bytes, size_t len)
{
    struct err err;

    assert_true(file_write(path, bytes, len, &err));
}

static void test_numpy_bytes(void **state)
{
    char bytes[256];
    float got[6] = {0};
    struct err err;

    for (char version = 1; version <= 2; version++) {
        put(bytes, numpy_file(bytes, version));
        assert_true(npy_read(path, ELEM_F32, got, 6, &err));
        assert_true(got[0] == 1 && got[1] == 2.5f && got[2] == -3 && got[5] == 6);
    }
}

/* What we write is, byte for byte, what NumPy writes. */
static void test_write_like_numpy(void **state)
{
    static const float data[] = {1, 2.5f, -3, 4, 5, 6};
    const uint64_t dims[] = {2, 3};
    char want[256], *got;
    size_t len, want_len = numpy_file(want, 1);
    struct err err;

    assert_true(npy_write(path, ELEM_F32, data, dims, 2, &err));
    assert_true(file_read(path, 4096, &got, &len, &err));
    assert_int_equal(len, want_len);
    assert_memory_equal(got, want, len);
    free(got);
}

static void test_round_trip(void **state)
{
    for (int e = 0; e < NR_ELEMS; e++) {
        unsigned char in[7 * 8], out[7 * 8] = {0};
        const uint64_t dims[] = {7};
        struct err err;

        for (size_t i = 0; i < sizeof(in); i++)
            in[i] = (unsigned char)(37 * i + 11);
        assert_true(npy_write(path, (enum elem)e, in, dims, 1, &err));
        assert_true(npy_read(path, (enum elem)e, out, 7, &err));
        assert_memory_equal(in, out, 7 * elem_bytes((enum elem)e));
    }
}

static void refuse(enum elem elem, uint64_t nr, const char *said)
{
    char room[4096];
    struct err err = {.text = ""};

    assert_false(npy_read(path, elem, room, nr, &err));
    if (!strstr(err.text, said))
        fail_msg("'%s' does not say '%s'", err.text, said);
}

static void test_errors(void **state)
{
    char bytes[256];
    size_t len = numpy_file(bytes, 1);
    char *at;

    put(bytes, len);
    refuse(ELEM_F64, 6, "the dtype is '<f4'; expected '<f8' for f64");
    refuse(ELEM_F32, 7, "6 elements; expected 7");
    put(bytes, len - 1);
    refuse(ELEM_F32, 6, "cut short");
    put(bytes, 50);
    refuse(ELEM_F32, 6, "header is cut short");
    put("hello, world", 12);
    refuse(ELEM_F32, 6, "not a .npy file");
    at = memmem(bytes, len, "False", 5);
    memcpy(at, "True ", 5);
    put(bytes, len);
    refuse(ELEM_F32, 6, "Fortran order");
    numpy_file(bytes, 1);
    at = memmem(bytes, len, "<f4", 3);
    *at = '>';
    put(bytes, len);
    refuse(ELEM_F32, 6, "the dtype is '>f4'");
    unlink(path);
    refuse(ELEM_F32, 6, "cannot open");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_numpy_bytes),
        cmocka_unit_test(test_write_like_numpy),
        cmocka_unit_test(test_round_trip),
        cmocka_unit_test(test_errors),
    };

    return cmocka_run_group_tests(tests, setup, teardown);
}
