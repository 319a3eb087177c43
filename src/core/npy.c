/* Owns NumPy's .npy format (numpy/lib/format.py documents it): 6 magic bytes, two of version, the
 * header's length (2 bytes, or 4 from version 2), a Python dict literal, then the elements. */
#include "base/file.h"
#include "base/str.h"
#include "core/npy.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { HEADER_MAX = 1 << 16 };

static const char *const descr[NR_ELEMS] = {
    [ELEM_F64] = "<f8",
    [ELEM_F32] = "<f4",
    [ELEM_TF32] = "<f4",
    [ELEM_F16] = "<f2",
    [ELEM_BF16] = "<u2",
    [ELEM_E4M3] = "|u1",
    [ELEM_E5M2] = "|u1",
    [ELEM_I64] = "<i8",
    [ELEM_I32] = "<i4",
    [ELEM_I16] = "<i2",
    [ELEM_I8] = "|i1",
    [ELEM_U64] = "<u8",
    [ELEM_U32] = "<u4",
    [ELEM_U16] = "<u2",
    [ELEM_U8] = "|u1",
    [ELEM_BOOL] = "|b1",
};

/* The text after `'key':` in the header's dict. */
static const char *value_of(const char *header, const char *key)
{
    char quoted[32];
    const char *at;

    snprintf(quoted, sizeof(quoted), "'%s'", key);
    at = strstr(header, quoted);
    if (!at)
        return NULL;
    at += strlen(quoted);
    while (isspace((unsigned char)*at))
        at++;
    if (*at++ != ':')
        return NULL;
    while (isspace((unsigned char)*at))
        at++;
    return at;
}

static bool check_descr(const char *at, enum elem elem, const char *path, struct err *err)
{
    const char *want = descr[elem], *end;

    if (!at || *at != '\'' || !(end = strchr(at + 1, '\'')))
        return err_set(err, "%s: no plain dtype in the header; expected '%s'", path, want);
    at++;
    /* For one byte, the byte order is written as '|', but '<' and '=' mean the same. */
    if (end - at == 3 && memcmp(at + 1, want + 1, 2) == 0 &&
        (*at == *want || *at == '=' || (want[2] == '1' && strchr("<>|", *at))))
        return true;
    return err_set(err, "%s: the dtype is '%.*s'; expected '%s' for %s", path,
        (int)(end - at > 20 ? 20 : end - at), at, want, elem_name(elem));
}

static bool check_shape(
    const char *at, bool fortran, uint64_t nr, const char *path, struct err *err)
{
    uint64_t product = 1;
    unsigned nr_dims = 0;

    if (!at || *at++ != '(')
        return err_set(err, "%s: no shape in the header; expected a .npy file", path);
    while (*at != ')') {
        char *end;
        unsigned long long dim;

        if (!isdigit((unsigned char)*at))
            return err_set(err, "%s: a damaged shape in the header", path);
        errno = 0;
        dim = strtoull(at, &end, 10);
        if (errno || __builtin_mul_overflow(product, (uint64_t)dim, &product))
            return err_set(err, "%s: the shape is too large", path);
        nr_dims += dim != 1;
        at = end;
        while (*at == ',' || *at == ' ' || *at == 'L')
            at++;
    }
    if (fortran && nr_dims > 1)
        return err_set(err, "%s: Fortran order; expected C order (numpy.ascontiguousarray)", path);
    if (product != nr)
        return err_set(err, "%s: %" PRIu64 " elements; expected %" PRIu64, path, product, nr);
    return true;
}

static bool read_header(FILE *file, char **header, const char *path, struct err *err)
{
    unsigned char head[12];
    size_t len;

    if (fread(head, 1, 10, file) != 10 || memcmp(head, "\x93NUMPY", 6) != 0)
        return err_set(err, "%s: not a .npy file; expected one written by numpy.save", path);
    if (head[6] < 1 || head[6] > 3)
        return err_set(err, "%s: .npy format %u; expected 1, 2 or 3", path, head[6]);
    len = head[8] | (size_t)head[9] << 8;
    if (head[6] > 1) {
        if (fread(head + 10, 1, 2, file) != 2)
            return err_set(err, "%s: the header is cut short", path);
        len |= (size_t)head[10] << 16 | (size_t)head[11] << 24;
    }
    if (len > HEADER_MAX)
        return err_set(
            err, "%s: a header of %zu bytes; expected at most %d", path, len, HEADER_MAX);
    *header = calloc(1, len + 1);
    if (!*header || fread(*header, 1, len, file) != len)
        return err_set(err, "%s: the header is cut short", path);
    return true;
}

static bool read_open(FILE *file, const char *path, enum elem elem, void *elems, uint64_t nr,
    char **header, struct err *err)
{
    const char *order;

    if (!read_header(file, header, path, err))
        return false;
    order = value_of(*header, "fortran_order");
    if (!check_descr(value_of(*header, "descr"), elem, path, err) ||
        !check_shape(
            value_of(*header, "shape"), order && strncmp(order, "True", 4) == 0, nr, path, err))
        return false;
    if (nr && fread(elems, elem_bytes(elem), nr, file) != nr)
        return err_set(err, "%s: the file is cut short; expected %" PRIu64 " elements", path, nr);
    return true;
}

bool npy_read(const char *path, enum elem elem, void *elems, uint64_t nr, struct err *err)
{
    const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK); /* a pipe would make us wait */
    FILE *file = fd >= 0 ? fdopen(fd, "rb") : NULL;
    char *header = NULL;
    struct stat is;
    bool ok;

    if (!file)
        return err_errno(err, "cannot open %s", path);
    if (fstat(fd, &is) != 0 || !S_ISREG(is.st_mode)) {
        fclose(file);
        return err_set(err, "%s: this is not a regular file", path);
    }
    ok = read_open(file, path, elem, elems, nr, &header, err);
    free(header);
    fclose(file);
    return ok;
}

bool npy_write(const char *path, enum elem elem, const void *elems, const uint64_t *dims,
    unsigned nr_dims, struct err *err)
{
    struct str text = {0}, file = {0};
    uint64_t nr = 1;
    unsigned char len[2];
    bool ok;

    str_addf(&text, "{'descr': '%s', 'fortran_order': False, 'shape': (", descr[elem]);
    for (unsigned i = 0; i < nr_dims; i++) {
        str_addf(&text, i + 1 < nr_dims ? "%" PRIu64 ", " : "%" PRIu64, dims[i]);
        nr *= dims[i];
    }
    str_add(&text, nr_dims == 1 ? ",), }" : "), }");
    while ((10 + text.len + 1) % 64 != 0) /* the elements start at a multiple of 64 */
        str_add_char(&text, ' ');
    str_add_char(&text, '\n');
    len[0] = (unsigned char)(text.len & 0xff);
    len[1] = (unsigned char)(text.len >> 8);
    str_add_n(&file, "\x93NUMPY\x01\x00", 8);
    str_add_n(&file, (const char *)len, 2);
    str_add_n(&file, text.text, text.len);
    str_add_n(&file, elems, nr * elem_bytes(elem));
    ok = file_write(path, file.text, file.len, err);
    str_finish(&text);
    str_finish(&file);
    return ok;
}
